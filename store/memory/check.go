package memory

import (
	"bytes"
	"context"
	"fmt"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
)

// CheckAndMutate applies the mutation if the check holds on its row.
func (s *Store) CheckAndMutate(ctx context.Context, table string, check *cell.Check, m *cell.Mutation) (bool, []cell.Cell, error) {
	if err := s.begin(ctx); err != nil {
		return false, nil, err
	}
	defer s.mu.Unlock()
	t, err := s.writableLocked(table)
	if err != nil {
		return false, nil, err
	}
	if err := m.Validate(); err != nil {
		return false, nil, err
	}
	if err := t.checkCheck(check); err != nil {
		return false, nil, err
	}
	read := cell.Read{Within: check.Within, Filter: check.Filter}
	f, err := s.filtering(&read, false, false)
	if err != nil {
		return false, nil, err
	}
	now := s.nowLocked()
	if _, retried := t.nonces.find(m, now); !retried {
		if ok, err := t.checked(t.cells(m.Row), check, &read, f, now); err != nil || !ok {
			return false, nil, err
		}
	}
	results, err := s.mutateLocked(t, m)
	if err != nil {
		return false, nil, err
	}
	if !m.ReturnResults {
		results = nil
	}
	return true, results, nil
}

// checkCheck refuses a check that cannot be made. With a filter neither family
// nor comparison matter.
func (t *table) checkCheck(check *cell.Check) error {
	if err := check.Within.Validate(); err != nil || check.Filter != nil {
		return err
	}
	if check.Op >= cell.NoOp {
		return &cell.ArgumentError{Text: fmt.Sprintf("unknown comparison %d: use one of LESS to GREATER", check.Op)}
	}
	_, err := t.family(check.Family)
	return err
}

// checked says whether a check holds on the cells of its row: by its filter,
// that a cell of any column passes.
func (t *table) checked(cells []cell.Cell, check *cell.Check, read *cell.Read, f *filter.Walker, now int64) (bool, error) {
	if f == nil {
		return holds(check, t.newest(cells, check.Family, check.Qualifier, check.Within, now)), nil
	}
	kept, err := t.readRow(cells, read, f, false, now)
	return len(kept) > 0, err
}

// holds compares given OP stored; nil is a missing cell. Without a value the
// question is whether the cell is missing or empty: yes for NotEqual's
// opposite, which all other operations are then.
func holds(check *cell.Check, stored *cell.Cell) bool {
	if len(check.Value) == 0 {
		blank := stored == nil || len(stored.Value) == 0
		return blank == (check.Op != cell.NotEqual)
	}
	if stored == nil {
		return false
	}
	c := bytes.Compare(check.Value, stored.Value)
	switch check.Op {
	case cell.Less:
		return c < 0
	case cell.LessOrEqual:
		return c <= 0
	case cell.Equal:
		return c == 0
	case cell.NotEqual:
		return c != 0
	case cell.GreaterOrEqual:
		return c >= 0
	case cell.Greater:
		return c > 0
	}
	return false
}
