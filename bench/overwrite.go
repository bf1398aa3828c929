package bench

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// rewritesOfRescan is how often OpRescan overwrites every record.
const rewritesOfRescan = 10

// overwrites is OpOverwrite: the records that were loaded are overwritten in
// turn, again and again, at Rate for Duration; a scan then compares every one
// with what was written last.
func (t *thriftRun) overwrites(ctx context.Context) error {
	m := &t.overwrite
	for !m.enough(t.Repeat) {
		if err := t.rewrite(ctx, m, rewriting{to: len(t.ledger.sums), last: t.Duration}); err != nil {
			return err
		}
	}
	if t.Rate > 0 && m.took > 0 {
		m.figure(figureRateKept, m.rate()/float64(t.Rate))
	}
	live := float64(t.ledger.bytes()) / mib
	m.figure(figureLive, live)
	if disk := m.samples.known(sampleDisk); len(disk) > 0 && live > 0 {
		m.figure(figureDiskOverLive, slices.Max(disk)/live)
	}
	if tables := m.samples.known(sampleTables); len(tables) > 0 && live > 0 {
		m.figure(figureTablesOverLive, slices.Max(tables)/live)
	}
	if t.NoVerify {
		return nil
	}
	return t.scanAll(ctx)
}

// rescans is OpRescan.
func (t *thriftRun) rescans(ctx context.Context) error {
	if err := t.scans(ctx, &t.clean, OpScanClean, ""); err != nil {
		return err
	}
	var unmeasured measure
	unmeasured.clock, unmeasured.server = t.clock, newServer(0, "")
	if err := t.rewrite(ctx, &unmeasured, rewriting{to: len(t.ledger.sums), passes: rewritesOfRescan}); err != nil {
		return err
	}
	// Once: while it is repeated the server cleans up.
	if err := t.scanTable(ctx, &t.overwritten, OpScanOverwritten, ""); err != nil {
		return err
	}
	if err := t.compact(ctx); err != nil {
		return err
	}
	return t.scans(ctx, &t.compacted, OpScanCompacted, "")
}

// compact does a major compaction of the table and waits for its end.
func (t *thriftRun) compact(ctx context.Context) error {
	c, done, err := t.connect(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := c.MajorCompact(t.ledger.table); err != nil {
		return fmt.Errorf("compact: %w", err)
	}
	return t.settle(ctx)
}

// How long nothing must have been written for a server to be at rest, and for
// how long that is waited for.
const (
	restSeconds = 3
	restWithin  = 10 * time.Minute
)

// rest waits until the server does not write to its disk any more.
func (t *thriftRun) rest(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, restWithin, fmt.Errorf("the server has not come to rest within %v", restWithin))
	defer cancel()
	before, still := -1.0, 0
	for still < restSeconds {
		if err := sleep(ctx, time.Second); err != nil {
			return err
		}
		m, err := fetchMetrics(t.server.client, t.server.stats)
		if err != nil {
			return fmt.Errorf("wait for the end of a compaction: %w", err)
		}
		written, ok := m[metricWritten]
		if !ok {
			return fmt.Errorf("wait for the end of a compaction: %s has no %s", t.server.stats, metricWritten)
		}
		still++
		if written != before {
			before, still = written, 0
		}
	}
	return nil
}

// rewriting says which records are overwritten, from <= i < to, which begin a
// batch, and until when.
type rewriting struct {
	from, to int
	passes   int           // how often; 0: until the time is over
	last     time.Duration // 0: until all is done
}

// rewrite overwrites records, all of them once before any of them again. Each
// writer has records of its own, so that it is known which write of two came
// later.
func (t *thriftRun) rewrite(ctx context.Context, m *measure, r rewriting) error {
	l := t.ledger
	if l.versions == nil {
		l.versions = make([]uint32, len(l.sums))
	}
	phase := t.progress.Begin(fmt.Sprintf("overwrite, %s", t.Durability), r.passes*(r.to-r.from))
	defer phase.End()
	clients, done, err := t.connectAll(ctx, t.Producers)
	if err != nil {
		return err
	}
	defer done()
	recs := make([]*recorder, t.Producers)
	m.begin()
	pace := t.pace(m.started, r.last)
	err = together(clients, t.Producers, func(i int) error {
		recs[i] = m.recorder()
		own := &rewriter{rewriting: r, ledger: l, pace: pace, batch: t.Batch, writer: i, writers: t.Producers}
		w := &loader{run: t, c: clients[i], rec: recs[i], take: own.take, pace: pace, phase: phase}
		return w.work(ctx)
	})
	if err != nil {
		return fmt.Errorf("overwrite: %w", err)
	}
	m.end(recs)
	return nil
}

// rewriter gives one writer the batches that are its own: every writers-th.
type rewriter struct {
	rewriting
	ledger          *ledger
	pace            *pace
	batch           int
	writer, writers int

	pass, next int // next: of its own batches, in this pass
	taken      int
}

func (w *rewriter) take() (taken, bool) {
	from := w.from + (w.next*w.writers+w.writer)*w.batch
	if from >= w.to {
		w.pass, w.next = w.pass+1, 0
		from = w.from + w.writer*w.batch
	}
	sequence := w.taken*w.writers + w.writer
	if w.passes > 0 && w.pass >= w.passes || w.pace.over(sequence) || from >= w.to {
		return taken{}, false
	}
	b := taken{from, min(from+w.batch, w.to), sequence}
	for i := b.from; i < b.to; i++ {
		w.ledger.versions[i]++
	}
	w.next++
	w.taken++
	return b, true
}

// bytes is how large the records are as they were written last: each key once,
// names and values of the columns.
func (l *ledger) bytes() int {
	n := 0
	var key []byte
	for i := range l.sums {
		g := l.at(i)
		key = g.key(key[:0], i)
		n += len(key)
		for c, name := range recordColumns {
			n += len(name) + g.valueLen(i, c)
		}
	}
	return n
}
