package filter

import (
	"fmt"
	"testing"

	"github.com/cellardb/cellar/cell"
)

// fixed answers as it is told.
type fixed struct {
	base
	code                          Code
	hint                          string
	asked                         int
	isHinting, done, drop, noHint bool
}

func (n *fixed) filterCell(*cell.Cell) (Code, error)  { n.asked++; return n.code, nil }
func (n *fixed) filterAllRemaining() bool             { return n.done }
func (n *fixed) filterRow() bool                      { n.asked++; return n.drop }
func (n *fixed) hinting() bool                        { return n.isHinting }
func (n *fixed) filterRowKey([]byte) (bool, error)    { n.asked++; return n.drop, nil }
func (n *fixed) nextHint(*cell.Cell) (position, bool) { return firstOnRow([]byte(n.hint)), !n.noHint }
func andOf(nodes ...node) *andNode                    { return &andNode{listNode: listNode{filters: nodes}} }
func orOf(nodes ...node) *orNode {
	return &orNode{listNode: listNode{filters: nodes}, last: make([]lastAnswer, len(nodes))}
}

const (
	in, inCol, inRow = Include, IncludeAndNextCol, IncludeAndSeekNextRow
	no, col, row     = Skip, NextCol, NextRow
	seek             = SeekNextUsingHint
)

// The tables in the comments of HBase's FilterListWithAND ("the maximal step
// rule") and FilterListWithOR ("the minimal step rule"): what a list answers to
// the answers of two filters, the first one's on the left.
func TestListCodes(t *testing.T) {
	codes := []Code{in, inCol, inRow, no, col, row, seek}
	all := [][]Code{
		//         in     inCol  inRow  no   col  row  seek
		/*in*/ {in, inCol, inRow, no, col, row, seek},
		/*inCol*/ {inCol, inCol, inRow, col, col, row, seek},
		/*inRow*/ {inRow, inRow, inRow, row, row, row, seek},
		/*no*/ {no, no, no, no, no, no, no}, // the second is not asked
		/*col*/ {col, col, col, col, col, col, col},
		/*row*/ {row, row, row, row, row, row, row},
		/*seek*/ {seek, seek, seek, seek, seek, seek, seek},
	}
	one := [][]Code{
		/*in*/ {in, in, in, in, in, in, in},
		/*inCol*/ {in, inCol, inCol, in, inCol, inCol, in},
		/*inRow*/ {in, inCol, inRow, in, inCol, inRow, in},
		/*no*/ {in, in, in, no, no, no, no},
		/*col*/ {in, inCol, inCol, no, col, col, no},
		/*row*/ {in, inCol, inRow, no, col, row, no},
		/*seek*/ {in, in, in, no, no, no, seek},
	}
	c := cell.Cell{Row: []byte("r")}
	for i, first := range codes {
		for j, second := range codes {
			a, b := &fixed{code: first}, &fixed{code: second}
			if got, _ := andOf(a, b).filterCell(&c); got != all[i][j] {
				t.Errorf("%v AND %v: %v, want %v", first, second, got, all[i][j])
			}
			if first.Includes() != (b.asked == 1) {
				t.Errorf("%v AND %v: the second was asked %d times", first, second, b.asked)
			}
			if got, _ := orOf(a, b).filterCell(&c); got != one[i][j] {
				t.Errorf("%v OR %v: %v, want %v", first, second, got, one[i][j])
			}
		}
	}
}

// A filter with hints is asked although one before it has dropped the cell.
func TestListAsksHintingFilters(t *testing.T) {
	c := cell.Cell{Row: []byte("a")}
	hinting := &fixed{code: seek, hint: "m", isHinting: true}
	further := &fixed{code: seek, hint: "p", isHinting: true}
	done := &fixed{code: seek, hint: "z", isHinting: true}
	list := andOf(&fixed{code: no}, &fixed{code: in}, hinting, further, done)
	if code, _ := list.filterCell(&c); code != seek {
		t.Errorf("%v", code)
	}
	done.done = true
	if p, ok := list.nextHint(&c); !ok || string(p.row) != "p" {
		t.Errorf("%s %v: the furthest hint of the filters that are not done is p", p.row, ok)
	}
	// A filter that is done ends the row, and is not asked.
	end := &fixed{code: in, done: true}
	if code, _ := andOf(end, &fixed{code: in}).filterCell(&c); code != row || end.asked != 0 {
		t.Errorf("%v, asked %d times", code, end.asked)
	}
	// One that must pass takes the nearest, or none.
	one := orOf(hinting, further)
	if p, ok := one.nextHint(&c); !ok || string(p.row) != "m" {
		t.Errorf("%s %v", p.row, ok)
	}
	further.noHint = true
	if _, ok := one.nextHint(&c); ok {
		t.Error("a hint, though one filter has none")
	}
}

// Row keys are shown to every filter; rows are decided on by as few as needed.
func TestListsAndRows(t *testing.T) {
	for drops := range 8 {
		var nodes []node
		var fixeds []*fixed
		for i := range 3 {
			n := &fixed{drop: drops>>i&1 == 1}
			fixeds, nodes = append(fixeds, n), append(nodes, n)
		}
		asked := func() (times string) {
			for _, n := range fixeds {
				times += fmt.Sprint(n.asked)
				n.asked = 0
			}
			return times
		}
		drop, _ := andOf(nodes...).filterRowKey(nil)
		if drop != (drops != 0) || asked() != "111" {
			t.Errorf("AND of %03b drops the row key: %v", drops, drop)
		}
		drop, _ = orOf(nodes...).filterRowKey(nil)
		if drop != (drops == 7) || asked() != "111" {
			t.Errorf("OR of %03b drops the row key: %v", drops, drop)
		}
		wantAnd := map[bool]string{true: "100", false: map[bool]string{true: "110", false: "111"}[drops&2 != 0]}[drops&1 != 0]
		if drop = andOf(nodes...).filterRow(); drop != (drops != 0) || asked() != wantAnd {
			t.Errorf("AND of %03b drops the row: %v", drops, drop)
		}
		wantOr := map[bool]string{true: "100", false: map[bool]string{true: "110", false: "111"}[drops&2 == 0]}[drops&1 == 0]
		if drop = orOf(nodes...).filterRow(); drop != (drops == 7) || asked() != wantOr {
			t.Errorf("OR of %03b drops the row: %v", drops, drop)
		}
	}
}
