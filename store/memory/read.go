package memory

import (
	"context"
	"fmt"
	"io"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
	"github.com/cellardb/cellar/store"
)

// checkRead refuses a family that the table lacks.
func (t *table) checkRead(read *cell.Read) error {
	for i := range read.Select {
		if _, err := t.family(read.Select[i].Family); err != nil {
			return err
		}
	}
	return nil
}

// Get reads one row.
func (s *Store) Get(ctx context.Context, table string, get *cell.Get, into *cell.Result) error {
	into.Reset()
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	t, err := s.readableLocked(table)
	if err != nil {
		return err
	}
	if err := get.Validate(); err != nil {
		return err
	}
	if err := t.checkRead(&get.Read); err != nil {
		return err
	}
	f, err := s.filtering(&get.Read, false, false)
	if err != nil {
		return err
	}
	cells, err := t.readRow(t.cells(get.Row), &get.Read, f, false, s.nowLocked())
	if err != nil {
		return err
	}
	into.Row = into.Copy(get.Row)
	for i := range cells {
		into.Cells = append(into.Cells, copyInto(into, &cells[i]))
	}
	return nil
}

func copyInto(into *cell.Result, c *cell.Cell) cell.Cell {
	d := *c
	d.Row = into.Row
	d.Family = into.Copy(c.Family)
	d.Qualifier = into.Copy(c.Qualifier)
	d.Value = into.Copy(c.Value)
	if c.Tags != nil {
		d.Tags = into.Copy(c.Tags)
	}
	return d
}

// Scan opens a scanner. It takes each row whole as of the moment it is read.
func (s *Store) Scan(ctx context.Context, table string, scan *cell.Scan) (store.Scanner, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	t, err := s.readableLocked(table)
	if err != nil {
		return nil, err
	}
	if err := scan.Validate(); err != nil {
		return nil, err
	}
	if err := t.checkRead(&scan.Read); err != nil {
		return nil, err
	}
	own := cloneScan(scan)
	f, err := s.filtering(&own.Read, own.Reversed, own.Batch > 0 || own.MaxBytes > 0)
	if err != nil {
		return nil, err
	}
	return &scanner{store: s, table: t, scan: own, filter: f, rest: own.Ascending()}, nil
}

// scanner is a scan under way.
type scanner struct {
	store  *Store
	table  *table
	scan   *cell.Scan
	filter *filter.Walker // nil: none
	rest   cell.Range     // the rows that were not read yet
	rows   int            // how many were
	part   []cell.Cell    // cells of the current row that were not given out yet
	end    error          // what Next answers from now on; nil: go on
}

// Next gives the next row or part of one.
func (c *scanner) Next(ctx context.Context) (*cell.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.end != nil {
		return nil, c.end
	}
	if err := c.store.begin(ctx); err != nil {
		c.end = err
		return nil, err
	}
	defer c.store.mu.Unlock()
	if err := c.table.usable(); err != nil {
		c.end = err
		return nil, err
	}
	if len(c.part) == 0 {
		if c.end = c.advanceLocked(); c.end != nil {
			return nil, c.end
		}
	}
	return c.takePart(), nil
}

// advanceLocked reads the next row that has cells for the scan; io.EOF: there
// is none.
func (c *scanner) advanceLocked() error {
	if c.scan.Limit > 0 && c.rows == c.scan.Limit {
		return io.EOF
	}
	now := c.store.nowLocked()
	for {
		if c.filter != nil && c.filter.Done() {
			return io.EOF
		}
		r := c.nextRow()
		if r == nil {
			return io.EOF
		}
		var err error
		c.part, err = c.table.readRow(r.cells, &c.scan.Read, c.filter, c.scan.Raw, now)
		if err != nil {
			return err
		}
		if len(c.part) > 0 {
			c.rows++
			return nil
		}
	}
}

// nextRow finds the first row of what is left of the range, from the end where
// the scan begins, and takes it off the range.
func (c *scanner) nextRow() *row {
	rows := c.table.rows
	if c.scan.Reversed {
		at := len(rows)
		if len(c.rest.Stop) > 0 {
			var found bool
			at, found = c.table.search(c.rest.Stop)
			if found && c.rest.StopInclusive {
				at++
			}
		}
		if at == 0 || !c.rest.Contains(rows[at-1].key) {
			return nil
		}
		c.rest.Stop, c.rest.StopInclusive = rows[at-1].key, false
		return &rows[at-1]
	}
	at := 0
	if len(c.rest.Start) > 0 {
		var found bool
		at, found = c.table.search(c.rest.Start)
		if found && c.rest.StartExclusive {
			at++
		}
	}
	if at == len(rows) || !c.rest.Contains(rows[at].key) {
		return nil
	}
	c.rest.Start, c.rest.StartExclusive = rows[at].key, true
	return &rows[at]
}

// takePart cuts the next result from the current row.
func (c *scanner) takePart() *cell.Result {
	n := len(c.part)
	if c.scan.Batch > 0 {
		n = min(n, c.scan.Batch)
	}
	if c.scan.MaxBytes > 0 {
		n = min(n, withinBytes(c.part, c.scan.MaxBytes))
	}
	result := &cell.Result{Cells: cloneCells(c.part[:n]), Partial: n < len(c.part)}
	result.Row = result.Cells[0].Row
	c.part = c.part[n:]
	return result
}

// withinBytes says how many cells it takes to exceed a size in bytes.
func withinBytes(cells []cell.Cell, limit int) int {
	size := 0
	for i := range cells {
		size += cells[i].Size()
		if size > limit {
			return i + 1
		}
	}
	return len(cells)
}

// Close ends the scan.
func (c *scanner) Close() error {
	c.end = fmt.Errorf("scanner: %w", store.ErrClosed)
	c.part = nil
	return nil
}
