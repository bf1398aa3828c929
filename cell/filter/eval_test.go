package filter

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellardb/cellar/cell"
)

func evaluator(t *testing.T, f cell.Filter, o Options) *Evaluator {
	t.Helper()
	e, err := New(f, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// C04: a filter that judges whole rows does not go with batches. The text is
// HBase's.
func TestC04_FilterWithBatch(t *testing.T) {
	single := SingleColumnValue{Family: b("f"), Qualifier: b("q"), Op: cell.Equal, Comparator: binaryOf("v1")}
	cases := []struct {
		filter cell.Filter
		whole  bool
	}{
		{single, true}, {SingleColumnValueExclude(single), true}, {DependentColumn{Family: b("f")}, true}, {Page{1}, true}, {SkipRow{FirstKeyOnly{}}, true},
		{WhileMatch{FirstKeyOnly{}}, true}, {RandomRow{Chance: 1}, true}, {All(FirstKeyOnly{}, single), true}, {Any(FirstKeyOnly{}, single), true},
		{All(), false}, {Any(FirstKeyOnly{}, KeyOnly{}), false}, {Row{cell.Equal, binaryOf("r")}, false}, {Prefix{b("r")}, false}, {ColumnValue{b("f"), b("q"), cell.Equal, Null{}}, false},
		{FuzzyRow{[]FuzzyKey{{b("a"), []byte{0}}}}, false}, {InclusiveStop{b("r")}, false}, {ColumnCountGet{1}, false}, {ColumnPagination{Limit: 1}, false},
	}
	for _, c := range cases {
		e := evaluator(t, c.filter, Options{})
		if e.HasFilterRow() != c.whole {
			t.Errorf("%s: HasFilterRow %v, want %v", c.filter, e.HasFilterRow(), c.whole)
		}
		err := e.CheckBatch(1)
		if c.whole && (!errors.Is(err, ErrIncompatible) || !errors.Is(err, cell.ErrIllegalArgument) ||
			!strings.Contains(err.Error(), "Cannot set batch on a scan using a filter that returns true for filter.hasFilterRow")) {
			t.Errorf("%s: %v", c.filter, err)
		}
		if !c.whole && err != nil || e.CheckBatch(0) != nil {
			t.Errorf("%s: %v, %v", c.filter, err, e.CheckBatch(0))
		}
	}
	if len(cases) != 18 {
		t.Errorf("%d cases, want 18", len(cases))
	}
}

// New refuses what cannot be evaluated, and says why.
func TestNewRefuses(t *testing.T) {
	deep := cell.Filter(FirstKeyOnly{})
	for range MaxDepth {
		deep = SkipRow{deep}
	}
	wide := List{}
	for range MaxFilters {
		wide.Filters = append(wide.Filters, FirstKeyOnly{})
	}
	many := List{}
	for range 60 {
		many.Filters = append(many.Filters, Value{cell.Equal, Regex("(abc){300}")})
	}
	cases := []struct {
		filter cell.Filter
		kind   error
		says   string
	}{
		{nil, nil, "a filter is missing"}, {strangeFilter{}, ErrUnknown, "strangeFilter"}, {All(FirstKeyOnly{}, nil), nil, "a filter is missing"}, {WhileMatch{}, nil, "a filter is missing"}, {SkipRow{strangeFilter{}}, ErrUnknown, "is not one of package filter"},
		{deep, ErrTooLarge, "nested more than 100 deep"}, {wide, ErrTooLarge, "more than 10000 filters"}, {many, ErrTooLarge, "more than 50000 instructions"},
		{Value{cell.Equal, Regex("((a{100}){100}){6}")}, ErrTooLarge, "more than 50000 instructions"}, {Value{cell.Equal, Regex("a{1000}{1000}{1000}")}, nil, ""}, {Value{cell.Equal, Regex("((a{10}){200})")}, ErrTooLarge, "invalid repeat count"},
		{Value{cell.Equal, Regex(strings.Repeat("a", MaxPattern+1))}, ErrTooLarge, "more than 65536"}, {Value{cell.Equal, Regex(strings.Repeat("(", 201))}, nil, "nested more than 200 deep"}, {Value{cell.Equal, Regex(strings.Repeat("[a", 201))}, nil, "nested more than 200 deep"},
		{Value{cell.Equal, RegexString{Pattern: strings.Repeat(`\P{L}`, 1001), Charset: UTF8}}, nil, "more than 1000 classes"}, {Value{cell.Equal, RegexString{Pattern: "a", Flags: 128}}, nil, "flags 128"}, {Value{cell.Equal, RegexString{Pattern: "a", Charset: 2}}, nil, "charset 2"}, {Value{cell.Equal, Regex("(?c)a")}, nil, "canonical equivalence"}, {Value{cell.Equal, Regex(`\X`)}, nil, "grapheme clusters"}, {Value{cell.Equal, Regex(`\b{g}`)}, nil, `\b{g} is not supported`},
		{Row{Op: cell.Equal}, nil, "a comparator is missing"}, {Row{7, Null{}}, nil, "comparison 7 is unknown"}, {SingleColumnValue{Op: cell.NoOp, Comparator: Null{}}, nil, "no meaning with NO_OP"}, {SingleColumnValueExclude{Op: cell.NoOp, Comparator: Null{}}, nil, "SingleColumnValueExcludeFilter"},
		{List{Op: 2, Filters: []cell.Filter{KeyOnly{}}}, nil, "list operator 2 is unknown"}, {Page{-1}, nil, "must not be negative"}, {ColumnCountGet{-1}, nil, "must not be negative"}, {ColumnPagination{Limit: -1}, nil, "must not be negative"}, {ColumnPagination{Offset: -1}, nil, "must not be negative"}, {Timestamps{Timestamps: []int64{2, -1}}, nil, "-1 must not be negative"},
		{MultipleColumnPrefix{[][]byte{b("a"), b("b"), b("a")}}, nil, "prefixes must be distinct: a"}, {MultiRowRange{}, nil, "no ranges"}, {MultiRowRange{[]cell.Range{{Start: b("b"), Stop: b("a")}}}, nil, "range b to a"}, {MultiRowRange{[]cell.Range{{Start: b("a"), Stop: b("a")}}}, nil, "ends before it begins"},
		{FuzzyRow{}, nil, "no keys"}, {FuzzyRow{[]FuzzyKey{{b("ab"), []byte{0}}}}, nil, "has 2 bytes, its mask 1"}, {FuzzyRow{[]FuzzyKey{{b("a"), []byte{2}}}}, nil, "neither 0 nor 1"},
		{Value{cell.Equal, Bit{Value: b("a")}}, nil, "bit operation 0"}, {Value{cell.Equal, BinaryComponent{Offset: -1}}, nil, "offset -1"},
	}
	for _, c := range cases {
		_, err := New(c.filter, Options{})
		if c.says == "" {
			if err != nil {
				t.Errorf("%v: %v", c.filter, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.says) || !errors.Is(err, cell.ErrIllegalArgument) || c.kind != nil && !errors.Is(err, c.kind) {
			t.Errorf("%v: %v, want %v: %s", c.filter, err, c.kind, c.says)
		}
	}
	if len(cases) != 39 {
		t.Errorf("%d cases, want 39", len(cases))
	}
}

type strangeFilter struct{}

func (strangeFilter) String() string { return "StrangeFilter" }

// An error of a comparator names the cell and ends the scan.
func TestErrorsWhileEvaluating(t *testing.T) {
	long := Long{1}
	inners := map[string]cell.Filter{
		"value": Value{cell.Equal, long}, "qualifier": Qualifier{cell.Equal, long}, "family": Family{cell.Equal, long},
		"single": SingleColumnValue{Family: b("f"), Qualifier: b("q"), Op: cell.Equal, Comparator: long}, "column": ColumnValue{b("f"), b("q"), cell.Equal, long},
		"dependent": DependentColumn{Family: b("f"), Qualifier: b("q"), Op: cell.Equal, Comparator: long},
	}
	wraps := map[string]func(cell.Filter) cell.Filter{
		"alone": func(f cell.Filter) cell.Filter { return f }, "all": func(f cell.Filter) cell.Filter { return All(KeyOnly{}, f) }, "any": func(f cell.Filter) cell.Filter { return Any(KeyOnly{}, f) },
		"skip": func(f cell.Filter) cell.Filter { return SkipRow{f} }, "while": func(f cell.Filter) cell.Filter { return WhileMatch{f} },
	}
	for wrapped, wrap := range wraps {
		for name, inner := range inners {
			e := evaluator(t, wrap(inner), Options{})
			if drop, err := e.FilterRowKey(b("row")); drop || err != nil {
				t.Errorf("%s %s: %v %v", wrapped, name, drop, err)
			}
			c := cell.Cell{Row: b("row"), Family: b("f"), Qualifier: b("q"), Value: b("1234567")}
			_, err := e.FilterCell(&c)
			if err == nil || !strings.Contains(err.Error(), "filter cell row/f:q: LongComparator: the value has") || !errors.Is(err, cell.ErrIllegalArgument) {
				t.Errorf("%s %s: %v", wrapped, name, err)
			}
		}
		e := evaluator(t, wrap(Row{cell.Equal, long}), Options{})
		if _, err := e.FilterRowKey(b("row")); wrapped != "skip" && (err == nil || !strings.Contains(err.Error(), "filter row row: LongComparator")) {
			t.Errorf("%s row: %v", wrapped, err)
		}
	}
	w := NewWalker(evaluator(t, Value{cell.Equal, long}, Options{}), &cell.Read{})
	if _, err := w.Row(parseCells("r/f:q@1=x")); err == nil || !w.Done() {
		t.Errorf("%v, done %v", err, w.Done())
	}
	if kept, err := w.Row(parseCells("s/f:q@1=12345678")); kept != nil || err != nil {
		t.Errorf("%v %v after the end", kept, err)
	}
}

// A regular expression that needs long for a value is stopped.
func TestRegexTimeout(t *testing.T) {
	slow := Regex("(x+x+)+y|(a?){500}" + strings.Repeat("(b*c*)*", 50) + "d")
	e := evaluator(t, Value{cell.Equal, slow}, Options{MatchTimeout: time.Nanosecond})
	c := cell.Cell{Row: b("r"), Value: bytes.Repeat(b("xa"), 1<<20)}
	if _, err := e.FilterCell(&c); !errors.Is(err, ErrTooSlow) || !errors.Is(err, cell.ErrIllegalArgument) {
		t.Errorf("%v", err)
	}
	// So is one that takes long for many.
	e = evaluator(t, Value{cell.Equal, slow}, Options{ScanTimeout: time.Nanosecond})
	c.Value = bytes.Repeat(b("xa"), 1<<12)
	if _, err := e.FilterCell(&c); !errors.Is(err, ErrTooSlow) {
		t.Errorf("%v", err)
	}
	// Short values are not timed, and a match that is found in time counts.
	c.Value = b("xxy")
	if code, err := e.FilterCell(&c); code != Include || err != nil {
		t.Errorf("%v %v", code, err)
	}
	e = evaluator(t, Value{cell.Equal, slow}, Options{})
	c.Value = append(b("xxy"), bytes.Repeat(b("z"), 1<<20)...)
	if code, err := e.FilterCell(&c); code != Include || err != nil {
		t.Errorf("%v %v", code, err)
	}
}

// A list of one filter is that filter; but not in the column with the empty
// qualifier, of which HBase offers versions that the filter has done with (a
// list remembers its answer to the first), and not for MustPassOne in a reversed
// scan, where HBase takes hints that lead to a column the wrong way.
func TestListOfOneIsTheFilter(t *testing.T) {
	table := slices.DeleteFunc(testTable(), func(c cell.Cell) bool { return len(c.Qualifier) == 0 })
	compared := 0
	for seed := range uint64(600) {
		s := newGenerator(seed).scan()
		alone, err := s.run(table)
		if err != nil {
			continue
		}
		for _, op := range []ListOp{MustPassAll, MustPassOne} {
			if op == MustPassOne && s.reversed {
				continue
			}
			l := s
			l.filter = List{op, []cell.Filter{s.filter}}
			kept, err := l.run(table)
			if kept != alone || err != nil {
				t.Fatalf("seed %d: %s: %v\nalone   %s\nin list %s", seed, s.String(), err, alone, kept)
			}
			compared++
		}
	}
	if compared < 1000 {
		t.Errorf("%d compared", compared)
	}
}

// RandomRow keeps rows by its chance, the same ones for the same seed.
func TestRandomRow(t *testing.T) {
	kept := func(f RandomRow) []int {
		e := evaluator(t, f, Options{})
		var rows []int
		for i := range 2000 {
			c := cell.Cell{Row: fmt.Appendf(nil, "%d", i)}
			drop, err := e.FilterRowKey(c.Row)
			code, err2 := e.FilterCell(&c)
			if err != nil || err2 != nil || drop != e.FilterRow() || drop != (code == NextRow) {
				t.Fatalf("row %d: %v %v %v %v", i, drop, code, err, err2)
			}
			if !drop {
				rows = append(rows, i)
			}
			e.Reset()
		}
		return rows
	}
	if n := len(kept(RandomRow{Chance: 0.25, Seed: 3})); n < 400 || n > 600 {
		t.Errorf("%d of 2000 with a chance of 0.25", n)
	}
	if !slices.Equal(kept(RandomRow{Chance: 0.5, Seed: 9}), kept(RandomRow{Chance: 0.5, Seed: 9})) {
		t.Error("equal seeds, other rows")
	}
	if slices.Equal(kept(RandomRow{Chance: 0.5, Seed: 9}), kept(RandomRow{Chance: 0.5, Seed: 10})) {
		t.Error("other seeds, equal rows")
	}
	if slices.Equal(kept(RandomRow{Chance: 0.5}), kept(RandomRow{Chance: 0.5})) {
		t.Error("no seed, equal rows")
	}
	for chance, want := range map[float32]int{-1: 0, 0: 0, 1: 2000, 1.5: 2000} {
		if n := len(kept(RandomRow{Chance: chance})); n != want {
			t.Errorf("chance %g: %d rows, want %d", chance, n, want)
		}
	}
}

// A row key that WhileMatch's filter drops ends the scan at once.
func TestWhileMatchEndsAtTheRowKey(t *testing.T) {
	e := evaluator(t, WhileMatch{Row{cell.NotEqual, binaryOf("b")}}, Options{})
	for _, key := range []string{"a", "b"} {
		drop, err := e.FilterRowKey(b(key))
		if end := key == "b"; drop != end || err != nil || e.FilterAllRemaining() != end {
			t.Errorf("row %s: %v %v, all remaining %v", key, drop, err, e.FilterAllRemaining())
		}
	}
	e.Reset()
	if drop, _ := e.FilterRowKey(b("c")); !drop || !e.FilterAllRemaining() {
		t.Errorf("row c: %v, all remaining %v", drop, e.FilterAllRemaining())
	}
}

// Masks come over the wire in three forms.
func TestFuzzyMask(t *testing.T) {
	cases := []struct {
		mask []byte
		v2   bool
		want []byte
	}{
		{[]byte{0, 1, 0}, false, []byte{0, 1, 0}}, {[]byte{0, 1, 0}, true, []byte{0, 1, 0}},
		{[]byte{0xff, 2, 0xff}, true, []byte{0, 1, 0}}, {[]byte{0xff, 2, 0xff}, false, []byte{0, 1, 0}}, {[]byte{0xff, 0, 0xff}, false, []byte{0, 1, 0}},
		{[]byte{0, 0}, false, []byte{1, 1}}, {[]byte{0, 0}, true, []byte{0, 0}}, {[]byte{}, true, []byte{}}, {[]byte{0xff, 0, 1}, false, []byte{0, 0, 1}},
	}
	for _, c := range cases {
		got, err := FuzzyMask(c.mask, c.v2)
		if err != nil || !bytes.Equal(got, c.want) {
			t.Errorf("%v v2 %v: %v %v, want %v", c.mask, c.v2, got, err, c.want)
		}
	}
	if len(cases) != 9 {
		t.Errorf("%d cases, want 9", len(cases))
	}
	if _, err := FuzzyMask([]byte{3}, true); !errors.Is(err, cell.ErrIllegalArgument) {
		t.Errorf("%v", err)
	}
}

// What engines see of codes and hints; each hint leads ahead.
func TestHints(t *testing.T) {
	cases := []struct {
		filter   cell.Filter
		reversed bool
		cell     string
		hint     string
	}{
		{Prefix{b("m")}, false, "a/f:q@5", "row m"},
		{Prefix{b("m")}, true, "x/f:q@5", "row n"},
		{Prefix{b("m")}, true, "n/f:q@5", "none"},
		{Prefix{b("m\xff")}, true, "x/f:q@5", "row n"},
		{ColumnPrefix{b("m")}, false, "a/f:b@5", "column m@9223372036854775807"},
		{ColumnPrefix{b("m")}, true, "a/f:b@5", "none"},
		{MultipleColumnPrefix{[][]byte{b("x"), b("m")}}, false, "a/f:b@5", "column m@9223372036854775807"},
		{MultipleColumnPrefix{[][]byte{b("x"), b("m")}}, false, "a/f:n@5", "column x@9223372036854775807"},
		{ColumnRange{Min: b("m")}, false, "a/f:b@5", "column m@9223372036854775807"},
		{ColumnPagination{Limit: 1, ColumnOffset: b("m")}, false, "a/f:b@5", "column m@9223372036854775807"},
		{Timestamps{[]int64{3, 7}, true}, false, "a/f:b@9", "column b@7"},
		{Timestamps{[]int64{3, 7}, true}, false, "a/f:b@5", "column b@3"},
		{MultiRowRange{[]cell.Range{{Start: b("c"), Stop: b("d")}, {Start: b("m"), Stop: b("n")}}}, false, "e/f:q@1", "row m"},
		{MultiRowRange{[]cell.Range{{Start: b("c"), Stop: b("d")}, {Start: b("m"), Stop: b("n")}}}, true, "e/f:q@1", "row d"},
		{MultiRowRange{[]cell.Range{{Start: b("c"), Stop: b("d"), StartExclusive: true}, {Start: b("a"), Stop: b("b")}}}, true, "c/f:q@1", "row b"},
		{FuzzyRow{[]FuzzyKey{{b("??7"), []byte{1, 1, 0}}}}, false, "ab8/f:q@1", "row ac7"},
		{FuzzyRow{[]FuzzyKey{{b("??7"), []byte{1, 1, 0}}}}, false, "a\xff8/f:q@1", "row b\x007"},
		{FuzzyRow{[]FuzzyKey{{b("??7"), []byte{1, 1, 0}}}}, false, "\xff\xff8/f:q@1", "none"},
		{FuzzyRow{[]FuzzyKey{{b("?7?"), []byte{1, 0, 1}}}}, false, "a5x/f:q@1", "row a7"},
		{FuzzyRow{[]FuzzyKey{{b("?7?"), []byte{1, 0, 1}}}}, true, "a9x/f:q@1", "row a8"},
		{FuzzyRow{[]FuzzyKey{{b("?7?"), []byte{1, 0, 1}}}}, true, "b5x/f:q@1", "row a8"},
		{All(Prefix{b("m")}, MultiRowRange{[]cell.Range{{Start: b("p")}}}), false, "a/f:q@1", "row p"},
		{Any(Prefix{b("m")}, MultiRowRange{[]cell.Range{{Start: b("p")}}}), false, "a/f:q@1", "row m"},
		{All(Row{cell.Equal, binaryOf("m")}, MultiRowRange{[]cell.Range{{Start: b("p")}}}), false, "a/f:q@1", "row p"},
	}
	for _, c := range cases {
		e := evaluator(t, c.filter, Options{Reversed: c.reversed})
		at := parseCells(c.cell + "=v")[0]
		if drop, err := e.FilterRowKey(at.Row); drop || err != nil {
			t.Errorf("%s at %s: %v %v", c.filter, c.cell, drop, err)
		}
		code, err := e.FilterCell(&at)
		if code != SeekNextUsingHint || err != nil {
			t.Errorf("%s at %s: %v %v", c.filter, c.cell, code, err)
		}
		hint := "none"
		if h, ok := e.NextHint(&at); ok && h.InRow {
			hint = fmt.Sprintf("column %s@%d", h.Qualifier, h.Timestamp)
		} else if ok {
			hint = "row " + string(h.Row)
		}
		if hint != c.hint {
			t.Errorf("%s at %s: %q, want %q", c.filter, c.cell, hint, c.hint)
		}
	}
	if len(cases) != 24 {
		t.Errorf("%d cases, want 24", len(cases))
	}
}

// FuzzEvaluator: no filter breaks on any cells, in any order of calls.
func FuzzEvaluator(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, []byte("a\x00b\x01c\xff"), false)
	}
	f.Fuzz(func(t *testing.T, seed uint64, data []byte, reversed bool) {
		g := newGenerator(seed)
		e, err := New(g.filter(4), Options{Reversed: reversed})
		if err != nil || len(data) > 4096 {
			return
		}
		cells := []cell.Cell{{}}
		for i, d := range data {
			part := data[i:min(len(data), i+int(d>>5))]
			c := &cells[0]
			switch d % 11 {
			case 0:
				c.Row = part
			case 1:
				c.Family = part
			case 2:
				c.Qualifier = part
			case 3:
				c.Value = part
			case 4:
				c.Timestamp = int64(d)
			case 5:
				_, _ = e.FilterRowKey(c.Row)
			case 6:
				e.Reset()
			case 7:
				_, _ = e.NextHint(c)
			case 8:
				e.Transform(c)
				cells = e.FilterRowCells(append(cells, *c))
				if len(cells) == 0 {
					cells = []cell.Cell{{}}
				}
				_ = e.FilterRow()
			default:
				_ = e.FilterAllRemaining()
				_, _ = e.FilterCell(c)
			}
		}
	})
}

// What Transform makes belongs to the cell.
func TestTransformOwnsItsBytes(t *testing.T) {
	value := b("value")
	c := cell.Cell{Value: value, Tags: b("tags"), TTL: 5}
	evaluator(t, KeyOnly{LenAsValue: true}, Options{}).Transform(&c)
	if !bytes.Equal(c.Value, []byte{0, 0, 0, 5}) || c.Tags != nil || c.TTL != 5 || string(value) != "value" {
		t.Errorf("%v of %q", c, value)
	}
	c.Value = value
	evaluator(t, KeyOnly{}, Options{}).Transform(&c)
	if c.Value == nil || len(c.Value) != 0 || cap(c.Value) != 0 {
		t.Errorf("%v, capacity %d", c.Value, cap(c.Value))
	}
}
