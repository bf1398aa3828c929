package pebble

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// newValue is what an edit that reads first will write.
type newValue struct {
	read      bool
	timestamp int64
	above     int64 // timestamp of the old cell; -1: there was none
	value     []byte
	ttl       int64
	tags      []byte
}

// readOld works out the edits of a mutation that depend on what is stored. All
// of them see the row as it was before the mutation.
func (w *writer) readOld(m *cell.Mutation, families []*family, ts int64) error {
	for k := range m.Edits {
		e := &m.Edits[k]
		v := newValue{}
		var err error
		switch {
		case e.Op.ReadsFirst():
			v, err = w.nextValue(m, e, families[k], ts)
		case e.Op == cell.OpDelete && e.Timestamp == cell.Latest:
			v, err = w.newestVersion(m, k, families[k], ts)
		}
		if err != nil {
			return err
		}
		w.values = append(w.values, v)
	}
	return nil
}

// newest reads the newest visible cell of a column; nil: there is none. It is
// valid until the next read.
func (w *writer) newest(row []byte, f *family, qualifier []byte, within cell.TimeRange) (*cell.Cell, error) {
	return w.version(1, row, f, qualifier, within)
}

// version reads the n-th visible cell of a column, the newest being the first;
// nil: there are fewer. It is valid until the next read.
func (w *writer) version(n int, row []byte, f *family, qualifier []byte, within cell.TimeRange) (*cell.Cell, error) {
	sel := cell.FamilySelect{Family: f.name, Qualifiers: [][]byte{qualifier}}
	read := cell.Read{Within: within, MaxVersions: n}
	plan := readPlan{now: w.now, families: []familyPlan{planFamily(f, &sel, &read, false, w.now)}}
	w.old.Reset()
	if err := readRow(w.batch, w.t, &plan, row, &w.old); err != nil {
		return nil, err
	}
	if len(w.old.Cells) < n {
		return nil, nil
	}
	return &w.old.Cells[n-1], nil
}

// nextValue works out an increment or append.
func (w *writer) nextValue(m *cell.Mutation, e *cell.Edit, f *family, ts int64) (newValue, error) {
	old, err := w.newest(m.Row, f, e.Qualifier, m.Within)
	if err != nil {
		return newValue{}, err
	}
	return w.nextOf(m, e, old, ts)
}

// nextOf works out an increment or append to the newest cell; nil: there is
// none.
func (w *writer) nextOf(m *cell.Mutation, e *cell.Edit, old *cell.Cell, ts int64) (newValue, error) {
	v := newValue{read: true, timestamp: ts, above: -1, ttl: m.TTL, tags: e.Tags}
	var before []byte
	if old != nil {
		before = old.Value
		v.above = old.Timestamp
		v.timestamp = max(ts, old.Timestamp+1)
		if old.Timestamp == math.MaxInt64 {
			v.timestamp = math.MaxInt64
		}
		v.tags = slices.Concat(e.Tags, old.Tags)
		if v.ttl == 0 {
			v.ttl = old.TTL
		}
	}
	if e.Op == cell.OpAppend {
		v.value = append(append(make([]byte, 0, len(before)+len(e.Value)), before...), e.Value...)
		if err := w.checkSize(m, e, len(v.value)); err != nil {
			return newValue{}, err
		}
		return v, nil
	}
	sum := e.Amount
	if old != nil {
		if len(before) != 8 {
			return newValue{}, &store.CounterError{Width: len(before)}
		}
		sum += int64(binary.BigEndian.Uint64(before))
	}
	v.value = binary.BigEndian.AppendUint64(nil, uint64(sum))
	return v, nil
}

// newestVersion works out edit k, the delete of the newest version: a marker at
// its timestamp, or at now where there is none. The second such edit of a
// mutation is of the version before it, and so on, as in HBase.
func (w *writer) newestVersion(m *cell.Mutation, k int, f *family, ts int64) (newValue, error) {
	e := &m.Edits[k]
	n := 1
	for i := range m.Edits[:k] {
		o := &m.Edits[i]
		if o.Op == cell.OpDelete && o.Timestamp == cell.Latest && bytes.Equal(o.Family, e.Family) && bytes.Equal(o.Qualifier, e.Qualifier) {
			n++
		}
	}
	old, err := w.version(n, m.Row, f, e.Qualifier, cell.TimeRange{})
	if err != nil {
		return newValue{}, err
	}
	v := newValue{read: true, timestamp: ts, above: -1, tags: e.Tags}
	if old != nil {
		v.timestamp = old.Timestamp
	}
	return v, nil
}

// newCells gives the cells that increments and appends made, for the caller to
// keep.
func (w *writer) newCells(m *cell.Mutation) []cell.Cell {
	var cells []cell.Cell
	for k := range m.Edits {
		e := &m.Edits[k]
		if !e.Op.ReadsFirst() {
			continue
		}
		v := &w.values[k]
		c := cell.Cell{
			Row: m.Row, Family: e.Family, Qualifier: e.Qualifier,
			Timestamp: v.timestamp, Type: cell.TypePut, Value: v.value, TTL: v.ttl, Tags: v.tags,
		}
		cells = append(cells, c.Clone())
	}
	return cells
}

// CheckAndMutate implements store.Writer.
func (s *Store) CheckAndMutate(ctx context.Context, name string, check *cell.Check, m *cell.Mutation) (bool, []cell.Cell, error) {
	w := writers.Get().(*writer)
	defer w.release()
	batch := []cell.Mutation{*m}
	cost, err := s.admitWrite(ctx, batch)
	if err != nil {
		return false, nil, err
	}
	defer s.admission.leave(cost)
	for {
		applied, retry, err := s.checkAndMutate(ctx, w, name, check, batch)
		if retry == nil {
			if !applied || len(w.results) == 0 {
				return applied, nil, err
			}
			return applied, w.results[0], err
		}
		if err := s.raise(ctx, retry); err != nil {
			return false, nil, err
		}
	}
}

func (s *Store) checkAndMutate(ctx context.Context, w *writer, name string, check *cell.Check, batch []cell.Mutation) (bool, *unraised, error) {
	t, err := s.enterWrite(ctx, name)
	if err != nil {
		return false, nil, err
	}
	defer s.gate.RUnlock()
	unlock := sync.OnceFunc(func() {
		w.held.unlock()
		t.mu.RUnlock()
	})
	defer unlock()
	w.begin(s, t, batch)
	m := &batch[0]
	// What is wrong with the mutation alone is said at once; what is wrong with
	// it in this table, only if it is applied, as HBase does.
	refused := w.prepare(m)
	if errors.Is(refused, cell.ErrIllegalArgument) {
		return false, nil, refused
	}
	f := t.layout.family(check.Family)
	if f == nil && check.Filter == nil {
		return false, nil, &store.FamilyError{Table: t.name, Family: bytes.Clone(check.Family)}
	}
	passes, err := s.newFiltering(check.Filter, false, false)
	if err != nil {
		return false, nil, err
	}
	if check.Filter == nil && check.Op > cell.Greater {
		return false, nil, &cell.ArgumentError{Text: fmt.Sprintf("a check cannot compare with operation %d", check.Op)}
	}
	if err := check.Within.Validate(); err != nil {
		return false, nil, err
	}
	if retry := w.lacking(); retry != nil {
		return false, retry, nil
	}
	w.held.add(w.rows[0].stripe, true)
	w.reads = true
	w.held.lock()
	w.held.written()
	w.open(s, true)
	w.now = s.clock.now()
	applied, err := w.checkedWrite(f, passes, check, m, refused)
	if err != nil || !applied {
		return false, nil, closeWith(w.batch, err)
	}
	return true, nil, w.commit(s, unlock)
}

// checkedWrite adds the mutation to the batch if the check holds, or if it held
// at the mutation's first try, whose answer write gives again.
func (w *writer) checkedWrite(f *family, passes *filtering, check *cell.Check, m *cell.Mutation, refused error) (bool, error) {
	_, retried, err := w.answered(m)
	if err != nil {
		return false, err
	}
	if !retried {
		ok, err := w.holds(f, passes, check, m.Row)
		if err != nil || !ok {
			return false, err
		}
	}
	if refused != nil {
		return false, refused
	}
	return true, w.write(0, m)
}

// holds evaluates a check: by comparison, or, with a filter, by whether a cell
// of the row passes.
func (w *writer) holds(f *family, passes *filtering, check *cell.Check, row []byte) (bool, error) {
	if passes == nil {
		old, err := w.newest(row, f, check.Qualifier, check.Within)
		return err == nil && holds(check, old), err
	}
	plan, err := planRead(w.t, &cell.Read{Within: check.Within, Filter: check.Filter}, false, w.now)
	if err != nil {
		return false, err
	}
	plan.filter = passes
	w.old.Reset()
	err = readRow(w.batch, w.t, plan, row, &w.old)
	return len(w.old.Cells) > 0, err
}

// holds evaluates a check on the newest cell of its column: given value OP
// stored value, as in HBase.
func holds(check *cell.Check, stored *cell.Cell) bool {
	if len(check.Value) == 0 {
		// HBase asks here whether the cell is missing or empty, whatever the
		// operation is but NotEqual.
		absent := stored == nil || len(stored.Value) == 0
		return absent == (check.Op != cell.NotEqual)
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
