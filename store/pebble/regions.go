package pebble

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// Regions implements store.Reader.
func (s *Store) Regions(ctx context.Context, name string) ([]store.Region, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.RUnlock()
	t, err := s.catalog.find(name)
	if err != nil {
		return nil, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return cloneRegions(t.regions), nil
}

func cloneRegions(regions []store.Region) []store.Region {
	regions = slices.Clone(regions)
	for i := range regions {
		regions[i].Start, regions[i].Stop = bytes.Clone(regions[i].Start), bytes.Clone(regions[i].Stop)
	}
	return regions
}

// newRegionID gives an id that no region of the store had. The admin lock is
// held.
func (c *catalog) newRegionID(now int64) int64 {
	c.lastRegion = max(now, c.lastRegion+1)
	return c.lastRegion
}

// SplitRegion implements store.Admin. Without a region it is the one that holds
// the row, or, without a row, the one with the most bytes; without a row it is
// cut where half of it lies.
func (s *Store) SplitRegion(ctx context.Context, name string, region *store.Region, at []byte) error {
	if len(at) > cell.MaxRow {
		return cell.ValidateRow(at)
	}
	if len(at) == 0 {
		var err error
		if region, at, err = s.splitPoint(ctx, name, region); err != nil {
			return err
		}
	}
	return s.change(ctx, func(b *pebbledb.Batch) (func(), error) {
		t, err := s.catalog.find(name)
		if err != nil {
			return nil, err
		}
		if !t.enabled {
			return nil, fmt.Errorf("%w: %s", store.ErrTableDisabled, t.name)
		}
		i, err := t.regionToSplit(region, at)
		if err != nil {
			return nil, err
		}
		old := t.regions[i]
		id := s.catalog.newRegionID(max(s.clock.now(), old.ID+1))
		halves := []store.Region{
			{Table: t.name, Start: old.Start, Stop: bytes.Clone(at), ID: id},
			{Table: t.name, Start: bytes.Clone(at), Stop: old.Stop, ID: id},
		}
		for _, h := range halves {
			if err := setJSON(b, metaKey(metaRegion, u32(t.id), h.Start), regionRecord{ID: id}); err != nil {
				return nil, err
			}
		}
		return func() {
			t.mu.Lock()
			t.regions = slices.Replace(slices.Clone(t.regions), i, i+1, halves...)
			t.mu.Unlock()
		}, nil
	})
}

// regionToSplit finds the region that a split at a row means, and checks that
// the row parts it.
func (t *table) regionToSplit(region *store.Region, at []byte) (int, error) {
	i := slices.IndexFunc(t.regions, func(r store.Region) bool {
		if region == nil {
			return r.Contains(at)
		}
		return r.ID == region.ID && bytes.Equal(r.Start, region.Start) && bytes.Equal(r.Stop, region.Stop)
	})
	if i < 0 {
		return 0, fmt.Errorf("%w: %s", store.ErrNotServingRegion, region.Name())
	}
	switch r := &t.regions[i]; {
	case !r.Contains(at):
		return 0, fmt.Errorf("%w: split point %s does not lie in region %s", store.ErrWrongRegion, cell.Printable(at), r.Name())
	case bytes.Equal(at, r.Start):
		return 0, &cell.ArgumentError{Text: fmt.Sprintf("region %s cannot be split at its first row %s: name a row inside it", r.Name(), cell.Printable(at))}
	}
	return i, nil
}

// splitPoint chooses the row at which a region is cut, and the region if none
// is named.
func (s *Store) splitPoint(ctx context.Context, name string, region *store.Region) (*store.Region, []byte, error) {
	regions, err := s.Regions(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	if region == nil {
		if region, err = s.largest(ctx, name, regions); err != nil {
			return nil, nil, err
		}
	}
	at, err := s.middle(ctx, name, region)
	if err == nil && at == nil {
		err = &cell.ArgumentError{Text: fmt.Sprintf("region %s has no row that parts it: name one", region.Name())}
	}
	return region, at, err
}

func (s *Store) largest(ctx context.Context, name string, regions []store.Region) (*store.Region, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.RUnlock()
	t, err := s.catalog.find(name)
	if err != nil {
		return nil, err
	}
	if err := t.usable(); err != nil {
		return nil, err
	}
	defer t.mu.RUnlock()
	best, most := 0, uint64(0)
	for i := range regions {
		var size uint64
		for _, f := range t.layout.families {
			cuts, err := s.cuts(t.id, f.id, regions[i].Range())
			if err != nil {
				return nil, storeError(err)
			}
			for _, c := range cuts {
				size += c.bytes
			}
		}
		if size > most {
			best, most = i, size
		}
	}
	return &regions[best], nil
}

// middle finds the row in the middle of a region: from the bounds of tables if
// there are enough, else by counting rows.
func (s *Store) middle(ctx context.Context, name string, region *store.Region) ([]byte, error) {
	parts, err := s.Partitions(ctx, name, region.Range(), 2)
	if err != nil {
		return nil, err
	}
	if len(parts) == 2 {
		return parts[1].Start, nil
	}
	sc, err := s.Scan(ctx, name, &cell.Scan{Range: region.Range(), Read: cell.Read{StoreLimit: 1, SkipCache: true}})
	if err != nil {
		return nil, err
	}
	var sample rowSample
	for {
		r, err := sc.Next(ctx)
		if err != nil {
			if cerr := sc.Close(); cerr != nil {
				return nil, cerr
			}
			return sample.end(err)
		}
		sample.add(r.Row)
	}
}
