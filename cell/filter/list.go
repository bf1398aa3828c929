package filter

import (
	"strings"

	"github.com/cellardb/cellar/cell"
)

// ListOp says how the filters of a list go together.
type ListOp uint8

// Operators of lists. MustPassAll is AND in the filter language, MustPassOne is
// OR.
const (
	MustPassAll ListOp = iota
	MustPassOne
)

func (op ListOp) String() string {
	switch op {
	case MustPassAll:
		return "AND"
	case MustPassOne:
		return "OR"
	}
	return "?"
}

// List joins filters. An empty one keeps everything.
type List struct {
	Op      ListOp
	Filters []cell.Filter
}

// All is a list whose filters must all pass.
func All(filters ...cell.Filter) List { return List{MustPassAll, filters} }

// Any is a list of which one filter must pass.
func Any(filters ...cell.Filter) List { return List{MustPassOne, filters} }

// String gives the filters with AND or OR between them. The language has no
// lists of less than two filters; such a one is shown as a call.
func (f List) String() string {
	args := make([]string, len(f.Filters))
	for i, inner := range f.Filters {
		args[i] = operand(inner)
	}
	if len(args) < 2 {
		return call("FilterList", append([]string{f.Op.String()}, args...)...)
	}
	return strings.Join(args, " "+f.Op.String()+" ")
}

// operand renders a filter that stands beside an operator.
func operand(f cell.Filter) string {
	switch l := f.(type) {
	case nil:
		return "null"
	case List:
		if len(l.Filters) > 1 {
			return "(" + l.String() + ")"
		}
	}
	return f.String()
}

func (f List) build(b *builder) (node, error) {
	all := listNode{filters: make([]node, len(f.Filters))}
	for i, inner := range f.Filters {
		n, err := b.build(inner)
		if err != nil {
			return nil, err
		}
		all.filters[i] = n
	}
	switch {
	case f.Op > MustPassOne:
		return nil, illegal("list operator %d is unknown", f.Op)
	case len(f.Filters) == 0:
		return base{}, nil
	case f.Op == MustPassAll:
		return &andNode{listNode: all, reversed: b.reversed}, nil
	}
	return &orNode{listNode: all, reversed: b.reversed, last: make([]lastAnswer, len(all.filters))}, nil
}

// listNode is what both kinds of lists have in common. It is not empty.
type listNode struct {
	base
	filters []node
}

func (n *listNode) hasFilterRow() bool {
	for _, f := range n.filters {
		if f.hasFilterRow() {
			return true
		}
	}
	return false
}

func (n *listNode) filterRowCells(cells []cell.Cell) []cell.Cell {
	for _, f := range n.filters {
		cells = f.filterRowCells(cells)
	}
	return cells
}
