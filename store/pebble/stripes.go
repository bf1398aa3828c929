package pebble

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cellardb/cellar/cell"
)

// stripeCount row locks serve all rows of a store; rows that share one only
// wait for each other.
const stripeCount = 4096

// stripe is the lock of the rows that hash to it. Plain puts and deletes hold
// it shared: Pebble orders them. What reads before it writes holds it alone.
//
// It is held until the batch is visible, not until it is durable: else one hot
// counter would do one increment an fsync.
type stripe struct {
	sync.RWMutex
	// The last timestamps that the server gave to a put and to a delete.
	lastPut, lastDelete atomic.Int64
	hot                 hot
	// released counts how often the stripe was held and given back: rows below
	// it are as they were while it stays the same.
	released atomic.Uint64
}

// timestamp gives the server's time to one mutation. A put gets
// max(now, last delete + 1, last put): it is not lost under a delete of the same
// millisecond, nor behind an increment, whose cells run ahead of the clock where
// there are many in one millisecond. A delete gets max(now, last put): it hides
// every put before it.
// What is remembered counts only while it is near: after a clock that stepped
// back a minute and more, the row follows the clock.
func (s *stripe) timestamp(now int64, put, del bool) int64 {
	ts := now
	if put {
		if d := s.lastDelete.Load(); d >= ts && d-now <= maxStandstill {
			ts = d + 1
		}
	}
	if p := s.lastPut.Load(); p > ts && p-now <= maxStandstill {
		ts = p
	}
	if put {
		remember(&s.lastPut, ts, now)
	}
	if del {
		remember(&s.lastDelete, ts, now)
	}
	return ts
}

func remember(last *atomic.Int64, ts, now int64) {
	for {
		l := last.Load()
		if l >= ts && l-now <= maxStandstill {
			return
		}
		if last.CompareAndSwap(l, ts) {
			return
		}
	}
}

// stripes are the row locks of a store.
type stripes struct{ locks [stripeCount]stripe }

// of hashes a row with FNV-1a: the same in every process, so that a run can be
// repeated.
func (s *stripes) of(table uint32, row []byte) uint16 {
	h := uint64(14695981039346656037) ^ uint64(table)
	for _, c := range row {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return uint16((h ^ h>>32) % stripeCount)
}

// stamps appends how often each stripe was given back.
func (s *stripes) stamps(dst []uint64) []uint64 {
	for i := range s.locks {
		dst = append(dst, s.locks[i].released.Load())
	}
	return dst
}

// held are the stripes that one call holds, in ascending order; those are taken
// and given back in that order, so that two calls never wait for each other.
type held struct {
	all    *stripes
	want   []uint32 // stripe number << 1 | exclusive
	locked bool
}

func (h *held) add(stripe uint16, exclusive bool) {
	w := uint32(stripe) << 1
	if exclusive {
		w |= 1
	}
	h.want = append(h.want, w)
}

// lock takes each wanted stripe once, alone if any wish was so.
func (h *held) lock() {
	h.locked = true
	slices.SortFunc(h.want, func(a, b uint32) int {
		if a>>1 != b>>1 {
			return int(a>>1) - int(b>>1)
		}
		return int(b&1) - int(a&1) // the exclusive wish first: it is the one kept
	})
	h.want = slices.CompactFunc(h.want, func(a, b uint32) bool { return a>>1 == b>>1 })
	for _, w := range h.want {
		if l := &h.all.locks[w>>1]; w&1 == 1 {
			l.Lock()
		} else {
			l.RLock()
		}
	}
}

// written notes that more than increments is written below the stripes that are
// held.
func (h *held) written() {
	for _, w := range h.want {
		h.all.locks[w>>1].hot.writes.Add(1)
	}
}

// unlock gives back what lock took, if it was called.
func (h *held) unlock() {
	if !h.locked {
		h.want = h.want[:0]
		return
	}
	h.locked = false
	for _, w := range h.want {
		l := &h.all.locks[w>>1]
		l.released.Add(1)
		if w&1 == 1 {
			l.Unlock()
		} else {
			l.RUnlock()
		}
	}
	h.want = h.want[:0]
}

// serverTime gives the mutation's timestamp if an edit asks for one.
func (s *stripe) serverTime(m *cell.Mutation, now int64) int64 {
	var put, del bool
	for i := range m.Edits {
		e := &m.Edits[i]
		if e.Timestamp != cell.Latest && !e.Op.ReadsFirst() {
			continue
		}
		if e.Op.IsDelete() {
			del = true
		} else {
			put = true
		}
	}
	if !put && !del {
		return now
	}
	return s.timestamp(now, put, del)
}
