package pebble

import (
	"bytes"
	"cmp"
	"math"
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
	keys   []doomed // the cells to delete
	cells  int      // that were read
	bytes  int64    // of them
	// Of the markers that are carried out: those of the current column go with
	// its end, those of the family with the row's.
	columnMarkers, familyMarkers []doomed
	// partial: the run began at a column or ended at one, and knows nothing of
	// what stays in the rest of the row.
	partial bool
	// unfinished: markers of the family could have gone, but the run was
	// partial: a run over the whole row has to follow.
	unfinished bool
	// stuck: one column alone is larger than the run may read.
	stuck bool

	marks    masks // those that act
	all      masks
	column   []byte
	columns  int      // number of the current column; 0: none yet
	expiries expiries // of the puts that stay
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
		len(m.familyAt) > 0 && m.hideExactly(timestamp)
}

// hideExactly looks a timestamp up; markers of a row come newest first.
func (m *masks) hideExactly(timestamp int64) bool {
	_, ok := slices.BinarySearchFunc(m.familyAt, timestamp, func(at, ts int64) int { return cmp.Compare(ts, at) })
	return ok
}

// doomed is a cell to delete.
type doomed struct {
	key  []byte
	size uint32 // of the value
}

type marker struct {
	doomed
	column    int
	timestamp int64
	typ       cell.Type
}

type put struct {
	column    int
	timestamp int64
}

// keptPuts are the puts of a row that stay, by what markers ask of them.
type keptPuts struct {
	puts   map[put]bool
	times  map[int64]bool
	oldest map[int]int64 // by column
	first  int64         // the oldest of all
}

func newKeptPuts(all []put) *keptPuts {
	k := &keptPuts{puts: map[put]bool{}, times: map[int64]bool{}, oldest: map[int]int64{}, first: math.MaxInt64}
	for _, p := range all {
		k.puts[p], k.times[p.timestamp] = true, true
		k.first = min(k.first, p.timestamp)
		if old, ok := k.oldest[p.column]; !ok || p.timestamp < old {
			k.oldest[p.column] = p.timestamp
		}
	}
	return k
}

// masked says whether the marker masks one of them.
func (k *keptPuts) masked(m *marker) bool {
	switch m.typ {
	case cell.TypeDeleteFamily:
		return len(k.puts) > 0 && k.first <= m.timestamp
	case cell.TypeDeleteFamilyVersion:
		return k.times[m.timestamp]
	case cell.TypeDeleteColumn:
		oldest, ok := k.oldest[m.column]
		return ok && oldest <= m.timestamp
	}
	return k.puts[put{m.column, m.timestamp}]
}

// bounds of what one run of find takes of a row.
type bounds struct {
	// keys of garbage at which a run ends with the column; one column may have
	// ten times as many.
	keys int
	// cells that are read, at which a run ends with the column; one column may
	// have as many again. 0: not bounded.
	cells int
	// bytes that are read, at which a run ends with the column, however large
	// that is. 0: not bounded.
	bytes int64
}

// find reads the row with the prefix from an iterator that stands on its first
// key, and leaves it behind the row. Where the row has more than the bounds let
// one run take, it stops with more.
//
// A run may begin at a column: from, escaped, with the row's family markers read
// before. It must not begin inside one, since what stays of it counts. It
// returns the column at which the next one begins: the same one again where that
// alone has too much. Markers of a column go in the run that comes to its end;
// those of the family only in a run over the whole row: between two runs others
// may write what the markers have to mask.
func (g *garbage) find(it *pebbledb.Iterator, prefix, from []byte, most bounds) (more bool, next []byte, err error) {
	g.keys, g.columnMarkers, g.familyMarkers = g.keys[:0], g.columnMarkers[:0], g.familyMarkers[:0]
	g.beginRow()
	g.partial, g.unfinished, g.stuck = from != nil, false, false
	read, began := 0, g.bytes
	for ; it.Valid() && bytes.HasPrefix(it.Key(), prefix); it.Next() {
		k, err := parseCellKey(it.Key(), len(prefix))
		if err != nil {
			return false, nil, err
		}
		if from != nil && len(k.qualifier) > 0 && bytes.Compare(k.qualifier, from) < 0 {
			it.SeekGE(append(append(bytes.Clone(prefix), from...), escByte, escEnd))
			from = nil
			if !it.Valid() || !bytes.HasPrefix(it.Key(), prefix) {
				break
			}
			if k, err = parseCellKey(it.Key(), len(prefix)); err != nil {
				return false, nil, err
			}
		}
		if g.enter(&k) {
			g.keys = append(g.keys, g.columnMarkers...)
			g.columnMarkers = g.columnMarkers[:0]
			if g.endsBefore(most, read, g.bytes-began, from, &k) {
				g.partial = true
				g.dropIdle()
				return true, bytes.Clone(k.qualifier), nil
			}
		}
		if len(g.keys) >= 10*most.keys || most.cells > 0 && read >= 2*most.cells {
			// One column alone is that large: it is begun again, if anything of
			// it goes.
			g.partial, g.stuck = true, len(g.keys) == 0
			return true, bytes.Clone(k.qualifier), nil
		}
		read++
		if err := g.judge(&k, it); err != nil {
			return false, nil, err
		}
	}
	g.dropIdle()
	g.keys = append(g.keys, g.columnMarkers...)
	if g.partial {
		g.unfinished = g.unfinished || len(g.familyMarkers) > 0
	} else {
		g.keys = append(g.keys, g.familyMarkers...)
	}
	return false, nil, it.Error()
}

// endsBefore says whether a run ends before the column that it comes to.
func (g *garbage) endsBefore(most bounds, read int, size int64, from []byte, k *cellKey) bool {
	if from != nil && bytes.Compare(k.qualifier, from) <= 0 {
		return false // before the column at which the run begins
	}
	return len(g.keys) >= most.keys || most.cells > 0 && read >= most.cells || most.bytes > 0 && size >= most.bytes
}

// beginRow forgets the last row.
func (g *garbage) beginRow() {
	g.idle, g.kept = g.idle[:0], g.kept[:0]
	g.columns = 0
	g.marks.beginRow()
	g.all.beginRow()
}

// enter begins a column if the cell is of another one than the last.
func (g *garbage) enter(k *cellKey) bool {
	if g.columns > 0 && bytes.Equal(g.column, k.qualifier) {
		return false
	}
	g.columns++
	g.column = append(g.column[:0], k.qualifier...)
	g.versions, g.shown = 0, 0
	g.marks.beginColumn()
	g.all.beginColumn()
	return true
}

// judge keeps the key of a cell that goes.
func (g *garbage) judge(k *cellKey, it *pebbledb.Iterator) error {
	v, err := it.ValueAndErr()
	if err != nil {
		return err
	}
	g.cells++
	g.bytes += int64(len(it.Key()) + len(v))
	if k.typ.IsMarker() {
		m := doomed{bytes.Clone(it.Key()), uint32(len(v))}
		switch {
		case g.drops(k, 0) && k.typ.IsFamilyMarker():
			g.familyMarkers = append(g.familyMarkers, m)
		case g.acts(k.timestamp):
			g.columnMarkers = append(g.columnMarkers, m)
		default:
			g.idle = append(g.idle, marker{m, g.columns, k.timestamp, k.typ})
		}
		return nil
	}
	_, ttl, _, err := parseValue(v)
	if err != nil {
		return err
	}
	if g.drops(k, ttl) {
		g.keys = append(g.keys, doomed{bytes.Clone(it.Key()), uint32(len(v))})
		return nil
	}
	g.noteExpiry(k, ttl)
	if g.family.schema.KeepDeleted != cell.KeepDeletedFalse {
		g.kept = append(g.kept, put{g.columns, k.timestamp})
	}
	return nil
}

// drops judges a cell of the current column: whether it goes. A marker that does
// not act is judged at the end of the row.
func (g *garbage) drops(k *cellKey, ttl int64) bool {
	if k.typ.IsMarker() {
		g.all.add(k.typ, k.timestamp)
		if !g.acts(k.timestamp) {
			return false
		}
		g.marks.add(k.typ, k.timestamp)
		return true
	}
	if g.marks.hide(k.timestamp) || outlived(k.timestamp, ttl, g.now) {
		return true
	}
	g.versions++
	surplus := g.surplus(g.versions, k.timestamp)
	if !g.all.hide(k.timestamp) {
		g.shown++
		surplus = surplus && g.surplus(g.shown, k.timestamp)
	}
	return surplus
}

// noteExpiry notes when a put that stays expires. What MIN_VERSIONS holds back
// is not awaited.
func (g *garbage) noteExpiry(k *cellKey, ttl int64) {
	life := ttl
	if s := &g.family.schema; s.TTL < cell.Forever && g.versions > s.MinVersions {
		if f := int64(s.TTL) * 1000; life == 0 || f < life {
			life = f
		}
	}
	if life == 0 || life > math.MaxInt64-k.timestamp {
		return
	}
	g.expiries.add(g.now, max(k.timestamp+life, 1))
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

// dropIdle lets the markers go that mask nothing which stays. What a partial run
// knows is not enough to judge markers of the family.
func (g *garbage) dropIdle() {
	if len(g.idle) == 0 {
		return
	}
	kept := newKeptPuts(g.kept)
	for i := range g.idle {
		m := &g.idle[i]
		switch {
		case kept.masked(m):
		case g.partial && m.typ.IsFamilyMarker():
			g.unfinished = true
		default:
			g.keys = append(g.keys, m.doomed)
		}
	}
	g.idle = g.idle[:0]
}
