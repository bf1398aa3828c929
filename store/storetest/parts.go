package storetest

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cellardb/cellar/cell"
)

// partTests are about rows that come in parts.
func partTests() []test {
	return []test{
		{"batch_cuts_rows", batchCuts},
		{"batch_that_fits_exactly", batchFits},
		{"batch_counts_versions", batchVersions},
		{"batch_and_row_limit", batchAndLimit},
		{"batch_reversed", batchReversed},
		{"batch_and_store_limit", batchAndStoreLimit},
		{"batch_of_a_wide_row", batchWide},
		{"bytes_cut_rows", bytesCut},
		{"bytes_that_nothing_exceeds", bytesNotExceeded},
		{"raw_batch", rawBatch},
		{"partial_row_is_whole_across_writes", partsAcrossWrites},
	}
}

func batchCuts(e *env) {
	e.usual()
	e.script("put f:a@1=1 & put f:b@1=2 & put f:c@1=3")
	e.equal(e.scan(cell.Scan{Batch: 2}), "r: f:a@1=1 f:b@1=2 + | r: f:c@1=3")
	e.equal(e.scan(cell.Scan{Batch: 1}), "r: f:a@1=1 + | r: f:b@1=2 + | r: f:c@1=3")
}

func batchFits(e *env) {
	e.usual()
	e.script("put f:a@1=1 & put f:b@1=2 & put g:c@1=3 & put g:d@1=4")
	e.put("s", "f:a", 1, "5")
	e.equal(e.scan(cell.Scan{Batch: 2}), "r: f:a@1=1 f:b@1=2 + | r: g:c@1=3 g:d@1=4 | s: f:a@1=5")
	e.equal(e.scan(cell.Scan{Batch: 4}), "r: f:a@1=1 f:b@1=2 g:c@1=3 g:d@1=4 | s: f:a@1=5")
	// What follows in the row but is not wanted does not make a result partial.
	e.script("put g:e@1=x; put g:f@1=y; del g:e@1; delcol g:f@1")
	e.equal(e.scan(cell.Scan{Batch: 2}), "r: f:a@1=1 f:b@1=2 + | r: g:c@1=3 g:d@1=4 | s: f:a@1=5")
	e.equal(e.scan(cell.Scan{Batch: 2, Read: cell.Read{Select: selection("f")}}), "r: f:a@1=1 f:b@1=2 | s: f:a@1=5")
}

func batchVersions(e *env) {
	e.usual()
	e.script(fiveVersions)
	e.equal(e.scan(cell.Scan{Batch: 3, Read: cell.Read{MaxVersions: 4}}), "r: f:q@5=e f:q@4=d f:q@3=c + | r: f:q@2=b")
}

func batchAndLimit(e *env) {
	e.usual()
	for _, row := range []string{"a", "b", "c"} {
		e.put(row, "f:x", 1, "1")
		e.put(row, "f:y", 1, "2")
		e.put(row, "f:z", 1, "3")
	}
	e.equal(e.scan(cell.Scan{Batch: 2, Limit: 2}), "a: f:x@1=1 f:y@1=2 + | a: f:z@1=3 | b: f:x@1=1 f:y@1=2 + | b: f:z@1=3")
}

func batchReversed(e *env) {
	e.usual()
	for _, row := range []string{"a", "b"} {
		e.put(row, "f:x", 1, "1")
		e.put(row, "g:y", 1, "2")
		e.put(row, "g:z", 1, "3")
	}
	e.equal(e.scan(cell.Scan{Batch: 2, Reversed: true}), "b: f:x@1=1 g:y@1=2 + | b: g:z@1=3 | a: f:x@1=1 g:y@1=2 + | a: g:z@1=3")
}

func batchAndStoreLimit(e *env) {
	e.usual()
	e.script(twoFamilies)
	e.equal(e.scan(cell.Scan{Batch: 3, Read: cell.Read{StoreLimit: 2}}), "r: f:@1=1 f:a@2=3 g:@2=5 + | r: g:a@4=6")
}

func batchWide(e *env) {
	e.usual()
	const columns = 1050
	m := cell.NewMutation([]byte("r"))
	for i := range columns {
		m.Put([]byte("f"), fmt.Appendf(nil, "%05d", i), 1, []byte("v"))
	}
	e.apply(m, putOf("s", "f:q", 1, "x"))
	results := e.results("t", cell.Scan{Batch: 100})
	if len(results) != 12 {
		e.Fatalf("got %d results, want 11 of the row and 1 of the next", len(results))
	}
	for i, r := range results[:11] {
		if r.Partial != (i < 10) || string(r.Row) != "r" || string(r.Cells[0].Qualifier) != fmt.Sprintf("%05d", i*100) {
			e.Errorf("result %d begins at %q, partial %v", i, r.Cells[0].Qualifier, r.Partial)
		}
	}
}

// Once the cells of a result exceed MaxBytes the rest of the row comes in the
// next one.
func bytesCut(e *env) {
	e.usual()
	const cells, size, limit = 20, 1000, 3500
	m := cell.NewMutation([]byte("r"))
	for i := range cells {
		m.Put([]byte("f"), fmt.Appendf(nil, "%05d", i), 1, []byte(strings.Repeat("x", size)))
	}
	e.apply(m, putOf("s", "f:q", 1, "x"))
	results := e.results("t", cell.Scan{MaxBytes: limit})
	next := 0
	for i, r := range results {
		if string(r.Row) == "s" {
			if i != len(results)-1 || r.Partial {
				e.Errorf("row s is result %d of %d", i, len(results))
			}
			continue
		}
		if got := len(r.Cells); got > limit/size+1 || got < 1 || r.Partial && got < limit/(size+200) {
			e.Errorf("result %d has %d cells of %d bytes, the limit is %d", i, got, size, limit)
		}
		for _, c := range r.Cells {
			if string(c.Qualifier) != fmt.Sprintf("%05d", next) {
				e.Fatalf("cell %d is %q", next, c.Qualifier)
			}
			next++
		}
		if r.Partial != (next < cells) {
			e.Errorf("result %d after cell %d: partial %v", i, next, r.Partial)
		}
	}
	if next != cells || len(results) < 5 {
		e.Errorf("%d cells in %d results", next, len(results))
	}
	results = e.results("t", cell.Scan{MaxBytes: 1})
	if len(results) != cells+1 {
		e.Errorf("with a limit of one byte: %d results, want a cell in each of %d", len(results), cells+1)
	}
}

func bytesNotExceeded(e *env) {
	e.usual()
	e.script("put f:a@1=1 & put f:b@1=2 & put g:c@1=3")
	e.equal(e.scan(cell.Scan{MaxBytes: 10_000}), "r: f:a@1=1 f:b@1=2 g:c@1=3")
}

func rawBatch(e *env) {
	e.usual()
	e.script("put f:a@1=1; put f:a@2=2; delcol f:a@1; delfam g@3")
	e.equal(e.scan(cell.Scan{Raw: true, Batch: 3, Read: cell.Read{MaxVersions: 9}}), "r: f:a@2=2 f:a@1!DeleteColumn f:a@1=1 + | r: g:@3!DeleteFamily")
}

// The parts of one row are of one moment.
func partsAcrossWrites(e *env) {
	e.usual()
	e.script("put f:a@1=1 & put f:b@1=2 & put g:c@1=3")
	sc, err := e.s.Scan(e.ctx, "t", &cell.Scan{Batch: 1})
	e.must(err)
	r, err := sc.Next(e.ctx)
	e.must(err)
	got := []string{resultText(r)}
	e.script("delrow @5; put f:b@6=x & put g:c@6=y & put g:d@6=z; flush")
	for {
		r, err := sc.Next(e.ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		e.must(err)
		got = append(got, resultText(r))
	}
	e.must(sc.Close())
	e.equal(strings.Join(got, " | "), "r: f:a@1=1 + | r: f:b@1=2 + | r: g:c@1=3")
}
