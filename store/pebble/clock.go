package pebble

import (
	"log/slog"
	"sync/atomic"
	"time"
)

// maxStandstill is how long (ms) "now" stands still when the clock steps back,
// before the store follows it.
const maxStandstill = 60_000

// clock gives "now" in ms and does not step back, but for steps of more than a
// minute, which it follows.
type clock struct {
	read  func() int64
	last  atomic.Int64
	steps atomic.Int64 // followed steps back, for the metric
	log   *slog.Logger
}

func newClock(read func() int64, log *slog.Logger) *clock {
	if read == nil {
		read = func() int64 { return time.Now().UnixMilli() }
	}
	return &clock{read: read, log: log}
}

func (c *clock) now() int64 {
	t := c.read()
	for {
		last := c.last.Load()
		switch {
		case t == last:
			return t
		case t > last:
			if c.last.CompareAndSwap(last, t) {
				return t
			}
		case last-t <= maxStandstill:
			return last
		default:
			if c.last.CompareAndSwap(last, t) {
				c.steps.Add(1)
				c.log.Warn("the clock stepped back; following it", "by", time.Duration(last-t)*time.Millisecond)
				return t
			}
		}
	}
}
