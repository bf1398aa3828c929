package thrift1

import (
	"bytes"
	"slices"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/internal/wire/thrift"
)

// timeBefore is the range of the calls with a timestamp: that timestamp is
// excluded, whatever their documentation says. None is no bound, and nor is the
// largest one.
func timeBefore(timestamp int64, timed bool) cell.TimeRange {
	if !timed {
		return cell.TimeRange{}
	}
	return cell.Between(0, timestamp)
}

// selection builds the columns that a read selects. Small memory of it is kept
// from call to call; what it allocates is charged to the call.
type selection struct {
	families []cell.FamilySelect
	// index finds families where there are many.
	index map[string]int
}

// manyFamilies is from how many on they are found by a map. Memory for more is
// not kept; nor is that for more columns of a family than keepColumns.
const (
	manyFamilies = 16
	keepColumns  = 64
	indexEntry   = 64 // about what an entry of the map takes besides its name
)

// forget lets go of the columns: they point into the bytes of the call.
func (sel *selection) forget() {
	sel.index = nil
	if cap(sel.families) > manyFamilies {
		sel.families = nil
		return
	}
	for i := range sel.families { // those behind are cleared already
		f := &sel.families[i]
		f.Family = nil
		if cap(f.Qualifiers) > keepColumns {
			f.Qualifiers = nil
		}
		f.Qualifiers = f.Qualifiers[:cap(f.Qualifiers)]
		clear(f.Qualifiers)
		f.Qualifiers = f.Qualifiers[:0]
	}
	sel.families = sel.families[:0]
}

// set selects columns as HBase's client does: a family after columns of it widens
// to the whole family, a column after the family narrows to that column. No
// columns are all columns. An error is the budget's.
func (sel *selection) set(r *thrift.Reader, columns [][]byte) ([]cell.FamilySelect, error) {
	sel.forget()
	for _, column := range columns {
		sel.add(r, column)
		if err := r.Err(); err != nil {
			return nil, err
		}
	}
	for i := range sel.families {
		f := &sel.families[i]
		if len(f.Qualifiers) > 1 {
			slices.SortFunc(f.Qualifiers, bytes.Compare)
			f.Qualifiers = slices.CompactFunc(f.Qualifiers, bytes.Equal)
		}
	}
	if len(sel.families) == 0 {
		return nil, nil
	}
	return sel.families, nil
}

func (sel *selection) add(r *thrift.Reader, column []byte) {
	family, qualifier, whole := splitColumn(column)
	f := sel.family(r, family)
	if f == nil {
		return
	}
	if whole {
		f.Qualifiers = nil
	} else {
		f.Qualifiers = push(r, f.Qualifiers, qualifier)
	}
}

// family finds or makes the selection of a family; nil: there is no memory for
// it.
func (sel *selection) family(r *thrift.Reader, name []byte) *cell.FamilySelect {
	if sel.index != nil {
		if i, ok := sel.index[string(name)]; ok {
			return &sel.families[i]
		}
	} else {
		for i := range sel.families {
			if bytes.Equal(sel.families[i].Family, name) {
				return &sel.families[i]
			}
		}
	}
	n := len(sel.families)
	if n < cap(sel.families) {
		sel.families = sel.families[:n+1]
		sel.families[n] = cell.FamilySelect{Family: name, Qualifiers: sel.families[n].Qualifiers[:0]}
	} else {
		sel.families = push(r, sel.families, cell.FamilySelect{Family: name})
	}
	sel.note(r, name, n)
	if r.Err() != nil {
		return nil
	}
	return &sel.families[n]
}

func (sel *selection) note(r *thrift.Reader, name []byte, n int) {
	switch {
	case r.Err() != nil:
	case sel.index != nil:
		if r.Charge(indexEntry+len(name)) == nil {
			sel.index[string(name)] = n
		}
	case n >= manyFamilies:
		sel.index = make(map[string]int, 2*n)
		for i := range sel.families {
			sel.index[string(sel.families[i].Family)] = i
		}
	}
}

// cloneSelect copies a selection that is to outlive its call.
func cloneSelect(families []cell.FamilySelect) []cell.FamilySelect {
	c := slices.Clone(families)
	for i := range c {
		c[i].Family = bytes.Clone(c[i].Family)
		c[i].Qualifiers = slices.Clone(c[i].Qualifiers)
		for j := range c[i].Qualifiers {
			c[i].Qualifiers[j] = append([]byte{}, c[i].Qualifiers[j]...)
		}
	}
	return c
}

// What structs take on the wire besides their byte strings, at most.
const (
	rowOverhead  = 32
	cellOverhead = 48
)

// writeRow writes a TRowResult: its columns as a map, or in HBase's order as
// sortedColumns.
func (s *session) writeRow(row *cell.Result, sorted bool) error {
	size := rowOverhead + len(row.Row)
	for i := range row.Cells {
		c := &row.Cells[i]
		size += cellOverhead + len(c.Family) + len(c.Qualifier) + len(c.Value)
	}
	if err := s.reserve(size); err != nil {
		return err
	}
	w := &s.writer
	w.StructBegin()
	w.Field(thrift.String, 1)
	w.Binary(row.Row)
	if sorted {
		w.Field(thrift.List, 3)
		w.List(thrift.Struct, len(row.Cells))
		for i := range row.Cells {
			w.StructBegin()
			w.Field(thrift.String, 1)
			writeColumn(w, &row.Cells[i])
			w.Field(thrift.Struct, 2)
			writeCell(w, &row.Cells[i])
			w.StructEnd()
		}
	} else {
		cells := asMap(row.Cells)
		w.Field(thrift.Map, 2)
		w.Map(thrift.String, thrift.Struct, len(cells))
		for i := range cells {
			writeColumn(w, &cells[i])
			writeCell(w, &cells[i])
		}
	}
	w.StructEnd()
	return nil
}

func writeColumn(w *thrift.Writer, c *cell.Cell) {
	n := len(c.Family)
	b := w.BinaryN(n + 1 + len(c.Qualifier))
	copy(b, c.Family)
	b[n] = ':'
	copy(b[n+1:], c.Qualifier)
}

func writeCell(w *thrift.Writer, c *cell.Cell) {
	w.StructBegin()
	w.Field(thrift.String, 1)
	w.Binary(c.Value)
	w.Field(thrift.I64, 2)
	w.I64(c.Timestamp)
	w.StructEnd()
}

// asMap gives the cells as entries of a map: one a column, the newest, in the
// order of their names as bytes. Nearly always they are that already. They are
// not where a column has several versions, and where one family's name begins
// another's: the cells of "a" come before those of "a!", the name "a!:x" before
// "a:x".
func asMap(cells []cell.Cell) []cell.Cell {
	for i := 1; i < len(cells); i++ {
		if compareColumns(&cells[i-1], &cells[i]) >= 0 {
			return sortedMap(cells)
		}
	}
	return cells
}

func sortedMap(cells []cell.Cell) []cell.Cell {
	cells = slices.Clone(cells)
	slices.SortStableFunc(cells, func(a, b cell.Cell) int { return compareColumns(&a, &b) })
	return slices.CompactFunc(cells, func(a, b cell.Cell) bool { return compareColumns(&a, &b) == 0 })
}

// compareColumns compares family:qualifier as bytes.
func compareColumns(a, b *cell.Cell) int {
	if bytes.Equal(a.Family, b.Family) {
		return bytes.Compare(a.Qualifier, b.Qualifier)
	}
	short := min(len(a.Family), len(b.Family))
	if c := bytes.Compare(a.Family[:short], b.Family[:short]); c != 0 {
		return c
	}
	// One name begins the other. No family has a colon in it, so the byte that
	// stands against the shorter one's colon decides.
	if len(a.Family) == short {
		return compareByte(':', b.Family[short])
	}
	return compareByte(a.Family[short], ':')
}

func compareByte(a, b byte) int { return int(a) - int(b) }

// writeCells writes list<TCell>.
func (s *session) writeCells(cells []cell.Cell) error {
	size := small
	for i := range cells {
		size += cellOverhead + len(cells[i].Value)
	}
	if err := s.reserve(size); err != nil {
		return err
	}
	w := &s.writer
	w.List(thrift.Struct, len(cells))
	for i := range cells {
		writeCell(w, &cells[i])
	}
	return nil
}
