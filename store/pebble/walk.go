package pebble

import (
	"bytes"
	"math"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"github.com/cellardb/cellar/cell"
)

// nextsBeforeSeek is how many entries a walk steps over before it seeks: a seek
// costs about as much as a dozen steps, so ten old versions are stepped over.
const nextsBeforeSeek = 16

// familyWalk gives the cells of one family of one row that a read sees, one by
// one, from an iterator that stands at or before the row's first key.
//
// Markers sort before the puts that they mask, but for family markers, which
// sort with the empty qualifier, the first column there is. So one pass in key
// order suffices: what masks a put was met before the put.
type familyWalk struct {
	it   *pebbledb.Iterator
	plan *familyPlan
	read *readPlan
	// prefix of the row, with its terminator: the iterator's key while the
	// walk is inside the row.
	prefix []byte

	newestMark int64 // timestamp of the newest marker that was met; -1: none
	moved      bool  // the iterator stands on a key that was not looked at yet
	done       bool
	marks      masks

	inColumn bool
	column   []byte // escaped
	wanted   int    // index of the next wanted column
	skip     bool   // no more cells of this column are wanted
	versions int
	cells    int // given or offset, of this family
	seekKey  []byte
	filterWalk
	err error
}

// begin prepares the walk over the row with a prefix. The iterator stands on a
// key of the row, or the walk is done at once.
func (w *familyWalk) begin(it *pebbledb.Iterator, read *readPlan, plan *familyPlan, prefix []byte) {
	w.it, w.read, w.plan = it, read, plan
	w.prefix = append(w.prefix[:0], prefix...)
	w.moved, w.done, w.err = true, false, nil
	w.newestMark = -1
	w.filterWalk.begin()
	w.marks.beginRow()
	w.inColumn, w.wanted, w.cells = false, 0, 0
}

// next finds the next cell that the read sees and adds it to the result. It
// says false at the end of the row; then the iterator stands anywhere in the
// row or after it.
func (w *familyWalk) next(into *cell.Result) bool {
	if w.done {
		return false
	}
	for {
		if !w.moved {
			w.it.Next()
		}
		w.moved = false
		if !w.inRow() {
			w.done = true
			return false
		}
		k, err := parseCellKey(w.it.Key(), len(w.prefix))
		if err != nil {
			return w.fail(err)
		}
		if !w.inColumn || !bytes.Equal(k.qualifier, w.column) {
			if !w.enterColumn(k.qualifier) {
				if w.done {
					return false
				}
				continue
			}
		}
		give, err := w.look(&k, into)
		if err != nil {
			return w.fail(err)
		}
		if give {
			return true
		}
		if w.done {
			return false
		}
	}
}

func (w *familyWalk) fail(err error) bool {
	w.err = storeError(err)
	w.done = true
	return false
}

func (w *familyWalk) inRow() bool {
	if w.it.Valid() {
		return bytes.HasPrefix(w.it.Key(), w.prefix)
	}
	if err := w.it.Error(); err != nil {
		w.fail(err)
	}
	return false
}

// enterColumn begins a column. It says false when the walk moved on to another
// one, or ended, because this one is not wanted.
func (w *familyWalk) enterColumn(qualifier []byte) bool {
	w.inColumn = true
	w.column = append(w.column[:0], qualifier...)
	w.versions, w.passed, w.skip = 0, 0, false
	w.marks.beginColumn()
	columns := w.plan.columns
	if columns == nil {
		return true
	}
	for w.wanted < len(columns) && bytes.Compare(columns[w.wanted], qualifier) < 0 {
		w.wanted++
	}
	if w.wanted < len(columns) && bytes.Equal(columns[w.wanted], qualifier) {
		return true
	}
	if len(qualifier) == 0 && w.plan.family.markers.Load() {
		w.skip = true // its puts are not wanted, but family markers are there
		return true
	}
	if w.wanted == len(columns) {
		w.done = true
		return false
	}
	w.seekColumn(columns[w.wanted])
	return false
}

// seekColumn moves to the first key of a column, or after it.
func (w *familyWalk) seekColumn(escaped []byte) {
	w.seekKey = append(append(w.seekKey[:0], w.prefix...), escaped...)
	w.seekKey = append(w.seekKey, escByte, escEnd)
	w.it.SeekGE(w.seekKey)
	w.moved = true
}

// leaveColumn moves behind the column's last key.
func (w *familyWalk) leaveColumn() {
	if last := len(w.plan.columns) - 1; last >= 0 && w.wanted == last {
		w.done = true // the last wanted column
		return
	}
	// What all keys of the column begin with, and no other.
	w.seekKey = append(append(w.seekKey[:0], w.prefix...), w.column...)
	w.seekKey = append(w.seekKey, escByte, escEnd)
	w.moved = true
	for range nextsBeforeSeek {
		if !w.it.Next() || !bytes.HasPrefix(w.it.Key(), w.seekKey) {
			return // an error of the iterator is met by inRow
		}
	}
	w.seekKey[len(w.seekKey)-1] = escBeyond
	w.it.SeekGE(w.seekKey)
}

// look judges the cell under the iterator.
func (w *familyWalk) look(k *cellKey, into *cell.Result) (give bool, err error) {
	if w.read.raw {
		return w.lookRaw(k, into)
	}
	if k.typ.IsMarker() {
		w.mark(k)
		return false, nil
	}
	switch {
	case w.skip, w.marks.hide(k.timestamp):
		return false, nil
	case !w.plan.within.Contains(k.timestamp):
		if k.timestamp < w.plan.within.Min {
			w.leave(len(k.qualifier))
		}
		return false, nil
	}
	return w.lookPut(k, into)
}

// lookPut judges a put that no marker masks and that lies in the time range.
func (w *familyWalk) lookPut(k *cellKey, into *cell.Result) (bool, error) {
	raw, err := w.it.ValueAndErr()
	if err != nil {
		return false, err
	}
	value, ttl, tags, err := parseValue(raw)
	if err != nil {
		return false, err
	}
	if outlived(k.timestamp, ttl, w.read.now) {
		return false, nil
	}
	w.versions++
	if w.versions > w.plan.minVersions && k.timestamp < w.plan.expired {
		w.leave(len(k.qualifier))
		return false, nil
	}
	if w.read.filter != nil {
		return w.filtered(k, value, ttl, tags, into)
	}
	give := w.give(k, value, ttl, tags, into)
	if w.versions >= w.plan.versions {
		w.leave(len(k.qualifier))
	}
	return give, nil
}

// leave goes on to the next column; in the empty one, where family markers
// are, it goes on through the rest of it.
func (w *familyWalk) leave(qualifierLen int) {
	if qualifierLen == 0 && w.plan.family.markers.Load() {
		w.skip = true
		return
	}
	w.leaveColumn()
}

// give adds the cell to the result, unless it is offset or over the limit.
func (w *familyWalk) give(k *cellKey, value []byte, ttl int64, tags []byte, into *cell.Result) bool {
	w.cells++
	if w.cells <= w.read.offset {
		return false
	}
	if w.read.limit > 0 && w.cells-w.read.offset > w.read.limit {
		w.done = true
		return false
	}
	w.add(k, value, ttl, tags, into)
	return true
}

// add copies the cell into the result.
func (w *familyWalk) add(k *cellKey, value []byte, ttl int64, tags []byte, into *cell.Result) {
	c := cell.Cell{Row: into.Row, Timestamp: k.timestamp, Type: k.typ, TTL: ttl}
	c.Family = w.familyName(into)
	c.Qualifier = copyUnescaped(into, k.qualifier)
	c.Value = into.Copy(value)
	if len(tags) > 0 {
		c.Tags = into.Copy(tags)
	}
	into.Cells = append(into.Cells, c)
}

// familyName gives the family's name as bytes of the result, whose cells share
// it.
func (w *familyWalk) familyName(into *cell.Result) []byte {
	name := w.plan.family.name
	if n := len(into.Cells); n > 0 && bytes.Equal(into.Cells[n-1].Family, name) {
		return into.Cells[n-1].Family
	}
	return into.Copy(name)
}

func copyUnescaped(into *cell.Result, escaped []byte) []byte {
	c := into.Copy(escaped)
	if bytes.IndexByte(c, escByte) < 0 {
		return c
	}
	return unescape(c[:0], escaped)
}

// mark notes a marker. Where deleted cells are kept, a read of a time before
// the marker does not see it.
func (w *familyWalk) mark(k *cellKey) {
	if w.plan.keep && !w.plan.within.IsAll() && k.timestamp >= w.plan.within.Max {
		return
	}
	w.marks.add(k.typ, k.timestamp)
	w.newestMark = max(w.newestMark, k.timestamp)
}

// lookRaw gives markers and puts alike; only puts count as versions. Once the
// column has given as many as the read wants, its next put ends it, with all
// that is older (as HBase's column trackers do).
func (w *familyWalk) lookRaw(k *cellKey, into *cell.Result) (bool, error) {
	if w.skip || !w.plan.within.Contains(k.timestamp) {
		return false, nil
	}
	raw, err := w.it.ValueAndErr()
	if err != nil {
		return false, err
	}
	value, ttl, tags, err := parseValue(raw)
	if err != nil {
		return false, err
	}
	if outlived(k.timestamp, ttl, w.read.now) {
		return false, nil
	}
	if !k.typ.IsMarker() {
		w.versions++
		if w.versions > w.plan.versions {
			w.skip = true
			return false, nil
		}
	}
	if w.read.filter != nil {
		return w.filtered(k, value, ttl, tags, into)
	}
	return w.give(k, value, ttl, tags, into), nil
}

// outlived says whether a cell is older than its own time to live, in ms.
func outlived(timestamp, ttl, now int64) bool {
	return ttl > 0 && ttl < math.MaxInt64-timestamp && timestamp+ttl < now
}
