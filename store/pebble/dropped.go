package pebble

import (
	"context"
	"encoding/binary"
	"fmt"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// Space of dropped tables and families comes back in three steps: (1) the
// change of the catalog writes a mark, synced; (2) the range of the id is
// excised, which frees the disk at once; (3) the mark goes. A start repeats (2)
// and (3) for the marks that it finds. Ids are never used again, so (2) may be
// done any number of times.

// giveBack does steps 2 and 3 after a change that made a mark.
func (s *Store) giveBack(ctx context.Context) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.gate.RUnlock()
	return s.clearDropped(ctx)
}

// clearDropped does steps 2 and 3 for every mark.
func (s *Store) clearDropped(ctx context.Context) error {
	s.dropping.Lock()
	defer s.dropping.Unlock()
	type span struct{ mark, lower, upper []byte }
	var spans []span
	err := eachMeta(s.db, metaDropped, nil, func(rest, _ []byte) error {
		sp := span{mark: metaKey(metaDropped, rest)}
		switch len(rest) {
		case 4:
			sp.lower, sp.upper = tableBounds(binary.BigEndian.Uint32(rest))
		case 6:
			sp.lower, sp.upper = familyBounds(binary.BigEndian.Uint32(rest), binary.BigEndian.Uint16(rest[4:]))
		default:
			return fmt.Errorf("%w: the mark of a dropped table has %d bytes", store.ErrCorrupt, len(rest))
		}
		spans = append(spans, sp)
		return nil
	})
	if err != nil {
		return storeError(err)
	}
	for _, sp := range spans {
		if err := s.db.Excise(ctx, pebbledb.KeyRange{Start: sp.lower, End: sp.upper}); err != nil {
			return storeError(err)
		}
		if err := s.db.Delete(sp.mark, pebbledb.Sync); err != nil {
			return storeError(err)
		}
	}
	return nil
}

// DeleteRows implements store.Writer: a range deletion in each family.
func (s *Store) DeleteRows(ctx context.Context, name string, r cell.Range) error {
	t, err := s.enterWrite(ctx, name)
	if err != nil {
		return err
	}
	defer s.gate.RUnlock()
	defer t.mu.RUnlock()
	b := s.db.NewBatch()
	for _, f := range t.layout.families {
		lower, upper := rowBounds(t.id, f.id, r)
		if string(lower) >= string(upper) {
			continue
		}
		if err := b.DeleteRange(lower, upper, nil); err != nil {
			return closeWith(b, err)
		}
	}
	if b.Empty() {
		return b.Close()
	}
	// Counters that were remembered before this, or while it went on, are not
	// believed after it; while it goes on none is.
	s.removing.Add(1)
	s.removals.Add(1)
	defer s.removing.Add(-1)
	return storeError(closeWith(b, s.db.Apply(b, pebbledb.Sync)))
}
