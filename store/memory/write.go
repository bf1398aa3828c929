package memory

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// Apply applies the mutations of a batch one after the other.
func (s *Store) Apply(ctx context.Context, table string, batch []cell.Mutation) ([][]cell.Cell, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	t, err := s.writableLocked(table)
	if err != nil {
		return nil, err
	}
	var failed *store.BatchError
	var results [][]cell.Cell
	if slices.ContainsFunc(batch, func(m cell.Mutation) bool { return m.ReturnResults }) {
		results = make([][]cell.Cell, len(batch))
	}
	for i := range batch {
		cells, err := s.mutateLocked(t, &batch[i])
		switch {
		case err != nil:
			failed = failed.Add(i, len(batch), err)
		case batch[i].ReturnResults:
			results[i] = cells
		}
	}
	if failed != nil {
		return results, failed
	}
	return results, nil
}

// mutateLocked applies one mutation or refuses it whole. It returns the new
// cells of increments and appends.
func (s *Store) mutateLocked(t *table, m *cell.Mutation) ([]cell.Cell, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if err := t.checkFamilies(m); err != nil {
		return nil, err
	}
	now := s.nowLocked()
	if first, ok := t.nonces.find(m, now); ok {
		return cloneCells(first), nil
	}
	p := plan{table: t, mutation: m, now: now, old: t.cells(m.Row), stamp: t.stamps[string(m.Row)]}
	if err := p.run(); err != nil {
		return nil, err
	}
	t.set(m.Row, merge(p.old, p.added))
	t.stamps[string(m.Row)] = p.stamp
	t.nonces.keep(m, p.results, now)
	return cloneCells(p.results), nil
}

// checkFamilies refuses a mutation that names a family which the table lacks.
func (t *table) checkFamilies(m *cell.Mutation) error {
	for i := range m.Edits {
		if m.Edits[i].Family == nil {
			continue // a row delete, as Validate has seen
		}
		if _, err := t.family(m.Edits[i].Family); err != nil {
			return err
		}
	}
	return nil
}

// plan works out which cells a mutation adds to its row, before any is added.
type plan struct {
	table    *table
	mutation *cell.Mutation
	now      int64
	old      []cell.Cell // the row as it was; every edit sees this
	stamp    stamp
	given    int64 // the timestamp of all edits at Latest
	added    []cell.Cell
	results  []cell.Cell
}

func (p *plan) run() error {
	puts, deletes := false, false
	for i := range p.mutation.Edits {
		e := &p.mutation.Edits[i]
		switch {
		case e.Op.ReadsFirst():
			puts = true
		case e.Timestamp != cell.Latest:
		case e.Op.IsDelete():
			deletes = true
		default:
			puts = true
		}
	}
	p.given = p.stamp.give(p.now, puts, deletes)
	if puts {
		p.stamp.notePut(p.given)
	}
	if deletes {
		p.stamp.noteDelete(p.given)
	}
	for i := range p.mutation.Edits {
		if err := p.edit(&p.mutation.Edits[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) edit(e *cell.Edit) error {
	switch e.Op {
	case cell.OpIncrement, cell.OpAppend:
		return p.readModifyWrite(e)
	case cell.OpDelete:
		if e.Timestamp == cell.Latest {
			return p.deleteNewest(e)
		}
	case cell.OpDeleteFamily:
		if e.Family == nil {
			return p.deleteRow(e)
		}
	}
	return p.add(p.cell(e, p.timestamp(e)))
}

func (p *plan) timestamp(e *cell.Edit) int64 {
	if e.Timestamp == cell.Latest {
		return p.given
	}
	return e.Timestamp
}

// cell makes the cell that an edit stores.
func (p *plan) cell(e *cell.Edit, timestamp int64) cell.Cell {
	c := cell.Cell{
		Row: p.mutation.Row, Family: e.Family, Qualifier: e.Qualifier,
		Timestamp: timestamp, Type: e.Op.Stores(), Tags: e.Tags,
	}
	if c.Type.IsFamilyMarker() {
		c.Qualifier = nil
	}
	if !c.Type.IsMarker() {
		c.Value = e.Value
		c.TTL = p.mutation.TTL
	}
	return c.Clone()
}

// add takes a cell into the plan.
func (p *plan) add(c cell.Cell) error {
	if size := c.Size(); size > cell.MaxCell {
		return &store.CellSizeError{Row: c.Row, Family: c.Family, Qualifier: c.Qualifier, Size: size, Limit: cell.MaxCell}
	}
	p.added = append(p.added, c)
	return nil
}

// deleteNewest marks the newest visible version of the column, and a second such
// edit of one mutation the version before it; where there is none, the marker
// stands at "now", as in HBase.
func (p *plan) deleteNewest(e *cell.Edit) error {
	timestamp := p.given
	n := 0
	for i := range p.mutation.Edits {
		o := &p.mutation.Edits[i]
		if o.Op == cell.OpDelete && o.Timestamp == cell.Latest && bytes.Equal(o.Family, e.Family) && bytes.Equal(o.Qualifier, e.Qualifier) {
			n++
		}
		if o == e {
			break
		}
	}
	if c := p.table.version(n, p.old, e.Family, e.Qualifier, cell.AllTime, p.now); c != nil {
		timestamp = c.Timestamp
	}
	return p.add(p.cell(e, timestamp))
}

// deleteRow marks every family of the table.
func (p *plan) deleteRow(e *cell.Edit) error {
	for i := range p.table.info.Schema.Families {
		c := p.cell(e, p.timestamp(e))
		c.Family = []byte(p.table.info.Schema.Families[i].Name)
		if err := p.add(c); err != nil {
			return err
		}
	}
	return nil
}

// readModifyWrite works out an increment or an append: a new version above the
// old one.
func (p *plan) readModifyWrite(e *cell.Edit) error {
	old := p.table.newest(p.old, e.Family, e.Qualifier, p.mutation.Within, p.now)
	c := p.cell(e, p.given)
	var value []byte
	if old != nil {
		value = old.Value
		c.Timestamp = max(p.given, after(old.Timestamp))
		c.Tags = slices.Concat(c.Tags, old.Tags)
		if c.TTL == 0 {
			c.TTL = old.TTL
		}
	}
	if e.Op == cell.OpAppend {
		c.Value = slices.Concat(value, e.Value)
	} else {
		var sum uint64
		if old != nil {
			if len(value) != 8 {
				return &store.CounterError{Width: len(value)}
			}
			sum = binary.BigEndian.Uint64(value)
		}
		c.Value = binary.BigEndian.AppendUint64(nil, sum+uint64(e.Amount))
	}
	if err := p.add(c); err != nil {
		return err
	}
	// A cell above one that its writer dated ahead of the clock is not
	// remembered: it must not take the whole row along.
	if old == nil || old.Timestamp <= max(p.given, p.stamp.lastPut) {
		p.stamp.notePut(c.Timestamp)
	}
	p.results = append(p.results, c)
	return nil
}

// after is the next timestamp; the last one has none.
func after(timestamp int64) int64 {
	if timestamp == cell.Latest {
		return timestamp
	}
	return timestamp + 1
}

// DeleteRows removes the rows of a range, markers and all, so that whatever is
// written later is seen.
func (s *Store) DeleteRows(ctx context.Context, table string, r cell.Range) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	t, err := s.writableLocked(table)
	if err != nil {
		return err
	}
	t.rows = slices.DeleteFunc(t.rows, func(row row) bool { return r.Contains(row.key) })
	return nil
}
