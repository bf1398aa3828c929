package storetest

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/cellardb/cellar/cell"
)

// rangeTests are about Partitions and DeleteRows.
func rangeTests() []test {
	return []test{
		{"partitions_are_exactly_the_range", partitionsCover},
		{"partitions_of_an_empty_table", partitionsEmpty},
		{"partitions_cut_a_table_of_one_region", partitionsCut},
		{"delete_rows_in_every_range", deleteRowsBounds},
		{"delete_rows_of_all_families_and_versions", deleteRowsAll},
		{"delete_rows_then_write", deleteRowsThenWrite},
		{"delete_rows_leaves_no_mask", deleteRowsNoMask},
		{"delete_rows_that_are_not_there", deleteRowsAbsent},
	}
}

// partitions cuts a range and checks the parts: together exactly the range, in
// order, and not more than n.
func (e *env) partitions(r cell.Range, n int) []cell.Range {
	e.Helper()
	parts, err := e.s.Partitions(e.ctx, "t", r, n)
	e.must(err)
	if len(parts) < 1 || len(parts) > n {
		e.Fatalf("%d partitions, want 1 to %d", len(parts), n)
	}
	first, last := parts[0], parts[len(parts)-1]
	if !bytes.Equal(first.Start, r.Start) || first.StartExclusive != r.StartExclusive ||
		!bytes.Equal(last.Stop, r.Stop) || last.StopInclusive != r.StopInclusive {
		e.Errorf("partitions %+v are not of %+v", parts, r)
	}
	for i := 1; i < len(parts); i++ {
		a, b := parts[i-1], parts[i]
		if len(a.Stop) == 0 || !bytes.Equal(a.Stop, b.Start) || a.StopInclusive != b.StartExclusive {
			e.Errorf("partition %d is %+v, the next %+v", i-1, a, b)
		}
	}
	return parts
}

func partitionsCover(e *env) {
	splits := [][]byte{[]byte("00100"), []byte("00400")}
	e.must(e.s.CreateTable(e.ctx, schema("t", fam("f", 1), fam("g", 1)), splits))
	e.fill(500)
	e.must(e.s.Flush(e.ctx, "t"))
	tried := 0
	for _, r := range []cell.Range{
		{},
		{Start: []byte("00100"), Stop: []byte("00200")},
		{Start: []byte("00100"), StartExclusive: true, Stop: []byte("00200"), StopInclusive: true},
		{Start: []byte("00250")},
		{Stop: []byte("00250")},
		{Start: []byte("00300"), Stop: []byte("00300"), StopInclusive: true},
		{Start: []byte("00300"), Stop: []byte("00300")},
		{Start: []byte("x"), Stop: []byte("y")},
		{Start: []byte("001"), Stop: []byte("00100\x00")},
	} {
		want := e.keys(cell.Scan{Range: r})
		for _, n := range []int{1, 2, 3, 8, 1000} {
			var got []string
			for _, p := range e.partitions(r, n) {
				if keys := e.keys(cell.Scan{Range: p}); keys != "" {
					got = append(got, keys)
				}
			}
			e.equal(strings.Join(got, " "), want)
			tried++
		}
	}
	if tried != 45 {
		e.Errorf("tried %d cuts", tried)
	}
}

func partitionsEmpty(e *env) {
	e.usual()
	e.partitions(cell.Range{}, 4)
	e.partitions(cell.Range{Start: []byte("a"), Stop: []byte("b")}, 1)
}

// A table of one region can be read in parallel, too, once it has some size.
func partitionsCut(e *env) {
	e.usual()
	const rows = 4000
	for from := 0; from < rows; from += 500 {
		var ms []cell.Mutation
		for i := from; i < from+500; i++ {
			m := putOf(fmt.Sprintf("%06d", i), "f:q", 1, strings.Repeat(fmt.Sprint(i), 200))
			m.Durability = cell.AsyncWAL
			ms = append(ms, *m)
		}
		_, err := e.s.Apply(e.ctx, "t", ms)
		e.must(err)
	}
	e.must(e.s.Flush(e.ctx, "t"))
	parts := e.partitions(cell.Range{}, 4)
	total := 0
	for _, p := range parts {
		total += len(e.results("t", cell.Scan{Range: p}))
	}
	if total != rows {
		e.Errorf("the partitions have %d rows, want %d", total, rows)
	}
	e.Logf("a table of %d rows was cut into %d partitions", rows, len(parts))
}

func deleteRowsBounds(e *env) {
	e.usual()
	keys := []string{"b", "d", "d\x00", "f", "\xff", "\xff\xff"}
	tried := 0
	for _, start := range []string{"", "a", "b", "c", "d", "f"} {
		for _, stop := range []string{"", "a", "b", "d", "d\x00", "e", "f", "\xff", "\xff\xff"} {
			for flags := range 4 {
				r := cell.Range{Start: []byte(start), Stop: []byte(stop), StartExclusive: flags&1 != 0, StopInclusive: flags&2 != 0}
				// Timestamps rise, since markers may stay where rows are
				// removed by markers.
				e.clock.Tick(10)
				for _, k := range keys {
					e.put(k, "f:q", e.clock.Now(), "v")
				}
				e.clock.Tick(10)
				e.must(e.s.DeleteRows(e.ctx, "t", r))
				var want []string
				for _, k := range keys {
					if !r.Contains([]byte(k)) {
						want = append(want, k)
					}
				}
				if got := e.keys(cell.Scan{}); got != strings.Join(want, " ") {
					e.Errorf("after the removal of %+v: got %q, want %q", r, got, want)
				}
				tried++
			}
		}
	}
	if tried != 6*9*4 {
		e.Errorf("tried %d ranges", tried)
	}
}

func deleteRowsAll(e *env) {
	e.usual()
	e.script(twoFamilies)
	e.script("put f:z@9=z; put g:q@now=x")
	e.put("s", "g:q", 5, "v")
	e.put("q", "g:q", 5, "v")
	e.tick()
	e.must(e.s.DeleteRows(e.ctx, "t", oneRow("r")))
	e.equal(e.all("r"), "")
	e.equal(e.keys(cell.Scan{}), "q s")
	e.must(e.s.DeleteRows(e.ctx, "t", cell.Range{}))
	e.equal(e.keys(cell.Scan{}), "")
}

func deleteRowsThenWrite(e *env) {
	e.usual()
	e.script("put f:q@1=a; put f:q@now=b; delcol f:q@now; put f:p@now=c")
	e.must(e.s.DeleteRows(e.ctx, "t", cell.Range{}))
	e.tick()
	e.script("put f:q@now=d")
	if got := e.all("r"); !strings.HasSuffix(got, "=d") || strings.Count(got, "=") != 1 {
		e.Errorf("got %q, want the value d alone", got)
	}
}

// Rows written later are not masked, whatever their timestamps.
func deleteRowsNoMask(e *env) {
	if !e.s.Capabilities().DropsRanges {
		e.Skip("the engine does not claim DropsRanges")
	}
	e.usual()
	e.script("put f:q@5=a; delrow @9; put g:q@10=b")
	e.must(e.s.DeleteRows(e.ctx, "t", oneRow("r")))
	e.equal(e.raw("r"), "")
	e.script("put f:q@2=c; put g:q@0=d")
	e.equal(e.raw("r"), "f:q@2=c g:q@0=d")
	e.must(e.s.DeleteRows(e.ctx, "t", cell.Range{}))
	e.script("put f:q@1=e")
	e.equal(e.scan(cell.Scan{Raw: true}), "r: f:q@1=e")
}

func deleteRowsAbsent(e *env) {
	e.usual()
	e.must(e.s.DeleteRows(e.ctx, "t", cell.Range{}))
	e.rows("b")
	e.must(e.s.DeleteRows(e.ctx, "t", cell.Range{Start: []byte("c")}))
	e.must(e.s.DeleteRows(e.ctx, "t", cell.Range{Start: []byte("z"), Stop: []byte("a")}))
	e.equal(e.keys(cell.Scan{}), "b")
}
