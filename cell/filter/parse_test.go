package filter

import (
	"errors"
	"testing"

	"github.com/cellardb/cellar/cell"
)

// C14: malformed texts are refused with a text that names the problem.
func TestC14_MalformedFilterText(t *testing.T) {
	cases := []struct {
		text string
		pos  int
		says string
	}{
		{"RowFilter(RegexStringComparator, '^a')", 10, "RowFilter: argument 1 must be one of < <= = != > >=, not RegexStringComparator"},
		{"NoSuchFilter('x')", 0, "filter name NoSuchFilter is not supported"},
		{"PrefixFilter('a'", 0, "the parenthesis of this filter is not closed: PrefixFilter('a'"},
	}
	for _, c := range cases {
		_, err := Parse([]byte(c.text))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Pos != c.pos || syntax.Text != c.says {
			t.Errorf("%s: %v, want byte %d: %s", c.text, err, c.pos, c.says)
		}
		if !errors.Is(err, cell.ErrIllegalArgument) {
			t.Errorf("%s: %v is not an illegal argument", c.text, err)
		}
	}
	if len(cases) != 3 {
		t.Errorf("%d cases, want 3", len(cases))
	}
	for _, text := range []string{"RowFilter(=, 'regexstring:^a')", "KeyOnlyFilter() AND FirstKeyOnlyFilter()"} {
		if _, err := Parse([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
