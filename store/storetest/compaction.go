package storetest

import (
	"github.com/cellardb/cellar/cell"
)

// compactionTests are about what a major compaction lets go of: everything that
// no read can see any more, and the markers. Nothing else does.
func compactionTests() []test {
	type compacted struct{ name, steps, visible, raw string }
	var tests []test
	for _, c := range []compacted{
		{"keeps_what_is_visible", fiveVersions + "; compact", "f:q@5=e f:q@4=d f:q@3=c f:q@2=b f:q@1=a", "f:q@5=e f:q@4=d f:q@3=c f:q@2=b f:q@1=a"},
		{"drops_surplus_versions", "put g:q@1=a; put g:q@2=b; put g:q@3=c; compact", "g:q@3=c", "g:q@3=c"},
		{"surplus_is_gone_for_good", "put g:q@1=a; put g:q@2=b; compact; del g:q@2", "", "g:q@2!Delete g:q@2=b"},
		{"surplus_stays_until_then", "put g:q@1=a; put g:q@2=b; flush; del g:q@2", "g:q@1=a", "g:q@2!Delete g:q@2=b g:q@1=a"},
		{"drops_masked_cells_and_markers", "put f:q@1=a; put f:q@2=b; put f:q@3=c; delcol f:q@2; compact", "f:q@3=c", "f:q@3=c"},
		{"drops_deleted_version", "put f:q@1=a; put f:q@2=b; del f:q@2; compact", "f:q@1=a", "f:q@1=a"},
		{"drops_deleted_family", "put f:a@1=a; put f:b@2=b; put g:q@1=c; delfam f@9; compact", "g:q@1=c", "g:q@1=c"},
		{"drops_deleted_family_version", "put f:a@1=a; put f:b@2=b; put f:b@1=d; delver f@1; compact", "f:b@2=b", "f:b@2=b"},
		{"drops_deleted_row", "put f:a@1=a; put g:b@2=b; delrow @2; compact", "", ""},
		{"drops_lone_markers", "del f:q@1; delcol g:q@5; delrow @9; compact", "", ""},
		{"put_after_it_is_not_masked", "delrow @9; compact; put f:q@2=a", "f:q@2=a", "f:q@2=a"},
		{"versions_count_after_deletes", "put g:q@1=a; put g:q@2=b; put g:q@3=c; del g:q@3; compact", "g:q@2=b", "g:q@2=b"},
		{"put_at_the_markers_timestamp_is_dropped", "del f:q@2; put f:q@2=b; put f:q@1=a; compact", "f:q@1=a", "f:q@1=a"},
		{"twice", "put g:q@1=a; put g:q@2=b; delcol g:q@1; compact; compact", "g:q@2=b", "g:q@2=b"},
		{"by_column", "put g:a@1=a; put g:a@2=b; put g:b@1=c; put g:@1=d; put g:@2=e; compact", "g:@2=e g:a@2=b g:b@1=c", "g:@2=e g:a@2=b g:b@1=c"},
	} {
		tests = append(tests, test{c.name, func(e *env) {
			e.usual()
			e.script(c.steps)
			e.equal(e.all("r"), c.visible)
			e.equal(e.raw("r"), c.raw)
		}})
	}
	return append(tests,
		test{"minor_keeps_markers", minorKeepsMarkers},
		test{"leaves_other_tables", compactOtherTables},
		test{"of_many_rows", compactManyRows},
	)
}

func minorKeepsMarkers(e *env) {
	e.usual()
	e.script("put f:q@1=a; flush; delcol f:q@2; flush; put g:q@1=x; put g:q@2=y; flush")
	e.must(e.s.Compact(e.ctx, "t", cell.Range{}, false))
	e.equal(e.all("r"), "g:q@2=y")
	e.script("put f:q@2=late; del g:q@2")
	e.equal(e.all("r"), "g:q@1=x")
	e.equal(e.raw("r"), "f:q@2!DeleteColumn f:q@2=late f:q@1=a g:q@2!Delete g:q@2=y g:q@1=x")
}

func compactOtherTables(e *env) {
	e.usual()
	e.create("u", fam("g", 1))
	_, err := e.s.Apply(e.ctx, "u", values([]*cell.Mutation{putOf("r", "g:q", 1, "a"), putOf("r", "g:q", 2, "b"), cell.NewMutation([]byte("r")).Delete([]byte("g"), []byte("x"), 1)}))
	e.must(err)
	e.script("put g:q@1=a; put g:q@2=b; compact")
	e.equal(e.raw("r"), "g:q@2=b")
	e.equal(resultsText(e.results("u", cell.Scan{Raw: true, Read: cell.Read{MaxVersions: 9}})), "r: g:q@2=b g:q@1=a g:x@1!Delete")
}

func compactManyRows(e *env) {
	e.usual()
	const n = 1000
	e.fill(n)
	var ms []cell.Mutation
	for i := 0; i < n; i += 2 {
		m := cell.NewMutation(key(i)).DeleteRow(5)
		m.Durability = cell.AsyncWAL
		ms = append(ms, *m)
	}
	_, err := e.s.Apply(e.ctx, "t", ms)
	e.must(err)
	before := e.scan(cell.Scan{})
	e.script("compact")
	e.equal(e.scan(cell.Scan{}), before)
	e.equal(e.scan(cell.Scan{Raw: true, Read: cell.Read{MaxVersions: allVersions}}), before)
}
