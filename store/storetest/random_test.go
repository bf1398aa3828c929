package storetest

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/memory"
)

// faulty is memory with one thing wrong.
type faulty struct {
	*memory.Store
	apply   func(batch []cell.Mutation) []cell.Mutation
	scan    func(scan *cell.Scan)
	filter  func(f cell.Filter, what string, reversed bool) cell.Filter // of what: "get", "scan", "check"
	after   func(err error) error                                       // of Apply
	compact bool                                                        // does what a major compaction does at a minor one
	lose    bool                                                        // loses everything when reopened
	clock   func() int64
}

func (f *faulty) Apply(ctx context.Context, table string, batch []cell.Mutation) ([][]cell.Cell, error) {
	if f.apply != nil {
		batch = f.apply(batch)
	}
	results, err := f.Store.Apply(ctx, table, batch)
	if f.after != nil {
		err = f.after(err)
	}
	return results, err
}

func (f *faulty) Scan(ctx context.Context, table string, scan *cell.Scan) (store.Scanner, error) {
	other := *scan
	if f.scan != nil {
		f.scan(&other)
	}
	other.Filter = f.filtered(other.Filter, "scan", scan.Reversed)
	return f.Store.Scan(ctx, table, &other)
}

func (f *faulty) Get(ctx context.Context, table string, get *cell.Get, into *cell.Result) error {
	other := *get
	other.Filter = f.filtered(other.Filter, "get", false)
	return f.Store.Get(ctx, table, &other, into)
}

func (f *faulty) CheckAndMutate(ctx context.Context, table string, check *cell.Check, m *cell.Mutation) (bool, []cell.Cell, error) {
	other := *check
	other.Filter = f.filtered(other.Filter, "check", false)
	return f.Store.CheckAndMutate(ctx, table, &other, m)
}

func (f *faulty) filtered(inner cell.Filter, what string, reversed bool) cell.Filter {
	if f.filter == nil || inner == nil {
		return inner
	}
	return f.filter(inner, what, reversed)
}

func (f *faulty) Compact(ctx context.Context, table string, r cell.Range, major bool) error {
	return f.Store.Compact(ctx, table, r, major || f.compact)
}

func (f *faulty) Reopen(t *testing.T) store.Store {
	if !f.lose {
		return f
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return &faulty{Store: memory.New(memory.Options{Clock: f.clock}), clock: f.clock}
}

// edits changes every edit of a batch, in a copy.
func edits(change func(e *cell.Edit)) func([]cell.Mutation) []cell.Mutation {
	return func(batch []cell.Mutation) []cell.Mutation {
		batch = append([]cell.Mutation(nil), batch...)
		for i := range batch {
			batch[i].Edits = append([]cell.Edit(nil), batch[i].Edits...)
			for j := range batch[i].Edits {
				change(&batch[i].Edits[j])
			}
		}
		return batch
	}
}

// Random must find what is wrong, and show it in a few steps.
func TestRandomFindsFaults(t *testing.T) {
	faults := map[string]func(f *faulty){
		"family version delete masks all older": func(f *faulty) {
			f.apply = edits(func(e *cell.Edit) {
				if e.Op == cell.OpDeleteFamilyVersion {
					e.Op = cell.OpDeleteFamily
				}
			})
		},
		"column delete masks one version": func(f *faulty) {
			f.apply = edits(func(e *cell.Edit) {
				if e.Op == cell.OpDeleteColumn && e.Timestamp != cell.Latest {
					e.Op = cell.OpDelete
				}
			})
		},
		"increment by one more": func(f *faulty) {
			f.apply = edits(func(e *cell.Edit) {
				if e.Op == cell.OpIncrement {
					e.Amount++
				}
			})
		},
		"reversed scans leave out the stop row": func(f *faulty) {
			f.scan = func(s *cell.Scan) { s.StopInclusive = s.StopInclusive && !s.Reversed }
		},
		"row limit off by one": func(f *faulty) {
			f.scan = func(s *cell.Scan) {
				if s.Limit > 1 {
					s.Limit--
				}
			}
		},
		"batches are one larger": func(f *faulty) {
			f.scan = func(s *cell.Scan) {
				if s.Batch > 0 {
					s.Batch++
				}
			}
		},
		"store offset is ignored": func(f *faulty) { f.scan = func(s *cell.Scan) { s.StoreOffset = 0 } },
		"refusals at the wrong index": func(f *faulty) {
			f.after = func(err error) error {
				if b, ok := err.(*store.BatchError); ok && b.Total > 1 {
					b.Failed[0].Index = (b.Failed[0].Index + 1) % b.Total
				}
				return err
			}
		},
		"a refusal of one kind for another": func(f *faulty) {
			f.after = func(err error) error {
				if b, ok := err.(*store.BatchError); ok {
					b.Failed[0].Err = store.ErrBusy
				}
				return err
			}
		},
		"minor compactions drop markers":  func(f *faulty) { f.compact = true },
		"a restart loses everything":      func(f *faulty) { f.lose = true },
		"values of eight bytes are short": func(f *faulty) { f.apply = edits(shortenEight) },
	}
	if len(faults) != 12 {
		t.Errorf("%d faults", len(faults))
	}
	findFaults(t, faults, false)
}

// Random must find what is wrong with filters.
func TestRandomFindsFilterFaults(t *testing.T) {
	spoil := func(change func(f cell.Filter, what string, reversed bool) cell.Filter) func(*faulty) {
		return func(f *faulty) { f.filter = change }
	}
	faults := map[string]func(f *faulty){
		"gets ignore filters": spoil(func(f cell.Filter, what string, _ bool) cell.Filter {
			if what == "get" {
				return nil
			}
			return f
		}),
		"reversed scans ignore filters": spoil(func(f cell.Filter, _ string, reversed bool) cell.Filter {
			if reversed {
				return nil
			}
			return f
		}),
		"checks hold by any cell": spoil(func(f cell.Filter, what string, _ bool) cell.Filter {
			if what == "check" {
				return filter.KeyOnly{}
			}
			return f
		}),
		"pages are longer by one": spoil(func(f cell.Filter, _ string, _ bool) cell.Filter {
			if page, ok := f.(filter.Page); ok {
				page.Rows++
				return page
			}
			return f
		}),
		"one of several is all of them": spoil(func(f cell.Filter, _ string, _ bool) cell.Filter {
			if list, ok := f.(filter.List); ok {
				list.Op = filter.MustPassAll
				return list
			}
			return f
		}),
		"ranges end before their stop row": spoil(func(f cell.Filter, _ string, _ bool) cell.Filter {
			ranges, ok := f.(filter.MultiRowRange)
			if !ok {
				return f
			}
			ranges.Ranges = slices.Clone(ranges.Ranges)
			for i := range ranges.Ranges {
				r := &ranges.Ranges[i]
				r.StopInclusive = r.StopInclusive && string(r.Start) == string(r.Stop)
			}
			return ranges
		}),
		"older versions are not tested": spoil(func(f cell.Filter, _ string, _ bool) cell.Filter {
			if single, ok := f.(filter.SingleColumnValue); ok {
				single.AllVersions = false
				return single
			}
			return f
		}),
		"filters before batches are not refused": func(f *faulty) {
			f.scan = func(s *cell.Scan) {
				if judgesRows(s.Filter) {
					s.Batch = 0
				}
			}
		},
		"with a filter the limit is one less": func(f *faulty) {
			f.scan = func(s *cell.Scan) {
				if s.Filter != nil && s.Limit > 1 {
					s.Limit--
				}
			}
		},
		"with a filter one version more": func(f *faulty) {
			f.scan = func(s *cell.Scan) {
				if s.Filter != nil {
					s.MaxVersions = s.Versions() + 1
				}
			}
		},
	}
	if len(faults) != 10 {
		t.Errorf("%d faults", len(faults))
	}
	findFaults(t, faults, true)
}

// findFaults wants each fault to be found with few seeds and shown in few steps.
func findFaults(t *testing.T, faults map[string]func(f *faulty), semantics bool) {
	t.Helper()
	const enough = 100
	for name, spoil := range faults {
		t.Run(name, func(t *testing.T) {
			open := func(_ *testing.T, clock func() int64) store.Store {
				f := &faulty{Store: memory.New(memory.Options{Clock: clock}), clock: clock}
				spoil(f)
				return f
			}
			for _, seed := range Seeds(enough) {
				history := generate(seed, 300, semantics)
				d, _ := compare(t, history, open)
				if d == nil {
					continue
				}
				short := shorten(t, history[:d.step+1], open)
				if again, _ := compare(t, short, open); again == nil || again.step != len(short)-1 {
					t.Errorf("the shortened history does not end in a difference:\n%s", historyText(short))
				}
				if len(short) > 10 {
					t.Errorf("the shortened history has %d steps:\n%s", len(short), historyText(short))
				}
				return
			}
			t.Errorf("not found with %d seeds", enough)
		})
	}
}

func shortenEight(e *cell.Edit) {
	if e.Op == cell.OpPut && len(e.Value) == 8 {
		e.Value = e.Value[:7]
	}
}

// A history follows from its seed, and running it does not change it.
func TestHistoriesFollowTheirSeeds(t *testing.T) {
	for _, semantics := range []bool{false, true} {
		history := generate(3, 300, semantics)
		before := historyText(history)
		if d, _ := compare(t, history, openMemory); d != nil {
			t.Fatalf("step %d: %s\nwant %s\n got %s", d.step, history[d.step].what, d.want, d.got)
		}
		if historyText(history) != before || historyText(generate(3, 300, semantics)) != before {
			t.Errorf("semantics %v: seed 3 gave two histories", semantics)
		}
		if historyText(generate(4, 300, semantics)) == before {
			t.Errorf("semantics %v: seeds 3 and 4 gave one history", semantics)
		}
	}
}

// At least a tenth of the reads meet markers, and enough of them give cells.
// Within a millisecond only one row is written at "now".
func TestHistoriesMeetWhatTheyShould(t *testing.T) {
	var sum tally
	kinds := map[string]int{}
	for _, seed := range Seeds(20) {
		history := generate(seed, 400, false)
		_, s := compare(t, history, openMemory)
		sum.add(s)
		for i := range history {
			if i > 0 && history[i].now < history[i-1].now {
				t.Fatalf("seed %d: the clock runs back at step %d", seed, i)
			}
			kinds[strings.Fields(history[i].what)[0]]++
		}
	}
	if sum.reads < 2000 || sum.markers*10 < sum.reads || sum.gave*5 < sum.reads || sum.refused < 100 || sum.filtered > 0 {
		t.Errorf("%s", sum)
	}
	for _, kind := range []string{"apply", "check", "get", "scan", "delete", "read", "compact", "flush", "reopen", "create", "alter", "split", "disable", "enable", "truncate", "drop"} {
		if kinds[kind] < 5 {
			t.Errorf("%d steps of kind %q: %v", kinds[kind], kind, kinds)
		}
	}
}

// With semantics, a tenth of the reads meets each thing that is easy to get
// wrong, and filters of every kind take something away and leave something.
func TestSemanticHistoriesMeetWhatTheyShould(t *testing.T) {
	var sum tally
	text := ""
	for _, seed := range Seeds(20) {
		history := generate(seed, 500, true)
		text += historyText(history)
		_, s := compare(t, history, openMemory)
		sum.add(s)
	}
	if err := sum.tenths(); err != nil {
		t.Error(err)
	}
	if sum.reads < 3000 || sum.gave*3 < sum.reads || sum.filtered < 1000 || sum.some*5 < sum.filtered || sum.none*10 < sum.filtered || sum.all*20 < sum.filtered {
		t.Errorf("%s", sum)
	}
	t.Logf("%s", sum)
	for _, name := range []string{
		"KeyOnlyFilter", "FirstKeyOnlyFilter", "FirstKeyValueMatchingQualifiersFilter", "TimestampsFilter", "canHint", "FamilyFilter",
		"QualifierFilter", "ValueFilter", "ColumnPrefixFilter", "MultipleColumnPrefixFilter", "ColumnRangeFilter", "ColumnPaginationFilter",
		"ColumnCountGetFilter", "SingleColumnValueFilter", "SingleColumnValueExcludeFilter", "ColumnValueFilter", "DependentColumnFilter",
		"\"PrefixFilter", "InclusiveStopFilter", "RowFilter", "RandomRowFilter", "PageFilter", "FuzzyRowFilter", "MultiRowRangeFilter",
		"SKIP ", "WHILE ", " AND ", " OR ", "FilterList(", "(binaryprefix", "binarycomponent:", "substring:", "regexstring:", "null:", "bit:", "long:", "bigdecimal:",
		"a cell passes",
	} {
		if n := strings.Count(text, strings.TrimPrefix(name, "(")); n < 5 {
			t.Errorf("%d times %q", n, name)
		}
	}
}

// Of enough reads a tenth must have met each thing; the error names the one that
// is missing.
func TestTenths(t *testing.T) {
	for _, c := range []struct {
		met  tally
		want string
	}{
		{tally{reads: 1000, markers: 100, edges: 100, ties: 100}, ""},
		{tally{reads: 1000, markers: 99, edges: 100, ties: 100}, "markers"},
		{tally{reads: 2000, markers: 200, edges: 199, ties: 200}, "edges of a time to live"},
		{tally{reads: 1000, markers: 1000, edges: 1000}, "equal timestamps"},
		{tally{reads: 999}, ""},
	} {
		err := c.met.tenths()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.met, err, c.want)
		}
	}
}

// Every seed is run, whatever the number of processors.
func TestRandomRunsEverySeed(t *testing.T) {
	for _, n := range []int{1, 7} {
		var opened atomic.Int64
		RunRandom(t, Seeds(n), 10, func(t *testing.T, clock func() int64) store.Store {
			opened.Add(1)
			return openMemory(t, clock)
		})
		if got := opened.Load(); got != int64(n) {
			t.Errorf("of %d seeds %d were run", n, got)
		}
	}
}

func TestFreshSeedsDiffer(t *testing.T) {
	a, b := FreshSeeds(3), FreshSeeds(3)
	if a[0] == b[0] || a[0] == a[1] {
		t.Errorf("seeds %v and %v", a, b)
	}
}

// What an ordinary read of all time shows is the same before and after a major
// compaction, whatever was written and however the families are set.
func TestCompactionChangesNoRead(t *testing.T) {
	compared, gone := 0, 0
	for _, seed := range Seeds(40) {
		history := generate(seed, 200, true)
		clock := NewClock(epoch)
		oracle := memory.New(memory.Options{Clock: clock.Now})
		for i := range history {
			clock.Set(history[i].now)
			if !history[i].reopen {
				history[i].run(t.Context(), oracle)
			}
		}
		all := cell.Scan{}
		all.MaxVersions = allVersions
		visible, stored := scanStep("t", all).run(t.Context(), oracle), everythingIn("t").run(t.Context(), oracle)
		if err := oracle.Compact(t.Context(), "t", cell.Range{}, true); err != nil {
			t.Fatal(err)
		}
		if got := scanStep("t", all).run(t.Context(), oracle); got != visible {
			t.Errorf("seed %d\nbefore %s\n after %s\nstored %s", seed, visible, got, stored)
		}
		compared += strings.Count(visible, "@")
		gone += strings.Count(stored, "@") - strings.Count(everythingIn("t").run(t.Context(), oracle), "@")
	}
	if compared < 200 || gone < 200 {
		t.Errorf("compared %d cells, %d went", compared, gone)
	}
}
