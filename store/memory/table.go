package memory

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// table is one table's schema, regions and rows. The store's lock guards it.
type table struct {
	info    store.TableInfo
	regions []store.Region
	rows    []row // by key, none without cells
	stamps  map[string]stamp
	nonces  nonces
	// gone says that the table was dropped or truncated: scanners that are
	// still open on it end.
	gone bool
}

// row is a row's cells in the order of cell.Compare. Neither the slice nor what
// it points to is ever changed, so that snapshots can share it.
type row struct {
	key   []byte
	cells []cell.Cell
}

func newTable(info store.TableInfo, splits [][]byte, regionID int64) *table {
	return &table{
		info:    info,
		regions: store.CutRegions(info.Schema.Name, splits, regionID),
		stamps:  map[string]stamp{},
		nonces:  nonces{},
	}
}

// usable says whether the table can be read: it is there still, and enabled.
func (t *table) usable() error {
	switch {
	case t.gone:
		return fmt.Errorf("table %q: %w", t.info.Schema.Name, store.ErrTableNotFound)
	case !t.info.Enabled:
		return fmt.Errorf("table %q: %w", t.info.Schema.Name, store.ErrTableDisabled)
	}
	return nil
}

// family finds a family's schema, or says that there is none.
func (t *table) family(name []byte) (*cell.FamilySchema, error) {
	f := t.info.Schema.Family(name)
	if f == nil {
		return nil, &store.FamilyError{Table: t.info.Schema.Name, Family: bytes.Clone(name)}
	}
	return f, nil
}

// search finds where a row is, or where it would stand.
func (t *table) search(key []byte) (at int, found bool) {
	return slices.BinarySearchFunc(t.rows, key, func(r row, key []byte) int { return bytes.Compare(r.key, key) })
}

// cells gives the cells of a row; none if there is no such row.
func (t *table) cells(key []byte) []cell.Cell {
	if at, found := t.search(key); found {
		return t.rows[at].cells
	}
	return nil
}

// set replaces the cells of a row; a row without cells goes away.
func (t *table) set(key []byte, cells []cell.Cell) {
	at, found := t.search(key)
	switch {
	case len(cells) == 0 && found:
		t.rows = slices.Delete(t.rows, at, at+1)
	case len(cells) == 0:
	case found:
		t.rows[at].cells = cells
	default:
		t.rows = slices.Insert(t.rows, at, row{bytes.Clone(key), cells})
	}
}

// within gives the rows of a range, the lower bound of which is Start.
func (t *table) within(r cell.Range) []row {
	var in []row
	for _, row := range t.rows {
		if r.Contains(row.key) {
			in = append(in, row)
		}
	}
	return in
}

// merge adds cells to those of a row. Of two cells at one coordinate the later
// one stays.
func merge(old, added []cell.Cell) []cell.Cell {
	added = slices.Clone(added)
	slices.SortStableFunc(added, compareInRow)
	merged := make([]cell.Cell, 0, len(old)+len(added))
	for i, c := range added {
		if i+1 < len(added) && compareInRow(c, added[i+1]) == 0 {
			continue
		}
		at, found := slices.BinarySearchFunc(old, c, compareInRow)
		merged = append(append(merged, old[:at]...), c)
		if found {
			at++
		}
		old = old[at:]
	}
	return append(merged, old...)
}

func compareInRow(a, b cell.Cell) int { return cell.CompareInRow(&a, &b) }

// ofFamily gives the part of a row's cells that is of one family: they stand
// together.
func ofFamily(cells []cell.Cell, family string) []cell.Cell {
	from := slices.IndexFunc(cells, func(c cell.Cell) bool { return string(c.Family) == family })
	if from < 0 {
		return nil
	}
	to := from
	for to < len(cells) && string(cells[to].Family) == family {
		to++
	}
	return cells[from:to:to]
}

func cloneCells(cells []cell.Cell) []cell.Cell {
	clones := make([]cell.Cell, len(cells))
	for i := range cells {
		clones[i] = cells[i].Clone()
	}
	return clones
}
