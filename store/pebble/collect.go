package pebble

import (
	"bytes"
	"context"
	"slices"
	"sync"

	pebbledb "github.com/cockroachdb/pebble/v2"
)

// Bounds of what a collection does at one time.
const (
	// collectRows and collectCells bound what is deleted under row locks at
	// once, and what is read under the lock of a row that does not keep still.
	collectRows  = 128
	collectCells = 10_000
	// lookBytes is how much is read on one iterator, which pins files and
	// memtables: some ten milliseconds. A row may take as much again, up to the
	// end of a column; one with family markers that may go is read once whole.
	lookBytes = 1 << 20
)

// collection removes the garbage of one family between two keys.
//
// It looks for it on an iterator, without locks, and remembers for each stripe
// how often it had been given back before the iterator was opened. To act it
// takes the locks of the rows alone. Where nobody has held a row's stripe since,
// the row is as it was seen, and its garbage is deleted without another read.
// Where somebody has, the row is read again under its lock, and what is garbage
// then is deleted. So a write in between is never undone. A crash at any moment
// leaves garbage only.
//
// A row that has more garbage than one act takes, or more bytes than one look
// reads, goes in parts (garbage.find); after the last of them it is gone over
// once more as a whole, if markers of the family may go.
type collection struct {
	s *Store
	t *table
	// family is looked up by its id for each look: what it keeps now counts.
	family *family
	// pause, if set, is called after each look and each act, with no lock held
	// and no iterator open.
	pause func(context.Context) error
	// enough, if set, ends the run early, before the key at.
	enough func() bool
	// decided, if set, is called after the decision and before the act.
	decided func()
	// judged, if set, is called before the deletes are applied, with the rows
	// locked.
	judged func()

	at     []byte // where the next look begins
	from   []byte // at this column of the row, escaped; nil: at its first
	parts  bool   // the row at at goes in parts
	whole  bool   // it went in parts, and is read as a whole now
	stamps []uint64
	rows   []foundRow
	found  int // cells of garbage in rows
	g      garbage

	cells   uint64 // that were read
	bytes   int64  // of them
	removed int    // cells
	freed   int64  // bytes of them
	// left: something that goes was left, since its row was never still.
	left bool
}

// foundRow is a row with garbage.
type foundRow struct {
	prefix []byte
	from   []byte // the column at which the run over it began
	to     []byte // the column at which it ended; nil: with the row
	stripe uint16
	keys   []doomed
}

// run goes over the rows from lower, or where the last run ended early, to
// upper. It says whether it came to the end.
func (c *collection) run(ctx context.Context, lower, upper []byte) (done bool, err error) {
	if c.at == nil {
		c.at = bytes.Clone(lower)
	}
	for end := false; !end; {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		// Who may end early is the janitor; a compaction that somebody asked for
		// goes on.
		if c.enough != nil && (c.enough() || c.s.disk.scarce()) {
			return false, nil
		}
		if !c.lookUp() {
			return true, nil
		}
		if end, err = c.look(upper); err != nil {
			return false, err
		}
		if err = c.act(ctx); err != nil {
			return false, err
		}
	}
	return true, nil
}

// lookUp takes the family as it is now; false: it is gone.
func (c *collection) lookUp() bool {
	c.t.mu.RLock()
	defer c.t.mu.RUnlock()
	c.family = c.t.layout.byID(c.family.id)
	return c.family != nil && !c.t.dropped
}

// look finds garbage from at on. It ends where there is enough for one act, or
// where it has read as much as one iterator may.
func (c *collection) look(upper []byte) (end bool, err error) {
	if bytes.Compare(c.at, upper) >= 0 {
		return true, nil
	}
	c.stamps = c.s.rows.stamps(c.stamps[:0])
	it, err := c.s.db.NewIter(&pebbledb.IterOptions{LowerBound: bytes.Clone(c.at), UpperBound: upper})
	if err != nil {
		return false, err
	}
	g := &c.g
	g.family, g.now = c.family, c.s.clock.now()
	cells, read := g.cells, g.bytes
	defer func() {
		c.cells += uint64(g.cells - cells)
		c.bytes += g.bytes - read
	}()
	c.rows, c.found = c.rows[:0], 0
	var prefix []byte
	for ok := it.First(); ok; ok = it.Valid() {
		prefix = append(prefix[:0], it.Key()[:splitKey(it.Key())]...)
		from := c.from
		most := bounds{keys: collectCells, bytes: lookBytes}
		if c.whole {
			most.bytes = 0
		}
		more, next, err := g.find(it, prefix, from, most)
		if err != nil {
			return false, closeWith(it, err)
		}
		c.note(prefix, from, next, g.keys)
		if c.proceed(prefix, more, next) || c.found >= collectCells || len(c.rows) >= collectRows || g.bytes-read >= lookBytes {
			return false, closeWith(it, nil)
		}
	}
	return true, closeWith(it, nil)
}

// note keeps a row that has garbage.
func (c *collection) note(prefix, from, to []byte, keys []doomed) {
	if len(keys) == 0 {
		return
	}
	stripe := c.s.rows.of(c.t.id, unescape(nil, rowOf(prefix)))
	c.rows = append(c.rows, foundRow{bytes.Clone(prefix), from, to, stripe, slices.Clone(keys)})
	c.found += len(keys)
}

// proceed sets where to go on after a run over a row. It says whether that is
// inside the row, so that the look ends.
func (c *collection) proceed(prefix []byte, more bool, next []byte) bool {
	switch {
	case more && !c.g.stuck:
		c.at, c.from, c.parts = append(c.at[:0], prefix...), next, true
		return true
	case c.g.unfinished && c.parts:
		// All parts are done: once more as a whole.
		c.at, c.from, c.parts, c.whole = append(c.at[:0], prefix...), nil, false, true
		return true
	}
	c.skip(prefix)
	return false
}

// act removes the garbage of the rows that were found.
func (c *collection) act(ctx context.Context) error {
	var moved []foundRow
	if len(c.rows) > 0 {
		if c.decided != nil {
			c.decided()
		}
		var err error
		if moved, err = c.sweep(); err != nil {
			return err
		}
	}
	if err := c.rest(ctx); err != nil {
		return err
	}
	for i := range moved {
		if err := c.again(ctx, &moved[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *collection) rest(ctx context.Context) error {
	if c.pause == nil {
		return ctx.Err()
	}
	return c.pause(ctx)
}

// sweep locks the rows and deletes the garbage of those that are as they were
// seen. It gives the others.
func (c *collection) sweep() (moved []foundRow, err error) {
	err = c.locked(c.rows, func(b *pebbledb.Batch, family *family) error {
		for i := range c.rows {
			r := &c.rows[i]
			if family != c.family || c.s.rows.locks[r.stripe].released.Load() != c.stamps[r.stripe] {
				moved = append(moved, *r)
				continue
			}
			if err := c.remove(b, r.keys); err != nil {
				return err
			}
		}
		return nil
	})
	return moved, err
}

// locked runs do with the rows locked, and applies the batch that it fills. do
// is not called where the table or the family is gone.
func (c *collection) locked(rows []foundRow, do func(*pebbledb.Batch, *family) error) error {
	s := c.s
	c.t.mu.RLock()
	locks := held{all: s.rows}
	unlock := sync.OnceFunc(func() {
		locks.unlock()
		c.t.mu.RUnlock()
	})
	defer unlock()
	family := c.t.layout.byID(c.family.id)
	if c.t.dropped || family == nil {
		return nil
	}
	for i := range rows {
		locks.add(rows[i].stripe, true)
	}
	locks.lock()
	b := s.db.NewBatch()
	if err := do(b, family); err != nil || b.Empty() {
		return closeWith(b, err)
	}
	if c.judged != nil {
		c.judged()
	}
	// Losing the batch in a crash brings nothing back that a read would see.
	err := s.db.Apply(b, pebbledb.NoSync)
	unlock()
	s.unsynced.Store(true)
	return closeWith(b, err)
}

func (c *collection) remove(b *pebbledb.Batch, keys []doomed) error {
	for i := range keys {
		// The size tells compactions what the delete will free.
		if err := b.DeleteSized(keys[i].key, keys[i].size, nil); err != nil {
			return err
		}
		c.freed += int64(len(keys[i].key)) + int64(keys[i].size)
	}
	c.removed += len(keys)
	return nil
}

// again reads a row that has moved under its lock, and deletes what is garbage
// then: in parts, where it is more than may be read at once, and up to where the
// run ended that found it.
func (c *collection) again(ctx context.Context, r *foundRow) error {
	from, more, stuck := r.from, true, false
	for more && !stuck && (r.to == nil || from == nil || bytes.Compare(from, r.to) < 0) {
		more = false
		err := c.locked([]foundRow{*r}, func(b *pebbledb.Batch, family *family) (err error) {
			g := garbage{family: family, now: c.s.clock.now()}
			if more, from, err = c.findLocked(&g, r.prefix, from); err != nil {
				return err
			}
			stuck = g.stuck
			c.left = c.left || g.stuck || g.unfinished
			return c.remove(b, g.keys)
		})
		if err == nil {
			err = c.rest(ctx)
		}
		if err != nil {
			return err
		}
	}
	if stuck && bytes.Equal(c.at, r.prefix) {
		c.skip(r.prefix)
	}
	return nil
}

// skip goes on behind a row.
func (c *collection) skip(prefix []byte) {
	c.at = append(append(c.at[:0], prefix[:len(prefix)-1]...), escBeyond)
	c.from, c.parts, c.whole = nil, false, false
}

func (c *collection) findLocked(g *garbage, prefix, from []byte) (more bool, next []byte, err error) {
	it, err := c.s.db.NewIter(&pebbledb.IterOptions{LowerBound: prefix, UpperBound: afterRow(prefix)})
	if err != nil {
		return false, nil, err
	}
	it.First()
	more, next, err = g.find(it, prefix, from, bounds{keys: collectCells, cells: collectCells})
	c.bytes += g.bytes
	return more, next, closeWith(it, err)
}
