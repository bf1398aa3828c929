// Package cell is Cellar's data model: HBase's cells, and the mutations, gets,
// scans and schemas that are made of them. All are plain values; the package
// uses the standard library only, starts no goroutine and keeps no state.
//
// A table holds rows; a row holds families; a family holds columns, named by
// qualifiers; a column holds versions, told apart by timestamps. One version is
// a [Cell]. Rows, families and qualifiers are byte strings and sort as unsigned
// bytes. Timestamps are milliseconds since 1970-01-01 UTC.
//
// Byte slices in values that a caller passes in are read, not kept, unless a
// function says otherwise; the caller must not change them during the call.
package cell
