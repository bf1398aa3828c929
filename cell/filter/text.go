package filter

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/cellardb/cellar/cell"
)

// quote renders bytes as an argument of the filter language: as they are, with
// single quotes doubled.
func quote(b []byte) string {
	return "'" + strings.ReplaceAll(string(b), "'", "''") + "'"
}

// call renders a filter with its arguments.
func call(name string, args ...string) string {
	return name + "(" + strings.Join(args, ", ") + ")"
}

func quoteAll(list [][]byte) []string {
	args := make([]string, len(list))
	for i, b := range list {
		args[i] = quote(b)
	}
	return args
}

func boolean(b bool) string { return strconv.FormatBool(b) }

func integer[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// operators are the comparisons as the filter language writes them.
var operators = [...]string{
	cell.Less: "<", cell.LessOrEqual: "<=", cell.Equal: "=", cell.NotEqual: "!=",
	cell.GreaterOrEqual: ">=", cell.Greater: ">", cell.NoOp: "NO_OP",
}

func operator(op cell.CompareOp) string {
	if int(op) < len(operators) {
		return operators[op]
	}
	return "?"
}

// comparison renders operator and comparator.
func comparison(op cell.CompareOp, c Comparator) []string {
	if c == nil {
		return []string{operator(op), "null"}
	}
	return []string{operator(op), quote([]byte(c.String()))}
}

// sameColumn says whether a cell is of a column.
func sameColumn(c *cell.Cell, family, qualifier []byte) bool {
	return bytes.Equal(c.Qualifier, qualifier) && bytes.Equal(c.Family, family)
}
