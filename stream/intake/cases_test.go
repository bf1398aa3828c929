package intake

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cellardb/cellar/stream/schema"
)

// C61: arrays, objects over several lines, lines without an end. What a body is
// is found from its bytes.
func TestC61_FormsOfJSON(t *testing.T) {
	runCases(t, Options{}, 19, []readCase{
		{"k long", `[{"k":1},{"k":2}]`, "k=1\nk=2"},
		{"k long", " \r\n[ {\"k\" : 1}\t,\n{ \"k\":2 } ] \n", "k=1\nk=2"},
		{"k long", "{\n  \"k\": 1\n}\n{\n  \"k\": 2\n}", "k=1\nk=2"},
		{"k long", "{\n\"k\":1}{\"k\":2} {\"k\":3}", "k=1\nk=2\nk=3"},
		{"k long", `{"k":1}{"k":2}`, "k=1\nk=2"},
		{"k long", `{"k":1}`, "k=1"},
		{"k long", "{\"k\":1}\n{\"k\":2}\n", "k=1\nk=2"},
		{"k long", "{\"k\":1}\n\n \t\n\r\n{\"k\":2}\r\n{\"k\":3}", "k=1\nk=2\nk=3"},
		{"k long", "\n\n{\"k\":1}\n", "k=1"},
		{"k long", "\xEF\xBB\xBF{\"k\":1}\n", "k=1"},
		{"k long", "\xEF\xBB\xBF[{\"k\":1}]", "k=1"},
		{"k long", `[]`, ""},
		{"k long", " [ ] ", ""},
		{"k long", "", ""},
		{"k long", " \n\t\r ", ""},
		{"k long", "\xEF\xBB\xBF", ""},
		{"k long", `[{"k":1},5]`, "k=1\nrecord 1: it is not an object"},
		{"k long", `[null,"x",[{"k":3}],{"k":1},true,1.5]`,
			"k=1\nrecord 0: it is not an object\nrecord 1: it is not an object\nrecord 2: it is not an object\n" +
				"record 4: it is not an object\nrecord 5: it is not an object"},
		{"k long", "{\"k\":1}\n5\nnonsense\n{\"k\":2\n{\"k\":3} x\n\n{\"k\":4}\n",
			"k=1\nk=4\nrecord 1 (line 2): it is not an object\n" +
				"record 2 (line 3): it is not valid JSON at byte 0 of the line, \"nonsense\"\n" +
				"record 3 (line 4): the line ends in the middle of it\n" +
				"record 4 (line 5): the line goes on after it, at byte 8, \"x\""},
	})
}

// C62: a body that is cut off is an error of the whole body, wherever the cut is.
func TestC62_CutOff(t *testing.T) {
	s := stream(t, "k long, t text?, n double?")
	bodies := []struct {
		body string
		form Format
		// whole says at which lengths the body is whole.
		whole func(head string) bool
	}{
		{`[{"k":1,"t":"a\u00e9\"b","n":-1.5e3},{"k":2,"t":null},{"k":3}]`, JSON, func(head string) bool { return head == "" }},
		{"{\n\"k\":1,\"t\":\"a\"}{\"k\":2}\n{\"k\":3}", JSON, func(head string) bool {
			return strings.Count(head, "{") == strings.Count(head, "}")
		}},
		{"{\"k\":1,\"t\":\"a\"}\n{\"k\":2,\"n\":7}\n", JSON, func(head string) bool {
			return strings.Count(head, "{") == strings.Count(head, "}")
		}},
		{"{\"event\":{\"payloadData\":{\"k\":1},\"metaData\":null}}", JSON, func(head string) bool { return head == "" }},
		{"k,t,n\n1,\"a\"\"b\",2\n2,c,\n", CSV, func(head string) bool {
			if _, last, _ := cutLast(head, "\n"); strings.Contains(head, "\n") {
				return strings.Count(last, ",") == 2 && strings.Count(last, `"`)%2 == 0 || last == ""
			}
			return true // a header that is shorter is another header
		}},
	}
	cut := 0
	for _, b := range bodies {
		for n := range len(b.body) {
			head := b.body[:n]
			r, err := Parse(s, []byte(head), Options{Format: b.form})
			if b.form == CSV && !strings.Contains(head, "\n") {
				continue
			}
			if whole := b.whole(head); whole != (err == nil) {
				t.Errorf("%q: whole %v, error %v", head, whole, err)
			}
			if err == nil {
				continue
			}
			cut++
			var where *CutOffError
			if r != nil || !errors.Is(err, ErrCutOff) || errors.Is(err, ErrSyntax) || !errors.As(err, &where) || where.Offset != int64(n) {
				t.Errorf("%q: %v, %v", head, r, err)
			}
		}
	}
	if cut < 150 {
		t.Errorf("%d bodies were cut off", cut)
	}
	_, err := Parse(s, []byte(`[{"k":1},{"k":2},{"k":`), Options{})
	if err == nil || err.Error() != "body ends in the middle of record 2, after 22 bytes" {
		t.Errorf("%v", err)
	}
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", s, false
}

// C65: huge integers keep their digits.
func TestC65_HugeIntegers(t *testing.T) {
	const forty = "1234567890123456789012345678901234567890"
	ids := []string{"9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551615", forty}
	var body strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&body, "{\"id\":%s}\n", id)
	}
	open := stream(t, "open")
	if got, want := show(parse(t, open, body.String(), Options{}), open), "fields id:text\nid="+strings.Join(ids, "\nid="); got != want {
		t.Errorf("an open stream:\n%s", got)
	}
	four := strings.Join(strings.SplitAfter(body.String(), "\n")[:4], "")
	if got, want := show(parse(t, open, four, Options{}), open), "fields id:hugeint\nid="+strings.Join(ids[:4], "\nid="); got != want {
		t.Errorf("without the last:\n%s", got)
	}
	strict := stream(t, "id hugeint")
	want := "id=" + strings.Join(ids[:4], "\nid=") + "\nrecord 4 (line 5), field \"id\": number \"" + forty + "\" is too large for a field of type hugeint"
	if got := show(parse(t, strict, body.String(), Options{}), strict); got != want {
		t.Errorf("a strict stream:\n%s", got)
	}
	runCases(t, Options{}, 9, []readCase{
		{"id hugeint", `[{"id":340282366920938463463374607431768211456},{"id":999999999999999999999999999999999999999},{"id":9e38},{"id":4e38}]`,
			"record 0, field \"id\": number \"340282366920938463463374607431768211456\" is too large for a field of type hugeint\n" +
				"record 1, field \"id\": number \"999999999999999999999999999999999999999\" is too large for a field of type hugeint\n" +
				"record 2, field \"id\": number \"9e38\" is too large for a field of type hugeint\n" +
				"record 3, field \"id\": number \"4e38\" is too large for a field of type hugeint"},
		{"id hugeint", `{"id":170141183460469231731687303715884105727}`, "id=170141183460469231731687303715884105727"},
		{"id hugeint", `{"id":-170141183460469231731687303715884105728}`, "id=-170141183460469231731687303715884105728"},
		{"id hugeint", `{"id":170141183460469231731687303715884105728}`,
			`record 0 (line 1), field "id": number "170141183460469231731687303715884105728" is too large for a field of type hugeint`},
		{"id hugeint", `{"id":-170141183460469231731687303715884105729}`,
			`record 0 (line 1), field "id": number "-170141183460469231731687303715884105729" is too large for a field of type hugeint`},
		{"id long", `[{"id":9223372036854775808},{"id":-9223372036854775808}]`,
			"id=-9223372036854775808\nrecord 0, field \"id\": number \"9223372036854775808\" is too large for a field of type long"},
		{"id int", `[{"id":2147483648},{"id":-2147483648},{"id":-2147483649},{"id":2147483647}]`,
			"id=-2147483648\nid=2147483647\nrecord 0, field \"id\": number \"2147483648\" is too large for a field of type int\n" +
				"record 2, field \"id\": number \"-2147483649\" is too large for a field of type int"},
		// Digits that a double cannot hold meet a fraction: text, whichever came first.
		{"open", `[{"id":9007199254740993},{"id":1.5}]`, "fields id:text\nid=9007199254740993\nid=1.5"},
		{"open", `[{"id":1.5},{"id":9007199254740993}]`, "fields id:text\nid=1.5\nid=9007199254740993"},
	})
}

// C67: values that do not fit are named by field, type and value, and the other
// records are taken. Text that is a number fits a number.
func TestC67_TypesThatDoNotFit(t *testing.T) {
	const s = "name text, temp float, n int"
	runCases(t, Options{}, 3, []readCase{
		{s, `{"name":"a","temp":"5.0","n":"text"}`, `record 0 (line 1), field "n": text "text" does not fit a field of type int`},
		{s, `[{"name":"a","temp":"5.5","n":"7"},{"name":"b","temp":1,"n":"text"},{"name":"c","temp":-2e1,"n":3.0}]`,
			"name=a temp=5.5 n=7\nname=c temp=-20 n=3\nrecord 1, field \"n\": text \"text\" does not fit a field of type int"},
		{s, `[{"temp":1,"n":1},{"name":null,"temp":1,"n":1},{"name":"a","temp":1,"n":1,"more":2},{"name":5,"temp":1,"n":1}]`,
			"record 0, field \"name\": the field is missing or null, and it is not nullable\n" +
				"record 1, field \"name\": the field is missing or null, and it is not nullable\n" +
				"record 2, field \"more\": the stream has no such field\n" +
				"record 3, field \"name\": number \"5\" does not fit a field of type text"},
	})
}

// C68: nothing is learned from nulls.
func TestC68_FirstEventIsAllNulls(t *testing.T) {
	runCases(t, Options{}, 2, []readCase{
		{"open, time=ts, ts long", "{\"ts\":1700000000000,\"n\":null,\"s\":null}\n{\"ts\":1700000000001,\"n\":5,\"s\":\"x\"}",
			"fields ts:long n:long s:text\nts=1700000000000\nts=1700000000001 n=5 s=x"},
		{"open, time=ts, ts long", `{"ts":1700000000000,"n":null}`, "ts=1700000000000"},
	})
}

// C70: a key that turns up late, and then changes its type.
func TestC70_LateKeyOfSeveralTypes(t *testing.T) {
	var body strings.Builder
	const before = 100_000
	for i := range before {
		if i%2 == 0 {
			fmt.Fprintf(&body, "{\"id\":%d,\"flag\":null}\n", i)
		} else {
			fmt.Fprintf(&body, "{\"id\":%d}\n", i)
		}
	}
	body.WriteString("{\"id\":-1,\"flag\":\"PressureError\",\"extra\":true}\n{\"id\":-2,\"flag\":7}\n{\"id\":-3,}\n")
	s := stream(t, "open, id long")
	r := parse(t, s, body.String(), Options{})
	if r.Accepted != before+2 || r.Rejected != 1 || r.Rejects[0].Line != before+3 || r.Rejects[0].Index != before+2 {
		t.Fatalf("%d accepted, %d rejected, %v", r.Accepted, r.Rejected, r.Rejects)
	}
	if got := fmt.Sprint(r.Schema.Fields); got != "[{id long false false} {flag text true false} {extra bool true false}]" {
		t.Errorf("fields: %s", got)
	}
	flags := 0
	for row := range r.Accepted {
		if !r.Events.Columns[1].Null(row) {
			flags++
		}
		if r.Events.Columns[2].Null(row) != (row != before) {
			t.Fatalf("row %d: extra", row)
		}
	}
	v := &r.Events.Columns[1]
	if first, second := schema.AppendValue(nil, v, schema.Text, before), schema.AppendValue(nil, v, schema.Text, before+1); flags != 2 ||
		string(first) != "PressureError" || string(second) != "7" {
		t.Errorf("%d flags, %s, %s", flags, first, second)
	}
}

// C71: event times absent, null, in seconds, ms, µs and as text are one instant;
// without one it is the arrival, which is marked.
func TestC71_EventTimes(t *testing.T) {
	const want = "2023-11-14T22:13:20.123Z"
	second := strings.Replace(want, ".123", ".000", 1)
	times := []struct{ json, want string }{
		{`1700000000`, second},
		{`1700000000123`, want},
		{`1700000000123456`, want},
		{`1700000000123999999`, want},
		{`1700000000.123`, want},
		{`1700000000.1239`, want},
		{`1.700000000123e9`, want},
		{`1700000000123.9`, want},
		{`"1700000000123"`, want},
		{`"2023-11-14T22:13:20.123Z"`, want},
		{`"2023-11-14t22:13:20.123456789z"`, want},
		{`"2023-11-14 23:13:20.123+01:00"`, want},
		{`"2023-11-15T03:43:20.123+0530"`, want},
		{`"2023-11-14T14:13:20.123-08"`, want},
		{`"2023-11-14T22:13:20,123"`, want},
		{`"2023-11-14T22:13:20"`, second},
		{`"2023-11-14T22:13"`, strings.Replace(second, ":20.", ":00.", 1)},
		{`"2023-11-14"`, "2023-11-14T00:00:00.000Z"},
		{`-1700000000123`, "1916-02-18T01:46:39.877Z"},
		{`-1.5`, "1969-12-31T23:59:58.500Z"},
		{`-1700000000123456`, "1916-02-18T01:46:39.876Z"}, // cut off, not up
		// The last and the first number of a length.
		{`99999999999`, "5138-11-16T09:46:39.000Z"},
		{`100000000000`, "1973-03-03T09:46:40.000Z"},
		{`99999999999999`, "5138-11-16T09:46:39.999Z"},
		{`100000000000000`, "1973-03-03T09:46:40.000Z"},
		{`99999999999999999`, "5138-11-16T09:46:39.999Z"},
		{`100000000000000000`, "1973-03-03T09:46:40.000Z"},
	}
	for _, c := range times {
		for _, typ := range []string{"time", "long"} {
			s := stream(t, "time=ts, ts "+typ+"?")
			r := parse(t, s, `{"ts":`+c.json+`}`, Options{Arrival: 5})
			if r.Accepted != 1 || r.Undated != 0 {
				t.Errorf("%s: %s", c.json, show(r, s))
				continue
			}
			if got := string(schema.AppendTime(nil, r.Events.Columns[0].Int64s[0])); got != c.want {
				t.Errorf("%s as %s: %s, want %s", c.json, typ, got, c.want)
			}
		}
	}
	if len(times) != 27 {
		t.Errorf("%d times", len(times))
	}
	const missing = `[{"k":1},{"ts":null,"k":2},{"ts":0,"k":3},{"ts":"0","k":4},{"ts":7,"ts":null,"k":5},{"ts":1700000000123,"k":6}]`
	const arrivals = "ts=1600000000000 k=1 _undated=true\nts=1600000000000 k=2 _undated=true\nts=1600000000000 k=3 _undated=true\n" +
		"ts=1600000000000 k=4 _undated=true\nts=1600000000000 k=5 _undated=true\nts=1700000000123 k=6"
	o := Options{Arrival: 1_600_000_000_000}
	runCases(t, o, 4, []readCase{
		{"open, time=ts, ts long?, k int", missing, "fields ts:long k:int _undated:bool\n" + arrivals},
		{"time=ts, ts long?, k int, _undated bool?", missing, arrivals},
		{"time=ts, ts long?, k int", missing, strings.ReplaceAll(arrivals, " _undated=true", "")},
		{"time=ts, ts long", `[{},{"ts":null},{"ts":0},{"ts":"x"},{"ts":true}]`,
			"record 0, field \"ts\": the event time is missing, null or 0, and it is not nullable\n" +
				"record 1, field \"ts\": the event time is missing, null or 0, and it is not nullable\n" +
				"record 2, field \"ts\": the event time is missing, null or 0, and it is not nullable\n" +
				"record 3, field \"ts\": text \"x\" does not fit a field of type long\n" +
				"record 4, field \"ts\": boolean \"true\" does not fit a field of type long"},
	})
	s := stream(t, "time=ts, ts long?, k int")
	if r := parse(t, s, missing, o); r.Undated != 5 {
		t.Errorf("%d events are undated", r.Undated)
	}
	if r := parse(t, s, `[{"k":"x"},{}]`, o); r.Undated != 0 || r.Rejected != 2 {
		t.Errorf("rejected events are undated: %d", r.Undated)
	}
}
