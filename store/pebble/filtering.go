package pebble

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
	"github.com/cellardb/cellar/store"
)

// filtering is a read's filter at work, with the steps of filter.Walker, whose
// answers these must be; here it seeks where that one passes cells over.
type filtering struct {
	eval *filter.Evaluator
	// begun: the filter knows of the current row. It hears of a row when the
	// first cell of it is offered, so that what no read sees (masked cells,
	// which the janitor takes away some time) makes no difference.
	begun bool
	// dropped: the row's key was refused. Its cells are still offered, since
	// the answers move the filter and the scan, and none is kept.
	dropped bool
	done    bool      // no further row can be kept
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

// over says that no further row can be kept.
func (f *filtering) over() bool { return f != nil && f.done }

// beginRow tells the filter of a row, once.
func (f *filtering) beginRow(row []byte) (err error) {
	if f.begun {
		return nil
	}
	f.begun = true
	f.dropped, err = f.eval.FilterRowKey(row)
	if err == nil && f.dropped && f.eval.FilterAllRemaining() {
		f.done = true
	}
	return err
}

// endRow judges the row whose cells are in the result, and empties it where the
// row is dropped.
func (f *filtering) endRow(r *cell.Result) {
	if f == nil || !f.begun {
		return
	}
	f.begun = false
	if f.done {
		r.Cells = r.Cells[:0]
		return
	}
	if len(r.Cells) > 0 && f.eval.HasFilterRow() {
		r.Cells = f.eval.FilterRowCells(r.Cells)
	}
	if len(r.Cells) > 0 && f.eval.FilterRow() {
		r.Cells = r.Cells[:0]
	}
	f.eval.Reset()
	f.done = f.eval.FilterAllRemaining()
}

// filterWalk is what a family's walk keeps for the filter.
type filterWalk struct {
	offered bool // a cell of the row was offered
	full    bool // the limit of cells of the family is reached
	ended   bool // the filter wants nothing more of the family, in any row
	passed  int  // cells of the column that the filter let pass

	hinted  bool   // the filter wants the family to be read on at hintRow
	hintRow []byte // escaped
	// behind: what comes before this place of the row is left out unseen.
	behind       bool
	behindColumn []byte // escaped
	behindTime   int64
}

func (w *filterWalk) begin() {
	w.offered, w.full, w.ended, w.hinted, w.behind = false, false, false, false, false
}

// end notes, when the family is through, whether anything more is wanted of it.
func (w *filterWalk) end(f *filtering) {
	if f != nil && w.offered && !w.full && !f.done {
		w.ended = w.ended || f.eval.FilterAllRemaining()
	}
}

// isBehind says whether a hint leaves a cell of its row out.
func (w *filterWalk) isBehind(k *cellKey) bool {
	if !w.behind {
		return false
	}
	c := bytes.Compare(k.qualifier, w.behindColumn)
	w.behind = c < 0 || c == 0 && k.timestamp > w.behindTime
	return w.behind
}

// filtered offers a cell that the read shows to the filter and does what it
// says: it keeps the cell or not, and moves on.
func (w *familyWalk) filtered(k *cellKey, value []byte, ttl int64, tags []byte, into *cell.Result) (give bool, err error) {
	f := w.read.filter
	if w.isBehind(k) {
		w.leaveSpent(k)
		return false, nil
	}
	if err := f.beginRow(into.Row); err != nil {
		return false, err
	}
	w.offered = true
	if f.done || f.eval.FilterAllRemaining() {
		w.ended, w.done = true, true
		return false, nil
	}
	f.scratch = unescape(f.scratch[:0], k.qualifier)
	f.cell = cell.Cell{
		Row: into.Row, Family: w.plan.family.name, Qualifier: f.scratch,
		Timestamp: k.timestamp, Type: k.typ, Value: value, TTL: ttl, Tags: tags,
	}
	code, err := f.eval.FilterCell(&f.cell)
	if err != nil {
		return false, err
	}
	if code.Includes() {
		w.passed++
		if w.passed > w.plan.wanted {
			code = surplus(code)
		} else if give = w.keep(k, value, ttl, tags, into); w.full {
			w.done = true
			return give, nil
		}
	}
	w.move(code, k)
	return give, nil
}

// surplus is the answer to a cell that is one version too many.
func surplus(c filter.Code) filter.Code {
	if c == filter.IncludeAndSeekNextRow {
		return filter.NextRow
	}
	return filter.NextCol
}

// keep takes a cell into the result, unless it is offset or its row was refused.
func (w *familyWalk) keep(k *cellKey, value []byte, ttl int64, tags []byte, into *cell.Result) bool {
	w.cells++
	w.full = w.read.limit > 0 && w.cells-w.read.offset >= w.read.limit
	if w.cells <= w.read.offset || w.read.filter.dropped {
		return false
	}
	w.add(k, value, ttl, tags, into)
	w.read.filter.eval.Transform(&into.Cells[len(into.Cells)-1])
	return true
}

// move goes on where the answer to a cell says. The column with the empty
// qualifier, where markers of the family may be, is left only where the read
// names columns, as in HBase.
func (w *familyWalk) move(code filter.Code, k *cellKey) {
	switch code {
	case filter.NextRow, filter.IncludeAndSeekNextRow:
		w.done = true
		return
	case filter.NextCol, filter.IncludeAndNextCol:
		if len(k.qualifier) > 0 || w.plan.columns != nil {
			w.leave(len(k.qualifier))
			return
		}
	case filter.SeekNextUsingHint:
		if w.follow(k) {
			return
		}
	}
	w.leaveSpent(k)
}

// leaveSpent leaves a column that has shown all versions that the family keeps.
func (w *familyWalk) leaveSpent(k *cellKey) {
	if w.versions >= w.plan.versions {
		w.leave(len(k.qualifier))
	}
}

// follow goes on where the filter hints, and says whether it moved there. It
// seeks to columns only, since inside of one a marker may stand before the place;
// and not out of the empty one while family markers may follow there. Where it
// does not seek, cells before the place are left out as they come.
func (w *familyWalk) follow(k *cellKey) bool {
	h, ok := w.read.filter.eval.NextHint(&w.read.filter.cell)
	switch {
	case !ok:
		return false
	case !h.InRow:
		w.done, w.hinted = true, true
		w.hintRow = appendEscaped(w.hintRow[:0], h.Row)
		return true
	}
	w.behind, w.behindTime = true, h.Timestamp
	w.behindColumn = appendEscaped(w.behindColumn[:0], h.Qualifier)
	if len(k.qualifier) == 0 && w.plan.family.markers.Load() || bytes.Compare(w.behindColumn, k.qualifier) <= 0 {
		return false
	}
	w.seekColumn(w.behindColumn)
	return true
}
