package storetest

import (
	"fmt"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// readCase is a get of row r after a script.
type readCase struct {
	name  string
	steps string
	read  []func(*cell.Read)
	want  string
}

func reads(changes ...func(*cell.Read)) []func(*cell.Read) { return changes }

const (
	// fiveVersions is one column with versions 1 to 5, of five that f keeps.
	fiveVersions = "put f:q@1=a; put f:q@2=b; put f:q@3=c; put f:q@4=d; put f:q@5=e"
	// twoFamilies is several columns of both families, some with two versions.
	twoFamilies = "put f:@1=1; put f:a@1=2; put f:a@2=3; put f:b@3=4; put g:@2=5; put g:a@4=6; put g:c@1=7"
)

func readTests() []test {
	cases := []readCase{
		{"newest_version_is_the_default", fiveVersions, nil, "f:q@5=e"},
		{"versions_of_the_request", fiveVersions, reads(versions(2)), "f:q@5=e f:q@4=d"},
		{"versions_beyond_those_there", fiveVersions, reads(versions(100)), "f:q@5=e f:q@4=d f:q@3=c f:q@2=b f:q@1=a"},
		{"row_without_cells", "", nil, ""},
		{"all_columns_in_order", twoFamilies, nil, "f:@1=1 f:a@2=3 f:b@3=4 g:@2=5 g:a@4=6 g:c@1=7"},

		{"one_family", twoFamilies, reads(only("g")), "g:@2=5 g:a@4=6 g:c@1=7"},
		{"one_column", twoFamilies, reads(only("f:a")), "f:a@2=3"},
		{"empty_qualifier", twoFamilies, reads(only("f:")), "f:@1=1"},
		{"empty_qualifier_among_others", twoFamilies, reads(only("g:c", "g:")), "g:@2=5 g:c@1=7"},
		{"columns_in_any_order", twoFamilies, reads(only("g:c", "f:b", "g:a", "f:a")), "f:a@2=3 f:b@3=4 g:a@4=6 g:c@1=7"},
		{"column_and_family", twoFamilies, reads(only("g", "f:b")), "f:b@3=4 g:@2=5 g:a@4=6 g:c@1=7"},
		{"column_twice", twoFamilies, reads(only("f:a", "f:a"), versions(9)), "f:a@2=3 f:a@1=2"},
		{"column_that_is_not_there", twoFamilies, reads(only("f:zz", "f:aa", "g:b")), ""},
		{"columns_there_and_not", twoFamilies, reads(only("f:A", "f:a", "f:a\x00", "f:b", "f:c")), "f:a@2=3 f:b@3=4"},
		{"versions_of_columns", twoFamilies, reads(only("f:a", "f:b"), versions(9)), "f:a@2=3 f:a@1=2 f:b@3=4"},

		{"time_min_in_max_out", fiveVersions, reads(versions(9), within(2, 4)), "f:q@3=c f:q@2=b"},
		{"time_exactly_one", fiveVersions, reads(versions(9), within(3, 4)), "f:q@3=c"},
		{"time_empty", fiveVersions, reads(versions(9), within(3, 3)), ""},
		{"time_zero_to_zero_holds_nothing", "put f:q@0=z; put f:q@1=a", reads(versions(9), within(0, 0)), ""},
		{"time_zero", "put f:q@0=z; put f:q@1=a", reads(within(0, 1)), "f:q@0=z"},
		{"time_open_end", fiveVersions, reads(versions(9), within(4, cell.Latest)), "f:q@5=e f:q@4=d"},
		{"time_before_all", fiveVersions, reads(within(0, 1)), ""},
		{"time_after_all", fiveVersions, reads(within(6, 99)), ""},
		{"time_then_versions", fiveVersions, reads(versions(2), within(1, 4)), "f:q@3=c f:q@2=b"},
		{"time_newest_in_range", fiveVersions, reads(within(1, 4)), "f:q@3=c"},
		{"time_range_of_at", fiveVersions, reads(func(r *cell.Read) { r.Within = cell.At(2) }), "f:q@2=b"},
		{"time_all", fiveVersions, reads(func(r *cell.Read) { r.Within = cell.AllTime }), "f:q@5=e"},
		{"time_by_family", twoFamilies, reads(versions(9), within(2, 9), func(r *cell.Read) {
			r.Select = []cell.FamilySelect{{Family: []byte("f"), Within: &cell.TimeRange{Min: 1, Max: 2}}, {Family: []byte("g")}}
		}), "f:@1=1 f:a@1=2 g:@2=5 g:a@4=6"},
		{"time_by_family_of_all", twoFamilies, reads(within(90, 99), func(r *cell.Read) {
			r.Select = []cell.FamilySelect{{Family: []byte("g"), Within: &cell.TimeRange{}}}
		}), "g:@2=5 g:a@4=6 g:c@1=7"},
		{"time_by_family_with_columns", twoFamilies, reads(func(r *cell.Read) {
			r.Select = selection("f:a", "f:b")
			r.Select[0].Within = &cell.TimeRange{Min: 1, Max: 2}
		}), "f:a@1=2"},
		// Family VERSIONS counts only versions inside the time range: g keeps one.
		{"time_range_shows_surplus_version", "put g:q@1=a; put g:q@2=b; put g:q@3=c", reads(versions(9), within(1, 2)), "g:q@1=a"},
		{"time_range_hides_surplus_version_within", "put g:q@1=a; put g:q@2=b; put g:q@3=c", reads(versions(9), within(1, 3)), "g:q@2=b"},

		{"store_limit", twoFamilies, reads(storeCut(2, 0)), "f:@1=1 f:a@2=3 g:@2=5 g:a@4=6"},
		{"store_offset", twoFamilies, reads(storeCut(0, 1)), "f:a@2=3 f:b@3=4 g:a@4=6 g:c@1=7"},
		{"store_limit_and_offset", twoFamilies, reads(storeCut(1, 1)), "f:a@2=3 g:a@4=6"},
		{"store_limit_counts_cells", twoFamilies, reads(storeCut(2, 1), versions(9)), "f:a@2=3 f:a@1=2 g:a@4=6 g:c@1=7"},
		{"store_limit_counts_after_versions", fiveVersions, reads(storeCut(3, 1), versions(2)), "f:q@4=d"},
		{"store_offset_beyond_the_row", twoFamilies, reads(storeCut(0, 9)), ""},
		{"store_limit_after_deletes", twoFamilies + "; delcol f:@9", reads(storeCut(1, 0)), "f:a@2=3 g:@2=5"},
	}
	var tests []test
	for _, c := range cases {
		tests = append(tests, test{c.name, func(e *env) {
			e.usual()
			e.script(c.steps)
			e.equal(e.get("r", c.read...), c.want)
			// A get is a scan of one row.
			scan := cell.Scan{Range: oneRow("r")}
			for _, change := range c.read {
				change(&scan.Read)
			}
			want := c.want
			if want != "" {
				want = "r: " + want
			}
			e.equal(e.scan(scan), want)
		}})
	}
	return append(tests,
		test{"unknown_family", readUnknownFamily},
		test{"refuses_what_is_not_a_read", refusesReads},
		test{"names_the_filter_it_cannot_evaluate", refusesFilter},
		test{"result_is_reset", resultIsReset},
		test{"neighbour_rows_are_not_seen", neighbourRows},
	)
}

func storeCut(limit, offset int) func(*cell.Read) {
	return func(r *cell.Read) { r.StoreLimit, r.StoreOffset = limit, offset }
}

func readUnknownFamily(e *env) {
	e.usual()
	e.put("r", "f:q", 1, "v")
	for _, columns := range [][]string{{"F"}, {"f", "x"}, {"x:q"}, {"f:q", "g:", ":q"}} {
		read := cell.Read{Select: selection(columns...)}
		var r cell.Result
		e.refused(e.s.Get(e.ctx, "t", &cell.Get{Row: []byte("r"), Read: read}, &r), store.ErrNoSuchFamily)
		_, err := e.s.Scan(e.ctx, "t", &cell.Scan{Read: read})
		e.refused(err, store.ErrNoSuchFamily)
		if err != nil && !strings.Contains(err.Error(), "'t'") {
			e.Errorf("the error does not name the table: %v", err)
		}
	}
}

func refusesReads(e *env) {
	e.usual()
	e.put("r", "f:q", 1, "v")
	for name, get := range map[string]*cell.Get{
		"empty row":              {},
		"row too long":           {Row: make([]byte, cell.MaxRow+1)},
		"negative versions":      {Row: []byte("r"), Read: cell.Read{MaxVersions: -1}},
		"time ends before start": {Row: []byte("r"), Read: cell.Read{Within: cell.TimeRange{Min: 3, Max: 2}}},
		"negative time":          {Row: []byte("r"), Read: cell.Read{Within: cell.TimeRange{Min: -3, Max: 2}}},
		"negative store limit":   {Row: []byte("r"), Read: cell.Read{StoreLimit: -1}},
		"negative store offset":  {Row: []byte("r"), Read: cell.Read{StoreOffset: -1}},
		"family's time":          {Row: []byte("r"), Read: cell.Read{Select: []cell.FamilySelect{{Family: []byte("f"), Within: &cell.TimeRange{Min: 2, Max: 1}}}}},
	} {
		r := cell.Result{Cells: make([]cell.Cell, 1)}
		if err := e.s.Get(e.ctx, "t", get, &r); !isIllegal(err) {
			e.Errorf("get with %s: got %v, want an illegal argument", name, err)
		}
		if len(get.Row) != 1 {
			continue
		}
		if _, err := e.s.Scan(e.ctx, "t", &cell.Scan{Read: get.Read}); !isIllegal(err) {
			e.Errorf("scan with %s: got %v, want an illegal argument", name, err)
		}
	}
	for name, scan := range map[string]*cell.Scan{
		"negative limit": {Limit: -1},
		"negative batch": {Batch: -1},
		"negative bytes": {MaxBytes: -1},
	} {
		if _, err := e.s.Scan(e.ctx, "t", scan); !isIllegal(err) {
			e.Errorf("scan with %s: got %v, want an illegal argument", name, err)
		}
	}
}

// strangeFilter is one that no engine knows.
type strangeFilter struct{}

func (strangeFilter) String() string { return "StrangeFilter (7)" }

func refusesFilter(e *env) {
	e.usual()
	e.put("r", "f:q", 1, "v")
	var r cell.Result
	read := cell.Read{Filter: strangeFilter{}}
	err := e.s.Get(e.ctx, "t", &cell.Get{Row: []byte("r"), Read: read}, &r)
	e.refused(err, store.ErrUnsupported)
	_, serr := e.s.Scan(e.ctx, "t", &cell.Scan{Read: read})
	e.refused(serr, store.ErrUnsupported)
	check := &cell.Check{Family: []byte("f"), Qualifier: []byte("q"), Op: cell.Equal, Value: []byte("v"), Filter: strangeFilter{}}
	_, _, cerr := e.s.CheckAndMutate(e.ctx, "t", check, putOf("r", "f:q", 2, "w"))
	e.refused(cerr, store.ErrUnsupported)
	for _, err := range []error{err, serr, cerr} {
		if err != nil && !strings.Contains(err.Error(), "StrangeFilter (7)") {
			e.Errorf("the error does not name the filter: %v", err)
		}
	}
	e.equal(e.all("r"), "f:q@1=v")
}

// Get resets the result that it reads into, whatever comes of it.
func resultIsReset(e *env) {
	e.usual()
	e.script(twoFamilies)
	var r cell.Result
	for range 3 {
		e.must(e.s.Get(e.ctx, "t", &cell.Get{Row: []byte("r")}, &r))
		e.equal(text(r.Cells), "f:@1=1 f:a@2=3 f:b@3=4 g:@2=5 g:a@4=6 g:c@1=7")
		if string(r.Row) != "r" || r.Partial {
			e.Errorf("result is of row %q, partial %v", r.Row, r.Partial)
		}
	}
	e.must(e.s.Get(e.ctx, "t", &cell.Get{Row: []byte("absent")}, &r))
	e.equal(text(r.Cells), "")
	e.must(e.s.Get(e.ctx, "t", &cell.Get{Row: []byte("r")}, &r))
	e.refused(e.s.Get(e.ctx, "nope", &cell.Get{Row: []byte("r")}, &r), store.ErrTableNotFound)
	e.equal(text(r.Cells), "")
}

func neighbourRows(e *env) {
	e.usual()
	for i, row := range []string{"r", "r\x00", "r\x00\x00", "r\x00\x01", "r\x00\xff", "r\x01", "q\xff", "s"} {
		e.put(row, "f:q", 1, fmt.Sprint(i))
		e.put(row, "f:\x00\x01", 1, fmt.Sprint(i))
	}
	for i, row := range []string{"r", "r\x00", "r\x00\x00", "r\x00\x01", "r\x00\xff", "r\x01", "q\xff", "s"} {
		e.equal(e.get(row), fmt.Sprintf(`f:\x00\x01@1=%[1]d f:q@1=%[1]d`, i))
		e.equal(e.get(row, only("f:q")), fmt.Sprintf(`f:q@1=%d`, i))
	}
	e.equal(e.get("r\x02"), "")
}
