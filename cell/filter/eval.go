package filter

import (
	"fmt"
	"time"

	"github.com/cellardb/cellar/cell"
)

// Bounds on a filter.
const (
	// MaxDepth is how deep filters may wrap each other.
	MaxDepth = 100
	// MaxFilters is the number of filters in one, itself included.
	MaxFilters = 10_000
)

// Options of an evaluator. The zero value is an ascending scan without an
// engine for backtracking.
type Options struct {
	// Reversed: the scan goes down the rows.
	Reversed bool
	// Backtracking makes a matcher for a regular expression that needs
	// lookaround, backreferences, atomic groups or possessive quantifiers. The
	// pattern is normalized: see Matcher. Nil: such patterns are refused with
	// an error that names the construct.
	Backtracking func(pattern string) (Matcher, error)
	// MatchTimeout bounds one regular expression on one value; 0: one second.
	// It is for the patterns that run here; a backtracking matcher has its own.
	MatchTimeout time.Duration
	// ScanTimeout bounds the time of all matches of the evaluator together that
	// took a millisecond or more each; 0: thirty seconds.
	ScanTimeout time.Duration
}

// Evaluator is the state of a filter within one scan. It is used by one
// goroutine. Its steps are those of HBase's Filter; the package comment has
// their order.
type Evaluator struct {
	root     node
	reversed bool
}

// node evaluates one filter. Contracts are those of HBase's class of the same
// filter, odd ones included: a SkipFilter does not pass filterRowKey on.
type node interface {
	reset()
	filterAllRemaining() bool
	filterRowKey(row []byte) (bool, error)
	filterCell(c *cell.Cell) (Code, error)
	transform(c *cell.Cell)
	filterRowCells(cells []cell.Cell) []cell.Cell
	hasFilterRow() bool
	filterRow() bool
	// nextHint is asked after filterCell answered SeekNextUsingHint. ok is
	// false when the filter has no hint.
	nextHint(c *cell.Cell) (p position, ok bool)
	// hinting says whether the filter is one of those that HBase marks as
	// HintingFilter: a list asks them although a filter before them has
	// dropped the cell.
	hinting() bool
}

// base has the answers of a filter that does nothing: HBase's FilterBase.
type base struct{}

func (base) reset()                                       {}
func (base) filterAllRemaining() bool                     { return false }
func (base) filterRowKey([]byte) (bool, error)            { return false, nil }
func (base) filterCell(*cell.Cell) (Code, error)          { return Include, nil }
func (base) transform(*cell.Cell)                         {}
func (base) filterRowCells(cells []cell.Cell) []cell.Cell { return cells }
func (base) hasFilterRow() bool                           { return false }
func (base) filterRow() bool                              { return false }
func (base) nextHint(*cell.Cell) (p position, ok bool)    { return p, false }
func (base) hinting() bool                                { return false }

// value is what the filters of this package are.
type value interface {
	cell.Filter
	build(b *builder) (node, error)
}

// builder makes nodes of filters and counts what it makes.
type builder struct {
	options      Options
	reversed     bool // of the filter being built; see inner
	depth        int
	filters      int
	instructions int            // of all regular expressions
	left         *time.Duration // of ScanTimeout
}

// New makes fresh state for one scan. Its errors match cell.ErrIllegalArgument:
// the filter is not one of this package (ErrUnknown), too large (ErrTooLarge),
// or holds what HBase's constructors refuse, or a regular expression that
// cannot be evaluated. The filter is kept; it must not be changed while the
// evaluator is used.
func New(f cell.Filter, o Options) (*Evaluator, error) {
	if o.MatchTimeout <= 0 {
		o.MatchTimeout = time.Second
	}
	if o.ScanTimeout <= 0 {
		o.ScanTimeout = 30 * time.Second
	}
	b := builder{options: o, reversed: o.Reversed, left: &o.ScanTimeout}
	root, err := b.build(f)
	if err != nil {
		return nil, err
	}
	return &Evaluator{root: root, reversed: o.Reversed}, nil
}

func (b *builder) build(f cell.Filter) (node, error) {
	v, ok := f.(value)
	switch {
	case f == nil:
		return nil, illegal("a filter is missing")
	case !ok:
		return nil, illegalKind(ErrUnknown, "filter %T is not one of package filter", f)
	case b.depth == MaxDepth:
		return nil, illegalKind(ErrTooLarge, "filters are nested more than %d deep", MaxDepth)
	case b.filters == MaxFilters:
		return nil, illegalKind(ErrTooLarge, "more than %d filters", MaxFilters)
	}
	b.filters++
	b.depth++
	defer func() { b.depth-- }()
	return v.build(b)
}

// inner builds the filter within SkipRow and WhileMatch. HBase does not tell it
// that a scan is reversed.
func (b *builder) inner(f cell.Filter) (node, error) {
	reversed := b.reversed
	b.reversed = false
	defer func() { b.reversed = reversed }()
	return b.build(f)
}

// Reset is to be called between rows.
func (e *Evaluator) Reset() { e.root.reset() }

// FilterAllRemaining says that nothing of what is left can pass: the scan ends.
func (e *Evaluator) FilterAllRemaining() bool { return e.root.filterAllRemaining() }

// FilterRowKey begins a row; true drops it.
func (e *Evaluator) FilterRowKey(row []byte) (bool, error) {
	if e.root.filterAllRemaining() {
		return true, nil
	}
	drop, err := e.root.filterRowKey(row)
	if err != nil {
		return true, fmt.Errorf("filter row %s: %w", cell.Printable(row), err)
	}
	return drop, nil
}

// FilterCell judges one cell of the row whose key was given to FilterRowKey. It
// does not keep the cell. An error (a comparator that cannot read the value, a
// regular expression that takes too long) ends the scan.
func (e *Evaluator) FilterCell(c *cell.Cell) (Code, error) {
	code, err := e.root.filterCell(c)
	if err != nil {
		return Skip, fmt.Errorf("filter cell %s/%s:%s: %w",
			cell.Printable(c.Row), cell.Printable(c.Family), cell.Printable(c.Qualifier), err)
	}
	return code, nil
}

// NextHint says where to go on after FilterCell answered SeekNextUsingHint for
// this cell. Without ok there is nowhere better than the next cell. It must be
// asked once for each such answer, even by an engine that does not seek: some
// filters learn from it that the scan is over.
func (e *Evaluator) NextHint(c *cell.Cell) (h Hint, ok bool) {
	p, ok := e.root.nextHint(c)
	if !ok {
		return Hint{}, false
	}
	return p.useful(c, e.reversed)
}

// Transform changes the value of a cell that is kept, in place: KeyOnly empties
// it or puts its length there. New bytes belong to the cell.
func (e *Evaluator) Transform(c *cell.Cell) { e.root.transform(c) }

// FilterRowCells removes cells from a whole row, in place, and returns what is
// left.
func (e *Evaluator) FilterRowCells(cells []cell.Cell) []cell.Cell {
	return e.root.filterRowCells(cells)
}

// FilterRow decides about the row; true drops it. It is to be called once for
// each row that has cells left.
func (e *Evaluator) FilterRow() bool { return e.root.filterRow() }

// HasFilterRow says whether the filter judges whole rows. A scan with such a
// filter must not cut rows into batches (ErrIncompatible) or parts.
func (e *Evaluator) HasFilterRow() bool { return e.root.hasFilterRow() }
