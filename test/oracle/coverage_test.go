package oracle

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// steps gives all steps of the scripts.
func steps(t *testing.T) []step {
	t.Helper()
	var all []step
	for _, script := range scripts(t) {
		for _, sec := range script.sections {
			all = append(all, sec.steps...)
		}
	}
	return all
}

// commands gives all commands of the scripts.
func commands(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, st := range steps(t) {
		all = append(all, st.command)
	}
	return all
}

// A script that is not read, or a part of it, would be missed here.
func TestHowMuchIsCompared(t *testing.T) {
	got := map[string]int{}
	for _, st := range steps(t) {
		c := st.command
		verb, _, _ := strings.Cut(c, " ")
		got[verb]++
		if st.reason != "" {
			got["otherwise"]++
		} else if st.never || len(st.ours) > 0 {
			t.Errorf("line %d: %s: no reason is given", st.line, c)
		}
		if strings.Contains(c, " filter ") || strings.Contains(c, " call ") || strings.Contains(c, " regex ") {
			got["filter"]++
		}
	}
	want := map[string]int{
		"table": 59, "alter": 7, "flush": 4, "compact": 13,
		"put": 384, "delete": 85, "increment": 24, "append": 14, "mutate": 20, "check": 105,
		"get": 356, "scan": 2484, "filter": 2443, "otherwise": 83,
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Every filter of HBase but the one that is chance, every comparator, and every
// operator where one is taken, is in the scripts, also in a list.
func TestEveryFilterIsAsked(t *testing.T) {
	all := strings.Join(commands(t), "\n")
	plain := []string{
		"ColumnCountGetFilter", "ColumnPaginationFilter", "ColumnPrefixFilter", "ColumnRangeFilter", "FirstKeyOnlyFilter",
		"FirstKeyValueMatchingQualifiersFilter", "FuzzyRowFilter", "InclusiveStopFilter", "KeyOnlyFilter", "MultiRowRangeFilter",
		"MultipleColumnPrefixFilter", "PageFilter", "PrefixFilter", "TimestampsFilter", "FilterList", "SkipFilter",
		"WhileMatchFilter", "SKIP", "WHILE", "AND", "OR",
	}
	comparing := []string{
		"ColumnValueFilter", "DependentColumnFilter", "FamilyFilter", "QualifierFilter", "RowFilter",
		"SingleColumnValueExcludeFilter", "SingleColumnValueFilter", "ValueFilter",
	}
	comparators := []string{
		"binary:", "binaryprefix:", "substring:", "regexstring:", "regexstringnocase:",
		"BinaryComponent(", "Bit(AND", "Bit(OR", "Bit(XOR", "Long(", "BigDecimal(", "Null(", "Regex(",
	}
	for _, name := range slices.Concat(plain, comparing, comparators) {
		if n := strings.Count(all, name); n < 3 {
			t.Errorf("%s: %d times only", name, n)
		}
	}
	operators := []string{"<", "<=", "=", "!=", ">", ">="}
	for _, name := range comparing {
		for _, op := range operators {
			asked := regexp.MustCompile(` ` + name + `\([^()]*?` + op + `, 'binary`)
			if !asked.MatchString(all) {
				t.Errorf("%s with %s is not asked", name, op)
			}
		}
	}
	if n := len(plain) + len(comparing)*len(operators) + len(comparators); n != 82 {
		t.Errorf("%d things were looked for, want 82", n)
	}
}

// Patterns are counted once, whatever they are applied to.
func TestPatterns(t *testing.T) {
	language := regexp.MustCompile(`'regexstring(?:nocase)?:((?:[^']|'')*)'`)
	patterns := map[string]bool{}
	for _, c := range commands(t) {
		if m := language.FindStringSubmatch(c); m != nil {
			patterns[m[1]] = true
		}
		if _, rest, ok := strings.Cut(c, "regex ISO-8859-1 "); ok {
			patterns[rest] = true
		} else if _, rest, ok := strings.Cut(c, "regex UTF-8 "); ok {
			patterns[rest] = true
		}
	}
	if len(patterns) != 378 {
		t.Errorf("%d patterns, want 378", len(patterns))
	}
}
