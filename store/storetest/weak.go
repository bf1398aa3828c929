package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// ErrStopped is the error of a call during which a weak engine stopped: what was
// done of it is not known.
var ErrStopped = errors.New("the engine stopped during the call: what was done is not known")

// WeakOptions says which weaknesses an engine shows, and how often. Probabilities
// are from 0 to 1; the zero value of each switches its weakness off.
type WeakOptions struct {
	// Seed fixes what is left to chance. Calls that are made one after the other
	// go the same way each time.
	Seed uint64
	// Stop is the probability, before each row of a write and after the last
	// one, that the call ends there with ErrStopped, as in a crash.
	Stop float64
	// StayDown makes a stop last: every call answers ErrStopped until Restart.
	StayDown bool
	// Fail is the probability that a mutation is refused with store.ErrBusy, in
	// a BatchError; that a checked one or a DeleteRows is.
	Fail float64
	// Twice is the probability that a mutation which bears it is applied a
	// second time before it is acknowledged, as by a client that did not see
	// the first answer. Those that bear it have explicit timestamps only, or a
	// nonce.
	Twice float64
	// Reopen is the probability, before each row of a scan without a filter,
	// that the scanner is closed and opened anew behind the last row.
	Reopen float64
	// Late is the probability that a call answers LateBy after it was done.
	Late   float64
	LateBy time.Duration
	// Collide is how many mutations in a row get the same "now", in ms, without
	// any shift: of a put and a delete the delete wins, whichever was first.
	// The weak engine then gives the timestamps, by Clock; nil is the machine's.
	Collide int
	Clock   func() int64
	// MarkRows makes DeleteRows put markers at "now" into each row, so that
	// older cells which are written later are masked.
	MarkRows bool
	// Scribble overwrites the bytes of a scanner's result at the next call.
	Scribble bool
}

// Weaknesses switches all of them on, each at a rate that lets a test of some
// hundred writes meet every one. Calls are late by little.
func Weaknesses(seed uint64) WeakOptions {
	return WeakOptions{
		Seed: seed, Stop: 0.02, Fail: 0.03, Twice: 0.2, Reopen: 0.3,
		Late: 0.1, LateBy: 100 * time.Microsecond, Collide: 4, MarkRows: true, Scribble: true,
	}
}

// WeakCounts says how often each weakness was shown.
type WeakCounts struct {
	Stopped, Failed, Twice, Reopened, Late, Collided, Marked, Scribbled int
}

// WeakStore is an engine that gives no more than the contract promises.
type WeakStore struct {
	inner store.Store
	opts  WeakOptions
	mu    struct {
		sync.Mutex
		rng    *rand.Rand
		counts WeakCounts
		down   bool
		now    int64 // that mutations get until left is 0
		left   int
	}
}

var _ store.Store = (*WeakStore)(nil)

// Weak wraps an engine so that what is built on it can rely on nothing but the
// contract:
//
//   - Apply takes a batch apart into rows and may stop between any two; the
//     caller does not learn what was done.
//   - Single mutations are refused for no reason.
//   - A write may be applied twice.
//   - Scanners are opened anew between rows: each row is of another moment.
//   - "Now" is the same for several mutations, and a put after a delete may be
//     lost.
//   - DeleteRows may end half-way, and may mask what is written later at older
//     timestamps.
//   - Answers come late, so that others run between a write and its answer.
//   - Bytes of results do not outlive the next call.
//
// It claims no capability and is no Snapshotter, whatever the inner engine is.
// Administration, Regions and Partitions are the inner engine's. Closing it
// closes the inner engine.
func Weak(inner store.Store, opts WeakOptions) *WeakStore {
	if opts.Clock == nil {
		opts.Clock = func() int64 { return time.Now().UnixMilli() }
	}
	w := &WeakStore{inner: inner, opts: opts}
	w.mu.rng = rand.New(rand.NewPCG(opts.Seed, 0x7765616b))
	return w
}

// Counts says how often each weakness was shown so far.
func (w *WeakStore) Counts() WeakCounts {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mu.counts
}

// Restart brings an engine that stopped with StayDown up again.
func (w *WeakStore) Restart() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.down = false
}

// chance decides whether a weakness shows, and counts it.
func (w *WeakStore) chance(p float64, count func(*WeakCounts)) bool {
	if p <= 0 {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.rng.Float64() >= p {
		return false
	}
	count(&w.mu.counts)
	return true
}

// up refuses calls of an engine that stays down.
func (w *WeakStore) up() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.down {
		return ErrStopped
	}
	return nil
}

// stops decides whether the engine stops here.
func (w *WeakStore) stops() bool {
	if !w.chance(w.opts.Stop, func(c *WeakCounts) { c.Stopped++ }) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.down = w.opts.StayDown
	return true
}

// fails decides whether a write is refused by chance. Where it would be refused
// anyhow because of its table, that is the answer.
func (w *WeakStore) fails(ctx context.Context, table string) error {
	if !w.chance(w.opts.Fail, func(c *WeakCounts) { c.Failed++ }) {
		return nil
	}
	info, err := w.inner.Describe(ctx, table)
	switch {
	case err != nil:
		return err
	case !info.Enabled:
		return fmt.Errorf("table %q: %w", table, store.ErrTableDisabled)
	case info.Schema.ReadOnly:
		return fmt.Errorf("table %q: %w", table, store.ErrReadOnly)
	}
	return fmt.Errorf("weak engine: refused by chance: %w", store.ErrBusy)
}

// late holds an answer back. A call whose context ends meanwhile was made all
// the same.
func (w *WeakStore) late(ctx context.Context) error {
	if !w.chance(w.opts.Late, func(c *WeakCounts) { c.Late++ }) {
		return nil
	}
	timer := time.NewTimer(w.opts.LateBy)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// date gives the edits at "now" a timestamp that others have, too. Deletes of
// the newest version keep Latest, since the engine must find it; increments and
// appends take none.
func (w *WeakStore) date(m *cell.Mutation) *cell.Mutation {
	if w.opts.Collide == 0 {
		return m
	}
	dated := *m
	dated.Edits = append([]cell.Edit(nil), m.Edits...)
	now, used := w.collidingNow(), false
	for i := range dated.Edits {
		e := &dated.Edits[i]
		if e.Timestamp == cell.Latest && e.Op != cell.OpDelete && !e.Op.ReadsFirst() {
			e.Timestamp, used = now, true
		}
	}
	if used {
		w.mu.Lock()
		w.mu.counts.Collided++
		w.mu.Unlock()
	}
	return &dated
}

func (w *WeakStore) collidingNow() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.left == 0 {
		w.mu.now, w.mu.left = max(w.opts.Clock(), w.mu.now), w.opts.Collide
	}
	w.mu.left--
	return w.mu.now
}

// bearsTwice says whether a mutation may be applied a second time without harm:
// it carries a nonce that the engine remembers, or every edit says what it means
// by an explicit timestamp.
func bearsTwice(m *cell.Mutation) bool {
	reads, latest := false, false
	for i := range m.Edits {
		reads = reads || m.Edits[i].Op.ReadsFirst()
		latest = latest || m.Edits[i].Timestamp == cell.Latest
	}
	if reads {
		return m.Nonce != cell.Nonce{}
	}
	return !latest
}

// Capabilities claims nothing.
func (w *WeakStore) Capabilities() store.Capabilities { return store.Capabilities{} }

// Close closes the inner engine.
func (w *WeakStore) Close() error { return w.inner.Close() }
