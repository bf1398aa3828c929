package memory

import (
	"context"
	"maps"
	"slices"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// Snapshot opens a view of all tables. It is a second store that shares the rows
// and whose clock stands still.
func (s *Store) Snapshot(ctx context.Context) (store.Snapshot, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	now := s.nowLocked()
	frozen := New(Options{Clock: func() int64 { return now }, Backtracking: s.backtracking, Logger: s.log})
	for name, t := range s.mu.tables {
		c := *t
		c.info = cloneInfo(t.info)
		c.regions = slices.Clone(t.regions)
		c.rows = slices.Clone(t.rows)
		c.stamps, c.nonces = maps.Clone(t.stamps), maps.Clone(t.nonces)
		frozen.mu.tables[name] = &c
	}
	return &snapshot{of: s, frozen: frozen}, nil
}

// snapshot answers from the frozen store for as long as the living one is open.
type snapshot struct {
	of     *Store
	frozen *Store
}

// alive refuses calls once the store is closed.
func (s *snapshot) alive(ctx context.Context) error {
	if err := s.of.begin(ctx); err != nil {
		return err
	}
	s.of.mu.Unlock()
	return nil
}

func (s *snapshot) Get(ctx context.Context, table string, get *cell.Get, into *cell.Result) error {
	if err := s.alive(ctx); err != nil {
		into.Reset()
		return err
	}
	return s.frozen.Get(ctx, table, get, into)
}

func (s *snapshot) Scan(ctx context.Context, table string, scan *cell.Scan) (store.Scanner, error) {
	if err := s.alive(ctx); err != nil {
		return nil, err
	}
	return s.frozen.Scan(ctx, table, scan)
}

func (s *snapshot) Regions(ctx context.Context, table string) ([]store.Region, error) {
	if err := s.alive(ctx); err != nil {
		return nil, err
	}
	return s.frozen.Regions(ctx, table)
}

func (s *snapshot) Partitions(ctx context.Context, table string, r cell.Range, n int) ([]cell.Range, error) {
	if err := s.alive(ctx); err != nil {
		return nil, err
	}
	return s.frozen.Partitions(ctx, table, r, n)
}

func (s *snapshot) Close() error { return s.frozen.Close() }
