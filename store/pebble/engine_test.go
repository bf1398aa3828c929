package pebble

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

func countKeys(t *testing.T, s *Store, lower, upper []byte) int {
	t.Helper()
	it, err := s.db.NewIter(&pebbledb.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		n++
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	return n
}

// A drop gives the disk back at once, without a compaction.
func TestDropGivesSpaceBack(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s := mustOpen(t, Options{Dir: dir})
	mustCreate(t, s, "t", "f")
	for i := range 200 {
		mustApply(t, s, "t", *cell.NewMutation(fmt.Appendf(nil, "row%d", i)).Put([]byte("f"), nil, 1, randomBytes(50_000)))
	}
	if err := s.Flush(ctx, "t"); err != nil {
		t.Fatal(err)
	}
	tables := func() (n uint64) {
		m := s.db.Metrics()
		for i := range m.Levels {
			n += uint64(m.Levels[i].TablesSize)
		}
		return n
	}
	before := tables()
	if before < 5<<20 {
		t.Fatalf("the table takes %d bytes only", before)
	}
	if err := errors.Join(s.DisableTable(ctx, "t"), s.DropTable(ctx, "t")); err != nil {
		t.Fatal(err)
	}
	if after := tables(); after > before/50 {
		t.Errorf("%d of %d bytes are left after the drop", after, before)
	}
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

// The bit that says that a family has markers is durable before the first
// marker is, and until it is set no read looks for markers.
func TestMarkerBit(t *testing.T) {
	fs := vfs.NewCrashableMem()
	s := mustOpen(t, Options{Dir: "data", FS: fs})
	mustCreate(t, s, "t", "f", "g")
	mustApply(t, s, "t", *cell.NewMutation([]byte("r")).
		Put([]byte("f"), []byte("q"), 1, []byte("v")).Put([]byte("g"), []byte("q"), 1, []byte("v")))
	bits := func(s *Store) string {
		table, err := s.catalog.find("t")
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(table.layout.families[0].markers.Load(), table.layout.families[1].markers.Load())
	}
	if got := bits(s); got != "false false" {
		t.Fatalf("bits of a new table: %s", got)
	}
	mustApply(t, s, "t", *cell.NewMutation([]byte("r")).DeleteColumn([]byte("f"), []byte("x"), 1))
	if got := bits(s); got != "false false" {
		t.Errorf("bits after a column delete: %s", got)
	}
	mustApply(t, s, "t", *cell.NewMutation([]byte("r")).DeleteFamily([]byte("f"), 1))
	if got := bits(s); got != "true false" {
		t.Errorf("bits after the delete of family f: %s", got)
	}
	crashed := mustOpen(t, Options{Dir: "data", FS: fs.CrashClone(vfs.CrashCloneCfg{})})
	if got := bits(crashed); got != "true false" {
		t.Errorf("bits after a crash: %s", got)
	}
	for _, s := range []*Store{s, crashed} {
		var r cell.Result
		get := cell.Get{Row: []byte("r"), Read: cell.Read{Select: []cell.FamilySelect{
			{Family: []byte("f"), Qualifiers: [][]byte{[]byte("q")}}, {Family: []byte("g"), Qualifiers: [][]byte{[]byte("q")}},
		}}}
		if err := s.Get(context.Background(), "t", &get, &r); err != nil || len(r.Cells) != 1 || string(r.Cells[0].Family) != "g" {
			t.Errorf("column reads see %v, %v; want g:q only", r.Cells, err)
		}
	}
}

// Iterators are held while a scanner is used, freed after a second without a
// call, and opened anew by the next, which goes on behind the last row.
func TestIdleScannerFreesItsIterators(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(context.Background(), Options{Dir: "data", FS: vfs.NewMem()})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		mustCreate(t, s, "t", "f", "g")
		for i := range 10 {
			mustApply(t, s, "t", *cell.NewMutation([]byte{byte('a' + i)}).Put([]byte("f"), nil, 1, nil).Put([]byte("g"), nil, 1, nil))
		}
		for _, reversed := range []bool{false, true} {
			sc, err := s.Scan(context.Background(), "t", &cell.Scan{Reversed: reversed})
			if err != nil {
				t.Fatal(err)
			}
			rows := ""
			for i := range 10 {
				r, err := sc.Next(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				rows += string(r.Row)
				if i%3 == 0 {
					if !holdsIterators(sc) {
						t.Fatal("no iterators right after a call")
					}
					time.Sleep(1700 * time.Millisecond)
					synctest.Wait()
					if holdsIterators(sc) {
						t.Fatal("iterators are held after a pause")
					}
				}
			}
			if _, err := sc.Next(context.Background()); err != io.EOF {
				t.Errorf("after the last row: %v", err)
			}
			if want := map[bool]string{false: "abcdefghij", true: "jihgfedcba"}[reversed]; rows != want {
				t.Errorf("rows %s, want %s", rows, want)
			}
			if err := sc.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

func holdsIterators(sc store.Scanner) bool {
	c := sc.(*scanner)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sources != nil
}

// Inside a row the iterator is held, so that the row stays of one moment; not
// for ever.
func TestPauseInsideRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(context.Background(), Options{Dir: "data", FS: vfs.NewMem()})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		mustCreate(t, s, "t", "f")
		put := func(v string) {
			m := cell.NewMutation([]byte("r"))
			for q := range 4 {
				m.Put([]byte("f"), []byte{byte('a' + q)}, 1, []byte(v))
			}
			mustApply(t, s, "t", *m)
		}
		put("old")
		sc, err := s.Scan(context.Background(), "t", &cell.Scan{Batch: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer sc.Close()
		next := func() (string, error) {
			r, err := sc.Next(context.Background())
			if err != nil {
				return "", err
			}
			return string(r.Cells[0].Value), nil
		}
		if v, err := next(); v != "old" || err != nil {
			t.Fatal(v, err)
		}
		put("new")
		time.Sleep(30 * time.Second)
		if v, err := next(); v != "old" || err != nil {
			t.Fatalf("the row changed under the scan: %q, %v", v, err)
		}
		time.Sleep(61 * time.Second)
		if _, err := next(); !errors.Is(err, errRowExpired) {
			t.Errorf("after a minute: %v", err)
		}
	})
}

// A clock that steps back: "now" stands still for up to a minute, beyond that
// the store follows it.
func TestClockStepsBack(t *testing.T) {
	now := int64(1_000_000)
	s := mustOpen(t, Options{Dir: "data", FS: vfs.NewMem(), Clock: func() int64 { return now }})
	mustCreate(t, s, "t", "f")
	put := func() int64 {
		mustApply(t, s, "t", *cell.NewMutation([]byte("r")).DeleteColumn([]byte("f"), nil, cell.Latest))
		mustApply(t, s, "t", *cell.NewMutation([]byte("r")).Put([]byte("f"), nil, cell.Latest, nil))
		var r cell.Result
		if err := s.Get(context.Background(), "t", &cell.Get{Row: []byte("r")}, &r); err != nil || len(r.Cells) != 1 {
			t.Fatal(err, r.Cells)
		}
		return r.Cells[0].Timestamp
	}
	steps := []struct{ clock, want int64 }{
		{1_000_000, 1_000_001}, // one above the delete of the same millisecond
		{1_000_500, 1_000_501},
		{999_000, 1_000_502}, // the clock stands still at 1,000,500
		{1_000_600, 1_000_601},
	}
	for _, st := range steps {
		now = st.clock
		if got := put(); got != st.want {
			t.Errorf("clock at %d: put at %d, want %d", st.clock, got, st.want)
		}
	}
	now = 800_000
	mustApply(t, s, "t", *cell.NewMutation([]byte("other")).Put([]byte("f"), nil, cell.Latest, nil))
	var r cell.Result
	if err := s.Get(context.Background(), "t", &cell.Get{Row: []byte("other")}, &r); err != nil || r.Cells[0].Timestamp != 800_000 {
		t.Errorf("after a step back of 200 s a put is at %v (%v), want 800000", r.Cells, err)
	}
	if s.clock.steps.Load() != 1 {
		t.Errorf("%d steps counted, want 1", s.clock.steps.Load())
	}
}

// One call holds many row locks; two calls with the same rows in other orders
// must not wait for each other.
func TestBatchesOfSameRowsDoNotDeadlock(t *testing.T) {
	s := mustOpen(t, Options{Dir: "data", FS: vfs.NewMem()})
	mustCreate(t, s, "t", "f")
	const rows, rounds, writers = 50, 40, 4
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for range rounds {
				batch := make([]cell.Mutation, rows)
				for i := range batch {
					k := i
					if w%2 == 1 {
						k = rows - 1 - i
					}
					batch[i].Row = []byte{byte(k)}
					batch[i].Durability = cell.SkipWAL
					batch[i].Increment([]byte("f"), []byte("n"), 1)
				}
				if _, err := s.Apply(context.Background(), "t", batch); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for k := range rows {
		v, err := store.Increment(context.Background(), s, "t", []byte{byte(k)}, []byte("f"), []byte("n"), 0, cell.SkipWAL)
		if err != nil || v != rounds*writers {
			t.Fatalf("row %d counts %d, want %d (%v)", k, v, rounds*writers, err)
		}
	}
}

func TestFsyncDelayAndLazyLog(t *testing.T) {
	fs := vfs.NewCrashableMem()
	s, err := Open(context.Background(), Options{Dir: "data", FS: fs, WALSync: WALSyncOS})
	if err != nil {
		t.Fatal(err)
	}
	mustCreate(t, s, "t", "f", "g")
	m := cell.NewMutation([]byte("row"))
	for _, c := range crashColumns {
		m.Put([]byte(c[0]), []byte(c[1]), 1, []byte("v"))
	}
	mustApply(t, s, "t", *m)
	if err := s.fs.syncLogs(); err != nil { // what the flusher does each half second
		t.Fatal(err)
	}
	checkCrashed(t, fs.CrashClone(vfs.CrashCloneCfg{}), map[string]string{"row": "v"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	checkCrashed(t, fs.CrashClone(vfs.CrashCloneCfg{}), map[string]string{"row": "v"})
}

func TestMetricsAreRegisteredOnce(t *testing.T) {
	reg := prometheus.NewRegistry()
	for range 2 {
		s, err := Open(context.Background(), Options{Dir: "data", FS: vfs.NewMem(), Registerer: reg})
		if err != nil {
			t.Fatal(err)
		}
		families, err := reg.Gather()
		if err != nil || len(families) != len(s.metrics.all) {
			t.Errorf("%d metrics gathered, want %d: %v", len(families), len(s.metrics.all), err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// What was open on a store answers ErrClosed after it.
func TestClosedStore(t *testing.T) {
	s := mustOpen(t, Options{Dir: "data", FS: vfs.NewMem()})
	mustCreate(t, s, "t", "f")
	sc, err := s.Scan(context.Background(), "t", &cell.Scan{})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := s.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := sc.Next(context.Background()); !errors.Is(err, store.ErrClosed) {
		t.Errorf("scanner: %v", err)
	}
	if err := snap.Get(context.Background(), "t", &cell.Get{Row: []byte("r")}, new(cell.Result)); !errors.Is(err, store.ErrClosed) {
		t.Errorf("snapshot: %v", err)
	}
	if err := errors.Join(sc.Close(), snap.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}

// A damaged file that a compaction meets is met again and again, by Pebble's
// way; it costs neither the processor nor the log.
func TestDamagedFileIsMetAtLeisure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines bytes.Buffer
		w := newDamageWatch(slog.New(slog.NewTextHandler(&lines, nil)))
		start := time.Now()
		const times = 1000
		for range times {
			w.damaged(pebbledb.DataCorruptionInfo{Path: "000011.sst", Details: errors.New("bad checksum")})
			w.failed(errors.New("compaction failed"))
		}
		if d := time.Since(start); d < (times-1)*damagePause {
			t.Errorf("the file was met %d times in %v", times, d)
		}
		if n := bytes.Count(lines.Bytes(), []byte("\n")); n < 2 || n > 2*int(time.Since(start)/damageTell)+2 {
			t.Errorf("%d lines were logged in %v", n, time.Since(start))
		}
		if w.Files() != 1 {
			t.Errorf("%d damaged files", w.Files())
		}
		// Another file is not held up by it.
		at := time.Now()
		w.damaged(pebbledb.DataCorruptionInfo{Path: "000012.sst", Details: errors.New("bad checksum")})
		if time.Since(at) != 0 {
			t.Errorf("the first meeting of a file took %v", time.Since(at))
		}
	})
}

// Increments of one millisecond run ahead of the clock, a millisecond each. A
// put that comes after them is what is read, and a delete hides them all.
func TestPutIsNotLostBehindIncrements(t *testing.T) {
	ctx := context.Background()
	s := mustOpen(t, Options{Dir: "data", FS: vfs.NewMem(), Clock: func() int64 { return 1_000_000 }})
	mustCreate(t, s, "t", "f")
	row, f, q := []byte("r"), []byte("f"), []byte("n")
	for range 4 {
		if _, err := store.Increment(ctx, s, "t", row, f, q, 1, cell.UseDefault); err != nil {
			t.Fatal(err)
		}
	}
	mustApply(t, s, "t", *cell.NewMutation(row).Put(f, q, cell.Latest, []byte("put")))
	var r cell.Result
	if err := s.Get(ctx, "t", &cell.Get{Row: row}, &r); err != nil || len(r.Cells) != 1 || string(r.Cells[0].Value) != "put" {
		t.Errorf("after the put the row has %v, %v", r.Cells, err)
	}
	mustApply(t, s, "t", *cell.NewMutation(row).DeleteColumn(f, q, cell.Latest))
	if err := s.Get(ctx, "t", &cell.Get{Row: row}, &r); err != nil || len(r.Cells) != 0 {
		t.Errorf("after the delete the row has %v, %v", r.Cells, err)
	}
}
