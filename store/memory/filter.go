package memory

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
	"github.com/cellardb/cellar/store"
)

// filtering makes the state of a read's filter; nil if it has none. parts says
// that the read cuts rows. The read is kept.
func (s *Store) filtering(read *cell.Read, reversed, parts bool) (*filter.Walker, error) {
	if read.Filter == nil {
		return nil, nil
	}
	eval, err := filter.New(read.Filter, filter.Options{Reversed: reversed, Backtracking: s.backtracking})
	switch {
	case errors.Is(err, filter.ErrUnknown):
		return nil, fmt.Errorf("filter %s: %w: %v", read.Filter.String(), store.ErrUnsupported, err)
	case err != nil:
		return nil, err
	case parts && eval.HasFilterRow():
		return nil, filter.ErrIncompatible
	}
	return filter.NewWalker(eval, read), nil
}

// filtered takes the cells that a read shows of a row, family by family, through
// its filter.
func filtered(shown [][]cell.Cell, f *filter.Walker) ([]cell.Cell, error) {
	cells := slices.Concat(shown...)
	if len(cells) == 0 {
		return nil, nil
	}
	return f.Row(cells)
}
