package intake

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cellardb/cellar/stream/schema"
)

// stream makes a schema of a definition in short: options, then fields as
// "name type", with ? after the type of a nullable one. An option is open,
// time=FIELD or key=FIELD.
func stream(tb testing.TB, text string) *schema.Schema {
	tb.Helper()
	s := &schema.Schema{Name: "s", Version: 1}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		name, typ, isField := strings.Cut(part, " ")
		switch {
		case part == "":
		case part == "open":
			s.Open = true
		case strings.HasPrefix(part, "time="):
			s.EventTime = part[len("time="):]
		case strings.HasPrefix(part, "key="):
			s.PrimaryKey = append(s.PrimaryKey, part[len("key="):])
		case isField:
			t, err := schema.ParseType(strings.TrimSuffix(typ, "?"))
			if err != nil {
				tb.Fatal(err)
			}
			s.Fields = append(s.Fields, schema.Field{Name: name, Type: t, Nullable: strings.HasSuffix(typ, "?")})
		default:
			tb.Fatalf("%q is no option", part)
		}
	}
	if err := s.Validate(); err != nil {
		tb.Fatal(err)
	}
	return s
}

// show writes a result: the fields and types of its schema where they are not
// those of before, a line for each event, and one for each rejected record.
func show(r *Result, before *schema.Schema) string {
	var b strings.Builder
	if !r.Schema.Equal(before) {
		b.WriteString("fields")
		for _, f := range r.Schema.Fields {
			fmt.Fprintf(&b, " %s:%s", f.Name, f.Type)
		}
		b.WriteByte('\n')
	}
	for row := range r.Events.Rows {
		var values []string
		for i := range r.Events.Columns {
			if v := &r.Events.Columns[i]; !v.Null(row) {
				f := r.Schema.Fields[i]
				values = append(values, f.Name+"="+string(schema.AppendValue(nil, v, f.Type, row)))
			}
		}
		if values == nil {
			values = []string{"(nothing)"}
		}
		b.WriteString(strings.Join(values, " "))
		b.WriteByte('\n')
	}
	for _, reject := range r.Rejects {
		b.WriteString(reject.String())
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// parse reads a body, and sees to it that the result keeps what it promises.
func parse(tb testing.TB, s *schema.Schema, body string, o Options) *Result {
	tb.Helper()
	r, err := Parse(s, []byte(body), o)
	if err != nil {
		tb.Fatalf("%.200s: %v", body, err)
	}
	checkResult(tb, s, r)
	return r
}

func checkResult(tb testing.TB, s *schema.Schema, r *Result) {
	tb.Helper()
	if err := r.Events.Check(r.Schema); err != nil {
		tb.Fatal(err)
	}
	if r.Accepted != r.Events.Rows || len(r.Rejects) > r.Rejected || r.Mended > r.Accepted || r.Undated > r.Accepted {
		tb.Fatalf("%d accepted, %d rows, %d rejected, %d listed, %d mended, %d undated",
			r.Accepted, r.Events.Rows, r.Rejected, len(r.Rejects), r.Mended, r.Undated)
	}
	for i := range r.Events.Columns {
		v, f := &r.Events.Columns[i], r.Schema.Fields[i]
		for row := range r.Events.Rows {
			if v.Null(row) && !f.Nullable {
				tb.Fatalf("field %q is null in row %d, and is not nullable", f.Name, row)
			}
		}
		if v.Nulls != nil && r.Events.Rows%64 != 0 && v.Nulls[len(v.Nulls)-1]>>(r.Events.Rows%64) != 0 {
			tb.Fatalf("field %q: nulls beyond the last row", f.Name)
		}
	}
	if !s.Open && r.Schema != s {
		tb.Fatal("the schema of a strict stream changed")
	}
	if !r.Schema.Equal(s) {
		if again, _, err := s.Evolve(r.Schema.Fields...); err != nil || !again.Equal(r.Schema) {
			tb.Fatalf("the schema did not come of Evolve: %v", err)
		}
	}
}

type readCase struct {
	stream, body, want string
}

func runCases(t *testing.T, o Options, count int, cases []readCase) {
	t.Helper()
	for i, c := range cases {
		s := stream(t, c.stream)
		if got := show(parse(t, s, c.body, o), s); got != strings.TrimSpace(c.want) {
			t.Errorf("case %d, %s\n%s\ngot:\n%s\nwant:\n%s", i, c.stream, c.body, got, c.want)
		}
	}
	if len(cases) != count {
		t.Errorf("%d cases, want %d", len(cases), count)
	}
}
