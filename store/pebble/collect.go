package pebble

import (
	"bytes"
	"context"
	"sync"

	pebbledb "github.com/cockroachdb/pebble/v2"
)

// Bounds of what a collection does under row locks at one time.
const (
	collectRows  = 64
	collectCells = 10_000
)

// collection removes the garbage of one family between two keys. It decides on
// an iterator without locks. To act it takes the locks of some rows, reads them
// again, decides again, and deletes in one batch: a write in between is never
// undone. A crash at any moment leaves garbage only.
type collection struct {
	s      *Store
	t      *table
	family *family
	// pause, if set, is called between two acts, with no lock held.
	pause func(context.Context) error
	// decided, if set, is called after the decision and before the act.
	decided func()
	// judged, if set, is called before the deletes are applied, with the rows
	// locked.
	judged func()

	rows    [][]byte // prefixes of rows that had garbage when they were looked at
	cells   int      // that garbage
	removed int
	expiry  int64 // ms, when the first cell that stays expires; 0: none does
}

// run goes over the rows once.
func (c *collection) run(ctx context.Context, lower, upper []byte) error {
	it, err := c.s.db.NewIter(&pebbledb.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	g := garbage{family: c.family, now: c.s.clock.now()}
	for ok := it.First(); ok; ok = it.Valid() {
		if err := ctx.Err(); err != nil {
			return closeWith(it, err)
		}
		prefix := bytes.Clone(it.Key()[:splitKey(it.Key())])
		more, _, err := g.find(it, prefix, nil, collectCells)
		if err != nil {
			return closeWith(it, err)
		}
		if len(g.keys) > 0 {
			c.rows = append(c.rows, prefix)
			c.cells += len(g.keys)
		}
		if more {
			it.SeekGE(afterRow(prefix))
		}
		if len(c.rows) >= collectRows || c.cells >= collectCells {
			if err := c.act(ctx); err != nil {
				return closeWith(it, err)
			}
		}
	}
	c.expiry = g.expiry
	return closeWith(it, c.act(ctx))
}

// act removes the garbage of the rows that were found.
func (c *collection) act(ctx context.Context) error {
	if len(c.rows) == 0 {
		return nil
	}
	if c.decided != nil {
		c.decided()
	}
	rows := c.rows
	c.rows, c.cells = nil, 0
	var from []byte
	for len(rows) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		done, next, err := c.sweep(rows, from)
		if err != nil {
			return err
		}
		rows, from = rows[done:], next
		if c.pause != nil {
			if err := c.pause(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweep locks the rows, looks at them again and deletes, up to so many cells.
// It says how many rows are done, and where in the next to go on.
func (c *collection) sweep(rows [][]byte, from []byte) (done int, next []byte, err error) {
	s := c.s
	c.t.mu.RLock()
	locks := held{all: s.rows}
	unlock := sync.OnceFunc(func() {
		locks.unlock()
		c.t.mu.RUnlock()
	})
	defer unlock()
	// The schema may have changed since the collection began: what it keeps
	// now is what counts.
	family := c.t.layout.byID(c.family.id)
	if c.t.dropped || family == nil {
		return len(rows), nil, nil
	}
	for _, prefix := range rows {
		locks.add(s.rows.of(c.t.id, unescape(nil, rowOf(prefix))), true)
	}
	locks.lock()
	it, err := s.db.NewIter(&pebbledb.IterOptions{LowerBound: rows[0], UpperBound: afterRow(rows[len(rows)-1])})
	if err != nil {
		return 0, nil, err
	}
	b := s.db.NewBatch()
	done, next, err = c.fill(family, b, it, rows, from)
	if err = closeWith(it, err); err != nil || b.Empty() {
		return done, next, closeWith(b, err)
	}
	if c.judged != nil {
		c.judged()
	}
	c.removed += int(b.Count())
	// Losing the batch in a crash brings nothing back that a read would see.
	err = s.db.Apply(b, pebbledb.NoSync)
	unlock()
	s.unsynced.Store(true)
	return done, next, closeWith(b, err)
}

// fill decides again, and adds the deletes to the batch.
func (c *collection) fill(family *family, b *pebbledb.Batch, it *pebbledb.Iterator, rows [][]byte, from []byte) (done int, next []byte, err error) {
	g := garbage{family: family, now: c.s.clock.now()}
	for i, prefix := range rows {
		it.SeekGE(prefix)
		more, column, err := g.find(it, prefix, from, collectCells)
		if err != nil {
			return 0, nil, err
		}
		for _, key := range g.keys {
			if err := b.Delete(key, nil); err != nil {
				return 0, nil, err
			}
		}
		if more {
			return i, column, nil
		}
		from = nil
		if b.Count() >= collectCells {
			return i + 1, nil, nil
		}
	}
	return len(rows), nil, nil
}
