package bench

import (
	"context"
	"fmt"
)

// defaultStarts is how often OpStart starts the server after each kind of end,
// unless Repeat says it.
const defaultStarts = 3

// Units of operations that are single acts: what counts is how long one takes.
const (
	unitStarts  = "starts"
	unitBackups = "backups"
)

// single says whether an operation is made of such acts.
func (r *Result) single() bool { return r.Unit == unitStarts || r.Unit == unitBackups }

// startRecords is how many records are overwritten before each kill, others each
// time: what a server finds in its log alone when it starts.
const startRecords = 60000

// starts is OpStart: kill -9 right after writes were acknowledged, start, stop in
// order, start. A scan at the end tells whether all is there.
func (t *thriftRun) starts(ctx context.Context) error {
	n := defaultStarts
	if t.Repeat > 0 {
		n = t.Repeat
	}
	var unmeasured measure
	unmeasured.clock, unmeasured.server = t.clock, newServer(0, "")
	size := t.startSize(n)
	for i := range n {
		from := i * size
		r := rewriting{from: from, to: min(from+size, len(t.ledger.sums)), passes: 1}
		if err := t.rewrite(ctx, &unmeasured, r); err != nil {
			return err
		}
		if err := t.restart(ctx, &t.killed, true); err != nil {
			return err
		}
		if err := t.restart(ctx, &t.start, false); err != nil {
			return err
		}
	}
	if t.NoVerify {
		return nil
	}
	return t.scanAll(ctx)
}

// startSize is how many records are overwritten before each of n kills: whole
// batches, and no record twice, so that none hides the loss of another.
func (t *thriftRun) startSize(n int) int {
	return max(min(startRecords, len(t.ledger.sums)/n)/t.Batch, 1) * t.Batch
}

// restart ends the server and starts it again.
func (t *thriftRun) restart(ctx context.Context, m *measure, kill bool) error {
	what := OpStart
	if kill {
		what = OpStartKilled
	}
	phase := t.progress.Begin(what, 1)
	defer phase.End()
	r, err := t.Restart(ctx, kill)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	m.once(r.Took)
	phase.Add(1)
	t.Addr = r.Addr
	*t.server = *newServer(r.PID, r.StatsURL)
	return nil
}
