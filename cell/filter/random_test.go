package filter

import (
	"math/rand/v2"

	"github.com/cellardb/cellar/cell"
)

// generator makes random filters that have something to do on the test table.
type generator struct {
	*rand.Rand
	onlyText bool // only filters that the filter language has
}

func newGenerator(seed uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 7))}
}

func pick[T any](g *generator, from []T) T { return from[g.IntN(len(from))] }

func (g *generator) bool() bool { return g.IntN(2) == 0 }

// bytes makes something like one of the someBytes: whole, cut, or changed.
func (g *generator) bytes(someBytes []string) []byte {
	b := []byte(pick(g, someBytes))
	switch g.IntN(6) {
	case 0:
		b = b[:g.IntN(len(b)+1)]
	case 1:
		if len(b) > 0 {
			b[len(b)-1]++
		}
	case 2:
		b = append(b, byte('a'+g.IntN(3)))
	}
	return b
}

func (g *generator) op() cell.CompareOp { return cell.CompareOp(g.IntN(6)) }

// comparison makes operator and comparator, in one that the filter language
// has where it must.
func (g *generator) comparison() (cell.CompareOp, Comparator) {
	op, c := g.op(), g.comparator()
	switch c.(type) {
	case RegexString, Substring:
		if g.onlyText {
			op = cell.Equal + cell.CompareOp(g.IntN(2))
		}
	}
	return op, c
}

var someBytes = []string{"", "a", "ab", "abc", "b1x1", "b2x1", "c9", "v0", "v1", "v2", "v3", "q1", "x'y", "Abc def\r\n", "\xff\x00\x01"}

func (g *generator) comparator() Comparator {
	n := 8
	if g.onlyText {
		n = 5
	}
	switch g.IntN(n) {
	case 0:
		return BinaryPrefix{g.bytes(someBytes)}
	case 1:
		return Substring{pick(g, []string{"", "B", "v1", "abc", "Q", "\xff"})}
	case 2:
		return Regex(pick(g, regexWords))
	case 3:
		return RegexString{Pattern: pick(g, regexWords), Flags: DotAll | CaseInsensitive}
	case 5:
		return Null{}
	case 6:
		return Bit{BitOp(1 + g.IntN(3)), g.bytes(someBytes)}
	case 7:
		return RegexString{Pattern: pick(g, regexWords), Flags: RegexFlags(pick(g, []int{0, 8, 9, 32})), Charset: RegexCharset(g.IntN(2))}
	}
	return Binary{g.bytes(someBytes)}
}

var regexWords = []string{"^a", "b$", "[1-3]", "v(1|3)", "^$", "^.$", "x|q", "f$", "^.{2,3}$", "\\d", "^[^a]", "a.*c"}

func (g *generator) filter(depth int) cell.Filter {
	if depth > 0 && g.IntN(3) > 0 {
		switch g.IntN(8) {
		case 0:
			return SkipRow{g.filter(depth - 1)}
		case 1:
			return WhileMatch{g.filter(depth - 1)}
		}
		l := List{Op: ListOp(g.IntN(2))}
		for range 2 + g.IntN(2) {
			l.Filters = append(l.Filters, g.filter(depth-1))
		}
		return l
	}
	if g.bool() {
		return g.rowFilter()
	}
	return g.cellFilter()
}

func (g *generator) rowFilter() cell.Filter {
	n := 8
	if g.onlyText {
		n = 5
	}
	switch g.IntN(n) {
	case 0:
		return Prefix{g.bytes(tableRows)}
	case 1:
		return InclusiveStop{g.bytes(tableRows)}
	case 2:
		return Page{int64(g.IntN(5))}
	case 3:
		return ColumnCountGet{g.IntN(6)}
	case 5, 6:
		return g.fuzzy()
	case 7:
		return g.ranges()
	}
	op, c := g.comparison()
	return Row{op, c}
}

func (g *generator) fuzzy() cell.Filter {
	var f FuzzyRow
	for range 1 + g.IntN(3) {
		key := g.bytes(tableRows)
		mask := make([]byte, len(key))
		for i := range mask {
			mask[i] = byte(g.IntN(2))
		}
		f.Keys = append(f.Keys, FuzzyKey{key, mask})
	}
	return f
}

func (g *generator) ranges() cell.Filter {
	var f MultiRowRange
	for len(f.Ranges) == 0 || g.bool() {
		r := cell.Range{Start: g.bytes(tableRows), Stop: g.bytes(tableRows), StartExclusive: g.bool(), StopInclusive: g.bool()}
		if sound(&r) {
			f.Ranges = append(f.Ranges, r)
		}
	}
	return f
}

func (g *generator) column() (family, qualifier []byte) {
	return []byte(pick(g, tableFamilies)), []byte(pick(g, tableQualifiers))
}

func (g *generator) cellFilter() cell.Filter {
	family, qualifier := g.column()
	op, c := g.comparison()
	n := 17
	if g.onlyText {
		n = 15
	}
	switch g.IntN(n) {
	case 0:
		return KeyOnly{g.bool()}
	case 1:
		return FirstKeyOnly{}
	case 2:
		return ColumnPrefix{g.bytes(tableQualifiers)}
	case 3:
		return g.prefixes()
	case 4:
		return ColumnPagination{Limit: g.IntN(4), Offset: g.IntN(4)}
	case 5:
		return g.timestamps()
	case 6:
		return ColumnRange{openIfEmpty(g.bytes(tableQualifiers)), openIfEmpty(g.bytes(tableQualifiers)), g.bool(), g.bool()}
	case 7:
		return SingleColumnValue{family, qualifier, op, c, g.bool(), g.bool()}
	case 8:
		return SingleColumnValueExclude{family, qualifier, op, c, g.bool(), g.bool()}
	case 9:
		return ColumnValue{family, qualifier, op, c}
	case 10:
		return DependentColumn{Family: family, Qualifier: qualifier, Drop: g.bool(), Op: cell.NoOp}
	case 11:
		return DependentColumn{family, qualifier, g.bool(), op, c}
	case 12:
		return Family{op, c}
	case 13:
		return Qualifier{op, c}
	case 15:
		return FirstKeyValueMatchingQualifiers{[][]byte{qualifier, g.bytes(tableQualifiers)}}
	case 16:
		return ColumnPagination{Limit: g.IntN(4), ColumnOffset: g.bytes(tableQualifiers)}
	}
	return Value{op, c}
}

func (g *generator) prefixes() cell.Filter {
	var f MultipleColumnPrefix
	seen := map[string]bool{}
	for range g.IntN(4) {
		if p := g.bytes(tableQualifiers); !seen[string(p)] {
			seen[string(p)] = true
			f.Prefixes = append(f.Prefixes, p)
		}
	}
	return f
}

func (g *generator) timestamps() cell.Filter {
	f := Timestamps{CanHint: g.bool() && !g.onlyText}
	for range g.IntN(4) {
		f.Timestamps = append(f.Timestamps, int64(g.IntN(8)))
	}
	return f
}

func (g *generator) scan() scan {
	s := scan{reversed: g.IntN(4) == 0, versions: 1 + g.IntN(3), filter: g.filter(g.IntN(4))}
	if g.IntN(4) == 0 {
		s.limit, s.offset = 1+g.IntN(3), g.IntN(3)
	}
	return s
}
