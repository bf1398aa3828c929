package storetest

import (
	"fmt"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

func checkTests() []test {
	return []test{
		{"equal_and_not_equal", checkEquality},
		{"absence", checkAbsence},
		{"every_comparison_given_op_stored", checkComparisons},
		{"missing_cell_never_matches_a_value", checkMissing},
		{"newest_visible_cell_is_compared", checkNewest},
		{"time_range", checkWithin},
		{"not_applied_changes_nothing", checkNotApplied},
		{"applies_every_kind_of_mutation", checkMutations},
		{"results_where_asked", checkResults},
		{"refusals", checkRefusals},
		{"refused_mutation_is_not_applied", checkRefusedMutation},
	}
}

// check makes a check of a column of a row of table "t" and, if it holds, puts
// g:hit there.
func (e *env) check(row, col string, op cell.CompareOp, given string, within cell.TimeRange) bool {
	e.Helper()
	e.tick()
	f, q := column(col)
	check := &cell.Check{Family: f, Qualifier: q, Op: op, Value: []byte(given), Within: within}
	before := e.get(row)
	applied, results, err := e.s.CheckAndMutate(e.ctx, "t", check, putOf(row, "g:hit", e.clock.Now(), "hit"))
	e.must(err)
	if results != nil {
		e.Errorf("nobody asked, but got results %s", text(results))
	}
	after := e.get(row)
	if changed := before != after; changed != applied {
		e.Errorf("check of %s with op %d and %q: applied %v, but the row was %q and is %q", col, op, given, applied, before, after)
	}
	return applied
}

// checkCase is a check on a row whose f:q is stored; "-" is no cell.
type checkCase struct {
	stored string
	op     cell.CompareOp
	given  string
	want   bool
}

// checkCases makes each check on a row of its own.
func (e *env) checkCases(cases []checkCase) {
	e.Helper()
	for i, c := range cases {
		row := fmt.Sprintf("%d-%d", e.clock.Now(), i)
		if c.stored != "-" {
			e.put(row, "f:q", 1, c.stored)
		}
		if got := e.check(row, "f:q", c.op, c.given, cell.TimeRange{}); got != c.want {
			e.Errorf("stored %q, op %d, given %q: %v, want %v", c.stored, c.op, c.given, got, c.want)
		}
	}
}

func checkEquality(e *env) {
	e.usual()
	e.checkCases([]checkCase{
		{"5", cell.Equal, "5", true}, {"5", cell.Equal, "3", false}, {"5", cell.Equal, "55", false}, {"55", cell.Equal, "5", false},
		{"5", cell.NotEqual, "5", false}, {"5", cell.NotEqual, "3", true}, {"5", cell.NotEqual, "55", true},
		{"\x00", cell.Equal, "\x00", true}, {"\xff", cell.Equal, "\x7f", false},
	})
}

// Without a value the check is for a cell that is missing or has an empty value.
func checkAbsence(e *env) {
	e.usual()
	e.checkCases([]checkCase{
		{"-", cell.Equal, "", true}, {"", cell.Equal, "", true}, {"5", cell.Equal, "", false},
		{"-", cell.NotEqual, "", false}, {"", cell.NotEqual, "", false}, {"5", cell.NotEqual, "", true},
	})
}

// The operands stand as "given OP stored": cell "5", given "3".
func checkComparisons(e *env) {
	e.usual()
	var cases []checkCase
	for _, c := range []struct {
		given string
		order int // of given against stored "5"
	}{{"3", -1}, {"4\xff", -1}, {"5", 0}, {"50", 1}, {"7", 1}, {"\xff", 1}} {
		cases = append(cases,
			checkCase{"5", cell.Less, c.given, c.order < 0},
			checkCase{"5", cell.LessOrEqual, c.given, c.order <= 0},
			checkCase{"5", cell.Equal, c.given, c.order == 0},
			checkCase{"5", cell.NotEqual, c.given, c.order != 0},
			checkCase{"5", cell.GreaterOrEqual, c.given, c.order >= 0},
			checkCase{"5", cell.Greater, c.given, c.order > 0})
	}
	e.checkCases(cases)
	// An empty stored value is a value.
	e.checkCases([]checkCase{{"", cell.Greater, "a", true}, {"", cell.Less, "a", false}, {"", cell.NotEqual, "a", true}, {"", cell.Equal, "a", false}})
}

func checkMissing(e *env) {
	e.usual()
	for op := cell.Less; op < cell.NoOp; op++ {
		e.checkCases([]checkCase{{"-", op, "5", false}})
	}
}

func checkNewest(e *env) {
	e.usual()
	e.script("put f:q@1=a; put f:q@2=b; put f:q@3=c; del f:q@3")
	if e.check("r", "f:q", cell.Equal, "c", cell.TimeRange{}) || e.check("r", "f:q", cell.Equal, "a", cell.TimeRange{}) {
		e.Error("a deleted or an older version was compared")
	}
	if !e.check("r", "f:q", cell.Equal, "b", cell.TimeRange{}) {
		e.Error("the newest visible version was not compared")
	}
	e.script("put f:q@5=x; delfam f@5")
	if !e.check("r", "f:q", cell.Equal, "", cell.TimeRange{}) {
		e.Error("a deleted cell is not absent")
	}
}

func checkWithin(e *env) {
	e.usual()
	e.script("put f:q@10=a; put f:q@20=b")
	if e.check("r", "f:q", cell.Equal, "a", cell.Between(0, 30)) || e.check("r", "f:q", cell.Equal, "b", cell.Between(0, 20)) {
		e.Error("a cell outside the range, or not the newest in it, was compared")
	}
	if !e.check("r", "f:q", cell.Equal, "a", cell.Between(0, 20)) {
		e.Error("the newest in the range was not compared")
	}
	e.script("put f:q@10=a")
	if !e.check("r", "f:q", cell.Equal, "", cell.Between(50, 60)) {
		e.Error("a cell outside the range is not absent")
	}
}

func checkNotApplied(e *env) {
	e.usual()
	e.script("put f:q@1=a; put g:q@1=b")
	m, err := parseMutation("r", "delrow @9 & put f:q@10=x & inc f:n+1")
	e.must(err)
	m.ReturnResults = true
	applied, results, err := e.s.CheckAndMutate(e.ctx, "t", &cell.Check{Family: []byte("f"), Qualifier: []byte("q"), Op: cell.Equal, Value: []byte("z")}, m)
	e.must(err)
	if applied || results != nil {
		e.Errorf("applied %v, results %v", applied, results)
	}
	e.equal(e.raw("r"), "f:q@1=a g:q@1=b")
}

func checkMutations(e *env) {
	e.usual()
	e.script("put f:q@1=a; put f:q@2=b; put f:p@1=p; put g:q@1=c")
	check := func(value string) *cell.Check {
		return &cell.Check{Family: []byte("f"), Qualifier: []byte("q"), Op: cell.Equal, Value: []byte(value)}
	}
	for _, step := range []struct{ value, mutation, want string }{
		{"b", "del f:q@2", "f:p@1=p f:q@1=a g:q@1=c"},
		{"a", "put f:q@3=d & put g:q@3=e", "f:p@1=p f:q@3=d f:q@1=a g:q@3=e"},
		{"d", "delfam g@3 & delcol f:p@1", "f:q@3=d f:q@1=a"},
		{"d", "delrow @3", ""},
		{"", "put f:q@4=z", "f:q@4=z"},
	} {
		m, err := parseMutation("r", step.mutation)
		e.must(err)
		applied, _, err := e.s.CheckAndMutate(e.ctx, "t", check(step.value), m)
		e.must(err)
		if !applied {
			e.Errorf("%s: not applied", step.mutation)
		}
		e.equal(e.all("r"), step.want)
	}
	// A row that is not there can be created.
	applied, _, err := e.s.CheckAndMutate(e.ctx, "t", check(""), putOf("new", "f:q", 1, "v"))
	e.must(err)
	if !applied || e.get("new") != "f:q@1=v" {
		e.Errorf("applied %v, the row is %q", applied, e.get("new"))
	}
}

func checkResults(e *env) {
	e.usual()
	m := cell.NewMutation([]byte("r")).Increment([]byte("f"), []byte("n"), 4).Append([]byte("f"), []byte("a"), []byte("x"))
	m.ReturnResults = true
	applied, results, err := e.s.CheckAndMutate(e.ctx, "t", &cell.Check{Family: []byte("f"), Qualifier: []byte("n"), Op: cell.Equal}, m)
	e.must(err)
	if !applied || len(results) != 2 || string(results[0].Value) != string(long(4)) || string(results[1].Value) != "x" {
		e.Errorf("applied %v, results %s", applied, text(results))
	}
}

func checkRefusals(e *env) {
	e.usual()
	e.put("r", "f:q", 1, "v")
	f, q := column("f:q")
	for _, c := range []struct {
		name  string
		check cell.Check
		want  error
	}{
		{"unknown family", cell.Check{Family: []byte("x"), Qualifier: q, Op: cell.Equal}, store.ErrNoSuchFamily},
		{"no operation", cell.Check{Family: f, Qualifier: q, Op: cell.NoOp, Value: []byte("v")}, cell.ErrIllegalArgument},
		{"unknown operation", cell.Check{Family: f, Qualifier: q, Op: 99, Value: []byte("v")}, cell.ErrIllegalArgument},
		{"time range", cell.Check{Family: f, Qualifier: q, Op: cell.Equal, Value: []byte("v"), Within: cell.TimeRange{Min: 2, Max: 1}}, cell.ErrIllegalArgument},
	} {
		applied, _, err := e.s.CheckAndMutate(e.ctx, "t", &c.check, putOf("r", "f:q", 2, "w"))
		if got := errorKinds(err); applied || got != errorKinds(c.want) {
			e.Errorf("%s: applied %v, %v", c.name, applied, err)
		}
	}
	e.equal(e.all("r"), "f:q@1=v")
}

// A refusal of the mutation comes as itself, not in a BatchError.
func checkRefusedMutation(e *env) {
	e.usual()
	e.put("r", "f:q", 1, "v")
	check := &cell.Check{Family: []byte("f"), Qualifier: []byte("q"), Op: cell.Equal, Value: []byte("v")}
	for _, c := range []struct {
		mutation *cell.Mutation
		want     string
	}{
		{putOf("r", "x:q", 1, "v"), "no such column family"},
		{cell.NewMutation([]byte("r")).Increment([]byte("f"), []byte("q"), 1), "field is not a long"},
		{cell.NewMutation([]byte("r")), "illegal argument"},
	} {
		applied, _, err := e.s.CheckAndMutate(e.ctx, "t", check, c.mutation)
		e.equal(fmt.Sprint(applied, " ", errorKinds(err), " ", failures(err)[:3]), "false "+c.want+" not")
	}
	e.equal(e.raw("r"), "f:q@1=v")
}
