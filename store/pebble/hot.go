package pebble

import (
	"bytes"
	"encoding/binary"
	"math"
	"sync/atomic"

	"github.com/cellardb/cellar/cell"
)

// A counter that is counted often is sought in the memtables again and again,
// among the thousand versions that it left there; that search was two thirds of
// an increment. So each stripe remembers the newest cells of the counters that
// were incremented last.
//
// What is remembered is used and replaced under the stripe's exclusive lock, and
// holds as long as nothing else has written below the stripe (stripe.writes),
// the table has the same layout, and no rows were, or are just being, removed as
// a range (Store.removals, removing). Counters that may vanish by themselves, or that something
// may mask, are not remembered: those with a time to live, with tags, or dated
// ahead of what a marker hides.

// hotCounters is how many counters a stripe remembers; hotKey is the longest row
// and qualifier, in bytes together. All stripes together keep under 9 MiB.
const (
	hotCounters = 4
	hotKey      = 256
)

// hotCounter is the newest cell of a counter, visible and committed.
type hotCounter struct {
	layout    *layout // nil: the slot is free
	family    *family
	key       []byte // row, then qualifier
	rowLen    int
	writes    uint64
	removals  uint64
	timestamp int64
	value     [8]byte
}

// hot are the counters that a stripe remembers.
type hot struct {
	// writes counts what was written below the stripe other than by single
	// increments. It changes under the stripe's lock, shared or not.
	writes atomic.Uint64
	slots  *[hotCounters]hotCounter // under the exclusive lock; nil: none yet
	next   int                      // the slot that is given up next
}

func (c *hotCounter) is(l *layout, f *family, row, qualifier []byte) bool {
	return c.layout == l && c.family == f && bytes.Equal(c.key[:c.rowLen], row) && bytes.Equal(c.key[c.rowLen:], qualifier)
}

// find gives the counter's newest cell, as far as it is known.
func (h *hot) find(l *layout, removals uint64, c *counter) *hotCounter {
	if h.slots == nil {
		return nil
	}
	for i := range h.slots {
		s := &h.slots[i]
		if s.is(l, c.family, c.row, c.qualifier) && s.writes == h.writes.Load() && s.removals == removals {
			return s
		}
	}
	return nil
}

// keep remembers a cell.
func (h *hot) keep(l *layout, removals uint64, c *counter, timestamp int64, value []byte) {
	if h.slots == nil {
		h.slots = new([hotCounters]hotCounter)
	}
	var slot *hotCounter
	for i := range h.slots {
		if h.slots[i].is(l, c.family, c.row, c.qualifier) {
			slot = &h.slots[i]
			break
		}
	}
	if slot == nil {
		slot = &h.slots[h.next]
		h.next = (h.next + 1) % hotCounters
		slot.layout, slot.family, slot.rowLen = l, c.family, len(c.row)
		slot.key = append(append(slot.key[:0], c.row...), c.qualifier...)
	}
	slot.writes, slot.removals, slot.timestamp = h.writes.Load(), removals, timestamp
	copy(slot.value[:], value)
}

// written is a counter's cell that is remembered once it is committed.
type written struct {
	counter   counter
	timestamp int64
	value     uint64
	stripe    uint16
}

// rememberable says whether the cell that an increment makes stays the newest
// visible one until something is written.
func rememberable(c *counter, v *newValue, newestMark int64) bool {
	return c.family.schema.TTL == cell.Forever && v.ttl == 0 && len(v.tags) == 0 &&
		v.timestamp > newestMark && v.timestamp < math.MaxInt64 &&
		len(c.row)+len(c.qualifier) <= hotKey && len(v.value) == 8
}

// noteHot has the counter's new cell remembered after the commit, or what was
// remembered of it forgotten.
func (w *writer) noteHot(c *counter, stripe uint16, v *newValue) {
	if last := len(w.hot) - 1; last >= 0 && compareCounters(w.hot[last].counter, *c) == 0 {
		w.hot = w.hot[:last]
	}
	if !rememberable(c, v, w.oldMark) {
		w.held.all.locks[stripe].hot.writes.Add(1)
		return
	}
	w.hot = append(w.hot, written{counter: *c, timestamp: v.timestamp, value: binary.BigEndian.Uint64(v.value), stripe: stripe})
}

// keepHot remembers what the batch made of its counters. The batch is visible,
// and its stripes are still held.
func (w *writer) keepHot() {
	if w.forgetful {
		return
	}
	for i := range w.hot {
		n := &w.hot[i]
		var value [8]byte
		binary.BigEndian.PutUint64(value[:], n.value)
		w.held.all.locks[n.stripe].hot.keep(w.t.layout, w.removals, &n.counter, n.timestamp, value[:])
	}
}

// recall puts the newest cell of a counter into w.old, if it is remembered.
func (w *writer) recall(c *counter) bool {
	s := w.held.all.locks[w.rows[c.mutation].stripe].hot.find(w.t.layout, w.removals, c)
	if s == nil {
		return false
	}
	w.old.Reset()
	w.old.Row = c.row
	w.old.Cells = append(w.old.Cells, cell.Cell{Timestamp: s.timestamp, Type: cell.TypePut, Value: s.value[:]})
	w.oldMark = math.MinInt64 // it was above every marker, and there are none since
	return true
}
