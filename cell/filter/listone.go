package filter

import (
	"bytes"

	"github.com/cellardb/cellar/cell"
)

// orNode evaluates a list of which one filter must pass: HBase's
// FilterListWithOR. The smallest step of all filters is taken, so a filter that
// wanted to go further meets cells that it did not ask for; its last answer
// stands for those.
type orNode struct {
	listNode
	reversed bool
	last     []lastAnswer // one for each filter
}

// lastAnswer is what a filter said to the cell before, in this row.
type lastAnswer struct {
	included bool
	has      bool // code and cell are set, and code leads further than the next cell
	code     Code
	cell     cell.Cell // its bytes are owned
}

// remember keeps an answer, and the cell where it is needed later.
func (l *lastAnswer) remember(code Code, c *cell.Cell) {
	l.included = code.Includes()
	l.has = code != Include && code != Skip
	if !l.has {
		return
	}
	l.code = code
	l.cell.Row = append(l.cell.Row[:0], c.Row...)
	l.cell.Family = append(l.cell.Family[:0], c.Family...)
	l.cell.Qualifier = append(l.cell.Qualifier[:0], c.Qualifier...)
	l.cell.Timestamp, l.cell.Type = c.Timestamp, c.Type
}

// rank orders the answers that drop a cell by the size of their step.
var rank = [...]int{Skip: 0, NextCol: 1, NextRow: 2}

// mergeOne is the answer of a list whose filters so far answered a and whose
// next one answers b. The result keeps the cell when one of both does, and goes
// no further than the nearer of both; a hint may lead anywhere, so beside
// another answer it counts as one step.
func mergeOne(a, b Code) Code {
	if a == SeekNextUsingHint && b == SeekNextUsingHint {
		return SeekNextUsingHint
	}
	included := a.Includes() || b.Includes()
	step := min(rank[dropping(a)], rank[dropping(b)])
	switch {
	case !included:
		return [...]Code{Skip, NextCol, NextRow}[step]
	}
	return [...]Code{Include, IncludeAndNextCol, IncludeAndSeekNextRow}[step]
}

// dropping is the answer with the same step that drops the cell.
func dropping(c Code) Code {
	switch c {
	case IncludeAndNextCol, NextCol:
		return NextCol
	case IncludeAndSeekNextRow, NextRow:
		return NextRow
	}
	return Skip
}

func (n *orNode) reset() {
	for i, f := range n.filters {
		f.reset()
		n.last[i].included, n.last[i].has = false, false
	}
}

func (n *orNode) filterAllRemaining() bool {
	for _, f := range n.filters {
		if !f.filterAllRemaining() {
			return false
		}
	}
	return true
}

// filterRowKey asks every filter, since some learn from it that a row begins.
func (n *orNode) filterRowKey(row []byte) (bool, error) {
	drop := true
	for _, f := range n.filters {
		if f.filterAllRemaining() {
			continue
		}
		d, err := f.filterRowKey(row)
		if err != nil {
			return true, err
		}
		drop = drop && d
	}
	return drop, nil
}

func (n *orNode) filterCell(c *cell.Cell) (Code, error) {
	code, any := Skip, false
	for i, f := range n.filters {
		n.last[i].included = false
		if f.filterAllRemaining() {
			continue
		}
		answer, known := n.standing(f, &n.last[i], c)
		if !known {
			var err error
			if answer, err = f.filterCell(c); err != nil {
				return Skip, err
			}
		}
		n.last[i].remember(answer, c)
		if any {
			code = mergeOne(code, answer)
		} else {
			code, any = answer, true
		}
	}
	return code, nil
}

// standing says what a filter's last answer means for this cell. known is false
// when the filter must be asked.
func (n *orNode) standing(f node, last *lastAnswer, c *cell.Cell) (code Code, known bool) {
	if !last.has {
		return 0, false
	}
	switch last.code {
	case SeekNextUsingHint:
		p, ok := f.nextHint(&last.cell)
		if !ok {
			return 0, false
		}
		here := positionOf(c)
		return SeekNextUsingHint, here.before(&p, n.reversed)
	case NextCol, IncludeAndNextCol:
		return NextCol, bytes.Equal(last.cell.Qualifier, c.Qualifier) && bytes.Equal(last.cell.Family, c.Family)
	}
	return NextRow, bytes.Equal(last.cell.Family, c.Family)
}

func (n *orNode) transform(c *cell.Cell) {
	for i, f := range n.filters {
		if n.last[i].included {
			f.transform(c)
		}
	}
}

// filterRow stops at the first filter that keeps the row.
func (n *orNode) filterRow() bool {
	for _, f := range n.filters {
		if !f.filterRow() {
			return false
		}
	}
	return true
}

// nextHint is the nearest of the hints; none when one filter has none.
func (n *orNode) nextHint(c *cell.Cell) (nearest position, ok bool) {
	for _, f := range n.filters {
		if f.filterAllRemaining() {
			continue
		}
		p, has := f.nextHint(c)
		if !has {
			return position{}, false
		}
		if !ok || p.before(&nearest, n.reversed) {
			nearest, ok = p, true
		}
	}
	return nearest, ok
}
