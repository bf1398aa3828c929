package filter

import (
	"bytes"
	"container/heap"
	"slices"

	"github.com/cellardb/cellar/cell"
)

// FuzzyRow keeps the rows whose key is like one of the keys: equal to it at the
// bytes that its mask says are fixed. A row shorter than the key is compared as
// far as it goes; of a longer one the rest does not matter. It leads the scan
// from one possible row to the next.
type FuzzyRow struct{ Keys []FuzzyKey }

// FuzzyKey is a row key with a mask of the same length: 0 for a byte that is
// fixed, 1 for one that may be anything.
type FuzzyKey struct{ Key, Mask []byte }

// Bytes of masks as HBase sends them after its own preparation.
const (
	preparedFixed = 0xff
	preparedAny   = 2
)

// FuzzyMask turns a mask as it comes over the wire into one of FuzzyKey. The
// version is the is_mask_v2 of the message. HBase's own clients prepare masks
// before they send them, others send 0 and 1; and a mask of the first version
// that is 0 throughout counts as prepared, where 0 is any byte.
func FuzzyMask(mask []byte, v2 bool) ([]byte, error) {
	anyByte := byte(0)
	if v2 {
		anyByte = preparedAny
	}
	prepared := !slices.ContainsFunc(mask, func(b byte) bool { return b != preparedFixed && b != anyByte })
	out := make([]byte, len(mask))
	for i, b := range mask {
		switch {
		case b == preparedFixed, b == 0 && !prepared:
		case b == 1, b == anyByte, b == preparedAny:
			out[i] = 1
		default:
			return nil, illegal("FuzzyRowFilter: mask byte %d is none of 0, 1, 2 and 255", b)
		}
	}
	return out, nil
}

func (f FuzzyRow) String() string {
	var args []string
	for _, k := range f.Keys {
		args = append(args, quote(k.Key), quote(k.Mask))
	}
	return call("FuzzyRowFilter", args...)
}

func (f FuzzyRow) build(b *builder) (node, error) {
	if len(f.Keys) == 0 {
		return nil, illegal("FuzzyRowFilter: no keys")
	}
	for _, k := range f.Keys {
		if len(k.Key) != len(k.Mask) {
			return nil, illegal("FuzzyRowFilter: key %s has %d bytes, its mask %d",
				cell.Printable(k.Key), len(k.Key), len(k.Mask))
		}
		if i := slices.IndexFunc(k.Mask, func(b byte) bool { return b > 1 }); i >= 0 {
			return nil, illegal("FuzzyRowFilter: mask byte %d is neither 0 nor 1", k.Mask[i])
		}
	}
	return &fuzzyNode{keys: f.Keys, reversed: b.reversed}, nil
}

type fuzzyNode struct {
	base
	keys     []FuzzyKey
	reversed bool
	found    int // the key that matched last: the next row is likely to match it too
	drop     bool
	done     bool
	next     nextRows
	started  bool // next was filled
	passed   []*FuzzyKey
}

func (n *fuzzyNode) hinting() bool            { return true }
func (n *fuzzyNode) reset()                   { n.drop = false }
func (n *fuzzyNode) filterAllRemaining() bool { return n.done }
func (n *fuzzyNode) filterRow() bool          { return n.drop }

func (n *fuzzyNode) filterRowKey([]byte) (bool, error) { return n.done, nil }

func (n *fuzzyNode) filterCell(c *cell.Cell) (Code, error) {
	for i := range n.keys {
		at := (n.found + i) % len(n.keys)
		if n.keys[at].like(c.Row) {
			n.found = at
			return Include, nil
		}
	}
	n.drop = true
	return SeekNextUsingHint, nil
}

func (k *FuzzyKey) like(row []byte) bool {
	for i := range min(len(row), len(k.Key)) {
		if k.Mask[i] == 0 && row[i] != k.Key[i] {
			return false
		}
	}
	return true
}

// nextHint is the nearest row that is like one of the keys. When there is none
// the scan is over.
func (n *fuzzyNode) nextHint(c *cell.Cell) (position, bool) {
	if !n.started {
		n.started = true
		n.next.reversed = n.reversed
		for i := range n.keys {
			n.push(c.Row, &n.keys[i])
		}
	}
	n.passed = n.passed[:0]
	for len(n.next.rows) > 0 && !n.next.isAhead(c.Row) {
		n.passed = append(n.passed, heap.Pop(&n.next).(nextRow).key)
	}
	for _, k := range n.passed {
		n.push(c.Row, k)
	}
	if len(n.next.rows) == 0 {
		n.done = true
		return position{}, false
	}
	return firstOnRow(n.next.rows[0].row), true
}

func (n *fuzzyNode) push(row []byte, k *FuzzyKey) {
	next := k.after(row)
	if n.reversed {
		next = k.before(row)
	}
	if next != nil {
		heap.Push(&n.next, nextRow{next, k})
	}
}

// after gives the lowest row above this one that is like the key, without the
// bytes at its end that may be anything. The row is not like the key. Nil:
// there is none.
func (k *FuzzyKey) after(row []byte) []byte {
	next := bytes.Clone(k.Key)
	last := -1 // the last free byte that can be raised
	for i := range next {
		if k.Mask[i] != 0 {
			next[i] = 0
		}
	}
	for i := range min(len(row), len(next)) {
		switch {
		case k.Mask[i] != 0:
			next[i] = row[i]
			if row[i] != 0xff {
				last = i
			}
			continue
		case row[i] == k.Key[i]:
			continue
		case row[i] < k.Key[i]:
			return k.trim(next, last)
		}
		break
	}
	if last < 0 {
		return nil
	}
	next[last]++
	for i := last + 1; i < len(next); i++ {
		if k.Mask[i] != 0 {
			next[i] = 0
		}
	}
	return k.trim(next, last)
}

// before gives the lowest row that is above all those below this one that are
// like the key. It may be this one itself. Nil: there is none.
func (k *FuzzyKey) before(row []byte) []byte {
	next := bytes.Clone(k.Key)
	last := -1 // the last free byte that can be lowered
	for i := range next {
		if k.Mask[i] != 0 {
			next[i] = 0xff
		}
	}
	for i := range min(len(row), len(next)) {
		switch {
		case k.Mask[i] != 0:
			next[i] = row[i]
			if row[i] != 0 {
				last = i
			}
			continue
		case row[i] == k.Key[i]:
			continue
		case row[i] > k.Key[i]:
			return cell.AfterPrefix(k.trim(next, last))
		}
		break
	}
	if last < 0 {
		return nil
	}
	next[last]--
	for i := last + 1; i < len(next); i++ {
		if k.Mask[i] != 0 {
			next[i] = 0xff
		}
	}
	return cell.AfterPrefix(k.trim(next, last))
}

// trim cuts off the free bytes at the end, those behind a raised one.
func (k *FuzzyKey) trim(row []byte, raised int) []byte {
	end := len(row)
	for end > raised+1 && k.Mask[end-1] != 0 {
		end--
	}
	return row[:end]
}

// nextRow is a row to go to, and the key that it is like.
type nextRow struct {
	row []byte
	key *FuzzyKey
}

// nextRows is a heap, the nearest row first.
type nextRows struct {
	rows     []nextRow
	reversed bool
}

func (h *nextRows) Len() int      { return len(h.rows) }
func (h *nextRows) Swap(i, j int) { h.rows[i], h.rows[j] = h.rows[j], h.rows[i] }
func (h *nextRows) Push(x any)    { h.rows = append(h.rows, x.(nextRow)) }

func (h *nextRows) Less(i, j int) bool {
	order := bytes.Compare(h.rows[i].row, h.rows[j].row)
	if h.reversed {
		return order > 0
	}
	return order < 0
}

func (h *nextRows) Pop() any {
	last := len(h.rows) - 1
	x := h.rows[last]
	h.rows = h.rows[:last]
	return x
}

// isAhead says whether the nearest row is still ahead of the scan.
func (h *nextRows) isAhead(row []byte) bool {
	order := bytes.Compare(row, h.rows[0].row)
	if h.reversed {
		return order > 0
	}
	return order < 0
}
