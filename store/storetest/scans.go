package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

func scanTests() []test {
	return []test{
		{"every_combination_of_bounds", everyBound},
		{"reversed_keeps_cells_in_order", reversedCells},
		{"reversed_from_a_row_that_is_not_there", reversedFromBetween},
		{"prefixes_with_ff", prefixes},
		{"C02_binary_prefixes_forward_and_reversed", binaryPrefixes},
		{"limit_counts_rows", limitRows},
		{"C29_a_row_limit_must_not_count_deleted_rows", limitDeleted},
		{"limit_does_not_count_rows_without_wanted_cells", limitUnwanted},
		{"rows_without_wanted_cells_are_left_out", unwantedRows},
		{"end_again_and_again", endAgain},
		{"close_twice", scannerCloseTwice},
		{"scan_is_not_kept", scanIsNotKept},
		{"across_regions", scanAcrossRegions},
		{"many_rows", scanManyRows},
		{"many_deleted_rows", scanManyDeleted},
		{"goes_on_after_writes", scanGoesOn},
		{"row_written_ahead_is_whole", scanRowWhole},
		{"many_scanners", manyScanners},
		{"table_dropped_meanwhile", scanDropped},
		{"table_truncated_meanwhile", scanTruncated},
		{"cancelled_call_does_not_end_it", scanCancelled},
		{"raw", rawScan},
		{"raw_in_time_range", rawTimeRange},
		{"raw_versions", rawVersions},
		{"raw_of_a_family", rawFamily},
		{"raw_shows_one_value_a_coordinate", rawCoordinate},
	}
}

// Range.Contains says what a scan must give; all rows, bounds, kinds of bounds
// and directions of a small table are tried.
func everyBound(e *env) {
	e.usual()
	keys := []string{"b", "d", "d\x00", "f"}
	e.rows(keys...)
	bounds := []string{"", "a", "b", "c", "d", "d\x00", "e", "f", "g"}
	tried := 0
	for _, start := range bounds {
		for _, stop := range bounds {
			for flags := range 8 {
				scan := cell.Scan{Reversed: flags&4 != 0, Range: cell.Range{
					Start: []byte(start), Stop: []byte(stop), StartExclusive: flags&1 != 0, StopInclusive: flags&2 != 0,
				}}
				var want []string
				for _, k := range keys {
					if r := scan.Ascending(); r.Contains([]byte(k)) {
						want = append(want, k)
					}
				}
				if scan.Reversed {
					slices.Reverse(want)
				}
				if got := e.keys(scan); got != strings.Join(want, " ") {
					e.Errorf("start %q stop %q startExclusive %v stopInclusive %v reversed %v: got %q, want %q",
						start, stop, scan.StartExclusive, scan.StopInclusive, scan.Reversed, got, want)
				}
				tried++
			}
		}
	}
	if tried != 9*9*8 {
		e.Errorf("tried %d scans", tried)
	}
}

func reversedCells(e *env) {
	e.usual()
	e.script(twoFamilies)
	e.put("q", "f:a", 1, "x")
	e.equal(e.scan(cell.Scan{Reversed: true, Read: cell.Read{MaxVersions: 9}}),
		"r: f:@1=1 f:a@2=3 f:a@1=2 f:b@3=4 g:@2=5 g:a@4=6 g:c@1=7 | q: f:a@1=x")
}

func reversedFromBetween(e *env) {
	e.usual()
	e.rows("a", "c", "e")
	e.equal(e.keys(cell.Scan{Reversed: true, Range: cell.Range{Start: []byte("d")}}), "c a")
	e.equal(e.keys(cell.Scan{Reversed: true, Range: cell.Range{Start: []byte("zz"), Stop: []byte("b")}}), "e c")
	e.equal(e.keys(cell.Scan{Reversed: true, Range: cell.Range{Start: []byte("a"), Stop: []byte("c")}}), "")
	e.equal(e.keys(cell.Scan{Reversed: true, Range: cell.Range{Start: []byte("A")}}), "")
}

func prefixes(e *env) {
	e.usual()
	e.rows("a", "ab", "ab\x00", "ab\xff", "ab\xff\xff", "ac", "b", "\xff", "\xff\xff", "\xff\xffa")
	hex := func(scan cell.Scan) string {
		var keys []string
		for _, r := range e.results("t", scan) {
			keys = append(keys, fmt.Sprintf("%x", r.Row))
		}
		return strings.Join(keys, " ")
	}
	e.equal(hex(cell.Scan{Range: cell.PrefixRange([]byte("ab"))}), "6162 616200 6162ff 6162ffff")
	e.equal(hex(cell.Scan{Range: cell.PrefixRange([]byte("ab\xff"))}), "6162ff 6162ffff")
	e.equal(hex(cell.Scan{Range: cell.PrefixRange([]byte("\xff"))}), "ff ffff ffff61")
	e.equal(hex(cell.Scan{Range: cell.PrefixRange([]byte("\xff\xff"))}), "ffff ffff61")
	e.equal(hex(cell.Scan{Range: cell.PrefixRange([]byte("x"))}), "")
}

// A reversed prefix scan as clients send it starts, inclusively, above the
// prefix and stops before the row that is the prefix itself.
func binaryPrefixes(e *env) {
	e.usual()
	e.rows("\x7f\x01", "\x80\x00", "\x80\xff", "\x81", "\xff", "\xff\x00", "\xff\xff")
	for _, c := range []struct {
		prefix, forward, reversed string
	}{
		{"\x80", "8000 80ff", "81 80ff 8000"},
		{"\xff", "ff ff00 ffff", "ffff ff00"},
		{"\x7f", "7f01", "7f01"},
	} {
		r := cell.PrefixRange([]byte(c.prefix))
		var got []string
		for _, result := range e.results("t", cell.Scan{Range: r}) {
			got = append(got, fmt.Sprintf("%x", result.Row))
		}
		e.equal(strings.Join(got, " "), c.forward)
		got = nil
		for _, result := range e.results("t", cell.Scan{Range: cell.Range{Start: r.Stop, Stop: r.Start}, Reversed: true}) {
			got = append(got, fmt.Sprintf("%x", result.Row))
		}
		e.equal(strings.Join(got, " "), c.reversed)
	}
}

func limitRows(e *env) {
	e.usual()
	e.rows("a", "b", "c", "d")
	e.put("b", "f:r", 1, "v")
	e.put("b", "g:r", 1, "v")
	e.equal(e.keys(cell.Scan{Limit: 1}), "a")
	e.equal(e.keys(cell.Scan{Limit: 3}), "a b c")
	e.equal(e.keys(cell.Scan{Limit: 4}), "a b c d")
	e.equal(e.keys(cell.Scan{Limit: 99}), "a b c d")
	e.equal(e.keys(cell.Scan{Limit: 2, Reversed: true}), "d c")
	e.equal(e.keys(cell.Scan{Limit: 2, Range: cell.Range{Start: []byte("b"), StartExclusive: true}}), "c d")
}

func limitDeleted(e *env) {
	e.usual()
	e.rows("r1", "r2", "r3")
	e.equal(e.keys(cell.Scan{Limit: 2}), "r1 r2")
	e.tick()
	e.apply(cell.NewMutation([]byte("r1")).DeleteRow(cell.Latest))
	e.equal(e.keys(cell.Scan{Limit: 2}), "r2 r3")
	e.tick()
	e.apply(cell.NewMutation([]byte("r2")).DeleteRow(cell.Latest))
	e.equal(e.keys(cell.Scan{Limit: 2}), "r3")
	e.equal(e.keys(cell.Scan{Limit: 2, Reversed: true}), "r3")
}

func limitUnwanted(e *env) {
	e.usual()
	e.rows("a", "b", "c", "d")
	e.put("b", "g:x", 2, "v")
	e.put("d", "g:x", 2, "v")
	e.equal(e.keys(cell.Scan{Limit: 1, Read: cell.Read{Select: selection("g:x")}}), "b")
	e.equal(e.keys(cell.Scan{Limit: 2, Read: cell.Read{Select: selection("g:x")}}), "b d")
	e.equal(e.keys(cell.Scan{Limit: 2, Read: cell.Read{Within: cell.Between(2, 3)}}), "b d")
	e.equal(e.keys(cell.Scan{Limit: 1, Read: cell.Read{StoreOffset: 1}}), "")
}

func unwantedRows(e *env) {
	e.usual()
	e.rows("a", "b", "c")
	e.put("b", "g:x", 5, "v")
	e.equal(e.scan(cell.Scan{Read: cell.Read{Select: selection("g")}}), "b: g:x@5=v")
	e.equal(e.scan(cell.Scan{Read: cell.Read{Select: selection("f:none", "g:none")}}), "")
	e.equal(e.scan(cell.Scan{Read: cell.Read{Within: cell.Between(2, 9)}, Reversed: true}), "b: g:x@5=v")
}

func endAgain(e *env) {
	e.usual()
	e.rows("a")
	sc, err := e.s.Scan(e.ctx, "t", &cell.Scan{})
	e.must(err)
	_, err = sc.Next(e.ctx)
	e.must(err)
	for range 3 {
		if r, err := sc.Next(e.ctx); !errors.Is(err, io.EOF) {
			e.Errorf("after the end: %v, %v", r, err)
		}
	}
	e.must(sc.Close())
}

func scannerCloseTwice(e *env) {
	e.usual()
	e.rows("a", "b")
	sc, err := e.s.Scan(e.ctx, "t", &cell.Scan{})
	e.must(err)
	_, err = sc.Next(e.ctx)
	e.must(err)
	e.must(sc.Close())
	e.must(sc.Close())
	if r, err := sc.Next(e.ctx); err == nil {
		e.Errorf("a closed scanner gave row %q", r.Row)
	}
	e.equal(e.keys(cell.Scan{}), "a b")
}

// Scan does not keep the scan or its bytes: a door may use them again.
func scanIsNotKept(e *env) {
	e.usual()
	e.rows("a", "b", "c", "d")
	e.put("b", "g:x", 1, "v")
	scan := &cell.Scan{Range: cell.Range{Start: []byte("a"), Stop: []byte("d")}}
	scan.Select = selection("f:q")
	scan.Select[0].Within = &cell.TimeRange{Min: 0, Max: 9}
	sc, err := e.s.Scan(e.ctx, "t", scan)
	e.must(err)
	scan.Start[0], scan.Stop[0], scan.Limit, scan.Reversed = 'x', 'b', 1, true
	scan.Select[0].Family[0], scan.Select[0].Qualifiers[0][0] = 'g', 'x'
	*scan.Select[0].Within = cell.TimeRange{Min: 50, Max: 60}
	var got []string
	for {
		r, err := sc.Next(e.ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		e.must(err)
		got = append(got, resultText(r))
	}
	e.must(sc.Close())
	e.equal(strings.Join(got, " | "), "a: f:q@1=v | b: f:q@1=v | c: f:q@1=v")
}

func scanAcrossRegions(e *env) {
	splits := [][]byte{[]byte("c"), []byte("e"), []byte("e\x00"), []byte("x")}
	e.must(e.s.CreateTable(e.ctx, schema("t", fam("f", 1)), splits))
	e.rows("a", "b", "c", "d", "e", "e\x00", "f", "g")
	e.equal(e.keys(cell.Scan{}), "a b c d e e\x00 f g")
	e.equal(e.keys(cell.Scan{Reversed: true}), "g f e\x00 e d c b a")
	e.equal(e.keys(cell.Scan{Range: cell.Range{Start: []byte("b"), Stop: []byte("e"), StopInclusive: true}}), "b c d e")
	e.equal(e.keys(cell.Scan{Limit: 3, Range: cell.Range{Start: []byte("b")}}), "b c d")
}

// fill writes n rows "00000", "00001", ... with two cells each.
func (e *env) fill(n int) {
	e.Helper()
	const batch = 500
	for from := 0; from < n; from += batch {
		var ms []cell.Mutation
		for i := from; i < min(n, from+batch); i++ {
			m := cell.NewMutation(fmt.Appendf(nil, "%05d", i))
			m.Put([]byte("f"), []byte("q"), 1, fmt.Appendf(nil, "%d", i)).Put([]byte("g"), []byte("q"), 1, []byte("x"))
			m.Durability = cell.AsyncWAL
			ms = append(ms, *m)
		}
		_, err := e.s.Apply(e.ctx, "t", ms)
		e.must(err)
	}
}

func scanManyRows(e *env) {
	e.usual()
	const n = 3000
	e.fill(n)
	for _, reversed := range []bool{false, true} {
		got := e.results("t", cell.Scan{Reversed: reversed})
		if len(got) != n {
			e.Fatalf("reversed %v: %d rows, want %d", reversed, len(got), n)
		}
		for i, r := range got {
			if reversed {
				i = n - 1 - i
			}
			if string(r.Row) != fmt.Sprintf("%05d", i) || len(r.Cells) != 2 || string(r.Cells[0].Value) != fmt.Sprint(i) {
				e.Fatalf("reversed %v: row %d is %s", reversed, i, resultText(r))
			}
		}
	}
}

func scanManyDeleted(e *env) {
	e.usual()
	const n = 2000
	e.fill(n)
	var ms []cell.Mutation
	for i := range n {
		if i%1000 != 500 {
			m := cell.NewMutation(fmt.Appendf(nil, "%05d", i)).DeleteRow(2)
			m.Durability = cell.AsyncWAL
			ms = append(ms, *m)
		}
	}
	_, err := e.s.Apply(e.ctx, "t", ms)
	e.must(err)
	e.equal(e.keys(cell.Scan{}), "00500 01500")
	e.equal(e.keys(cell.Scan{Reversed: true, Limit: 1}), "01500")
	e.equal(e.keys(cell.Scan{Limit: 1, Range: cell.Range{Start: []byte("00501")}}), "01500")
}

// Rows that a scan has passed do not come again, whatever is written meanwhile;
// rows that were there before it opened and that stay are not missed.
func scanGoesOn(e *env) {
	for _, reversed := range []bool{false, true} {
		table := fmt.Sprintf("t%v", reversed)
		e.create(table, fam("f", 1))
		write := func(ms ...*cell.Mutation) {
			_, err := e.s.Apply(e.ctx, table, values(ms))
			e.must(err)
		}
		write(putOf("b", "f:q", 1, "v"), putOf("d", "f:q", 1, "v"), putOf("f", "f:q", 1, "v"), putOf("h", "f:q", 1, "v"))
		sc, err := e.s.Scan(e.ctx, table, &cell.Scan{Reversed: reversed})
		e.must(err)
		seen := map[string]int{}
		for i := 0; ; i++ {
			r, err := sc.Next(e.ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			e.must(err)
			seen[string(r.Row)]++
			write(putOf("a", "f:q", 1, "v"), putOf("e", "f:q", 1, "v"), putOf("z", "f:q", 1, "v"))
			if len(r.Row) == 1 {
				write(putOf(string(r.Row)+"x", "f:q", 1, "v"))
			}
			e.must(e.s.Flush(e.ctx, table))
			if i > 50 {
				e.Fatalf("the scan does not end")
			}
		}
		e.must(sc.Close())
		for _, k := range []string{"b", "d", "f", "h"} {
			if seen[k] != 1 {
				e.Errorf("row %s came %d times", k, seen[k])
			}
		}
		for k, n := range seen {
			if n != 1 {
				e.Errorf("row %q came %d times", k, n)
			}
		}
	}
}

// Each row is whole as of one moment, also one that is written while the scanner
// is open.
func scanRowWhole(e *env) {
	e.create("t", fam("a", 1), fam("b", 1), fam("c", 1))
	both := func(row, v string, ts int64) {
		e.apply(cell.NewMutation([]byte(row)).Put([]byte("a"), nil, ts, []byte(v)).Put([]byte("b"), nil, ts, []byte(v)).Put([]byte("c"), nil, ts, []byte(v)))
	}
	for _, row := range []string{"1", "2", "3"} {
		both(row, "old", 1)
	}
	sc, err := e.s.Scan(e.ctx, "t", &cell.Scan{Batch: 1})
	e.must(err)
	var got []string
	for i := 0; ; i++ {
		r, err := sc.Next(e.ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		e.must(err)
		got = append(got, string(r.Row)+string(r.Cells[0].Family)+string(r.Cells[0].Value))
		for _, row := range []string{"1", "2", "3"} {
			both(row, fmt.Sprintf("new%d", i), int64(i)+2)
		}
	}
	e.must(sc.Close())
	if len(got) != 9 {
		e.Fatalf("got %q, want 9 cells", got)
	}
	for i := 0; i < 9; i += 3 {
		if got[i][2:] != got[i+1][2:] || got[i][2:] != got[i+2][2:] {
			e.Errorf("row %c is of different moments: %q", got[i][0], got[i:i+3])
		}
	}
}

func manyScanners(e *env) {
	e.usual()
	e.fill(50)
	var open []store.Scanner
	for range 40 {
		sc, err := e.s.Scan(e.ctx, "t", &cell.Scan{})
		e.must(err)
		open = append(open, sc)
	}
	for i := range 50 {
		for _, sc := range open {
			r, err := sc.Next(e.ctx)
			e.must(err)
			if string(r.Row) != fmt.Sprintf("%05d", i) {
				e.Fatalf("row %d is %q", i, r.Row)
			}
		}
	}
	for _, sc := range open {
		if _, err := sc.Next(e.ctx); !errors.Is(err, io.EOF) {
			e.Errorf("after the last row: %v", err)
		}
		e.must(sc.Close())
	}
}

// drain reads on until the scanner ends and says with what error.
func drain(ctx context.Context, sc store.Scanner) error {
	for {
		if _, err := sc.Next(ctx); err != nil {
			return err
		}
	}
}

func scanDropped(e *env) {
	e.usual()
	e.fill(200)
	sc, err := e.s.Scan(e.ctx, "t", &cell.Scan{})
	e.must(err)
	_, err = sc.Next(e.ctx)
	e.must(err)
	e.must(e.s.DisableTable(e.ctx, "t"))
	e.must(e.s.DropTable(e.ctx, "t"))
	e.refused(drain(e.ctx, sc), store.ErrTableNotFound)
	e.refused(drain(e.ctx, sc), store.ErrTableNotFound)
	e.must(sc.Close())
	e.usual()
	e.equal(e.keys(cell.Scan{}), "")
}

func scanTruncated(e *env) {
	e.usual()
	e.fill(200)
	sc, err := e.s.Scan(e.ctx, "t", &cell.Scan{Reversed: true})
	e.must(err)
	_, err = sc.Next(e.ctx)
	e.must(err)
	e.must(e.s.DisableTable(e.ctx, "t"))
	e.must(e.s.TruncateTable(e.ctx, "t", false))
	e.rows("a")
	e.refused(drain(e.ctx, sc), store.ErrTableNotFound)
	e.must(sc.Close())
	e.equal(e.keys(cell.Scan{}), "a")
}

func scanCancelled(e *env) {
	e.usual()
	e.rows("a", "b", "c")
	sc, err := e.s.Scan(e.ctx, "t", &cell.Scan{})
	e.must(err)
	_, err = sc.Next(e.ctx)
	e.must(err)
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	_, err = sc.Next(ctx)
	e.refused(err, context.Canceled)
	r, err := sc.Next(e.ctx)
	e.must(err)
	e.equal(string(r.Row), "b")
	e.must(sc.Close())
}

const markersOfAllKinds = "put f:q@1=a; put f:q@3=c; put g:q@2=g; del f:q@3; delcol f:q@1; delfam g@9; delver f@4"

func rawScan(e *env) {
	e.usual()
	e.script(markersOfAllKinds)
	e.equal(e.scan(cell.Scan{}), "")
	e.equal(e.raw("r"), "f:@4!DeleteFamilyVersion f:q@3!Delete f:q@3=c f:q@1!DeleteColumn f:q@1=a g:@9!DeleteFamily g:q@2=g")
	e.equal(e.keys(cell.Scan{Raw: true, Limit: 1, Reversed: true}), "r")
}

func rawTimeRange(e *env) {
	e.usual()
	e.script(markersOfAllKinds)
	scan := cell.Scan{Raw: true, Read: cell.Read{MaxVersions: 9, Within: cell.Between(3, 9)}}
	e.equal(e.scan(scan), "r: f:@4!DeleteFamilyVersion f:q@3!Delete f:q@3=c")
}

// max_versions applies to each column of a raw scan; markers are not counted, and
// the family's VERSIONS does not hold.
func rawVersions(e *env) {
	e.usual()
	e.script("put g:q@1=a; put g:q@2=b; put g:q@3=c; put g:q@4=d; del g:q@3; put g:z@1=z")
	scan := cell.Scan{Raw: true}
	e.equal(e.scan(scan), "r: g:q@4=d g:q@3!Delete g:z@1=z")
	scan.MaxVersions = 2
	e.equal(e.scan(scan), "r: g:q@4=d g:q@3!Delete g:q@3=c g:z@1=z")
	scan.MaxVersions = 9
	e.equal(e.scan(scan), "r: g:q@4=d g:q@3!Delete g:q@3=c g:q@2=b g:q@1=a g:z@1=z")
}

func rawFamily(e *env) {
	e.usual()
	e.script(markersOfAllKinds)
	e.equal(e.scan(cell.Scan{Raw: true, Read: cell.Read{MaxVersions: 9, Select: selection("g")}}), "r: g:@9!DeleteFamily g:q@2=g")
}

func rawCoordinate(e *env) {
	e.usual()
	e.script("put f:q@1=a; put f:q@1=b; flush; put f:q@1=c; del f:q@1; flush; del f:q@1; delcol f:q@1")
	e.equal(e.raw("r"), "f:q@1!DeleteColumn f:q@1!Delete f:q@1=c")
}

// key is the row that fill writes at i.
func key(i int) []byte { return fmt.Appendf(nil, "%05d", i) }
