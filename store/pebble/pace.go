package pebble

import (
	"context"
	"math"
	"time"
)

// pace is how fast the janitor works.
type pace struct {
	share float64 // of the time, in (0,1]
	rate  float64 // bytes a second that it reads; +Inf: not limited
}

const (
	// restBelow, hurryAbove and slowAbove are ratios of garbage to live data.
	restBelow  = 0.1
	hurryAbove = 0.25
	slowAbove  = 1.0
	// slowFrom is the least garbage, in bytes, that slows writers.
	slowFrom = 64 << 20
	// leastShare and leastRead are what the janitor may always do.
	leastShare = 0.1
	leastRead  = 16 << 20
	// readPerWrite is how many bytes it reads for one that is written, before it
	// is in a hurry: where a quarter of what it reads is garbage, four bytes
	// have to be read to remove one.
	readPerWrite = 8
	// quietRate is what is written, in bytes a second, when the store is at
	// rest.
	quietRate = 256 << 10
)

// paceFor follows the garbage: up to a tenth of the live data the janitor does
// little, from a quarter of it on it works as fast as it can, and between it reads
// so much for each byte that is written.
func paceFor(ratio, written float64) pace {
	hurry := (ratio - restBelow) / (hurryAbove - restBelow)
	if hurry >= 1 {
		return pace{1, math.Inf(1)}
	}
	return pace{max(leastShare, hurry), max(leastRead, hurry*readPerWrite*written)}
}

// longestRest bounds a rest: the work may have waited for a lock or a full disk,
// and meanwhile nobody looks at how much garbage there is.
const longestRest = 10 * janitorEvery

// rest is how long to rest after some work.
func (p pace) rest(worked time.Duration, read int64) time.Duration {
	byTime := float64(worked) * (1 - p.share) / p.share
	byBytes := float64(read)/p.rate*float64(time.Second) - float64(worked)
	return min(time.Duration(max(byTime, byBytes, 0)), longestRest)
}

// pacer gives a function that rests after each bit of a collection's work.
func (j *janitor) pacer(c *collection) func(context.Context) error {
	last, read := time.Now(), c.bytes
	return func(ctx context.Context) error {
		if j.unpaced {
			return ctx.Err()
		}
		if rest := j.pace.rest(time.Since(last), c.bytes-read); rest > 0 {
			if err := sleep(ctx, rest); err != nil {
				return err
			}
		}
		last, read = time.Now(), c.bytes
		return ctx.Err()
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// meter smooths a counter's rate.
type meter struct {
	rate  float64 // a second
	count int64
	at    time.Time
}

const (
	// meterEvery is the least time between two readings, meterWeight what the
	// newest counts.
	meterEvery  = 500 * time.Millisecond
	meterWeight = 0.3
)

func (m *meter) read(count int64, now time.Time) {
	d := now.Sub(m.at)
	if d < meterEvery {
		return
	}
	if !m.at.IsZero() {
		m.rate += meterWeight * (float64(count-m.count)/d.Seconds() - m.rate)
	}
	m.count, m.at = count, now
}
