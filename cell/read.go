package cell

import (
	"bytes"
	"math"
)

// TimeRange bounds timestamps in ms: Min inclusive, Max exclusive. The zero
// value is no bound at all.
type TimeRange struct{ Min, Max int64 }

// AllTime is the range that holds every timestamp; the zero TimeRange means it.
var AllTime = TimeRange{0, math.MaxInt64}

// Between is the range [min, max). It is the way to say [0, 0), which holds
// nothing, while the zero TimeRange holds everything.
func Between(min, max int64) TimeRange {
	if min == 0 && max == 0 {
		return TimeRange{1, 1}
	}
	return TimeRange{min, max}
}

// At is the range that holds exactly one timestamp.
func At(timestamp int64) TimeRange {
	if timestamp == math.MaxInt64 {
		return TimeRange{timestamp, timestamp}
	}
	return TimeRange{timestamp, timestamp + 1}
}

// IsAll says whether the range bounds nothing.
func (r TimeRange) IsAll() bool { return r == TimeRange{} || r == AllTime }

// Contains says whether the timestamp lies in the range. A Max of 2^63-1 holds
// that timestamp too: it is HBase's "for ever".
func (r TimeRange) Contains(timestamp int64) bool {
	if r.IsAll() {
		return true
	}
	return timestamp >= r.Min && (timestamp < r.Max || r.Max == math.MaxInt64)
}

// Validate refuses a negative bound and a range that ends before it begins.
func (r TimeRange) Validate() error {
	if r.Min < 0 || r.Max < 0 {
		return illegal("Timestamp cannot be negative. minStamp:%d, maxStamp:%d", r.Min, r.Max)
	}
	if r.Max < r.Min {
		return illegal("maxStamp is smaller than minStamp: %d < %d", r.Max, r.Min)
	}
	return nil
}

// FamilySelect names columns of one family that a read returns.
type FamilySelect struct {
	Family []byte
	// Qualifiers, in any order; none is the whole family. An empty qualifier
	// is a column like any other.
	Qualifiers [][]byte
	// Within overrides the read's time range for this family; nil: it does not.
	Within *TimeRange
}

// Filter decides which rows and cells of a read are returned. Package
// cell/filter has HBase's filters. An engine that cannot evaluate a filter
// refuses the read with an error that names it; it never ignores one.
type Filter interface {
	// String gives the filter in HBase's filter language.
	String() string
}

// Read is what gets and scans have in common: which cells of a row they want.
// The zero value is the newest version of every column.
type Read struct {
	// Select names families and columns; nil is all of them.
	Select []FamilySelect
	Within TimeRange
	// MaxVersions a column, newest first; 0 is 1. The family's own limit holds
	// besides.
	MaxVersions int
	// Filter, nil: none.
	Filter Filter
	// StoreLimit and StoreOffset cut the cells of each family of each row:
	// StoreOffset are left out, then at most StoreLimit returned (0: all).
	StoreLimit, StoreOffset int
	// SkipCache asks the engine not to keep what it reads in its block cache.
	// An engine may do so all the same.
	SkipCache bool
}

// Versions is MaxVersions with its default.
func (r *Read) Versions() int {
	if r.MaxVersions == 0 {
		return 1
	}
	return r.MaxVersions
}

// Selected finds the selection of a family. ok is false when the read leaves
// the family out; a nil selection with ok is the whole family.
func (r *Read) Selected(family []byte) (sel *FamilySelect, ok bool) {
	if len(r.Select) == 0 {
		return nil, true
	}
	for i := range r.Select {
		if bytes.Equal(r.Select[i].Family, family) {
			return &r.Select[i], true
		}
	}
	return nil, false
}

// RangeOf gives the time range that holds for a family.
func (r *Read) RangeOf(sel *FamilySelect) TimeRange {
	if sel != nil && sel.Within != nil {
		return *sel.Within
	}
	return r.Within
}

// Validate checks time ranges, versions and limits.
func (r *Read) Validate() error {
	if err := r.Within.Validate(); err != nil {
		return err
	}
	if r.MaxVersions < 0 {
		return illegal("maxVersions must be positive")
	}
	if r.StoreLimit < 0 || r.StoreOffset < 0 {
		return illegal("store limit %d and offset %d must not be negative", r.StoreLimit, r.StoreOffset)
	}
	for i := range r.Select {
		for k := range i {
			if bytes.Equal(r.Select[k].Family, r.Select[i].Family) {
				return illegal("family %s is selected twice: name its columns in one place", Printable(r.Select[i].Family))
			}
		}
		if w := r.Select[i].Within; w != nil {
			if err := w.Validate(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Get reads one row.
type Get struct {
	Row []byte
	Read
}

// Validate checks the row key and the read.
func (g *Get) Validate() error {
	if err := ValidateRow(g.Row); err != nil {
		return err
	}
	return g.Read.Validate()
}

// Range is a range of row keys. A nil or empty bound is open.
type Range struct {
	Start, Stop []byte
	// StartExclusive leaves the row Start out; StopInclusive takes Stop in.
	// The default is HBase's: Start inclusive, Stop exclusive.
	StartExclusive, StopInclusive bool
}

// Contains says whether a row lies in the range, Start being its lower bound.
func (r *Range) Contains(row []byte) bool {
	if len(r.Start) > 0 {
		if c := bytes.Compare(row, r.Start); c < 0 || c == 0 && r.StartExclusive {
			return false
		}
	}
	if len(r.Stop) > 0 {
		if c := bytes.Compare(row, r.Stop); c > 0 || c == 0 && !r.StopInclusive {
			return false
		}
	}
	return true
}

// PrefixRange is the range of the rows that begin with a prefix. An empty
// prefix is all rows.
func PrefixRange(prefix []byte) Range {
	return Range{Start: prefix, Stop: AfterPrefix(prefix)}
}

// AfterPrefix gives the smallest key that is above every key with the prefix:
// its last byte below FF is incremented and the rest cut off. It is nil, an
// open end, when there is none.
func AfterPrefix(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			after := bytes.Clone(prefix[:i+1])
			after[i]++
			return after
		}
	}
	return nil
}

// Scan reads a range of rows in order.
type Scan struct {
	// Range of rows. In a reversed scan Start is the upper bound and Stop the
	// lower one; which of them is inclusive is said by the same fields.
	Range
	Reversed bool
	Read
	// Limit on the number of rows; 0: none.
	Limit int
	// Batch cuts rows into results of at most so many cells; 0: rows come
	// whole.
	Batch int
	// MaxBytes cuts a row into partial results once the cells of one exceed so
	// many bytes; 0: rows come whole, however large.
	MaxBytes int
	// Raw returns markers and every stored version (up to MaxVersions a
	// column), masked or not.
	Raw bool
}

// Validate checks the bounds and the read.
func (s *Scan) Validate() error {
	if s.Limit < 0 || s.Batch < 0 || s.MaxBytes < 0 {
		return illegal("scan limit %d, batch %d and bytes %d must not be negative", s.Limit, s.Batch, s.MaxBytes)
	}
	if len(s.Start) > MaxRow+1 || len(s.Stop) > MaxRow+1 {
		return illegal("Row length %d is > %d", max(len(s.Start), len(s.Stop)), MaxRow)
	}
	return s.Read.Validate()
}

// Ascending gives the scan's range with its lower bound first, whichever way
// the scan runs.
func (s *Scan) Ascending() Range {
	if !s.Reversed {
		return s.Range
	}
	return Range{Start: s.Stop, StartExclusive: !s.StopInclusive, Stop: s.Start, StopInclusive: !s.StartExclusive}
}

// Result is a row, or a part of one, as a read returns it. It may be used again
// for the next read, which overwrites it.
type Result struct {
	Row   []byte
	Cells []Cell
	// Partial says that more cells of the same row follow in the next result.
	Partial bool
	buf     []byte
}

// Reset empties the result and keeps its memory.
func (r *Result) Reset() {
	r.Row, r.Cells, r.Partial, r.buf = nil, r.Cells[:0], false, r.buf[:0]
}

// Copy keeps a copy of b in the result's own memory and returns it. It is valid
// until Reset.
func (r *Result) Copy(b []byte) []byte {
	if len(b) == 0 {
		return []byte{}
	}
	if len(r.buf)+len(b) > cap(r.buf) {
		// What was handed out points to the old buffer, which stays alive.
		r.buf = make([]byte, 0, max(2*cap(r.buf), len(b), 1024))
	}
	n := len(r.buf)
	r.buf = append(r.buf, b...)
	return r.buf[n:len(r.buf):len(r.buf)]
}

// Clone copies the result and all bytes it points to.
func (r *Result) Clone() *Result {
	d := &Result{Row: bytes.Clone(r.Row), Partial: r.Partial, Cells: make([]Cell, len(r.Cells))}
	for i := range r.Cells {
		d.Cells[i] = r.Cells[i].Clone()
	}
	return d
}

// CompareOp is how a check compares.
type CompareOp uint8

// Comparisons; the numbers are HBase's CompareType.
const (
	Less CompareOp = iota
	LessOrEqual
	Equal
	NotEqual
	GreaterOrEqual
	Greater
	NoOp
)

// Check is the condition of a CheckAndMutate: it compares the newest cell of a
// column with a value. The operands stand as in HBase: given value OP stored
// value. With an empty Value and Equal the check holds when the cell is missing
// or its value is empty; NotEqual is the reverse. With any other value a missing
// cell never matches, whatever the operation.
type Check struct {
	Family, Qualifier []byte
	Op                CompareOp
	Value             []byte
	Within            TimeRange
	// Filter replaces the comparison: the check holds when the row has a cell
	// that passes. Nil: none.
	Filter Filter
}
