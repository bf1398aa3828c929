package memory

import (
	"bytes"
	"math"
	"slices"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
)

// masks says whether a marker hides a put of its family, by the table of
// HBase's markers. When each was written does not matter.
func masks(marker, put *cell.Cell) bool {
	switch marker.Type {
	case cell.TypeDeleteFamily:
		return put.Timestamp <= marker.Timestamp
	case cell.TypeDeleteFamilyVersion:
		return put.Timestamp == marker.Timestamp
	case cell.TypeDeleteColumn:
		return bytes.Equal(put.Qualifier, marker.Qualifier) && put.Timestamp <= marker.Timestamp
	case cell.TypeDelete:
		return bytes.Equal(put.Qualifier, marker.Qualifier) && put.Timestamp == marker.Timestamp
	}
	return false
}

func masked(put *cell.Cell, markers []cell.Cell) bool {
	for i := range markers {
		if masks(&markers[i], put) {
			return true
		}
	}
	return false
}

// familyExpired judges a timestamp by the family's time to live, in seconds.
func familyExpired(f *cell.FamilySchema, timestamp, now int64) bool {
	return f.TTL != cell.Forever && timestamp < now-int64(f.TTL)*1000
}

// selfExpired judges a cell by its own time to live, in ms.
func selfExpired(c *cell.Cell, now int64) bool {
	return c.TTL > 0 && c.Timestamp < now-c.TTL
}

func keepsDeleted(f *cell.FamilySchema) bool {
	return f.KeepDeleted == cell.KeepDeletedTrue || f.KeepDeleted == cell.KeepDeletedTTL
}

// view is what a read wants of one family.
type view struct {
	family     *cell.FamilySchema
	within     cell.TimeRange
	qualifiers [][]byte // empty: all
	versions   int
	now        int64
}

func (v *view) selects(c *cell.Cell) bool {
	if !v.within.Contains(c.Timestamp) || selfExpired(c, v.now) {
		return false
	}
	return len(v.qualifiers) == 0 ||
		slices.ContainsFunc(v.qualifiers, func(q []byte) bool { return bytes.Equal(q, c.Qualifier) })
}

// markers gives the markers that hold for the read. With KEEP_DELETED_CELLS a
// marker outside the time range hides nothing, without it always does.
func (v *view) markers(cells []cell.Cell) []cell.Cell {
	var markers []cell.Cell
	for i := range cells {
		if cells[i].Type.IsMarker() && (!keepsDeleted(v.family) || v.within.Contains(cells[i].Timestamp)) {
			markers = append(markers, cells[i])
		}
	}
	return markers
}

// visible gives the values that an ordinary read shows, of the cells of one
// family. Versions are counted within the time range and after deletes; those
// that MIN_VERSIONS holds back do not expire.
func (v *view) visible(cells []cell.Cell) []cell.Cell {
	var shown []cell.Cell
	markers := v.markers(cells)
	limit := min(v.versions, v.family.MaxVersions)
	version := 0
	for i := range cells {
		c := &cells[i]
		if i == 0 || !bytes.Equal(c.Qualifier, cells[i-1].Qualifier) {
			version = 0
		}
		if c.Type.IsMarker() || !v.selects(c) || masked(c, markers) {
			continue
		}
		version++
		expired := version > v.family.MinVersions && familyExpired(v.family, c.Timestamp, v.now)
		if version <= limit && !expired {
			shown = append(shown, *c)
		}
	}
	return shown
}

// raw gives markers and values as they are stored. Once a column has shown as
// many values as the read wants, its next value ends it, with all that is older.
func (v *view) raw(cells []cell.Cell) []cell.Cell {
	var shown []cell.Cell
	version := 0
	for i := range cells {
		c := &cells[i]
		if i == 0 || !bytes.Equal(c.Qualifier, cells[i-1].Qualifier) {
			version = 0
		}
		if !v.selects(c) {
			continue
		}
		if !c.Type.IsMarker() {
			version++
		}
		if version <= v.versions {
			shown = append(shown, *c)
		}
	}
	return shown
}

// readRow gives the cells of a row that a read wants, in their order. They are
// the table's own, but for values that a filter has changed.
func (t *table) readRow(cells []cell.Cell, read *cell.Read, f *filter.Walker, raw bool, now int64) ([]cell.Cell, error) {
	if f != nil {
		return filtered(t.shown(cells, read, raw, now), f)
	}
	var wanted []cell.Cell
	for _, part := range t.shown(cells, read, raw, now) {
		wanted = append(wanted, cut(part, read.StoreOffset, read.StoreLimit)...)
	}
	return wanted, nil
}

// shown gives the cells of a row that a read shows, family by family. Where
// there is a filter, it comes before the read's own number of versions: shown
// then has as many as the family keeps, of a raw read all.
func (t *table) shown(cells []cell.Cell, read *cell.Read, raw bool, now int64) [][]cell.Cell {
	var shown [][]cell.Cell
	for i := range t.info.Schema.Families {
		f := &t.info.Schema.Families[i]
		sel, ok := read.Selected([]byte(f.Name))
		if !ok {
			continue
		}
		v := view{family: f, within: read.RangeOf(sel), versions: read.Versions(), now: now}
		if read.Filter != nil {
			v.versions = math.MaxInt
		}
		if sel != nil {
			v.qualifiers = sel.Qualifiers
		}
		part := ofFamily(cells, f.Name)
		if raw {
			shown = append(shown, v.raw(part))
		} else {
			shown = append(shown, v.visible(part))
		}
	}
	return shown
}

// cut leaves out offset cells and keeps at most limit of the rest; 0: all.
func cut(cells []cell.Cell, offset, limit int) []cell.Cell {
	cells = cells[min(offset, len(cells)):]
	if limit > 0 {
		cells = cells[:min(limit, len(cells))]
	}
	return cells
}

// newest finds the newest visible version of a column within a time range; nil:
// there is none.
func (t *table) newest(cells []cell.Cell, family, qualifier []byte, within cell.TimeRange, now int64) *cell.Cell {
	return t.version(1, cells, family, qualifier, within, now)
}

// version finds the n-th visible version of a column, the newest being the
// first; nil: there are fewer.
func (t *table) version(n int, cells []cell.Cell, family, qualifier []byte, within cell.TimeRange, now int64) *cell.Cell {
	read := cell.Read{
		Select: []cell.FamilySelect{{Family: family, Qualifiers: [][]byte{qualifier}}},
		Within: within, MaxVersions: n,
	}
	for _, found := range t.shown(cells, &read, false, now) {
		if len(found) >= n {
			return &found[n-1]
		}
	}
	return nil
}
