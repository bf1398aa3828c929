package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cellardb/cellar/cell"
)

// MutateRow applies one mutation atomically and returns the new cells of its
// increments and appends. A refusal comes as itself, not in a BatchError.
func MutateRow(ctx context.Context, w Writer, table string, m *cell.Mutation) ([]cell.Cell, error) {
	one := [1]cell.Mutation{*m}
	one[0].ReturnResults = true
	results, err := w.Apply(ctx, table, one[:])
	if err != nil {
		var b *BatchError
		if errors.As(err, &b) && len(b.Failed) == 1 {
			return nil, b.Failed[0].Err
		}
		return nil, err
	}
	if len(results) == 0 {
		return nil, nil
	}
	return results[0], nil
}

// Increment adds to one counter and returns its new value.
func Increment(ctx context.Context, w Writer, table string, row, family, qualifier []byte, amount int64, d cell.Durability) (int64, error) {
	m := cell.NewMutation(row).Increment(family, qualifier, amount)
	m.Durability = d
	cells, err := MutateRow(ctx, w, table, m)
	if err != nil {
		return 0, err
	}
	if len(cells) != 1 || len(cells[0].Value) != 8 {
		return 0, fmt.Errorf("increment of %s: the engine answered %d cells", cell.Printable(row), len(cells))
	}
	return int64(binary.BigEndian.Uint64(cells[0].Value)), nil
}

// Append adds bytes at the end of one cell and returns the new cell.
func Append(ctx context.Context, w Writer, table string, row, family, qualifier, value []byte, d cell.Durability) (cell.Cell, error) {
	m := cell.NewMutation(row).Append(family, qualifier, value)
	m.Durability = d
	cells, err := MutateRow(ctx, w, table, m)
	if err != nil {
		return cell.Cell{}, err
	}
	if len(cells) != 1 {
		return cell.Cell{}, fmt.Errorf("append to %s: the engine answered %d cells", cell.Printable(row), len(cells))
	}
	return cells[0], nil
}
