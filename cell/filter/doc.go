// Package filter has HBase's filters and comparators as plain values, the
// evaluation of them, and the filter language in which HBase's gateways take
// them as text.
//
// A filter is a value such as [Prefix] or [List]; it holds no state and may be
// shared. [New] makes an [Evaluator] of it: the state for one scan (in HBase:
// for one region), used by one goroutine. The evaluator has the steps of
// HBase's class Filter with their contracts, and the answers are HBase 2.6's;
// docs/filters.md lists the few that are not.
//
// The package imports the standard library and package cell only. It starts no
// goroutine, keeps no global state and reads no clock, except to bound the time
// of a regular expression on a long value. Filters come from strangers:
// depth, number of filters, size of patterns and time of a match are bounded,
// and what exceeds a bound is an error that says so.
//
// # How an engine asks
//
// For each row, families in the order of their names, cells in HBase's order:
//
//	FilterAllRemaining   true: the scan is over
//	FilterRowKey         true: the row is dropped; but see below
//	for each cell that the read shows (time range, columns, deletes, TTL and
//	the family's VERSIONS come before the filter):
//	    FilterAllRemaining   true: nothing more is read of the family, ever
//	    FilterCell           what to do with the cell and where to go on
//	    the read's own number of versions is counted: a cell beyond it is
//	    dropped, and the rest of its column with it
//	    Transform            of a cell that is kept
//	    the store's limit and offset are counted
//	when a family of the row is through, but not by the store's limit:
//	    FilterAllRemaining   true: nothing more is read of the family, ever
//	FilterRowCells       if HasFilterRow
//	FilterRow            if cells are left; true: the row is dropped
//	Reset                after each row
//	FilterAllRemaining   true: the scan is over
//
// NextCol, NextRow and hints are said to one family's cells: NextRow goes on
// with the next family of the same row, and a hint to a later row holds for the
// family whose cell led to it, while the others are read on. Of the column with
// the empty qualifier NextCol leaves out the cell only, unless the read names
// columns of the family.
//
// Where FilterRowKey drops a row HBase still offers its cells to FilterCell, to
// be moved by the answers, and keeps none. [Walker] does all of this on rows
// that are in memory.
package filter
