package intake

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/stream/schema"
)

func addBodies(f *testing.F) {
	for _, b := range bodiesInParts {
		f.Add([]byte(b.body))
	}
	for _, body := range []string{
		`[]`, `{}`, `[{}]`, `{"a":[[[{"b":[]}]]]}`, `[{"a":1,"a":2}]`, `{"a":"\ud83d\ude00\ud83d"}`, `[{"a":1e400},{"a":-0}]`,
		"{\"a\":1}\n{\"a\":2", "\xEF\xBB\xBF[1]", `{"k":18446744073709551616}`, `{"a":{"b":{"c":null}}}`, "{\"a\":\"\xff\"}", `[{"a":9007199254740993},{"a":0.1}]`,
		sample,
	} {
		f.Add([]byte(body))
	}
}

// An array is read as encoding/json reads it: what it takes, what it refuses, and
// every value.
func FuzzJSON(f *testing.F) {
	addBodies(f)
	open := &schema.Schema{Name: "s", Version: 1, Open: true}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := Parse(open, body, Options{MaxErrors: 10_000})
		if err == nil {
			checkResult(t, open, r)
		} else if !errors.Is(err, ErrSyntax) && !errors.Is(err, ErrCutOff) && !errors.Is(err, ErrTooLarge) {
			t.Fatal(err)
		}
		text := bytes.TrimPrefix(body, []byte(byteOrderMark))
		begin := skipBlanks(text, 0)
		if begin == len(text) || text[begin] != '[' {
			return
		}
		words := bytes.Contains(text, []byte("NaN")) || bytes.Contains(text, []byte("Infinity"))
		deep := bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > 5000
		if valid := json.Valid(text); valid != (err == nil) && !words && !deep {
			t.Fatalf("encoding/json says %v, we say %v", valid, err)
		}
		if err != nil || words || deep || bytes.Contains(text, []byte(`"event"`)) { // WSO2's is apart
			return
		}
		compareWithOracle(t, text, r)
	})
}

func compareWithOracle(t *testing.T, text []byte, r *Result) {
	var records []any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&records); err != nil {
		t.Fatal(err)
	}
	if r.Accepted+r.Rejected != len(records) {
		t.Fatalf("%d accepted, %d rejected of %d", r.Accepted, r.Rejected, len(records))
	}
	rejected := map[int]bool{}
	for _, reject := range r.Rejects {
		rejected[reject.Index] = true
	}
	if hasTwins(text) {
		return // a map keeps the last of objects, we the last of each field
	}
	row := 0
	for i, record := range records {
		object, isObject := record.(map[string]any)
		if rejected[i] {
			continue
		}
		if !isObject {
			t.Fatalf("record %d is accepted: %v", i, record)
		}
		found := 0
		walkOracle(t, r, row, "", object, &found)
		for c := range r.Events.Columns {
			if !r.Events.Columns[c].Null(row) {
				found--
			}
		}
		if found != 0 {
			t.Fatalf("record %d has %d values more than its row", i, found)
		}
		row++
	}
}

// hasTwins says whether an object may have two keys that are the same field.
func hasTwins(text []byte) bool {
	if bytes.Contains(text, []byte(`\u`)) || bytes.Contains(text, []byte{'.'}) {
		return true // an escaped key, or a dot within one
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return twinsWithin(d)
}

func twinsWithin(d *json.Decoder) bool {
	token, err := d.Token()
	if err != nil {
		return true
	}
	twins, seen := false, map[string]bool{}
	switch token {
	case json.Delim('['):
		for d.More() {
			twins = twinsWithin(d) || twins
		}
		_, _ = d.Token()
	case json.Delim('{'):
		for d.More() {
			key, err := d.Token()
			name, _ := key.(string)
			if err != nil || seen[name] {
				twins = true
			}
			seen[name] = true
			twins = twinsWithin(d) || twins
		}
		_, _ = d.Token()
	}
	return twins
}

func walkOracle(t *testing.T, r *Result, row int, prefix string, object map[string]any, found *int) {
	for key, value := range object {
		name := prefix + key
		if inner, ok := value.(map[string]any); ok {
			walkOracle(t, r, row, name+".", inner, found)
			continue
		}
		if value == nil {
			continue
		}
		*found++
		i := r.Schema.Index(name)
		if i < 0 || r.Events.Columns[i].Null(row) {
			t.Fatalf("row %d: field %q is missing, it was %v", row, name, value)
		}
		typ := r.Schema.Fields[i].Type
		got := string(schema.AppendValue(nil, &r.Events.Columns[i], typ, row))
		if !sameValue(value, got) {
			t.Fatalf("row %d, field %q: %q as %s, it was %v", row, name, got, typ, value)
		}
	}
}

// sameValue says whether the text of a value is what encoding/json read.
func sameValue(value any, got string) bool {
	switch v := value.(type) {
	case bool:
		return got == strconv.FormatBool(v)
	case json.Number:
		return sameNumber(string(v), got)
	case string:
		return got == v || strings.EqualFold(got, v) || sameNumber(v, got)
	}
	return strings.HasPrefix(got, "[") // an array
}

// sameNumber compares numbers that may have been through a double.
func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	f, err1 := strconv.ParseFloat(a, 64)
	g, err2 := strconv.ParseFloat(b, 64)
	if err1 != nil || err2 != nil || f != g {
		return false
	}
	if strings.ContainsAny(a, ".eE") || math.Abs(f) <= 1<<53 {
		return true
	}
	// An integer keeps its digits, or was written by a double.
	return b == a || strconv.FormatFloat(f, 'f', -1, 64) == a || strconv.FormatFloat(f, 'f', 0, 64) == a
}

// CSV is read as encoding/csv reads it.
func FuzzCSV(f *testing.F) {
	for _, b := range bodiesInParts {
		if b.format == CSV {
			f.Add([]byte(b.body))
		}
	}
	f.Add([]byte("\"a\"\"b\nc\",d\n\n,\n\"\",\"\"\nx,\"y"))
	s := &schema.Schema{Name: "s", Version: 1, Fields: []schema.Field{{Name: "a", Type: schema.Text}, {Name: "b", Type: schema.Text}}}
	f.Fuzz(func(t *testing.T, rows []byte) {
		if bytes.ContainsRune(rows, '\r') {
			return // encoding/csv takes it from within quotes
		}
		r, err := Parse(s, append([]byte("a,b\n"), rows...), Options{Format: CSV})
		if err == nil {
			checkResult(t, s, r)
		} else if !errors.Is(err, ErrCutOff) {
			t.Fatal(err)
		}
		oracle := csv.NewReader(bytes.NewReader(rows))
		oracle.FieldsPerRecord = -1
		records, oracleErr := oracle.ReadAll()
		if oracleErr != nil {
			if err == nil && r.Rejected == 0 {
				t.Fatalf("encoding/csv says %v", oracleErr)
			}
			return
		}
		if err != nil {
			if last := records[len(records)-1]; len(last) >= 2 || bytes.HasSuffix(rows, []byte{'\n'}) {
				t.Fatalf("%v, the last row is %q", err, last)
			}
			return
		}
		row := 0
		for _, record := range records {
			if len(record) != 2 {
				continue
			}
			for c := range record {
				want := string(appendMended(nil, []byte(record[c])))
				if got := string(schema.AppendValue(nil, &r.Events.Columns[c], schema.Text, row)); got != want {
					t.Fatalf("row %d: %q, want %q", row, got, want)
				}
			}
			row++
		}
		if row != r.Accepted || len(records) != r.Accepted+r.Rejected {
			t.Fatalf("%d accepted, %d rejected of %d rows, %d of two values", r.Accepted, r.Rejected, len(records), row)
		}
	})
}

// Where the parts of a body end makes no difference.
func FuzzReader(f *testing.F) {
	for i, b := range bodiesInParts {
		f.Add([]byte(b.body), uint8(i), uint8(i), b.format == CSV)
	}
	fields := []schema.Field{
		{Name: "t", Type: schema.Time, Nullable: true}, {Name: "n", Type: schema.Int, Nullable: true},
		{Name: "s", Type: schema.Text, Nullable: true}, {Name: "meta_a", Type: schema.Double, Nullable: true},
		{Name: "b.c", Type: schema.Bool, Nullable: true}, {Name: "h", Type: schema.HugeInt, Nullable: true},
	}
	s := &schema.Schema{Name: "s", Version: 1, EventTime: "t", Fields: fields}
	f.Fuzz(func(t *testing.T, body []byte, buffer, rows uint8, isCSV bool) {
		o := Options{Arrival: 9, MaxText: 50, MaxErrors: 1000}
		if isCSV {
			o.Format = CSV
		}
		whole, wholeErr := Parse(s, body, o)
		r, _, err := inParts(t, s, string(body), o, int(buffer)+1, int(rows)+1)
		if wholeErr != nil {
			var a, b *SyntaxError
			if errors.As(err, &a) && errors.As(wholeErr, &b) { // the rest of the body is quoted, as far as it is there
				a, b = &SyntaxError{a.Offset, a.Line, a.Record, ""}, &SyntaxError{b.Offset, b.Line, b.Record, ""}
				err, wholeErr = a, b
			}
			if err == nil || err.Error() != wholeErr.Error() {
				t.Fatalf("in parts %v, whole %v", err, wholeErr)
			}
			return
		}
		if err != nil {
			t.Fatalf("in parts %v", err)
		}
		sameResult(t, s, r, whole)
	})
}

// Numbers are those of JSON, and their values those of strconv and math/big.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{
		"0", "-0", "1", "01", "-", "1.", ".5", "1e", "1e+", "1E-7", "123456789012345678901", "0.1", "9007199254740993", "1e22", "1e23",
		"1.7976931348623157e308", "2.2250738585072011e-308", "170141183460469231731687303715884105728", "-170141183460469231731687303715884105728",
		"100e-2", "0.000e5", "1e-400", "1e99999999999", "12345678901234567890e-19", "5e-324", "18446744073709551615", "18446744073709551616",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := numberOfText([]byte(s))
		valid := json.Valid([]byte(s)) && s[0] != ' ' && !strings.ContainsAny(s, "\"[{ntf \t\r\n")
		if ok != valid {
			t.Fatalf("%q is a number: %v", s, ok)
		}
		if !ok {
			return
		}
		raw := []byte(s)
		want, _ := strconv.ParseFloat(s, 64)
		if got := n.float(raw); math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%s: %v, want %v", s, got, want)
		}
		_, exponent, _ := strings.Cut(strings.ToLower(s), "e")
		if e, _ := strconv.Atoi(exponent); e > 1000 || e < -1000 || len(exponent) > 5 {
			return // not for math/big
		}
		exact, _ := new(big.Rat).SetString(s)
		compareInteger(t, s, exact)
	})
}

// The short way of reading a double gives what strconv gives.
func TestFloatsAreThoseOfStrconv(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		digits := strconv.FormatUint(r.Uint64()>>r.IntN(64), 10)
		point := r.IntN(len(digits))
		s := digits[:point] + "." + digits[point:]
		if point == 0 {
			s = "0" + s
		}
		if e := r.IntN(60) - 30; e != 0 {
			s += "e" + strconv.Itoa(e)
		}
		if len(s) > 2 && s[0] == '0' && s[1] != '.' {
			continue
		}
		n, ok := numberOfText([]byte(s))
		want, _ := strconv.ParseFloat(s, 64)
		if got := n.float([]byte(s)); !ok || got != want {
			t.Fatalf("%s: %v, want %v", s, got, want)
		}
	}
}

func compareInteger(t *testing.T, s string, exact *big.Rat) {
	v, size := integer([]byte(s))
	switch num := exact.Num(); {
	case !exact.IsInt():
		if size != fraction {
			t.Fatalf("%s is an integer of size %d", s, size)
		}
	case num.IsInt64():
		if size != within64 || v != schema.HugeOf(num.Int64()) {
			t.Fatalf("%s: %v, size %d", s, v, size)
		}
	case num.BitLen() <= 127 || num.Sign() < 0 && new(big.Int).Add(num, big.NewInt(1)).BitLen() <= 127:
		if got := string(schema.AppendHuge(nil, v)); size != within128 || got != num.String() {
			t.Fatalf("%s: %s, size %d", s, got, size)
		}
	default:
		if size != beyond || v != (store.HugeInt{}) {
			t.Fatalf("%s: %v, size %d", s, v, size)
		}
	}
	n, _ := numberOfText([]byte(s))
	if long, ok := n.long(); ok && (!exact.IsInt() || exact.Num().Cmp(big.NewInt(long)) != 0) {
		t.Fatalf("%s: long %d", s, long)
	}
}

// Times are those of package time.
func FuzzISOTime(f *testing.F) {
	for _, s := range []string{
		"2026-01-31T12:00:00.25+01:00", "2024-02-29 23:59:59Z", "2023-02-29T00:00:00Z", "1969-12-31T23:59:59.9999Z", "0000-03-01T00:00:00Z",
		"9999-12-31T23:59:59-23:59", "2000-02-29", "1900-02-29", "2026-01-01T24:00:00Z", "2026-01-01T00:00:60Z", "2026-1-1", "2026-01-01T1:00Z", "2026-01-01T00:00:00.Z",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ms, ok := isoTime([]byte(s))
		want, err := time.Parse(time.RFC3339Nano, s)
		if len(s) > 13 && s[13] != ':' {
			err = io.EOF // time takes an hour of one digit, ISO 8601 does not
		}
		if n := len(s); n > 5 && (s[n-5:n-3] == "24" || s[n-2:] == "60") {
			err = io.EOF // and such offsets
		}
		if err == nil && (!ok || ms != want.UnixMilli()) {
			t.Fatalf("%q: %d, %v, want %d", s, ms, ok, want.UnixMilli())
		}
		if err == nil || !ok {
			return
		}
		for _, layout := range []string{
			"2006-01-02", "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04Z0700", "2006-01-02T15:04Z07",
			"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07",
		} {
			canonical := []byte(strings.ToUpper(s))
			if len(canonical) > 10 {
				canonical[10] = 'T'
			}
			if want, err := time.Parse(layout, string(canonical)); err == nil {
				if want.UnixMilli() != ms {
					t.Fatalf("%q: %d, want %d", s, ms, want.UnixMilli())
				}
				return
			}
		}
		t.Fatalf("%q is taken for %d", s, ms)
	})
}

// The oracle of FuzzReader itself: io.EOF comes once all is read.
func TestReaderOfNothing(t *testing.T) {
	s := stream(t, "k long")
	for _, body := range []string{"", " \n ", "[]"} {
		if r, err := NewReader(s, strings.NewReader(body), Options{}).Next(5); r != nil || !errors.Is(err, io.EOF) {
			t.Errorf("%q: %v, %v", body, r, err)
		}
	}
}
