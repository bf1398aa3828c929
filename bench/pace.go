package bench

import (
	"context"
	"time"
)

// pace says when calls are due, and when the time is over. A worker that comes
// late makes up for it: what counts is the rate over the whole time.
type pace struct {
	clock   func() time.Time
	started time.Time
	every   time.Duration // from one call to the next; 0: without a pause
	until   time.Time     // zero: without an end
}

// pace of calls of Batch units at Rate; last 0: they end by themselves.
func (t *thriftRun) pace(started time.Time, last time.Duration) *pace {
	p := &pace{clock: t.clock, started: started, every: every(t.Batch, t.Rate)}
	if last > 0 {
		p.until = started.Add(last)
	}
	return p
}

// every is how far apart calls of n units are at a rate in units a second.
func every(n, rate int) time.Duration {
	if rate == 0 {
		return 0
	}
	return time.Duration(float64(n) / float64(rate) * float64(time.Second))
}

// over says that call n may not begin any more. The first may always, so that
// there is something to measure.
func (p *pace) over(n int) bool {
	return n > 0 && !p.until.IsZero() && !(p.clock().Before(p.until) && p.due(n).Before(p.until))
}

// due is when call n may begin at the earliest.
func (p *pace) due(n int) time.Time { return p.started.Add(time.Duration(n) * p.every) }

// early is how long it is until call n may begin; 0 or less: it may now.
func (p *pace) early(n int) time.Duration {
	if p.every == 0 {
		return 0
	}
	return p.due(n).Sub(p.clock())
}

// sleep waits, or says why the context has ended.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
