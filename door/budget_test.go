package door

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func nobody() {}

// A budget of 100 has a common half of 50 and a fast lane of 50.
func TestBudgetGivesAndTakes(t *testing.T) {
	b := NewBudget(100)
	ctx := t.Context()
	if err := b.Acquire(ctx, 100); err != nil {
		t.Fatal(err)
	}
	if b.TryAcquire(1) {
		t.Error("TryAcquire gave more than there is")
	}
	if b.Used() != 100 || b.Size() != 100 {
		t.Errorf("used %d of %d, want 100 of 100", b.Used(), b.Size())
	}
	b.Release(60)
	if !b.TryAcquire(60) {
		t.Error("TryAcquire refused what was given back")
	}
	err := b.Acquire(ctx, 101)
	if !errors.Is(err, ErrOverBudget) || !errors.Is(err, ErrTooLarge) {
		t.Errorf("a claim above the whole budget: %v, want ErrOverBudget, a kind of ErrTooLarge", err)
	}
	b.Release(100)
	l := b.lease(nobody)
	if err := l.Grow(ctx, 60); err != nil {
		t.Fatal(err)
	}
	if err := l.Grow(ctx, 41); !errors.Is(err, ErrOverBudget) || l.Held() != 60 {
		t.Errorf("a claim above what others could leave: %v, holds %d", err, l.Held())
	}
}

func TestBudgetServesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(10)
		b.TryAcquire(10)
		var mu sync.Mutex
		var order []int
		var wg sync.WaitGroup
		for i, n := range []int64{9, 1, 5} { // the small one behind must not pass
			wg.Go(func() {
				if err := b.Acquire(t.Context(), n); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				time.Sleep(time.Second)
				b.Release(n)
			})
			synctest.Wait()
		}
		if b.Waiting() != 3 {
			t.Fatalf("%d wait, want 3", b.Waiting())
		}
		b.Release(1)
		synctest.Wait()
		if len(order) != 0 || b.TryAcquire(1) || b.lease(nobody).TryGrow(1) {
			t.Fatalf("a small claim passed the first in line: %v", order)
		}
		b.Release(9)
		wg.Wait()
		// Claims 0 and 1 fit together; which of them runs first is not said.
		slices.Sort(order[:2])
		if !slices.Equal(order, []int{0, 1, 2}) {
			t.Errorf("served %v", order)
		}
		if b.Used() != 0 {
			t.Errorf("%d bytes left over", b.Used())
		}
	})
}

func TestBudgetWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(10)
		b.TryAcquire(8)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		behind := make(chan error)
		first := make(chan error)
		go func() { first <- b.Acquire(ctx, 5) }()
		synctest.Wait()
		go func() { behind <- b.Acquire(t.Context(), 2) }()
		synctest.Wait()
		if err := <-first; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the first in line: %v, want its deadline", err)
		}
		if err := <-behind; err != nil {
			t.Errorf("the one behind, which fits: %v", err)
		}
		if b.Used() != 10 || b.Waiting() != 0 {
			t.Errorf("used %d, waiting %d; want 10, 0", b.Used(), b.Waiting())
		}
	})
}

// Ten requests that take their memory step by step, and together need five times
// what there is, all get done: one at a time goes through the fast lane.
func TestBudgetStepsDoNotDeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(100)
		var wg sync.WaitGroup
		done := 0
		var mu sync.Mutex
		for range 10 {
			wg.Go(func() {
				l := b.lease(nobody)
				for range 10 { // 50 in all: half of the budget
					if err := l.Grow(t.Context(), 5); err != nil {
						t.Error(err)
					}
					if used := b.Used(); used > 100 {
						t.Errorf("used %d of 100", used)
					}
					time.Sleep(time.Millisecond) // the next bytes arrive
				}
				l.Shrink(50)
				mu.Lock()
				done++
				mu.Unlock()
			})
		}
		wg.Wait()
		if done != 10 || b.Used() != 0 || b.mu.leases.Len() != 0 || b.mu.lane != nil {
			t.Errorf("%d done, %d used, %d leases, lane %v", done, b.Used(), b.mu.leases.Len(), b.mu.lane)
		}
	})
}

func TestBudgetLaneLeavesTheOthersTheirHalf(t *testing.T) {
	b := NewBudget(100)
	in, out := b.lease(nobody), b.lease(nobody)
	if !out.TryGrow(50) {
		t.Fatal("the common half is not there")
	}
	if !in.TryGrow(30) {
		t.Fatal("the lane is free and was refused")
	}
	if out.TryGrow(1) {
		t.Error("a second lease got into the lane")
	}
	if !in.TryGrow(20) {
		t.Error("the lease in the lane was refused what is left")
	}
	in.Shrink(49)
	if out.TryGrow(1) {
		t.Error("the lane was left though one byte is held")
	}
	in.Shrink(1)
	if !out.TryGrow(1) {
		t.Error("the lane is not free after all was given back")
	}
	out.Shrink(51)
}

// The lease in the lane passes those who wait: they wait for it.
func TestBudgetLanePassesTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(100)
		in := b.lease(nobody)
		in.TryGrow(60)
		var wg sync.WaitGroup
		other := b.lease(nobody)
		wg.Go(func() {
			if err := other.Grow(t.Context(), 45); err != nil {
				t.Error(err)
			}
			other.Shrink(45)
		})
		synctest.Wait()
		if err := in.Grow(t.Context(), 40); err != nil {
			t.Error(err)
		}
		in.Shrink(100)
		wg.Wait()
	})
}

// When the lease in the lane has to wait itself, it waits in front.
func TestBudgetLaneWaitsInFront(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(100)
		common, in, other := b.lease(nobody), b.lease(nobody), b.lease(nobody)
		common.TryGrow(30)
		in.TryGrow(40)
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := other.Grow(t.Context(), 45); err != nil {
				t.Error(err)
			}
			other.Shrink(45)
		})
		synctest.Wait()
		wg.Go(func() {
			if err := in.Grow(t.Context(), 40); err != nil {
				t.Error(err)
			}
			in.Shrink(80)
		})
		synctest.Wait()
		common.Shrink(30)
		wg.Wait()
	})
}

// Half a request and silence: while no one needs its memory it may keep it; two
// seconds of silence cost it the connection once somebody waits.
func TestBudgetEndsTheStalledWhenOthersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(100)
		var ended []string
		var mu sync.Mutex
		leases := map[string]*Lease{}
		take := func(name string, n int64) {
			var l *Lease
			l = b.lease(func() {
				mu.Lock()
				ended = append(ended, name)
				mu.Unlock()
				l.Shrink(n) // as its session does when it notices
			})
			if !l.TryGrow(n) {
				t.Fatalf("%s: no %d bytes", name, n)
			}
			leases[name] = l
		}
		take("working", 20) // stood once, and moves again: it must not be touched
		leases["working"].stand()
		leases["working"].walk()
		take("silent since long", 15)
		leases["silent since long"].stand()
		time.Sleep(time.Second)
		take("silent", 15)
		leases["silent"].stand()
		time.Sleep(time.Hour)
		if len(ended) != 0 {
			t.Fatalf("%v ended though no one waited", ended)
		}
		take("just silent", 40) // by the lane
		leases["just silent"].stand()

		l := b.lease(nobody)
		start := time.Now()
		if err := l.Grow(t.Context(), 25); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > longestStall+2*patience {
			t.Errorf("waited %s", took)
		}
		mu.Lock()
		defer mu.Unlock()
		want := []string{"silent since long", "silent", "just silent"}
		if !slices.Equal(ended, want[:len(ended)]) || len(ended) < 2 {
			t.Errorf("ended %q, want %q, the longest silent first", ended, want)
		}
	})
}

// No more are ended than is needed, also while those that were ended have not
// noticed it yet.
func TestBudgetEndsNoMoreThanItNeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(100)
		ended := 0
		for range 5 {
			l := b.lease(func() { ended++ })
			l.TryGrow(10)
			l.stand()
			defer l.Shrink(10)
		}
		b.mu.lane = b.lease(nobody) // somebody else's
		time.Sleep(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := b.lease(nobody).Grow(ctx, 15); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if ended != 2 {
			t.Errorf("%d of 10 bytes each were ended for a claim of 15, want 2", ended)
		}
	})
}

// Those who stand still come in swarms: each time one is ended, the next have less
// time, until it has been calm for a while.
func TestBudgetPatienceShrinksAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(2)
		ends := func() time.Duration {
			var l *Lease
			l = b.lease(func() { l.Shrink(2) })
			l.TryGrow(2)
			l.stand()
			start := time.Now()
			waiting := b.lease(nobody)
			if err := waiting.Grow(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			waiting.Shrink(1)
			return time.Since(start)
		}
		for i, want := range []time.Duration{2000, 1000, 500, 250, 125, 100, 100} {
			if got := ends(); got < want*time.Millisecond || got > want*time.Millisecond+2*patience {
				t.Errorf("end %d came after %s, want %d ms", i, got, want)
			}
		}
		time.Sleep(2 * calm)
		if got := ends(); got < 400*time.Millisecond || got > 500*time.Millisecond {
			t.Errorf("after some calm an end came after %s, want 400 ms", got)
		}
		time.Sleep(time.Hour)
		if got := ends(); got < longestStall {
			t.Errorf("after long calm an end came after %s", got)
		}
	})
}

// Whatever is asked of it, in whatever order, the budget is never exceeded, and
// all comes back.
func TestBudgetRandomly(t *testing.T) {
	const size, workers, rounds = 1000, 16, 300
	b := NewBudget(size)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(w)))
			for range rounds {
				l := b.lease(nobody)
				left := 1 + rnd.Int64N(size/2)
				for left > 0 {
					n := 1 + rnd.Int64N(left)
					ctx, cancel := context.WithCancel(t.Context())
					if rnd.IntN(4) == 0 {
						cancel()
					}
					if err := l.Grow(ctx, n); err != nil && ctx.Err() == nil {
						t.Error(err)
					}
					cancel()
					left -= n
					if used := b.Used(); used > size || used < 0 {
						t.Errorf("used %d of %d", used, size)
					}
				}
				l.Shrink(l.Held())
			}
		})
	}
	wg.Wait()
	if b.Used() != 0 || b.Waiting() != 0 || b.mu.lane != nil || b.mu.leases.Len() != 0 {
		t.Errorf("used %d, waiting %d, lane %v, leases %d; want none", b.Used(), b.Waiting(), b.mu.lane, b.mu.leases.Len())
	}
}
