// Package attribute has the settings of tables and families under the names
// that HBase's users write: VERSIONS, TTL, BLOOMFILTER and so on. It sets them
// in schemas from text and gives them back as text, in the order in which
// HBase's shell describes a table.
//
// Contract: a name that is not known is refused by name, never kept; so is a
// value that is not one of the attribute's. What is refused changes nothing.
package attribute

import (
	"fmt"
	"strings"

	"github.com/cellardb/cellar/internal/spelling"
)

// Attribute is one setting as text.
type Attribute struct{ Name, Value string }

// Error says which attribute is wrong and why.
type Error struct {
	Name string
	Text string
}

func (e *Error) Error() string { return e.Name + ": " + e.Text }

func bad(name, format string, args ...any) error {
	return &Error{Name: name, Text: fmt.Sprintf(format, args...)}
}

// unknown refuses a name and tells the one that may have been meant.
func unknown(what, name string, known []string) error {
	if near := nearest(name, known); near != "" {
		return bad(name, "a %s has no attribute of this name: did you mean %s?", what, near)
	}
	return bad(name, "a %s has no attribute of this name: there are %s", what, strings.Join(known, ", "))
}

// nearest is the known name that is at most two letters away; empty: none is.
func nearest(name string, known []string) string {
	best, distance := "", 3
	for _, k := range known {
		if d := spelling.Distance(strings.ToUpper(name), k); d < distance {
			best, distance = k, d
		}
	}
	return best
}
