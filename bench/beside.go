package bench

import (
	"context"
	"math/bits"
	"sync/atomic"

	"github.com/cellardb/cellar/bench/thriftclient"
)

// beside are the reads beside a load: getRow of random rows of which the server
// has acknowledged that it stored them. Each must be there, as it was written.
type beside struct {
	run     *thriftRun
	batches []atomic.Bool // acknowledged
	first   chan struct{} // closed when the first is, or none will be
	seen    atomic.Bool   // one is
	highest atomic.Int64  // a record below which there are acknowledged ones
	writers atomic.Int64  // that are still at work
	asked   atomic.Int64  // reads, for their pace
	pace    *pace
	recs    []*recorder
	faults  getFaults
}

func newBeside(t *thriftRun, most int) *beside {
	b := &beside{run: t}
	if t.Readers == 0 {
		return b
	}
	b.batches = make([]atomic.Bool, (most+t.Batch-1)/t.Batch)
	b.first = make(chan struct{})
	b.recs = make([]*recorder, t.Readers)
	b.writers.Store(int64(t.Producers))
	return b
}

func (b *beside) begin() {
	if b.batches == nil {
		return
	}
	m := &b.run.read
	m.begin()
	b.pace = &pace{clock: m.clock, started: m.started, every: every(1, b.run.ReadRate)}
	for i := range b.recs {
		b.recs[i] = m.recorder()
	}
}

// acknowledge notes that the records of a batch are stored.
func (b *beside) acknowledge(t taken) {
	if b.batches == nil {
		return
	}
	b.batches[t.sequence].Store(true)
	for old := b.highest.Load(); int64(t.to) > old && !b.highest.CompareAndSwap(old, int64(t.to)); old = b.highest.Load() {
	}
	if b.seen.CompareAndSwap(false, true) {
		close(b.first)
	}
}

// writerEnds is called once for each writer, whatever it ends by; the readers end
// with the last.
func (b *beside) writerEnds() {
	if b.batches != nil && b.writers.Add(-1) == 0 && b.seen.CompareAndSwap(false, true) {
		close(b.first)
	}
}

// read is one of the readers.
func (b *beside) read(ctx context.Context, c *thriftclient.Client, reader int) error {
	select {
	case <-b.first:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	t, rec := b.run, b.recs[reader]
	w := &getter{run: t, rec: rec, faults: &b.faults}
	for random := mix(t.Seed ^ uint64(reader+1)<<40); b.writers.Load() > 0; {
		if early := b.pace.early(int(b.asked.Add(1) - 1)); early > 0 {
			if err := sleep(ctx, early); err != nil {
				return err
			}
		}
		index := b.choose(&random)
		w.key = t.ledger.key(w.key[:0], index)
		sent := t.clock()
		found, err := c.GetRow(t.ledger.table, w.key, func(row *thriftclient.Row) error {
			if !t.NoVerify {
				w.check(index, row)
			}
			return nil
		})
		if err != nil {
			return err
		}
		rec.done(sent, 1)
		if !found {
			b.faults.note(&b.faults.missing, t.ledger.describe(index)+", which was acknowledged: getRow finds no row")
		}
	}
	return nil
}

// choose is the number of a random record that is stored.
func (b *beside) choose(random *uint64) int {
	for {
		*random += 0x9e3779b97f4a7c15
		high, _ := bits.Mul64(mix(*random), uint64(b.highest.Load()))
		if b.batches[int(high)/b.run.Batch].Load() {
			return int(high)
		}
	}
}

// end sums the reads up once the load has ended.
func (b *beside) end() error {
	if b.batches == nil {
		return nil
	}
	b.run.read.end(b.recs)
	return b.faults.end(b.run.ledger, int(b.asked.Load()))
}
