package pebble

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// crashRuns is how often a crash test is repeated.
func crashRuns() int {
	if os.Getenv("CELLAR_SOAK") != "" {
		return 20
	}
	return 3
}

// acks is what writers were told is durable.
type acks struct {
	mu   sync.Mutex
	rows map[string]string // row: value of all its columns
}

func (a *acks) add(row, value string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rows[row] = value
}

func (a *acks) copy() map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := make(map[string]string, len(a.rows))
	for k, v := range a.rows {
		c[k] = v
	}
	return c
}

func (a *acks) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.rows)
}

var crashColumns = [][2]string{{"f", "a"}, {"f", "b"}, {"g", "a"}, {"g", "long"}}

// crashWriter writes rows of two families in batches until it is told to stop.
func crashWriter(ctx context.Context, s *Store, a *acks, id int, d cell.Durability) error {
	r := rand.New(rand.NewPCG(uint64(id), 1))
	for n := 0; ctx.Err() == nil; n++ {
		batch := make([]cell.Mutation, 1+r.IntN(5))
		for i := range batch {
			m := &batch[i]
			m.Row = fmt.Appendf(nil, "w%02d-%06d-%d", id, n, i)
			m.Durability = d
			value := fmt.Sprintf("%s-%d", m.Row, r.Uint32())
			for _, c := range crashColumns {
				m.Put([]byte(c[0]), []byte(c[1]), cell.Latest, []byte(value))
			}
		}
		if _, err := s.Apply(context.Background(), "t", batch); err != nil {
			return err
		}
		for i := range batch {
			a.add(string(batch[i].Row), string(batch[i].Edits[0].Value))
		}
	}
	return nil
}

// checkCrashed opens what a crash left and wants every acknowledged row, whole,
// and no row by half.
func checkCrashed(t *testing.T, fs vfs.FS, acked map[string]string) (rows int) {
	t.Helper()
	s, err := Open(context.Background(), Options{Dir: "data", FS: fs})
	if err != nil {
		t.Fatalf("open after the crash: %v", err)
	}
	defer s.Close()
	cells, err := readAll(s, "t")
	if err != nil {
		t.Fatal(err)
	}
	byRow := map[string][]string{}
	for key, v := range cells {
		row, _, _ := strings.Cut(key, "/")
		byRow[row] = append(byRow[row], v)
	}
	for row, values := range byRow {
		for _, v := range values {
			if len(values) != len(crashColumns) || v != values[0] {
				t.Errorf("row %s is there by half: %v", row, values)
				break
			}
		}
	}
	lost := 0
	for row, value := range acked {
		if v := byRow[row]; len(v) == 0 || v[0] != value {
			lost++
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d acknowledged rows are lost", lost, len(acked))
	}
	return len(byRow)
}

// Acknowledged means durable: on a file system that forgets what was not
// synced, every acknowledged row is there after a crash.
func TestAcknowledgedSurvivesCrash(t *testing.T) {
	runs := 0
	for run := range crashRuns() {
		t.Run(fmt.Sprint(run), func(t *testing.T) {
			fs := vfs.NewCrashableMem()
			s := mustOpen(t, Options{Dir: "data", FS: fs, MemtableBytes: 4 << 20})
			mustCreate(t, s, "t", "f", "g")
			a := &acks{rows: map[string]string{}}
			ctx, stop := context.WithCancel(context.Background())
			var wg sync.WaitGroup
			for id := range 10 {
				wg.Go(func() {
					if err := crashWriter(ctx, s, a, id, cell.UseDefault); err != nil {
						t.Error(err)
					}
				})
			}
			rng := rand.New(rand.NewPCG(uint64(run), 99))
			for crash := range 4 {
				// So many rows are written between two crashes; no clock.
				for want := a.count() + 200 + rng.IntN(4000); a.count() < want && !t.Failed(); {
					runtime.Gosched()
				}
				acked := a.copy()
				clone := fs.CrashClone(vfs.CrashCloneCfg{
					UnsyncedDataPercent: []int{0, 0, 50, 100}[crash],
					RNG:                 rand.New(rand.NewPCG(uint64(run), uint64(crash))),
				})
				rows := checkCrashed(t, clone, acked)
				t.Logf("crash %d: %d rows acknowledged, %d found", crash, len(acked), rows)
			}
			stop()
			wg.Wait()
		})
		runs++
	}
	if runs < 3 {
		t.Errorf("%d runs", runs)
	}
}

// What is written without waiting is durable once a later write that waited is:
// there is one log.
func TestDurableWriteHasAllEarlierOnes(t *testing.T) {
	fs := vfs.NewCrashableMem()
	s := mustOpen(t, Options{Dir: "data", FS: fs})
	mustCreate(t, s, "t", "f", "g")
	put := func(row string, d cell.Durability) {
		m := cell.NewMutation([]byte(row))
		m.Durability = d
		for _, c := range crashColumns {
			m.Put([]byte(c[0]), []byte(c[1]), cell.Latest, []byte("v"))
		}
		mustApply(t, s, "t", *m)
	}
	put("skip", cell.SkipWAL)
	put("async", cell.AsyncWAL)
	put("sync", cell.SyncWAL)
	acked := map[string]string{"skip": "v", "async": "v", "sync": "v"}
	if rows := checkCrashed(t, fs.CrashClone(vfs.CrashCloneCfg{}), acked); rows != 3 {
		t.Errorf("%d rows", rows)
	}
}

// Without a sync a write may be lost, so it is not waited for: were SKIP_WAL
// synced, this would find the row.
func TestSkipWALIsNotSynced(t *testing.T) {
	fs := vfs.NewCrashableMem()
	s := mustOpen(t, Options{Dir: "data", FS: fs})
	mustCreate(t, s, "t", "f", "g")
	before := s.fs.logSyncs.Load()
	for i := range 50 {
		m := cell.NewMutation([]byte{byte(i)}).Put([]byte("f"), []byte("a"), 1, nil)
		m.Durability = cell.SkipWAL
		mustApply(t, s, "t", *m)
	}
	if n := s.fs.logSyncs.Load() - before; n > 10 {
		t.Errorf("50 writes without WAL made %d syncs", n)
	}
}

// An increment is acknowledged when it is durable, and counted once.
func TestCountersSurviveCrash(t *testing.T) {
	fs := vfs.NewCrashableMem()
	s := mustOpen(t, Options{Dir: "data", FS: fs})
	mustCreate(t, s, "t", "f")
	var last int64
	for range 100 {
		v, err := store.Increment(context.Background(), s, "t", []byte("r"), []byte("f"), []byte("n"), 3, cell.UseDefault)
		if err != nil {
			t.Fatal(err)
		}
		last = v
	}
	crashed := mustOpen(t, Options{Dir: "data", FS: fs.CrashClone(vfs.CrashCloneCfg{})})
	got, err := store.Increment(context.Background(), crashed, "t", []byte("r"), []byte("f"), []byte("n"), 0, cell.UseDefault)
	if err != nil || got != last || last != 300 {
		t.Errorf("counter is %d after the crash, was %d before it: %v", got, last, err)
	}
}

// Changes of tables are durable when they return, and a crash between the steps
// of a drop is made good by the next start.
func TestTablesSurviveCrash(t *testing.T) {
	ctx := context.Background()
	fs := vfs.NewCrashableMem()
	s := mustOpen(t, Options{Dir: "data", FS: fs})
	steps := []struct {
		name string
		do   func() error
		want string // tables, their state, families and rows after it
	}{
		{"create", func() error {
			return s.CreateTable(ctx, cell.TableSchema{Name: "t", Families: []cell.FamilySchema{cell.NewFamily("f"), cell.NewFamily("g")}}, [][]byte{[]byte("m")})
		}, "t on [f g] 2 regions 0 rows"},
		{"put", func() error {
			mustApply(t, s, "t", *cell.NewMutation([]byte("r")).Put([]byte("g"), nil, 5, []byte("v")))
			return nil
		}, "t on [f g] 2 regions 1 rows"},
		{"row delete", func() error {
			mustApply(t, s, "t", *cell.NewMutation([]byte("r")).DeleteRow(5))
			return nil
		}, "t on [f g] 2 regions 0 rows"},
		{"put again", func() error {
			mustApply(t, s, "t", *cell.NewMutation([]byte("r")).Put([]byte("g"), nil, 6, []byte("v")))
			return nil
		}, "t on [f g] 2 regions 1 rows"},
		{"alter drops the family", func() error {
			return s.AlterTable(ctx, cell.TableSchema{Name: "t", Families: []cell.FamilySchema{cell.NewFamily("f"), cell.NewFamily("h")}})
		}, "t on [f h] 2 regions 0 rows"},
		{"alter brings a family of that name back", func() error {
			return s.AlterTable(ctx, cell.TableSchema{Name: "t", Families: []cell.FamilySchema{cell.NewFamily("f"), cell.NewFamily("g")}})
		}, "t on [f g] 2 regions 0 rows"},
		{"put a third time", func() error {
			mustApply(t, s, "t", *cell.NewMutation([]byte("r")).Put([]byte("g"), nil, 1, []byte("v")))
			return nil
		}, "t on [f g] 2 regions 1 rows"},
		{"disable", func() error { return s.DisableTable(ctx, "t") }, "t off [f g] 2 regions"},
		{"truncate", func() error { return s.TruncateTable(ctx, "t", true) }, "t on [f g] 2 regions 0 rows"},
		{"disable again", func() error { return s.DisableTable(ctx, "t") }, "t off [f g] 2 regions"},
		{"truncate without splits", func() error { return s.TruncateTable(ctx, "t", false) }, "t on [f g] 1 regions 0 rows"},
		{"disable a third time", func() error { return s.DisableTable(ctx, "t") }, "t off [f g] 1 regions"},
		{"drop", func() error { return s.DropTable(ctx, "t") }, ""},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		crashed := mustOpen(t, Options{Dir: "data", FS: fs.CrashClone(vfs.CrashCloneCfg{})})
		if got := describe(t, crashed); got != step.want {
			t.Errorf("after %s and a crash: %q, want %q", step.name, got, step.want)
		}
	}
	if len(steps) != 13 {
		t.Errorf("%d steps", len(steps))
	}
}

func describe(t *testing.T, s *Store) string {
	t.Helper()
	tables, err := s.Tables(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, info := range tables {
		var families []string
		for _, f := range info.Schema.Families {
			families = append(families, f.Name)
		}
		regions, err := s.Regions(context.Background(), info.Schema.Name)
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%s off %v %d regions", info.Schema.Name, families, len(regions))
		if info.Enabled {
			cells, err := readAll(s, info.Schema.Name)
			if err != nil {
				t.Fatal(err)
			}
			line = fmt.Sprintf("%s on %v %d regions %d rows", info.Schema.Name, families, len(regions), len(cells))
		}
		text = append(text, line)
	}
	return strings.Join(text, "; ")
}

// A drop that was cut short after its first step is finished at the start: the
// mark goes, and the cells with it.
func TestDropIsFinishedAtStart(t *testing.T) {
	ctx := context.Background()
	fs := vfs.NewMem()
	s, err := Open(ctx, Options{Dir: "data", FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	mustCreate(t, s, "t", "f")
	mustApply(t, s, "t", *cell.NewMutation([]byte("r")).Put([]byte("f"), nil, 1, []byte("v")))
	table, err := s.catalog.find("t")
	if err != nil {
		t.Fatal(err)
	}
	b := s.db.NewBatch()
	if err := removeTable(b, table); err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, Options{Dir: "data", FS: fs})
	lower, upper := tableBounds(table.id)
	if n := countKeys(t, s, lower, upper); n != 0 {
		t.Errorf("%d cells of the dropped table are left", n)
	}
	if n := countKeys(t, s, metaKey(metaDropped), metaKey(metaDropped+1)); n != 0 {
		t.Errorf("%d marks are left", n)
	}
	if got := describe(t, s); got != "" {
		t.Errorf("tables: %q", got)
	}
}

// A retry that is answered from its first try waits until that is durable.
func TestRetryByNonceIsDurable(t *testing.T) {
	fs := vfs.NewCrashableMem()
	s := mustOpen(t, Options{Dir: "data", FS: fs})
	mustCreate(t, s, "t", "f")
	inc := func(d cell.Durability) cell.Mutation {
		m := cell.NewMutation([]byte("r")).Increment([]byte("f"), []byte("n"), 5)
		m.Nonce, m.Durability = cell.Nonce{Group: 1, Value: 1}, d
		return *m
	}
	// The first try is visible and not durable, as one is that still waits.
	mustApply(t, s, "t", inc(cell.SkipWAL))
	mustApply(t, s, "t", inc(cell.SyncWAL))
	crashed := mustOpen(t, Options{Dir: "data", FS: fs.CrashClone(vfs.CrashCloneCfg{})})
	got, err := store.Increment(context.Background(), crashed, "t", []byte("r"), []byte("f"), []byte("n"), 0, cell.UseDefault)
	if err != nil || got != 5 {
		t.Errorf("after the crash the counter is %d, want 5: %v", got, err)
	}
}

// Family ids are never given twice.
func TestFamiliesRunOutOfIDs(t *testing.T) {
	schema := cell.TableSchema{Name: "t"}
	for i := range 65_536 {
		schema.Families = append(schema.Families, cell.NewFamily(fmt.Sprintf("f%d", i)))
	}
	l := &layout{schema: schema}
	var err error
	for i := range schema.Families {
		if err = l.add(schema.Families[i]); err != nil {
			break
		}
	}
	if !errors.Is(err, cell.ErrIllegalArgument) || l.lastFamily != 65_535 {
		t.Errorf("the last id is %d, error %v", l.lastFamily, err)
	}
}
