package pebble

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// lsm is a model of what stands behind the admission: memtables that are
// flushed one after the other, and a level 0 that compactions empty several
// sublevels at a time.
type lsm struct {
	memtable          float64 // bytes of one
	flush, drain      float64 // bytes a second that flushes and compactions do
	atOnce            float64 // sublevels that a compaction takes
	unflushed, level0 float64 // bytes
	compacting        float64 // bytes of level 0 in the compaction that runs
	done              float64
}

func (l *lsm) step(in, dt float64) {
	l.unflushed += in
	if l.unflushed >= l.memtable {
		out := min(l.flush*dt, l.unflushed)
		l.unflushed -= out
		l.level0 += out
	}
	if l.compacting == 0 && l.level0 > 4*l.memtable {
		l.compacting, l.done = min(l.level0, l.atOnce*l.memtable), 0
	}
	if l.compacting > 0 {
		if l.done += l.drain * dt; l.done >= l.compacting {
			l.level0 -= l.compacting
			l.compacting = 0
		}
	}
}

func (l *lsm) pressure() (slow, mem float64) {
	s := state{
		unflushed: uint64(l.unflushed), memtableBytes: uint64(l.memtable),
		memtables: uint64(l.memtable * (1 + math.Floor(l.unflushed/l.memtable))), sublevels: int32(l.level0 / l.memtable),
	}
	p := s.pressure()
	return p.L0, p.Memtables
}

// offered is a load on a model.
type offered struct {
	clients, batch int
	rate           float64 // bytes a second that all of them come with where nobody waits
}

// outcome is what became of it.
type outcome struct {
	seconds  []float64 // bytes that passed
	worst    float64   // pressure, after the first minute
	waited   time.Duration
	sharesOf []float64 // of each client
}

// drive runs a load for some minutes of a clock of its own.
func drive(t *testing.T, l *lsm, load offered, minutes int) outcome {
	t.Helper()
	a := newAdmission(time.Now)
	ctx, stop := context.WithCancel(context.Background())
	out := outcome{sharesOf: make([]float64, load.clients)}
	var mu sync.Mutex
	var came float64
	var clients sync.WaitGroup
	for i := range load.clients {
		clients.Go(func() {
			for {
				if sleep(ctx, time.Duration(float64(load.batch*load.clients)/load.rate*float64(time.Second))) != nil {
					return
				}
				if a.admit(ctx, int64(load.batch)) != nil {
					return
				}
				mu.Lock()
				came += float64(load.batch)
				out.sharesOf[i] += float64(load.batch)
				mu.Unlock()
			}
		})
	}
	second := 0.0
	ticks := int(time.Duration(minutes) * time.Minute / watchEvery)
	for n := 1; n <= ticks; n++ {
		time.Sleep(watchEvery)
		mu.Lock()
		in := came
		came = 0
		mu.Unlock()
		second += in
		l.step(in, watchEvery.Seconds())
		slow, mem := l.pressure()
		a.steer(slow, mem, math.MaxInt64)
		if n*int(watchEvery) > int(time.Minute) {
			out.worst = max(out.worst, mem)
		}
		if n%int(time.Second/watchEvery) == 0 {
			out.seconds = append(out.seconds, second)
			second = 0
		}
	}
	stop()
	clients.Wait()
	out.waited = a.figures().waited
	a.close()
	return out
}

// mean and lowest second, the first minute left out.
func (o *outcome) settled() (mean, lowest float64) {
	lowest = math.Inf(1)
	for _, s := range o.seconds[60:] {
		mean += s
		lowest = min(lowest, s)
	}
	return mean / float64(len(o.seconds)-60), lowest
}

const mb = 1e6

func TestAdmissionHoldsWhatCompactionsSustain(t *testing.T) {
	cases := []struct {
		name         string
		flush, drain float64
		sublevels    float64
	}{
		{"compactions are the limit", 300 * mb, 60 * mb, 8},
		{"slow disk", 60 * mb, 15 * mb, 4},
		{"flushes are the limit", 50 * mb, 90 * mb, 8},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &lsm{memtable: 25 * mb, flush: c.flush, drain: c.drain, atOnce: c.sublevels}
				out := drive(t, l, offered{clients: 10, batch: 300_000, rate: 160 * mb}, 4)
				mean, lowest := out.settled()
				can := min(c.flush, c.drain)
				t.Logf("of %.0f MB/s: mean %.1f, lowest second %.1f, pressure at most %.2f", can/mb, mean/mb, lowest/mb, out.worst)
				if mean < 0.85*can || mean > 1.05*can {
					t.Errorf("%.1f MB/s pass, the disk sustains %.1f", mean/mb, can/mb)
				}
				if lowest < mean/2 {
					t.Errorf("the lowest second has %.1f MB, the mean is %.1f", lowest/mb, mean/mb)
				}
				if out.worst >= 1 {
					t.Errorf("the pressure reached %.2f: the engine would have stopped writers", out.worst)
				}
			})
		})
	}
}

func TestAdmissionLeavesAloneWhatFits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lsm{memtable: 25 * mb, flush: 300 * mb, drain: 60 * mb, atOnce: 8}
		out := drive(t, l, offered{clients: 10, batch: 30_000, rate: 40 * mb}, 3)
		if out.waited != 0 {
			t.Errorf("a load of 40 MB/s waited %v before a store that sustains 60", out.waited)
		}
	})
}

// Who comes with ten times as many clients gets the same out of the store.
func TestAdmissionWithMoreClientsPassesTheSame(t *testing.T) {
	var means []float64
	for _, clients := range []int{10, 100} {
		synctest.Test(t, func(t *testing.T) {
			l := &lsm{memtable: 25 * mb, flush: 300 * mb, drain: 60 * mb, atOnce: 8}
			out := drive(t, l, offered{clients: clients, batch: 300_000, rate: 160 * mb}, 3)
			mean, lowest := out.settled()
			if out.worst >= 1 || lowest < mean/2 {
				t.Errorf("%d clients: pressure up to %.2f, lowest second %.1f of %.1f MB", clients, out.worst, lowest/mb, mean/mb)
			}
			low, high := math.Inf(1), 0.0
			for _, s := range out.sharesOf {
				low, high = min(low, s), max(high, s)
			}
			if low < 0.9*high {
				t.Errorf("%d clients: one got %.1f MB, another %.1f", clients, low/mb, high/mb)
			}
			means = append(means, mean)
		})
	}
	if len(means) != 2 || means[1] < 0.95*means[0] {
		t.Errorf("10 and 100 clients got %.0f B/s", means)
	}
}

// limited makes an admission that lets a rate pass, in a bubble.
func limited(rate float64) *admission {
	a := newAdmission(time.Now)
	a.mu.rate = rate
	return a
}

// A client with single puts is not held up by what others send in bulk: each
// of them gets the same share, in bytes.
func TestAdmissionIsFairByBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := limited(10 * mb)
		ctx, stop := context.WithCancel(context.Background())
		var clients sync.WaitGroup
		var bulk, single int
		for range 50 {
			clients.Go(func() {
				for a.admit(ctx, 300_000) == nil {
					bulk++
				}
			})
		}
		time.Sleep(time.Second)
		var longest time.Duration
		clients.Go(func() {
			for range 20 {
				began := time.Now()
				if a.admit(ctx, 1000) != nil {
					return
				}
				longest = max(longest, time.Since(began))
				single++
			}
		})
		time.Sleep(10 * time.Second)
		stop()
		clients.Wait()
		// 50 batches of 300 KB take 1.5 s; one of them is under way at most.
		if single != 20 || longest > 100*time.Millisecond {
			t.Errorf("%d single puts passed, the slowest after %v", single, longest)
		}
		if bulk < 330 || bulk > 370 {
			t.Errorf("%d batches passed in 11 s at 10 MB/s", bulk)
		}
	})
}

// The largest batch is not passed for ever by small ones.
func TestAdmissionStarvesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := limited(10 * mb)
		ctx, stop := context.WithCancel(context.Background())
		var clients sync.WaitGroup
		for range 20 {
			clients.Go(func() {
				for a.admit(ctx, 1000) == nil {
				}
			})
		}
		time.Sleep(time.Second)
		began := time.Now()
		if err := a.admit(ctx, mb); err != nil {
			t.Fatal(err)
		}
		// The others pass as many bytes each meanwhile: 20 MB, 2 s.
		if took := time.Since(began); took > 2500*time.Millisecond {
			t.Errorf("a batch of 1 MB waited %v among puts of 1 KB", took)
		}
		stop()
		clients.Wait()
	})
}

func TestAdmissionEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ten = 10 * leastRate // bytes: ten seconds
		a := limited(leastRate)
		time.Sleep(time.Millisecond)
		if err := a.admit(t.Context(), ten); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := a.admit(ctx, ten); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after the deadline: %v", err)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("it waited %v", took)
		}
		if n := a.figures().waiting; n != 0 {
			t.Errorf("%d are in the line", n)
		}
		if err := a.admit(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with an ended context: %v", err)
		}
		ended := make(chan error)
		go func() { ended <- a.admit(t.Context(), ten) }()
		synctest.Wait()
		a.close()
		if err := <-ended; !errors.Is(err, store.ErrClosed) {
			t.Errorf("who waited when the store was closed: %v", err)
		}
		if err := a.admit(t.Context(), 1); !errors.Is(err, store.ErrClosed) {
			t.Errorf("after the close: %v", err)
		}
	})
}

func TestCostOfABatch(t *testing.T) {
	m := cell.NewMutation([]byte("row")).Put([]byte("f"), []byte("q"), cell.Latest, make([]byte, 1000))
	one, ten := costOf([]cell.Mutation{*m}), costOf(make([]cell.Mutation, 10))
	if one < 1004 || one > 1200 {
		t.Errorf("a put of 1,004 bytes costs %d", one)
	}
	if ten <= 0 {
		t.Errorf("a batch without edits costs %d", ten)
	}
}

// However many come at once, no more are inside than the memtables have room
// for; who waits is let in as others leave.
func TestAdmissionKeepsToTheRoomOfMemtables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := limited(1000 * mb)
		a.mu.room = 5 * mb
		time.Sleep(time.Second)
		began := time.Now()
		var inside, most, passed atomic.Int64
		var clients sync.WaitGroup
		for range 100 {
			clients.Go(func() {
				if err := a.admit(t.Context(), mb); err != nil {
					t.Error(err)
					return
				}
				most.Store(max(most.Load(), inside.Add(1)))
				time.Sleep(time.Second)
				inside.Add(-1)
				passed.Add(1)
				a.leave(mb)
			})
		}
		clients.Wait()
		if passed.Load() != 100 || most.Load() != 5 {
			t.Errorf("%d passed, %d were inside at once where there is room for 5", passed.Load(), most.Load())
		}
		if took := time.Since(began); took < 20*time.Second || took > 21*time.Second {
			t.Errorf("100 that stay a second each, five at a time, took %v", took)
		}
		// A batch that is larger than the room passes when it is alone.
		a.mu.room = -mb
		time.Sleep(time.Second)
		if err := a.admit(t.Context(), 50*mb); err != nil {
			t.Fatal(err)
		}
		a.leave(50 * mb)
		if n := a.inside.Load(); n != 0 {
			t.Errorf("%d bytes are inside in the end", n)
		}
	})
}

// Without pressure a write does not take the admission's lock.
func TestAdmissionIsFreeWithoutPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdmission(time.Now)
		time.Sleep(watchEvery)
		a.steer(0, 0, math.MaxInt64)
		a.mu.Lock()
		if err := a.admit(t.Context(), 1000); err != nil {
			t.Error(err)
		}
		a.leave(1000)
		a.mu.Unlock()
		full := newAdmission(time.Now)
		time.Sleep(watchEvery)
		full.steer(0, 1, 0)
		if full.free.Load() {
			t.Error("writes are free with full memtables")
		}
		a.close()
		if err := a.admit(t.Context(), 1); !errors.Is(err, store.ErrClosed) {
			t.Errorf("after the close: %v", err)
		}
	})
}

// A rate that nobody used for a while is not made up for at once.
func TestAdmissionSavesNoCredit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := limited(10 * mb)
		time.Sleep(time.Hour)
		began := time.Now()
		for range 100 {
			if err := a.admit(t.Context(), 100_000); err != nil {
				t.Fatal(err)
			}
		}
		// 10 MB take a second at 10 MB/s, less one burst and the last batch.
		if took := time.Since(began); took < 900*time.Millisecond {
			t.Errorf("10 MB passed in %v", took)
		}
	})
}

// Who was let pass in the moment when its context ended is inside: its bytes are
// counted, and it has to leave.
func TestAdmissionThatWasGivenCounts(t *testing.T) {
	a := newAdmission(time.Now)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for range 100 {
		w := &waiter{ready: make(chan struct{}), passed: true, place: -1}
		close(w.ready)
		if err := a.wait(ended, w); err != nil {
			t.Fatalf("admitted, but answered with %v", err)
		}
	}
}
