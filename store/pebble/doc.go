// Package pebble is Cellar's embedded engine: the contract of package store
// over one Pebble store in one folder, opened by one process at a time.
//
// A cell is one Pebble entry, whose key order is HBase's cell order (key.go,
// docs/internals/format/store.md). Families are ranges of keys of their own;
// tables, namespaces and regions are small JSON values under keys that begin
// with 00 (meta.go).
//
// What it keeps besides the contract:
//
//   - One Apply is one Pebble batch: seen and recovered as a whole
//     (Capabilities.AtomicBatch), in the order in which it was committed. There
//     is one log, so a durable write has all earlier ones before it.
//   - SYNC_WAL and FSYNC_WAL are acknowledged after fsync; ASYNC_WAL and
//     SKIP_WAL go to the same log, which is synced a second later at most.
//   - A put at "now" that begins after a delete at "now" was acknowledged is
//     visible, also in the same millisecond, and the reverse (stripes.go).
//   - Space of a dropped table or family is given back at once, and a crash in
//     between is made good at the next start (dropped.go).
//
// It never interprets what it stores beyond the data model, and never evaluates
// a filter it does not know: such reads are refused.
package pebble
