// Package tabimport stores tables of text as rows: CSV, TSV and NDJSON, plain
// or compressed, by the mapping of columns that users of HBase's ImportTsv know.
//
// Contract: Run stores every line that the mapping makes a row of, and names and
// counts every other one; a bad line costs itself only. Rows of one key are
// written in the order of the input, so that of two the later one wins. What
// Run did is on record in a state file: after any end of the process, a kill
// included, a Run that resumes writes at least all that was not durable, with
// the timestamps that the first one would have given, so that a row which was
// written twice is there once. Memory is bounded whatever the input holds.
//
// It reads files and writes through a Target; it draws and prints nothing.
package tabimport
