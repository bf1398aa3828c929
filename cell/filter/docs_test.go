package filter

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/cellardb/cellar/cell"
)

var codeInDocs = regexp.MustCompile("`((?:SKIP |WHILE |\\()?[A-Z][A-Za-z]*Filter\\([^`…]*\\)[^`]*)`")

// refusedInDocs are examples of what is refused.
var refusedInDocs = map[string]bool{"KeyOnlyFilter junk()": true, "PrefixFilter('a'b)": true, "PageFilter(-)": true}

// Every text of the filter language in the documents is what it should be.
func TestExamplesOfDocuments(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "filters.md"))
	if err != nil {
		t.Fatal(err)
	}
	table := testTable()
	examples := codeInDocs.FindAllStringSubmatch(string(text), -1)
	for _, match := range examples {
		f, err := Parse([]byte(match[1]))
		if (err != nil) != refusedInDocs[match[1]] {
			t.Errorf("%s: %v", match[1], err)
		}
		if err != nil {
			continue
		}
		s := scan{versions: 1, filter: f}
		if _, err := s.run(table); err != nil {
			t.Errorf("%s: %v", match[1], err)
		}
	}
	if len(examples) < 30 {
		t.Errorf("%d examples were found", len(examples))
	}
}

// What docs/filters.md says that HBase gets wrong is right here.
func TestDifferencesFromHBase(t *testing.T) {
	rows := func(f cell.Filter, reversed bool, keys ...string) string {
		var cells []cell.Cell
		for _, k := range keys {
			cells = append(cells, cell.Cell{Row: b(k), Family: b("f"), Qualifier: b("q"), Timestamp: 1, Type: cell.TypePut})
		}
		e, err := New(f, Options{Reversed: reversed})
		if err != nil {
			t.Fatal(err)
		}
		w, kept := NewWalker(e, &cell.Read{}), ""
		for _, row := range rowsOf(cells, reversed) {
			k, err := w.Row(row)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range k {
				kept += cell.Printable(c.Row) + " "
			}
		}
		return kept
	}
	cases := []struct {
		what, got, want string
	}{
		{"a row shorter than the prefix", rows(Prefix{b("ab\x00")}, false, "ab", "ab\x00", "ab\x00c"), `ab\x00 ab\x00c `},
		{"a row shorter than the component", rows(Row{cell.Equal, BinaryComponent{b("bc"), 1}}, false, "a", "ab", "abc", "abcd"), "abc abcd "},
		{"a reversed prefix of FF", rows(Prefix{b("a\xff")}, true, "a", "a\xff", "a\xffb", "b", "c"), `a\xFFb a\xFF `},
		{"a reversed fuzzy row", rows(FuzzyRow{[]FuzzyKey{{b("?\xff"), []byte{1, 0}}}}, true, "a", "a\xff", "b", "b\xff", "c9"), `b\xFF b a\xFF a `},
		{"a reversed fuzzy row at its hint", rows(FuzzyRow{[]FuzzyKey{{b("?2"), []byte{1, 0}}}}, true, "r1", "r2", "r3", "s1"), "r2 "},
		{"reversed ranges, the last one open", rows(MultiRowRange{[]cell.Range{{Start: b("a"), Stop: b("b")}, {Start: b("d")}}}, true, "a", "c", "d", "e"), "e d a "},
		{"ranges with one begin", rows(MultiRowRange{[]cell.Range{{Start: b("a"), Stop: b("c"), StartExclusive: true}, {Start: b("a"), Stop: b("b")}}}, false, "a", "b", "c"), "a b "},
		{"a hint that is none", rows(All(ColumnPrefix{b("r")}, FuzzyRow{[]FuzzyKey{{b("a"), []byte{0}}}}), false, "b", "c"), ""},
		{"ranges within SKIP", rows(SkipRow{MultiRowRange{[]cell.Range{{Start: b("a")}}}}, false, "a", "b"), ""},
		{"no prefix", rows(Prefix{}, false, "a", "b"), "a b "},
		{"a large page of columns", rows(ColumnPagination{Limit: 1<<63 - 1, Offset: 0}, false, "a", "b"), "a b "},
		{"a large page of columns, and an offset", rows(ColumnPagination{Limit: 1<<63 - 1, Offset: 1}, false, "a", "b"), ""},
	}
	for _, c := range cases {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.what, c.got, c.want)
		}
	}
	if len(cases) != 12 {
		t.Errorf("%d cases, want 12", len(cases))
	}
}
