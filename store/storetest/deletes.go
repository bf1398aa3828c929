package storetest

import (
	"strings"

	"github.com/cellardb/cellar/cell"
)

// deleteTests holds the table of HBase's markers: what each masks, whatever the
// order of the writes.
func deleteTests() []test {
	tests := asTests([]scripted{
		// Delete masks the put of its column at exactly its timestamp.
		{"one_version", "put f:q@1=a; put f:q@2=b; put f:q@3=c; del f:q@2", "f:q@3=c f:q@1=a"},
		{"one_version_that_is_newest_uncovers_the_next", "put f:q@1=a; put f:q@2=b; del f:q@2", "f:q@1=a"},
		{"one_version_that_is_not_there", "put f:q@1=a; put f:q@3=c; del f:q@2", "f:q@3=c f:q@1=a"},
		{"one_version_leaves_other_columns", "put f:p@2=p; put f:q@2=q; put f:r@2=r; del f:q@2", "f:p@2=p f:r@2=r"},
		{"one_version_leaves_other_families", "put f:q@2=f; put g:q@2=g; del f:q@2", "g:q@2=g"},
		{"one_version_of_the_empty_qualifier", "put f:@1=a; put f:@2=b; put f:q@2=q; del f:@2", "f:@1=a f:q@2=q"},
		{"C28_deletes_with_a_timestamp_exactly", "put f:q@10=a; put f:q@20=b; put f:q@30=c; del f:q@20", "f:q@30=c f:q@10=a"},
		{"C28_deletes_with_a_timestamp_all_up_to", "put f:q@10=a; put f:q@20=b; put f:q@30=c; delcol f:q@20", "f:q@30=c"},

		// DeleteColumn masks the puts of its column up to its timestamp.
		{"column", "put f:q@1=a; put f:q@2=b; put f:q@3=c; delcol f:q@2", "f:q@3=c"},
		{"column_leaves_other_columns", "put f:p@1=p; put f:q@1=q; put f:qq@1=r; delcol f:q@9", "f:p@1=p f:qq@1=r"},
		{"column_leaves_other_families", "put f:q@1=f; put g:q@1=g; delcol f:q@9", "g:q@1=g"},
		{"column_with_the_empty_qualifier_is_no_family_delete", "put f:@1=a; put f:q@1=q; delcol f:@9", "f:q@1=q"},

		// DeleteFamily masks all puts of its family up to its timestamp.
		{"family", "put f:@1=e; put f:a@1=a; put f:b@2=b; put f:c@3=c; put g:a@1=g; delfam f@2", "f:c@3=c g:a@1=g"},
		{"family_leaves_newer_cells_of_the_empty_qualifier", "put f:@1=a; put f:@3=b; delfam f@2", "f:@3=b"},
		{"family_older_marker_does_not_undo_newer", "put f:q@3=c; delfam f@3; delfam f@1", ""},

		// DeleteFamilyVersion masks all puts of its family at its timestamp.
		{"family_version", "put f:a@1=a; put f:a@2=b; put f:b@2=c; put f:b@3=d; put g:a@2=g; delver f@2", "f:a@1=a f:b@3=d g:a@2=g"},
		{"family_versions", "put f:a@1=a; put f:a@2=b; put f:a@3=c; put f:a@4=d; delver f@2; delver f@4", "f:a@3=c f:a@1=a"},
		{"family_version_of_the_empty_qualifier", "put f:@1=a; put f:@2=b; delver f@2", "f:@1=a"},

		// A row delete is a DeleteFamily of every family.
		{"row", "put f:a@1=a; put f:b@2=b; put g:c@2=c; delrow @2", ""},
		{"row_up_to_its_timestamp_only", "put f:a@1=a; put f:a@3=b; put g:c@2=c; put g:d@4=d; delrow @2", "f:a@3=b g:d@4=d"},
		{"row_that_is_absent", "delrow @2", ""},
		{"everything_of_an_absent_row", "del f:q@1; delcol f:q@1; delfam f@1; delver f@1", ""},

		// A marker masks by timestamp, regardless of write order.
		{"put_written_after_a_delete_at_its_timestamp", "del f:q@2; put f:q@2=b", ""},
		{"put_written_after_a_column_delete", "delcol f:q@2; put f:q@1=a; put f:q@2=b; put f:q@3=c", "f:q@3=c"},
		{"put_written_after_a_family_delete", "delfam f@2; put f:q@1=a; put f:q@2=b; put f:q@3=c", "f:q@3=c"},
		{"put_written_after_a_family_version_delete", "delver f@2; put f:q@1=a; put f:q@2=b; put f:q@3=c", "f:q@3=c f:q@1=a"},
		{"put_written_after_a_row_delete", "delrow @2; put f:q@2=b; put g:q@1=a; put g:q@3=c", "g:q@3=c"},
		{"put_twice_after_a_delete_stays_masked", "del f:q@2; put f:q@2=b; put f:q@2=c", ""},
		{"same_marker_twice", "put f:q@1=a; put f:q@2=b; del f:q@2; del f:q@2", "f:q@1=a"},
		{"delete_after_flush", "put f:q@1=a; put f:q@2=b; flush; delcol f:q@1; flush; put f:q@3=c", "f:q@3=c f:q@2=b"},
		{"put_below_a_flushed_delete", "delrow @5; flush; put f:q@4=a; put g:q@6=b", "g:q@6=b"},

		// Within one mutation a delete wins at its timestamp, wherever it stands.
		{"in_one_mutation_put_then_delete", "put f:q@2=b & del f:q@2", ""},
		{"in_one_mutation_delete_then_put", "del f:q@2 & put f:q@2=b", ""},
		{"in_one_mutation_at_now_put_then_delete", "put f:q@now=b & delcol f:q@now", ""},
		{"in_one_mutation_at_now_delete_then_put", "delcol f:q@now & put f:q@now=b", ""},
		{"in_one_mutation_family_delete_and_put", "put f:q@1=a; delfam f@2 & put f:q@3=b", "f:q@3=b"},
		{"in_one_mutation_over_families", "put f:q@1=a; put g:q@1=b; delfam f@1 & put g:q@2=c & delcol f:p@1", "g:q@2=c"},

		// Versions count after deletes: f keeps five.
		{"uncovers_versions_beyond_the_limit_still_stored", "put f:q@1=a; put f:q@2=b; put f:q@3=c; put f:q@4=d; put f:q@5=e; put f:q@6=f; put f:q@7=g; del f:q@7; del f:q@5",
			"f:q@6=f f:q@4=d f:q@3=c f:q@2=b f:q@1=a"},
	})
	return append(tests,
		test{"newest_version_at_now", deleteNewest},
		test{"newest_version_is_the_newest_visible", deleteNewestVisible},
		test{"newest_version_several_times_in_one_mutation", deleteNewestSeveral},
		test{"newest_version_of_nothing_leaves_a_marker_at_now", deleteNewestOfNothing},
		test{"family_marker_ignores_the_qualifier", familyMarkerIgnoresQualifier},
		test{"row_over_many_families", deleteRowOverFamilies},
		test{"values_of_markers_are_not_kept", markersHaveNoValue},
		test{"rows_are_apart", deletesAreByRow},
		test{"selected_columns_see_family_markers", selectedColumnsSeeFamilyMarkers},
		test{"hold_in_every_time_range", markersHoldInEveryTimeRange},
	)
}

// Delete without a timestamp reads the newest visible version and deletes it.
func deleteNewest(e *env) {
	e.usual()
	e.script("put f:q@1=a; put f:q@2=b; put f:q@3=c; del f:q@now")
	e.equal(e.all("r"), "f:q@2=b f:q@1=a")
	e.script("tick; del f:q@now")
	e.equal(e.all("r"), "f:q@1=a")
	e.script("tick; del f:q@now; tick; del f:q@now")
	e.equal(e.all("r"), "")
}

func deleteNewestVisible(e *env) {
	e.usual()
	e.script("put f:q@1=a; put f:q@2=b; put f:q@3=c; delcol f:q@1; del f:q@3; del f:q@now")
	e.equal(e.all("r"), "")
	e.equal(e.raw("r"), "f:q@3!Delete f:q@3=c f:q@2!Delete f:q@2=b f:q@1!DeleteColumn f:q@1=a")
}

func deleteNewestOfNothing(e *env) {
	e.usual()
	e.script("del f:q@now")
	e.equal(e.all("r"), "")
	raw := e.raw("r")
	if !strings.HasSuffix(raw, "!Delete") || strings.Count(raw, "@") != 1 {
		e.Errorf("stored: %q, want one Delete marker", raw)
	}
}

func familyMarkerIgnoresQualifier(e *env) {
	e.usual()
	e.script("put f:a@1=a; put f:b@2=b; put f:c@3=c; put f:c@4=d")
	e.apply(&cell.Mutation{Row: []byte("r"), Edits: []cell.Edit{
		{Op: cell.OpDeleteFamily, Family: []byte("f"), Qualifier: []byte("b"), Timestamp: 2},
		{Op: cell.OpDeleteFamilyVersion, Family: []byte("f"), Qualifier: []byte("b"), Timestamp: 3},
	}})
	e.equal(e.all("r"), "f:c@4=d")
	e.equal(e.raw("r"), "f:@3!DeleteFamilyVersion f:@2!DeleteFamily f:a@1=a f:b@2=b f:c@4=d f:c@3=c")
}

func deleteRowOverFamilies(e *env) {
	const families = 20
	var fs []cell.FamilySchema
	m := cell.NewMutation([]byte("r"))
	for i := range families {
		name := "f" + string(rune('a'+i))
		fs = append(fs, fam(name, 1))
		m.Put([]byte(name), []byte("q"), 5, []byte("v"))
	}
	e.create("t", fs...)
	e.apply(m)
	e.put("s", "fa:q", 5, "other row")
	if n := strings.Count(e.get("r"), "=v"); n != families {
		e.Fatalf("row has %d cells, want %d", n, families)
	}
	e.script("delrow @4")
	if n := strings.Count(e.get("r"), "=v"); n != families {
		e.Errorf("after a delete below the cells: %d of %d are visible", n, families)
	}
	e.script("delrow @5")
	e.equal(e.all("r"), "")
	e.equal(e.all("s"), "fa:q@5=other row")
	if n := strings.Count(e.raw("r"), "@5!DeleteFamily"); n != families {
		e.Errorf("%d markers at 5, want one in each of %d families", n, families)
	}
}

func markersHaveNoValue(e *env) {
	e.usual()
	e.apply(&cell.Mutation{Row: []byte("r"), TTL: 1000, Edits: []cell.Edit{
		{Op: cell.OpDelete, Family: []byte("f"), Qualifier: []byte("q"), Timestamp: 2, Value: []byte("x")},
	}})
	for _, r := range e.results("t", cell.Scan{Raw: true}) {
		for _, c := range r.Cells {
			if len(c.Value) > 0 || c.TTL != 0 {
				e.Errorf("marker has value %q and time to live %d, want none", c.Value, c.TTL)
			}
		}
	}
	e.equal(e.raw("r"), "f:q@2!Delete")
}

func deletesAreByRow(e *env) {
	e.usual()
	e.rows("q", "r", "r\x00", "s")
	e.script("delrow @9; delfam f@9; delcol f:q@9; del f:q@1; delver f@1")
	e.equal(e.keys(cell.Scan{}), "q r\x00 s")
}

func selectedColumnsSeeFamilyMarkers(e *env) {
	e.usual()
	e.script("put f:q@1=a; put f:q@3=c; delfam f@2; put f:z@4=z; delver f@4")
	e.equal(e.get("r", only("f:q"), versions(9)), "f:q@3=c")
	e.equal(e.get("r", only("f:z"), versions(9)), "")
}

// A marker holds also for time ranges that do not contain it
// (KEEP_DELETED_CELLS is off).
func markersHoldInEveryTimeRange(e *env) {
	e.usual()
	e.script("put f:q@1=a; put f:q@2=b; put f:q@3=c; delcol f:q@2")
	e.equal(e.get("r", versions(9), within(0, 2)), "")
	e.equal(e.get("r", versions(9), within(1, 3)), "")
	e.equal(e.get("r", versions(9), within(3, 4)), "f:q@3=c")
	e.script("delfam f@9")
	e.equal(e.get("r", versions(9), within(3, 4)), "")
}

// The n-th delete of a column's newest version in one mutation is of the n-th
// version, as HRegion.prepareDeleteTimestamps of HBase counts them; where there
// are fewer, its marker stands at now.
func deleteNewestSeveral(e *env) {
	e.usual()
	f, q := []byte("f"), []byte("q")
	e.script("put f:q@1=a; put f:q@2=b; put f:q@3=c; put f:q@4=d; put f:p@7=p; put f:p@8=r; put g:q@9=g")
	e.apply(cell.NewMutation([]byte("r")).Delete(f, q, cell.Latest).Delete(f, []byte("p"), cell.Latest).
		Delete(f, q, cell.Latest).Delete(f, q, 1))
	e.equal(e.all("r"), "f:p@7=p f:q@2=b g:q@9=g")
	e.apply(cell.NewMutation([]byte("r")).Delete(f, q, cell.Latest).Delete(f, q, cell.Latest))
	e.equal(e.all("r"), "f:p@7=p g:q@9=g")
	e.put("r", "f:q", e.clock.Now(), "masked by the marker at now")
	e.equal(e.all("r"), "f:p@7=p g:q@9=g")
}
