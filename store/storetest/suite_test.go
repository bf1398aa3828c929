package storetest

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
	"github.com/cellardb/cellar/store"
)

// Every test has a name of its own that can be chosen on the command line.
func TestNames(t *testing.T) {
	for what, groups := range map[string]struct {
		of    []group
		atMin int
	}{"contract": {contract(), 250}, "semantics": {semantics(), 130}} {
		seen := map[string]bool{}
		for _, g := range groups.of {
			for _, test := range g.tests {
				name := g.name + "/" + test.name
				if seen[name] || strings.ContainsAny(test.name, " /") || test.run == nil {
					t.Errorf("%s: bad name %q", what, name)
				}
				seen[name] = true
			}
		}
		if len(seen) < groups.atMin {
			t.Errorf("%s: %d tests, want at least %d", what, len(seen), groups.atMin)
		}
	}
}

func TestParseMutation(t *testing.T) {
	f := []byte("f")
	for step, want := range map[string]*cell.Mutation{
		"put f:a:b@7=x=y":                 cell.NewMutation([]byte("r")).Put(f, []byte("a:b"), 7, []byte("x=y")),
		"put f:@now= & del f:q@0":         cell.NewMutation([]byte("r")).Put(f, nil, cell.Latest, nil).Delete(f, []byte("q"), 0),
		"delcol f:q@1 & delfam f@now":     cell.NewMutation([]byte("r")).DeleteColumn(f, []byte("q"), 1).DeleteFamily(f, cell.Latest),
		"delver f@3 & delrow @4":          cell.NewMutation([]byte("r")).DeleteFamilyVersion(f, 3).DeleteRow(4),
		"inc f:n+5 & inc f:n+-5":          cell.NewMutation([]byte("r")).Increment(f, []byte("n"), 5).Increment(f, []byte("n"), -5),
		"app f:a+x+y & put f:q@1=the end": cell.NewMutation([]byte("r")).Append(f, []byte("a"), []byte("x+y")).Put(f, []byte("q"), 1, []byte("the end")),
	} {
		got, err := parseMutation("r", step)
		if err != nil || mutationText(got) != mutationText(want) {
			t.Errorf("%s: got %v, %v", step, got, err)
		}
	}
	for _, step := range []string{"", "put", "put f:q", "put f:q@x=1", "inc f:n", "inc f:n+x", "drop f:q@1", "del f:q"} {
		if m, err := parseMutation("r", step); err == nil {
			t.Errorf("%q: got %s", step, mutationText(m))
		}
	}
}

// takenApart applies a batch mutation by mutation, and between them lets readers
// look.
type takenApart struct {
	store.Store
	gets atomic.Int64
}

func (a *takenApart) Apply(ctx context.Context, table string, batch []cell.Mutation) ([][]cell.Cell, error) {
	for i := range batch {
		if _, err := a.Store.Apply(ctx, table, batch[i:i+1]); err != nil {
			return nil, err
		}
		// Readers that have found their fault read no more: do not wait for ever.
		for until, spins := a.gets.Load()+6, 0; a.gets.Load() < until && spins < 1000; spins++ {
			runtime.Gosched()
		}
	}
	return nil, nil
}

func (a *takenApart) Get(ctx context.Context, table string, get *cell.Get, into *cell.Result) error {
	a.gets.Add(1)
	return a.Store.Get(ctx, table, get, into)
}

// The test of atomic batches finds an engine that is not what it claims.
func TestAtomicityIsTested(t *testing.T) {
	e := &env{T: t, ctx: t.Context(), s: openMemory(t, NewClock(epoch).Now)}
	e.usual()
	e.must(atomicity(e.ctx, e.s)) // memory is, under its lock
	e.s = openMemory(t, NewClock(epoch).Now)
	e.usual()
	if err := atomicity(e.ctx, &takenApart{Store: e.s}); err == nil || !strings.Contains(err.Error(), "is seen") {
		t.Errorf("batches that were taken apart: %v", err)
	}
}

func TestErrorKinds(t *testing.T) {
	if got := errorKinds(nil); got != "none" {
		t.Errorf("nil is %q", got)
	}
	seen := map[string]bool{}
	for _, kind := range kinds() {
		got := errorKinds(kind)
		if kind == filter.ErrIncompatible { // which is of another kind besides
			got = strings.TrimPrefix(got, cell.ErrIllegalArgument.Error()+", ")
		}
		if got != kind.Error() || seen[got] {
			t.Errorf("%v is %q", kind, got)
		}
		seen[got] = true
	}
	if len(seen) != 29 {
		t.Errorf("%d kinds", len(seen))
	}
}
