package pebble

import (
	"errors"
	"fmt"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
	"github.com/cellardb/cellar/store"
)

// filtering is a read's filter at work. Package filter says which step comes
// when.
type filtering struct {
	eval *filter.Evaluator
	// dropped: the row's key was refused. Its cells are still offered, since
	// the answers move the filter and the scan, and none is kept.
	dropped bool
	cell    cell.Cell // the one offered; kept here so that it is not allocated
	scratch []byte
}

// newFiltering makes the state of a read's filter; nil without one. parts says
// that the read cuts rows.
func (s *Store) newFiltering(f cell.Filter, reversed, parts bool) (*filtering, error) {
	if f == nil {
		return nil, nil
	}
	eval, err := filter.New(f, filter.Options{Reversed: reversed, Backtracking: s.opts.Backtracking})
	switch {
	case errors.Is(err, filter.ErrUnknown):
		return nil, fmt.Errorf("%w: the filter %s cannot be evaluated: %v", store.ErrUnsupported, f, err)
	case err != nil:
		return nil, err
	case parts && eval.HasFilterRow():
		return nil, filter.ErrIncompatible
	}
	return &filtering{eval: eval}, nil
}

// over says that nothing that is left can pass.
func (f *filtering) over() bool { return f != nil && f.eval.FilterAllRemaining() }

func (f *filtering) beginRow(row []byte) (err error) {
	if f != nil {
		f.dropped, err = f.eval.FilterRowKey(row)
	}
	return err
}

// endRow judges the row whose cells are in the result, and empties it where the
// row is dropped.
func (f *filtering) endRow(r *cell.Result) {
	if f == nil {
		return
	}
	if f.eval.HasFilterRow() {
		r.Cells = f.eval.FilterRowCells(r.Cells)
	}
	if len(r.Cells) > 0 && f.eval.FilterRow() {
		r.Cells = r.Cells[:0]
	}
	f.eval.Reset()
}

// offer asks about one cell that the read shows.
func (w *familyWalk) offer(k *cellKey, value []byte, ttl int64, tags []byte, into *cell.Result) (filter.Code, error) {
	f := w.read.filter
	if f.eval.FilterAllRemaining() {
		return filter.NextRow, nil
	}
	f.scratch = unescape(f.scratch[:0], k.qualifier)
	f.cell = cell.Cell{
		Row: into.Row, Family: w.plan.family.name, Qualifier: f.scratch,
		Timestamp: k.timestamp, Type: k.typ, Value: value, TTL: ttl, Tags: tags,
	}
	return f.eval.FilterCell(&f.cell)
}

// filtered offers a cell to the filter and does what it says: it keeps the cell
// or not, and moves on.
func (w *familyWalk) filtered(k *cellKey, value []byte, ttl int64, tags []byte, into *cell.Result) (give bool, err error) {
	code, err := w.offer(k, value, ttl, tags, into)
	if err != nil {
		return false, err
	}
	if code.Includes() && !w.read.filter.dropped {
		w.passed++
		if w.passed > w.plan.wanted {
			w.leave(len(k.qualifier))
			return false, nil
		}
		if give = w.give(k, value, ttl, tags, into); give {
			w.read.filter.eval.Transform(&into.Cells[len(into.Cells)-1])
		}
	}
	switch code {
	case filter.NextRow, filter.IncludeAndSeekNextRow:
		w.done = true
	case filter.NextCol, filter.IncludeAndNextCol:
		w.leave(len(k.qualifier))
		return give, nil
	case filter.SeekNextUsingHint:
		if w.follow(k) {
			return give, nil
		}
	}
	if !w.done && w.versions >= w.plan.versions {
		w.leave(len(k.qualifier))
	}
	return give, nil
}

// follow goes on where the filter hints, if that is another column or row; it
// says whether it moved. Within a column it does not jump, since a marker may
// stand in between; and not out of the empty one while family markers may
// follow there.
func (w *familyWalk) follow(k *cellKey) bool {
	h, ok := w.read.filter.eval.NextHint(&w.read.filter.cell)
	switch {
	case !ok:
		return false
	case !h.InRow:
		w.done = true
		w.hint = appendEscaped(w.hint[:0], h.Row)
		w.hinted = true
		return true
	case len(k.qualifier) == 0 && w.plan.family.markers.Load():
		return false
	}
	column := appendEscaped(nil, h.Qualifier)
	if string(column) <= string(k.qualifier) {
		return false
	}
	w.seekColumn(column)
	return true
}
