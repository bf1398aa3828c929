package pebble

import (
	"context"
	"sync/atomic"
	"time"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"github.com/cellardb/cellar/store"
)

// slowPressure is the pressure at which writers begin to be slowed: below it there
// is room for a burst. steadyPressure is where a load that never ends settles: far
// enough from 1 that a disk that is slow for a second is ridden out.
const (
	slowPressure   = 0.5
	steadyPressure = 0.7
)

// l0Full is the number of sublevels at which the pressure of level 0 is 1. A
// read of a row looks at a file of each, unless its Bloom filter says that it
// need not; a scan merges them all.
const l0Full = 52

// watchEvery is how often the pressure is looked at. A memtable is full after a
// few hundred milliseconds of a load without limit.
const watchEvery = 50 * time.Millisecond

// state is what the pressure is made of, as it was at one moment.
type state struct {
	memtables     uint64 // bytes that they take, the one that is written to too
	unflushed     uint64 // bytes of log whose memtables are not in files yet
	memtableBytes uint64 // of one memtable, full grown
	sublevels     int32
	garbage       float64 // over live data
	disk          diskState
}

// pressure makes the parts and the one figure of it.
func (s *state) pressure() store.Pressure {
	p := store.Pressure{
		Memtables: s.memtablePressure(),
		L0:        clamp(float64(s.sublevels) / l0Full),
		Garbage:   garbagePressure(s.garbage),
		Disk:      s.disk.pressure(),
	}
	p.Value = max(p.Memtables, p.L0, p.Garbage, p.Disk)
	return p
}

// memtablePressure is measured twice, and the larger counts: by full memtables
// that wait to be flushed, and by the log, which knows how full the one in use
// is but not what small entries take in memory beyond their bytes.
func (s *state) memtablePressure() float64 {
	limit := float64(memtables * s.memtableBytes)
	waiting := (float64(s.memtables) - float64(s.memtableBytes)) / limit
	return clamp(max(waiting, float64(s.unflushed)/limit))
}

// garbagePressure is 0.5 where there is as much garbage as live data, and 1 at
// half as much again.
func garbagePressure(ratio float64) float64 {
	if ratio <= 1 {
		return clamp(ratio / 2)
	}
	return clamp(slowPressure + ratio - 1)
}

// fullAt is how full, as a part, memtables get: beyond it Pebble stops writers.
const fullAt = 0.9

// room is how many more bytes of log the memtables have room for.
func (s *state) room() int64 {
	return int64(fullAt*float64(memtables*s.memtableBytes)) - int64(s.unflushed)
}

func clamp(x float64) float64 { return min(max(x, 0), 1) }

// gauge keeps the pressure of the last look at it.
type gauge struct {
	now    atomic.Pointer[state]
	stalls atomic.Int64 // writes that Pebble itself stopped
}

// Pressure implements store.Pressured.
func (s *Store) Pressure() store.Pressure {
	// Before the first look nothing is known but how much memory there is.
	now := state{memtableBytes: s.opts.memtableBytes()}
	if last := s.gauge.now.Load(); last != nil {
		now = *last
	}
	// The disk is as it is now: the rest may be as it was, while the store waits
	// for space.
	now.disk = s.disk.state()
	return now.pressure()
}

// look reads the store's state.
func (s *Store) look() state {
	m := s.db.Metrics()
	return state{
		memtables: m.MemTable.Size, unflushed: m.WAL.Size, memtableBytes: s.opts.memtableBytes(),
		sublevels: m.Levels[0].Sublevels,
		garbage:   s.janitor.pressing(),
	}
}

// watcher looks at the pressure and steers by it, until the context ends.
func (s *Store) watcher(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		now := s.look()
		s.gauge.now.Store(&now)
		p := now.pressure()
		s.admission.steer(max(p.L0, p.Garbage), p.Memtables, now.room())
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// listener counts the writes that Pebble stops by itself. There should
// be none: writers are slowed before.
func (g *gauge) listener() *pebbledb.EventListener {
	return &pebbledb.EventListener{
		WriteStallBegin: func(pebbledb.WriteStallBeginInfo) { g.stalls.Add(1) },
	}
}

// pressing is the garbage over the live data, as far as writers have to care: in a
// store that has little of it they do not.
func (j *janitor) pressing() float64 {
	if !j.much.Load() {
		return min(j.Garbage(), slowAbove)
	}
	return j.Garbage()
}
