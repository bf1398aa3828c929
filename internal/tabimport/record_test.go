package tabimport

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// splitAll shows every record that a splitter finds, a line each.
func splitAll(t testing.TB, s splitter) string {
	t.Helper()
	var out strings.Builder
	var rec record
	for {
		err := s.next(&rec)
		if err == io.EOF {
			return out.String()
		}
		if err != nil {
			fmt.Fprintf(&out, "error: %v\n", err)
			return out.String()
		}
		fmt.Fprintf(&out, "%d", rec.line)
		if rec.lastLine != rec.line {
			fmt.Fprintf(&out, "-%d", rec.lastLine)
		}
		switch {
		case rec.fault != "":
			fmt.Fprintf(&out, " bad: %s: %q\n", rec.fault, rec.raw)
		case len(rec.names) > 0:
			for i := range rec.fields {
				fmt.Fprintf(&out, " %s=%q", rec.names[i], rec.fields[i])
			}
			out.WriteString("\n")
		default:
			fmt.Fprintf(&out, " %q\n", rec.fields)
		}
	}
}

// newSplitter makes one by a word: csv, tsv, ndjson, or two signs, separator and
// quote.
func newSplitter(kind string, r io.Reader, longest int) splitter {
	w := newWindow(r, 0, 1, longest)
	switch kind {
	case "ndjson":
		return &ndjson{w: w}
	case "csv":
		return &delimited{w: w, separator: ',', quote: '"'}
	case "tsv":
		return &delimited{w: w, separator: '\t'}
	}
	return &delimited{w: w, separator: kind[0], quote: kind[1]}
}

const nested65 = `{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":1`

// What is a record, where it stands, and what is none: with each line in one
// piece, and byte by byte.
func TestSplit(t *testing.T) {
	cases := []struct{ name, kind, in, want string }{
		{"nothing", "csv", "", ""},
		{"plain", "csv", "a,b\nc,d\n", "1 [\"a\" \"b\"]\n2 [\"c\" \"d\"]\n"},
		{"no line end at the end", "csv", "a,b\nc,d", "1 [\"a\" \"b\"]\n2 [\"c\" \"d\"]\n"},
		{"carriage returns", "csv", "a,b\r\nc,\"d\"\r\ne,f\r", "1 [\"a\" \"b\"]\n2 [\"c\" \"d\"]\n3 [\"e\" \"f\"]\n"},
		{"a carriage return inside is none", "csv", "a\rb,c\n", "1 [\"a\\rb\" \"c\"]\n"},
		{"byte order mark", "csv", "\xef\xbb\xbfa,b\n", "1 [\"a\" \"b\"]\n"},
		{"byte order mark before a quote", "csv", "\xef\xbb\xbf\"a\",b\n", "1 [\"a\" \"b\"]\n"},
		{"only a byte order mark", "csv", "\xef\xbb\xbf", ""},
		{"a mark further down is text", "csv", "a,b\n\xef\xbb\xbfa,b\n", "1 [\"a\" \"b\"]\n2 [\"\\ufeffa\" \"b\"]\n"},
		{"blank lines have numbers", "csv", "\n\r\na,b\n\nc,d\n\n", "3 [\"a\" \"b\"]\n5 [\"c\" \"d\"]\n"},
		{"empty fields", "csv", ",\n,,\n\"\",a\n", "1 [\"\" \"\"]\n2 [\"\" \"\" \"\"]\n3 [\"\" \"a\"]\n"},
		{"spaces stay", "csv", " a , b \n", "1 [\" a \" \" b \"]\n"},
		{"any bytes", "csv", "\x00\xff,\x80\n", "1 [\"\\x00\\xff\" \"\\x80\"]\n"},
		{"quoted", "csv", "\"a,b\",c\n\"say \"\"hi\"\"\",\"\"\"\"\n", "1 [\"a,b\" \"c\"]\n2 [\"say \\\"hi\\\"\" \"\\\"\"]\n"},
		{"line ends in quotes", "csv", "\"a\nb\r\nc\",d\ne,f\n", "1-3 [\"a\\nb\\r\\nc\" \"d\"]\n4 [\"e\" \"f\"]\n"},
		{"blank line in quotes", "csv", "\"a\n\nb\",c\n", "1-3 [\"a\\n\\nb\" \"c\"]\n"},
		{"a quote that is never closed costs one line", "csv", "a,\"b\nc,d\ne,f\n",
			"1 bad: the quote of field 2 is not closed: \"a,\\\"b\"\n2 [\"c\" \"d\"]\n3 [\"e\" \"f\"]\n"},
		{"text after a quote", "csv", "\"a\"b,c\nd,e\n", "1 bad: text after the closing quote of field 1: \"\\\"a\\\"b,c\"\n2 [\"d\" \"e\"]\n"},
		{"a quote inside a field", "csv", "a,5\" disk\nd,e\n", "1 bad: a quote inside field 2, which does not begin with one: \"a,5\\\" disk\"\n2 [\"d\" \"e\"]\n"},
		{"a stray quote meets a good one further down", "csv", "a,\"b\nc,d\n\"e\",f\n",
			"1 bad: text after the closing quote of field 2: \"a,\\\"b\"\n2 [\"c\" \"d\"]\n3 [\"e\" \"f\"]\n"},
		{"two stray quotes are one record", "csv", "a,\"b\nc,d\ne\",f\ng,h\n", "1-3 [\"a\" \"b\\nc,d\\ne\" \"f\"]\n4 [\"g\" \"h\"]\n"},
		{"closed at the very end", "csv", "a,\"b\"", "1 [\"a\" \"b\"]\n"},
		{"return after a quote at the very end", "csv", "a,\"b\"\r", "1 [\"a\" \"b\"]\n"},
		{"return after a quote, then text", "csv", "a,\"b\"\rc\nd,e\n", "1 bad: text after the closing quote of field 2: \"a,\\\"b\\\"\\rc\"\n2 [\"d\" \"e\"]\n"},
		{"too long", "csv", "a,b\n" + strings.Repeat("x", 100) + ",y\nc,d\n",
			"1 [\"a\" \"b\"]\n2 bad: longer than the limit of 80 bytes: \"" + strings.Repeat("x", 80) + "... (cut here: the line has 102 bytes)\"\n3 [\"c\" \"d\"]\n"},
		{"as long as it may be", "csv", strings.Repeat("x", 77) + ",y\nc,d\n", "1 [\"" + strings.Repeat("x", 77) + "\" \"y\"]\n2 [\"c\" \"d\"]\n"},
		{"the last line too long", "csv", strings.Repeat("x", 100), "1 bad: longer than the limit of 80 bytes: \"" + strings.Repeat("x", 80) + "... (cut here: the line has 100 bytes)\"\n"},
		{"too long in quotes", "csv", "a,\"" + strings.Repeat("line\n", 30) + "\",b\nc,d\n",
			"1 bad: the quote of field 2 is not closed within the limit of a line: \"a,\\\"line\"\n" + lines(2, 30, "[\"line\"]") +
				"31 bad: the quote of field 1 is not closed: \"\\\",b\"\n32 [\"c\" \"d\"]\n"},
		{"too long after quotes", "csv", "\"" + strings.Repeat("a\n", 30) + "\"," + strings.Repeat("x", 40) + "\nc,d\n",
			"1 bad: field 2 goes beyond the limit of a line: \"\\\"a\"\n" + lines(2, 30, "[\"a\"]") + "31 bad: the quote of field 1 is not closed: \"\\\"," + strings.Repeat("x", 40) + "\"\n32 [\"c\" \"d\"]\n"},
		{"tabs, no quoting", "tsv", "a\t\"b\nc\"\td\t\n", "1 [\"a\" \"\\\"b\"]\n2 [\"c\\\"\" \"d\" \"\"]\n"},
		{"other signs", "|'", "a|'b|''c'\n", "1 [\"a\" \"b|'c\"]\n"},
		{"objects", "ndjson", `{"a":"x","b":1.50,"c":true,"d":null,"e":[1, {"f":"]"}],"g":{"h":{"i":"j"},"k":-2e9},"l":{},"m":""}` + "\n",
			`1 a="x" b="1.50" c="true" e="[1, {\"f\":\"]\"}]" g.h.i="j" g.k="-2e9" m=""` + "\n"},
		{"escapes", "ndjson", `{"a\u0062":"\u00e9\n\"\\","c":"\ud83d\ude00\ud800"}` + "\n", "1 ab=\"é\\n\\\"\\\\\" c=\"😀\ufffd\"\n"},
		{"space everywhere", "ndjson", " { \"a\" : 1 , \"b\" : { \"c\" : [ ] } } \r\n", "1 a=\"1\" b.c=\"[ ]\"\n"},
		{"not objects", "ndjson", "{\"a\":1}\n[1]\n3\n{\"a\":}\nx\n{\"a\":2}{\n \n{\"a\":1}",
			"1 a=\"1\"\n2 bad: not a JSON object: \"[1]\"\n3 bad: not a JSON object: \"3\"\n4 bad: not JSON: \"{\\\"a\\\":}\"\n" +
				"5 bad: not JSON: \"x\"\n6 bad: not JSON: \"{\\\"a\\\":2}{\"\n7 bad: not JSON: \" \"\n8 a=\"1\"\n"},
	}
	for _, c := range cases {
		longest := 80
		if c.kind == "ndjson" {
			longest = 1000
		}
		for way, r := range map[string]io.Reader{"whole": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in)), "with the end": iotest.DataErrReader(strings.NewReader(c.in))} {
			if got := splitAll(t, newSplitter(c.kind, r, longest)); got != c.want {
				t.Errorf("%s, %s:\n got %s\nwant %s", c.name, way, got, c.want)
			}
		}
	}
	if len(cases) != 35 {
		t.Errorf("%d cases, want 35", len(cases))
	}
}

func lines(from, to int, what string) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "%d %s\n", i, what)
	}
	return b.String()
}

// Objects may be nested 64 deep and not deeper.
func TestSplit_nesting(t *testing.T) {
	in := nested65 + strings.Repeat("}", 65) + "\n" + nested65[5:] + strings.Repeat("}", 64) + "\n"
	want := "1 bad: objects nested deeper than 64: " + fmt.Sprintf("%q", nested65+strings.Repeat("}", 65)) + "\n" +
		"2 " + strings.Repeat("a.", 63) + "a=\"1\"\n"
	if got := splitAll(t, newSplitter("ndjson", strings.NewReader(in), 4096)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// What is small on disk must not be large in memory, nor take for ever: separators
// without end, with and without quotes, and long names of objects of many fields.
func TestSplit_hostile(t *testing.T) {
	const mib = 1 << 20
	name := strings.Repeat("n", mib/2)
	for in, want := range map[string]string{
		"csv " + strings.Repeat(",", mib):                                                "more than 65536 fields",
		"csv " + strings.Repeat(",", mib) + "\"x\"":                                      "more than 65536 fields",
		"csv " + strings.Repeat(",", maxFields-1) + strings.Repeat("x", mib) + ",\"x\"":  "more than 65536 fields",
		"csv " + strings.Repeat(",", maxFields-1) + "\"" + strings.Repeat("\"\"", mib/2): "text after the closing quote of field 65536",
		"csv " + strings.Repeat(",", maxFields-1):                                        "",
		"csv " + strings.Repeat(",", maxFields-2) + ",\"x\"":                             "",
		"ndjson {" + strings.Repeat(`"":1,`, maxFields) + `"":1}`:                        "more than 65536 fields",
		"ndjson {" + strings.Repeat(`"":1,`, maxFields-1) + `"":1}`:                      "",
		"ndjson {\"" + name + `":{` + strings.Repeat(`"":1,`, 100) + `"":1}}`:            "its names, joined, are longer than the limit of 2097152 bytes",
		"ndjson {\"" + name + `":{"a":1,"b":2}}`:                                         "",
		"ndjson {\"a\":" + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}":   "",
		"ndjson {\"a\":" + strings.Repeat("[", 90000) + strings.Repeat("]", 90000) + "}": "not JSON",
		"ndjson " + strings.Repeat("{\"a\":", 9000) + "1" + strings.Repeat("}", 9000):    "objects nested deeper than 64",
	} {
		kind, text, _ := strings.Cut(in, " ")
		s := newSplitter(kind, strings.NewReader(text+"\n{\"a\":\"b\"},\n"), 2*mib)
		var rec record
		if err := s.next(&rec); err != nil || rec.fault != want || len(rec.fields) > maxFields {
			t.Errorf("%.20s...: %d fields, %q, %v, want %q", in, len(rec.fields), rec.fault, err, want)
		}
		if err := s.next(&rec); err != nil || rec.line != 2 {
			t.Errorf("%.20s...: line %d comes after it, %v", in, rec.line, err)
		}
	}
}

// A stream that breaks gives what came whole before it, and its error, not half a
// line.
func TestSplit_brokenStream(t *testing.T) {
	for in, want := range map[string]string{
		"a,b\nc,d":      "1 [\"a\" \"b\"]\nerror: broken\n",
		"a,b\n":         "1 [\"a\" \"b\"]\nerror: broken\n",
		"":              "error: broken\n",
		"a,b\nc,\"d\"":  "1 [\"a\" \"b\"]\nerror: broken\n",
		"a,b\n\"c\nd\"": "1 [\"a\" \"b\"]\nerror: broken\n",
		"a,b\nc,\"d":    "1 [\"a\" \"b\"]\nerror: broken\n",
	} {
		r := io.MultiReader(strings.NewReader(in), iotest.ErrReader(fmt.Errorf("broken")))
		if got := splitAll(t, newSplitter("csv", r, 100)); got != want {
			t.Errorf("%q:\n got %s\nwant %s", in, got, want)
		}
	}
}

// What encoding/csv reads without complaint, is read alike; it puts "\n" for
// "\r\n" in quotes and leaves blank lines out.
func FuzzCSVAgainstStandardLibrary(f *testing.F) {
	for _, seed := range []string{"a,b\n", "\"a\"\"b\",\"c\nd\"\r\n", "a,\"b\n\nc\",\n", ",\r\n\"\"\n", "a\r,b\r\r\n", "\"a\r\"\n", "\"\"\"\"\r"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if strings.HasPrefix(in, "\xef\xbb\xbf") {
			return
		}
		std := csv.NewReader(strings.NewReader(in))
		std.FieldsPerRecord = -1
		want, err := std.ReadAll()
		if err != nil {
			return
		}
		s := newSplitter("csv", strings.NewReader(in), 1<<20)
		var rec record
		for i := 0; ; i++ {
			err := s.next(&rec)
			if err == io.EOF {
				if i != len(want) {
					t.Fatalf("%q: %d records, want %d", in, i, len(want))
				}
				return
			}
			if err != nil || rec.fault != "" || i >= len(want) || len(rec.fields) != len(want[i]) {
				t.Fatalf("%q: record %d is %q, %q, %v, want %q", in, i, rec.fields, rec.fault, err, want)
			}
			for k := range rec.fields {
				if got := strings.ReplaceAll(string(rec.fields[k]), "\r\n", "\n"); got != want[i][k] {
					t.Fatalf("%q: record %d, field %d is %q, want %q", in, i, k, got, want[i][k])
				}
			}
		}
	})
}

// Whatever comes, it comes to an end; records are the same however the bytes
// arrive; and each non-blank line is in one record, in order.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"a,\"b\nc\"d,e\n\n", "\"\n\"\n\"", "{\"a\":{\"b\":[1,\"]\"]}}\n{\"\":\"\\u12\"}\n", "\xef\xbb\xbf\"a", "x\r\ny\r", "\"a\"\r", strings.Repeat("\"a\"\"", 40)} {
		f.Add([]byte(seed), uint8(64))
	}
	f.Fuzz(func(t *testing.T, in []byte, longest uint8) {
		for _, kind := range []string{"csv", "tsv", "ndjson", ";'"} {
			limit := max(int(longest), 4)
			whole := splitAll(t, newSplitter(kind, bytes.NewReader(in), limit))
			if single := splitAll(t, newSplitter(kind, iotest.OneByteReader(bytes.NewReader(in)), limit)); single != whole {
				t.Fatalf("%s of %q:\n%s\nbyte by byte\n%s", kind, in, whole, single)
			}
			checkLines(t, newSplitter(kind, bytes.NewReader(in), limit), in, limit)
		}
	})
}

func checkLines(t *testing.T, s splitter, in []byte, limit int) {
	if bytes.HasPrefix(in, []byte("\xef\xbb\xbf")) {
		in = in[3:]
	}
	all := bytes.SplitAfter(in, newline)
	line := 1 // the next that no record had
	var rec record
	for s.next(&rec) == nil {
		for ; line < int(rec.line); line++ {
			if len(bytes.TrimRight(all[line-1], "\r\n")) > 0 {
				t.Fatalf("line %d of %q is in no record", line, in)
			}
		}
		if rec.line < int64(line) || rec.lastLine < rec.line || int(rec.lastLine) > len(all) {
			t.Fatalf("record on lines %d to %d of %q, after line %d", rec.line, rec.lastLine, in, line)
		}
		text := bytes.Join(all[rec.line-1:rec.lastLine], nil)
		text = trimLine(text)
		if strings.HasPrefix(rec.fault, "longer than") {
			kept, _, noted := bytes.Cut(rec.raw, []byte("... (cut here: the line has "))
			if !noted || len(kept) < len(text) && len(kept) < s.window().max-3 && len(kept) < shownOfLong-3 {
				t.Fatalf("of the long line %q this is kept: %q", text, rec.raw)
			}
			text, rec.raw = text[:min(len(text), len(kept))], kept
		}
		if !bytes.Equal(text, rec.raw) {
			t.Fatalf("record on lines %d to %d of %q is %q", rec.line, rec.lastLine, in, rec.raw)
		}
		line = int(rec.lastLine) + 1
	}
	for ; line <= len(all); line++ {
		if len(bytes.TrimRight(all[line-1], "\r\n")) > 0 {
			t.Fatalf("line %d of %q is in no record", line, in)
		}
	}
}

func trimLine(b []byte) []byte {
	b = bytes.TrimSuffix(b, newline)
	return bytes.TrimSuffix(b, []byte("\r"))
}

// The object that NDJSON makes is the one that encoding/json reads.
func FuzzNDJSONAgainstStandardLibrary(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, `{"a":{"b":"c\u0000"},"d":[{}],"e":null,"f":1e5,"":{"":""}}`, `{"a.b":1,"a":{"b":2}}`, "{\"\xff\":\"\xff\"}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if strings.ContainsAny(in, "\n") || strings.HasPrefix(in, "\xef\xbb\xbf") {
			return
		}
		var rec record
		err := newSplitter("ndjson", strings.NewReader(in), 1<<20).next(&rec)
		dec := json.NewDecoder(strings.NewReader(in))
		dec.UseNumber()
		var object map[string]json.RawMessage
		if !json.Valid([]byte(in)) || json.Unmarshal([]byte(in), &object) != nil || object == nil {
			if err == nil && rec.fault == "" {
				t.Fatalf("%q became %q", in, rec.fields)
			}
			return
		}
		if rec.fault != "" && strings.Contains(rec.fault, "nested") {
			return
		}
		if err != nil || rec.fault != "" {
			t.Fatalf("%q: %v %s", in, err, rec.fault)
		}
		var got []string
		for i := range rec.names {
			got = append(got, fmt.Sprintf("%q=%q", rec.names[i], rec.fields[i]))
		}
		want := flatten(t, "", json.RawMessage(in))
		if !slices.Equal(got, want) {
			t.Fatalf("%q:\n got %q\nwant %q", in, got, want)
		}
	})
}

// flatten is the same by encoding/json's tokens.
func flatten(t *testing.T, prefix string, raw json.RawMessage) (out []string) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			t.Fatal(err)
		}
		full := prefix + name.(string)
		switch {
		case value[0] == '{':
			out = append(out, flatten(t, full+".", value)...)
		case string(value) == "null":
		case value[0] == '"':
			var s string
			if err := json.Unmarshal(value, &s); err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprintf("%q=%q", full, s))
		default:
			out = append(out, fmt.Sprintf("%q=%q", full, string(value)))
		}
	}
	return out
}
