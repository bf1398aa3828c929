package storetest

import (
	"errors"
	"io"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
	"github.com/cellardb/cellar/store"
)

// filterErrorTests are about filters that cannot be built or evaluated: the call
// is answered with an error, and the store goes on.
func filterErrorTests() []test {
	return []test{
		{"refused_when_the_read_begins", filterRefused},
		{"unknown_deep_inside", filterUnknown},
		{"value_that_a_comparator_cannot_read", filterUnreadable},
		{"value_that_is_not_offered_is_not_read", filterUnoffered},
		{"backtracking_without_an_engine", filterBacktracking},
	}
}

// lives wants the store to answer as if nothing had happened.
func (e *env) lives() {
	e.Helper()
	e.equal(e.keys(cell.Scan{Read: cell.Read{Filter: value(cell.Equal, "v")}}), "a b c")
}

// refusesRead wants a get, a scan and a check with the filter to be refused.
func (e *env) refusesRead(name string, f cell.Filter, want error) {
	e.Helper()
	var r cell.Result
	read := cell.Read{Filter: f}
	err := e.s.Get(e.ctx, "t", &cell.Get{Row: []byte("a"), Read: read}, &r)
	_, serr := e.s.Scan(e.ctx, "t", &cell.Scan{Read: read})
	applied, _, cerr := e.s.CheckAndMutate(e.ctx, "t", &cell.Check{Filter: f}, putOf("a", "f:q", 2, "w"))
	for _, err := range []error{err, serr, cerr} {
		if !errors.Is(err, want) || err == nil || err.Error() == "" {
			e.Errorf("%s: got %v, want %v", name, err, want)
		}
	}
	if applied || len(r.Cells) > 0 {
		e.Errorf("%s: applied %v, cells %s", name, applied, text(r.Cells))
	}
}

func filterRefused(e *env) {
	e.usual()
	e.rows("a", "b", "c")
	eq := func(c filter.Comparator) cell.Filter { return filter.Value{Op: cell.Equal, Comparator: c} }
	deep := cell.Filter(filter.KeyOnly{})
	for range filter.MaxDepth {
		deep = filter.SkipRow{Filter: deep}
	}
	refused := map[string]cell.Filter{
		"a pattern that is none":     eq(filter.Regex("a(")),
		"no comparator":              eq(nil),
		"no such comparison":         filter.Value{Op: cell.NoOp + 1, Comparator: is("v")},
		"no filter in a list":        filter.All(filter.KeyOnly{}, nil),
		"no filter to skip by":       filter.SkipRow{},
		"no ranges":                  filter.MultiRowRange{},
		"a range that is none":       filter.MultiRowRange{Ranges: []cell.Range{{Start: []byte("b"), Stop: []byte("a")}}},
		"no fuzzy keys":              filter.FuzzyRow{},
		"a mask of another length":   filter.FuzzyRow{Keys: []filter.FuzzyKey{{Key: []byte("ab"), Mask: []byte{0}}}},
		"a mask of other bytes":      filter.FuzzyRow{Keys: []filter.FuzzyKey{{Key: []byte("a"), Mask: []byte{3}}}},
		"one prefix twice":           filter.MultipleColumnPrefix{Prefixes: bytesOf("a", "b", "a")},
		"a negative page":            filter.Page{Rows: -1},
		"a negative count":           filter.ColumnCountGet{Limit: -1},
		"a negative limit":           filter.ColumnPagination{Limit: -1},
		"a negative timestamp":       filter.Timestamps{Timestamps: []int64{-1}},
		"a negative offset":          eq(filter.BinaryComponent{Offset: -1}),
		"no such bit operation":      eq(filter.Bit{Op: 9}),
		"more depth than is allowed": deep,
	}
	for name, f := range refused {
		e.refusesRead(name, f, cell.ErrIllegalArgument)
	}
	if len(refused) != 18 {
		e.Errorf("%d filters", len(refused))
	}
	e.lives()
}

func filterUnknown(e *env) {
	e.usual()
	e.rows("a", "b", "c")
	e.refusesRead("unknown", filter.SkipRow{Filter: filter.All(filter.KeyOnly{}, strangeFilter{})}, store.ErrUnsupported)
	_, err := e.s.Scan(e.ctx, "t", &cell.Scan{Read: cell.Read{Filter: filter.All(strangeFilter{}, filter.KeyOnly{})}})
	if err == nil || !strings.Contains(err.Error(), "StrangeFilter (7)") {
		e.Errorf("the error does not name the filter: %v", err)
	}
	e.lives()
}

// A number that is not one ends the scan at its row.
func filterUnreadable(e *env) {
	e.usual()
	e.rows("a", "b", "c")
	long := filter.ColumnValue{Family: []byte("g"), Qualifier: []byte("n"), Op: cell.Greater, Comparator: filter.Long{Value: 1}}
	f, q := column("g:n")
	for row, v := range map[string][]byte{"a": {0, 0, 0, 0, 0, 0, 0, 2}, "b": []byte("short"), "c": {0, 0, 0, 0, 0, 0, 0, 3}} {
		e.apply(cell.NewMutation([]byte(row)).Put(f, q, 1, v))
	}
	for _, reversed := range []bool{false, true} {
		sc, err := e.s.Scan(e.ctx, "t", &cell.Scan{Reversed: reversed, Read: cell.Read{Filter: long}})
		e.must(err)
		r, err := sc.Next(e.ctx)
		e.must(err)
		if got := string(r.Row); got != "a" && got != "c" {
			e.Errorf("the first row is %q", got)
		}
		for range 2 {
			_, err = sc.Next(e.ctx)
			e.refused(err, cell.ErrIllegalArgument)
			if errors.Is(err, io.EOF) {
				e.Errorf("the scan just ends")
			}
		}
		e.must(sc.Close())
	}
	e.equal(e.get("c", through(long)), `g:n@1=\x00\x00\x00\x00\x00\x00\x00\x03`)
	var r cell.Result
	e.refused(e.s.Get(e.ctx, "t", &cell.Get{Row: []byte("b"), Read: cell.Read{Filter: long}}, &r), cell.ErrIllegalArgument)
	e.equal(text(r.Cells), "")
	applied, _, err := e.s.CheckAndMutate(e.ctx, "t", &cell.Check{Filter: long}, putOf("b", "f:q", 2, "w"))
	e.refused(err, cell.ErrIllegalArgument)
	if applied {
		e.Error("applied all the same")
	}
	e.lives()
}

func filterUnoffered(e *env) {
	e.usual()
	e.rows("a", "b", "c")
	long := filter.Value{Op: cell.Equal, Comparator: filter.Long{}}
	e.equal(e.scan(cell.Scan{Read: cell.Read{Filter: long, Select: selection("g")}}), "")
	e.equal(e.scan(cell.Scan{Read: cell.Read{Filter: filter.All(filter.Page{}, long)}}), "")
	e.equal(e.scan(cell.Scan{Read: cell.Read{Filter: filter.All(filter.Row{Op: cell.Equal, Comparator: is("x")}, long)}}), "")
	e.lives()
}

// A pattern that needs backtracking is matched where the engine has something
// that does it, and refused elsewhere.
func filterBacktracking(e *env) {
	e.usual()
	e.rows("a", "b", "c")
	e.put("b", "g:q", 1, "abab")
	back := filter.Value{Op: cell.Equal, Comparator: filter.Regex(`^(ab)\1$`)}
	got, err := readAll(e.ctx, e.s, "t", &cell.Scan{Read: cell.Read{Filter: back}})
	if err != nil {
		e.refusesRead("backtracking", back, cell.ErrIllegalArgument)
	} else {
		e.equal(resultsText(got), "b: g:q@1=abab")
	}
	e.lives()
}
