package pebble

import (
	"context"
	"sync"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"github.com/cellardb/cellar/cell"
)

// Get implements store.Reader.
func (s *Store) Get(ctx context.Context, name string, get *cell.Get, into *cell.Result) error {
	return s.getFrom(ctx, live{s}, name, get, into)
}

// view is what a read reads: the store as it is, or a snapshot.
type view interface {
	find(table string) (*table, error)
	iterators
}

// iterators opens Pebble iterators: a view, or a batch and what is under it.
type iterators interface {
	NewIter(o *pebbledb.IterOptions) (*pebbledb.Iterator, error)
}

// live is the store as it is.
type live struct{ s *Store }

func (l live) find(name string) (*table, error) { return l.s.catalog.find(name) }

// NewIter implements iterators.
func (l live) NewIter(o *pebbledb.IterOptions) (*pebbledb.Iterator, error) { return l.s.db.NewIter(o) }

func (s *Store) getFrom(ctx context.Context, from view, name string, get *cell.Get, into *cell.Result) error {
	into.Reset()
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.gate.RUnlock()
	t, err := from.find(name)
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
	if plan.filter, err = s.newFiltering(get.Filter, false, false); err != nil {
		return err
	}
	if err := readRow(from, t, plan, get.Row, into); err != nil {
		return err
	}
	t.heat.got(into)
	return nil
}

// rowReader is what reading one row needs besides the iterator.
type rowReader struct {
	walk   familyWalk
	prefix []byte
}

var rowReaders = sync.Pool{New: func() any { return new(rowReader) }}

// readRow reads one row whole: one iterator, so one moment, for all families.
func readRow(from iterators, t *table, plan *readPlan, row []byte, into *cell.Result) error {
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
	plan.filter.endRow(into)
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
	r.walk.end(plan.filter)
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
