package pebble

import (
	"bytes"
	"slices"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"github.com/cellardb/cellar/cell"
)

// garbage finds the cells of a row that a major compaction lets go of: puts that
// are masked, expired or surplus, and the markers themselves.
//
// Where the family keeps deleted cells, a marker does not act: what it masks
// counts as a version like any other put, but does not push out a put that a
// read shows; and the marker stays as long as it masks something that stays.
type garbage struct {
	family *family
	now    int64
	keys   [][]byte // of the cells to delete

	marks    masks // those that act
	all      masks
	column   []byte
	columns  int      // number of the current column; 0: none yet
	versions int      // puts of the column that acting markers do not mask
	shown    int      // puts of the column that no marker masks
	idle     []marker // markers that do not act
	kept     []put    // puts that stay, where there are such markers
}

// masks are the markers that act on a column, or on a whole family.
type masks struct {
	familyUpTo, upTo, at int64
	familyAt             []int64
}

func (m *masks) add(typ cell.Type, timestamp int64) {
	switch typ {
	case cell.TypeDeleteFamily:
		m.familyUpTo = max(m.familyUpTo, timestamp)
	case cell.TypeDeleteFamilyVersion:
		m.familyAt = append(m.familyAt, timestamp)
	case cell.TypeDeleteColumn:
		m.upTo = max(m.upTo, timestamp)
	case cell.TypeDelete:
		m.at = timestamp
	}
}

func (m *masks) beginRow()    { m.familyUpTo, m.familyAt = -1, m.familyAt[:0] }
func (m *masks) beginColumn() { m.upTo, m.at = -1, -1 }

func (m *masks) hide(timestamp int64) bool {
	return timestamp <= m.familyUpTo || timestamp <= m.upTo || timestamp == m.at ||
		len(m.familyAt) > 0 && slices.Contains(m.familyAt, timestamp)
}

type marker struct {
	key       []byte
	column    int
	timestamp int64
	typ       cell.Type
}

type put struct {
	column    int
	timestamp int64
}

// hides says whether the marker masks a put of its family.
func (m *marker) hides(p put) bool {
	switch m.typ {
	case cell.TypeDeleteFamily:
		return p.timestamp <= m.timestamp
	case cell.TypeDeleteFamilyVersion:
		return p.timestamp == m.timestamp
	case cell.TypeDeleteColumn:
		return p.column == m.column && p.timestamp <= m.timestamp
	}
	return p.column == m.column && p.timestamp == m.timestamp
}

// find reads the row with the prefix from an iterator that stands on its first
// key, and leaves it behind the row.
func (g *garbage) find(it *pebbledb.Iterator, prefix []byte) error {
	g.keys, g.idle, g.kept = g.keys[:0], g.idle[:0], g.kept[:0]
	g.columns = 0
	g.marks.beginRow()
	g.all.beginRow()
	for ; it.Valid() && bytes.HasPrefix(it.Key(), prefix); it.Next() {
		k, err := parseCellKey(it.Key(), len(prefix))
		if err != nil {
			return err
		}
		if g.columns == 0 || !bytes.Equal(g.column, k.qualifier) {
			g.columns++
			g.column = append(g.column[:0], k.qualifier...)
			g.versions, g.shown = 0, 0
			g.marks.beginColumn()
			g.all.beginColumn()
		}
		drop, err := g.judge(&k, it)
		if err != nil {
			return err
		}
		if drop {
			g.keys = append(g.keys, bytes.Clone(it.Key()))
		}
	}
	g.dropIdle()
	return it.Error()
}

// judge says whether a cell goes.
func (g *garbage) judge(k *cellKey, it *pebbledb.Iterator) (bool, error) {
	if k.typ.IsMarker() {
		g.all.add(k.typ, k.timestamp)
		if g.acts(k.timestamp) {
			g.marks.add(k.typ, k.timestamp)
			return true, nil
		}
		g.idle = append(g.idle, marker{bytes.Clone(it.Key()), g.columns, k.timestamp, k.typ})
		return false, nil
	}
	if g.marks.hide(k.timestamp) {
		return true, nil
	}
	v, err := it.ValueAndErr()
	if err != nil {
		return false, err
	}
	_, ttl, _, err := parseValue(v)
	if err != nil {
		return false, err
	}
	if outlived(k.timestamp, ttl, g.now) {
		return true, nil
	}
	g.versions++
	surplus := g.surplus(g.versions, k.timestamp)
	if !g.all.hide(k.timestamp) {
		g.shown++
		surplus = surplus && g.surplus(g.shown, k.timestamp)
	}
	if surplus {
		return true, nil
	}
	if schema := &g.family.schema; schema.KeepDeleted != cell.KeepDeletedFalse {
		g.kept = append(g.kept, put{g.columns, k.timestamp})
	}
	return false, nil
}

// acts says whether a compaction carries a marker out.
func (g *garbage) acts(timestamp int64) bool {
	switch g.family.schema.KeepDeleted {
	case cell.KeepDeletedTrue:
		return false
	case cell.KeepDeletedTTL:
		return g.expired(timestamp)
	}
	return true
}

// surplus says whether the n-th version of a column is one too many or expired.
func (g *garbage) surplus(n int, timestamp int64) bool {
	schema := &g.family.schema
	return n > schema.MaxVersions || n > schema.MinVersions && g.expired(timestamp)
}

func (g *garbage) expired(timestamp int64) bool {
	ttl := g.family.schema.TTL
	return ttl < cell.Forever && timestamp < g.now-int64(ttl)*1000
}

// dropIdle lets the markers go that mask nothing which stays.
func (g *garbage) dropIdle() {
	for i := range g.idle {
		m := &g.idle[i]
		if !slices.ContainsFunc(g.kept, m.hides) {
			g.keys = append(g.keys, m.key)
		}
	}
}
