package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/memory"
)

func openMemory(_ *testing.T, clock func() int64) store.Store {
	return memory.New(memory.Options{Clock: clock})
}

// weakOpener opens weak engines over memory.
func weakOpener(opts WeakOptions) Opener {
	return func(_ *testing.T, clock func() int64) store.Store {
		own := opts
		own.Clock = clock
		return Weak(memory.New(memory.Options{Clock: clock}), own)
	}
}

// A weak engine keeps the contract, with no weakness and with all those that
// need not end in an error.
func TestWeakKeepsTheContract(t *testing.T) {
	for _, c := range []struct {
		name string
		opts WeakOptions
	}{
		{"off", WeakOptions{}},
		{"twice_and_reopened", WeakOptions{Twice: 1, Reopen: 1, Scribble: true}},
		{"colliding_and_marking", WeakOptions{Collide: 1, MarkRows: true}},
		{"together", WeakOptions{Seed: 9, Twice: 0.5, Reopen: 0.5, Scribble: true, Late: 0.02, LateBy: time.Microsecond, Collide: 1, MarkRows: true}},
	} {
		t.Run(c.name, func(t *testing.T) { Run(t, weakOpener(c.opts)) })
	}
}

func TestWeakRandom(t *testing.T) {
	RunRandom(t, Seeds(10), 300, weakOpener(WeakOptions{Twice: 1, Reopen: 0.5, Scribble: true}))
	RunRandomSemantics(t, Seeds(5), 300, weakOpener(WeakOptions{Twice: 1, Reopen: 1, Scribble: true}))
}

// weakEnv is the usual table in a weak engine over memory.
func weakEnv(t *testing.T, opts WeakOptions) (*env, *WeakStore) {
	t.Helper()
	clock := NewClock(epoch)
	opts.Clock = clock.Now
	w := Weak(memory.New(memory.Options{Clock: clock.Now}), opts)
	e := &env{T: t, ctx: t.Context(), s: w, clock: clock}
	t.Cleanup(func() { e.must(w.Close()) })
	e.usual()
	return e, w
}

// tenRows is a batch of ten puts at an explicit timestamp.
func tenRows(timestamp int64) []cell.Mutation {
	var batch []cell.Mutation
	for i := range 10 {
		batch = append(batch, *putOf(fmt.Sprint(i), "f:q", timestamp, "v"))
	}
	return batch
}

// A stopped Apply has applied a part of its batch: anything from none to all.
func TestWeakStops(t *testing.T) {
	e, w := weakEnv(t, WeakOptions{Seed: 1, Stop: 0.1})
	applied := map[int]int{}
	stopped := 0
	for round := range 300 {
		_, err := w.Apply(e.ctx, "t", tenRows(int64(round+1)))
		n := len(e.results("t", cell.Scan{Read: cell.Read{Within: cell.At(int64(round + 1))}}))
		if err == nil {
			if n != 10 {
				t.Fatalf("round %d: no error, %d of 10 rows", round, n)
			}
			continue
		}
		if !errors.Is(err, ErrStopped) {
			t.Fatal(err)
		}
		stopped++
		applied[n]++
	}
	if stopped < 50 || stopped > 290 || w.Counts().Stopped != stopped {
		t.Errorf("stopped %d times of 300, counted %d", stopped, w.Counts().Stopped)
	}
	for n := range 11 {
		if applied[n] == 0 {
			t.Errorf("no stop left %d rows: %v", n, applied)
		}
	}
}

func TestWeakStopsChecksBeforeAndAfter(t *testing.T) {
	e, w := weakEnv(t, WeakOptions{Seed: 2, Stop: 0.2})
	check := &cell.Check{Family: []byte("f"), Qualifier: []byte("q"), Op: cell.Equal}
	before, after := 0, 0
	for i := range 200 {
		row := fmt.Sprint("row", i)
		_, _, err := w.CheckAndMutate(e.ctx, "t", check, putOf(row, "f:q", 1, "v"))
		there := e.get(row) != ""
		switch {
		case err == nil && !there:
			t.Fatal("acknowledged and not there")
		case errors.Is(err, ErrStopped) && there:
			after++
		case errors.Is(err, ErrStopped):
			before++
		}
	}
	if before == 0 || after == 0 {
		t.Errorf("stopped %d times before, %d times after", before, after)
	}
}

func TestWeakStopsDeleteRows(t *testing.T) {
	e, w := weakEnv(t, WeakOptions{Seed: 3, Stop: 0.1})
	parts := 0
	for range 100 {
		for i := range 10 {
			for {
				_, err := w.Apply(e.ctx, "t", values([]*cell.Mutation{putOf(fmt.Sprint(i), "f:q", 1, "v")}))
				if err == nil {
					break
				}
			}
		}
		err := w.DeleteRows(e.ctx, "t", cell.Range{})
		n := len(e.results("t", cell.Scan{}))
		if err == nil && n != 0 {
			t.Fatalf("no error, %d rows are left", n)
		}
		if err != nil && n > 0 && n < 10 {
			parts++
		}
	}
	if parts == 0 {
		t.Error("no DeleteRows ended half-way")
	}
}

func TestWeakStaysDown(t *testing.T) {
	e, w := weakEnv(t, WeakOptions{Seed: 4, Stop: 1, StayDown: true})
	_, err := w.Apply(e.ctx, "t", tenRows(1))
	e.refused(err, ErrStopped)
	sc, serr := w.inner.Scan(e.ctx, "t", &cell.Scan{})
	e.must(serr)
	e.must(sc.Close())
	c := callsOn(e.ctx, "t")
	if made := e.wantEach(ErrStopped, c.reads, c.writes, c.changes, c.others, storeCalls(e.ctx)); made != 22 {
		t.Errorf("made %d calls", made)
	}
	w.Restart()
	e.equal(e.scan(cell.Scan{}), "")
}

// Refusals come in a BatchError, by index; the other mutations are applied.
func TestWeakFails(t *testing.T) {
	e, w := weakEnv(t, WeakOptions{Seed: 5, Fail: 0.2})
	failed, seen := 0, map[int]int{}
	for round := range 100 {
		at := int64(round + 1)
		_, err := w.Apply(e.ctx, "t", tenRows(at))
		refusedRows := map[string]bool{}
		var b *store.BatchError
		if errors.As(err, &b) {
			if b.Total != 10 {
				t.Fatalf("total %d", b.Total)
			}
			for _, f := range b.Failed {
				e.refused(f.Err, store.ErrBusy)
				refusedRows[fmt.Sprint(f.Index)] = true
				seen[f.Index]++
				failed++
			}
		} else {
			e.must(err)
		}
		there := e.results("t", cell.Scan{Read: cell.Read{Within: cell.At(at)}})
		if len(there)+len(refusedRows) != 10 {
			t.Fatalf("%d rows are there, %d were refused", len(there), len(refusedRows))
		}
		for _, r := range there {
			if refusedRows[string(r.Row)] {
				t.Errorf("row %s was refused and is there", r.Row)
			}
		}
	}
	if failed != w.Counts().Failed || failed < 100 || failed > 300 || len(seen) != 10 {
		t.Errorf("%d refusals of 1000, counted %d, at %v", failed, w.Counts().Failed, seen)
	}
	// What is refused as a whole is not refused by mutation.
	for range 20 {
		_, err := w.Apply(e.ctx, "absent", tenRows(1))
		e.refused(err, store.ErrTableNotFound)
	}
}

// counting counts the calls that reach the inner engine.
type counting struct {
	store.Store
	applies, scans atomic.Int64
}

func (c *counting) Apply(ctx context.Context, table string, batch []cell.Mutation) ([][]cell.Cell, error) {
	c.applies.Add(1)
	return c.Store.Apply(ctx, table, batch)
}

func (c *counting) Scan(ctx context.Context, table string, scan *cell.Scan) (store.Scanner, error) {
	c.scans.Add(1)
	return c.Store.Scan(ctx, table, scan)
}

func TestWeakAppliesTwiceWhatBearsIt(t *testing.T) {
	inner := &counting{Store: openMemory(t, NewClock(epoch).Now)}
	w := Weak(inner, WeakOptions{Twice: 1})
	e := &env{T: t, ctx: t.Context(), s: w}
	e.usual()
	f, q := column("f:q")
	withNonce := incOnce(3, 4)
	for i, c := range []struct {
		m    *cell.Mutation
		want int64
	}{
		{putOf("a", "f:q", 5, "v"), 2},
		{cell.NewMutation([]byte("a")).Put(f, q, 6, nil).DeleteFamily(f, 3).Delete(f, q, 1), 2},
		{withNonce, 2},
		{putOf("a", "f:q", cell.Latest, "v"), 1},
		{cell.NewMutation([]byte("a")).Put(f, q, 6, nil).Delete(f, q, cell.Latest), 1},
		{cell.NewMutation([]byte("a")).Increment(f, []byte("n"), 1), 1},
		{cell.NewMutation([]byte("a")).Append(f, []byte("x"), []byte("y")), 1},
	} {
		before := inner.applies.Load()
		_, err := w.Apply(e.ctx, "t", []cell.Mutation{*c.m})
		e.must(err)
		if got := inner.applies.Load() - before; got != c.want {
			t.Errorf("case %d: applied %d times, want %d", i, got, c.want)
		}
	}
	if w.Counts().Twice != 3 {
		t.Errorf("counted %d", w.Counts().Twice)
	}
	e.equal(e.counter(), "1")
}

func TestWeakReopensScanners(t *testing.T) {
	inner := &counting{Store: openMemory(t, NewClock(epoch).Now)}
	w := Weak(inner, WeakOptions{Reopen: 1})
	e := &env{T: t, ctx: t.Context(), s: w}
	e.usual()
	e.rows("a", "b", "c", "d")
	for _, c := range []struct {
		scan  cell.Scan
		want  string
		scans int64
	}{
		{cell.Scan{}, "a b c d", 5},
		{cell.Scan{Reversed: true}, "d c b a", 5},
		{cell.Scan{Limit: 2}, "a b", 2},
		{cell.Scan{Range: cell.Range{Start: []byte("b"), Stop: []byte("d"), StopInclusive: true}, Limit: 9}, "b c d", 4},
	} {
		before := inner.scans.Load()
		e.equal(e.keys(c.scan), c.want)
		if got := inner.scans.Load() - before; got != c.scans {
			t.Errorf("%q: %d scanners, want %d", c.want, got, c.scans)
		}
	}
	if w.Counts().Reopened < 10 {
		t.Errorf("counted %d", w.Counts().Reopened)
	}
}

// An answer comes late, and a caller that gives up has written all the same.
func TestWeakIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := Weak(openMemory(t, nil), WeakOptions{Late: 1, LateBy: time.Minute})
		e := &env{T: t, ctx: t.Context(), s: w}
		e.usual()
		begin := time.Now()
		e.put("a", "f:q", 1, "v")
		if d := time.Since(begin); d != time.Minute {
			t.Errorf("answered after %v", d)
		}
		ctx, cancel := context.WithTimeout(e.ctx, time.Second)
		defer cancel()
		_, err := w.Apply(ctx, "t", values([]*cell.Mutation{putOf("b", "f:q", 1, "v")}))
		e.refused(err, context.DeadlineExceeded)
		e.equal(e.keys(cell.Scan{}), "a b")
		if w.Counts().Late < 3 {
			t.Errorf("counted %d", w.Counts().Late)
		}
	})
}

// A scanner whose call was given up while it was late has lost nothing.
func TestWeakLateScannerLosesNoRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := Weak(openMemory(t, nil), WeakOptions{Late: 0.5, LateBy: time.Minute, Reopen: 0.5, Seed: 7})
		e := &env{T: t, ctx: t.Context(), s: w}
		e.usual()
		e.fill(40)
		sc, err := w.Scan(e.ctx, "t", &cell.Scan{})
		e.must(err)
		gaveUp := 0
		for i := 0; i < 40; {
			ctx, cancel := context.WithTimeout(e.ctx, time.Second)
			r, err := sc.Next(ctx)
			cancel()
			if errors.Is(err, context.DeadlineExceeded) {
				gaveUp++
				continue
			}
			e.must(err)
			e.equal(string(r.Row), string(key(i)))
			i++
		}
		e.must(sc.Close())
		if gaveUp == 0 {
			t.Error("no call was given up")
		}
	})
}

// "Now" is the same for several mutations: a put after a delete may be lost.
func TestWeakCollides(t *testing.T) {
	e, w := weakEnv(t, WeakOptions{Collide: 3})
	e.script("delcol f:q@now; tick; put f:q@now=lost; tick; put g:q@now=x; tick; put f:q@now=later")
	e.equal(e.raw("r"), "f:q@now+3=later f:q@now+0!DeleteColumn f:q@now+0=lost g:q@now+0=x")
	if w.Counts().Collided != 4 {
		t.Errorf("counted %d", w.Counts().Collided)
	}
	// The newest version is found by the engine.
	e.script("del f:q@now")
	e.equal(e.get("r"), "g:q@now+0=x")
}

// DeleteRows by markers masks what is written later at older timestamps, and
// nothing above the time of the call.
func TestWeakMarksRows(t *testing.T) {
	e, w := weakEnv(t, WeakOptions{MarkRows: true})
	e.put("a", "f:q", 5, "v")
	e.put("b", "f:q", epoch+50, "future")
	e.put("b", "g:q", epoch+40, "future")
	e.must(w.DeleteRows(e.ctx, "t", cell.Range{}))
	e.equal(e.scan(cell.Scan{}), "")
	e.put("a", "f:q", 6, "masked")
	e.put("b", "f:q", epoch+49, "seen")
	e.put("c", "f:q", 1, "seen")
	e.equal(e.scan(cell.Scan{}), "b: f:q@now+49=seen | c: f:q@1=seen")
	if w.Counts().Marked != 2 {
		t.Errorf("counted %d", w.Counts().Marked)
	}
}

func TestWeakScribbles(t *testing.T) {
	e, w := weakEnv(t, WeakOptions{Scribble: true})
	e.rows("a", "b")
	sc, err := w.Scan(e.ctx, "t", &cell.Scan{})
	e.must(err)
	first, err := sc.Next(e.ctx)
	e.must(err)
	row, value := first.Row, first.Cells[0].Value
	e.equal(resultText(first), "a: f:q@1=v")
	_, err = sc.Next(e.ctx)
	e.must(err)
	if string(row) != "\xdb" || string(value) != "\xdb" {
		t.Errorf("the old row is %q, its value %q", row, value)
	}
	e.must(sc.Close())
	if w.Counts().Scribbled != 2 {
		t.Errorf("counted %d", w.Counts().Scribbled)
	}
}

// workload makes some hundred calls one after the other and gives what was
// answered.
func workload(t *testing.T, seed uint64) (string, WeakCounts) {
	e, w := weakEnv(t, Weaknesses(seed))
	var log string
	for i := range 150 {
		_, err := w.Apply(e.ctx, "t", tenRows(int64(i+1)))
		log += failures(err) + "\n"
		_, err = w.Apply(e.ctx, "t", values([]*cell.Mutation{putOf("now", "f:q", cell.Latest, "v")}))
		log += failures(err) + "\n"
		if i%10 == 0 {
			log += errorKinds(w.DeleteRows(e.ctx, "t", cell.Range{Stop: []byte("5")})) + "\n"
		}
		log += e.keys(cell.Scan{}) + "\n"
		e.tick()
	}
	return log, w.Counts()
}

// The same seed shows the same weaknesses; Weaknesses shows every one.
func TestWeakFollowsItsSeed(t *testing.T) {
	first, counts := workload(t, 11)
	again, _ := workload(t, 11)
	if first != again {
		t.Error("one seed went two ways")
	}
	if other, _ := workload(t, 12); first == other {
		t.Error("two seeds went one way")
	}
	shown := []int{counts.Stopped, counts.Failed, counts.Twice, counts.Reopened, counts.Late, counts.Collided, counts.Marked, counts.Scribbled}
	for i, n := range shown {
		if n == 0 {
			t.Errorf("weakness %d was not shown: %+v", i, counts)
		}
	}
	if len(shown) != 8 {
		t.Errorf("%d weaknesses", len(shown))
	}
}
