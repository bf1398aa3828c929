package filter

import (
	"bytes"
	"cmp"
	"math"

	"github.com/cellardb/cellar/cell"
)

// Hint is where a filter wants a scan to go on, within one family: everything
// before it may be left out unseen. Its bytes are valid until the next call on
// the evaluator.
type Hint struct {
	// Row is the row to go on at: the first row at or above it, in a reversed
	// scan the first one at or below it. It is beyond the current row, unless
	// InRow.
	Row []byte
	// InRow says that the scan goes on in the current row and family, at the
	// first cell of a column above Qualifier, or of Qualifier itself with at
	// most this Timestamp. Only ascending scans get such hints.
	InRow     bool
	Qualifier []byte
	Timestamp int64
}

// Types at the two ends of the order, as HBase's seek keys have them.
const (
	typeFirst = 255
	typeLast  = 0
)

// position is a place in the order of cells: what HBase makes a fake cell for.
type position struct {
	row, family, qualifier []byte
	timestamp              int64
	kind                   uint8
}

func firstOnRow(row []byte) position {
	return position{row: row, timestamp: math.MaxInt64, kind: typeFirst}
}

func firstOnColumn(c *cell.Cell, qualifier []byte) position {
	return position{row: c.Row, family: c.Family, qualifier: qualifier, timestamp: math.MaxInt64, kind: typeFirst}
}

func firstAtTimestamp(c *cell.Cell, timestamp int64) position {
	return position{row: c.Row, family: c.Family, qualifier: c.Qualifier, timestamp: timestamp, kind: typeFirst}
}

func lastOnColumn(c *cell.Cell) position {
	return position{row: c.Row, family: c.Family, qualifier: c.Qualifier, timestamp: math.MinInt64, kind: typeLast}
}

func positionOf(c *cell.Cell) position {
	return position{row: c.Row, family: c.Family, qualifier: c.Qualifier, timestamp: c.Timestamp, kind: uint8(c.Type)}
}

// compare orders positions as cells are: keys ascending, then timestamps and
// types descending.
func (p *position) compare(q *position) int {
	if c := bytes.Compare(p.row, q.row); c != 0 {
		return c
	}
	if c := bytes.Compare(p.family, q.family); c != 0 {
		return c
	}
	if c := bytes.Compare(p.qualifier, q.qualifier); c != 0 {
		return c
	}
	if c := cmp.Compare(q.timestamp, p.timestamp); c != 0 {
		return c
	}
	return cmp.Compare(q.kind, p.kind)
}

// before says whether a scan comes to p earlier than to q.
func (p *position) before(q *position, reversed bool) bool {
	if reversed {
		return p.compare(q) > 0
	}
	return p.compare(q) < 0
}

// useful turns a position into a hint for a scan that stands on a cell. ok is
// false when it does not lead ahead: then the scan goes on with the next cell.
func (p *position) useful(c *cell.Cell, reversed bool) (h Hint, ok bool) {
	switch at := bytes.Compare(p.row, c.Row); {
	case at != 0:
		return Hint{Row: p.row}, at > 0 != reversed
	case reversed || !bytes.Equal(p.family, c.Family):
		return Hint{}, false
	}
	here := positionOf(c)
	return Hint{Row: c.Row, InRow: true, Qualifier: p.qualifier, Timestamp: p.timestamp}, p.compare(&here) > 0
}
