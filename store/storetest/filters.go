package storetest

import (
	"slices"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
)

// filterCase is a filter and what it leaves of filterRows.
type filterCase struct {
	name   string
	filter cell.Filter
	want   string
	// reversed is what it leaves of a reversed scan, where that is not the same
	// rows the other way round.
	reversed string
	// rows says that what becomes of a row depends on those before it, so that a
	// get may answer otherwise.
	rows bool
}

// filterRows is what filterCases are tried on.
const filterRows = "a: f:x@2=2 f:x@1=1 f:y@1=one g:x@1=red | ab: f:x@3=3 f:xy@2=two g:y@2=green | " +
	"b: f:@1= f:y@4=4 f:y@1=one g:x@1=blue | c: g:z@5=5"

// fillFilterRows writes filterRows to table "t".
func (e *env) fillFilterRows() {
	e.Helper()
	e.usual()
	for _, row := range strings.Split(filterRows, " | ") {
		key, cells, _ := strings.Cut(row, ": ")
		m, err := parseMutation(key, "put "+strings.ReplaceAll(cells, " ", " & put "))
		e.must(err)
		e.apply(m)
	}
	e.equal(e.scan(filtered(nil)), filterRows)
}

// filtered is a scan of all versions with a filter.
func filtered(f cell.Filter) cell.Scan {
	return cell.Scan{Read: cell.Read{MaxVersions: allVersions, Filter: f}}
}

// filterTests has a test for each kind of filter, on several families, columns
// and versions, forwards, backwards and as gets.
func filterTests() []test {
	cases := filterCases()
	tests := make([]test, len(cases))
	for i, c := range cases {
		tests[i] = test{c.name, func(e *env) {
			e.fillFilterRows()
			if c.want == filterRows || c.want == "" {
				e.Errorf("the filter keeps all or nothing: %q", c.want)
			}
			e.equal(e.scan(filtered(c.filter)), c.want)
			e.script("flush")
			e.equal(e.scan(filtered(c.filter)), c.want)
			e.filteredReversed(c)
			e.filteredGets(c)
		}}
	}
	return tests
}

func (e *env) filteredReversed(c filterCase) {
	e.Helper()
	want := c.reversed
	if want == "" {
		rows := strings.Split(c.want, " | ")
		slices.Reverse(rows)
		want = strings.Join(rows, " | ")
	}
	scan := filtered(c.filter)
	scan.Reversed = true
	e.equal(e.scan(scan), want)
}

// filteredGets reads each row by itself.
func (e *env) filteredGets(c filterCase) {
	e.Helper()
	if c.rows {
		return
	}
	var rows []string
	for _, row := range strings.Split(filterRows, " | ") {
		key, _, _ := strings.Cut(row, ": ")
		if got := e.get(key, versions(allVersions), through(c.filter)); got != "" {
			rows = append(rows, key+": "+got)
		}
	}
	e.equal(strings.Join(rows, " | "), c.want)
}

// through sets a filter.
func through(f cell.Filter) func(*cell.Read) {
	return func(r *cell.Read) { r.Filter = f }
}

// is compares with a value, byte by byte.
func is(value string) filter.Binary { return filter.Binary{Value: []byte(value)} }

func bytesOf(texts ...string) [][]byte {
	list := make([][]byte, len(texts))
	for i, t := range texts {
		list[i] = []byte(t)
	}
	return list
}

// singleColumn tests one column's newest value for equality.
func singleColumn(col, value string) filter.SingleColumnValue {
	f, q := column(col)
	return filter.SingleColumnValue{Family: f, Qualifier: q, Op: cell.Equal, Comparator: is(value)}
}

func filterCases() []filterCase {
	return slices.Concat(cellFilterCases(), columnFilterCases(), rowFilterCases(), rowKeyFilterCases(), comparatorCases(), wrapFilterCases())
}

func cellFilterCases() []filterCase {
	return []filterCase{
		{name: "key_only", filter: filter.KeyOnly{},
			want: "a: f:x@2= f:x@1= f:y@1= g:x@1= | ab: f:x@3= f:xy@2= g:y@2= | b: f:@1= f:y@4= f:y@1= g:x@1= | c: g:z@5="},
		{name: "key_only_with_lengths", filter: filter.KeyOnly{LenAsValue: true},
			want: `a: f:x@2=\x00\x00\x00\x01 f:x@1=\x00\x00\x00\x01 f:y@1=\x00\x00\x00\x03 g:x@1=\x00\x00\x00\x03 | ` +
				`ab: f:x@3=\x00\x00\x00\x01 f:xy@2=\x00\x00\x00\x03 g:y@2=\x00\x00\x00\x05 | ` +
				`b: f:@1=\x00\x00\x00\x00 f:y@4=\x00\x00\x00\x01 f:y@1=\x00\x00\x00\x03 g:x@1=\x00\x00\x00\x04 | c: g:z@5=\x00\x00\x00\x01`},
		{name: "first_key_only", filter: filter.FirstKeyOnly{},
			want: "a: f:x@2=2 | ab: f:x@3=3 | b: f:@1= | c: g:z@5=5"},
		{name: "first_key_of_qualifiers", filter: filter.FirstKeyValueMatchingQualifiers{Qualifiers: bytesOf("y", "xy")},
			want: "a: f:x@2=2 f:x@1=1 f:y@1=one | ab: f:x@3=3 f:xy@2=two | b: f:@1= f:y@4=4 | c: g:z@5=5"},
		{name: "timestamps", filter: filter.Timestamps{Timestamps: []int64{5, 2, 4}},
			want: "a: f:x@2=2 | ab: f:xy@2=two g:y@2=green | b: f:y@4=4 | c: g:z@5=5"},
		{name: "timestamps_with_hints", filter: filter.Timestamps{Timestamps: []int64{5, 1, 4}, CanHint: true},
			want: "a: f:x@1=1 f:y@1=one g:x@1=red | b: f:@1= f:y@4=4 f:y@1=one g:x@1=blue | c: g:z@5=5"},
		{name: "family", filter: filter.Family{Op: cell.Equal, Comparator: is("g")},
			want: "a: g:x@1=red | ab: g:y@2=green | b: g:x@1=blue | c: g:z@5=5"},
		{name: "family_less", filter: filter.Family{Op: cell.Less, Comparator: is("g")},
			want: "a: f:x@2=2 f:x@1=1 f:y@1=one | ab: f:x@3=3 f:xy@2=two | b: f:@1= f:y@4=4 f:y@1=one"},
		{name: "qualifier", filter: filter.Qualifier{Op: cell.GreaterOrEqual, Comparator: is("xy")},
			want: "a: f:y@1=one | ab: f:xy@2=two g:y@2=green | b: f:y@4=4 f:y@1=one | c: g:z@5=5"},
		{name: "value", filter: filter.Value{Op: cell.NotEqual, Comparator: is("one")},
			want: "a: f:x@2=2 f:x@1=1 g:x@1=red | ab: f:x@3=3 f:xy@2=two g:y@2=green | b: f:@1= f:y@4=4 g:x@1=blue | c: g:z@5=5"},
		{name: "value_of_an_older_version", filter: filter.Value{Op: cell.Equal, Comparator: is("1")},
			want: "a: f:x@1=1"},
	}
}

func columnFilterCases() []filterCase {
	return []filterCase{
		{name: "column_prefix", filter: filter.ColumnPrefix{Prefix: []byte("x")},
			want: "a: f:x@2=2 f:x@1=1 g:x@1=red | ab: f:x@3=3 f:xy@2=two | b: g:x@1=blue"},
		{name: "column_prefixes", filter: filter.MultipleColumnPrefix{Prefixes: bytesOf("z", "xy", "y")},
			want: "a: f:y@1=one | ab: f:xy@2=two g:y@2=green | b: f:y@4=4 f:y@1=one | c: g:z@5=5"},
		{name: "column_range", filter: filter.ColumnRange{Min: []byte("x"), MinExclusive: true, Max: []byte("y"), MaxInclusive: true},
			want: "a: f:y@1=one | ab: f:xy@2=two g:y@2=green | b: f:y@4=4 f:y@1=one"},
		{name: "column_range_open", filter: filter.ColumnRange{Max: []byte("xy")},
			want: "a: f:x@2=2 f:x@1=1 g:x@1=red | ab: f:x@3=3 | b: f:@1= g:x@1=blue"},
		{name: "column_pages_go_on_over_families", filter: filter.ColumnPagination{Limit: 2, Offset: 1},
			want: "a: f:y@1=one g:x@1=red | ab: f:xy@2=two g:y@2=green | b: f:y@4=4 g:x@1=blue"},
		{name: "column_pages_from_a_column", filter: filter.ColumnPagination{Limit: 1, ColumnOffset: []byte("xy")},
			want: "a: f:y@1=one | ab: f:xy@2=two | b: f:y@4=4 | c: g:z@5=5"},
		{name: "column_count", filter: filter.ColumnCountGet{Limit: 2},
			want:     "a: f:x@2=2 f:y@1=one | ab: f:x@3=3 f:xy@2=two | b: f:@1= f:y@4=4",
			reversed: "c: g:z@5=5 | b: f:@1= f:y@4=4 | ab: f:x@3=3 f:xy@2=two | a: f:x@2=2 f:y@1=one", rows: true},
		{name: "column_value", filter: filter.ColumnValue{Family: []byte("f"), Qualifier: []byte("y"), Op: cell.Greater, Comparator: is("4")},
			want: "a: f:y@1=one | b: f:y@1=one"},
	}
}

func rowFilterCases() []filterCase {
	missing, all, both := singleColumn("f:y", "one"), singleColumn("f:y", "one"), singleColumn("f:y", "one")
	missing.FilterIfMissing, all.AllVersions = true, true
	both.FilterIfMissing, both.AllVersions = true, true
	const a, ab, b, c = "a: f:x@2=2 f:x@1=1 f:y@1=one g:x@1=red", "ab: f:x@3=3 f:xy@2=two g:y@2=green",
		"b: f:@1= f:y@4=4 f:y@1=one g:x@1=blue", "c: g:z@5=5"
	return []filterCase{
		{name: "single_column", filter: singleColumn("f:y", "one"), want: a + " | " + ab + " | " + c},
		{name: "single_column_missing", filter: missing, want: a},
		{name: "single_column_all_versions_missing", filter: both, want: a + " | " + b},
		{name: "single_column_of_the_last_family", filter: singleColumn("g:x", "blue"), want: ab + " | " + b + " | " + c},
		{name: "single_column_excluded", filter: filter.SingleColumnValueExclude(both),
			want: "a: f:x@2=2 f:x@1=1 g:x@1=red | b: f:@1= g:x@1=blue"},
		{name: "dependent_column", filter: filter.DependentColumn{Family: []byte("f"), Qualifier: []byte("y")},
			want: "a: f:x@1=1 f:y@1=one g:x@1=red | b: f:@1= f:y@4=4 f:y@1=one g:x@1=blue"},
		{name: "dependent_column_dropped", filter: filter.DependentColumn{Family: []byte("f"), Qualifier: []byte("y"), Drop: true,
			Op: cell.Equal, Comparator: is("one")}, want: "a: f:x@1=1 g:x@1=red | b: f:@1= g:x@1=blue"},
		{name: "page", filter: filter.Page{Rows: 2}, want: a + " | " + ab, reversed: c + " | " + b, rows: true},
		{name: "random_never", filter: filter.All(filter.Page{Rows: 3}, filter.Any(filter.RandomRow{Chance: -1}, singleColumn("f:x", "2"))),
			want: a + " | " + b + " | " + c, reversed: c + " | " + b + " | " + a, rows: true},
	}
}

func rowKeyFilterCases() []filterCase {
	const a, ab, b, c = "a: f:x@2=2 f:x@1=1 f:y@1=one g:x@1=red", "ab: f:x@3=3 f:xy@2=two g:y@2=green",
		"b: f:@1= f:y@4=4 f:y@1=one g:x@1=blue", "c: g:z@5=5"
	return []filterCase{
		{name: "prefix", filter: filter.Prefix{Prefix: []byte("a")}, want: a + " | " + ab},
		{name: "prefix_of_a_row_between", filter: filter.Prefix{Prefix: []byte("ab")}, want: ab},
		{name: "inclusive_stop", filter: filter.InclusiveStop{Row: []byte("b")}, want: a + " | " + ab + " | " + b,
			reversed: c + " | " + b},
		{name: "row", filter: filter.Row{Op: cell.NotEqual, Comparator: is("ab")}, want: a + " | " + b + " | " + c},
		{name: "row_less", filter: filter.Row{Op: cell.LessOrEqual, Comparator: is("ab")}, want: a + " | " + ab},
		{name: "fuzzy_row", filter: filter.FuzzyRow{Keys: []filter.FuzzyKey{{Key: []byte("c"), Mask: []byte{0}}, {Key: []byte("ab"), Mask: []byte{0, 0}}}},
			want: a + " | " + ab + " | " + c},
		{name: "row_ranges", filter: filter.MultiRowRange{Ranges: []cell.Range{
			{Start: []byte("b")}, {Start: []byte("a"), Stop: []byte("ab")}, {Start: []byte("b\x00"), Stop: []byte("bz")}}},
			want: a + " | " + b + " | " + c},
	}
}

func comparatorCases() []filterCase {
	value := func(c filter.Comparator) cell.Filter { return filter.Value{Op: cell.Equal, Comparator: c} }
	return []filterCase{
		{name: "binary_prefix", filter: value(filter.BinaryPrefix{Value: []byte("o")}), want: "a: f:y@1=one | b: f:y@1=one"},
		{name: "binary_component", filter: value(filter.BinaryComponent{Value: []byte("e"), Offset: 2}),
			want: "a: f:y@1=one | ab: g:y@2=green | b: f:y@1=one"},
		{name: "substring", filter: value(filter.Substring{Text: "RE"}), want: "a: g:x@1=red | ab: g:y@2=green"},
		{name: "regex", filter: value(filter.Regex("^[a-l]+(n|ue)$")), want: "b: g:x@1=blue"},
		{name: "bit", filter: value(filter.Bit{Op: filter.BitAnd, Value: []byte{4}}), want: "b: f:y@4=4 | c: g:z@5=5"},
		{name: "null_is_not_empty", filter: filter.Any(value(filter.Null{}), value(is("3"))), want: "ab: f:x@3=3"},
	}
}

func wrapFilterCases() []filterCase {
	short := filter.Value{Op: cell.Equal, Comparator: filter.Regex("^.?$")}
	return []filterCase{
		{name: "skip_rows_with_a_long_value", filter: filter.SkipRow{Filter: short}, want: "c: g:z@5=5"},
		{name: "while_values_are_short", filter: filter.WhileMatch{Filter: short}, want: "a: f:x@2=2 f:x@1=1",
			reversed: "c: g:z@5=5 | b: f:@1= f:y@4=4", rows: true},
		{name: "while_rows", filter: filter.WhileMatch{Filter: filter.Row{Op: cell.NotEqual, Comparator: is("b")}},
			want: "a: f:x@2=2 f:x@1=1 f:y@1=one g:x@1=red | ab: f:x@3=3 f:xy@2=two g:y@2=green", reversed: "c: g:z@5=5", rows: true},
		{name: "all_of", filter: filter.All(short, filter.ColumnPrefix{Prefix: []byte("x")}), want: "a: f:x@2=2 f:x@1=1 | ab: f:x@3=3"},
		{name: "one_of", filter: filter.Any(filter.Value{Op: cell.Equal, Comparator: is("one")}, filter.Qualifier{Op: cell.Equal, Comparator: is("z")}),
			want: "a: f:y@1=one | b: f:y@1=one | c: g:z@5=5"},
		{name: "one_of_all_of", filter: filter.Any(
			filter.All(filter.Row{Op: cell.Equal, Comparator: is("b")}, filter.Family{Op: cell.Equal, Comparator: is("g")}),
			filter.All(filter.Prefix{Prefix: []byte("a")}, filter.FirstKeyOnly{})),
			want: "a: f:x@2=2 | ab: f:x@3=3 | b: g:x@1=blue"},
		{name: "page_after_another", filter: filter.All(singleColumn("f:y", "one"), filter.Page{Rows: 2}),
			want:     "a: f:x@2=2 f:x@1=1 f:y@1=one g:x@1=red | ab: f:x@3=3 f:xy@2=two g:y@2=green",
			reversed: "c: g:z@5=5 | ab: f:x@3=3 f:xy@2=two g:y@2=green", rows: true},
	}
}
