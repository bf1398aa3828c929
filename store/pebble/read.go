package pebble

import (
	"context"
	"sync"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// Get implements store.Reader.
func (s *Store) Get(ctx context.Context, name string, get *cell.Get, into *cell.Result) error {
	return s.getFrom(ctx, s.db, name, get, into)
}

func (s *Store) getFrom(ctx context.Context, from pebbledb.Reader, name string, get *cell.Get, into *cell.Result) error {
	into.Reset()
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
	defer t.mu.RUnlock()
	if err := cell.ValidateRow(get.Row); err != nil {
		return err
	}
	plan, err := planRead(t, &get.Read, false, s.clock.now())
	if err != nil {
		return err
	}
	return readRow(from, t, plan, get.Row, into)
}

// rowReader is what reading one row needs besides the iterator.
type rowReader struct {
	walk   familyWalk
	prefix []byte
}

var rowReaders = sync.Pool{New: func() any { return new(rowReader) }}

// readRow reads one row whole: one iterator, so one moment, for all families.
func readRow(from pebbledb.Reader, t *table, plan *readPlan, row []byte, into *cell.Result) error {
	r := rowReaders.Get().(*rowReader)
	defer rowReaders.Put(r)
	it, err := from.NewIter(&pebbledb.IterOptions{})
	if err != nil {
		return storeError(err)
	}
	into.Row = into.Copy(row)
	for i := range plan.families {
		if err = r.family(it, t, plan, &plan.families[i], row, into); err != nil {
			break
		}
	}
	if len(into.Cells) == 0 {
		into.Row = nil
	}
	r.walk.it = nil
	return storeError(closeWith(it, err))
}

func (r *rowReader) family(it *pebbledb.Iterator, t *table, plan *readPlan, f *familyPlan, row []byte, into *cell.Result) error {
	r.prefix = appendRowPrefix(r.prefix[:0], t.id, f.family.id, row)
	if !r.seek(it, f) {
		return it.Error()
	}
	r.walk.begin(it, plan, f, r.prefix)
	for r.walk.next(into) {
	}
	return r.walk.err
}

// seek stands the iterator at the first key of the row that matters: the first
// wanted column, where no family marker can mask it.
func (r *rowReader) seek(it *pebbledb.Iterator, f *familyPlan) bool {
	if len(f.columns) == 0 || f.family.markers.Load() {
		return it.SeekPrefixGE(r.prefix)
	}
	n := len(r.prefix)
	r.prefix = append(append(r.prefix, f.columns[0]...), escByte, escEnd)
	ok := it.SeekPrefixGE(r.prefix)
	r.prefix = r.prefix[:n]
	return ok
}

// Snapshot implements store.Snapshotter.
func (s *Store) Snapshot(ctx context.Context) (store.Snapshot, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.RUnlock()
	snap := &snapshot{s: s, at: s.db.NewSnapshot()}
	s.scanners.add(snap)
	return snap, nil
}

// snapshot reads as of one moment. Tables that are dropped meanwhile are gone
// from it too.
type snapshot struct {
	s  *Store
	mu sync.RWMutex
	at *pebbledb.Snapshot // nil once closed
}

// Get implements store.Reader.
func (n *snapshot) Get(ctx context.Context, table string, get *cell.Get, into *cell.Result) error {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if n.at == nil {
		return store.ErrClosed
	}
	return n.s.getFrom(ctx, n.at, table, get, into)
}

// Scan implements store.Reader. The scanner reads as of the snapshot too, and
// must be closed before it.
func (n *snapshot) Scan(ctx context.Context, table string, scan *cell.Scan) (store.Scanner, error) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if n.at == nil {
		return nil, store.ErrClosed
	}
	return n.s.scanFrom(ctx, n, table, scan)
}

// Regions implements store.Reader.
func (n *snapshot) Regions(ctx context.Context, table string) ([]store.Region, error) {
	return n.s.Regions(ctx, table)
}

// Partitions implements store.Reader.
func (n *snapshot) Partitions(ctx context.Context, table string, r cell.Range, k int) ([]cell.Range, error) {
	return n.s.Partitions(ctx, table, r, k)
}

// iterator opens an iterator of the snapshot.
func (n *snapshot) iterator(o *pebbledb.IterOptions) (*pebbledb.Iterator, error) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if n.at == nil {
		return nil, store.ErrClosed
	}
	return n.at.NewIter(o)
}

// Close implements io.Closer.
func (n *snapshot) Close() error {
	n.s.scanners.remove(n)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.at == nil {
		return nil
	}
	at := n.at
	n.at = nil
	return at.Close()
}

// idle implements member: a snapshot is held until it is closed.
func (n *snapshot) idle(int64) {}

// shut implements member.
func (n *snapshot) shut() {
	if err := n.Close(); err != nil {
		n.s.log.Error("close a snapshot", "error", err)
	}
}
