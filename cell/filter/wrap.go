package filter

import "github.com/cellardb/cellar/cell"

// SkipRow drops a row as soon as the filter in it does not plainly include one
// of its cells. In the filter language it is SKIP.
//
// As in HBase the inner filter is only asked about cells, not about row keys:
// filters that judge by the row key have no use in it.
type SkipRow struct{ Filter cell.Filter }

func (f SkipRow) String() string { return "SKIP " + operand(f.Filter) }

func (f SkipRow) build(b *builder) (node, error) {
	inner, err := b.inner(f.Filter)
	return &skipNode{inner: inner}, err
}

type skipNode struct {
	base
	inner node
	drop  bool
}

func (n *skipNode) reset() {
	n.inner.reset()
	n.drop = false
}

func (n *skipNode) filterCell(c *cell.Cell) (Code, error) {
	code, err := n.inner.filterCell(c)
	n.drop = n.drop || code != Include
	return code, err
}

func (n *skipNode) transform(c *cell.Cell) { n.inner.transform(c) }
func (n *skipNode) hasFilterRow() bool     { return true }
func (n *skipNode) filterRow() bool        { return n.drop }

// WhileMatch ends the scan as soon as the filter in it drops a row or does not
// plainly include a cell. In the filter language it is WHILE.
type WhileMatch struct{ Filter cell.Filter }

func (f WhileMatch) String() string { return "WHILE " + operand(f.Filter) }

func (f WhileMatch) build(b *builder) (node, error) {
	inner, err := b.inner(f.Filter)
	return &whileNode{inner: inner}, err
}

type whileNode struct {
	base
	inner node
	done  bool
}

func (n *whileNode) reset()                   { n.inner.reset() }
func (n *whileNode) filterAllRemaining() bool { return n.done || n.inner.filterAllRemaining() }

func (n *whileNode) filterRowKey(row []byte) (bool, error) {
	if n.filterAllRemaining() {
		return true, nil
	}
	drop, err := n.inner.filterRowKey(row)
	n.done = n.done || drop
	return drop, err
}

func (n *whileNode) filterCell(c *cell.Cell) (Code, error) {
	code, err := n.inner.filterCell(c)
	n.done = n.done || code != Include
	return code, err
}

func (n *whileNode) transform(c *cell.Cell) { n.inner.transform(c) }
func (n *whileNode) hasFilterRow() bool     { return true }

func (n *whileNode) filterRow() bool {
	drop := n.inner.filterRow()
	n.done = n.done || drop
	return drop
}
