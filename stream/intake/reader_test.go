package intake

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/stream/schema"
)

// inParts reads a body by a Reader whose buffer is small, and joins the parts.
func inParts(tb testing.TB, s *schema.Schema, body string, o Options, buffer, rows int) (*Result, int, error) {
	tb.Helper()
	return joinParts(tb, newReader(s, strings.NewReader(body), o, buffer), rows)
}

// joinParts reads all that a Reader gives, rows at a time.
func joinParts(tb testing.TB, r *Reader, rows int) (*Result, int, error) {
	tb.Helper()
	all := &Result{Schema: r.Schema()}
	parts := 0
	for {
		before := r.Schema()
		part, err := r.Next(rows)
		if errors.Is(err, io.EOF) {
			if _, again := r.Next(rows); !errors.Is(again, io.EOF) {
				tb.Fatalf("after the end: %v", again)
			}
			return all, parts, nil
		}
		if err != nil {
			if _, again := r.Next(rows); again != err {
				tb.Fatalf("after an error: %v", again)
			}
			return all, parts, err
		}
		if part.Accepted > rows {
			tb.Fatalf("%d rows, not %d", part.Accepted, rows)
		}
		checkResult(tb, before, part)
		parts++
		join(tb, all, part)
	}
}

// join appends a part, the rows brought to its schema.
func join(tb testing.TB, all, part *Result) {
	tb.Helper()
	fitted := schema.Events{Rows: 0, Columns: nil}
	var err error
	if all.Events.Columns == nil {
		fitted, err = schema.Fit(schema.Events{Columns: emptyColumns(part.Schema)}, part.Schema, part.Schema)
	} else {
		fitted, err = schema.Fit(all.Events, all.Schema, part.Schema)
	}
	if err != nil {
		tb.Fatal(err)
	}
	for i, f := range part.Schema.Fields {
		c := column{v: fitted.Columns[i], field: f}
		v := &part.Events.Columns[i]
		for row := range part.Events.Rows {
			at := fitted.Rows + row
			if v.Null(row) {
				c.null(at)
				continue
			}
			if c.v.Nulls != nil && len(c.v.Nulls) <= at/64 {
				c.v.Nulls = append(c.v.Nulls, 0)
			}
			switch f.Type {
			case schema.Bool:
				c.v.Bools = append(c.v.Bools, v.Bools[row])
			case schema.Int:
				c.v.Int32s = append(c.v.Int32s, v.Int32s[row])
			case schema.Long, schema.Time:
				c.v.Int64s = append(c.v.Int64s, v.Int64s[row])
			case schema.HugeInt:
				c.v.Hugeints = append(c.v.Hugeints, v.Hugeints[row])
			case schema.Float:
				c.v.Float32s = append(c.v.Float32s, v.Float32s[row])
			case schema.Double:
				c.v.Float64s = append(c.v.Float64s, v.Float64s[row])
			default:
				c.v.Bytes = append(c.v.Bytes, v.Bytes[v.Offsets[row]:v.Offsets[row+1]]...)
				c.endText()
			}
		}
		c.finish(fitted.Rows + part.Events.Rows)
		fitted.Columns[i] = c.v
	}
	fitted.Rows += part.Events.Rows
	all.Events, all.Schema = fitted, part.Schema
	all.Accepted += part.Accepted
	all.Mended += part.Mended
	all.Undated += part.Undated
	all.Rejected += part.Rejected
	all.Rejects = append(all.Rejects, part.Rejects...)
}

// bodiesInParts are bodies whose reading must not hang on where the parts end.
// Types do not change within them: text that was a number is written anew when
// its part is over.
var bodiesInParts = []struct {
	stream, body string
	format       Format
}{
	{"time=t, t time?, n int?, s text?, d double?", `[{"t":1700000000,"n":1,"s":"aé\u00e9\ud800","d":1.25}, {"n":"x"}, 5, {"s":"\"","n":null} ,{"t":"2026-01-01"}]`, JSON},
	{"time=t, t time?, n int?, s text?, d double?", "{\"n\":1}\n\n{\"n\":}\n{\"s\":\"\xff\"}\r\n{\"n\":1,\"n\":2}\n7\n{\"d\":1e5,\"zz\":1}\n{\"n\":3}", JSON},
	{"time=t, t time?, n int?, s text?, d double?", "{\n\"n\":1} {\"n\":\n 2}{\"s\":\"x\"}12 {\"q\":[{}]}\n", JSON},
	{"n int?, s text?", "n,s\n1,\"a\nb\"\n\n2,\"\"\"\"\nx,y\n3\n\"z\"z,1\n,\xff\n4,last", CSV},
	{"open", "{\"a\":1}\n{\"b\":\"x\",\"a\":2}\n{\"c\":{\"d\":true}}\n{\"e\":NaN}\n{\"b\":\"y\"}\n", JSON},
	{"open", "a,b,c\n1,x,\n2,y,true\n,,\n", CSV},
	{"meta_a text?, n int?", `[{"event":{"metaData":{"a":1},"payloadData":{"n":1}}},{"event":{"payloadData":{"n":"x"}}},{"n":2}]`, JSON},
}

func TestReaderInPartsIsParse(t *testing.T) {
	checked := 0
	for _, b := range bodiesInParts {
		s := stream(t, b.stream)
		o := Options{Format: b.format, Arrival: 7}
		whole := parse(t, s, b.body, o)
		for buffer := 1; buffer <= len(b.body)+1; buffer++ {
			for _, rows := range []int{1, 2, 1000} {
				r, parts, err := inParts(t, s, b.body, o, buffer, rows)
				if err != nil {
					t.Fatalf("%q, buffer %d: %v", b.body, buffer, err)
				}
				if rows == 1 && parts < whole.Accepted {
					t.Errorf("%d parts of one row for %d", parts, whole.Accepted)
				}
				sameResult(t, s, r, whole)
				checked++
			}
		}
	}
	if checked < 1300 {
		t.Errorf("%d checks", checked)
	}
}

func sameResult(tb testing.TB, s *schema.Schema, r, whole *Result) {
	tb.Helper()
	got, want := *r.Schema, *whole.Schema
	got.Version, want.Version = 0, 0 // each part may make one
	if !got.Equal(&want) {
		tb.Fatalf("schema %+v, want %+v", got, want)
	}
	if a, b := show(r, r.Schema), show(whole, whole.Schema); a != b {
		tb.Fatalf("in parts:\n%s\nwhole:\n%s", a, b)
	}
	if r.Accepted != whole.Accepted || r.Mended != whole.Mended || r.Undated != whole.Undated || r.Rejected != whole.Rejected {
		tb.Fatalf("in parts %d %d %d %d, whole %d %d %d %d", r.Accepted, r.Mended, r.Undated, r.Rejected,
			whole.Accepted, whole.Mended, whole.Undated, whole.Rejected)
	}
}

// A body that is cut off gives the parts before the cut, and then the error; C62.
func TestC62_ReaderCutOff(t *testing.T) {
	s := stream(t, "k long")
	body := strings.Repeat("{\"k\":1}\n", 10) + `{"k":`
	r, parts, err := inParts(t, s, body, Options{}, 20, 3)
	if r.Accepted != 9 || parts != 3 || !errors.Is(err, ErrCutOff) {
		t.Errorf("%d accepted in %d parts, %v", r.Accepted, parts, err)
	}
	// The reader fails, though it is after a whole line.
	broken := errors.New("connection reset")
	for _, cause := range []error{broken, io.ErrUnexpectedEOF} {
		from := io.MultiReader(strings.NewReader("{\"k\":1}\n{\"k\":2}\n"), iotest.ErrReader(cause))
		_, err := newReader(s, from, Options{}, 100).Next(10)
		if !errors.Is(err, ErrCutOff) || !errors.Is(err, cause) ||
			err.Error() != "body ends in the middle of record 0, after 16 bytes: "+cause.Error() {
			t.Errorf("%v", err)
		}
	}
	if _, err := newReader(s, iotest.DataErrReader(strings.NewReader("{\"k\":1}\n")), Options{}, 100).Next(10); err != nil {
		t.Errorf("data and the end at once: %v", err)
	}
	if _, err := NewReader(s, idle{}, Options{}).Next(1); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a reader that gives nothing: %v", err)
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

// endless gives a text again and again.
type endless struct {
	text string
	at   int
	left int
}

func (e *endless) Read(b []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), e.left)], e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	e.left -= n
	return n, nil
}

// A line, a record and a header that do not end are not kept.
func TestReaderBoundsRecords(t *testing.T) {
	const most = 1000
	s := stream(t, "k long?, s text?")
	long := func(head, middle, tail string) io.Reader {
		return io.MultiReader(strings.NewReader(head), &endless{text: middle, left: 1 << 20}, strings.NewReader(tail))
	}
	cases := []struct {
		name   string
		body   io.Reader
		format Format
		want   string // the error, or what was read
	}{
		{"line", long("{\"k\":1}\n{\"s\":\"", "x", "\"}\n{\"k\":2}\n"), JSON, "k=1\nk=2\nrecord 1 (line 2): it is longer than 1000 bytes"},
		{"first line", long("{\"s\":\"", "x", "\"}\n{\"k\":2}\n"), JSON, "k=2\nrecord 0 (line 1): it is longer than 1000 bytes"},
		{"last line", long("{\"k\":1}\n{\"s\":\"", "x", ""), JSON, "k=1\nrecord 1 (line 2): it is longer than 1000 bytes"},
		{"object", long("{\n\"s\":\"", "x", "\"}"), JSON, "line 1, byte 0, record 0: the record is longer than 1000 bytes"},
		{"array", long("[{\"k\":1},{\"s\":\"", "x", "\"}]"), JSON, "line 1, byte 9, record 1: the record is longer than 1000 bytes"},
		{"nesting", long("[", "[", ""), JSON, "line 1, byte 1, record 0: the record is longer than 1000 bytes"},
		{"blanks", long("", " ", ""), JSON, "line 1, byte 1024, record 0: there are only blanks"},
		{"row", long("k,s\n1,a\n2,\"", "x\n", "3,c\n"), CSV, ""},
		{"quoted value on a line", long("k,s\n1,a\n2,\"", "x", "\"\n3,c\n"), CSV, "k=1 s=a\nk=3 s=c\nrecord 1 (line 3): it is longer than 1000 bytes"},
		{"header", long("k,\"", "x", "\"\n"), CSV, "line 1, byte 0, record 0: the header is longer than 1000 bytes"},
	}
	for _, c := range cases {
		r := newReader(s, c.body, Options{Format: c.format, MaxRecord: most, MaxErrors: 3}, 256)
		result, _, err := joinParts(t, r, 10)
		got := fmt.Sprint(err)
		if err == nil {
			got = show(result, s)
		}
		if c.want == "" { // the lines after the quote are rows with faults
			if err != nil || result.Rejected != 1<<19 || result.Accepted != 2 {
				t.Errorf("%s: %d accepted, %d rejected, %v", c.name, result.Accepted, result.Rejected, err)
			}
		} else if got != c.want {
			t.Errorf("%s: %.300s, want %s", c.name, got, c.want)
		}
		if n := cap(r.b.buf); n > 4*most {
			t.Errorf("%s: the buffer has %d bytes", c.name, n)
		}
	}
}

// Where memory is short, parts are shorter; nothing is lost or read twice.
func TestReaderMakesPartsThatFit(t *testing.T) {
	s := stream(t, "open, a long?")
	var body strings.Builder
	for i := range 50 {
		fmt.Fprintf(&body, "{\"a\":%d}\n{\"a\":\"x%d\"}\n{\"f%d\":1,\"g%d\":NaN}\n{\"f%d\":true}\n", i, i, i, i, i)
	}
	o := Options{MaxMemory: 1000}
	whole := parse(t, s, body.String(), Options{})
	r, parts, err := inParts(t, s, body.String(), o, 64, 1000)
	if err != nil || r.Accepted != 150 || r.Rejected != 50 || parts < 10 {
		t.Fatalf("%d accepted, %d rejected in %d parts, %v", r.Accepted, r.Rejected, parts, err)
	}
	if a, b := show(r, r.Schema), show(whole, whole.Schema); a != b {
		t.Errorf("in parts:\n%s\nwhole:\n%s", a, b)
	}
	if _, _, err := inParts(t, s, `{"b":1}`, Options{MaxMemory: 5}, 64, 1000); !errors.Is(err, ErrTooLarge) {
		t.Errorf("not one row fits: %v", err)
	}
}

// What a part learned of keys is not taken for true in the next.
func TestReaderForgetsDroppedFields(t *testing.T) {
	s := stream(t, "open")
	body := "{\"x\":NaN}\n{\"y\":NaN}\n{\"y\":NaN}\n{\"a\":1}\n{\"y\":1}\n"
	r, parts, err := inParts(t, s, body, Options{}, 1000, 1)
	if err != nil || parts != 2 || r.Rejected != 3 || !strings.HasPrefix(show(r, s), "fields a:long y:long\na=1\ny=1\n") {
		t.Errorf("%s, %d parts, %v", show(r, s), parts, err)
	}
}

func TestReaderForgetsDroppedColumnsOfCSV(t *testing.T) {
	s := stream(t, "open, key=k, k int")
	r, parts, err := inParts(t, s, "x,k\n5,bad\n,1\n7,2\n", Options{Format: CSV}, 1000, 1)
	if err != nil || parts != 2 || r.Rejected != 1 || !strings.HasPrefix(show(r, s), "fields k:int x:long\nk=1\nk=2 x=7\n") {
		t.Errorf("%s, %d parts, %v", show(r, s), parts, err)
	}
}

// An error is placed by the whole body, not by the buffer.
func TestReaderPlacesErrors(t *testing.T) {
	s := stream(t, "k int")
	_, _, err := inParts(t, s, "[\n\n{\"k\":1},\n{\"k\":2},\n\n x]", Options{}, 4, 1)
	var where *SyntaxError
	if !errors.As(err, &where) || where.Line != 6 || where.Offset != 23 || where.Record != 2 {
		t.Errorf("%v", err)
	}
}

// Texts count too: a part is read from a bounded number of bytes.
func TestReaderBoundsTexts(t *testing.T) {
	line := `{"s":"` + strings.Repeat("x", 90) + "\"}\n" // 99 bytes
	for name, body := range map[string]string{
		"lines": strings.Repeat(line, 100), "array": "[" + strings.Repeat(line[:98]+",", 99) + line + "]",
		"joined": "{\n}" + strings.Repeat(line, 99),
	} {
		r, parts, err := inParts(t, stream(t, "s text?"), body, Options{MaxRecord: 990}, 64, 1000)
		if err != nil || r.Accepted != 100 || parts != 10 {
			t.Errorf("%s: %d accepted in %d parts, %v", name, r.Accepted, parts, err)
		}
	}
	body := "s\n" + strings.Repeat(strings.Repeat("x", 98)+"\n", 100)
	r, parts, err := inParts(t, stream(t, "s text?"), body, Options{MaxRecord: 990, Format: CSV}, 64, 1000)
	if err != nil || r.Accepted != 100 || parts != 10 {
		t.Errorf("CSV: %d accepted in %d parts, %v", r.Accepted, parts, err)
	}
}

// Whoever stored a part under a version that another writer had a hand in goes
// on under it.
func TestReaderEvolve(t *testing.T) {
	s := stream(t, "open, a long?")
	r := newReader(s, strings.NewReader("{\"a\":1,\"c\":1}\n{\"a\":2,\"b\":\"x\",\"c\":2}\n"), Options{}, 64)
	if _, err := r.Next(1); err != nil {
		t.Fatal(err)
	}
	next, _, err := r.Schema().Evolve(schema.Field{Name: "b", Type: schema.Text, Nullable: true})
	if err != nil {
		t.Fatal(err)
	}
	r.Evolve(next)
	part, err := r.Next(1)
	if err != nil || part.Schema != next || show(part, next) != "a=2 c=2 b=x" {
		t.Errorf("%+v, %v", part, err)
	}
}

func emptyColumns(s *schema.Schema) []store.Vector {
	columns := make([]store.Vector, len(s.Fields))
	for i, f := range s.Fields {
		columns[i] = schema.NullVector(f.Type, 0)
		columns[i].Nulls = nil
	}
	return columns
}
