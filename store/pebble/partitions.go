package pebble

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"github.com/cellardb/cellar/cell"
)

// Partitions implements store.Reader: it cuts at the bounds of sstables, the
// only places where sizes are known without reading. What lies in memtables is
// not weighed.
func (s *Store) Partitions(ctx context.Context, name string, r cell.Range, n int) ([]cell.Range, error) {
	return s.partitionsFrom(ctx, live{s}, name, r, n)
}

func (s *Store) partitionsFrom(ctx context.Context, from view, name string, r cell.Range, n int) ([]cell.Range, error) {
	if n < 1 {
		return nil, &cell.ArgumentError{Text: fmt.Sprintf("number of partitions must be positive: %d", n)}
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.RUnlock()
	t, err := from.find(name)
	if err != nil {
		return nil, err
	}
	if err := t.usable(); err != nil {
		return nil, err
	}
	defer t.mu.RUnlock()
	whole := cloneRange(r)
	if n == 1 {
		return []cell.Range{whole}, nil
	}
	var cuts []cut
	for _, f := range t.layout.families {
		more, err := s.cuts(t.id, f.id, r)
		if err != nil {
			return nil, storeError(err)
		}
		cuts = append(cuts, more...)
	}
	return cutRange(whole, cuts, n), nil
}

// cut is a row at which an sstable begins, and the sstable's size.
type cut struct {
	row   []byte
	bytes uint64
}

func (s *Store) cuts(table uint32, family uint16, r cell.Range) ([]cut, error) {
	lower, upper := rowBounds(table, family, r)
	if bytes.Compare(lower, upper) >= 0 {
		return nil, nil
	}
	levels, err := s.db.SSTables(pebbledb.WithKeyRangeFilter(lower, upper))
	if err != nil {
		return nil, err
	}
	head := appendFamilyPrefix(nil, table, family)
	var cuts []cut
	for _, files := range levels {
		for i := range files {
			key := files[i].Smallest.UserKey
			if bytes.Compare(key, lower) < 0 {
				key = lower
			}
			c := cut{bytes: files[i].Size}
			if bytes.HasPrefix(key, head) {
				if end := endOfString(key[len(head):]); end >= 0 {
					c.row = unescape(nil, key[len(head):len(head)+end])
				}
			}
			cuts = append(cuts, c)
		}
	}
	return cuts, nil
}

// cutRange cuts r into at most n ranges of about equal bytes.
func cutRange(r cell.Range, cuts []cut, n int) []cell.Range {
	slices.SortFunc(cuts, func(a, b cut) int { return bytes.Compare(a.row, b.row) })
	var total uint64
	for _, c := range cuts {
		total += c.bytes
	}
	parts := make([]cell.Range, 0, min(n, len(cuts)+1))
	rest := r
	var sum uint64
	for _, c := range cuts {
		due := total / uint64(n) * uint64(len(parts)+1)
		if sum >= due && len(parts) < n-1 && len(c.row) > 0 && rest.Contains(c.row) && !bytes.Equal(c.row, rest.Start) {
			part := rest
			part.Stop, part.StopInclusive = c.row, false
			parts = append(parts, part)
			rest.Start, rest.StartExclusive = c.row, false
		}
		sum += c.bytes
	}
	return append(parts, rest)
}
