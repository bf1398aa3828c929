package pebble

import (
	"bytes"
	"context"

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
			c := collection{s: s, t: t, family: f}
			if err := c.run(ctx, lower, upper); err != nil {
				return storeError(err)
			}
		}
		if err := s.db.Compact(ctx, lower, upper, false); err != nil {
			return storeError(err)
		}
	}
	return nil
}
