package store

import (
	"context"
	"io"

	"github.com/cellardb/cellar/cell"
)

// Store is an engine, open.
type Store interface {
	Reader
	Writer
	Admin
	Capabilities() Capabilities
	// Close waits for running calls, makes everything written durable and frees
	// the store. Calls after it answer ErrClosed; a second Close does nothing.
	Close() error
}

// Capabilities names what an engine gives beyond the contract. Tiers may use
// them for speed and must be correct without.
type Capabilities struct {
	// AtomicBatch: one Apply is seen and survives as a whole, or not at all, as
	// far as its mutations are not refused.
	AtomicBatch bool
	// Snapshots: the engine is a Snapshotter.
	Snapshots bool
	// ShiftsTimestamps: of a put and a delete of one row at "now", the one
	// that was acknowledged before the other began never wins over it.
	ShiftsTimestamps bool
	// DropsRanges: DeleteRows costs the same however many rows there are.
	DropsRanges bool
}

// Snapshotter is an engine that can read as of one moment.
type Snapshotter interface {
	// Snapshot opens a view of all tables as they are now. It holds space until
	// it is closed.
	Snapshot(ctx context.Context) (Snapshot, error)
}

// Snapshot reads as of the moment it was opened.
type Snapshot interface {
	Reader
	io.Closer
}

// Reader reads.
type Reader interface {
	// Get reads one row into the result, which is reset first. A row without
	// cells that the read wants leaves no cells. The result is the caller's
	// until its next use; it must not be shared.
	//
	// Errors: ErrTableNotFound, ErrTableDisabled, a FamilyError,
	// cell.ErrIllegalArgument, ErrUnsupported for a filter that the engine
	// cannot evaluate, ErrCorrupt.
	Get(ctx context.Context, table string, get *cell.Get, into *cell.Result) error
	// Scan opens a scanner. Errors are those of Get; the scan is not kept.
	Scan(ctx context.Context, table string, scan *cell.Scan) (Scanner, error)
	// Regions lists the regions of a table in the order of their keys; they
	// cover all keys without gap or overlap. A disabled table has them too.
	Regions(ctx context.Context, table string) ([]Region, error)
	// Partitions cuts a range of rows into at most n ranges of about equal size
	// for parallel reading, in the order of their keys, together exactly the
	// range.
	Partitions(ctx context.Context, table string, r cell.Range, n int) ([]cell.Range, error)
}

// Scanner gives the rows of a scan. It is used by one goroutine at a time.
type Scanner interface {
	// Next gives the next row, or part of one where the scan asks for parts. At
	// the end it answers io.EOF, again and again. The result is the scanner's:
	// it and all bytes in it are valid until the next call.
	//
	// An error other than io.EOF and the context's ends the scan. A scanner on
	// a table that was dropped or truncated meanwhile answers ErrTableNotFound.
	Next(ctx context.Context) (*cell.Result, error)
	// Close frees the scanner; a second one does nothing.
	Close() error
}

// Writer writes.
type Writer interface {
	// Apply applies a batch. Each mutation is one row, applied atomically or
	// refused; the others are not held up by it.
	//
	// With a nil error all of them are applied, visible, and as durable as each
	// asked for. A *BatchError names those that were refused; the others are
	// applied and durable. Any other error is of the whole batch: before
	// anything was done (ErrTableNotFound, ErrTableDisabled, ErrReadOnly,
	// ErrDiskFull, ErrClosed), or, if it is none of these, without knowledge of
	// what was done.
	//
	// Results are nil unless a mutation asked for results; then Results[i] has
	// the new cells of the increments and appends of mutation i, in the order
	// of its edits.
	Apply(ctx context.Context, table string, batch []cell.Mutation) (results [][]cell.Cell, err error)
	// CheckAndMutate applies the mutation if the check holds on its row, with
	// no other write to that row in between. It says whether it was applied.
	CheckAndMutate(ctx context.Context, table string, check *cell.Check, m *cell.Mutation) (applied bool, result []cell.Cell, err error)
	// DeleteRows removes all rows of a range, and whatever is written to it
	// during the call may go too. It is durable when it returns. It is not
	// atomic. Rows written later are not masked, whatever their timestamps,
	// where the engine has DropsRanges; elsewhere cells at timestamps up to
	// that of the call are.
	DeleteRows(ctx context.Context, table string, r cell.Range) error
}

// Admin administers tables and namespaces. A change is durable when the call
// returns.
type Admin interface {
	// CreateTable makes an enabled table, cut into regions at the split points.
	// Errors: cell.ErrIllegalArgument, ErrTableExists, ErrNamespaceNotFound.
	CreateTable(ctx context.Context, schema cell.TableSchema, splits [][]byte) error
	// AlterTable replaces the schema of a table, enabled or not. Families that
	// the new schema lacks are dropped with all their cells.
	AlterTable(ctx context.Context, schema cell.TableSchema) error
	// DropTable removes a disabled table and gives its space back. Errors:
	// ErrTableNotFound, ErrTableNotDisabled.
	DropTable(ctx context.Context, table string) error
	// TruncateTable empties a disabled table and enables it, as HBase does.
	TruncateTable(ctx context.Context, table string, keepSplits bool) error
	// EnableTable and DisableTable answer ErrTableNotDisabled and
	// ErrTableDisabled where the table is in that state already.
	EnableTable(ctx context.Context, table string) error
	DisableTable(ctx context.Context, table string) error
	// Describe gives one table, an internal one too.
	Describe(ctx context.Context, table string) (TableInfo, error)
	// Tables lists the users' tables, sorted by name; those of the namespaces
	// hbase and cellar are left out.
	Tables(ctx context.Context) ([]TableInfo, error)

	// CreateNamespace and AlterNamespace set a namespace and its properties.
	CreateNamespace(ctx context.Context, ns Namespace) error
	AlterNamespace(ctx context.Context, ns Namespace) error
	// DropNamespace removes an empty namespace; ErrNamespaceNotEmpty otherwise.
	DropNamespace(ctx context.Context, name string) error
	// Namespaces lists all but Cellar's own, sorted by name.
	Namespaces(ctx context.Context) ([]Namespace, error)

	// SplitRegion cuts the region that holds the row at it; nil leaves the
	// choice of the row to the engine.
	SplitRegion(ctx context.Context, table string, region *Region, at []byte) error
	// Compact rewrites a table's storage. A major compaction, and only that,
	// lets go of everything that no read can see any more: masked and expired
	// cells, surplus versions, and the markers themselves.
	Compact(ctx context.Context, table string, r cell.Range, major bool) error
	// Flush puts what is in memory into files.
	Flush(ctx context.Context, table string) error
}

// TableInfo is a table as it is.
type TableInfo struct {
	Schema  cell.TableSchema
	Enabled bool
	// Created in ms.
	Created int64
}

// Namespace groups tables.
type Namespace struct {
	Name       string
	Properties map[string]string
}
