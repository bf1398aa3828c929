package memory

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// Regions lists a table's regions.
func (s *Store) Regions(ctx context.Context, table string) ([]store.Region, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	t, err := s.tableLocked(table)
	if err != nil {
		return nil, err
	}
	return cloneRegions(t.regions), nil
}

// Partitions cuts a range so that each part has about as many rows.
func (s *Store) Partitions(ctx context.Context, table string, r cell.Range, n int) ([]cell.Range, error) {
	if n < 1 {
		return nil, &cell.ArgumentError{Text: fmt.Sprintf("number of partitions must be positive: %d", n)}
	}
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	t, err := s.readableLocked(table)
	if err != nil {
		return nil, err
	}
	rows := t.within(r)
	n = max(1, min(n, len(rows)))
	parts := make([]cell.Range, 0, n)
	rest := cloneRange(r)
	for i := 1; i < n; i++ {
		at := bytes.Clone(rows[i*len(rows)/n].key)
		parts = append(parts, cell.Range{Start: rest.Start, StartExclusive: rest.StartExclusive, Stop: at})
		rest.Start, rest.StartExclusive = at, false
	}
	return append(parts, rest), nil
}

// SplitRegion cuts a region in two. Without a row to cut at it takes the middle
// one. The region may be nil: then it is the one that holds the row, or, without
// a row, the largest.
func (s *Store) SplitRegion(ctx context.Context, table string, region *store.Region, at []byte) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	t, err := s.readableLocked(table)
	if err != nil {
		return err
	}
	i, err := t.regionToSplit(region, at)
	if err != nil {
		return err
	}
	parent := t.regions[i]
	if len(at) == 0 {
		at = t.middle(parent.Range())
	}
	switch {
	case len(at) == 0 || bytes.Equal(at, parent.Start):
		return &cell.ArgumentError{Text: fmt.Sprintf("region %s cannot be split at %q: name a row inside it that is not its first", parent.EncodedName(), cell.Printable(at))}
	case len(at) > cell.MaxRow:
		return cell.ValidateRow(at)
	case !parent.Contains(at):
		return fmt.Errorf("split region %s at %q: %w", parent.EncodedName(), cell.Printable(at), store.ErrWrongRegion)
	}
	id := max(s.regionIDLocked(), parent.ID+1)
	s.mu.lastRegion = id
	low, high := parent, parent
	low.ID, high.ID = id, id
	low.Stop, high.Start = bytes.Clone(at), bytes.Clone(at)
	t.regions = slices.Replace(t.regions, i, i+1, low, high)
	return nil
}

// regionToSplit finds the region that a split means.
func (t *table) regionToSplit(region *store.Region, at []byte) (int, error) {
	if region == nil && len(at) == 0 {
		return t.largest(), nil
	}
	if region == nil {
		return slices.IndexFunc(t.regions, func(r store.Region) bool { return r.Contains(at) }), nil
	}
	i := slices.IndexFunc(t.regions, func(r store.Region) bool {
		return r.ID == region.ID && bytes.Equal(r.Start, region.Start) && bytes.Equal(r.Stop, region.Stop)
	})
	if i < 0 {
		return 0, fmt.Errorf("region %s: %w", region.EncodedName(), store.ErrNotServingRegion)
	}
	return i, nil
}

// largest finds the region with the most rows.
func (t *table) largest() int {
	best, most := 0, -1
	for i := range t.regions {
		if n := len(t.within(t.regions[i].Range())); n > most {
			best, most = i, n
		}
	}
	return best
}

// middle gives the key of the middle row of a range; nil: there is none that
// could part it.
func (t *table) middle(r cell.Range) []byte {
	rows := t.within(r)
	if len(rows) < 2 {
		return nil
	}
	return rows[len(rows)/2].key
}
