package store

import (
	"errors"
	"fmt"

	"github.com/cellardb/cellar/cell"
)

// Refusals: nothing was done, and the same call will be refused again until the
// table, the namespace or the call is another.
var (
	ErrTableNotFound     = errors.New("table not found")
	ErrTableExists       = errors.New("table exists already")
	ErrTableDisabled     = errors.New("table is disabled")
	ErrTableNotDisabled  = errors.New("table is not disabled")
	ErrReadOnly          = errors.New("table is read only")
	ErrNamespaceNotFound = errors.New("namespace not found")
	ErrNamespaceExists   = errors.New("namespace exists already")
	ErrNamespaceNotEmpty = errors.New("namespace is not empty")
	ErrNoSuchFamily      = errors.New("no such column family")
	ErrNotCounter        = errors.New("field is not a long")
	ErrCellTooLarge      = errors.New("cell too large")
	ErrRowMismatch       = errors.New("the row of the action does not match the checked one")
	ErrUnsupported       = errors.New("not supported by this engine")
)

// Relocate: the caller looks the region up anew and calls again.
var (
	ErrNotServingRegion = errors.New("region is not served here")
	ErrWrongRegion      = errors.New("row is not in the region")
)

// Retry later: the state of the engine stands in the way.
var (
	ErrDiskFull = errors.New("disk is full")
	ErrBusy     = errors.New("engine is busy")
)

// The store itself cannot be used.
var (
	ErrClosed      = errors.New("store is closed")
	ErrLocked      = errors.New("store is open in another process")
	ErrNewerFormat = errors.New("store has a newer format")
	ErrCorrupt     = errors.New("store is damaged")
)

// FamilyError says which family a table lacks. It matches ErrNoSuchFamily.
type FamilyError struct {
	Table  string
	Family []byte
}

func (e *FamilyError) Error() string {
	return fmt.Sprintf("Column family %s does not exist in table '%s'", cell.Printable(e.Family), e.Table)
}

// Is makes errors.Is(err, ErrNoSuchFamily) true.
func (e *FamilyError) Is(target error) bool { return target == ErrNoSuchFamily }

// CounterError says how many bytes stand where an increment needs 8. It matches
// ErrNotCounter. The text is HBase's.
type CounterError struct{ Width int }

func (e *CounterError) Error() string {
	return fmt.Sprintf("Field is not a long, it's %d bytes wide", e.Width)
}

// Is makes errors.Is(err, ErrNotCounter) true.
func (e *CounterError) Is(target error) bool { return target == ErrNotCounter }

// CellSizeError names the cell that is larger than the limit. It matches
// ErrCellTooLarge. The text is HBase's.
type CellSizeError struct {
	Row, Family, Qualifier []byte
	Size, Limit            int
}

func (e *CellSizeError) Error() string {
	return fmt.Sprintf("Cell[%s/%s:%s] with size %d exceeds limit of %d bytes",
		cell.Printable(e.Row), cell.Printable(e.Family), cell.Printable(e.Qualifier), e.Size, e.Limit)
}

// Is makes errors.Is(err, ErrCellTooLarge) true.
func (e *CellSizeError) Is(target error) bool { return target == ErrCellTooLarge }

// MutationError is the refusal of one mutation of a batch.
type MutationError struct {
	Index int // in the batch
	Err   error
}

// BatchError lists the mutations of a batch that were refused, by ascending
// index. The others were applied.
type BatchError struct {
	Failed []MutationError
	Total  int // mutations in the batch
}

func (e *BatchError) Error() string {
	if len(e.Failed) == 0 {
		return "no mutation failed"
	}
	f := e.Failed[0]
	return fmt.Sprintf("%d of %d mutations failed; number %d: %v", len(e.Failed), e.Total, f.Index, f.Err)
}

// Unwrap gives the errors of the mutations.
func (e *BatchError) Unwrap() []error {
	errs := make([]error, len(e.Failed))
	for i := range e.Failed {
		errs[i] = e.Failed[i].Err
	}
	return errs
}

// Add notes a refusal; e may be nil. It returns the error that holds it.
func (e *BatchError) Add(index, total int, err error) *BatchError {
	if e == nil {
		e = &BatchError{Total: total}
	}
	e.Failed = append(e.Failed, MutationError{index, err})
	return e
}
