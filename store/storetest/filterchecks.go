package storetest

import (
	"fmt"
	"sync/atomic"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
)

// filterCheckTests are about checks by a filter: they hold when a cell of the
// row passes.
func filterCheckTests() []test {
	return []test{
		{"holds_when_a_cell_passes", filterChecks},
		{"family_and_comparison_do_not_matter", filterCheckIgnores},
		{"row_without_cells_never_holds", filterCheckNothing},
		{"sees_what_a_read_sees", filterCheckSees},
		{"changes_nothing_or_everything", filterCheckWhole},
		{"retry_is_answered_as_before", filterCheckRetried},
		{"no_write_in_between", filterCheckAtomic},
	}
}

// checkBy makes a check by a filter on row r of table "t" and, if it holds, puts
// g:hit there.
func (e *env) checkBy(f cell.Filter, change ...func(*cell.Check)) bool {
	e.Helper()
	e.tick()
	check := &cell.Check{Filter: f}
	for _, c := range change {
		c(check)
	}
	before := e.get("r")
	applied, results, err := e.s.CheckAndMutate(e.ctx, "t", check, putOf("r", "g:hit", e.clock.Now(), "hit"))
	e.must(err)
	if results != nil {
		e.Errorf("nobody asked, but got results %s", text(results))
	}
	if changed := before != e.get("r"); changed != applied {
		e.Errorf("applied %v, but the row was %q and is %q", applied, before, e.get("r"))
	}
	return applied
}

func filterChecks(e *env) {
	e.usual()
	e.script("put f:a@1=old; put f:a@2=new; put g:b@1=x")
	both := func(a, b string) cell.Filter { return filter.All(singleColumn("f:a", a), singleColumn("g:b", b)) }
	for i, c := range []struct {
		filter cell.Filter
		want   bool
	}{
		{both("new", "x"), true},
		{both("new", "y"), false},
		{both("old", "x"), false},
		{filter.Any(singleColumn("f:a", "old"), singleColumn("g:b", "x")), true},
		{value(cell.Equal, "x"), true},
		{value(cell.Equal, "z"), false},
		{value(cell.Equal, "old"), true}, // of two versions the one that passes
		{filter.ColumnPrefix{Prefix: []byte("b")}, true},
		{filter.ColumnPrefix{Prefix: []byte("c")}, false},
		{filter.Row{Op: cell.Equal, Comparator: is("r")}, true},
		{filter.Row{Op: cell.Equal, Comparator: is("s")}, false},
		{filter.Page{}, false},
		{filter.Page{Rows: 1}, true},
		{filter.KeyOnly{}, true},
	} {
		if got := e.checkBy(c.filter); got != c.want {
			e.Errorf("check %d, %s: applied %v", i, c.filter, got)
		}
	}
}

func filterCheckIgnores(e *env) {
	e.usual()
	e.script("put f:a@1=x")
	for name, change := range map[string]func(*cell.Check){
		"another family": func(c *cell.Check) { c.Family = []byte("g") },
		"no such family": func(c *cell.Check) { c.Family = []byte("nope") },
		"a value":        func(c *cell.Check) { c.Family, c.Qualifier, c.Value = []byte("f"), []byte("a"), []byte("y") },
		"no comparison":  func(c *cell.Check) { c.Op = cell.NoOp },
	} {
		if !e.checkBy(value(cell.Equal, "x"), change) || e.checkBy(value(cell.Equal, "y"), change) {
			e.Errorf("%s makes a difference", name)
		}
	}
}

func filterCheckNothing(e *env) {
	e.usual()
	missing := singleColumn("f:a", "x") // keeps rows without the column
	for _, step := range []string{"", "put f:a@1=x; delrow @5"} {
		e.script(step)
		if e.checkBy(missing) || e.checkBy(filter.KeyOnly{}) || e.checkBy(value(cell.NotEqual, "y")) {
			e.Errorf("after %q: a row without cells holds", step)
		}
	}
	e.script("put g:b@7=y")
	if !e.checkBy(missing) {
		e.Error("a row that lacks the column does not hold")
	}
}

func filterCheckSees(e *env) {
	e.usual()
	e.script("put f:a@1=one; put f:a@2=two; put f:a@3=three")
	is := func(want bool, v string, change ...func(*cell.Check)) {
		e.Helper()
		if got := e.checkBy(value(cell.Equal, v), change...); got != want {
			e.Errorf("%s: got %v", v, got)
		}
	}
	within := func(c *cell.Check) { c.Within = cell.Between(1, 3) }
	is(true, "three")
	is(false, "three", within)
	is(true, "one", within)
	e.script("del f:a@3")
	is(false, "three")
	e.script("delcol f:a@1")
	is(false, "one")
	is(true, "two")
	bad := &cell.Check{Filter: filter.KeyOnly{}, Within: cell.TimeRange{Min: 2, Max: 1}}
	_, _, err := e.s.CheckAndMutate(e.ctx, "t", bad, putOf("r", "g:hit", 99, "hit"))
	e.refused(err, cell.ErrIllegalArgument)
}

func filterCheckWhole(e *env) {
	e.usual()
	e.script("put f:a@1=x")
	m := cell.NewMutation([]byte("r")).Increment([]byte("f"), []byte("n"), 5).DeleteColumn([]byte("f"), []byte("a"), 9)
	m.ReturnResults = true
	for i, want := range []string{`applied true f:n@now+0=\x00\x00\x00\x00\x00\x00\x00\x05`, "applied false "} {
		applied, results, err := e.s.CheckAndMutate(e.ctx, "t", &cell.Check{Filter: value(cell.Equal, "x")}, m)
		e.must(err)
		if got := fmt.Sprintf("applied %v %s", applied, text(results)); got != want {
			e.Errorf("try %d: got %q, want %q", i, got, want)
		}
	}
	e.equal(e.get("r"), `f:n@now+0=\x00\x00\x00\x00\x00\x00\x00\x05`)
}

func filterCheckRetried(e *env) {
	e.usual()
	e.script("put f:a@1=x")
	m := incOnce(1, 7).Delete([]byte("f"), []byte("a"), 1)
	for range 2 {
		applied, results, err := e.s.CheckAndMutate(e.ctx, "t", &cell.Check{Filter: value(cell.Equal, "x")}, m)
		e.must(err)
		if !applied || len(results) != 1 || string(results[0].Value) != string(long(1)) {
			e.Errorf("applied %v, results %s", applied, text(results))
		}
	}
}

// Of all that try to take a row away from the value that is there, one does.
func filterCheckAtomic(e *env) {
	e.usual()
	const rounds, workers = 30, 4
	e.put("r", "f:q", 1, "0")
	var won [rounds]atomic.Int64
	e.must(together(workers, func(int) error {
		for i := range rounds {
			check := &cell.Check{Filter: singleColumn("f:q", fmt.Sprint(i))}
			m := putOf("r", "f:q", int64(i)+2, fmt.Sprint(i+1))
			m.Durability = cell.AsyncWAL
			applied, _, err := e.s.CheckAndMutate(e.ctx, "t", check, m)
			if err != nil {
				return err
			}
			if applied {
				won[i].Add(1)
			}
		}
		return nil
	}))
	for i := range won {
		if n := won[i].Load(); n > 1 {
			e.Errorf("round %d was won %d times", i, n)
		}
	}
	if won[0].Load() != 1 {
		e.Error("nobody won the first round")
	}
}
