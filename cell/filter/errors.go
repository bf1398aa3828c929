package filter

import (
	"errors"
	"fmt"

	"github.com/cellardb/cellar/cell"
)

// ErrIncompatible is HBase's refusal of a scan that cuts rows into batches with
// a filter that judges whole rows: see [Evaluator.HasFilterRow]. It matches
// cell.ErrIllegalArgument, and the text is HBase's.
var ErrIncompatible error = &fault{text: "Cannot set batch on a scan using a filter that returns true for filter.hasFilterRow"}

// Errors of New. Both also match cell.ErrIllegalArgument.
var (
	// ErrUnknown: the filter is not one of this package.
	ErrUnknown = errors.New("unknown filter")
	// ErrTooLarge: a bound on depth, number of filters or patterns is exceeded.
	ErrTooLarge = errors.New("filter too large")
)

// ErrTooSlow: a regular expression took longer than Options.MatchTimeout on one
// value, or than Options.ScanTimeout on many.
var ErrTooSlow = errors.New("regular expression took too long")

// fault is an error that says what is wrong with a filter, or with a value that
// a comparator cannot read. kind, if not nil, is matched besides.
type fault struct {
	kind error
	text string
}

func (e *fault) Error() string { return e.text }

// Is makes errors.Is true for cell.ErrIllegalArgument: repeating the read
// cannot help.
func (e *fault) Is(target error) bool { return target == cell.ErrIllegalArgument }

func (e *fault) Unwrap() error { return e.kind }

func illegal(format string, args ...any) error {
	return &fault{text: fmt.Sprintf(format, args...)}
}

func illegalKind(kind error, format string, args ...any) error {
	return &fault{kind: kind, text: fmt.Sprintf(format, args...)}
}
