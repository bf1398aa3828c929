package tabimport

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cellardb/cellar/store"
)

// lanes write batches, each in a goroutine of its own. Rows of one key take the
// same lane, so that they keep their order.
type lanes struct {
	im      *Import
	queues  []chan *batch
	filling []*batch
	since   []int64 // number of the record with which each began to fill
	free    chan *batch
	tracker *tracker
	running sync.WaitGroup
	ctx     context.Context // ends when one has failed
	fail    context.CancelCauseFunc
}

// laneQueue is how many batches wait for a lane.
const laneQueue = 2

func (im *Import) startLanes(ctx context.Context) *lanes {
	n := im.o.Lanes
	l := &lanes{
		im: im, queues: make([]chan *batch, n), filling: make([]*batch, n), since: make([]int64, n),
		free: make(chan *batch, n*(laneQueue+2)), tracker: newTracker(n),
	}
	l.ctx, l.fail = context.WithCancelCause(ctx)
	for i := range l.queues {
		l.queues[i] = make(chan *batch, laneQueue)
		l.running.Go(func() { l.run(i) })
	}
	return l
}

// pick gives the batch for a row with this key, and its lane.
func (l *lanes) pick(key []byte) (lane int, b *batch) {
	lane = int(hash(key) % uint64(len(l.queues)))
	if l.filling[lane] == nil {
		l.filling[lane] = l.fresh()
	}
	return lane, l.filling[lane]
}

// added says that a row was added to the batch of a lane; at is the place
// before its record. It waits where the lane has enough to do.
func (l *lanes) added(lane int, from origin, at mark) error {
	b := l.filling[lane]
	if len(b.from) == 0 {
		l.since[lane] = at.seq
		l.tracker.begin(lane, at)
	}
	if from.raw != nil {
		from.raw = b.keep(from.raw)
	}
	b.note(from)
	l.im.progress.rows.Add(1)
	if len(b.rows) >= l.im.o.BatchRows || b.size >= batchBytes {
		return l.send(lane)
	}
	return nil
}

// hash is FNV-1a.
func hash(key []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range key {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

func (l *lanes) fresh() *batch {
	select {
	case b := <-l.free:
		return b
	default:
		return &batch{}
	}
}

// send hands a lane what it has to write, and waits until it has room for it.
func (l *lanes) send(lane int) error {
	b := l.filling[lane]
	if b == nil || len(b.rows) == 0 {
		return nil
	}
	select {
	case l.queues[lane] <- b:
		l.filling[lane] = nil
		return nil
	case <-l.ctx.Done():
		return context.Cause(l.ctx)
	}
}

// sendOld sends the batches that began to fill before a record: a lane that gets
// few rows must not hold the others' checkpoint up.
func (l *lanes) sendOld(seq int64) error {
	for i := range l.filling {
		if l.filling[i] != nil && l.since[i] < seq {
			if err := l.send(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// settle sends everything and waits until it is written.
func (l *lanes) settle() error {
	if l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	for i := range l.filling {
		if err := l.send(i); err != nil {
			return err
		}
	}
	for !l.tracker.idle() {
		select {
		case <-l.tracker.finished:
		case <-l.ctx.Done():
			return context.Cause(l.ctx)
		}
	}
	return nil // nothing is unfinished, so that no lane has failed
}

// stop ends the lanes and waits for them; what is still to be written is not.
func (l *lanes) stop() {
	l.fail(context.Canceled)
	l.running.Wait()
}

// run writes the batches of a lane.
func (l *lanes) run(i int) {
	lane := l.im.target.Lane(l.im.o.Table)
	defer func() {
		if err := lane.Close(); err != nil {
			l.im.o.Logger.Warn("a lane was not closed", "error", err)
		}
	}()
	for {
		select {
		case b := <-l.queues[i]:
			refused, err := l.write(lane, b)
			if err != nil {
				l.fail(err)
				return
			}
			l.tracker.finish(i, refused)
			b.reset()
			select {
			case l.free <- b:
			default:
			}
		case <-l.ctx.Done():
			return
		}
	}
}

// write stores a batch, again and again while there is hope. It answers what was
// refused.
func (l *lanes) write(lane Lane, b *batch) (refused []origin, err error) {
	patience := l.im.o.Patience
	var failed time.Time // when it failed first; zero: it did not
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := lane.Write(l.ctx, b.rows)
		var some *store.BatchError
		if errors.As(err, &some) {
			if err = l.sort(b, some); err == nil {
				return l.refuse(b, some)
			}
		}
		switch {
		case err == nil:
			return nil, nil
		case !passes(err) || l.ctx.Err() != nil:
			return nil, err
		}
		now := l.im.o.clock()
		if failed.IsZero() {
			failed = now
		}
		left := patience - now.Sub(failed)
		if left <= 0 {
			return nil, fmt.Errorf("tried again for %v: %w", patience, err)
		}
		pause = min(pause, left) // with a last attempt at the end
		l.im.o.Logger.Warn("a batch is tried again", "error", err, "after", pause)
		l.im.progress.waiting.Add(1)
		slept := l.im.o.sleep(l.ctx, pause)
		l.im.progress.waiting.Add(-1)
		if slept != nil {
			return nil, context.Cause(l.ctx)
		}
	}
}

// Pauses between attempts.
const (
	firstPause   = 50 * time.Millisecond
	longestPause = 5 * time.Second
)

// passes says whether the same rows may be written a while later.
func passes(err error) bool {
	return errors.Is(err, store.ErrBusy) || errors.Is(err, store.ErrDiskFull) || errors.Is(err, ErrLost)
}

// sort answers an error that is not of the rows it was reported for: one that may
// pass, or one that all rows would meet.
func (l *lanes) sort(b *batch, some *store.BatchError) error {
	for _, f := range some.Failed {
		if f.Index < 0 || f.Index >= len(b.from) || wholesale(f.Err) || passes(f.Err) {
			return f.Err
		}
	}
	return nil
}

// refuse reports rows that the target did not take.
func (l *lanes) refuse(b *batch, some *store.BatchError) (refused []origin, err error) {
	for _, f := range some.Failed {
		from := b.from[f.Index]
		refused = append(refused, from)
		l.im.report(Bad{l.im.o.Files[from.file], from.line, from.lastLine, "refused: " + f.Err.Error()})
	}
	l.im.progress.rows.Add(int64(-len(refused)))
	if l.im.tooManyBad() {
		return nil, l.im.errTooMany()
	}
	return refused, nil
}

// wholesale says whether an error is of the table and not of the row.
func wholesale(err error) bool {
	for _, e := range []error{store.ErrNoSuchFamily, store.ErrTableNotFound, store.ErrTableDisabled, store.ErrReadOnly, store.ErrClosed, store.ErrCorrupt, store.ErrUnsupported} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
