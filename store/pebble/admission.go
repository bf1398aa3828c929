package pebble

import (
	"container/heap"
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// admission paces writers below what the disk sustains. Each batch of writes
// passes through it before it does anything else.
//
// While the pressure is low nothing waits. Above slowPressure there is a rate, in bytes a
// second, that steer moves by small steps, so that the pressure settles at
// steadyPressure: a load that is larger than what compactions sustain is slowed
// smoothly to what they do, and never runs into the stop of Pebble's own, which
// is a cliff. The brake comes on top: it follows the memtables at once, since
// they fill within a fraction of a second.
//
// The line is fair by bytes, as if all who wait were served at once, each with the
// same share: its clock counts the bytes that each of them has had. A call has
// a tag, the clock at its arrival plus its bytes, and the lowest goes first. So
// each of n writers that come back again and again gets an n-th of the rate,
// whatever the size of its batches, a single put does not wait behind a hundred
// batches of 300, and the largest batch is passed by no more than about its own
// number of bytes from each of the others.
type admission struct {
	clock func() time.Time

	// free: nobody waits and nothing is limited, so that a write need not take
	// the lock.
	free    atomic.Bool
	passed  atomic.Int64 // bytes since the last steer
	inside  atomic.Int64 // bytes of writes that were admitted and have not left
	waiting atomic.Int64 // the line's length

	mu struct {
		sync.Mutex
		closed bool
		rate   float64 // bytes a second; +Inf: none waits
		brake  float64 // in (0,1]: the part of the rate that memtables allow
		// credit is what may pass now, in bytes. A batch passes while it is
		// above zero and takes it below: what is owed is waited for by the next.
		credit float64
		filled time.Time // when credit was computed
		served float64   // the line's clock
		line   waiters
		timer  *time.Timer
		armed  bool

		// room is how many bytes may be inside, so that memtables are never
		// full, however many come at once.
		room    int64
		steered time.Time
		recent  float64 // bytes a second that passed, over peakOver
		peak    float64 // the most of that, lately
		smooth  float64 // pressure, smoothed
		last    float64 // smooth, at the last steer

		waits  int64
		waited time.Duration
	}
}

// Constants of the control, tried with a model of level 0 (admission_test.go)
// and then on a disk.
const (
	// steadyGain is how much of the rate is given up for each unit that the
	// pressure is above where it should be, and quickGain for each that it
	// has risen.
	steadyGain = 0.1 // a second
	quickGain  = 2.0
	// smoothFor levels the steps by which compactions lower the pressure.
	smoothFor = 2 * time.Second
	// lastResort is the pressure of level 0 and garbage from which on the brake
	// is put on for them too, where the rate was not moved in time. They are no
	// wall, as full memtables are: one compaction may take many sublevels at
	// once, and late. So it takes half of the rate and no more.
	lastResort = 0.85
	fullStop   = 0.02
	half       = 0.5
	// leastRate is never gone below: writers are slowed, and not stopped.
	leastRate = 1 << 20
	// most is what a rate may be above what comes: one that binds nobody must
	// not run away, since it would be of no use when it has to.
	most = 1.5
	// What passes is measured over peakOver, and its peak is forgotten over
	// peakFor.
	peakOver = 250 * time.Millisecond
	peakFor  = 20 * time.Second
	// burst is how much may pass at once after a pause, as time at the rate.
	burst = 20 * time.Millisecond
	// batchOverhead and editOverhead are what a batch and a cell take in the log
	// and in the memtable beyond their bytes.
	batchOverhead = 64
	editOverhead  = 32
)

func newAdmission(now func() time.Time) *admission {
	a := &admission{clock: now}
	a.mu.rate, a.mu.brake, a.mu.room = math.Inf(1), 1, math.MaxInt64
	a.mu.filled, a.mu.steered = now(), now()
	return a
}

// waiter is a call in the line. ready is closed when it may pass, or when the
// store is being closed.
type waiter struct {
	cost   int64
	tag    float64
	seq    int64
	ready  chan struct{}
	passed bool
	place  int // in the heap; -1: not in it
}

// waiters is a heap by tag; equal tags go by their arrival.
type waiters struct {
	list []*waiter
	seq  int64
}

func (w *waiters) Len() int { return len(w.list) }
func (w *waiters) Less(i, j int) bool {
	if w.list[i].tag != w.list[j].tag {
		return w.list[i].tag < w.list[j].tag
	}
	return w.list[i].seq < w.list[j].seq
}
func (w *waiters) Swap(i, j int) {
	w.list[i], w.list[j] = w.list[j], w.list[i]
	w.list[i].place, w.list[j].place = i, j
}
func (w *waiters) Push(x any) {
	one := x.(*waiter)
	one.place = len(w.list)
	w.list = append(w.list, one)
}
func (w *waiters) Pop() any {
	last := w.list[len(w.list)-1]
	w.list[len(w.list)-1] = nil
	w.list = w.list[:len(w.list)-1]
	last.place = -1
	return last
}

// admit waits until cost bytes may be written; the caller says leave when they
// are. Errors: the context's, and store.ErrClosed; then there is nothing to leave.
func (a *admission) admit(ctx context.Context, cost int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if a.free.Load() {
		a.passed.Add(cost)
		a.inside.Add(cost)
		return nil
	}
	a.mu.Lock()
	if a.mu.closed {
		a.mu.Unlock()
		return store.ErrClosed
	}
	a.fillLocked()
	if a.mu.line.Len() == 0 && a.mayPassLocked() {
		a.passLocked(cost)
		a.mu.Unlock()
		return nil
	}
	w := &waiter{cost: cost, tag: a.mu.served + float64(cost), seq: a.mu.line.seq, ready: make(chan struct{})}
	a.mu.line.seq++
	heap.Push(&a.mu.line, w)
	a.waiting.Add(1)
	// Who left since this call looked did not see that it waits.
	a.pumpLocked()
	a.mu.Unlock()
	return a.wait(ctx, w)
}

func (a *admission) wait(ctx context.Context, w *waiter) error {
	began := a.clock()
	var err error
	select {
	case <-w.ready:
	case <-ctx.Done():
		err = ctx.Err()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mu.waits++
	a.mu.waited += a.clock().Sub(began)
	if w.passed {
		return nil // in spite of the context: its bytes are counted already
	}
	if w.place >= 0 {
		heap.Remove(&a.mu.line, w.place)
		a.waiting.Add(-1)
	}
	if err == nil {
		return store.ErrClosed
	}
	return fmt.Errorf("waited for the store to keep up with its writers: %w", err)
}

// limitLocked is what may pass, in bytes a second. Where there is no rate but
// the brake is on, it is a part of the most that came lately.
func (a *admission) limitLocked() float64 {
	rate := a.mu.rate
	if math.IsInf(rate, 1) {
		if a.mu.brake >= 1 {
			return rate
		}
		rate = a.mu.peak
	}
	return max(leastRate, rate*a.mu.brake)
}

// fillLocked gives the credit that time has brought.
func (a *admission) fillLocked() {
	now := a.clock()
	passed := now.Sub(a.mu.filled)
	a.mu.filled = now
	rate := a.limitLocked()
	if math.IsInf(rate, 1) {
		a.mu.credit = rate
		return
	}
	if math.IsInf(a.mu.credit, 1) {
		a.mu.credit = rate * burst.Seconds()
	}
	a.mu.credit = min(a.mu.credit+rate*passed.Seconds(), rate*burst.Seconds())
}

// mayPassLocked says whether the next one may pass. One is always let inside, or a
// batch that is larger than the memtables would wait for ever.
func (a *admission) mayPassLocked() bool {
	inside := a.inside.Load()
	return a.mu.credit > 0 && (inside <= 0 || inside < a.mu.room)
}

func (a *admission) passLocked(cost int64) {
	a.mu.credit -= float64(cost)
	a.passed.Add(cost)
	a.inside.Add(cost)
}

// leave says that cost bytes that were admitted are written, or will not be.
func (a *admission) leave(cost int64) {
	a.inside.Add(-cost)
	if a.waiting.Load() == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.mu.closed {
		a.pumpLocked()
	}
}

// pumpLocked lets the line pass as far as the credit goes.
func (a *admission) pumpLocked() {
	a.fillLocked()
	for a.mu.line.Len() > 0 && a.mayPassLocked() {
		w := heap.Pop(&a.mu.line).(*waiter)
		a.waiting.Add(-1)
		a.mu.served += float64(w.cost) / float64(a.mu.line.Len()+1)
		a.passLocked(w.cost)
		w.passed = true
		close(w.ready)
	}
	a.armLocked()
}

// armLocked sets the timer for when the first in the line may pass. Who waits for
// room is let in by leave and steer.
func (a *admission) armLocked() {
	if a.mu.line.Len() == 0 || a.mu.armed || a.mu.closed || a.mu.credit > 0 {
		return
	}
	wait := time.Duration(-a.mu.credit/a.limitLocked()*float64(time.Second)) + time.Microsecond
	a.mu.armed = true
	if a.mu.timer == nil {
		a.mu.timer = time.AfterFunc(wait, a.pump)
		return
	}
	a.mu.timer.Reset(wait)
}

func (a *admission) pump() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mu.armed = false
	if !a.mu.closed {
		a.pumpLocked()
	}
}

// steer moves the rate by the pressure of level 0 and garbage, and the brake by
// that of the memtables, which have room for so many bytes.
func (a *admission) steer(slow, memtables float64, room int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.clock()
	dt := now.Sub(a.mu.steered).Seconds()
	if dt <= 0 || a.mu.closed {
		return
	}
	a.mu.steered = now
	weight := 1 - math.Exp(-dt/smoothFor.Seconds())
	came := float64(a.passed.Swap(0)) / dt
	a.mu.recent += (came - a.mu.recent) * (1 - math.Exp(-dt/peakOver.Seconds()))
	a.mu.peak = max(a.mu.recent, a.mu.peak*math.Exp(-dt/peakFor.Seconds()))
	a.mu.smooth += (slow - a.mu.smooth) * weight
	rise := a.mu.smooth - a.mu.last
	a.mu.last = a.mu.smooth
	a.mu.rate = a.nextRateLocked(dt, rise)
	a.mu.brake = brakeOf(memtables, slowPressure, fullStop) * brakeOf(slow, lastResort, half)
	a.mu.room = room
	a.stopTimerLocked()
	a.pumpLocked()
	a.free.Store(math.IsInf(a.limitLocked(), 1) && a.mu.line.Len() == 0)
}

// nextRateLocked is the rate for the next dt seconds.
func (a *admission) nextRateLocked(dt, rise float64) float64 {
	p, top := a.mu.smooth, max(leastRate, most*a.mu.peak)
	rate := a.mu.rate
	if math.IsInf(rate, 1) {
		if p < slowPressure {
			return rate
		}
		return top
	}
	step := steadyGain*(steadyPressure-p)*dt - quickGain*rise
	rate *= math.Exp(step)
	if rate >= top && p < slowPressure && a.mu.line.Len() == 0 {
		return math.Inf(1)
	}
	return max(leastRate, min(rate, top))
}

// brakeOf is the part of the rate that is left at a pressure: all of it up to
// from, least at 1.
func brakeOf(pressure, from, least float64) float64 {
	over := clamp((pressure - from) / (1 - from))
	return max(1-over*(1-least), least)
}

func (a *admission) stopTimerLocked() {
	if a.mu.timer != nil && a.mu.armed {
		a.mu.timer.Stop()
		a.mu.armed = false
	}
}

// close lets everybody go: who waits is answered with store.ErrClosed.
func (a *admission) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mu.closed {
		return
	}
	a.mu.closed = true
	a.free.Store(false)
	a.stopTimerLocked()
	for a.mu.line.Len() > 0 {
		close(heap.Pop(&a.mu.line).(*waiter).ready)
	}
	a.waiting.Store(0)
}

// pacing is the admission in figures.
type pacing struct {
	rate    float64 // bytes a second; 0: not limited
	waiting int
	waits   int64
	waited  time.Duration
}

func (a *admission) figures() pacing {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := pacing{waiting: a.mu.line.Len(), waits: a.mu.waits, waited: a.mu.waited}
	if r := a.limitLocked(); !math.IsInf(r, 1) {
		p.rate = r
	}
	return p
}

// costOf is how many bytes of log and memtable a batch takes, about.
func costOf(batch []cell.Mutation) int64 {
	n := batchOverhead
	for i := range batch {
		m := &batch[i]
		for k := range m.Edits {
			e := &m.Edits[k]
			n += editOverhead + len(m.Row) + len(e.Qualifier) + len(e.Value) + len(e.Tags)
		}
	}
	return int64(n)
}

// admitWrite is the head of every write: refused while the disk is full, held up
// while the store is under pressure. The caller gives the cost to
// admission.leave in the end.
func (s *Store) admitWrite(ctx context.Context, batch []cell.Mutation) (cost int64, err error) {
	if err := s.disk.refuse(); err != nil {
		return 0, err
	}
	cost = costOf(batch)
	return cost, s.admission.admit(ctx, cost)
}
