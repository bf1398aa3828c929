package storetest

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
	"github.com/cellardb/cellar/store"
)

// filterOrderTests are about what comes before a filter and what after it.
func filterOrderTests() []test {
	return []test{
		{"versions_of_the_family_before_those_of_the_read_after", filterVersions},
		{"version_beyond_those_of_the_read_ends_the_column", filterVersionBeyond},
		{"store_limit_and_offset_after", filterStoreLimit},
		{"store_limit_ends_what_the_filter_sees", filterStoreLimitEnds},
		{"limit_counts_rows_that_are_left", filterLimit},
		{"parts_of_what_is_left", filterParts},
		{"C04_batch_with_a_filter_of_whole_rows", filterBatchRefused},
		{"columns_selected_before", filterSelection},
		{"deletes_before", filterDeletes},
		{"time_ranges_before", filterTimeRange},
		{"time_to_live_before", filterTTL},
		{"row_that_shows_nothing_is_no_row", filterShowsNothing},
		{"compaction_changes_no_answer", filterCompaction},
		{"dropped_row_key_moves_the_others", filterDroppedKey},
		{"next_row_goes_on_with_the_next_family", filterNextFamily},
		{"end_within_a_row_leaves_out_its_rest", filterEndWithinRow},
		{"column_count_ends_families", filterColumnCount},
		{"next_column_of_the_first_is_its_next_version", filterFirstColumn},
		{"page_is_counted_for_a_scan_not_a_region", filterPage},
		{"state_is_the_scans_own", filterOwnState},
		{"state_outlives_a_pause", filterPause},
		{"scan_is_not_kept", filterScanNotKept},
		{"of_raw_scans", filterRaw},
		{"key_only_changes_nothing_stored", filterKeyOnlyKeeps},
		{"in_partitions", filterPartitions},
		{"in_snapshots", filterSnapshot},
	}
}

func value(op cell.CompareOp, v string) filter.Value {
	return filter.Value{Op: op, Comparator: is(v)}
}

// VERSIONS=2 and v1, v2, v3: v1 never shows, whatever the read wants.
func filterVersions(e *env) {
	e.create("t", fam("f", 2))
	e.script("put f:q@1=v1; put f:q@2=v2; put f:q@3=v3")
	e.equal(e.get("r", through(value(cell.Equal, "v2"))), "f:q@2=v2")
	e.equal(e.scan(cell.Scan{Read: cell.Read{Filter: value(cell.Equal, "v2")}}), "r: f:q@2=v2")
	e.equal(e.scan(filtered(value(cell.Equal, "v1"))), "")
	e.equal(e.get("r", versions(9), through(value(cell.Equal, "v1"))), "")
	e.equal(e.get("r", through(value(cell.LessOrEqual, "v3"))), "f:q@3=v3")
	// Seen by a time range, v1 is the newest.
	e.equal(e.get("r", within(1, 2), through(value(cell.Equal, "v1"))), "f:q@1=v1")
}

// Once a column has passed as often as the read wants, the next version that
// passes ends it; until then the filter sees what does not pass.
func filterVersionBeyond(e *env) {
	e.usual()
	e.script(fiveVersions)
	e.equal(e.get("r", versions(2), through(value(cell.NotEqual, "d"))), "f:q@5=e f:q@3=c")
	e.equal(e.get("r", versions(3), through(value(cell.NotEqual, "d"))), "f:q@5=e f:q@3=c f:q@2=b")
	skip := func(v string) cell.Filter { return filter.SkipRow{Filter: value(cell.NotEqual, v)} }
	e.equal(e.get("r", through(skip("d"))), "")
	e.equal(e.get("r", through(skip("c"))), "f:q@5=e")
	e.equal(e.get("r", versions(2), through(skip("c"))), "")
	e.equal(e.get("r", versions(2), through(skip("b"))), "f:q@5=e f:q@4=d")
	// The next column counts anew.
	e.put("r", "f:r", 1, "x")
	e.put("r", "f:r", 2, "y")
	e.equal(e.get("r", through(value(cell.GreaterOrEqual, "b"))), "f:q@5=e f:r@2=y")
}

func filterStoreLimit(e *env) {
	e.usual()
	e.script(twoFamilies)
	limit := func(limit, offset int) func(*cell.Read) {
		return func(r *cell.Read) { r.StoreLimit, r.StoreOffset = limit, offset }
	}
	notThree := through(value(cell.NotEqual, "3"))
	e.equal(e.get("r", notThree), "f:@1=1 f:a@1=2 f:b@3=4 g:@2=5 g:a@4=6 g:c@1=7")
	e.equal(e.get("r", notThree, limit(2, 0)), "f:@1=1 f:a@1=2 g:@2=5 g:a@4=6")
	e.equal(e.get("r", notThree, limit(1, 1)), "f:a@1=2 g:a@4=6")
	e.equal(e.get("r", notThree, limit(0, 2)), "f:b@3=4 g:c@1=7")
	e.equal(e.get("r", notThree, limit(5, 3)), "")
	e.equal(e.get("r", versions(9), through(value(cell.Less, "6")), limit(2, 1)), "f:a@2=3 f:a@1=2")
	// The filter of the whole row sees what is left.
	dependent := filter.DependentColumn{Family: []byte("f"), Qualifier: []byte("b")}
	e.equal(e.get("r", versions(9), through(dependent)), "f:b@3=4")
	e.equal(e.get("r", versions(9), through(dependent), limit(3, 0)), "")
}

// The filter sees no cell beyond the last one that the store's limit lets
// through.
func filterStoreLimitEnds(e *env) {
	e.usual()
	e.script("put f:a@1=1 & put f:b@1=2 & put f:c@1=3 & put f:d@1=4 & put g:a@1=5")
	without := func(v string, limit, offset int) string {
		return e.get("r", through(filter.SkipRow{Filter: value(cell.NotEqual, v)}), func(r *cell.Read) { r.StoreLimit, r.StoreOffset = limit, offset })
	}
	e.equal(without("1", 1, 0), "")
	e.equal(without("2", 1, 0), "f:a@1=1 g:a@1=5")
	e.equal(without("2", 2, 0), "")
	e.equal(without("3", 2, 0), "f:a@1=1 f:b@1=2 g:a@1=5")
	e.equal(without("3", 1, 1), "f:b@1=2")
	e.equal(without("2", 1, 1), "")
	e.equal(without("4", 0, 2), "")
	e.equal(without("9", 0, 2), "f:c@1=3 f:d@1=4")
}

func filterLimit(e *env) {
	e.usual()
	for i, row := range []string{"a", "b", "c", "d", "e", "f"} {
		e.put(row, "f:q", 1, []string{"x", "y", "y"}[i%3])
		e.put(row, "g:q", 1, "z")
	}
	y := singleColumn("f:q", "y")
	keys := func(limit int, reversed bool, f cell.Filter) string {
		return e.keys(cell.Scan{Limit: limit, Reversed: reversed, Read: cell.Read{Filter: f}})
	}
	e.equal(keys(0, false, y), "b c e f")
	e.equal(keys(1, false, y), "b")
	e.equal(keys(3, false, y), "b c e")
	e.equal(keys(9, false, y), "b c e f")
	e.equal(keys(3, true, y), "f e c")
	e.equal(keys(2, false, value(cell.Equal, "x")), "a d")
	e.equal(keys(2, true, filter.Row{Op: cell.Less, Comparator: is("d")}), "c b")
	e.equal(keys(2, false, filter.SingleColumnValueExclude(y)), "b c")
	// Rows that lost all their cells to the filter are no rows.
	e.equal(e.keys(cell.Scan{Limit: 2, Read: cell.Read{Filter: filter.SingleColumnValueExclude(y), Select: selection("f")}}), "")
}

// A filter that judges cell by cell goes with parts of rows.
func filterParts(e *env) {
	e.usual()
	e.script("put f:a@1=1 & put f:b@1=2 & put f:c@1=3 & put g:d@1=4 & put g:e@1=5")
	e.put("s", "f:a", 1, "2")
	e.put("t", "f:a", 1, "7")
	odd := filter.Any(value(cell.Equal, "1"), value(cell.Equal, "3"), value(cell.Equal, "5"), value(cell.Equal, "7"))
	e.equal(e.scan(cell.Scan{Batch: 1, Read: cell.Read{Filter: odd}}), "r: f:a@1=1 + | r: f:c@1=3 + | r: g:e@1=5 | t: f:a@1=7")
	e.equal(e.scan(cell.Scan{Batch: 2, Read: cell.Read{Filter: odd}}), "r: f:a@1=1 f:c@1=3 + | r: g:e@1=5 | t: f:a@1=7")
	e.equal(e.scan(cell.Scan{Batch: 3, Read: cell.Read{Filter: odd}}), "r: f:a@1=1 f:c@1=3 g:e@1=5 | t: f:a@1=7")
	e.equal(e.scan(cell.Scan{Batch: 1, Limit: 1, Read: cell.Read{Filter: odd}}), "r: f:a@1=1 + | r: f:c@1=3 + | r: g:e@1=5")
	e.equal(e.scan(cell.Scan{MaxBytes: 1, Read: cell.Read{Filter: odd}}), "r: f:a@1=1 + | r: f:c@1=3 + | r: g:e@1=5 | t: f:a@1=7")
	e.equal(e.scan(cell.Scan{Batch: 2, Reversed: true, Read: cell.Read{Filter: odd}}), "t: f:a@1=7 | r: f:a@1=1 f:c@1=3 + | r: g:e@1=5")
	// Filters that only ever see one cell of a row keep their place between parts.
	first := filter.FirstKeyValueMatchingQualifiers{Qualifiers: bytesOf("c")}
	e.equal(e.scan(cell.Scan{Batch: 1, Read: cell.Read{Filter: first}}), "r: f:a@1=1 + | r: f:b@1=2 + | r: f:c@1=3 | s: f:a@1=2 | t: f:a@1=7")
}

// A filter that judges whole rows cannot be asked about parts of them.
func filterBatchRefused(e *env) {
	e.usual()
	for i, v := range []string{"v1", "v2", "v1"} {
		e.put(fmt.Sprint(i+1), "f:q", 1, v)
	}
	refused := map[string]cell.Filter{
		"single column":   singleColumn("f:q", "v1"),
		"excluded column": filter.SingleColumnValueExclude(singleColumn("f:q", "v1")),
		"dependent":       filter.DependentColumn{Family: []byte("f"), Qualifier: []byte("q")},
		"page":            filter.Page{Rows: 9},
		"random":          filter.RandomRow{Chance: 2},
		"skip":            filter.SkipRow{Filter: value(cell.Equal, "v1")},
		"while":           filter.WhileMatch{Filter: value(cell.Equal, "v1")},
		"deep in lists":   filter.All(filter.KeyOnly{}, filter.Any(filter.KeyOnly{}, filter.Page{Rows: 9})),
	}
	for name, f := range refused {
		for _, scan := range []cell.Scan{{Batch: 1}, {Batch: 1000}, {MaxBytes: 1}, {Batch: 1, Reversed: true}} {
			scan.Filter = f
			_, err := e.s.Scan(e.ctx, "t", &scan)
			if !errors.Is(err, filter.ErrIncompatible) || !errors.Is(err, cell.ErrIllegalArgument) {
				e.Errorf("%s, batch %d, bytes %d: got %v", name, scan.Batch, scan.MaxBytes, err)
			}
			if err != nil && !strings.Contains(err.Error(), "Cannot set batch on a scan using a filter that returns true for filter.hasFilterRow") {
				e.Errorf("%s: the text is %q", name, err)
			}
		}
		if _, err := readAll(e.ctx, e.s, "t", &cell.Scan{Limit: 1, Read: cell.Read{Filter: f}}); err != nil {
			e.Errorf("%s, limit 1: %v", name, err)
		}
	}
	e.equal(e.keys(cell.Scan{Read: cell.Read{Filter: refused["single column"]}}), "1 3")
	e.equal(e.scan(cell.Scan{Batch: 1, Read: cell.Read{Filter: value(cell.Equal, "v2")}}), "2: f:q@1=v2")
}

// A column that a filter tests must be among those that the read selects.
func filterSelection(e *env) {
	e.usual()
	e.put("a", "f:t", 1, "yes")
	e.put("a", "g:v", 1, "1")
	e.put("b", "f:t", 1, "no")
	e.put("b", "g:v", 1, "2")
	e.put("c", "g:v", 1, "3")
	missing := singleColumn("f:t", "yes")
	missing.FilterIfMissing = true
	scan := func(f cell.Filter, columns ...string) string {
		return e.keys(cell.Scan{Read: cell.Read{Filter: f, Select: selection(columns...)}})
	}
	e.equal(scan(singleColumn("f:t", "yes"), "f:t", "g:v"), "a c")
	e.equal(scan(singleColumn("f:t", "yes"), "g"), "a b c")
	e.equal(scan(missing, "f:t", "g:v"), "a")
	e.equal(scan(missing, "g"), "")
	e.equal(scan(missing), "a")
	e.equal(scan(missing, "f:u", "g"), "")
	e.equal(scan(missing, "f"), "a")
	// What is not selected is not offered.
	e.equal(scan(filter.SkipRow{Filter: value(cell.NotEqual, "no")}, "g"), "a b c")
	e.equal(scan(filter.SkipRow{Filter: value(cell.NotEqual, "no")}), "a c")
	e.equal(scan(filter.ColumnPagination{Limit: 1}, "g"), "a b c")
}

func filterDeletes(e *env) {
	e.usual()
	e.script("put f:q@1=a; put f:q@2=b; put f:q@3=c; del f:q@3; put g:p@1=x; put g:q@1=y; delcol g:p@5")
	e.equal(e.get("r", through(value(cell.Less, "c"))), "f:q@2=b")
	e.equal(e.get("r", through(singleColumn("f:q", "b"))), "f:q@2=b g:q@1=y")
	e.equal(e.get("r", through(singleColumn("f:q", "c"))), "")
	e.equal(e.get("r", through(filter.FirstKeyOnly{})), "f:q@2=b")
	e.equal(e.get("r", only("g"), through(filter.FirstKeyOnly{})), "g:q@1=y")
	e.equal(e.get("r", through(filter.ColumnCountGet{Limit: 1})), "f:q@2=b")
	e.script("delfam f@2")
	e.equal(e.get("r", through(filter.FirstKeyOnly{})), "g:q@1=y")
	e.equal(e.get("r", through(singleColumn("f:q", "b"))), "g:q@1=y")
	e.script("delrow @9")
	e.equal(e.get("r", through(singleColumn("f:q", "b"))), "")
	e.rows("s", "u", "v")
	e.equal(e.keys(cell.Scan{Read: cell.Read{Filter: filter.Page{Rows: 2}}}), "s u")
	e.apply(cell.NewMutation([]byte("s")).DeleteRow(5))
	e.equal(e.keys(cell.Scan{Read: cell.Read{Filter: filter.Page{Rows: 2}}}), "u v")
	e.equal(e.keys(cell.Scan{Reversed: true, Read: cell.Read{Filter: filter.Page{Rows: 2}}}), "v u")
}

func filterTimeRange(e *env) {
	e.usual()
	e.script(fiveVersions + "; put g:q@9=e")
	e.equal(e.get("r", within(2, 4), through(value(cell.Greater, "a"))), "f:q@3=c")
	e.equal(e.get("r", within(2, 4), through(value(cell.Equal, "e"))), "")
	e.equal(e.get("r", within(0, 4), through(singleColumn("f:q", "c"))), "f:q@3=c")
	e.equal(e.get("r", within(1, 9), through(filter.SkipRow{Filter: value(cell.LessOrEqual, "e")})), "f:q@5=e")
	e.equal(e.get("r", through(value(cell.Equal, "e")), func(r *cell.Read) {
		r.Select = []cell.FamilySelect{{Family: []byte("f"), Within: &cell.TimeRange{Min: 1, Max: 4}}, {Family: []byte("g")}}
	}), "g:q@9=e")
}

func filterTTL(e *env) {
	f := fam("f", 3)
	f.TTL, f.MinVersions = 10, 1
	e.create("t", f, fam("g", 3))
	for i, v := range []string{"a", "b", "c"} {
		m := putOf("r", "f:q", epoch+int64(i)*1000, v)
		e.apply(m.Put([]byte("g"), []byte("q"), epoch+int64(i), []byte(v)))
	}
	short := putOf("r", "g:q", epoch+9, "short")
	short.TTL = 5_000
	e.apply(short)
	newest := through(filter.FirstKeyOnly{})
	e.equal(e.get("r", only("g"), newest), "g:q@now+9=short,ttl5000")
	e.equal(e.get("r", only("f"), versions(9), through(value(cell.Less, "c"))), "f:q@now+1000=b f:q@now+0=a")
	e.clock.Tick(10_500)
	e.equal(e.get("r", only("g"), newest), "g:q@now+2=c")
	e.equal(e.get("r", only("f"), versions(9), through(value(cell.Less, "c"))), "f:q@now+1000=b")
	e.clock.Tick(10_000)
	e.equal(e.get("r", only("f"), versions(9), through(value(cell.Less, "c"))), "")
	e.equal(e.get("r", only("f"), versions(9), through(value(cell.Equal, "c"))), "f:q@now+2000=c")
	e.equal(e.scan(cell.Scan{Read: cell.Read{Select: selection("f"), Filter: singleColumn("f:q", "b")}}), "")
}

// A row of which the read shows no cell is none: its key moves no filter.
func filterShowsNothing(e *env) {
	e.usual()
	e.rows("a", "b", "c", "d")
	e.put("b", "g:q", 1, "v")
	notB := func() cell.Scan {
		return cell.Scan{Read: cell.Read{Filter: filter.WhileMatch{Filter: filter.Row{Op: cell.NotEqual, Comparator: is("b")}}}}
	}
	e.equal(e.keys(notB()), "a")
	for name, change := range map[string]func(*cell.Read){"time range": within(2, 9), "columns": only("f:r")} {
		scan := notB()
		change(&scan.Read)
		e.put("c", "f:r", 3, "v")
		if got := e.keys(scan); got != "c" {
			e.Errorf("%s: got %q", name, got)
		}
	}
	e.apply(cell.NewMutation([]byte("b")).DeleteRow(9))
	e.equal(e.keys(notB()), "a c d")
	reversed := notB()
	reversed.Reversed = true
	e.equal(e.keys(reversed), "d c a")
	e.script("flush")
	e.equal(e.keys(notB()), "a c d")
}

// What is deleted but still stored moves no filter; so a compaction is not seen.
func filterCompaction(e *env) {
	e.usual()
	for i := range 20 {
		row := fmt.Sprintf("%02d", i)
		e.put(row, "f:q", 1, fmt.Sprint(i%3))
		e.put(row, "f:q", 2, fmt.Sprint(i%5))
		e.put(row, "f:r", 1, "r")
		switch i % 4 {
		case 0:
			e.apply(cell.NewMutation([]byte(row)).DeleteRow(5))
		case 1:
			e.apply(cell.NewMutation([]byte(row)).Delete([]byte("f"), []byte("q"), 2))
		}
	}
	filters := []cell.Filter{
		filter.WhileMatch{Filter: filter.Row{Op: cell.NotEqual, Comparator: is("16")}},
		filter.RandomRow{Chance: 0.5, Seed: 7}, filter.Page{Rows: 6}, filter.ColumnCountGet{Limit: 2},
		filter.SkipRow{Filter: value(cell.NotEqual, "2")}, filter.Timestamps{Timestamps: []int64{1}, CanHint: true},
		filter.MultiRowRange{Ranges: []cell.Range{cell.PrefixRange([]byte("04")), {Start: []byte("08"), Stop: []byte("13")}}},
		singleColumn("f:q", "1"),
	}
	var before []string
	for _, f := range filters {
		before = append(before, e.scan(filtered(f)))
	}
	e.script("compact")
	for i, f := range filters {
		e.equal(e.scan(filtered(f)), before[i])
		if before[i] == "" {
			e.Errorf("%s kept nothing", f)
		}
	}
}

// Where a list drops a row by its key the filters in it that come first still
// see the first cell of each family.
func filterDroppedKey(e *env) {
	e.usual()
	e.script("put f:q@1=a & put g:q@1=b")
	e.put("s", "f:q", 1, "stop")
	e.put("u", "f:q", 1, "c")
	notS := filter.Row{Op: cell.NotEqual, Comparator: is("s")}
	while := filter.WhileMatch{Filter: value(cell.NotEqual, "stop")}
	e.equal(e.keys(cell.Scan{Read: cell.Read{Filter: filter.All(notS, while)}}), "r u")
	e.equal(e.keys(cell.Scan{Read: cell.Read{Filter: filter.All(while, notS)}}), "r")
	e.equal(e.keys(cell.Scan{Read: cell.Read{Filter: notS}}), "r u")
}

// A filter that is done with a row in one family sees the others.
func filterNextFamily(e *env) {
	e.create("t", fam("f", 1), fam("g", 1), fam("h", 1))
	e.script("put f:a@1=1 & put f:c@1=2 & put g:b@1=3 & put g:c@1=4 & put h:a@1=5 & put h:b@1=6")
	e.equal(e.get("r", through(filter.ColumnPrefix{Prefix: []byte("b")})), "g:b@1=3 h:b@1=6")
	e.equal(e.get("r", through(filter.ColumnRange{Max: []byte("b")})), "f:a@1=1 h:a@1=5")
	e.equal(e.get("r", through(filter.Family{Op: cell.NotEqual, Comparator: is("g")})), "f:a@1=1 f:c@1=2 h:a@1=5 h:b@1=6")
	e.equal(e.get("r", through(singleColumn("g:b", "x"))), "")
	e.equal(e.get("r", through(filter.ColumnPagination{Limit: 2, Offset: 3})), "g:c@1=4 h:a@1=5")
	// What is left out of a family is not seen: not counted by others.
	e.equal(e.get("r", through(filter.All(filter.ColumnPagination{Limit: 2}, filter.Family{Op: cell.Greater, Comparator: is("f")}))), "g:b@1=3")
	e.equal(e.get("r", through(filter.All(filter.ColumnPagination{Limit: 3}, filter.Family{Op: cell.Equal, Comparator: is("h")}))), "h:a@1=5")
}

// When nothing that is left can pass, the rest of the row is left out in all
// families, and the row is kept as far as it came.
func filterEndWithinRow(e *env) {
	e.usual()
	e.rows("a")
	e.script("put f:a@1=v & put f:b@1=stop & put f:c@1=v & put g:d@1=v")
	e.rows("s")
	while := cell.Read{Filter: filter.WhileMatch{Filter: value(cell.NotEqual, "stop")}}
	e.equal(e.scan(cell.Scan{Read: while}), "a: f:q@1=v | r: f:a@1=v")
	e.equal(e.scan(cell.Scan{Reversed: true, Read: while}), "s: f:q@1=v | r: f:a@1=v")
	e.equal(e.scan(cell.Scan{Limit: 3, Read: while}), "a: f:q@1=v | r: f:a@1=v")
}

// A family ends in which a filter says that nothing that is left can pass, be
// it of the row only; the others go on. So HBase, which has a scanner for each.
func filterColumnCount(e *env) {
	e.usual()
	e.script("put f:a@1=1 & put f:a@2=2 & put f:b@1=3 & put g:c@1=4")
	e.put("q", "f:a", 1, "1")
	e.put("q", "f:b", 1, "2")
	e.put("s", "f:a", 1, "1")
	e.put("u", "g:a", 1, "1")
	count := func(limit int) func(*cell.Read) { return through(filter.ColumnCountGet{Limit: limit}) }
	e.equal(e.get("r", versions(9), count(1)), "f:a@2=2")
	e.equal(e.get("r", versions(9), count(2)), "f:a@2=2 f:b@1=3")
	e.equal(e.get("r", versions(9), count(3)), "f:a@2=2 f:b@1=3 g:c@1=4")
	for limit, want := range []string{
		"",
		"q: f:a@1=1 | r: g:c@1=4 | u: g:a@1=1", // row q has one more, and that is its last
		"q: f:a@1=1 f:b@1=2 | r: f:a@2=2 f:b@1=3 | s: f:a@1=1",
		"q: f:a@1=1 f:b@1=2 | r: f:a@2=2 f:b@1=3 g:c@1=4 | s: f:a@1=1 | u: g:a@1=1",
	} {
		if got := e.scan(filtered(filter.ColumnCountGet{Limit: limit})); got != want {
			e.Errorf("limit %d: got %q, want %q", limit, got, want)
		}
	}
	one := filtered(filter.ColumnCountGet{Limit: 1})
	one.Select = selection("f")
	e.equal(e.scan(one), "q: f:a@1=1")
	one.Reversed = true
	e.equal(e.scan(one), "s: f:a@1=1 | r: f:a@2=2")
	// A family that the store's limit left is not asked.
	one.Reversed, one.StoreLimit = false, 1
	e.equal(e.scan(one), "q: f:a@1=1 | r: f:a@2=2 | s: f:a@1=1")
}

// The next column after that with the empty qualifier is its next version,
// unless the read names columns: HBase does not skip where markers of the family
// may stand.
func filterFirstColumn(e *env) {
	e.usual()
	e.script("put f:@1=1; put f:@2=2; put f:@3=3; put f:a@1=4; put f:a@2=5")
	page := func(limit, offset int) func(*cell.Read) {
		return through(filter.ColumnPagination{Limit: limit, Offset: offset})
	}
	e.equal(e.get("r", versions(9), page(2, 0)), "f:@3=3 f:@2=2")
	e.equal(e.get("r", versions(9), page(2, 2)), "f:@1=1 f:a@2=5")
	e.equal(e.get("r", page(4, 0)), "f:@3=3 f:a@2=5")
	e.equal(e.get("r", versions(9), only("f:", "f:a"), page(2, 0)), "f:@3=3 f:a@2=5")
	e.equal(e.get("r", versions(9), only("f"), page(2, 0)), "f:@3=3 f:@2=2")
}

// The filter's state is the scan's: regions are the doors' affair, which scan
// each by itself.
func filterPage(e *env) {
	e.must(e.s.CreateTable(e.ctx, schema("t", fam("f", 1)), bytesOf("c", "e")))
	e.rows("a", "b", "c", "d", "e", "f")
	page := cell.Read{Filter: filter.Page{Rows: 3}}
	e.equal(e.keys(cell.Scan{Read: page}), "a b c")
	e.equal(e.keys(cell.Scan{Read: page, Reversed: true}), "f e d")
	e.equal(e.keys(cell.Scan{Read: page, Limit: 2}), "a b")
	e.equal(e.keys(cell.Scan{Read: page, Limit: 4}), "a b c")
	e.equal(e.keys(cell.Scan{Read: cell.Read{Filter: filter.Page{}}}), "")
	regions, err := e.s.Regions(e.ctx, "t")
	e.must(err)
	var got []string
	for _, r := range regions {
		got = append(got, e.keys(cell.Scan{Range: r.Range(), Read: cell.Read{Filter: filter.Page{Rows: 1}}}))
	}
	e.equal(strings.Join(got, " "), "a c e")
	// Rows that a filter before it drops are not counted, those behind it are.
	notA := filter.Row{Op: cell.NotEqual, Comparator: is("a")}
	e.equal(e.keys(cell.Scan{Read: cell.Read{Filter: filter.All(notA, filter.Page{Rows: 2})}}), "b c")
}

// One filter value may be used by several scans at once.
func filterOwnState(e *env) {
	e.usual()
	e.rows("a", "b", "c", "d")
	page := filter.Page{Rows: 2}
	var scanners []store.Scanner
	for range 3 {
		sc, err := e.s.Scan(e.ctx, "t", &cell.Scan{Read: cell.Read{Filter: page}})
		e.must(err)
		scanners = append(scanners, sc)
	}
	for _, want := range []string{"a", "b", ""} {
		for _, sc := range scanners {
			r, err := sc.Next(e.ctx)
			switch {
			case want == "" && !errors.Is(err, io.EOF):
				e.Errorf("after the page: %v, %v", r, err)
			case want != "":
				e.must(err)
				e.equal(string(r.Row), want)
			}
		}
	}
	for _, sc := range scanners {
		e.must(sc.Close())
	}
	e.equal(e.get("a", through(page)), "f:q@1=v")
	e.equal(e.get("b", through(page)), "f:q@1=v")
	e.equal(e.keys(cell.Scan{Read: cell.Read{Filter: page}}), "a b")
}

// What the filter has seen holds on, whatever is written between two rows.
func filterPause(e *env) {
	e.usual()
	e.rows("b", "d", "f", "h", "j")
	f := filter.All(filter.MultiRowRange{Ranges: []cell.Range{{Start: []byte("b"), Stop: []byte("e")}, {Start: []byte("h")}}}, filter.Page{Rows: 3})
	sc, err := e.s.Scan(e.ctx, "t", &cell.Scan{Read: cell.Read{Filter: f}})
	e.must(err)
	var keys []string
	for {
		r, err := sc.Next(e.ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		e.must(err)
		keys = append(keys, string(r.Row))
		e.rows("a", string(r.Row)+"x", "f", "g")
		e.script("flush")
	}
	e.must(sc.Close())
	if len(keys) != 3 || keys[0] != "b" || strings.ContainsAny(strings.Join(keys, ""), "afg") {
		e.Errorf("got %q", keys)
	}
}

// What a filter needs of a scan is kept, the scan is not.
func filterScanNotKept(e *env) {
	e.usual()
	e.script(fiveVersions)
	e.put("s", "f:q", 1, "b")
	scan := &cell.Scan{Read: cell.Read{MaxVersions: 2, StoreOffset: 1, Select: selection("f:q"), Filter: value(cell.LessOrEqual, "c")}}
	sc, err := e.s.Scan(e.ctx, "t", scan)
	e.must(err)
	scan.MaxVersions, scan.StoreOffset, scan.StoreLimit, scan.Filter = 1, 0, 1, filter.KeyOnly{}
	scan.Select[0].Family[0], scan.Select[0].Qualifiers[0][0] = 'x', 'x'
	r, err := sc.Next(e.ctx)
	e.must(err)
	e.equal(resultText(r), "r: f:q@2=b")
	_, err = sc.Next(e.ctx)
	e.refused(err, io.EOF)
	e.must(sc.Close())
}

// A raw scan offers every cell that is stored, markers too; what passes counts
// against the read's versions.
func filterRaw(e *env) {
	e.create("t", fam("f", 2), fam("g", 1))
	e.script("put f:q@1=a; put f:q@2=b; put f:q@3=c; put f:q@4=d; del f:q@3; delcol f:q@1; delfam g@9; put g:q@2=e")
	raw := func(versions int, f cell.Filter) string {
		return e.scan(cell.Scan{Raw: true, Read: cell.Read{MaxVersions: versions, Filter: f}})
	}
	e.equal(raw(9, filter.FirstKeyOnly{}), "r: f:q@4=d")
	e.equal(raw(9, value(cell.Less, "d")), "r: f:q@3!Delete f:q@3=c f:q@2=b f:q@1!DeleteColumn f:q@1=a g:@9!DeleteFamily")
	e.equal(raw(2, value(cell.Less, "d")), "r: f:q@3!Delete f:q@3=c g:@9!DeleteFamily")
	e.equal(raw(1, value(cell.Equal, "a")), "r: f:q@1=a")
	e.equal(raw(9, filter.Timestamps{Timestamps: []int64{1, 9}, CanHint: true}), "r: f:q@1!DeleteColumn f:q@1=a g:@9!DeleteFamily")
	e.equal(raw(9, singleColumn("g:q", "x")), "")
	e.equal(raw(9, filter.ColumnPrefix{Prefix: []byte("q")}), "r: f:q@4=d f:q@3!Delete f:q@3=c f:q@2=b f:q@1!DeleteColumn f:q@1=a g:q@2=e")
}

func filterKeyOnlyKeeps(e *env) {
	e.usual()
	e.script(fiveVersions)
	e.equal(e.get("r", through(filter.KeyOnly{LenAsValue: true})), `f:q@5=\x00\x00\x00\x01`)
	e.equal(e.get("r", through(filter.KeyOnly{})), "f:q@5=")
	e.equal(e.get("r"), "f:q@5=e")
	e.script("flush")
	e.equal(e.scan(cell.Scan{Read: cell.Read{Filter: filter.KeyOnly{}}}), "r: f:q@5=")
	e.equal(e.scan(cell.Scan{}), "r: f:q@5=e")
	// The test is of what is stored, whatever a filter before it made of it.
	e.equal(e.get("r", through(filter.All(filter.KeyOnly{}, value(cell.Equal, "e")))), "f:q@5=")
}

func filterPartitions(e *env) {
	e.usual()
	e.fill(500)
	e.script("flush")
	f := filter.Value{Op: cell.Equal, Comparator: filter.BinaryComponent{Value: []byte("7"), Offset: 1}}
	parts, err := e.s.Partitions(e.ctx, "t", cell.Range{}, 4)
	e.must(err)
	var keys []string
	for _, p := range parts {
		if k := e.keys(cell.Scan{Range: p, Read: cell.Read{Filter: f}}); k != "" {
			keys = append(keys, k)
		}
	}
	e.equal(strings.Join(keys, " "), e.keys(cell.Scan{Read: cell.Read{Filter: f}}))
	if n := len(strings.Fields(strings.Join(keys, " "))); n != 49 {
		e.Errorf("%d rows have a 7 as their number's second digit, want 49", n)
	}
}

func filterSnapshot(e *env) {
	e.usual()
	e.rows("a", "b", "c")
	snap := e.snapshot()
	e.put("b", "f:q", 2, "w")
	e.rows("d")
	v := value(cell.Equal, "v")
	e.equal(e.snapScan(snap, cell.Scan{Read: cell.Read{Filter: v}}), "a: f:q@1=v | b: f:q@1=v | c: f:q@1=v")
	e.equal(e.keys(cell.Scan{Read: cell.Read{Filter: v}}), "a b c d")
	e.equal(e.keys(cell.Scan{Read: cell.Read{Filter: singleColumn("f:q", "v")}}), "a c d")
	var r cell.Result
	e.must(snap.Get(e.ctx, "t", &cell.Get{Row: []byte("b"), Read: cell.Read{Filter: singleColumn("f:q", "v")}}, &r))
	e.equal(text(r.Cells), "f:q@1=v")
}
