package filter

import (
	"math"

	"github.com/cellardb/cellar/cell"
)

// filter makes the filter that was called.
func (c *filterCall) filter() (cell.Filter, error) {
	switch c.name {
	case "KeyOnlyFilter":
		return c.keyOnly()
	case "FirstKeyOnlyFilter":
		return FirstKeyOnly{}, c.count(0)
	case "PrefixFilter":
		b, err := c.onlyText()
		return Prefix{b}, err
	case "ColumnPrefixFilter":
		b, err := c.onlyText()
		return ColumnPrefix{b}, err
	case "InclusiveStopFilter":
		b, err := c.onlyText()
		return InclusiveStop{b}, err
	case "MultipleColumnPrefixFilter":
		return c.columnPrefixes()
	case "ColumnCountGetFilter":
		n, err := c.onlyNatural(math.MaxInt32)
		return ColumnCountGet{int(n)}, err
	case "PageFilter":
		n, err := c.onlyNatural(math.MaxInt64)
		return Page{n}, err
	case "ColumnPaginationFilter":
		return c.pagination()
	case "TimestampsFilter":
		return c.timestamps()
	case "RowFilter", "FamilyFilter", "QualifierFilter", "ValueFilter":
		return c.compare()
	case "ColumnRangeFilter":
		return c.columnRange()
	case "SingleColumnValueFilter":
		f, err := c.singleColumn()
		return f, err
	case "SingleColumnValueExcludeFilter":
		f, err := c.singleColumn()
		return SingleColumnValueExclude(f), err
	case "ColumnValueFilter":
		return c.columnValue()
	case "DependentColumnFilter":
		return c.dependent()
	}
	return nil, c.p.fail(c.pos, "filter name %s is not supported", cell.Printable([]byte(c.name)))
}

func (c *filterCall) onlyText() ([]byte, error) {
	if err := c.count(1); err != nil {
		return nil, err
	}
	return c.text(0)
}

func (c *filterCall) onlyNatural(max int64) (int64, error) {
	if err := c.count(1); err != nil {
		return 0, err
	}
	return c.natural(0, max)
}

func (c *filterCall) keyOnly() (cell.Filter, error) {
	if err := c.count(0, 1); err != nil || len(c.args) == 0 {
		return KeyOnly{}, err
	}
	lenAsValue, err := c.boolean(0)
	return KeyOnly{lenAsValue}, err
}

func (c *filterCall) columnPrefixes() (cell.Filter, error) {
	var f MultipleColumnPrefix
	for i := range c.args {
		b, err := c.text(i)
		if err != nil {
			return nil, err
		}
		f.Prefixes = append(f.Prefixes, b)
	}
	seen := make(map[string]bool, len(f.Prefixes))
	for i, b := range f.Prefixes {
		if seen[string(b)] {
			return nil, c.fail(i, "prefixes must be distinct: %s", cell.Printable(b))
		}
		seen[string(b)] = true
	}
	return f, nil
}

func (c *filterCall) pagination() (cell.Filter, error) {
	if err := c.count(2); err != nil {
		return nil, err
	}
	limit, err := c.natural(0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	offset, err := c.natural(1, math.MaxInt32)
	return ColumnPagination{Limit: int(limit), Offset: int(offset)}, err
}

func (c *filterCall) timestamps() (cell.Filter, error) {
	var f Timestamps
	for i := range c.args {
		t, err := c.natural(i, math.MaxInt64)
		if err != nil {
			return nil, err
		}
		f.Timestamps = append(f.Timestamps, t)
	}
	return f, nil
}

func (c *filterCall) compare() (cell.Filter, error) {
	if err := c.count(2); err != nil {
		return nil, err
	}
	op, comparator, err := c.comparison(0, false)
	if err != nil {
		return nil, err
	}
	switch c.name {
	case "RowFilter":
		return Row{op, comparator}, nil
	case "FamilyFilter":
		return Family{op, comparator}, nil
	case "QualifierFilter":
		return Qualifier{op, comparator}, nil
	}
	return Value{op, comparator}, nil
}

func (c *filterCall) columnRange() (cell.Filter, error) {
	if err := c.count(4); err != nil {
		return nil, err
	}
	min, err := c.text(0)
	if err != nil {
		return nil, err
	}
	minInclusive, err := c.boolean(1)
	if err != nil {
		return nil, err
	}
	max, err := c.text(2)
	if err != nil {
		return nil, err
	}
	maxInclusive, err := c.boolean(3)
	return ColumnRange{Min: openIfEmpty(min), MinExclusive: !minInclusive, Max: openIfEmpty(max), MaxInclusive: maxInclusive}, err
}

func openIfEmpty(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// column gives the family and the qualifier that some filters begin with.
func (c *filterCall) column() (family, qualifier []byte, err error) {
	if family, err = c.text(0); err != nil {
		return nil, nil, err
	}
	qualifier, err = c.text(1)
	return family, qualifier, err
}

func (c *filterCall) singleColumn() (f SingleColumnValue, err error) {
	if err = c.count(4, 6); err != nil {
		return f, err
	}
	if f.Family, f.Qualifier, err = c.column(); err != nil {
		return f, err
	}
	if f.Op, f.Comparator, err = c.comparison(2, false); err != nil || len(c.args) == 4 {
		return f, err
	}
	if f.FilterIfMissing, err = c.boolean(4); err != nil {
		return f, err
	}
	latestOnly, err := c.boolean(5)
	f.AllVersions = !latestOnly
	return f, err
}

func (c *filterCall) columnValue() (cell.Filter, error) {
	if err := c.count(4); err != nil {
		return nil, err
	}
	family, qualifier, err := c.column()
	if err != nil {
		return nil, err
	}
	op, comparator, err := c.comparison(2, false)
	return ColumnValue{family, qualifier, op, comparator}, err
}

func (c *filterCall) dependent() (cell.Filter, error) {
	f := DependentColumn{Op: cell.NoOp}
	err := c.count(2, 3, 5)
	if err != nil {
		return nil, err
	}
	if f.Family, f.Qualifier, err = c.column(); err != nil || len(c.args) == 2 {
		return f, err
	}
	if f.Drop, err = c.boolean(2); err != nil || len(c.args) == 3 {
		return f, err
	}
	f.Op, f.Comparator, err = c.comparison(3, true)
	return f, err
}
