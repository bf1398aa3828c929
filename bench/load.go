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

// loadTable does one repetition of the load, into an empty table.
func (t *thriftRun) loadTable(ctx context.Context, table string) error {
	g := records{seed: t.Seed, epoch: t.clock().UnixNano()}
	t.ledger = newLedger(g, table, t.Records)
	phase := t.progress.Begin(fmt.Sprintf("load, %s, %s", t.Mode, t.Durability), t.Records)
	defer phase.End()

	connections := t.Producers
	if t.Mode == ModeShared {
		connections = 1
	}
	clients, done, err := t.connectAll(ctx, connections)
	if err != nil {
		return err
	}
	defer done()
	var turn sync.Mutex
	var next atomic.Int64
	recs := make([]*recorder, t.Producers)
	t.load.begin()
	err = together(clients, t.Producers, func(i int) error {
		recs[i] = t.load.recorder()
		w := &loader{run: t, c: clients[i%connections], rec: recs[i], next: &next, phase: phase}
		if t.Mode == ModeShared {
			w.turn = &turn
		}
		return w.work(ctx)
	})
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	t.load.end(recs)
	return nil
}

// loader is one of the goroutines that load. It keeps up to Pipeline batches
// under way; with a shared connection one, and holds the turn meanwhile.
type loader struct {
	run   *thriftRun
	c     *thriftclient.Client
	turn  *sync.Mutex // nil: the connection is its own
	rec   *recorder
	next  *atomic.Int64 // first record that nobody has taken
	phase *Phase
	key   []byte

	underWay []*loaderBatch // oldest first
	free     []*loaderBatch
}

// loaderBatch is a batch on its way.
type loaderBatch struct {
	*thriftclient.Batch
	sent     time.Time
	attempts int
}

func (w *loader) work(ctx context.Context) error {
	for more := true; ; {
		for more && len(w.underWay) < w.run.Pipeline {
			var b *loaderBatch
			if b, more = w.prepare(); more {
				if err := w.send(b); err != nil {
					return err
				}
			}
		}
		if len(w.underWay) == 0 {
			return nil
		}
		if err := w.receive(ctx); err != nil {
			return err
		}
	}
}

// prepare takes the next records and encodes them; false: all are taken.
func (w *loader) prepare() (*loaderBatch, bool) {
	t := w.run
	to := int(w.next.Add(int64(t.Batch)))
	from := to - t.Batch
	if from >= t.Records {
		return nil, false
	}
	var b *loaderBatch
	if n := len(w.free); n > 0 {
		b, w.free = w.free[n-1], w.free[:n-1]
	} else {
		b = &loaderBatch{Batch: thriftclient.NewBatch(t.client())}
	}
	b.attempts = 0
	b.Begin(t.ledger.table, t.Durability.Synced(), int32(from/t.Batch))
	for i := from; i < min(to, t.Records); i++ {
		w.record(b.Batch, i)
	}
	b.End()
	return b, true
}

// record encodes a record and notes its checksum.
func (w *loader) record(b *thriftclient.Batch, i int) {
	l := w.run.ledger
	w.key = l.key(w.key[:0], i)
	b.Row(w.key)
	s := l.begin(w.key)
	for c, column := range recordColumns {
		v := b.PutN(column, l.valueLen(i, c))
		l.value(v, i, c)
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
		w.free = append(w.free, b)
		return nil
	}
	var refused *thriftclient.Exception
	if !errors.As(err, &refused) {
		return err
	}
	w.rec.errors++
	if b.attempts >= loadAttempts {
		return fmt.Errorf("after %d attempts: %w", b.attempts, err)
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(loadBackoff << b.attempts):
	}
	return w.send(b)
}
