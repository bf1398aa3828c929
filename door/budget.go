package door

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"
)

// ErrOverBudget is the answer to a claim that the budget could not fulfil if it
// were all free. It is a kind of ErrTooLarge.
var ErrOverBudget = fmt.Errorf("more than all memory in flight: %w", ErrTooLarge)

// Times of a Budget: a claim that waits looks, every patience, for leases whose
// clients have neither sent nor taken a byte for a while. Usually that is
// longestStall. Each time it has to end one, the while is halved, since such
// clients seldom come alone; after calm without, it doubles again.
const (
	patience      = 50 * time.Millisecond
	longestStall  = 2 * time.Second
	shortestStall = 100 * time.Millisecond
	calm          = 10 * time.Second
)

// Budget is the memory, in bytes, for requests that are arriving or in work and
// for replies, over all doors. Who asks for more than there is waits in line.
//
// Requests take their memory step by step, since what they announce is not to be
// believed. Taking step by step can deadlock: each holds a part, none can go on.
// Therefore one half of the budget is the fast lane: leases take from the common
// half, and where that is spent, one of them at a time, first come, may take
// from the lane as well until it has given everything back. Invariants:
//
//   - used <= size, always;
//   - what the leases outside the lane hold together is at most size - lane, so
//     the one in it gets to lane bytes at least, gets done, and lets the next
//     one in. A claim of up to half of the budget never waits for ever.
//   - no one in the line is passed by a later one, but by the lease in the lane,
//     which all others wait for.
//
// A lease that stops for want of its client (half a request and silence, a reply
// that is not read) holds the others up. While no one waits, it may. When
// somebody waits, those that stood still for 2 s, or less when there are many of
// them, are ended, the longest first, until there is room.
type Budget struct {
	size, common int64
	mu           struct {
		sync.Mutex
		used   int64
		lane   *Lease // that is in the fast lane; nil: it is free
		line   list.List
		leases list.List // of *Lease that hold something
		// stall is how long a client may stand still now; lastEnd is when it was
		// halved or doubled last.
		stall   time.Duration
		lastEnd time.Time
	}
}

// NewBudget makes a budget of size bytes; fewer than 1 is 1.
func NewBudget(size int64) *Budget {
	size = max(size, 1)
	b := &Budget{size: size, common: size - size/2}
	b.mu.stall = longestStall
	return b
}

// claim is one waiter. ready is closed when its bytes are its own; granted says
// so under the lock.
type claim struct {
	lease   *Lease // nil: a plain Acquire
	n       int64
	ready   chan struct{}
	granted bool
}

// Size is the whole budget in bytes.
func (b *Budget) Size() int64 { return b.size }

// Used is the number of bytes that are taken now.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mu.used
}

// Waiting is the number of claims in the line now.
func (b *Budget) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mu.line.Len()
}

// Acquire takes n bytes, all at once, and waits for them as long as the context
// lives. The caller must not hold bytes of the budget while it waits: that is
// what leases are for. It gives them back with Release.
func (b *Budget) Acquire(ctx context.Context, n int64) error {
	return b.acquire(ctx, nil, n)
}

// TryAcquire takes n bytes if they are there and no one waits.
func (b *Budget) TryAcquire(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tryLocked(nil, n)
}

// Release gives back n bytes of Acquire or TryAcquire.
func (b *Budget) Release(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mu.used -= n
	b.pumpLocked()
}

// fitsLocked says whether n bytes are there for the lease, and lets it into the
// fast lane if it needs to be.
func (b *Budget) fitsLocked(l *Lease, n int64) bool {
	switch {
	case b.mu.used+n <= b.common:
		return true
	case b.mu.used+n > b.size:
		return false
	case l == nil || b.mu.lane == l:
		return true
	case b.mu.lane == nil:
		b.mu.lane = l
		return true
	}
	return false
}

// tryLocked takes n bytes without waiting. Only the lease in the fast lane may
// pass those who wait.
func (b *Budget) tryLocked(l *Lease, n int64) bool {
	inLane := l != nil && b.mu.lane == l
	if b.mu.line.Len() > 0 && !inLane || !b.fitsLocked(l, n) {
		return false
	}
	b.takeLocked(l, n)
	return true
}

func (b *Budget) takeLocked(l *Lease, n int64) {
	b.mu.used += n
	if l == nil {
		return
	}
	if l.held == 0 {
		l.place = b.mu.leases.PushBack(l)
	}
	l.held += n
}

// pumpLocked serves the line from its front, as far as bytes go.
func (b *Budget) pumpLocked() {
	for e := b.mu.line.Front(); e != nil; e = b.mu.line.Front() {
		c := e.Value.(*claim)
		if !b.fitsLocked(c.lease, c.n) {
			return
		}
		b.takeLocked(c.lease, c.n)
		b.mu.line.Remove(e)
		c.granted = true
		close(c.ready)
	}
}

func (b *Budget) acquire(ctx context.Context, l *Lease, n int64) error {
	b.mu.Lock()
	held := int64(0)
	if l != nil {
		held = l.held
	}
	if n > b.size-held {
		b.mu.Unlock()
		return fmt.Errorf("%d bytes of %d: %w", held+n, b.size, ErrOverBudget)
	}
	if b.tryLocked(l, n) {
		b.mu.Unlock()
		return nil
	}
	c := &claim{lease: l, n: n, ready: make(chan struct{})}
	var place *list.Element
	if l != nil && b.mu.lane == l {
		place = b.mu.line.PushFront(c)
	} else {
		place = b.mu.line.PushBack(c)
	}
	b.mu.Unlock()
	return b.wait(ctx, c, place)
}

func (b *Budget) wait(ctx context.Context, c *claim, place *list.Element) error {
	tick := time.NewTicker(patience)
	defer tick.Stop()
	for {
		select {
		case <-c.ready:
			return nil
		case <-tick.C:
			b.endStalled(time.Now(), c)
		case <-ctx.Done():
			b.mu.Lock()
			defer b.mu.Unlock()
			if c.granted {
				return nil
			}
			b.mu.line.Remove(place)
			b.pumpLocked() // the one behind may want less
			return fmt.Errorf("waited for %d bytes of memory in flight: %w", c.n, context.Cause(ctx))
		}
	}
}

// endStalled ends leases whose clients stand still, the longest first, until
// what they hold makes room for the claim and those before it in the line. Their
// bytes come back when their sessions notice.
func (b *Budget) endStalled(now time.Time, c *claim) {
	b.mu.Lock()
	b.calmLocked(now)
	missing := b.mu.used + b.upToLocked(c) - b.common - b.leavingLocked()
	var victims []*Lease
	for missing > 0 {
		var worst *Lease
		for e := b.mu.leases.Front(); e != nil; e = e.Next() {
			l := e.Value.(*Lease)
			if l == c.lease || l.ended || !l.stalledBefore(now.Add(-b.mu.stall)) {
				continue
			}
			if worst == nil || l.stoodSince.Load() < worst.stoodSince.Load() {
				worst = l
			}
		}
		if worst == nil {
			break
		}
		worst.ended = true
		missing -= worst.held
		victims = append(victims, worst)
	}
	if len(victims) > 0 {
		b.mu.stall, b.mu.lastEnd = max(b.mu.stall/2, shortestStall), now
	}
	b.mu.Unlock()
	for _, l := range victims {
		l.end()
	}
}

// calmLocked gives clients more time again when none had to be ended for a while.
func (b *Budget) calmLocked(now time.Time) {
	for b.mu.stall < longestStall && now.Sub(b.mu.lastEnd) >= calm {
		b.mu.stall = min(2*b.mu.stall, longestStall)
		b.mu.lastEnd = b.mu.lastEnd.Add(calm)
	}
}

// upToLocked is what the line asks for up to and with a claim.
func (b *Budget) upToLocked(c *claim) (n int64) {
	for e := b.mu.line.Front(); e != nil; e = e.Next() {
		one := e.Value.(*claim)
		n += one.n
		if one == c {
			break
		}
	}
	return n
}

// leavingLocked is what leases hold that were ended and have not yet noticed.
func (b *Budget) leavingLocked() (n int64) {
	for e := b.mu.leases.Front(); e != nil; e = e.Next() {
		if l := e.Value.(*Lease); l.ended {
			n += l.held
		}
	}
	return n
}
