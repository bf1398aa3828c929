package storetest

import (
	"context"
	"fmt"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// tally says what histories met: how many of their reads read rows in which
// something was stored that is easy to get wrong.
type tally struct {
	steps, reads, gave, refused int
	// markers: the rows hold a marker.
	markers int
	// edges: a cell there lives its last millisecond, or expired with the one
	// before.
	edges int
	// ties: a marker and a value that it could mask have equal timestamps.
	ties int
	// filtered reads: those answered that have a filter and something to filter;
	// those whose filter left some cells and took others away; none; all.
	filtered, some, none, all int
}

func (s *tally) add(o tally) {
	s.steps += o.steps
	s.reads += o.reads
	s.gave += o.gave
	s.refused += o.refused
	s.markers += o.markers
	s.edges += o.edges
	s.ties += o.ties
	s.filtered += o.filtered
	s.some += o.some
	s.none += o.none
	s.all += o.all
}

func (s tally) String() string {
	return fmt.Sprintf("%d steps, %d errors; of %d reads %d gave cells, %d met markers, %d edges of a time to live, %d equal timestamps; "+
		"of %d filters %d kept some cells, %d all, %d none", s.steps, s.refused, s.reads, s.gave, s.markers, s.edges, s.ties,
		s.filtered, s.some, s.all, s.none)
}

// enoughReads is the number of reads from which on their shares are sure not to
// depend on chance.
const enoughReads = 1000

// tenths checks that enough of the reads met what they should: a tenth each.
func (s tally) tenths() error {
	if s.reads < enoughReads {
		return nil
	}
	for what, n := range map[string]int{"markers": s.markers, "edges of a time to live": s.edges, "equal timestamps": s.ties} {
		if n*10 < s.reads {
			return fmt.Errorf("of %d reads only %d met %s", s.reads, n, what)
		}
	}
	return nil
}

// note counts what a step met in the oracle.
func (s *tally) note(ctx context.Context, st *step, oracle store.Store, answer string) {
	s.steps++
	if strings.HasPrefix(answer, "error") {
		s.refused++
	}
	if st.reads == nil {
		return
	}
	s.reads++
	cells := strings.Count(answer, "@")
	if cells > 0 {
		s.gave++
	}
	if st.unfiltered != nil && !strings.HasPrefix(answer, "error") {
		s.noteFilter(cells, strings.Count(st.unfiltered(ctx, oracle), "@"))
	}
	raw := cell.Scan{Range: *st.reads, Raw: true}
	raw.MaxVersions = allVersions
	results, err := readAll(ctx, oracle, st.table, &raw)
	info, derr := oracle.Describe(ctx, st.table)
	if err != nil || derr != nil {
		return
	}
	s.noteRows(results, &info.Schema, st.now)
}

func (s *tally) noteFilter(kept, there int) {
	if there == 0 {
		return
	}
	s.filtered++
	switch kept {
	case 0:
		s.none++
	case there:
		s.all++
	default:
		s.some++
	}
}

// noteRows counts what stands in the rows of one read.
func (s *tally) noteRows(rows []*cell.Result, schema *cell.TableSchema, now int64) {
	var marker, edge, tie bool
	for _, r := range rows {
		for i := range r.Cells {
			c := &r.Cells[i]
			if c.Type.IsMarker() {
				marker = true
				tie = tie || masksEqual(c, r.Cells)
			} else {
				edge = edge || atEdge(c, schema.Family(c.Family), now)
			}
		}
	}
	for met, n := range map[*int]bool{&s.markers: marker, &s.edges: edge, &s.ties: tie} {
		if n {
			*met++
		}
	}
}

// masksEqual says whether a value of a row has the timestamp of a marker that
// could mask it.
func masksEqual(marker *cell.Cell, cells []cell.Cell) bool {
	for i := range cells {
		c := &cells[i]
		if c.Timestamp == marker.Timestamp && !c.Type.IsMarker() && string(c.Family) == string(marker.Family) &&
			(marker.Type.IsFamilyMarker() || string(c.Qualifier) == string(marker.Qualifier)) {
			return true
		}
	}
	return false
}

// atEdge says whether a value is in its last millisecond, or was until now.
func atEdge(c *cell.Cell, f *cell.FamilySchema, now int64) bool {
	last := func(ttl int64) bool { return now-(c.Timestamp+ttl) == 0 || now-(c.Timestamp+ttl) == 1 }
	return c.TTL > 0 && last(c.TTL) || f != nil && f.TTL != cell.Forever && last(int64(f.TTL)*second)
}
