package pebble

import (
	"bytes"
	"context"
	"sync"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"github.com/cellardb/cellar/cell"
)

// Flush implements store.Admin. Memtables are of the whole store.
func (s *Store) Flush(ctx context.Context, name string) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.gate.RUnlock()
	t, err := s.catalog.find(name)
	if err != nil {
		return err
	}
	if err := t.usable(); err != nil {
		return err
	}
	t.mu.RUnlock()
	return storeError(s.db.Flush())
}

// Compact implements store.Admin. A major compaction first deletes, row by row,
// the cells that no read can see any more (garbage.go), then rewrites the files.
func (s *Store) Compact(ctx context.Context, name string, r cell.Range, major bool) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.gate.RUnlock()
	t, err := s.catalog.find(name)
	if err != nil {
		return err
	}
	if err := t.usable(); err != nil {
		return err
	}
	families := t.layout.families
	t.mu.RUnlock()
	for _, f := range families {
		lower, upper := rowBounds(t.id, f.id, r)
		if bytes.Compare(lower, upper) >= 0 {
			continue
		}
		if major {
			if err := s.collect(ctx, t, f, lower, upper); err != nil {
				return storeError(err)
			}
		}
		if err := s.db.Compact(ctx, lower, upper, false); err != nil {
			return storeError(err)
		}
	}
	return nil
}

// collect removes the garbage of one family between two keys. It decides on an
// iterator without locks, and acts row by row: it takes the row's lock, reads
// the row again and decides again, so that a write in between is never undone.
func (s *Store) collect(ctx context.Context, t *table, f *family, lower, upper []byte) error {
	it, err := s.db.NewIter(&pebbledb.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	g := garbage{family: f, now: s.clock.now()}
	var prefix []byte
	for ok := it.First(); ok; {
		if err := ctx.Err(); err != nil {
			return closeWith(it, err)
		}
		key := it.Key()
		prefix = append(prefix[:0], key[:splitKey(key)]...)
		if err := g.find(it, prefix); err != nil {
			return closeWith(it, err)
		}
		if len(g.keys) > 0 {
			if err := s.collectRow(t, f, prefix); err != nil {
				return closeWith(it, err)
			}
		}
		ok = it.Valid()
	}
	return closeWith(it, nil)
}

func (s *Store) collectRow(t *table, f *family, prefix []byte) error {
	t.mu.RLock()
	unlockTable := sync.OnceFunc(t.mu.RUnlock)
	defer unlockTable()
	if t.dropped {
		return nil
	}
	lock := &s.rows.locks[s.rows.of(t.id, unescape(nil, rowOf(prefix)))]
	lock.Lock()
	defer lock.Unlock()
	it, err := s.db.NewIter(&pebbledb.IterOptions{LowerBound: prefix, UpperBound: append(bytes.Clone(prefix[:len(prefix)-1]), escBeyond)})
	if err != nil {
		return err
	}
	g := garbage{family: f, now: s.clock.now()}
	it.First()
	if err := closeWith(it, g.find(it, prefix)); err != nil {
		return err
	}
	b := s.db.NewBatch()
	for _, key := range g.keys {
		if err := b.Delete(key, nil); err != nil {
			return closeBatch(b, err)
		}
	}
	// Losing this batch in a crash brings nothing back that a read would see.
	err = s.db.Apply(b, pebbledb.NoSync)
	s.unsynced.Store(true)
	return closeBatch(b, err)
}
