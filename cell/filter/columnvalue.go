package filter

import (
	"slices"

	"github.com/cellardb/cellar/cell"
)

// SingleColumnValue keeps the rows in which one column compares true. The
// column must be among those that the read selects. A row without it is kept
// unless FilterIfMissing. Only the newest version is tested, unless AllVersions:
// then one that compares true is enough.
type SingleColumnValue struct {
	Family, Qualifier []byte
	Op                cell.CompareOp
	Comparator        Comparator
	FilterIfMissing   bool
	AllVersions       bool // HBase's latestVersionOnly, the other way round
}

func (f SingleColumnValue) String() string { return f.text("SingleColumnValueFilter") }

func (f SingleColumnValue) text(name string) string {
	args := append([]string{quote(f.Family), quote(f.Qualifier)}, comparison(f.Op, f.Comparator)...)
	if f.FilterIfMissing || f.AllVersions {
		args = append(args, boolean(f.FilterIfMissing), boolean(!f.AllVersions))
	}
	return call(name, args...)
}

func (f SingleColumnValue) build(b *builder) (node, error) {
	n, err := f.node(b, "SingleColumnValueFilter")
	return n, err
}

func (f SingleColumnValue) node(b *builder, name string) (*singleNode, error) {
	if f.Op == cell.NoOp {
		return nil, illegal("%s has no meaning with NO_OP", name)
	}
	t, err := b.test(f.Op, f.Comparator)
	return &singleNode{SingleColumnValue: f, test: t}, err
}

type singleNode struct {
	base
	SingleColumnValue
	test           test
	found, matched bool
}

func (n *singleNode) reset()             { n.found, n.matched = false, false }
func (n *singleNode) hasFilterRow() bool { return true }

func (n *singleNode) filterCell(c *cell.Cell) (Code, error) {
	switch {
	case n.matched:
		return Include, nil
	case n.found && !n.AllVersions:
		return NextRow, nil
	case !sameColumn(c, n.Family, n.Qualifier):
		return Include, nil
	}
	n.found = true
	drop, err := n.test.drops(c.Value)
	if drop && !n.AllVersions {
		return NextRow, err
	}
	n.matched = !drop
	return Include, err
}

func (n *singleNode) filterRow() bool {
	if n.found {
		return !n.matched
	}
	return n.FilterIfMissing
}

// SingleColumnValueExclude is SingleColumnValue and leaves the tested column
// out of the rows that it keeps.
type SingleColumnValueExclude SingleColumnValue

func (f SingleColumnValueExclude) String() string {
	return SingleColumnValue(f).text("SingleColumnValueExcludeFilter")
}

func (f SingleColumnValueExclude) build(b *builder) (node, error) {
	n, err := SingleColumnValue(f).node(b, "SingleColumnValueExcludeFilter")
	if err != nil {
		return nil, err
	}
	return &excludeNode{n}, nil
}

type excludeNode struct{ *singleNode }

func (n *excludeNode) filterRowCells(cells []cell.Cell) []cell.Cell {
	return slices.DeleteFunc(cells, func(c cell.Cell) bool { return sameColumn(&c, n.Family, n.Qualifier) })
}

// ColumnValue keeps the cells of one column whose value compares true, and
// nothing else.
type ColumnValue struct {
	Family, Qualifier []byte
	Op                cell.CompareOp
	Comparator        Comparator
}

func (f ColumnValue) String() string {
	args := append([]string{quote(f.Family), quote(f.Qualifier)}, comparison(f.Op, f.Comparator)...)
	return call("ColumnValueFilter", args...)
}

func (f ColumnValue) build(b *builder) (node, error) {
	t, err := b.test(f.Op, f.Comparator)
	return &columnValueNode{ColumnValue: f, test: t}, err
}

type columnValueNode struct {
	base
	ColumnValue
	test  test
	found bool
}

func (n *columnValueNode) reset() { n.found = false }

func (n *columnValueNode) filterCell(c *cell.Cell) (Code, error) {
	if !sameColumn(c, n.Family, n.Qualifier) {
		if n.found {
			return NextRow, nil
		}
		return NextCol, nil
	}
	n.found = true
	drop, err := n.test.drops(c.Value)
	if drop {
		return Skip, err
	}
	return Include, err
}

// DependentColumn keeps the cells of a row that have the timestamp of a cell of
// one column, that column's own cells unless Drop. With a Comparator only those
// cells of the column count whose value compares true.
type DependentColumn struct {
	Family, Qualifier []byte
	Drop              bool
	Op                cell.CompareOp
	Comparator        Comparator // nil: any value
}

func (f DependentColumn) String() string {
	args := []string{quote(f.Family), quote(f.Qualifier)}
	switch {
	case f.Comparator != nil:
		args = append(append(args, boolean(f.Drop)), comparison(f.Op, f.Comparator)...)
	case f.Drop:
		args = append(args, boolean(f.Drop))
	}
	return call("DependentColumnFilter", args...)
}

func (f DependentColumn) build(b *builder) (node, error) {
	n := &dependentNode{DependentColumn: f, stamps: map[int64]struct{}{}}
	var err error
	if f.Comparator != nil {
		n.test, err = b.test(f.Op, f.Comparator)
	}
	return n, err
}

type dependentNode struct {
	base
	DependentColumn
	test   test
	stamps map[int64]struct{} // of the column in this row
}

func (n *dependentNode) reset()             { clear(n.stamps) }
func (n *dependentNode) hasFilterRow() bool { return true }

func (n *dependentNode) filterCell(c *cell.Cell) (Code, error) {
	if !sameColumn(c, n.Family, n.Qualifier) {
		return Include, nil
	}
	if n.Comparator != nil {
		if drop, err := n.test.drops(c.Value); drop || err != nil {
			return Skip, err
		}
	}
	n.stamps[c.Timestamp] = struct{}{}
	if n.Drop {
		return Skip, nil
	}
	return Include, nil
}

func (n *dependentNode) filterRowCells(cells []cell.Cell) []cell.Cell {
	return slices.DeleteFunc(cells, func(c cell.Cell) bool {
		_, ok := n.stamps[c.Timestamp]
		return !ok
	})
}
