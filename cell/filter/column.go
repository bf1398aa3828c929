package filter

import (
	"bytes"
	"slices"
	"sort"

	"github.com/cellardb/cellar/cell"
)

// ColumnPrefix keeps the columns whose qualifier begins with the prefix.
type ColumnPrefix struct{ Prefix []byte }

func (f ColumnPrefix) String() string { return call("ColumnPrefixFilter", quote(f.Prefix)) }

func (f ColumnPrefix) build(*builder) (node, error) { return &columnPrefixNode{prefix: f.Prefix}, nil }

type columnPrefixNode struct {
	base
	prefix []byte
}

func (n *columnPrefixNode) hinting() bool { return true }

func (n *columnPrefixNode) filterCell(c *cell.Cell) (Code, error) {
	if bytes.HasPrefix(c.Qualifier, n.prefix) {
		return Include, nil
	}
	if bytes.Compare(c.Qualifier, n.prefix) < 0 {
		return SeekNextUsingHint, nil
	}
	return NextRow, nil
}

func (n *columnPrefixNode) nextHint(c *cell.Cell) (position, bool) {
	return firstOnColumn(c, n.prefix), true
}

// MultipleColumnPrefix keeps the columns whose qualifier begins with one of the
// prefixes, which are in any order and differ from each other. Without prefixes
// it keeps all.
//
// HBase looks only at the largest prefix that is not above a qualifier: of
// prefixes 'a' and 'ab', the column 'ac' is dropped.
type MultipleColumnPrefix struct{ Prefixes [][]byte }

func (f MultipleColumnPrefix) String() string {
	return call("MultipleColumnPrefixFilter", quoteAll(f.Prefixes)...)
}

func (f MultipleColumnPrefix) build(*builder) (node, error) {
	sorted := slices.Clone(f.Prefixes)
	slices.SortFunc(sorted, bytes.Compare)
	for i := 1; i < len(sorted); i++ {
		if bytes.Equal(sorted[i-1], sorted[i]) {
			return nil, illegal("MultipleColumnPrefixFilter: prefixes must be distinct: %s", cell.Printable(sorted[i]))
		}
	}
	return &columnPrefixesNode{sorted: sorted}, nil
}

type columnPrefixesNode struct {
	base
	sorted [][]byte
	next   int // the prefix to seek to
}

func (n *columnPrefixesNode) hinting() bool { return true }

func (n *columnPrefixesNode) filterCell(c *cell.Cell) (Code, error) {
	if len(n.sorted) == 0 {
		return Include, nil
	}
	above := sort.Search(len(n.sorted), func(i int) bool { return bytes.Compare(n.sorted[i], c.Qualifier) > 0 })
	if above > 0 && bytes.HasPrefix(c.Qualifier, n.sorted[above-1]) {
		return Include, nil
	}
	if above == len(n.sorted) {
		return NextRow, nil
	}
	n.next = above
	return SeekNextUsingHint, nil
}

func (n *columnPrefixesNode) nextHint(c *cell.Cell) (position, bool) {
	if n.next == len(n.sorted) {
		return position{}, false
	}
	return firstOnColumn(c, n.sorted[n.next]), true
}

// ColumnRange keeps the columns whose qualifier lies in a range. A nil bound is
// open; an empty one that is not nil is the empty qualifier.
type ColumnRange struct {
	Min, Max []byte
	// MinExclusive leaves the column Min out; MaxInclusive takes Max in. The
	// default is HBase's: Min inclusive, Max exclusive.
	MinExclusive, MaxInclusive bool
}

func (f ColumnRange) String() string {
	return call("ColumnRangeFilter", quote(f.Min), boolean(!f.MinExclusive), quote(f.Max), boolean(f.MaxInclusive))
}

func (f ColumnRange) build(*builder) (node, error) { return &columnRangeNode{ColumnRange: f}, nil }

type columnRangeNode struct {
	base
	ColumnRange
}

func (n *columnRangeNode) hinting() bool { return true }

func (n *columnRangeNode) filterCell(c *cell.Cell) (Code, error) {
	if n.Min != nil {
		switch order := bytes.Compare(c.Qualifier, n.Min); {
		case order < 0:
			return SeekNextUsingHint, nil
		case order == 0 && n.MinExclusive:
			return NextCol, nil
		}
	}
	if n.Max != nil {
		if order := bytes.Compare(c.Qualifier, n.Max); order > 0 || order == 0 && !n.MaxInclusive {
			return NextRow, nil
		}
	}
	return Include, nil
}

func (n *columnRangeNode) nextHint(c *cell.Cell) (position, bool) {
	return firstOnColumn(c, n.Min), true
}

// ColumnPagination keeps of each row and family a page of columns, the newest
// version of each: after the first Offset columns at most Limit, or, where
// ColumnOffset is not nil, from that qualifier on. The count goes on over the
// families of a row.
type ColumnPagination struct {
	Limit, Offset int
	ColumnOffset  []byte
}

func (f ColumnPagination) String() string {
	if f.ColumnOffset != nil {
		return call("ColumnPaginationFilter", integer(f.Limit), quote(f.ColumnOffset))
	}
	return call("ColumnPaginationFilter", integer(f.Limit), integer(f.Offset))
}

func (f ColumnPagination) build(*builder) (node, error) {
	if f.Limit < 0 || f.Offset < 0 {
		return nil, illegal("ColumnPaginationFilter: limit %d and offset %d must not be negative", f.Limit, f.Offset)
	}
	return &paginationNode{ColumnPagination: f}, nil
}

type paginationNode struct {
	base
	ColumnPagination
	count int
}

func (n *paginationNode) reset() { n.count = 0 }

func (n *paginationNode) filterCell(c *cell.Cell) (Code, error) {
	if n.ColumnOffset != nil {
		return n.fromColumn(c), nil
	}
	// Not offset+limit, which may overflow.
	if n.count >= n.Offset && n.count-n.Offset >= n.Limit {
		return NextRow, nil
	}
	n.count++
	if n.count <= n.Offset {
		return NextCol, nil
	}
	return IncludeAndNextCol, nil
}

func (n *paginationNode) fromColumn(c *cell.Cell) Code {
	switch {
	case n.count >= n.Limit:
		return NextRow
	case n.count == 0 && bytes.Compare(c.Qualifier, n.ColumnOffset) < 0:
		return SeekNextUsingHint
	}
	n.count++
	return IncludeAndNextCol
}

func (n *paginationNode) nextHint(c *cell.Cell) (position, bool) {
	return firstOnColumn(c, n.ColumnOffset), n.ColumnOffset != nil
}

// ColumnCountGet keeps the first columns of a row, the newest version of each,
// and ends the scan behind a row that has more. It is meant for gets.
type ColumnCountGet struct{ Limit int }

func (f ColumnCountGet) String() string { return call("ColumnCountGetFilter", integer(f.Limit)) }

func (f ColumnCountGet) build(*builder) (node, error) {
	if f.Limit < 0 {
		return nil, illegal("ColumnCountGetFilter: limit %d must not be negative", f.Limit)
	}
	return &columnCountNode{limit: f.Limit}, nil
}

type columnCountNode struct {
	base
	limit, count int
}

func (n *columnCountNode) reset()                            { n.count = 0 }
func (n *columnCountNode) filterAllRemaining() bool          { return n.count > n.limit }
func (n *columnCountNode) filterRowKey([]byte) (bool, error) { return n.filterAllRemaining(), nil }

func (n *columnCountNode) filterCell(*cell.Cell) (Code, error) {
	n.count++
	if n.filterAllRemaining() {
		return NextCol, nil
	}
	return IncludeAndNextCol, nil
}
