package filter

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/cellardb/cellar/cell"
)

// Prefix keeps the rows that begin with the prefix, and ends the scan behind
// them. Without a prefix it keeps every row.
type Prefix struct{ Prefix []byte }

func (f Prefix) String() string { return call("PrefixFilter", quote(f.Prefix)) }

func (f Prefix) build(b *builder) (node, error) {
	return &prefixNode{
		prefix: f.Prefix, after: cell.AfterPrefix(f.Prefix),
		reversed: b.reversed, drop: true,
	}, nil
}

type prefixNode struct {
	base
	prefix, after []byte
	reversed      bool
	passed        bool // a row beyond the prefix was seen
	drop          bool // the current row has another prefix
	before        bool // the current row is before the prefix
}

func (n *prefixNode) hinting() bool            { return true }
func (n *prefixNode) reset()                   { n.drop = true }
func (n *prefixNode) filterAllRemaining() bool { return n.passed }
func (n *prefixNode) filterRow() bool          { return n.drop }

func (n *prefixNode) filterRowKey(row []byte) (bool, error) {
	if n.passed {
		return true, nil
	}
	order := bytes.Compare(row[:min(len(row), len(n.prefix))], n.prefix)
	if n.reversed {
		order = -order
	}
	n.passed = order > 0
	n.drop = order != 0
	n.before = order < 0
	return n.passed, nil
}

func (n *prefixNode) filterCell(*cell.Cell) (Code, error) {
	switch {
	case n.before:
		return SeekNextUsingHint, nil
	case n.drop:
		return NextRow, nil
	}
	return Include, nil
}

func (n *prefixNode) nextHint(*cell.Cell) (position, bool) {
	if n.reversed {
		return firstOnRow(n.after), n.after != nil
	}
	return firstOnRow(n.prefix), true
}

// InclusiveStop ends the scan behind a row.
type InclusiveStop struct{ Row []byte }

func (f InclusiveStop) String() string { return call("InclusiveStopFilter", quote(f.Row)) }

func (f InclusiveStop) build(b *builder) (node, error) {
	return &stopNode{row: f.Row, reversed: b.reversed}, nil
}

type stopNode struct {
	base
	row            []byte
	reversed, done bool
}

func (n *stopNode) filterAllRemaining() bool { return n.done }

func (n *stopNode) filterRowKey(row []byte) (bool, error) {
	if n.done {
		return true, nil
	}
	order := bytes.Compare(row, n.row)
	n.done = order > 0 && !n.reversed || order < 0 && n.reversed
	return n.done, nil
}

func (n *stopNode) filterCell(*cell.Cell) (Code, error) {
	if n.done {
		return NextRow, nil
	}
	return Include, nil
}

// Row keeps the rows whose key compares true.
type Row struct {
	Op         cell.CompareOp
	Comparator Comparator
}

func (f Row) String() string { return call("RowFilter", comparison(f.Op, f.Comparator)...) }

func (f Row) build(b *builder) (node, error) {
	t, err := b.test(f.Op, f.Comparator)
	return &rowNode{test: t}, err
}

// rowNode drops rows by what is known at their key.
type rowNode struct {
	base
	test test
	drop bool
}

func (n *rowNode) reset()          { n.drop = false }
func (n *rowNode) filterRow() bool { return n.drop }

func (n *rowNode) filterRowKey(row []byte) (bool, error) {
	drop, err := n.test.drops(row)
	n.drop = n.drop || drop
	return n.drop, err
}

func (n *rowNode) filterCell(*cell.Cell) (Code, error) {
	if n.drop {
		return NextRow, nil
	}
	return Include, nil
}

// RandomRow keeps each row by chance: never at 0 or below, always above 1.
// Equal seeds make equal choices in one scan; seed 0 makes other ones each time.
type RandomRow struct {
	Chance float32
	Seed   uint64
}

func (f RandomRow) String() string { return fmt.Sprintf("RandomRowFilter(%g)", f.Chance) }

func (f RandomRow) build(*builder) (node, error) {
	seed := f.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	return &randomNode{chance: f.Chance, random: rand.New(rand.NewPCG(seed, 0))}, nil
}

type randomNode struct {
	base
	chance float32
	random *rand.Rand
	drop   bool
}

func (n *randomNode) reset()             { n.drop = false }
func (n *randomNode) hasFilterRow() bool { return true }
func (n *randomNode) filterRow() bool    { return n.drop }

func (n *randomNode) filterRowKey([]byte) (bool, error) {
	switch {
	case n.chance < 0:
		n.drop = true
	case n.chance > 1:
		n.drop = false
	default:
		n.drop = !(n.random.Float32() < n.chance)
	}
	return n.drop, nil
}

func (n *randomNode) filterCell(*cell.Cell) (Code, error) {
	if n.drop {
		return NextRow, nil
	}
	return Include, nil
}

// Page ends the scan after so many rows. Rows are counted that passed all
// filters before it in a list, and only within one region: a client cuts off
// the rest.
type Page struct{ Rows int64 }

func (f Page) String() string { return call("PageFilter", integer(f.Rows)) }

func (f Page) build(*builder) (node, error) {
	if f.Rows < 0 {
		return nil, illegal("PageFilter: %d rows, must not be negative", f.Rows)
	}
	return &pageNode{limit: f.Rows}, nil
}

type pageNode struct {
	base
	limit, rows int64
}

func (n *pageNode) filterAllRemaining() bool          { return n.rows >= n.limit }
func (n *pageNode) filterRowKey([]byte) (bool, error) { return n.filterAllRemaining(), nil }
func (n *pageNode) hasFilterRow() bool                { return true }

func (n *pageNode) filterRow() bool {
	n.rows++
	return n.rows > n.limit
}
