package schema

import (
	"fmt"

	"github.com/cellardb/cellar/store"
)

// Events is a batch of events as columns: one vector for each field of the
// schema version that it was made for, in its order. It may have any number of
// rows; it is not bound by store.BatchRows. No vector of it is a dictionary
// vector. The Offsets of a text have Rows+1 entries, of which the first is 0.
// Nulls is nil, or has (Rows+63)/64 words. Where a row is null, its value is
// zero, or empty.
type Events struct {
	Rows    int
	Columns []store.Vector
}

// Reject names a record that was not taken.
type Reject struct {
	// Index of the record in what was sent, from 0.
	Index int
	// Line on which the record begins, from 1, in formats that have lines; 0:
	// not known.
	Line int
	// Field that does not fit; "": the record itself.
	Field string
	// Reason says what was wrong with it.
	Reason string
}

func (r Reject) String() string {
	where := fmt.Sprintf("record %d", r.Index)
	if r.Line > 0 {
		where += fmt.Sprintf(" (line %d)", r.Line)
	}
	if r.Field != "" {
		where += fmt.Sprintf(", field %q", r.Field)
	}
	return where + ": " + r.Reason
}

// Check says whether the events are what Events promises, for a schema: the
// number of columns, their types and lengths. It does not look at values.
func (e *Events) Check(s *Schema) error {
	if len(e.Columns) != len(s.Fields) {
		return fmt.Errorf("events have %d columns; stream %s has %d fields", len(e.Columns), s.Name, len(s.Fields))
	}
	for i := range e.Columns {
		v, f := &e.Columns[i], &s.Fields[i]
		if v.Type != f.Type.Column() || v.Dictionary != nil {
			return fmt.Errorf("field %q: the column is not a plain one of type %s", f.Name, f.Type)
		}
		if n := vectorRows(v); n != e.Rows {
			return fmt.Errorf("field %q: the column has %d rows, not %d", f.Name, n, e.Rows)
		}
		if v.Nulls != nil && len(v.Nulls) != (e.Rows+63)/64 {
			return fmt.Errorf("field %q: the column has %d words of nulls for %d rows", f.Name, len(v.Nulls), e.Rows)
		}
	}
	return nil
}

// vectorRows is the number of values of a plain vector.
func vectorRows(v *store.Vector) int {
	switch v.Type {
	case store.ColumnBool:
		return len(v.Bools)
	case store.ColumnInt32:
		return len(v.Int32s)
	case store.ColumnInt64, store.ColumnTimestamp:
		return len(v.Int64s)
	case store.ColumnHugeInt:
		return len(v.Hugeints)
	case store.ColumnFloat32:
		return len(v.Float32s)
	case store.ColumnFloat64:
		return len(v.Float64s)
	case store.ColumnText, store.ColumnBytes:
		return len(v.Offsets) - 1
	}
	return -1
}

// NullVector is a vector of the type in which every row is null.
func NullVector(t Type, rows int) store.Vector {
	v := store.Vector{Type: t.Column(), Nulls: make([]uint64, (rows+63)/64)}
	for i := range v.Nulls {
		v.Nulls[i] = ^uint64(0)
	}
	if tail := rows % 64; tail != 0 {
		v.Nulls[len(v.Nulls)-1] = 1<<tail - 1
	}
	switch v.Type {
	case store.ColumnBool:
		v.Bools = make([]bool, rows)
	case store.ColumnInt32:
		v.Int32s = make([]int32, rows)
	case store.ColumnInt64, store.ColumnTimestamp:
		v.Int64s = make([]int64, rows)
	case store.ColumnHugeInt:
		v.Hugeints = make([]store.HugeInt, rows)
	case store.ColumnFloat32:
		v.Float32s = make([]float32, rows)
	case store.ColumnFloat64:
		v.Float64s = make([]float64, rows)
	case store.ColumnText, store.ColumnBytes:
		v.Offsets = make([]uint32, rows+1)
	}
	return v
}

// Fit makes events of one version of a stream ones of another that came of it by
// Evolve or Absorb: columns in its order, fields that they lack null, types
// widened. Columns that need no change are shared, not copied.
func Fit(e Events, from, to *Schema) (Events, error) {
	if len(e.Columns) != len(from.Fields) {
		return Events{}, fmt.Errorf("events have %d columns; version %d of stream %s has %d fields",
			len(e.Columns), from.Version, from.Name, len(from.Fields))
	}
	out := Events{Rows: e.Rows, Columns: make([]store.Vector, len(to.Fields))}
	for i, f := range to.Fields {
		j := from.Index(f.Name)
		if j < 0 {
			out.Columns[i] = NullVector(f.Type, e.Rows)
			continue
		}
		v, err := Convert(&e.Columns[j], from.Fields[j].Type, f.Type)
		if err != nil {
			return Events{}, fmt.Errorf("field %q: %w", f.Name, err)
		}
		out.Columns[i] = v
	}
	return out, nil
}
