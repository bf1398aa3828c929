// Package memory is the reference engine: the contract of package store over
// plain slices and maps, under one lock, so simple that reading it shows that it
// is right. Other engines are compared with it; tests that need some engine use
// it. It is slow with many rows, and nothing survives Close.
//
// A table is a slice of rows sorted by key; a row is a slice of cells in the
// order of cell.Compare, which is replaced, never changed, by a write. Bytes are
// copied on the way in and on the way out.
//
// What the contract leaves open is decided here so:
//
//   - All edits of a mutation see the row as it was before the mutation: two
//     increments of one column in one mutation both add to the old value and the
//     second one stays, as in HBase.
//   - Increments and appends count as puts for the timestamp of a mutation.
//   - A mutation's time to live holds for its values, never for its markers.
//   - An increment or append keeps the old cell's tags after its own, and the
//     old cell's time to live unless the mutation has one.
//   - A major compaction with KEEP_DELETED_CELLS keeps a marker only as long as
//     it masks a cell that is kept, and never drops what an ordinary read shows.
//   - A raw scan shows cells that are older than the family's time to live, until
//     they are compacted away; a column selection sees family markers under the
//     empty qualifier.
//   - A filter is asked about rows that show a cell to the read, and no others: so
//     compactions change no answer. (HBase asks about a row's key as long as
//     anything of the row is stored.) Nor is it asked about what lies before a hint
//     that it gave.
//   - The filter of a raw read is offered every stored cell; the read's number of
//     versions then counts all cells of a column that pass, markers among them.
package memory
