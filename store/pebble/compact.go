package pebble

import (
	"bytes"
	"context"
	"errors"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
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
// Close ends it: it returns store.ErrClosed then.
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
	ctx, end := s.untilClose(ctx)
	defer end()
	for _, f := range families {
		if err := s.compactFamily(ctx, t, f, r, major); err != nil {
			if cause := context.Cause(ctx); errors.Is(cause, store.ErrClosed) {
				return cause
			}
			return storeError(err)
		}
	}
	return nil
}

func (s *Store) compactFamily(ctx context.Context, t *table, f *family, r cell.Range, major bool) error {
	lower, upper := rowBounds(t.id, f.id, r)
	if bytes.Compare(lower, upper) >= 0 {
		return nil
	}
	if major {
		c := collection{s: s, t: t, family: f}
		if _, err := c.run(ctx, lower, upper); err != nil {
			return err
		}
	}
	cuts, err := s.cuts(t.id, f.id, r)
	if err != nil {
		return err
	}
	var size uint64
	for _, c := range cuts {
		size += c.bytes
	}
	// A compaction that has begun is not ended by the context, so each is of a
	// piece only.
	for _, piece := range cutRange(cloneRange(r), cuts, int(size/compactBytes)+1) {
		lower, upper := rowBounds(t.id, f.id, piece)
		if err := s.db.Compact(ctx, lower, upper, false); err != nil {
			return err
		}
	}
	return nil
}

// compactBytes is about how much of a family is compacted at a time.
const compactBytes = 128 << 20

// untilClose gives a context that ends when the store closes, with
// store.ErrClosed as its cause.
func (s *Store) untilClose(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.ending, func() { cancel(store.ErrClosed) })
	if s.ending.Err() != nil {
		cancel(store.ErrClosed)
	}
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
