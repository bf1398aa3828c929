package storetest

import (
	"bytes"
	"math/big"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
)

// filterDepth is how deep random filters wrap each other.
const filterDepth = 3

// maybeFilter is a random filter for every other read, and none for the others.
func (g *generator) maybeFilter(table string) cell.Filter {
	if !g.semantics || g.IntN(2) == 0 {
		return nil
	}
	return g.filter(table, filterDepth)
}

// filter is a random one that has something to do with what is in the table.
func (g *generator) filter(table string, depth int) cell.Filter {
	switch n := g.IntN(20); {
	case depth > 1 && n < 3:
		return filter.List{Op: filter.MustPassAll, Filters: g.filters(table, depth-1)}
	case depth > 1 && n < 7:
		return filter.List{Op: filter.MustPassOne, Filters: g.filters(table, depth-1)}
	case depth > 1 && n == 7:
		return filter.SkipRow{Filter: g.filter(table, depth-1)}
	case depth > 1 && n == 8:
		return filter.WhileMatch{Filter: g.filter(table, depth-1)}
	case n < 12:
		return g.rowFilter()
	case n < 16:
		return g.valueFilter(table)
	}
	return g.columnFilter(table)
}

// filters are those of a list, now and then of none or one.
func (g *generator) filters(table string, depth int) []cell.Filter {
	n := 2 + g.IntN(2)
	if g.IntN(15) == 0 {
		n = g.IntN(2)
	}
	list := make([]cell.Filter, n)
	for i := range list {
		list[i] = g.filter(table, depth)
	}
	return list
}

// rowFilter judges row keys, or counts rows.
func (g *generator) rowFilter() cell.Filter {
	switch g.IntN(9) {
	case 0:
		row := g.row()
		return filter.Prefix{Prefix: row[:g.IntN(len(row)+1)]}
	case 1:
		return filter.InclusiveStop{Row: g.row()}
	case 2:
		return filter.RandomRow{Chance: []float32{-1, 0.5, 0.5, 2}[g.IntN(4)], Seed: 1 + g.Uint64N(1000)}
	case 3:
		return filter.Page{Rows: int64(g.IntN(5))}
	case 4, 5:
		return g.fuzzyRow()
	case 6:
		return g.rowRanges()
	}
	return filter.Row{Op: g.compareOp(), Comparator: filter.Binary{Value: g.row()}}
}

func (g *generator) fuzzyRow() cell.Filter {
	var f filter.FuzzyRow
	for range 1 + g.IntN(3) {
		k := filter.FuzzyKey{Key: g.row()}
		k.Mask = make([]byte, len(k.Key))
		for i := range k.Mask {
			k.Mask[i] = byte(g.IntN(2))
		}
		f.Keys = append(f.Keys, k)
	}
	return f
}

func (g *generator) rowRanges() cell.Filter {
	var f filter.MultiRowRange
	for range 1 + g.IntN(3) {
		r := g.rows()
		if len(r.Start) > 0 && len(r.Stop) > 0 && bytes.Compare(r.Start, r.Stop) >= 0 {
			r.Start, r.Stop = r.Stop, r.Start
			r.StartExclusive, r.StopInclusive = false, true
		}
		f.Ranges = append(f.Ranges, r)
	}
	return f
}

// columnFilter judges families, qualifiers and timestamps, or counts columns.
func (g *generator) columnFilter(table string) cell.Filter {
	switch g.IntN(14) {
	case 0:
		return filter.KeyOnly{LenAsValue: g.IntN(2) == 0}
	case 1:
		return filter.FirstKeyOnly{}
	case 2:
		return filter.FirstKeyValueMatchingQualifiers{Qualifiers: [][]byte{g.qualifier(), []byte("n")}}
	case 3, 4:
		f := filter.Timestamps{CanHint: g.IntN(2) == 0}
		for range g.IntN(5) {
			f.Timestamps = append(f.Timestamps, g.timestamp())
		}
		return f
	case 5:
		return filter.Family{Op: g.compareOp(), Comparator: filter.Binary{Value: g.family(table)}}
	case 6:
		return filter.Qualifier{Op: g.compareOp(), Comparator: filter.Binary{Value: g.qualifier()}}
	case 7:
		return filter.ColumnPrefix{Prefix: g.qualifier()}
	case 8:
		return filter.MultipleColumnPrefix{Prefixes: [][]byte{[]byte("n"), []byte("q\x00")}[g.IntN(2):]}
	case 9, 10:
		return g.columnRange()
	case 11:
		return filter.ColumnPagination{Limit: g.IntN(4), Offset: g.IntN(3)}
	case 12:
		return filter.ColumnPagination{Limit: g.IntN(4), ColumnOffset: g.qualifier()}
	}
	return filter.ColumnCountGet{Limit: g.IntN(6)}
}

func (g *generator) columnRange() cell.Filter {
	f := filter.ColumnRange{MinExclusive: g.IntN(2) == 0, MaxInclusive: g.IntN(2) == 0}
	if g.IntN(3) > 0 {
		f.Min = g.qualifier()
	}
	if g.IntN(3) > 0 {
		f.Max = g.qualifier()
	}
	return f
}

// valueFilter judges values, of every cell or of one column.
func (g *generator) valueFilter(table string) cell.Filter {
	family, qualifier := g.family(table), g.qualifier()
	single := filter.SingleColumnValue{
		Family: family, Qualifier: qualifier, Op: g.compareOp(), Comparator: g.comparator(),
		FilterIfMissing: g.IntN(2) == 0, AllVersions: g.IntN(2) == 0,
	}
	switch g.IntN(7) {
	case 0:
		return single
	case 1:
		return filter.SingleColumnValueExclude(single)
	case 2:
		return filter.ColumnValue{Family: family, Qualifier: qualifier, Op: single.Op, Comparator: single.Comparator}
	case 3:
		f := filter.DependentColumn{Family: family, Qualifier: qualifier, Drop: g.IntN(2) == 0}
		if g.IntN(2) == 0 {
			f.Op, f.Comparator = single.Op, single.Comparator
		}
		return f
	case 4:
		if g.IntN(6) == 0 {
			return g.numberFilter(family)
		}
	}
	return filter.Value{Op: single.Op, Comparator: single.Comparator}
}

// numberFilter reads values as numbers: a column of counters, now and then
// something else, row keys even, which is an error.
func (g *generator) numberFilter(family []byte) cell.Filter {
	f := filter.ColumnValue{Family: family, Qualifier: []byte("n"), Op: g.compareOp(), Comparator: filter.Long{Value: int64(g.IntN(20) - 5)}}
	switch g.IntN(6) {
	case 0, 1:
		f.Comparator = filter.BigDecimal{Unscaled: big.NewInt(int64(g.IntN(20) - 5)), Scale: int32(g.IntN(3))}
	case 2:
		return filter.Value{Op: f.Op, Comparator: f.Comparator}
	case 3:
		return filter.Row{Op: f.Op, Comparator: f.Comparator}
	}
	return f
}

func (g *generator) compareOp() cell.CompareOp { return cell.CompareOp(g.IntN(int(cell.NoOp))) }

func (g *generator) comparator() filter.Comparator {
	v := g.value()
	switch g.IntN(10) {
	case 0:
		return filter.BinaryPrefix{Value: v[:min(len(v), 1+g.IntN(2))]}
	case 1:
		return filter.BinaryComponent{Value: v[:min(len(v), 1)], Offset: g.IntN(3)}
	case 2:
		return filter.Substring{Text: []string{"B", "gh", "ab", "h"}[g.IntN(4)]}
	case 3, 4:
		return filter.Regex([]string{"^a", "^.{5,}$", "^[d-h]", "cdefg", "^$", "b.*b|e"}[g.IntN(6)])
	case 5:
		if g.IntN(3) == 0 {
			return filter.Null{}
		}
		return filter.Bit{Op: filter.BitOp(1 + g.IntN(3)), Value: v}
	}
	return filter.Binary{Value: v}
}
