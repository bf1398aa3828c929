package tabimport

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/memory"
)

// began is when every import of the tests begins.
const began = 1700000000000

// newStore is an empty store with a table t of the families f and g.
func newStore(t testing.TB) store.Store {
	t.Helper()
	s := memory.New(memory.Options{})
	t.Cleanup(func() { s.Close() })
	schema := cell.TableSchema{Name: "t", Families: []cell.FamilySchema{cell.NewFamily("f"), cell.NewFamily("g")}}
	if err := s.CreateTable(context.Background(), schema, nil); err != nil {
		t.Fatal(err)
	}
	return s
}

// dump shows a table, a row a line; timestamps that are not began are shown.
func dump(t testing.TB, s store.Store, table string) string {
	t.Helper()
	ctx := context.Background()
	sc, err := s.Scan(ctx, table, &cell.Scan{})
	if err != nil {
		t.Fatal(err)
	}
	defer sc.Close()
	var out strings.Builder
	for {
		r, err := sc.Next(ctx)
		if err == io.EOF {
			return out.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%q", r.Row)
		for i := range r.Cells {
			c := &r.Cells[i]
			fmt.Fprintf(&out, " %s:%s=%q", c.Family, c.Qualifier, c.Value)
			if c.Timestamp != began {
				fmt.Fprintf(&out, "@%d", c.Timestamp)
			}
			if c.TTL != 0 {
				fmt.Fprintf(&out, "/%d", c.TTL)
			}
		}
		out.WriteString("\n")
	}
}

// testOptions are of an import into t, at the time began.
func testOptions(columns string, files ...string) Options {
	return Options{
		Table: "t", Files: files, Columns: columns, MaxBad: -1, Lanes: 3, BatchRows: 2,
		clock: func() time.Time { return time.UnixMilli(began) },
		sleep: func(context.Context, time.Duration) error { return nil },
	}
}

// inFolder writes files to a new folder that becomes the working folder.
func inFolder(t testing.TB, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// runImport imports into a store and shows what comes of it: rows, bad lines,
// the error.
func runImport(t testing.TB, o Options, s store.Store) string {
	t.Helper()
	var bad strings.Builder
	o.Report = func(b Bad) { fmt.Fprintln(&bad, b.String()) }
	im, err := New(o, &StoreTarget{Store: s, Label: "memory"})
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	r, err := im.Run(context.Background())
	out := dump(t, s, "t") + bad.String()
	if err != nil {
		out += "error: " + err.Error() + "\n"
	}
	if p := im.Progress(); p.Rows != r.Rows || p.Bad < r.Bad || p.Waiting {
		t.Errorf("the progress ends with %+v, the result is %+v", p, r)
	}
	if n := strings.Count(dump(t, s, "t"), "\n"); err == nil && int(r.Rows) < n {
		t.Errorf("%d rows are said to be stored, %d are there", r.Rows, n)
	}
	return out
}

// What lines become, case by case.
func TestImport(t *testing.T) {
	const key, two = "HBASE_ROW_KEY", "HBASE_ROW_KEY,f:a"
	long := strings.Repeat("k", cell.MaxRow+1)
	cases := []struct {
		name, columns, file, in, want string
		set                           func(*Options)
	}{
		{name: "as ImportTsv", columns: "HBASE_ROW_KEY,f:a,g:b", file: "x.tsv", in: "r1\t1\t2\nr2\t3\t4\n",
			want: "\"r1\" f:a=\"1\" g:b=\"2\"\n\"r2\" f:a=\"3\" g:b=\"4\"\n"},
		{name: "bad lines, as ImportTsv has them", columns: "HBASE_ROW_KEY,f:a,HBASE_TS_KEY", file: "x.tsv",
			in: "r1\t1\t5\nr2\nr3\t1\t5\t6\n\t1\t5\nr5\t1\tx\nr6\t1\nr7\t1\t-3\nr8\t1\t\nr9\t\t7\nra\t1\t9223372036854775807\n",
			want: "\"r1\" f:a=\"1\"@5\n\"r9\" f:a=\"\"@7\n" +
				"x.tsv:2: no separator\nx.tsv:3: 4 fields, 1 too many\nx.tsv:4: the row key is empty\n" +
				"x.tsv:5: invalid timestamp \"x\": want milliseconds since 1970\nx.tsv:6: no timestamp: field 3 is missing\n" +
				"x.tsv:7: negative timestamp -3\nx.tsv:8: invalid timestamp \"\": want milliseconds since 1970\n" +
				"x.tsv:10: invalid timestamp \"9223372036854775807\": want milliseconds since 1970\n"},
		{name: "a short line stores what it has", columns: "HBASE_ROW_KEY,f:a,f:b,f:c", file: "x.csv", in: "r1,1\nr2,1,2\n",
			want: "\"r1\" f:a=\"1\"\n\"r2\" f:a=\"1\" f:b=\"2\"\n"},
		{name: "the key comes too late", columns: "f:a,f:b,HBASE_ROW_KEY", file: "x.csv", in: "1,2\n1,2,r\n",
			want: "\"r\" f:a=\"1\" f:b=\"2\"\nx.csv:1: no row key: field 3 is missing\n"},
		{name: "a field is left out", columns: "HBASE_ROW_KEY,,f:a", file: "x.csv", in: "r,no,1\n", want: "\"r\" f:a=\"1\"\n"},
		{name: "empty fields", columns: "HBASE_ROW_KEY,f:a,f:b", file: "x.csv", in: "r1,,2\nr2,,\n",
			want: "\"r1\" f:a=\"\" f:b=\"2\"\n\"r2\" f:a=\"\" f:b=\"\"\n"},
		{name: "empty fields skipped", columns: "HBASE_ROW_KEY,f:a,f:b", file: "x.csv", in: "r1,,2\nr2,,\n", set: func(o *Options) { o.SkipEmpty = true },
			want: "\"r1\" f:b=\"2\"\nx.csv:2: no column has a value\n"},
		{name: "null", columns: "HBASE_ROW_KEY,f:a,f:b", file: "x.csv", in: "r1,NA,2\nr2,NA,NA\nNA,1,2\nr4,NAN,\n", set: func(o *Options) { o.Null = "NA" },
			want: "\"r1\" f:b=\"2\"\n\"r4\" f:a=\"NAN\" f:b=\"\"\nx.csv:2: no column has a value\nx.csv:3: no row key: field 1 is missing\n"},
		{name: "time to live", columns: "HBASE_ROW_KEY,f:a,HBASE_CELL_TTL", file: "x.csv", in: "r1,1,99999999999999\nr2,1,\nr3,1,0\nr4,1,-5\nr5,1,1h\nr6,1\n",
			want: "\"r1\" f:a=\"1\"/99999999999999\n\"r2\" f:a=\"1\"\n\"r3\" f:a=\"1\"\n" +
				"x.csv:4: invalid time to live \"-5\": want milliseconds\nx.csv:5: invalid time to live \"1h\": want milliseconds\nx.csv:6: no time to live: field 3 is missing\n"},
		{name: "header skipped", columns: two, file: "x.csv", in: "id,a\nr,1\n", set: func(o *Options) { o.Header = true }, want: "\"r\" f:a=\"1\"\n"},
		{name: "by name", columns: "HBASE_ROW_KEY=b+'/'+a,f:x=c,g:a", file: "x.csv", in: "a,b,c\n1,2,3\n4,5\n6\n7,8,9,10\n",
			want: "\"2/1\" f:x=\"3\" g:a=\"1\"\n\"5/4\" g:a=\"4\"\nx.csv:4: no row key: field b is missing\nx.csv:5: 4 fields, 1 too many\n"},
		{name: "all other fields", columns: "HBASE_ROW_KEY=id,g:b,f:*", file: "x.csv", in: "a,id,b,\"c,d\"\n1,r,2,3\n1,s\n",
			want: "\"r\" f:a=\"1\" f:c,d=\"3\" g:b=\"2\"\n\"s\" f:a=\"1\"\n"},
		{name: "a name that is not there", columns: "HBASE_ROW_KEY=id,f:q=zz", file: "x.csv", in: "id,a\nr,1\n",
			want: "error: x.csv: bad mapping of columns: the header has no \"zz\": it has id, a\n"},
		{name: "a name that is there twice", columns: "HBASE_ROW_KEY=id,f:a", file: "x.csv", in: "id,a,a\nr,1,2\n",
			want: "error: x.csv: bad mapping of columns: the header has \"a\" twice: use #2 or #3\n"},
		{name: "no header", columns: "HBASE_ROW_KEY=id,f:a", file: "x.csv", in: "", want: "error: x.csv: bad mapping of columns: there is no header: the file is empty\n"},
		{name: "a header that is no record", columns: "HBASE_ROW_KEY=id,f:a", file: "x.csv", in: "id,\"a\n",
			want: "error: x.csv: bad mapping of columns: the header is no record: the quote of field 2 is not closed\n"},
		{name: "by number", columns: "HBASE_ROW_KEY=#2+#1,f:a=#3", file: "x.csv", in: "1,2,3\n1,2\n1\n",
			want: "\"21\" f:a=\"3\"\nx.csv:2: no column has a value\nx.csv:3: no row key: field 2 is missing\n"},
		{name: "objects", columns: "HBASE_ROW_KEY=dev.id+'_'+n,HBASE_TS_KEY=t,f:*,g:tags", file: "x.ndjson",
			in: `{"dev":{"id":"d1","k":true},"n":7,"t":5,"tags":["a","b"],"no":null}` + "\n" + `{"n":7,"t":5,"x":1}` + "\n" + `{"dev":{"id":"d2"},"n":1,"t":1.5,"x":1}` + "\n[]\n" +
				`{"dev":{"id":"d3"},"n":1,"t":6,"a":{"b":{"c":"d"}}}` + "\n",
			want: "\"d1_7\" f:dev.k=\"true\"@5 g:tags=\"[\\\"a\\\",\\\"b\\\"]\"@5\n\"d3_1\" f:a.b.c=\"d\"@6\n" +
				"x.ndjson:2: no row key: field dev.id is missing\nx.ndjson:3: invalid timestamp \"1.5\": want milliseconds since 1970\nx.ndjson:4: not a JSON object\n"},
		{name: "a time of its own for all", columns: two, file: "x.csv", in: "r,1\n", set: func(o *Options) { o.Timestamp = 77 }, want: "\"r\" f:a=\"1\"@77\n"},
		{name: "the later of two lines wins", columns: two, file: "x.csv", in: strings.Repeat("r,1\ns,2\n", 9) + "r,8\ns,9\n", want: "\"r\" f:a=\"8\"\n\"s\" f:a=\"9\"\n"},
		{name: "keys and cells too large", columns: two, file: "x.csv", in: long + ",1\n" + long[1:] + ",1\n" + "r," + strings.Repeat("v", cell.MaxCell) + "\ns,1\n", set: func(o *Options) {},
			want: "\"" + long[1:] + "\" f:a=\"1\"\n\"s\" f:a=\"1\"\n" +
				"x.csv:1: the row key has 32768 bytes, more than 32767\nx.csv:3: column f:a has 10485760 bytes, more than a cell may have\n"},
		{name: "bad quotes", columns: two, file: "x.csv", in: "r1,\"1\nr2,2\n\"r3\n\",\"x\ny\"\n\"r4\",5\"\n",
			want: "\"r2\" f:a=\"2\"\n\"r3\\n\" f:a=\"x\\ny\"\nx.csv:1: text after the closing quote of field 2\nx.csv:6: a quote inside field 2, which does not begin with one\n"},
		{name: "a bad record of several lines", columns: two, file: "x.csv", in: "r1,1\nr2,\"a\nb\",c\nr3,3\n",
			want: "\"r1\" f:a=\"1\"\n\"r3\" f:a=\"3\"\nx.csv:2-3: 3 fields, 1 too many\n"},
		{name: "none tolerated", columns: two, file: "x.csv", in: "r1,1\nr2\nr3,3\n", set: func(o *Options) { o.MaxBad = 0 },
			want: "\"r1\" f:a=\"1\"\nx.csv:2: no separator\nerror: a line is bad, and none is tolerated\n"},
		{name: "one tolerated", columns: two, file: "x.csv", in: "r1\nr2,2\nr3\nr4,4\n", set: func(o *Options) { o.MaxBad = 1 },
			want: "\"r2\" f:a=\"2\"\nx.csv:1: no separator\nx.csv:3: no separator\nerror: 2 lines are bad, and 1 are tolerated\n"},
		{name: "a family that is not there", columns: "HBASE_ROW_KEY,h:a", file: "x.csv", in: "r,1\n", want: "error: Column family h does not exist in table 't'\n"},

		{name: "NDJSON has no order", columns: two, file: "x.ndjson", want: "error: bad mapping of columns: x.ndjson is NDJSON, whose fields have names and no order: write HBASE_ROW_KEY=NAME,f:a=NAME\n"},
		{name: "NDJSON has no numbers", columns: "HBASE_ROW_KEY=a,f:a=#2", file: "x.json", want: "error: bad mapping of columns: #2: fields of NDJSON (x.json) have no order, use their names\n"},
		{name: "no format", columns: two, file: "x.dat", want: "error: bad options: the name of x.dat does not say its format: set it to csv, tsv or ndjson\n"},
		{name: "a format that is none", columns: two, file: "x.csv", set: func(o *Options) { o.Format = "xls" }, want: "error: bad options: format \"xls\": want csv, tsv or ndjson\n"},
		{name: "one sign twice", columns: two, file: "x.csv", set: func(o *Options) { o.Separator = '"' }, want: "error: bad options: separator and quote are both \"\\\"\": set the quote to another sign, or to \"none\"\n"},
		{name: "no mapping", columns: key, file: "x.csv", want: "error: bad mapping of columns: it needs at least one column besides HBASE_ROW_KEY\n"},
		{name: "a file twice", columns: two, file: "x.csv", set: func(o *Options) { o.Files = append(o.Files, "x.csv") }, want: "error: bad options: x.csv is named twice\n"},
		{name: "a bad table", columns: two, file: "x.csv", set: func(o *Options) { o.Table = "-t" },
			want: "error: bad options: table \"-t\": Illegal first character <45> at 0. User-space table qualifiers can only start with 'alphanumeric characters' from any language: -t\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			inFolder(t, map[string]string{c.file: c.in})
			o := testOptions(c.columns, c.file)
			if c.set != nil {
				c.set(&o)
			}
			if got := runImport(t, o, newStore(t)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", shorten(got), shorten(c.want))
			}
		})
	}
	if len(cases) != 34 {
		t.Errorf("%d cases, want 34", len(cases))
	}
}

func shorten(s string) string {
	if len(s) > 4000 {
		return s[:4000] + "..."
	}
	return s
}

func packGzip(t testing.TB, text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func packZstd(t testing.TB, text string) string {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	return string(z.EncodeAll([]byte(text), nil))
}

// bzip2Text is "r3,3\n", packed by bzip2: Go cannot pack it.
const bzip2Text = "\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\x8e\x23\x3c\x4c\x00\x00\x02\x58\x80\x00\x10\x00\x04\x08\x00\x10\x00\x20\x00\x21\x8c\x83\x34\xd0\x82\xf1\x77\x24\x53\x85\x09\x08\xe2\x33\xc4\xc0"

// Several inputs, packed in every way, whatever their names say, and standard
// input among them, are one after the other.
func TestImport_packed(t *testing.T) {
	inFolder(t, map[string]string{
		"1.csv.gz": packGzip(t, "r1,1\n") + packGzip(t, "r1b,1"), "2.csv.zst": packZstd(t, "r2,2\n"),
		"4.csv": packGzip(t, "r4,4\n"), "8.csv": bzip2Text, "5.csv.gz": "r5,5\n", "6.csv": "", "7.csv": "BZh91 is no bzip2,7\n",
	})
	o := testOptions("HBASE_ROW_KEY,f:a", "1.csv.gz", "2.csv.zst", "-", "4.csv", "5.csv.gz", "6.csv", "7.csv", "8.csv")
	o.Format, o.Stdin = CSV, strings.NewReader(packGzip(t, "r0,0\nbad\n"))
	want := "\"BZh91 is no bzip2\" f:a=\"7\"\n\"r0\" f:a=\"0\"\n\"r1\" f:a=\"1\"\n\"r1b\" f:a=\"1\"\n\"r2\" f:a=\"2\"\n\"r3\" f:a=\"3\"\n\"r4\" f:a=\"4\"\n\"r5\" f:a=\"5\"\n-:2: no separator\n"
	if got := runImport(t, o, newStore(t)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What is cut off, or no file, ends the import with its name; what came before is
// stored.
func TestImport_unreadable(t *testing.T) {
	text := strings.Repeat("key,value\n", 1000) + "last,1\n"
	whole := packGzip(t, text)
	inFolder(t, map[string]string{"a.csv": "r,1\n", "cut.csv": whole[:len(whole)-9], "cut.gz": "\x1f\x8b\x08"})
	for file, want := range map[string]string{
		"cut.csv": "read input: cut.csv, line ", "cut.gz": "read input: open input cut.gz: ",
		"none.csv": "look at input: stat none.csv: no such file or directory", ".": "look at input: . is a folder",
	} {
		o := testOptions("HBASE_ROW_KEY,f:a", "a.csv", file)
		o.Format = CSV
		s := newStore(t)
		got := runImport(t, o, s)
		_, failure, _ := strings.Cut(got, "error: ")
		if !strings.HasPrefix(failure, want) {
			t.Errorf("%s: %s", file, got)
		}
		if stored := strings.Contains(got, "\"r\" f:a"); stored != strings.HasPrefix(file, "cut") {
			t.Errorf("%s: %s", file, got)
		}
	}
}

// A named pipe gives its bytes once: it is opened once.
func TestImport_namedPipe(t *testing.T) {
	inFolder(t, nil)
	if err := syscall.Mkfifo("x.csv", 0o600); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile("x.csv", []byte("r,1\n"), 0o600) }()
	o := testOptions("HBASE_ROW_KEY,f:a", "x.csv")
	if got := runImport(t, o, newStore(t)); got != "\"r\" f:a=\"1\"\n" {
		t.Error(got)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

// The table is made if it is to be, with the families of the mapping.
func TestImport_createsTable(t *testing.T) {
	inFolder(t, map[string]string{"x.csv": "r,1,2\n"})
	o := testOptions("HBASE_ROW_KEY,b:x,a:y", "x.csv")
	o.Table = "new"
	s := newStore(t)
	im, err := New(o, &StoreTarget{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := im.Run(context.Background()); !errors.Is(err, store.ErrTableNotFound) {
		t.Errorf("without create: %v", err)
	}
	o.Create = true
	for range 2 {
		if im, err = New(o, &StoreTarget{Store: s}); err != nil {
			t.Fatal(err)
		}
		if _, err := im.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if got := dump(t, s, "new"); got != "\"r\" a:y=\"2\" b:x=\"1\"\n" {
		t.Error(got)
	}
}

// Bad lines go to a file as they are, in their order, below the header, so that
// they can be put right.
func TestImport_badFile(t *testing.T) {
	inFolder(t, map[string]string{"x.csv": "id,a\r\nr1,1\nr2\n\"r3,3\nr4,\"a\nb\",5\n,6\nr7,7\n", "bad.csv": "old\n"})
	o := testOptions("HBASE_ROW_KEY=id,f:a", "x.csv")
	o.BadFile = "bad.csv"
	runImport(t, o, newStore(t))
	got, err := os.ReadFile("bad.csv")
	if want := "id,a\nr2\n\"r3,3\nr4,\"a\nb\",5\n,6\n"; err != nil || string(got) != want {
		t.Errorf("bad.csv holds %q, %v, want %q", got, err, want)
	}
	if err := os.WriteFile("y.csv", []byte("a,id\n1,r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Files = []string{"x.csv", "y.csv"}
	if got := runImport(t, o, newStore(t)); !strings.Contains(got, "error: y.csv: bad mapping of columns: its header is another one") {
		t.Error(got)
	}
	if left, err := filepath.Glob("*.cellar-import"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
