package door

import (
	"container/list"
	"context"
	"sync/atomic"
	"time"
)

// Lease is what one connection holds of a Budget. Its methods belong to the
// session's goroutine.
type Lease struct {
	b *Budget
	// end ends the connection; it is called from other goroutines.
	end func()
	// stoodSince is when the session began to wait for its client, in ns; 0: it
	// does not.
	stoodSince atomic.Int64
	// own is held, as the session's goroutine knows it without the lock.
	own int64

	// Guarded by b.mu.
	held  int64
	ended bool
	place *list.Element // in b.mu.leases; nil: holds nothing
}

func (b *Budget) lease(end func()) *Lease { return &Lease{b: b, end: end} }

// Grow takes n more bytes, and waits for them as long as the context lives.
func (l *Lease) Grow(ctx context.Context, n int64) error {
	if n <= 0 {
		return nil
	}
	if err := l.b.acquire(ctx, l, n); err != nil {
		return err
	}
	l.own += n
	return nil
}

// TryGrow takes n more bytes if they are there and no one waits.
func (l *Lease) TryGrow(n int64) bool {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	if !l.b.tryLocked(l, n) {
		return false
	}
	l.own += n
	return true
}

// Shrink gives back n bytes. Who gives back the last leaves the fast lane.
func (l *Lease) Shrink(n int64) {
	if n <= 0 {
		return
	}
	b := l.b
	l.own -= n
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mu.used -= n
	l.held -= n
	if l.held == 0 {
		b.mu.leases.Remove(l.place)
		l.place = nil
		if b.mu.lane == l {
			b.mu.lane = nil
		}
	}
	b.pumpLocked()
}

// Held is the number of bytes that the lease holds.
func (l *Lease) Held() int64 { return l.own }

// stand and walk enclose a call that waits for the client. A lease that holds
// nothing is in nobody's way.
func (l *Lease) stand() {
	if l.own > 0 {
		l.stoodSince.Store(time.Now().UnixNano())
	}
}

func (l *Lease) walk() {
	if l.own > 0 {
		l.stoodSince.Store(0)
	}
}

func (l *Lease) stalledBefore(t time.Time) bool {
	since := l.stoodSince.Load()
	return since != 0 && since < t.UnixNano()
}
