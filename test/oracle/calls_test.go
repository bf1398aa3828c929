package oracle

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
)

// term is a call of a filter or comparator, or a word where args is nil.
type term struct {
	word string
	args []term
}

// parseCall reads Name(argument, ...), the form of the filters that HBase's
// filter language lacks.
func parseCall(text string) cell.Filter {
	t, rest := parseTerm(text)
	if rest != "" {
		panic(fault("what follows a filter: %s", rest))
	}
	return t.filter()
}

func parseTerm(text string) (t term, rest string) {
	end := strings.IndexAny(text, "(),")
	if end < 0 {
		return term{word: strings.TrimSpace(text)}, ""
	}
	t = term{word: strings.TrimSpace(text[:end])}
	if text[end] != '(' {
		return t, text[end:]
	}
	t.args = []term{}
	rest = text[end+1:]
	for !strings.HasPrefix(rest, ")") {
		if rest == "" {
			panic(fault("a parenthesis is open: %s", text))
		}
		var arg term
		arg, rest = parseTerm(rest)
		t.args = append(t.args, arg)
		rest = strings.TrimPrefix(rest, ",")
	}
	return t, rest[1:]
}

func (t term) bytes() []byte {
	switch t.word {
	case "nil":
		return nil
	case "''":
		return []byte{}
	}
	return decode(t.word)
}

func (t term) number() int64 {
	n, err := strconv.ParseInt(t.word, 10, 64)
	if err != nil {
		panic(fault("%v", err))
	}
	return n
}

func (t term) yes() bool {
	yes, err := strconv.ParseBool(t.word)
	if err != nil {
		panic(fault("%v", err))
	}
	return yes
}

func (t term) filter() cell.Filter {
	a := t.args
	switch t.word {
	case "Text":
		f, err := filter.Parse(a[0].bytes())
		if err != nil {
			panic(fault("%v", err))
		}
		return f
	case "FilterList":
		list := filter.List{Op: filter.MustPassAll}
		if a[0].word == "MUST_PASS_ONE" {
			list.Op = filter.MustPassOne
		}
		for _, f := range a[1:] {
			list.Filters = append(list.Filters, f.filter())
		}
		return list
	case "SkipFilter":
		return filter.SkipRow{Filter: a[0].filter()}
	case "WhileMatchFilter":
		return filter.WhileMatch{Filter: a[0].filter()}
	case "FuzzyRowFilter":
		return fuzzy(a)
	case "MultiRowRangeFilter":
		return ranges(a)
	case "TimestampsFilter":
		f := filter.Timestamps{CanHint: a[0].yes()}
		for _, s := range a[1:] {
			f.Timestamps = append(f.Timestamps, s.number())
		}
		return f
	case "FirstKeyValueMatchingQualifiersFilter":
		f := filter.FirstKeyValueMatchingQualifiers{}
		for _, q := range a {
			f.Qualifiers = append(f.Qualifiers, q.bytes())
		}
		return f
	case "ColumnPaginationFilter":
		return filter.ColumnPagination{Limit: int(a[0].number()), ColumnOffset: a[1].bytes()}
	case "ColumnRangeFilter":
		return filter.ColumnRange{Min: a[0].bytes(), MinExclusive: !a[1].yes(), Max: a[2].bytes(), MaxInclusive: a[3].yes()}
	case "PageFilter":
		return filter.Page{Rows: a[0].number()}
	case "FirstKeyOnlyFilter":
		return filter.FirstKeyOnly{}
	case "KeyOnlyFilter":
		return filter.KeyOnly{LenAsValue: a[0].yes()}
	}
	return t.comparison()
}

func (t term) comparison() cell.Filter {
	a := t.args
	switch t.word {
	case "RowFilter":
		return filter.Row{Op: a[0].operator(), Comparator: a[1].comparator()}
	case "FamilyFilter":
		return filter.Family{Op: a[0].operator(), Comparator: a[1].comparator()}
	case "QualifierFilter":
		return filter.Qualifier{Op: a[0].operator(), Comparator: a[1].comparator()}
	case "ValueFilter":
		return filter.Value{Op: a[0].operator(), Comparator: a[1].comparator()}
	case "ColumnValueFilter":
		return filter.ColumnValue{Family: a[0].bytes(), Qualifier: a[1].bytes(), Op: a[2].operator(), Comparator: a[3].comparator()}
	case "DependentColumnFilter":
		return filter.DependentColumn{Family: a[0].bytes(), Qualifier: a[1].bytes(), Drop: a[2].yes(), Op: a[3].operator(), Comparator: a[4].comparator()}
	case "SingleColumnValueFilter":
		return t.single()
	case "SingleColumnValueExcludeFilter":
		return filter.SingleColumnValueExclude(t.single())
	}
	panic(fault("no such filter: %s", t.word))
}

func (t term) single() filter.SingleColumnValue {
	a := t.args
	return filter.SingleColumnValue{
		Family: a[0].bytes(), Qualifier: a[1].bytes(), Op: a[2].operator(), Comparator: a[3].comparator(),
		FilterIfMissing: a[4].yes(), AllVersions: !a[5].yes(),
	}
}

func fuzzy(keys []term) cell.Filter {
	f := filter.FuzzyRow{}
	for _, k := range keys {
		key, mask, _ := strings.Cut(k.word, "/")
		m := []byte(mask)
		for i := range m {
			m[i] -= '0'
		}
		f.Keys = append(f.Keys, filter.FuzzyKey{Key: decode(key), Mask: m})
	}
	return f
}

func ranges(a []term) cell.Filter {
	f := filter.MultiRowRange{}
	for r := range slices.Chunk(a, 4) {
		f.Ranges = append(f.Ranges, cell.Range{
			Start: r[0].bytes(), StartExclusive: !r[1].yes(), Stop: r[2].bytes(), StopInclusive: r[3].yes(),
		})
	}
	return f
}

// compareOps are HBase's names of the comparisons.
var compareOps = []string{
	cell.Less: "LESS", cell.LessOrEqual: "LESS_OR_EQUAL", cell.Equal: "EQUAL", cell.NotEqual: "NOT_EQUAL",
	cell.GreaterOrEqual: "GREATER_OR_EQUAL", cell.Greater: "GREATER", cell.NoOp: "NO_OP",
}

func compareOp(name string) cell.CompareOp {
	i := slices.Index(compareOps, name)
	if i < 0 {
		panic(fault("no such comparison: %s", name))
	}
	return cell.CompareOp(i)
}

func (t term) operator() cell.CompareOp { return compareOp(t.word) }

func (t term) comparator() filter.Comparator {
	a := t.args
	switch t.word {
	case "Binary":
		return filter.Binary{Value: a[0].bytes()}
	case "BinaryPrefix":
		return filter.BinaryPrefix{Value: a[0].bytes()}
	case "BinaryComponent":
		return filter.BinaryComponent{Value: a[0].bytes(), Offset: int(a[1].number())}
	case "Bit":
		op := slices.Index([]string{filter.BitAnd: "AND", filter.BitOr: "OR", filter.BitXor: "XOR"}, a[0].word)
		return filter.Bit{Op: filter.BitOp(op), Value: a[1].bytes()}
	case "Long":
		return filter.Long{Value: a[0].number()}
	case "BigDecimal":
		return decimal(a[0].word)
	case "Null":
		return filter.Null{}
	case "Substring":
		return filter.Substring{Text: string(a[0].bytes())}
	case "Regex":
		return regex(a[0].word, a[1].word, a[2].bytes())
	}
	panic(fault("no such comparator: %s", t.word))
}

// decimal reads digits with a point among them.
func decimal(text string) filter.BigDecimal {
	_, fraction, _ := strings.Cut(text, ".")
	n, ok := new(big.Int).SetString(strings.Replace(text, ".", "", 1), 10)
	if !ok {
		panic(fault("not a decimal number: %s", text))
	}
	return filter.BigDecimal{Unscaled: n, Scale: int32(len(fraction))}
}

func regex(charset, flags string, pattern []byte) filter.RegexString {
	r := filter.RegexString{Pattern: string(pattern), Flags: filter.RegexFlags(parseInt(flags))}
	switch charset {
	case "ISO-8859-1":
		r.Charset = filter.Latin1
	case "UTF-8":
		r.Charset = filter.UTF8
	default:
		panic(fault("no such charset: %s", charset))
	}
	return r
}
