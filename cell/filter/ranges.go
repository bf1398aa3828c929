package filter

import (
	"bytes"
	"fmt"
	"slices"
	"sort"

	"github.com/cellardb/cellar/cell"
)

// MultiRowRange keeps the rows of several ranges, given in any order, and leads
// the scan from one range to the next. Ranges that overlap or touch count as
// one.
type MultiRowRange struct{ Ranges []cell.Range }

func (f MultiRowRange) String() string {
	var args []string
	for _, r := range f.Ranges {
		begin, end := "[", ")"
		if r.StartExclusive {
			begin = "("
		}
		if r.StopInclusive {
			end = "]"
		}
		args = append(args, fmt.Sprintf("%s%s, %s%s", begin, quote(r.Start), quote(r.Stop), end))
	}
	return call("MultiRowRangeFilter", args...)
}

func (f MultiRowRange) build(b *builder) (node, error) {
	if len(f.Ranges) == 0 {
		return nil, illegal("MultiRowRangeFilter: no ranges")
	}
	for i := range f.Ranges {
		if !sound(&f.Ranges[i]) {
			return nil, illegal("MultiRowRangeFilter: range %s to %s ends before it begins",
				cell.Printable(f.Ranges[i].Start), cell.Printable(f.Ranges[i].Stop))
		}
	}
	n := &rangesNode{ranges: mergeRanges(f.Ranges), reversed: b.reversed, code: NextRow}
	if n.reversed {
		slices.Reverse(n.ranges)
	}
	return n, nil
}

func sound(r *cell.Range) bool {
	if len(r.Start) == 0 || len(r.Stop) == 0 {
		return true
	}
	order := bytes.Compare(r.Start, r.Stop)
	return order < 0 || order == 0 && r.StopInclusive
}

// mergeRanges sorts ranges and joins those that have rows in common or touch.
func mergeRanges(ranges []cell.Range) []cell.Range {
	sorted := slices.Clone(ranges)
	slices.SortStableFunc(sorted, func(a, b cell.Range) int {
		if c := bytes.Compare(a.Start, b.Start); c != 0 {
			return c
		}
		switch {
		case a.StartExclusive == b.StartExclusive:
			return 0
		case b.StartExclusive:
			return -1
		}
		return 1
	})
	merged := sorted[:1]
	for _, r := range sorted[1:] {
		last := &merged[len(merged)-1]
		if !touches(last, &r) {
			merged = append(merged, r)
			continue
		}
		if endsBefore(last, &r) {
			last.Stop, last.StopInclusive = r.Stop, r.StopInclusive
		}
	}
	return merged
}

// touches says whether nothing lies between a range and one that begins later.
func touches(a, b *cell.Range) bool {
	if len(a.Stop) == 0 {
		return true
	}
	order := bytes.Compare(a.Stop, b.Start)
	return order > 0 || order == 0 && (a.StopInclusive || !b.StartExclusive)
}

func endsBefore(a, b *cell.Range) bool {
	if len(a.Stop) == 0 || len(b.Stop) == 0 {
		return len(a.Stop) != 0
	}
	order := bytes.Compare(a.Stop, b.Stop)
	return order < 0 || order == 0 && !a.StopInclusive
}

type rangesNode struct {
	base
	ranges   []cell.Range // in the order of the scan
	reversed bool
	done     bool
	at       int // the range that the current row is in or before
	code     Code
}

func (n *rangesNode) hinting() bool            { return true }
func (n *rangesNode) filterAllRemaining() bool { return n.done }

func (n *rangesNode) filterRowKey(row []byte) (bool, error) {
	if n.done {
		return true, nil
	}
	n.at = sort.Search(len(n.ranges), func(i int) bool { return !n.passed(&n.ranges[i], row) })
	switch {
	case n.at == len(n.ranges):
		n.done = true
		n.code = NextRow
	case n.ranges[n.at].Contains(row):
		n.code = Include
	case bytes.Equal(row, n.begin()):
		n.code = NextRow
	default:
		n.code = SeekNextUsingHint
	}
	return false, nil
}

// passed says whether the scan, at this row, has left the range behind.
func (n *rangesNode) passed(r *cell.Range, row []byte) bool {
	if n.reversed {
		order := bytes.Compare(row, r.Start)
		return len(r.Start) > 0 && (order < 0 || order == 0 && r.StartExclusive)
	}
	order := bytes.Compare(row, r.Stop)
	return len(r.Stop) > 0 && (order > 0 || order == 0 && !r.StopInclusive)
}

// begin is the bound of the current range that the scan comes to first.
func (n *rangesNode) begin() []byte {
	if n.reversed {
		return n.ranges[n.at].Stop
	}
	return n.ranges[n.at].Start
}

func (n *rangesNode) filterCell(*cell.Cell) (Code, error) { return n.code, nil }

func (n *rangesNode) nextHint(*cell.Cell) (position, bool) {
	if n.at == len(n.ranges) {
		return position{}, false
	}
	return firstOnRow(n.begin()), true
}
