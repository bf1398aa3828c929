package pebble

import (
	"bytes"
	"math"
	"slices"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"github.com/cellardb/cellar/cell"
)

// garbage finds the cells of a row that a major compaction lets go of: puts that
// are masked, expired or surplus, and the markers themselves.
//
// Where the family keeps deleted cells, masked puts count as versions like the
// others, and a marker stays as long as an older put does.
type garbage struct {
	family *family
	now    int64
	keys   [][]byte // of the cells to delete

	column     []byte
	inColumn   bool
	upTo, at   int64
	familyUpTo int64
	familyAt   []int64
	versions   int
	oldest     int64 // the oldest put that is kept, for the markers
	markers    []marker
}

type marker struct {
	key       []byte
	timestamp int64
}

// find reads the row with the prefix from an iterator that stands on its first
// key, and leaves it behind the row.
func (g *garbage) find(it *pebbledb.Iterator, prefix []byte) error {
	g.keys, g.markers, g.familyAt = g.keys[:0], g.markers[:0], g.familyAt[:0]
	g.inColumn, g.familyUpTo, g.oldest = false, -1, math.MaxInt64
	for ; it.Valid() && bytes.HasPrefix(it.Key(), prefix); it.Next() {
		k, err := parseCellKey(it.Key(), len(prefix))
		if err != nil {
			return err
		}
		if !g.inColumn || !bytes.Equal(g.column, k.qualifier) {
			g.inColumn = true
			g.column = append(g.column[:0], k.qualifier...)
			g.upTo, g.at, g.versions = -1, -1, 0
		}
		if k.typ.IsMarker() {
			g.mark(&k, it.Key())
			continue
		}
		drop, err := g.judge(&k, it)
		if err != nil {
			return err
		}
		if drop {
			g.keys = append(g.keys, bytes.Clone(it.Key()))
		} else {
			g.oldest = min(g.oldest, k.timestamp)
		}
	}
	if err := it.Error(); err != nil {
		return err
	}
	g.dropMarkers()
	return nil
}

func (g *garbage) mark(k *cellKey, key []byte) {
	g.markers = append(g.markers, marker{bytes.Clone(key), k.timestamp})
	switch k.typ {
	case cell.TypeDeleteFamily:
		g.familyUpTo = max(g.familyUpTo, k.timestamp)
	case cell.TypeDeleteFamilyVersion:
		g.familyAt = append(g.familyAt, k.timestamp)
	case cell.TypeDeleteColumn:
		g.upTo = max(g.upTo, k.timestamp)
	case cell.TypeDelete:
		g.at = k.timestamp
	}
}

// keeps says whether the family keeps the cells that a marker of this time
// masks.
func (g *garbage) keeps(timestamp int64) bool {
	switch g.family.schema.KeepDeleted {
	case cell.KeepDeletedTrue:
		return true
	case cell.KeepDeletedTTL:
		return !g.expired(timestamp)
	}
	return false
}

func (g *garbage) expired(timestamp int64) bool {
	ttl := g.family.schema.TTL
	return ttl < cell.Forever && timestamp < g.now-int64(ttl)*1000
}

// judge says whether a put goes.
func (g *garbage) judge(k *cellKey, it *pebbledb.Iterator) (bool, error) {
	ts := k.timestamp
	masked := ts <= g.familyUpTo || ts <= g.upTo || ts == g.at || slices.Contains(g.familyAt, ts)
	if masked && !g.keeps(ts) {
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
	if ttl > 0 && ttl < math.MaxInt64-ts && ts+ttl < g.now {
		return true, nil
	}
	g.versions++
	if g.versions > g.family.schema.MaxVersions {
		return true, nil
	}
	return g.versions > g.family.schema.MinVersions && g.expired(ts), nil
}

// dropMarkers lets the markers go that mask nothing which is kept.
func (g *garbage) dropMarkers() {
	for _, m := range g.markers {
		if !g.keeps(m.timestamp) || m.timestamp < g.oldest {
			g.keys = append(g.keys, m.key)
		}
	}
}
