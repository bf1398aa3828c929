package storetest

import (
	"context"
	"errors"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// Apply applies the mutations one by one.
func (w *WeakStore) Apply(ctx context.Context, table string, batch []cell.Mutation) ([][]cell.Cell, error) {
	if err := w.up(); err != nil {
		return nil, err
	}
	if len(batch) == 0 {
		return w.inner.Apply(ctx, table, batch)
	}
	var failed *store.BatchError
	var results [][]cell.Cell
	for i := range batch {
		if w.stops() {
			return nil, ErrStopped
		}
		cells, err := w.applyOne(ctx, table, &batch[i])
		var b *store.BatchError
		switch {
		case errors.As(err, &b):
			failed = failed.Add(i, len(batch), b.Failed[0].Err)
		case err != nil && (i == 0 || ctx.Err() != nil):
			return nil, err
		case err != nil:
			// A refusal of the whole batch says that nothing was done, which
			// is not true any more.
			return nil, errors.Join(ErrStopped, unmatched{err})
		}
		if batch[i].ReturnResults && results == nil {
			results = make([][]cell.Cell, len(batch))
		}
		if cells != nil {
			results[i] = cells
		}
	}
	if w.stops() {
		return nil, ErrStopped
	}
	if err := w.late(ctx); err != nil {
		return nil, err
	}
	if failed != nil {
		return results, failed
	}
	return results, nil
}

// unmatched is an error that is told and matches nothing.
type unmatched struct{ err error }

func (u unmatched) Error() string { return u.err.Error() }

// applyOne applies one mutation, once or twice.
func (w *WeakStore) applyOne(ctx context.Context, table string, m *cell.Mutation) ([]cell.Cell, error) {
	if err := w.fails(ctx, table); errors.Is(err, store.ErrBusy) {
		var b *store.BatchError
		return nil, b.Add(0, 1, err)
	} else if err != nil {
		return nil, err
	}
	one := []cell.Mutation{*w.date(m)}
	results, err := w.inner.Apply(ctx, table, one)
	if err == nil && bearsTwice(m) && w.chance(w.opts.Twice, func(c *WeakCounts) { c.Twice++ }) {
		results, err = w.inner.Apply(ctx, table, one)
	}
	if err != nil || len(results) == 0 {
		return nil, err
	}
	return results[0], nil
}

// CheckAndMutate may stop before or after it was done.
func (w *WeakStore) CheckAndMutate(ctx context.Context, table string, check *cell.Check, m *cell.Mutation) (bool, []cell.Cell, error) {
	if err := w.up(); err != nil {
		return false, nil, err
	}
	if w.stops() {
		return false, nil, ErrStopped
	}
	if err := w.fails(ctx, table); err != nil {
		return false, nil, err
	}
	applied, results, err := w.inner.CheckAndMutate(ctx, table, check, w.date(m))
	if err != nil {
		return false, nil, err
	}
	if w.stops() {
		return false, nil, ErrStopped
	}
	if err := w.late(ctx); err != nil {
		return false, nil, err
	}
	return applied, results, nil
}

// DeleteRows removes row by row where it may stop or leave markers; else it is
// the inner engine's.
func (w *WeakStore) DeleteRows(ctx context.Context, table string, r cell.Range) error {
	if err := w.up(); err != nil {
		return err
	}
	if err := w.fails(ctx, table); err != nil {
		return err
	}
	if w.opts.Stop == 0 && !w.opts.MarkRows {
		return errors.Join(w.inner.DeleteRows(ctx, table, r), w.late(ctx))
	}
	// The inner engine refuses what it must before rows are looked for.
	if err := w.inner.DeleteRows(ctx, table, cell.Range{Start: []byte{1}, Stop: []byte{0}}); err != nil {
		return err
	}
	all := cell.Scan{Range: r, Raw: true}
	all.MaxVersions = allVersions
	rows, err := readAll(ctx, w.inner, table, &all)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if w.stops() {
			return ErrStopped
		}
		if err := w.deleteRow(ctx, table, row); err != nil {
			return err
		}
	}
	return w.late(ctx)
}

// deleteRow removes a row. Markers stand at "now", and, for cells dated ahead of
// it, at their own timestamps: nothing above the time of the call is masked.
func (w *WeakStore) deleteRow(ctx context.Context, table string, row *cell.Result) error {
	if !w.opts.MarkRows {
		return w.inner.DeleteRows(ctx, table, cell.Range{Start: row.Row, Stop: row.Row, StopInclusive: true})
	}
	w.mu.Lock()
	w.mu.counts.Marked++
	w.mu.Unlock()
	now := w.opts.Clock()
	m := cell.NewMutation(row.Row).DeleteRow(now)
	for i := range row.Cells {
		if c := &row.Cells[i]; c.Timestamp > now && !c.Type.IsMarker() {
			m.Delete(c.Family, c.Qualifier, c.Timestamp)
		}
	}
	_, err := store.MutateRow(ctx, w.inner, table, m)
	return err
}
