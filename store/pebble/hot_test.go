package pebble

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/memory"
)

// hotPair is a store that remembers counters, and the oracle, which does not.
type hotPair struct {
	t      *testing.T
	clock  atomic.Int64 // ms; background work asks too
	pebble *Store
	both   [2]store.Store
}

func newHotPair(t *testing.T) *hotPair {
	p := &hotPair{t: t}
	p.clock.Store(1_000_000)
	p.pebble = mustOpen(t, Options{Dir: "data", FS: vfs.NewMem(), Clock: p.clock.Load, NoJanitor: true})
	p.both = [2]store.Store{p.pebble, memory.New(memory.Options{Clock: p.clock.Load})}
	p.each(func(s store.Store) error {
		return s.CreateTable(context.Background(), cell.TableSchema{Name: "t", Families: []cell.FamilySchema{cell.NewFamily("f")}}, nil)
	})
	return p
}

func (p *hotPair) each(do func(store.Store) error) {
	p.t.Helper()
	for _, s := range p.both {
		if err := do(s); err != nil {
			p.t.Fatalf("%T: %v", s, err)
		}
	}
}

// same does it on both, and wants the same answer.
func (p *hotPair) same(do func(store.Store) any) any {
	p.t.Helper()
	got, want := do(p.both[0]), do(p.both[1])
	if fmt.Sprint(got) != fmt.Sprint(want) {
		p.t.Fatalf("the engine answers %v, the oracle %v", got, want)
	}
	return got
}

// count increments row r by 1, twice in one batch, and gives both new cells.
func (p *hotPair) count() any {
	p.t.Helper()
	return p.same(func(s store.Store) any {
		batch := []cell.Mutation{
			*cell.NewMutation([]byte("r")).Increment([]byte("f"), []byte("n"), 1),
			*cell.NewMutation([]byte("r")).Increment([]byte("f"), []byte("n"), 1),
		}
		batch[0].ReturnResults, batch[1].ReturnResults = true, true
		results, err := s.Apply(context.Background(), "t", batch)
		return fmt.Sprint(results, err)
	})
}

// remembered says whether the store knows the counter without a read.
func (p *hotPair) remembered(qualifier string) bool {
	t, err := p.pebble.catalog.find("t")
	if err != nil {
		p.t.Fatal(err)
	}
	row := []byte("r")
	c := counter{family: t.layout.family([]byte("f")), row: row, qualifier: []byte(qualifier)}
	return p.pebble.rows.locks[p.pebble.rows.of(t.id, row)].hot.find(t.layout, p.pebble.removals.Load(), &c) != nil
}

// Whatever else happens to a counter that is remembered, the next increment
// adds to what a read would show.
func TestRememberedCounters(t *testing.T) {
	ctx := context.Background()
	f, n := []byte("f"), []byte("n")
	apply := func(m *cell.Mutation) func(store.Store) error {
		return func(s store.Store) error {
			_, err := s.Apply(ctx, "t", []cell.Mutation{*m})
			return err
		}
	}
	row := func() *cell.Mutation { return cell.NewMutation([]byte("r")) }
	alter := func(change func(*cell.FamilySchema)) func(store.Store) error {
		return func(s store.Store) error {
			schema := cell.TableSchema{Name: "t", Families: []cell.FamilySchema{cell.NewFamily("f")}}
			change(&schema.Families[0])
			return s.AlterTable(ctx, schema)
		}
	}
	eight := []byte{0, 0, 0, 0, 0, 0, 1, 0}
	nonce := row().Increment(f, n, 5)
	nonce.Nonce = cell.Nonce{Group: 1, Value: 2}
	mortal := row().Increment(f, n, 5)
	mortal.TTL = 100
	cases := []struct {
		name string
		do   func(store.Store) error
		// knows: the counter is still remembered after it.
		knows bool
	}{
		{"nothing", func(store.Store) error { return nil }, true},
		{"a read", func(s store.Store) error { return s.Get(ctx, "t", &cell.Get{Row: []byte("r")}, &cell.Result{}) }, true},
		{"a put", apply(row().Put(f, n, cell.Latest, eight)), false},
		{"a put above", apply(row().Put(f, n, 5_000_000, eight)), false},
		{"a put of 3 bytes", apply(row().Put(f, n, cell.Latest, []byte("abc"))), false},
		{"an append", apply(row().Append(f, n, []byte("x"))), false},
		{"an increment with a nonce", apply(nonce), false},
		{"an increment that dies", apply(mortal), false},
		{"an increment, and one that dies", func(s store.Store) error {
			_, err := s.Apply(ctx, "t", []cell.Mutation{*row().Increment(f, n, 1), *mortal})
			return err
		}, false},
		{"the delete of the newest", apply(row().Delete(f, n, cell.Latest)), false},
		{"the delete of all", apply(row().DeleteColumn(f, n, cell.Latest)), false},
		{"the delete of all to come", apply(row().DeleteColumn(f, n, 2_000_000)), false},
		{"the delete of the family", apply(row().DeleteFamily(f, cell.Latest)), false},
		{"the delete of the row", apply(row().DeleteRow(cell.Latest)), false},
		{"a put and a delete at once", apply(row().Put(f, []byte("x"), cell.Latest, nil).DeleteColumn(f, n, cell.Latest)), false},
		{"a checked put", func(s store.Store) error {
			_, _, err := s.CheckAndMutate(ctx, "t", &cell.Check{Family: f, Qualifier: []byte("none"), Op: cell.Equal}, row().Put(f, n, cell.Latest, eight))
			return err
		}, false},
		{"the removal of its rows", func(s store.Store) error {
			return s.DeleteRows(ctx, "t", cell.Range{Start: []byte("q"), Stop: []byte("s")})
		}, false},
		{"a truncate", func(s store.Store) error {
			return errors.Join(s.DisableTable(ctx, "t"), s.TruncateTable(ctx, "t", false))
		}, false},
		{"a drop", func(s store.Store) error {
			return errors.Join(s.DisableTable(ctx, "t"), s.DropTable(ctx, "t"),
				s.CreateTable(ctx, cell.TableSchema{Name: "t", Families: []cell.FamilySchema{cell.NewFamily("f")}}, nil))
		}, false},
		{"the drop of its family", func(s store.Store) error {
			return errors.Join(s.AlterTable(ctx, cell.TableSchema{Name: "t", Families: []cell.FamilySchema{cell.NewFamily("g")}}),
				s.AlterTable(ctx, cell.TableSchema{Name: "t", Families: []cell.FamilySchema{cell.NewFamily("f")}}))
		}, false},
		{"a time to live", alter(func(f *cell.FamilySchema) { f.TTL = 1 }), false},
		{"a major compaction", func(s store.Store) error { return s.Compact(ctx, "t", cell.Range{}, true) }, true},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			p := newHotPair(t)
			p.count()
			p.count()
			if !p.remembered("n") {
				t.Fatal("the counter is not remembered: nothing is tested")
			}
			p.each(tc.do)
			if p.remembered("n") != tc.knows {
				t.Errorf("remembered after %s: %v, want %v", tc.name, !tc.knows, tc.knows)
			}
			for range 3 {
				p.count()
				p.clock.Add(5_000)
			}
		})
	}
	if len(cases) != 22 {
		t.Errorf("%d cases", len(cases))
	}
}

// While rows are removed, whatever an increment adds to is read, and what it
// makes is not remembered: a removal is visible before its call is over.
func TestCountersWhileRowsAreRemoved(t *testing.T) {
	p := newHotPair(t)
	p.count()
	p.pebble.removing.Add(1)
	p.pebble.removals.Add(1)
	if err := p.pebble.db.DeleteRange([]byte{1}, []byte{2}, nil); err != nil {
		t.Fatal(err)
	}
	if err := p.both[1].DeleteRows(context.Background(), "t", cell.Range{}); err != nil {
		t.Fatal(err)
	}
	p.count()
	if p.remembered("n") {
		t.Error("what was written during a removal is remembered")
	}
	p.pebble.removing.Add(-1)
	p.count()
	if !p.remembered("n") {
		t.Error("after the removal nothing is remembered")
	}
}

// What may end, or be hidden, by itself is not remembered.
func TestCountersThatAreNotRemembered(t *testing.T) {
	for name, prepare := range map[string]func(*cell.FamilySchema, *cell.Mutation){
		"time to live of the family":  func(f *cell.FamilySchema, _ *cell.Mutation) { f.TTL = 10 },
		"time to live of the counter": func(_ *cell.FamilySchema, m *cell.Mutation) { m.TTL = 10_000 },
		"tags":                        func(_ *cell.FamilySchema, m *cell.Mutation) { m.Edits[0].Tags = []byte{0, 1, 1} },
		"a long name":                 func(_ *cell.FamilySchema, m *cell.Mutation) { m.Edits[0].Qualifier = make([]byte, hotKey) },
	} {
		t.Run(name, func(t *testing.T) {
			s := mustOpen(t, Options{Dir: "data", FS: vfs.NewMem(), NoJanitor: true})
			f := cell.NewFamily("f")
			m := cell.NewMutation([]byte("r")).Increment([]byte("f"), []byte("n"), 1)
			prepare(&f, m)
			if err := s.CreateTable(context.Background(), cell.TableSchema{Name: "t", Families: []cell.FamilySchema{f}}, nil); err != nil {
				t.Fatal(err)
			}
			mustApply(t, s, "t", *m)
			mustApply(t, s, "t", *m)
			for i := range s.rows.locks {
				if h := &s.rows.locks[i].hot; h.slots != nil {
					t.Errorf("%s is remembered", h.slots[0].key)
				}
			}
		})
	}
}

// Random counting beside everything else equals the oracle; most increments are
// answered from what is remembered, and slots are fought for.
func TestRememberedCountersAtRandom(t *testing.T) {
	const steps = 1000
	p := newHotPair(t)
	r := rand.New(rand.NewPCG(5, 8))
	ctx := context.Background()
	name := func() []byte { return fmt.Appendf(nil, "n%d", r.IntN(6)) }
	recalled := 0
	for range steps {
		// One counter a batch: what two of one row get for timestamps depends on
		// which is worked first.
		counted := name()
		batch := make([]cell.Mutation, 1+r.IntN(5))
		for i := range batch {
			batch[i].Row = []byte("r")
			batch[i].Increment([]byte("f"), counted, int64(r.IntN(9)))
			batch[i].ReturnResults = true
		}
		if p.remembered(string(counted)) {
			recalled++
		}
		switch q := name(); r.IntN(40) {
		case 0:
			batch = []cell.Mutation{*cell.NewMutation([]byte("r")).DeleteColumn([]byte("f"), q, cell.Latest)}
		case 1:
			batch = []cell.Mutation{*cell.NewMutation([]byte("r")).Delete([]byte("f"), q, cell.Latest)}
		case 2:
			batch = []cell.Mutation{*cell.NewMutation([]byte("r")).Put([]byte("f"), q, cell.Latest, []byte{0, 0, 0, 1, 0, 0, 0, 0})}
		case 3:
			// Ahead of what is counted next: the general way finds out.
			batch = []cell.Mutation{*cell.NewMutation([]byte("r")).DeleteColumn([]byte("f"), q, p.clock.Load()+30)}
		case 4:
			batch = []cell.Mutation{*cell.NewMutation([]byte("r")).Put([]byte("f"), q, cell.Latest, []byte("no counter"))}
		case 5:
			batch[0].TTL = 1 + int64(r.IntN(20))
		}
		p.same(func(s store.Store) any {
			results, err := s.Apply(ctx, "t", batch)
			var values []any
			for _, cells := range results {
				for _, c := range cells {
					values = append(values, c.Value, c.TTL)
				}
			}
			return fmt.Sprint(values, err)
		})
		// Now is one of a kind: increments do not run ahead of the clock.
		p.clock.Add(10)
	}
	if recalled < steps/4 || recalled > steps*9/10 {
		t.Errorf("%d of %d batches found their counter remembered", recalled, steps)
	}
}
