package filter

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"sort"

	"github.com/cellardb/cellar/cell"
)

// KeyOnly empties the values; with LenAsValue each becomes its length as four
// bytes, big-endian. Tags go too.
type KeyOnly struct{ LenAsValue bool }

func (f KeyOnly) String() string {
	if f.LenAsValue {
		return "KeyOnlyFilter(true)"
	}
	return "KeyOnlyFilter()"
}

func (f KeyOnly) build(*builder) (node, error) { return keyOnlyNode{KeyOnly: f}, nil }

type keyOnlyNode struct {
	base
	KeyOnly
}

func (n keyOnlyNode) transform(c *cell.Cell) {
	c.Tags = nil
	if n.LenAsValue {
		c.Value = binary.BigEndian.AppendUint32(nil, uint32(len(c.Value)))
		return
	}
	c.Value = c.Value[:0:0]
}

// FirstKeyOnly keeps the first cell of each row.
type FirstKeyOnly struct{}

func (FirstKeyOnly) String() string { return "FirstKeyOnlyFilter()" }

func (FirstKeyOnly) build(*builder) (node, error) { return &firstKeyNode{}, nil }

type firstKeyNode struct {
	base
	found bool
}

func (n *firstKeyNode) reset() { n.found = false }

func (n *firstKeyNode) filterCell(*cell.Cell) (Code, error) {
	if n.found {
		return NextRow, nil
	}
	n.found = true
	return Include, nil
}

// FirstKeyValueMatchingQualifiers keeps the cells of a row up to the first one
// whose qualifier is in the set, that one included.
type FirstKeyValueMatchingQualifiers struct{ Qualifiers [][]byte }

func (f FirstKeyValueMatchingQualifiers) String() string {
	return call("FirstKeyValueMatchingQualifiersFilter", quoteAll(f.Qualifiers)...)
}

func (f FirstKeyValueMatchingQualifiers) build(*builder) (node, error) {
	set := make(map[string]bool, len(f.Qualifiers))
	for _, q := range f.Qualifiers {
		set[string(q)] = true
	}
	return &firstMatchingNode{qualifiers: set}, nil
}

type firstMatchingNode struct {
	base
	qualifiers map[string]bool
	found      bool
}

func (n *firstMatchingNode) reset() { n.found = false }

func (n *firstMatchingNode) filterCell(c *cell.Cell) (Code, error) {
	if n.found {
		return NextRow, nil
	}
	n.found = n.qualifiers[string(c.Qualifier)]
	return Include, nil
}

// Timestamps keeps the cells at exactly these timestamps, in ms. With CanHint
// it leads the scan from one of them to the next.
type Timestamps struct {
	Timestamps []int64
	CanHint    bool
}

func (f Timestamps) String() string {
	args := make([]string, len(f.Timestamps))
	for i, t := range f.Timestamps {
		args[i] = integer(t)
	}
	if f.CanHint {
		args = append(args, "canHint")
	}
	return call("TimestampsFilter", args...)
}

func (f Timestamps) build(*builder) (node, error) {
	sorted := slices.Clone(f.Timestamps)
	slices.Sort(sorted)
	if len(sorted) > 0 && sorted[0] < 0 {
		return nil, illegal("TimestampsFilter: timestamp %d must not be negative", sorted[0])
	}
	return &timestampsNode{sorted: sorted, canHint: f.CanHint}, nil
}

type timestampsNode struct {
	base
	sorted  []int64
	canHint bool
}

func (n *timestampsNode) hinting() bool { return true }

func (n *timestampsNode) filterCell(c *cell.Cell) (Code, error) {
	oldest := int64(math.MaxInt64)
	if len(n.sorted) > 0 {
		oldest = n.sorted[0]
	}
	if _, ok := slices.BinarySearch(n.sorted, c.Timestamp); ok {
		return Include, nil
	}
	switch {
	case c.Timestamp < oldest:
		return NextCol, nil
	case n.canHint:
		return SeekNextUsingHint, nil
	}
	return Skip, nil
}

func (n *timestampsNode) nextHint(c *cell.Cell) (position, bool) {
	if !n.canHint {
		return position{}, false
	}
	notBelow := sort.Search(len(n.sorted), func(i int) bool { return n.sorted[i] >= c.Timestamp })
	if notBelow == 0 {
		return lastOnColumn(c), true
	}
	return firstAtTimestamp(c, n.sorted[notBelow-1]), true
}

// Family keeps the cells of the families whose name compares true.
type Family struct {
	Op         cell.CompareOp
	Comparator Comparator
}

func (f Family) String() string { return call("FamilyFilter", comparison(f.Op, f.Comparator)...) }

func (f Family) build(b *builder) (node, error) {
	t, err := b.test(f.Op, f.Comparator)
	return &familyNode{test: t}, err
}

// familyNode remembers its last answer: all cells of a family get the same.
type familyNode struct {
	base
	test   test
	asked  bool
	family []byte
	code   Code
}

func (n *familyNode) filterCell(c *cell.Cell) (Code, error) {
	if n.asked && bytes.Equal(n.family, c.Family) {
		return n.code, nil
	}
	drop, err := n.test.drops(c.Family)
	if err != nil {
		return NextRow, err
	}
	n.asked, n.family, n.code = true, append(n.family[:0], c.Family...), Include
	if drop {
		n.code = NextRow
	}
	return n.code, nil
}

// Qualifier keeps the cells whose qualifier compares true.
type Qualifier struct {
	Op         cell.CompareOp
	Comparator Comparator
}

func (f Qualifier) String() string { return call("QualifierFilter", comparison(f.Op, f.Comparator)...) }

func (f Qualifier) build(b *builder) (node, error) {
	t, err := b.test(f.Op, f.Comparator)
	return &qualifierNode{test: t}, err
}

type qualifierNode struct {
	base
	test test
}

func (n *qualifierNode) filterCell(c *cell.Cell) (Code, error) {
	drop, err := n.test.drops(c.Qualifier)
	if drop {
		return Skip, err
	}
	return Include, err
}

// Value keeps the cells whose value compares true.
type Value struct {
	Op         cell.CompareOp
	Comparator Comparator
}

func (f Value) String() string { return call("ValueFilter", comparison(f.Op, f.Comparator)...) }

func (f Value) build(b *builder) (node, error) {
	t, err := b.test(f.Op, f.Comparator)
	return &valueNode{test: t}, err
}

type valueNode struct {
	base
	test test
}

func (n *valueNode) filterCell(c *cell.Cell) (Code, error) {
	drop, err := n.test.drops(c.Value)
	if drop {
		return Skip, err
	}
	return Include, err
}
