package memory

import (
	"bytes"
	"context"

	"github.com/cellardb/cellar/cell"
)

// Compact lets go of what no read can see any more, if it is a major one;
// otherwise there is nothing to do.
func (s *Store) Compact(ctx context.Context, table string, r cell.Range, major bool) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	t, err := s.readableLocked(table)
	if err != nil || !major {
		return err
	}
	now := s.nowLocked()
	t.rewrite(r, func(cells []cell.Cell) []cell.Cell {
		var kept []cell.Cell
		for i := range t.info.Schema.Families {
			f := &t.info.Schema.Families[i]
			kept = append(kept, compactFamily(ofFamily(cells, f.Name), f, now)...)
		}
		return kept
	})
	return nil
}

// compactFamily gives what a major compaction leaves of a row's cells in one
// family. Markers that act remove what they mask and go; those that
// KEEP_DELETED_CELLS holds back stay as long as there is something to mask.
// Masked values that are held back count as versions, but do not push out what a
// read shows.
func compactFamily(cells []cell.Cell, f *cell.FamilySchema, now int64) []cell.Cell {
	var all, acting []cell.Cell
	for i := range cells {
		if !cells[i].Type.IsMarker() {
			continue
		}
		all = append(all, cells[i])
		if acts(f, cells[i].Timestamp, now) {
			acting = append(acting, cells[i])
		}
	}
	values := merge(lasting(cells, all, f, now), lasting(cells, acting, f, now))
	kept := values
	for i := range all {
		if !acts(f, all[i].Timestamp, now) && masksAny(&all[i], values) {
			kept = merge(kept, all[i:i+1])
		}
	}
	return kept
}

// acts says whether a compaction carries a marker out.
func acts(f *cell.FamilySchema, timestamp, now int64) bool {
	switch f.KeepDeleted {
	case cell.KeepDeletedTrue:
		return false
	case cell.KeepDeletedTTL:
		return familyExpired(f, timestamp, now)
	}
	return true
}

// lasting gives the values that markers do not mask, that have not expired and
// that are within VERSIONS.
func lasting(cells, markers []cell.Cell, f *cell.FamilySchema, now int64) []cell.Cell {
	var last []cell.Cell
	version := 0
	for i := range cells {
		c := &cells[i]
		if i == 0 || !bytes.Equal(c.Qualifier, cells[i-1].Qualifier) {
			version = 0
		}
		if c.Type.IsMarker() || masked(c, markers) || selfExpired(c, now) {
			continue
		}
		version++
		expired := version > f.MinVersions && familyExpired(f, c.Timestamp, now)
		if version <= f.MaxVersions && !expired {
			last = append(last, *c)
		}
	}
	return last
}

func masksAny(marker *cell.Cell, puts []cell.Cell) bool {
	for i := range puts {
		if masks(marker, &puts[i]) {
			return true
		}
	}
	return false
}
