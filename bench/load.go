package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cellardb/cellar/bench/thriftclient"
)

// A batch that is answered with an exception is sent again, since the gateway's
// store may be busy, or a region on its way to another server.
const (
	loadAttempts = 6
	loadBackoff  = 50 * time.Millisecond // doubles each time
)

// loadTable does one repetition of the load.
func (t *thriftRun) loadTable(ctx context.Context, table string) error {
	last := t.Duration
	if t.lasts() {
		last = 0
	}
	return t.loadInto(ctx, &t.load, table, t.Records, last)
}

// loadInto loads an empty table, with readers beside it if there are to be any,
// until all records are there or the time is over, whichever is first; 0: there
// is no such end.
func (t *thriftRun) loadInto(ctx context.Context, m *measure, table string, all int, last time.Duration) error {
	most := all
	if most == 0 {
		most = int(min(last.Seconds()*mostPerSecond+mostPerSecond, 1<<30))
	}
	t.ledger = newLedger(records{seed: t.Seed, epoch: t.clock().UnixNano()}, table, most)
	phase := t.progress.Begin(fmt.Sprintf("load, %s, %s", t.Mode, t.Durability), all)
	defer phase.End()

	connections := t.Producers
	if t.Mode == ModeShared {
		connections = 1
	}
	clients, done, err := t.connectAll(ctx, connections+t.Readers)
	if err != nil {
		return err
	}
	defer done()
	var turn sync.Mutex
	b := newBeside(t, most)
	writers := make([]*recorder, t.Producers)
	m.begin()
	b.begin()
	pace := t.pace(m.started, last)
	next := newCounter(most, t.Batch, pace)
	err = together(clients, t.Producers+t.Readers, func(i int) error {
		if i >= t.Producers {
			return b.read(ctx, clients[connections+i-t.Producers], i-t.Producers)
		}
		defer b.writerEnds()
		writers[i] = m.recorder()
		w := &loader{run: t, c: clients[i%connections], rec: writers[i], take: next.take, pace: pace, acknowledged: b.acknowledge, phase: phase}
		if t.Mode == ModeShared {
			w.turn = &turn
		}
		return w.work(ctx)
	})
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	m.end(writers)
	t.ledger.sums = t.ledger.sums[:next.taken()]
	return b.end()
}

// mostPerSecond is how many records a second a load without a number of records
// leaves room for.
const mostPerSecond = 500000

// counter gives away numbers of records, a batch at a time, from several
// goroutines, until there are no more or the time is over.
type counter struct {
	pace  *pace
	batch int
	next  atomic.Int64
	most  int64
}

func newCounter(most, batch int, p *pace) *counter {
	return &counter{pace: p, batch: batch, most: int64(most)}
}

// take gives the numbers from <= i < to; sequence is which batch it is. False:
// there are no more. What was taken must be written.
func (c *counter) take() (b taken, ok bool) {
	for {
		from := c.next.Load()
		sequence := int(from) / c.batch
		if from >= c.most || c.pace.over(sequence) {
			return taken{}, false
		}
		to := from + int64(c.batch)
		if c.next.CompareAndSwap(from, to) {
			return taken{int(from), int(min(to, c.most)), sequence}, true
		}
	}
}

// taken is how many numbers were taken, which are the lowest.
func (c *counter) taken() int { return int(min(c.next.Load(), c.most)) }

// taken are the records from <= i < to of a batch to be written.
type taken struct{ from, to, sequence int }

// loader is one of the goroutines that load. It keeps up to Pipeline batches
// under way; with a shared connection one, and holds the turn meanwhile.
type loader struct {
	run   *thriftRun
	c     *thriftclient.Client
	turn  *sync.Mutex // nil: the connection is its own
	rec   *recorder
	phase *Phase
	key   []byte
	// take gives the records of the next batch, if there is one.
	take func() (taken, bool)
	pace *pace
	// acknowledged is told of each batch that is stored; nil: nobody is.
	acknowledged func(taken)

	next     *taken         // taken, and not sent yet; its time has not come
	underWay []*loaderBatch // oldest first
	free     []*loaderBatch
}

// loaderBatch is a batch on its way.
type loaderBatch struct {
	*thriftclient.Batch
	taken
	sent     time.Time
	attempts int
}

func (w *loader) work(ctx context.Context) error {
	for more := true; ; {
		for more && len(w.underWay) < w.run.Pipeline {
			if w.next == nil {
				next, ok := w.take()
				if more = ok; !ok {
					break
				}
				w.next = &next
			}
			if early := w.pace.early(w.next.sequence); early > 0 {
				if len(w.underWay) > 0 {
					break // replies first
				}
				if err := sleep(ctx, early); err != nil {
					return err
				}
			}
			b := w.prepare(*w.next)
			w.next = nil
			if err := w.send(b); err != nil {
				return err
			}
		}
		if len(w.underWay) == 0 {
			return ctx.Err()
		}
		if err := w.receive(ctx); err != nil {
			return err
		}
	}
}

// prepare encodes records.
func (w *loader) prepare(next taken) *loaderBatch {
	t := w.run
	var b *loaderBatch
	if n := len(w.free); n > 0 {
		b, w.free = w.free[n-1], w.free[:n-1]
	} else {
		b = &loaderBatch{Batch: thriftclient.NewBatch(t.client())}
	}
	b.attempts, b.taken = 0, next
	b.Begin(t.ledger.table, t.Durability.Synced(), int32(next.sequence))
	for i := next.from; i < next.to; i++ {
		w.record(b.Batch, i)
	}
	b.End()
	return b
}

// record encodes a record and notes its checksum.
func (w *loader) record(b *thriftclient.Batch, i int) {
	l := w.run.ledger
	g := l.at(i)
	w.key = g.key(w.key[:0], i)
	b.Row(w.key)
	s := l.begin(w.key)
	for c, column := range recordColumns {
		v := b.PutN(column, g.valueLen(i, c))
		g.value(v, i, c)
		l.column(&s, l.names[c], v)
	}
	l.sums[i] = s.sum()
}

func (w *loader) send(b *loaderBatch) error {
	if w.turn != nil {
		w.turn.Lock()
	}
	b.sent = w.run.clock()
	b.attempts++
	w.underWay = append(w.underWay, b)
	err := w.c.SendMutate(b.Batch)
	if err != nil && w.turn != nil {
		w.turn.Unlock()
	}
	return err
}

func (w *loader) receive(ctx context.Context) error {
	b := w.underWay[0]
	w.underWay = append(w.underWay[:0], w.underWay[1:]...)
	err := w.c.ReceiveMutate()
	if w.turn != nil {
		w.turn.Unlock()
	}
	if err == nil {
		w.rec.done(b.sent, b.Rows())
		w.phase.Add(b.Rows())
		if w.acknowledged != nil {
			w.acknowledged(b.taken)
		}
		w.free = append(w.free, b)
		return nil
	}
	var refused *thriftclient.Exception
	if !errors.As(err, &refused) {
		return err
	}
	w.rec.refused(refused)
	if b.attempts >= loadAttempts {
		return fmt.Errorf("after %d attempts: %w", b.attempts, err)
	}
	if err := sleep(ctx, loadBackoff<<b.attempts); err != nil {
		return err
	}
	return w.send(b)
}
