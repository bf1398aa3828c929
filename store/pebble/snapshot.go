package pebble

import (
	"context"
	"fmt"
	"sync"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// Snapshot implements store.Snapshotter.
//
// A snapshot is an iterator that is never moved, and the tables as they were:
// its reads are clones of the iterator. Pebble's own snapshots lose what is
// excised, that is every table that is dropped after them.
func (s *Store) Snapshot(ctx context.Context) (store.Snapshot, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.RUnlock()
	// No table changes between the copy of the names and the iterator.
	s.admin.Lock()
	defer s.admin.Unlock()
	n := &snapshot{s: s, tables: map[string]*table{}}
	for name, t := range s.catalog.tables {
		n.tables[name] = &table{id: t.id, name: name, enabled: t.enabled, layout: t.layout, regions: t.regions, heat: t.heat}
	}
	var err error
	if n.base, err = s.db.NewIter(&pebbledb.IterOptions{}); err != nil {
		return nil, storeError(err)
	}
	s.scanners.add(n)
	return n, nil
}

// snapshot reads as of the moment it was opened.
type snapshot struct {
	s      *Store
	tables map[string]*table

	mu   sync.Mutex
	base *pebbledb.Iterator // nil once closed
}

func (n *snapshot) find(name string) (*table, error) {
	n.mu.Lock()
	closed := n.base == nil
	n.mu.Unlock()
	if closed {
		return nil, store.ErrClosed
	}
	t := n.tables[cell.CanonicalTableName(name)]
	if t == nil {
		return nil, fmt.Errorf("%w: %s", store.ErrTableNotFound, name)
	}
	return t, nil
}

// NewIter implements iterators.
func (n *snapshot) NewIter(o *pebbledb.IterOptions) (*pebbledb.Iterator, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.base == nil {
		return nil, store.ErrClosed
	}
	return n.base.Clone(pebbledb.CloneOptions{IterOptions: o})
}

// Get implements store.Reader.
func (n *snapshot) Get(ctx context.Context, table string, get *cell.Get, into *cell.Result) error {
	return n.s.getFrom(ctx, n, table, get, into)
}

// Scan implements store.Reader.
func (n *snapshot) Scan(ctx context.Context, table string, scan *cell.Scan) (store.Scanner, error) {
	return n.s.scanFrom(ctx, n, table, scan)
}

// Regions implements store.Reader: those of the table as it was.
func (n *snapshot) Regions(ctx context.Context, table string) ([]store.Region, error) {
	if err := n.s.enter(ctx); err != nil {
		return nil, err
	}
	defer n.s.gate.RUnlock()
	t, err := n.find(table)
	if err != nil {
		return nil, err
	}
	return cloneRegions(t.regions), nil
}

// Partitions implements store.Reader.
func (n *snapshot) Partitions(ctx context.Context, table string, r cell.Range, k int) ([]cell.Range, error) {
	return n.s.partitionsFrom(ctx, n, table, r, k)
}

// Close implements io.Closer.
func (n *snapshot) Close() error {
	n.s.scanners.remove(n)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.base == nil {
		return nil
	}
	base := n.base
	n.base = nil
	return storeError(base.Close())
}

// idle implements member: a snapshot is held until it is closed.
func (n *snapshot) idle(int64) {}

// shut implements member.
func (n *snapshot) shut() {
	if err := n.Close(); err != nil {
		n.s.log.Error("close a snapshot", "error", err)
	}
}
