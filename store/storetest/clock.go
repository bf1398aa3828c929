package storetest

import "sync/atomic"

// epoch is where the clocks of tests begin, in ms. Explicit timestamps of tests
// lie far below it.
const epoch int64 = 1_700_000_000_000

// Clock is a clock that stands still until it is told otherwise. It may be used
// from any number of goroutines.
type Clock struct{ ms atomic.Int64 }

// NewClock gives a clock that stands at a time in ms.
func NewClock(ms int64) *Clock {
	c := &Clock{}
	c.ms.Store(ms)
	return c
}

// Now gives the time in ms. The method value is what engines take.
func (c *Clock) Now() int64 { return c.ms.Load() }

// Set moves the clock to a time in ms, forwards or backwards.
func (c *Clock) Set(ms int64) { c.ms.Store(ms) }

// Tick moves the clock on by some ms.
func (c *Clock) Tick(ms int64) { c.ms.Add(ms) }
