package thrift1

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/door"
	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/memory"
)

func getList(id, n int32) fields { return fields{1: id, 2: n} }

// tenRows makes rows r0 to r9.
func tenRows(d *testDoor) {
	d.table("t", "cf", "cg")
	for i := range 10 {
		d.put("t", fmt.Sprintf("r%d cf:q %d v%d", i, i+1, i))
	}
}

// Batches are whole but for the last one; only an empty list is the end, and it
// stays so; a scanner is closed once.
func TestC01_ShortBatchesAndTheRowLimit(t *testing.T) {
	walk(t, tenRows, []step{
		{"scannerOpen", fields{1: "t", 2: "", 3: list{}}, "0"},
		{"scannerGetList", getList(0, 4), "[r0{cf:q=v0@1} r1{cf:q=v1@2} r2{cf:q=v2@3} r3{cf:q=v3@4}]"},
		{"scannerGetList", getList(0, 4), "[r4{cf:q=v4@5} r5{cf:q=v5@6} r6{cf:q=v6@7} r7{cf:q=v7@8}]"},
		{"scannerGetList", getList(0, 0), "[]"}, // asks for none: not the end
		{"scannerGetList", getList(0, 4), "[r8{cf:q=v8@9} r9{cf:q=v9@10}]"},
		{"scannerGetList", getList(0, 4), "[]"},
		{"scannerGetList", getList(0, 4), "[]"},
		{"scannerGet", fields{1: int32(0)}, "[]"},
		{"scannerClose", fields{1: int32(0)}, "void"},
		{"scannerClose", fields{1: int32(0)}, "IllegalArgument: scanner ID is invalid"},
		{"scannerGetList", getList(0, 4), "IllegalArgument: scanner ID is invalid"},
		{"scannerGet", fields{1: int32(7)}, "IllegalArgument: scanner ID is invalid"},
		{"scannerOpen", fields{1: "t", 2: "r9"}, "1"}, // ids are not given twice
		{"scannerGetList", getList(1, -1), "IllegalArgument: java.lang.IllegalArgumentException: nbRows must not be negative: -1"},
		{"scannerGet", fields{1: int32(1)}, "[r9{cf:q=v9@10}]"},
		// A batch that ends with the table does not say so.
		{"scannerOpen", fields{1: "t", 2: "r8"}, "2"},
		{"scannerGetList", getList(2, 2), "[r8{cf:q=v8@9} r9{cf:q=v9@10}]"},
		{"scannerGetList", getList(2, math.MaxInt32), "[]"},
	})
}

// scanOf opens a scanner by a call, reads it to its end and renders the rows.
func scanOf(p *peer, method string, args fields) string {
	p.t.Helper()
	id := p.call(method, args).(int32)
	var rows []string
	for {
		l := p.call("scannerGetList", getList(id, 3)).(list)
		if len(l) == 0 {
			break
		}
		for _, r := range l {
			rows = append(rows, render(r))
		}
	}
	p.call("scannerClose", fields{1: id})
	return strings.Join(rows, " ")
}

func TestEveryWayToOpenAScanner(t *testing.T) {
	for _, f := range forms {
		d := openDoor(t, Options{}, door.Options{})
		d.table("t", "cf", "cg")
		d.put("t", "a cf:x 10 a10", "a cf:x 20 a20", "b cf:x 5 b5", "b cg:y 15 b15", "ba cf:x 1 ba1", "c cg:z 9 c9")
		p := d.dial(f)
		open := func(scan fields) fields { return fields{1: "t", 2: scan} }
		n := 0
		for _, c := range []struct {
			method string
			args   fields
			want   string
		}{
			{"scannerOpen", fields{1: "t", 2: "b"}, "b{cf:x=b5@5 cg:y=b15@15} ba{cf:x=ba1@1} c{cg:z=c9@9}"},
			{"scannerOpen", fields{1: "t", 2: "", 3: list{"cf"}}, "a{cf:x=a20@20} b{cf:x=b5@5} ba{cf:x=ba1@1}"},
			{"scannerOpenWithStop", fields{1: "t", 2: "a", 3: "b"}, "a{cf:x=a20@20}"},
			{"scannerOpenWithStop", fields{1: "t", 2: "a", 3: "", 4: list{"cg:z"}}, "c{cg:z=c9@9}"},
			{"scannerOpenWithPrefix", fields{1: "t", 2: "b", 3: list{"cf:x", "cg:y"}}, "b{cf:x=b5@5 cg:y=b15@15} ba{cf:x=ba1@1}"},
			{"scannerOpenWithPrefix", fields{1: "t", 2: ""}, "a{cf:x=a20@20} b{cf:x=b5@5 cg:y=b15@15} ba{cf:x=ba1@1} c{cg:z=c9@9}"},
			{"scannerOpenTs", fields{1: "t", 2: "", 4: int64(15)}, "a{cf:x=a10@10} b{cf:x=b5@5} ba{cf:x=ba1@1} c{cg:z=c9@9}"},
			{"scannerOpenTs", fields{1: "t", 2: "", 4: int64(0)}, ""},
			{"scannerOpenWithStopTs", fields{1: "t", 2: "", 3: "b", 5: int64(20)}, "a{cf:x=a10@10}"},
			{"scannerOpenWithScan", open(fields{}), "a{cf:x=a20@20} b{cf:x=b5@5 cg:y=b15@15} ba{cf:x=ba1@1} c{cg:z=c9@9}"},
			{"scannerOpenWithScan", open(fields{1: "b", 2: "c", 5: int32(1000), 10: false}), "b{cf:x=b5@5 cg:y=b15@15} ba{cf:x=ba1@1}"},
			{"scannerOpenWithScan", open(fields{3: int64(10)}), "b{cf:x=b5@5} ba{cf:x=ba1@1} c{cg:z=c9@9}"},
			{"scannerOpenWithScan", open(fields{4: list{"cg"}}), "b{cg:y=b15@15} c{cg:z=c9@9}"},
			{"scannerOpenWithScan", open(fields{7: int32(1), 1: "b", 2: "ba"}), "b{cf:x=b5@5} b{cg:y=b15@15}"},
			{"scannerOpenWithScan", open(fields{7: int32(-1), 1: "b", 2: "ba"}), "b{cf:x=b5@5 cg:y=b15@15}"},
			{"scannerOpenWithScan", open(fields{8: true, 2: "ba"}), "a[<1:cf:x 2:a20@20>] b[<1:cf:x 2:b5@5> <1:cg:y 2:b15@15>]"},
			{"scannerOpenWithScan", open(fields{9: true, 1: "ba", 2: "a"}), "ba{cf:x=ba1@1} b{cf:x=b5@5 cg:y=b15@15}"},
			{"scannerOpenWithScan", open(fields{6: ""}), "a{cf:x=a20@20} b{cf:x=b5@5 cg:y=b15@15} ba{cf:x=ba1@1} c{cg:z=c9@9}"},
		} {
			if got := scanOf(p, c.method, c.args); got != c.want {
				t.Errorf("%s: %s %v: got %s, want %s", f, c.method, c.args, got, c.want)
			}
			n++
		}
		if n != 18 {
			t.Errorf("%d scans were tried", n)
		}
	}
}

// Bytes above 127 are bytes; in a reversed scan the start is the upper bound,
// inclusive, and the stop the lower one, exclusive.
func TestC02_BinaryPrefixesForwardAndReverse(t *testing.T) {
	rows := []string{"\x7f\x01", "\x80\x00", "\x80\xff", "\x81", "\xff", "\xff\x00", "\xff\xff"}
	d := openDoor(t, Options{}, door.Options{})
	d.table("t", "cf")
	for _, r := range rows {
		d.put("t", r+" cf: 1 ")
	}
	keys := func(got string) string { return strings.ReplaceAll(got, "{cf:=@1}", "") }
	n := 0
	for _, f := range forms {
		p := d.dial(f)
		for _, c := range []struct{ prefix, want string }{
			{"\x80", `\x80\x00 \x80\xFF`}, {"\xff", `\xFF \xFF\x00 \xFF\xFF`}, {"\x7f", `\x7F\x01`},
		} {
			if got := keys(scanOf(p, "scannerOpenWithPrefix", fields{1: "t", 2: c.prefix})); got != c.want {
				t.Errorf("%s: prefix %q: %s, want %s", f, c.prefix, got, c.want)
			}
			n++
		}
		for _, c := range []struct{ start, stop, want string }{
			{"\x81", "\x80", `\x81 \x80\xFF \x80\x00`},
			{"", "\xff", `\xFF\xFF \xFF\x00`},
			{"\x80", "\x7f", `\x7F\x01`},
			{"\xff", "\x80\xff", `\xFF \x81`},
		} {
			scan := fields{1: c.start, 2: c.stop, 9: true}
			if got := keys(scanOf(p, "scannerOpenWithScan", fields{1: "t", 2: scan})); got != c.want {
				t.Errorf("%s: reversed from %q to %q: %s, want %s", f, c.start, c.stop, got, c.want)
			}
			n++
		}
	}
	if n != 28 {
		t.Errorf("%d scans were tried", n)
	}
}

// A limit of two rows gives two rows, whatever was deleted before them.
func TestC29_ARowLimitMustNotCountDeletedRows(t *testing.T) {
	two := func(id int32) step { return step{"scannerGetList", getList(id, 2), ""} }
	walk(t, func(d *testDoor) {
		d.table("t", "cf")
		d.put("t", "r1 cf:q 1 1", "r2 cf:q 1 2", "r3 cf:q 1 3")
	}, []step{
		{"scannerOpen", fields{1: "t", 2: ""}, "0"},
		{two(0).method, two(0).args, "[r1{cf:q=1@1} r2{cf:q=2@1}]"},
		{"deleteAllRow", fields{1: "t", 2: "r1"}, "void"},
		{"scannerOpen", fields{1: "t", 2: ""}, "1"},
		{two(1).method, two(1).args, "[r2{cf:q=2@1} r3{cf:q=3@1}]"},
		{"deleteAllRow", fields{1: "t", 2: "r2"}, "void"},
		{"scannerOpen", fields{1: "t", 2: ""}, "2"},
		{two(2).method, two(2).args, "[r3{cf:q=3@1}]"},
	})
}

// Any connection may use a scanner, and it outlives the one that opened it.
func TestScannersBelongToTheDoor(t *testing.T) {
	d := openDoor(t, Options{}, door.Options{})
	tenRows(d)
	first, second := d.dial(forms[0]), d.dial(forms[3])
	first.expect("scannerOpen", fields{1: "t", 2: "r7"}, "0")
	first.expect("scannerGet", fields{1: int32(0)}, "[r7{cf:q=v7@8}]")
	second.expect("scannerGet", fields{1: int32(0)}, "[r8{cf:q=v8@9}]")
	first.conn.Close()
	second.expect("scannerGet", fields{1: int32(0)}, "[r9{cf:q=v9@10}]")
	second.expect("scannerGet", fields{1: int32(0)}, "[]")
	second.expect("scannerClose", fields{1: int32(0)}, "void")
}

// A missing table or family is noticed by the first fetch, not before.
func TestScannersOpenOnWhatIsMissing(t *testing.T) {
	walk(t, tenRows, []step{
		{"scannerOpen", fields{1: "nope", 2: ""}, "0"},
		{"scannerOpenWithScan", fields{1: "zzz", 2: fields{}}, "1"},
		{"scannerOpen", fields{1: "t", 2: "", 3: list{"nofam"}}, "2"},
		{"scannerGetList", getList(0, 1), "IOError: org.apache.hadoop.hbase.TableNotFoundException: Table 'nope' was not found, got: hbase:namespace."},
		{"scannerGetList", getList(1, 1), "IOError: org.apache.hadoop.hbase.TableNotFoundException: Table 'zzz' was not found, got: t."},
		{"scannerGetList", getList(2, 1), "IOError: org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException: Column family nofam does not exist in table 't'"},
		{"scannerGetList", getList(2, 1), "IOError: org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException: Column family nofam does not exist in table 't'"},
		{"scannerClose", fields{1: int32(2)}, "void"},
	})
}

func TestScannersAreLimited(t *testing.T) {
	d := openDoor(t, Options{MaxScanners: 2}, door.Options{})
	tenRows(d)
	p := d.dial(forms[0])
	p.expect("scannerOpen", fields{1: "t", 2: ""}, "0")
	p.expect("scannerOpen", fields{1: "t", 2: ""}, "1")
	p.expect("scannerOpen", fields{1: "t", 2: ""}, "IOError: org.apache.hadoop.hbase.RegionTooBusyException: too many open scanners")
	p.expect("scannerClose", fields{1: int32(0)}, "void")
	p.expect("scannerOpen", fields{1: "t", 2: ""}, "2")

	// What scans keep in memory is limited too, and given back.
	p.expect("scannerClose", fields{1: int32(2)}, "void")
	s := d.handler.scanners
	s.mu.Lock()
	before := s.mu.bytes
	s.mu.bytes = maxScannerBytes - before - 500
	s.mu.Unlock()
	wide := fields{1: "t", 2: "", 3: list{"cf:" + strings.Repeat("q", 1000)}}
	p.expect("scannerOpen", wide, "IOError: org.apache.hadoop.hbase.RegionTooBusyException: too many open scanners")
	p.expect("scannerOpen", fields{1: "t", 2: ""}, "3")
	p.expect("scannerClose", fields{1: int32(3)}, "void")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.bytes != maxScannerBytes-before-500 {
		t.Errorf("%d bytes are noted, want %d", s.mu.bytes, maxScannerBytes-before-500)
	}
}

func TestScannerIDsStartAnewAtTheTop(t *testing.T) {
	d := openDoor(t, Options{}, door.Options{})
	tenRows(d)
	p := d.dial(forms[0])
	p.expect("scannerOpen", fields{1: "t", 2: ""}, "0")
	d.handler.scanners.mu.Lock()
	d.handler.scanners.mu.next = math.MaxInt32
	d.handler.scanners.mu.Unlock()
	p.expect("scannerOpen", fields{1: "t", 2: ""}, "2147483647")
	p.expect("scannerOpen", fields{1: "t", 2: ""}, "1") // 0 is in use
}

// A reply that would be too large is an error, not a short batch that some
// clients take for the end; the scanner stands where it stood, inside a row too.
func TestRepliesThatAreTooLargeLoseNoRow(t *testing.T) {
	d := openDoor(t, Options{MaxReply: 10_000}, door.Options{})
	d.table("t", "cf")
	big := strings.Repeat("x", 3000)
	for i := range 6 {
		d.put("t", fmt.Sprintf("r%d cf:a 1 %d%s", i, i, big), fmt.Sprintf("r%d cf:b 1 %d%s", i, i, big))
	}
	for _, reversed := range []bool{false, true} {
		for _, batch := range []int32{0, 1} {
			p := d.dial(forms[0])
			scan := fields{7: batch, 9: reversed}
			want := allOf(p, scan, func(int) int32 { return 1 })
			if len(want) != 6+6*int(batch) {
				t.Fatalf("batch %d: %d results", batch, len(want))
			}
			failed := 0
			got := allOf(p, scan, func(round int) int32 {
				if round%2 == 0 {
					return 5 // does not fit
				}
				return 1
			}, &failed)
			if failed == 0 || strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("reversed %v, batch %d: %d fetches failed; got %d results, want %d", reversed, batch, failed, len(got), len(want))
			}
		}
	}
	p := d.dial(forms[0])
	p.expect("scannerOpen", fields{1: "t", 2: ""}, "8")
	p.expect("scannerGetList", getList(8, 5), "IOError: org.apache.hadoop.hbase.DoNotRetryIOException: the reply exceeds 10000 bytes: ask for less at a time (1 rows fit); scanner 8 stands where it stood")
	p.expect("getRows", fields{1: "t", 2: list{"r1", "r2"}}, "IOError: org.apache.hadoop.hbase.DoNotRetryIOException: the reply exceeds 10000 bytes: ask for less at a time")
}

// A filter that counts does not count anew after a reply that was too large.
func TestGoingBackKeepsWhatAFilterCounted(t *testing.T) {
	d := openDoor(t, Options{MaxReply: 10_000}, door.Options{})
	d.table("t", "cf")
	big := strings.Repeat("x", 1500)
	for i := range 20 {
		d.put("t", fmt.Sprintf("r%02d cf:a 1 %d%s", i, i, big), fmt.Sprintf("r%02d cf:b 1 %d%s", i, i, big))
	}
	for _, c := range []struct {
		filter   string
		batch    int32
		reversed bool
		results  int
	}{
		{"PageFilter(10)", 0, false, 10},
		{"PageFilter(10)", 0, true, 10},
		{"InclusiveStopFilter('r09')", 0, false, 10},
		{"InclusiveStopFilter('r09')", 1, false, 20},
	} {
		p := d.dial(forms[0])
		scan := fields{6: c.filter, 7: c.batch, 9: c.reversed}
		want := allOf(p, scan, func(int) int32 { return 1 })
		failed := 0
		got := allOf(p, scan, func(round int) int32 {
			if round%3 == 1 {
				return 9 // does not fit
			}
			return 2
		}, &failed)
		if failed == 0 || len(want) != c.results || strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%+v: %d fetches failed; got %d results, want %d", c, failed, len(got), len(want))
		}
	}
}

// allOf reads a scan, with as many rows a time as asked says; fetches that fail
// are counted and tried again.
func allOf(p *peer, scan fields, asked func(round int) int32, failed ...*int) (rows []string) {
	p.t.Helper()
	id := p.call("scannerOpenWithScan", fields{1: "t", 2: scan}).(int32)
	for round := 0; ; round++ {
		v, err := p.try("scannerGetList", getList(id, asked(round)))
		var e *ioErr
		if errors.As(err, &e) && len(failed) > 0 {
			*failed[0]++
			continue
		}
		if err != nil {
			p.t.Fatal(err)
		}
		if len(v.(list)) == 0 {
			return rows
		}
		for _, r := range v.(list) {
			rows = append(rows, render(r))
		}
	}
}

// flaky fails scans at their third row.
type flaky struct {
	store.Store
	opened, closed atomic.Int64
	scans          []cell.Scan
}

type flakyScanner struct {
	store.Scanner
	f *flaky
	n int
}

func (f *flaky) Scan(ctx context.Context, table string, scan *cell.Scan) (store.Scanner, error) {
	s, err := f.Store.Scan(ctx, table, scan)
	f.opened.Add(1)
	f.scans = append(f.scans, *scan)
	return &flakyScanner{Scanner: s, f: f}, err
}

func (s *flakyScanner) Next(ctx context.Context) (*cell.Result, error) {
	if s.n++; s.n == 3 {
		return nil, fmt.Errorf("read block: %w", store.ErrCorrupt)
	}
	return s.Scanner.Next(ctx)
}

func (s *flakyScanner) Close() error {
	s.f.closed.Add(1)
	return s.Scanner.Close()
}

// An error in the middle of a scan ends it: to go on would be to leave out rows.
func TestAScanThatFailedStaysFailed(t *testing.T) {
	f := &flaky{Store: memory.New(memory.Options{})}
	d := openDoor(t, Options{Store: f}, door.Options{})
	tenRows(d)
	p := d.dial(forms[0])
	p.expect("scannerOpen", fields{1: "t", 2: ""}, "0")
	p.expect("scannerGetList", getList(0, 2), "[r0{cf:q=v0@1} r1{cf:q=v1@2}]")
	for range 2 {
		p.expect("scannerGetList", getList(0, 2), "IOError: org.apache.hadoop.hbase.io.hfile.CorruptHFileException: read block: store is damaged")
	}
	p.expect("scannerClose", fields{1: int32(0)}, "void")
	if f.opened.Load() != 1 || f.closed.Load() != 1 {
		t.Errorf("%d scanners were opened, %d closed", f.opened.Load(), f.closed.Load())
	}
}

// What a scan says is kept by the scanner: the bytes of the call are overwritten
// by the next ones.
func TestScannersKeepTheirOwnBytes(t *testing.T) {
	f := &flaky{Store: memory.New(memory.Options{})}
	d := openDoor(t, Options{Store: f}, door.Options{})
	tenRows(d)
	for _, form := range forms {
		p := d.dial(form)
		scan := fields{1: "r3", 2: "r5", 4: list{"cf:q", "cg"}, 7: int32(4), 10: false}
		id := p.call("scannerOpenWithScan", fields{1: "t", 2: scan}).(int32)
		p.expect("getRows", fields{1: "t", 2: repeat("zzzzzzzzzzzz", 50)}, "[]")
		p.expect("scannerGetList", getList(id, 2), "[r3{cf:q=v3@4} r4{cf:q=v4@5}]")
		s := f.scans[len(f.scans)-1]
		got := fmt.Sprintf("%s %s %d %v %s:%s %s:%s", s.Start, s.Stop, s.Batch, s.SkipCache,
			s.Select[0].Family, s.Select[0].Qualifiers, s.Select[1].Family, s.Select[1].Qualifiers)
		if got != "r3 r5 4 true cf:[q] cg:[]" || s.Select[1].Qualifiers != nil {
			t.Errorf("%s: the scan became %s", form, got)
		}
	}
}

// getRowOrBefore reads by a scan of one row, and closes it.
func TestGetRowOrBeforeClosesItsScan(t *testing.T) {
	f := &flaky{Store: memory.New(memory.Options{})}
	d := openDoor(t, Options{Store: f}, door.Options{})
	tenRows(d)
	p := d.dial(forms[0])
	p.expect("getRowOrBefore", fields{1: "t", 2: "r5x", 3: "cf"}, "[v5@6]")
	if f.opened.Load() != 1 || f.closed.Load() != 1 || f.scans[0].Limit != 1 {
		t.Errorf("%d scans opened, %d closed, limit %d", f.opened.Load(), f.closed.Load(), f.scans[0].Limit)
	}
}

// endless finds nothing any more behind the row r2, however long it looks, until
// it is told to.
type endless struct {
	store.Store
	found bool
}

type endlessScanner struct {
	store.Scanner
	e *endless
	n int
}

func (e *endless) Scan(ctx context.Context, table string, scan *cell.Scan) (store.Scanner, error) {
	s, err := e.Store.Scan(ctx, table, scan)
	return &endlessScanner{Scanner: s, e: e}, err
}

func (s *endlessScanner) Next(ctx context.Context) (*cell.Result, error) {
	if s.n == 3 && !s.e.found {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	s.n++
	return s.Scanner.Next(ctx)
}

// A fetch that finds too little in time is ended, and no row is lost.
func TestAFetchHasATimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endless{Store: memory.New(memory.Options{})}
		d := openDoor(t, Options{Store: e}, door.Options{})
		tenRows(d)
		p := d.dial(forms[0])
		began := time.Now()
		p.expect("scannerOpen", fields{1: "t", 2: ""}, "0")
		p.expect("scannerGetList", getList(0, 5), "IOError: java.io.InterruptedIOException: 3 rows were found within 1m0s: ask for less at a time; scanner 0 stands where it stood")
		if took := time.Since(began); took != DefaultFetchTimeout {
			t.Errorf("the fetch took %s", took)
		}
		p.expect("scannerGetList", getList(0, 3), "[r0{cf:q=v0@1} r1{cf:q=v1@2} r2{cf:q=v2@3}]")
		for range 2 {
			p.expect("scannerGet", fields{1: int32(0)}, "IOError: java.io.InterruptedIOException: no row was found within 1m0s: scanner 0 goes on from there, or scan a smaller range")
		}
		e.found = true
		p.expect("scannerGetList", getList(0, 2), "[r3{cf:q=v3@4} r4{cf:q=v4@5}]")
		p.expect("scannerClose", fields{1: int32(0)}, "void")
	})
}

// broken panics at the third row of a scan.
type broken struct{ store.Store }

type brokenScanner struct {
	store.Scanner
	n int
}

func (b broken) Scan(ctx context.Context, table string, scan *cell.Scan) (store.Scanner, error) {
	s, err := b.Store.Scan(ctx, table, scan)
	return &brokenScanner{Scanner: s}, err
}

func (s *brokenScanner) Next(ctx context.Context) (*cell.Result, error) {
	if s.n++; s.n == 3 {
		panic("our own fault")
	}
	return s.Scanner.Next(ctx)
}

// After a panic in a fetch nobody knows which rows were lost: the scanner says
// so, and can be closed.
func TestAScanThatPanickedIsNotGoneOnWith(t *testing.T) {
	d := openDoor(t, Options{Store: broken{memory.New(memory.Options{})}}, door.Options{})
	tenRows(d)
	p := d.dial(forms[0])
	p.expect("scannerOpen", fields{1: "t", 2: ""}, "0")
	p.expect("scannerGetList", getList(0, 3), "thrift application exception 6: Internal error processing scannerGetList")
	p.expect("scannerGetList", getList(0, 3), "IOError: java.io.IOException: an earlier fetch of this scanner broke off: open another")
	p.expect("scannerClose", fields{1: int32(0)}, "void")
}

// Closing the door closes the scanners that clients left open.
func TestShutdownClosesScanners(t *testing.T) {
	f := &flaky{Store: memory.New(memory.Options{})}
	d := openDoor(t, Options{Store: f}, door.Options{})
	tenRows(d)
	p := d.dial(forms[0])
	p.expect("scannerOpen", fields{1: "t", 2: ""}, "0")
	p.expect("scannerGet", fields{1: int32(0)}, "[r0{cf:q=v0@1}]")
	if err := d.door.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if f.opened.Load() != 1 || f.closed.Load() != 1 {
		t.Errorf("%d scanners were opened, %d closed", f.opened.Load(), f.closed.Load())
	}
	if err := d.handler.Close(t.Context()); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}
