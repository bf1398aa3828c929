// Package store is the one contract between Cellar's tiers and doors on one
// side and its engines on the other: small, batch-first, streaming, with a
// context on every call.
//
// What an engine promises:
//
//   - One mutation is one row and is applied whole or not at all, across all
//     families. A batch is not atomic: each mutation has an answer of its own.
//   - A mutation that was acknowledged is visible to every read that begins
//     later, and survives what its durability says.
//   - A read returns each row as it was at one moment, in all families. A scan is
//     not a view of the whole table: rows may be of different moments.
//   - Cells come in the order of cell.Compare; at one coordinate (row, family,
//     qualifier, timestamp) there is one value, the one written last.
//   - Reading, writing and administration may be called from any number of
//     goroutines. A Scanner belongs to one goroutine at a time.
//
// What it does not promise, and tiers must not assume: atomicity across rows,
// snapshots of a table, timestamps that are unique or ordered, that an operation
// that answered with an error other than a refusal was not applied. Engines that
// give more say so in Capabilities. Package storetest holds this contract as
// tests; its Weak engine gives nothing more than it.
package store
