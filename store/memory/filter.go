package memory

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
	"github.com/cellardb/cellar/store"
)

// filtering is the filter of one read at work. Package filter says which step
// comes when; this is those steps, one after the other, on whole rows.
type filtering struct {
	eval *filter.Evaluator
	// reversed: the scan goes down the rows.
	reversed bool
	// over: nothing that is left can pass.
	over bool
	// ahead has the families whose cells the filter wants left out before some
	// row that is not reached yet.
	ahead map[string][]byte
}

// filtering makes the state of a read's filter; nil if it has none. parts says
// that the read cuts rows.
func (s *Store) filtering(f cell.Filter, reversed, parts bool) (*filtering, error) {
	if f == nil {
		return nil, nil
	}
	eval, err := filter.New(f, filter.Options{Reversed: reversed, Backtracking: s.backtracking})
	switch {
	case errors.Is(err, filter.ErrUnknown):
		return nil, fmt.Errorf("filter %s: %w: %v", f.String(), store.ErrUnsupported, err)
	case err != nil:
		return nil, err
	case parts && eval.HasFilterRow():
		return nil, filter.ErrIncompatible
	}
	return &filtering{eval: eval, reversed: reversed, ahead: map[string][]byte{}}, nil
}

// row gives what the filter keeps of a row. families has the cells that the
// read shows, each family's own, in the order of the families' names. A row
// that shows nothing is no row to the filter.
func (f *filtering) row(families [][]cell.Cell, read *cell.Read) ([]cell.Cell, error) {
	families = f.reached(families)
	if len(families) == 0 {
		return nil, nil
	}
	if f.eval.FilterAllRemaining() {
		f.over = true
		return nil, nil
	}
	drop, err := f.eval.FilterRowKey(families[0][0].Row)
	if err != nil {
		return nil, err
	}
	var kept []cell.Cell
	for _, cells := range families {
		part, err := f.family(cells, read)
		if err != nil {
			return nil, err
		}
		kept = append(kept, part...)
	}
	if drop {
		kept = nil
	}
	// Asked behind the last cell as before each: Reset may change the answer.
	f.over = f.eval.FilterAllRemaining()
	if f.eval.HasFilterRow() {
		kept = f.eval.FilterRowCells(kept)
	}
	if len(kept) > 0 && f.eval.FilterRow() {
		kept = nil
	}
	f.eval.Reset()
	return kept, nil
}

// reached leaves out families without cells, and those that the filter wants
// to go on with at a later row.
func (f *filtering) reached(families [][]cell.Cell) [][]cell.Cell {
	var reached [][]cell.Cell
	for _, cells := range families {
		if len(cells) > 0 && !f.isAhead(&cells[0]) {
			reached = append(reached, cells)
		}
	}
	return reached
}

// isAhead says whether the row to go on at in a cell's family is beyond the
// cell's.
func (f *filtering) isAhead(c *cell.Cell) bool {
	row, ok := f.ahead[string(c.Family)]
	if !ok {
		return false
	}
	order := bytes.Compare(c.Row, row)
	return order < 0 && !f.reversed || order > 0 && f.reversed
}

// family offers the cells of one family of a row to the filter, and goes on
// where its answers lead. It gives those that it keeps, changed where it
// changes them.
func (f *filtering) family(cells []cell.Cell, read *cell.Read) ([]cell.Cell, error) {
	var kept []cell.Cell
	versions := 0 // kept of the column
	for i := 0; i < len(cells) && !f.eval.FilterAllRemaining(); {
		c := cells[i]
		if i == 0 || !bytes.Equal(c.Qualifier, cells[i-1].Qualifier) {
			versions = 0
		}
		code, err := f.eval.FilterCell(&c)
		if err != nil {
			return nil, err
		}
		if code.Includes() {
			versions++
		}
		switch {
		case !code.Includes():
		case versions > read.Versions():
			code = leave(code)
		default:
			f.eval.Transform(&c)
			kept = append(kept, c)
			if read.StoreLimit > 0 && len(kept) > read.StoreOffset+read.StoreLimit {
				code = filter.NextRow
			}
		}
		i = f.next(cells, i, code)
	}
	return cut(kept, read.StoreOffset, read.StoreLimit), nil
}

// leave is the answer for a cell that passed beyond the versions that the read
// wants: nothing more of its column is wanted.
func leave(code filter.Code) filter.Code {
	if code == filter.IncludeAndSeekNextRow {
		return filter.NextRow
	}
	return filter.NextCol
}

// next finds the cell to go on with behind cell i: len(cells) is none.
func (f *filtering) next(cells []cell.Cell, i int, code filter.Code) int {
	switch code {
	case filter.NextRow, filter.IncludeAndSeekNextRow:
		return len(cells)
	case filter.NextCol, filter.IncludeAndNextCol:
		return find(cells, i+1, func(c *cell.Cell) bool { return !bytes.Equal(c.Qualifier, cells[i].Qualifier) })
	case filter.SeekNextUsingHint:
		return f.seek(cells, i)
	}
	return i + 1
}

// seek goes on where the filter hints.
func (f *filtering) seek(cells []cell.Cell, i int) int {
	hint, ok := f.eval.NextHint(&cells[i])
	switch {
	case !ok:
		return i + 1
	case !hint.InRow:
		f.ahead[string(cells[i].Family)] = bytes.Clone(hint.Row)
		return len(cells)
	}
	return find(cells, i+1, func(c *cell.Cell) bool {
		order := bytes.Compare(c.Qualifier, hint.Qualifier)
		return order > 0 || order == 0 && c.Timestamp <= hint.Timestamp
	})
}

// find is the index of the first cell from a place on for which ok holds;
// len(cells) is none.
func find(cells []cell.Cell, from int, ok func(c *cell.Cell) bool) int {
	at := slices.IndexFunc(cells[from:], func(c cell.Cell) bool { return ok(&c) })
	if at < 0 {
		return len(cells)
	}
	return from + at
}
