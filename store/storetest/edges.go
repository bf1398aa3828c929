package storetest

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/cellardb/cellar/cell"
)

// edge is a time to live that will end: the last millisecond, in which the cell
// is still there.
type edge struct {
	at    int64
	table string
	row   []byte
}

// edgeWindow is how far ahead, in ms, the generator looks for edges: the clock
// never goes on by more for one read.
const edgeWindow = 60 * second

// noteEdges remembers when what a mutation writes will expire.
func (g *generator) noteEdges(table string, m *cell.Mutation) {
	for i := range m.Edits {
		e := &m.Edits[i]
		if e.Op.IsDelete() {
			continue
		}
		timestamp := e.Timestamp
		if timestamp == cell.Latest || e.Op.ReadsFirst() {
			timestamp = g.now
		}
		if m.TTL > 0 {
			g.edges = append(g.edges, edge{timestamp + m.TTL, table, m.Row})
		}
		for _, f := range g.families[table] {
			if f.Name == string(e.Family) && f.TTL != cell.Forever {
				g.edges = append(g.edges, edge{timestamp + int64(f.TTL)*second, table, m.Row})
			}
		}
	}
}

// atEdge moves the clock on, now and then, to the edge that comes next: to the
// last millisecond of a cell or to the first without it. It gives the table and
// the row to be read then; ok is false when the clock stays.
func (g *generator) atEdge() (table string, row []byte, ok bool) {
	if !g.semantics || g.IntN(3) > 0 {
		return "", nil, false
	}
	g.edges = slices.DeleteFunc(g.edges, func(e edge) bool {
		return e.at < g.now || e.at > g.now+edgeWindow || g.families[e.table] == nil
	})
	if len(g.edges) == 0 {
		return "", nil, false
	}
	next := slices.MinFunc(g.edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	g.edges = slices.DeleteFunc(g.edges, func(e edge) bool { return e.at == next.at && bytes.Equal(e.row, next.row) })
	g.now = next.at + int64(g.IntN(2))
	return next.table, next.row, true
}
