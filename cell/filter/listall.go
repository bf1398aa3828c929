package filter

import "github.com/cellardb/cellar/cell"

// andNode evaluates a list whose filters must all pass: HBase's
// FilterListWithAND. The furthest step of all filters is taken.
type andNode struct {
	listNode
	reversed bool
	seeking  []node // the filters that had a hint for the last cell
}

// mergeAll[a][b] is the answer of a list whose filters so far answered a and
// whose next one answers b.
var mergeAll = [...][7]Code{
	Include: {
		Include: Include, IncludeAndNextCol: IncludeAndNextCol, IncludeAndSeekNextRow: IncludeAndSeekNextRow,
		Skip: Skip, NextCol: NextCol, NextRow: NextRow, SeekNextUsingHint: SeekNextUsingHint,
	},
	IncludeAndNextCol: {
		Include: IncludeAndNextCol, IncludeAndNextCol: IncludeAndNextCol, IncludeAndSeekNextRow: IncludeAndSeekNextRow,
		Skip: NextCol, NextCol: NextCol, NextRow: NextRow, SeekNextUsingHint: SeekNextUsingHint,
	},
	IncludeAndSeekNextRow: {
		Include: IncludeAndSeekNextRow, IncludeAndNextCol: IncludeAndSeekNextRow, IncludeAndSeekNextRow: IncludeAndSeekNextRow,
		Skip: NextRow, NextCol: NextRow, NextRow: NextRow, SeekNextUsingHint: SeekNextUsingHint,
	},
}

func (n *andNode) reset() {
	for _, f := range n.filters {
		f.reset()
	}
	n.seeking = n.seeking[:0]
}

func (n *andNode) filterAllRemaining() bool {
	for _, f := range n.filters {
		if f.filterAllRemaining() {
			return true
		}
	}
	return false
}

// filterRowKey asks every filter, since some learn from it that a row begins. A
// row that one drops still goes on to filterCell where a filter with hints lets
// it pass: the hint may lead further than the next row.
func (n *andNode) filterRowKey(row []byte) (bool, error) {
	drop, hinted := false, false
	for _, f := range n.filters {
		if f.filterAllRemaining() {
			return true, nil
		}
		d, err := f.filterRowKey(row)
		if err != nil {
			return true, err
		}
		drop = drop || d
		hinted = hinted || !d && f.hinting()
	}
	return drop && !hinted, nil
}

// filterCell stops at the first filter that drops the cell; behind it only
// filters with hints are asked.
func (n *andNode) filterCell(c *cell.Cell) (Code, error) {
	n.seeking = n.seeking[:0]
	code := Include
	for i, f := range n.filters {
		if !code.Includes() && !f.hinting() {
			continue
		}
		if code.Includes() && f.filterAllRemaining() {
			code = NextRow
			continue
		}
		answer, err := n.filters[i].filterCell(c)
		if err != nil {
			return NextRow, err
		}
		if answer == SeekNextUsingHint {
			n.seeking = append(n.seeking, f)
		}
		if code.Includes() {
			code = mergeAll[code][answer]
		}
	}
	if len(n.seeking) > 0 {
		return SeekNextUsingHint, nil
	}
	return code, nil
}

func (n *andNode) transform(c *cell.Cell) {
	for _, f := range n.filters {
		f.transform(c)
	}
}

// filterRow stops at the first filter that drops the row: a Page behind it does
// not count the row.
func (n *andNode) filterRow() bool {
	for _, f := range n.filters {
		if f.filterRow() {
			return true
		}
	}
	return false
}

// nextHint is the furthest of the hints.
func (n *andNode) nextHint(c *cell.Cell) (furthest position, ok bool) {
	for _, f := range n.seeking {
		if f.filterAllRemaining() {
			continue
		}
		p, has := f.nextHint(c)
		if has && (!ok || furthest.before(&p, n.reversed)) {
			furthest, ok = p, true
		}
	}
	return furthest, ok
}
