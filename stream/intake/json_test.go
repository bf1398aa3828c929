package intake

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cellardb/cellar/stream/schema"
)

func TestValuesOfAStrictStream(t *testing.T) {
	no := func(field, kind, value, typ string) string {
		return fmt.Sprintf("record 0 (line 1), field %q: %s %q does not fit a field of type %s", field, kind, value, typ)
	}
	runCases(t, Options{}, 59, []readCase{
		{"b bool", `{"b":true}`, "b=true"},
		{"b bool", `{"b":false}`, "b=false"},
		{"b bool", `{"b":"True"}`, "b=true"},
		{"b bool", `{"b":"FALSE"}`, "b=false"},
		{"b bool", `{"b":1}`, no("b", "number", "1", "bool")},
		{"b bool", `{"b":"yes"}`, no("b", "text", "yes", "bool")},
		{"b bool", `{"b":"tru"}`, no("b", "text", "tru", "bool")},
		{"b bool", `{"b":[]}`, no("b", "array", "[]", "bool")},
		{"i int", `{"i":-0}`, "i=0"},
		{"i int", `{"i":1e3}`, "i=1000"},
		{"i int", `{"i":1.50e1}`, "i=15"},
		{"i int", `{"i":0.00}`, "i=0"},
		{"i int", `{"i":0e99999999999}`, "i=0"},
		{"i int", `{"i":100E-2}`, "i=1"},
		{"i int", `{"i":2147483647.0}`, "i=2147483647"},
		{"i int", `{"i":1.5}`, no("i", "number", "1.5", "int")},
		{"i int", `{"i":1e-1}`, no("i", "number", "1e-1", "int")},
		{"i int", `{"i":1e10}`, `record 0 (line 1), field "i": number "1e10" is too large for a field of type int`},
		{"i int", `{"i":1e999}`, `record 0 (line 1), field "i": number "1e999" is beyond the range of a double, and so of a field of type int`},
		{"i int", `{"i":"12"}`, "i=12"},
		{"i int", `{"i":"012"}`, no("i", "text", "012", "int")},
		{"i int", `{"i":" 12"}`, no("i", "text", " 12", "int")},
		{"i int", `{"i":""}`, no("i", "text", "", "int")},
		{"i int", `{"i":"99999999999"}`, `record 0 (line 1), field "i": number "99999999999" is too large for a field of type int`},
		{"i int", `{"i":true}`, no("i", "boolean", "true", "int")},
		{"l long", `{"l":9007199254740993}`, "l=9007199254740993"},
		{"l long", `{"l":9.007199254740993e15}`, "l=9007199254740993"},
		{"l long", `{"l":00}`, `record 0 (line 1): it is not valid JSON at byte 5 of the line, "00}"`},
		{"h hugeint", `{"h":5}`, "h=5"},
		{"h hugeint", `{"h":1e38}`, "h=1" + strings.Repeat("0", 38)},
		{"h hugeint", `{"h":2e38}`, `record 0 (line 1), field "h": number "2e38" is too large for a field of type hugeint`},
		{"h hugeint", `{"h":0.5}`, no("h", "number", "0.5", "hugeint")},
		{"f float", `{"f":0.1}`, "f=0.1"},
		{"f float", `{"f":16777217}`, "f=16777216"},
		{"f float", `{"f":1.00000017881393432617187499}`, "f=1.0000001"}, // by way of a double it were 1.0000002
		{"f float", `{"f":3.4028235e38}`, "f=3.4028235e+38"},
		{"f float", `{"f":3.5e38}`, `record 0 (line 1), field "f": number "3.5e38" is beyond the range of a field of type float`},
		{"d double", `{"d":1e308}`, "d=1e+308"},
		{"d double", `{"d":5e-324}`, "d=5e-324"},
		{"d double", `{"d":1e-400}`, "d=0"},
		{"d double", `{"d":-0.0}`, "d=-0"},
		{"d double", `{"d":9007199254740993}`, "d=9007199254740992"},
		{"d double", `{"d":1e309}`, `record 0 (line 1), field "d": number "1e309" is beyond the range of a double, and so of a field of type double`},
		{"d double", `{"d":NaN}`, `record 0 (line 1), field "d": NaN is no number in JSON`},
		{"d double", `{"d":Infinity}`, `record 0 (line 1), field "d": Infinity is no number in JSON`},
		{"d double", `{"d":-Infinity}`, `record 0 (line 1), field "d": -Infinity is no number in JSON`},
		{"d double", `{"d":"NaN"}`, no("d", "text", "NaN", "double")},
		{"d double", `{"d":"1e5"}`, "d=100000"},
		{"s text", `{"s":"a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}`, "s=a\"\\/\b\f\n\r\té😀"},
		{"s text", `{"s":""}`, "s="},
		{"s text", `{"s":5}`, no("s", "number", "5", "text")},
		{"s text", `{"s":true}`, no("s", "boolean", "true", "text")},
		{"s text", `{"s":[1]}`, no("s", "array", "[1]", "text")},
		{"s text?", `{"s":{"x":1}}`, `record 0 (line 1), field "s.x": the stream has no such field`},
		{"s bytes", `{"s":"AAEC"}`, "s=\x00\x01\x02"},
		{"s bytes", `{"s":"AA="}`, no("s", "text", "AA=", "bytes")},
		{"s bytes", `{"s":7}`, no("s", "number", "7", "bytes")},
		{"t time", `{"t":"2026-13-01"}`, no("t", "text", "2026-13-01", "time")},
		{"t time", `{"t":true}`, no("t", "boolean", "true", "time")},
	})
}

func TestKeys(t *testing.T) {
	runCases(t, Options{}, 20, []readCase{
		// The last of several counts, whatever its type, null too.
		{"a int?, b text?", `[{"a":1,"a":2},{"a":1,"b":"x","a":null},{"b":"long","b":"s"},{"b":"x","b":null,"b":"y"},{"a":1}]`,
			"a=2\nb=x\nb=s\nb=y\na=1"},
		{"a int?", `[{"a":1,"a":"x"}]`, `record 0, field "a": text "x" does not fit a field of type int`},
		{"a bool?, c hugeint?, d float?, e double?", `[{"a":true,"a":false,"c":1,"c":2,"d":1,"d":2,"e":1,"e":2}]`, "a=false c=2 d=2 e=2"},
		// Any order, and keys with escapes.
		{"a int, b int", `[{"a":1,"b":2},{"b":3,"a":4},{"a":5,"b":6},{"\u0061":7,"\u0062":8}]`, "a=1 b=2\na=4 b=3\na=5 b=6\na=7 b=8"},
		{"a int?, ab int?", `[{"a":1},{"ab":2},{"a":3,"ab":4},{"ab":5,"a":6}]`, "a=1\nab=2\na=3 ab=4\na=6 ab=5"},
		{`a"b int, c\d int`, `[{"a\"b":1,"c\\d":2},{"a\"b":3,"c\\d":4}]`, `a"b=1 c\d=2` + "\n" + `a"b=3 c\d=4`},
		{`c\b int?`, `[{"c\\b":1},{"c\b":2}]`, "c\\b=1\nrecord 1, field \"c\\b\": the stream has no such field"},
		{"a int", `[{"a":1,"zz":null},{"a":2}]`, "a=2\nrecord 0, field \"zz\": the stream has no such field"},
		{"a.x int?, b.x int?", `[{"a":{"x":1}},{"b":{"x":2}}]`, "a.x=1\nb.x=2"},
		// What a rejected record did not have, the next one may have.
		{"a int?, b int", `[{},{"a":1,"b":2}]`, "a=1 b=2\nrecord 0, field \"b\": the field is missing or null, and it is not nullable"},
		{"a int?, b int", "[" + strings.Repeat(`{"b":1},`, 64) + "{}]", strings.Repeat("b=1\n", 64) + "record 64, field \"b\": the field is missing or null, and it is not nullable"},
		{"é int", `[{"é":1},{"\u00e9":2}]`, "é=1\né=2"},
		{"a int", `{"A":1}`, `record 0 (line 1), field "A": the stream has no such field`},
		// Objects are joined by dots.
		{"a.b int?, a.c.d text?, e int?", `[{"a":{"b":1,"c":{"d":"x"}},"e":2},{"e":3,"a":{"c":{"d":"y"},"b":4}},{"a.b":5},{"a":{}},{"a":null}]`,
			"a.b=1 a.c.d=x e=2\na.b=4 a.c.d=y e=3\na.b=5\n(nothing)\n(nothing)"},
		{"a int, a.b int", `[{"a":1,"a":{"b":2}},{"a":3,"a":{"b":4}}]`, "a=1 a.b=2\na=3 a.b=4"},
		{"a.b int", `{"a":{"x":1}}`, `record 0 (line 1), field "a.x": the stream has no such field`},
		{"_undated bool?, a int", `{"a":1,"_undated":true}`, `record 0 (line 1), field "_undated": the field is set by Cellar`},
		// A field event keeps its meaning.
		{"event.payloadData.x int", `{"event":{"payloadData":{"x":1}}}`, "event.payloadData.x=1"},
		{"event text?, x int", `{"event":{"payloadData":{"x":1}}}`, `record 0 (line 1), field "event.payloadData.x": the stream has no such field`},
		{"open", `[{"":1},{"a\u0000":1},{"` + strings.Repeat("k", 256) + `":1},{"ok":1}]`,
			"fields ok:long\nok=1\nrecord 0: a field needs a name\nrecord 1, field \"a\\x00\": field name \"a\\x00\" holds a control character\n" +
				"record 2, field \"" + strings.Repeat("k", 255) + "\": field name \"" + strings.Repeat("k", 40) + "\"... has 256 bytes; 255 is the most"},
	})
}

func TestOpenStreams(t *testing.T) {
	runCases(t, Options{}, 24, []readCase{
		{"open", `[{"i":1,"h":9223372036854775808,"d":1.0,"e":1e2,"b":true,"s":"x","a":[1, "é"],"n":null,"o":{"p":"q"}}]`,
			"fields i:long h:hugeint d:double e:double b:bool s:text a:text o.p:text\n" +
				`i=1 h=9223372036854775808 d=1 e=100 b=true s=x a=[1, "é"] o.p=q`},
		{"open", `[{"a":1},{"a":9223372036854775808},{"a":-1},{"a":5.0}]`, "fields a:hugeint\na=1\na=9223372036854775808\na=-1\na=5"},
		{"open", `[{"a":1},{"a":2.5},{"a":3}]`, "fields a:double\na=1\na=2.5\na=3"},
		{"open", `[{"a":1},{"a":2.0},{"a":3e0}]`, "fields a:long\na=1\na=2\na=3"},
		{"open", `[{"a":1.5},{"a":"x"},{"a":2.50},{"a":1e2},{"a":true},{"a":[]}]`, "fields a:text\na=1.5\na=x\na=2.50\na=1e2\na=true\na=[]"},
		{"open", `[{"a":true},{"a":"FALSE"},{"a":"no"},{"a":5}]`, "fields a:text\na=true\na=false\na=no\na=5"},
		{"open", `[{"a":true},{"a":5}]`, "fields a:text\na=true\na=5"},
		{"open", `[{"a":5},{"a":true}]`, "fields a:text\na=5\na=true"},
		{"open", `[{"a":5},{"a":"6"},{"a":"007"}]`, "fields a:text\na=5\na=6\na=007"},
		{"open", `[{"a":"5"},{"a":6}]`, "fields a:text\na=5\na=6"},
		{"open", `[{"a":9223372036854775808},{"a":0.5}]`, "fields a:text\na=9223372036854775808\na=0.5"},
		{"open", `[{"a":1.5},{"a":9223372036854775808}]`, "fields a:double\na=1.5\na=9223372036854776000"},
		{"open", `[{"a":1.5},{"a":9223372036854775809}]`, "fields a:text\na=1.5\na=9223372036854775809"},
		{"open", `[{"a":1.5},{"a":123456789012345680000}]`, "fields a:double\na=1.5\na=123456789012345680000"},
		{"open", `[{"a":1},{"a":1e400},{"b":1e400},{"b":NaN},{"b":[1,NaN]},{"a":2}]`,
			"fields a:long\na=1\na=2\n" +
				`record 1, field "a": number "1e400" is beyond the range of a double, and so of a field of type long` + "\n" +
				`record 2, field "b": number "1e400" is beyond the range of a double, and so of a field of type double` + "\n" +
				"record 3, field \"b\": NaN is no number in JSON\nrecord 4, field \"b\": NaN is no number in JSON"},
		// Declared types are kept as long as they can.
		{"open, i int", `[{"i":1},{"i":2147483648}]`, "fields i:long\ni=1\ni=2147483648"},
		{"open, i int", `[{"i":1},{"i":1.5}]`, "fields i:double\ni=1\ni=1.5"},
		{"open, f float", `[{"f":0.1},{"f":1e39}]`, "fields f:double\nf=0.10000000149011612\nf=1e+39"},
		{"open, t time", `[{"t":1700000000},{"t":"soon"}]`, "fields t:text\nt=2023-11-14T22:13:20.000Z\nt=soon"},
		{"open, x bytes", `[{"x":"AAEC"},{"x":"?"},{"x":1},{"x":[1]}]`,
			"x=\x00\x01\x02\nrecord 1, field \"x\": text \"?\" does not fit a field of type bytes\n" +
				"record 2, field \"x\": number \"1\" does not fit a field of type bytes\nrecord 3, field \"x\": array \"[1]\" does not fit a field of type bytes"},
		{"open, i int", `[{},{"i":null},{"x":1}]`,
			"record 0, field \"i\": the field is missing or null, and it is not nullable\n" +
				"record 1, field \"i\": the field is missing or null, and it is not nullable\n" +
				"record 2, field \"i\": the field is missing or null, and it is not nullable"},
		// The key and the event time keep their type.
		{"open, key=k, k int", `[{"k":1},{"k":"x"},{"k":1.5}]`,
			"k=1\nrecord 1, field \"k\": text \"x\" does not fit a field of type int\nrecord 2, field \"k\": number \"1.5\" does not fit a field of type int"},
		{"open, time=t, t time", `[{"t":1700000000},{"t":"x"}]`, "t=2023-11-14T22:13:20.000Z\nrecord 1, field \"t\": text \"x\" does not fit a field of type time"},
		{"open", `[{"a":1,"a":"x"},{"a":"y","b":{"c":1},"b":{"c":"z"}}]`, "fields a:text b.c:text\na=x\na=y b.c=z"},
	})
}

// A schema's version counts what the stream must know, and no more.
func TestOpenStreamVersions(t *testing.T) {
	s := stream(t, "open, a int?")
	if r := parse(t, s, `[{"a":1},{"b":null},{"c":{}}]`, Options{}); r.Schema != s {
		t.Errorf("nothing new: version %d", r.Schema.Version)
	}
	if r := parse(t, s, `[{"a":1},{"b":2},{"a":"x","c":1}]`, Options{}); r.Schema.Version != 2 || len(r.Schema.Fields) != 3 {
		t.Errorf("%+v", r.Schema)
	}
}

func TestMostFields(t *testing.T) {
	s := stream(t, "open")
	var body strings.Builder
	for i := range schema.MaxFields + 2 {
		fmt.Fprintf(&body, "{\"f%d\":1}\n", i)
	}
	body.WriteString(`{"f3":2}`)
	r := parse(t, s, body.String(), Options{})
	if r.Accepted != schema.MaxFields+1 || r.Rejected != 2 || len(r.Schema.Fields) != schema.MaxFields ||
		r.Rejects[1].Field != "f1001" || !strings.Contains(r.Rejects[1].Reason, "1000 fields already") {
		t.Errorf("%d accepted, %d fields, %v", r.Accepted, len(r.Schema.Fields), r.Rejects)
	}
}

func TestWSO2Events(t *testing.T) {
	const s = "meta_ip text?, correlation_id text?, house_id int, power float, is_peak bool?, _colour text?"
	runCases(t, Options{}, 12, []readCase{
		{s, `{"event": {"metaData": {"ip": "1.2.3.4"}, "correlationData": {"id": "a"}, "payloadData": {"house_id": 1, "power": 0.5, "is_peak": true}}}`,
			"meta_ip=1.2.3.4 correlation_id=a house_id=1 power=0.5 is_peak=true"},
		{s, `[{"event":{"payloadData":{"house_id":"1","power":"0.5","is_peak":"TRUE"}}},{"event":{"payloadData":{"house_id":2,"power":1},"metaData":null}}]`,
			"house_id=1 power=0.5 is_peak=true\nhouse_id=2 power=1"},
		{s, `{"event":{"metaData":{"ip":7},"correlationData":{"id":false},"payloadData":{"house_id":1,"power":1}}}`,
			"meta_ip=7 correlation_id=false house_id=1 power=1"},
		{s, `{"event":{"payloadData":{"house_id":1,"power":1},"arbitraryDataMap":{"colour":"red"}}}`, "house_id=1 power=1 _colour=red"},
		{s, `{"event":{"payloadData":{"house_id":1,"power":1},"arbitraryDataMap":{"size":"big"}}}`,
			`record 0 (line 1), field "_size": the stream has no such field`},
		{"open, x int", `{"event":{"payloadData":{"x":1},"arbitraryDataMap":{"size":"big"}}}`, "fields x:int _size:text\nx=1 _size=big"},
		{s, `{"event":{"payloadData":{"house_id":1,"power":1},"extra":{"x":1}}}`, `record 0 (line 1), field "extra": an event has no such section`},
		{s, `{"event":{"payloadData":{"house_id":1,"power":1}},"other":[{"x":1}]}`, `record 0 (line 1), field "event": the object holds more than the event`},
		{s, `{"event":{"payloadData":[1]}}`, `record 0 (line 1), field "payloadData": the section is not an object`},
		{s, `{"event":{"payloadData":{"power":1}}}`, `record 0 (line 1), field "house_id": the field is missing or null, and it is not nullable`},
		// Another object named event is one within an event.
		{"open", `{"event":{"x":1}}`, "fields event.x:long\nevent.x=1"},
		{"open", `[{"event":5},{"event":{}}]`, "fields event:long\nevent=5\n(nothing)"},
	})
	// The first event that is not nested says nothing about the next.
	runCases(t, Options{}, 1, []readCase{
		{"x int, t text?", `[{"event":{"payloadData":{"x":1,"t":2}}},{"x":1,"t":2}]`,
			"x=1 t=2\nrecord 1, field \"t\": number \"2\" does not fit a field of type text"},
	})
}

func TestMendedText(t *testing.T) {
	cases := []struct{ body, want string }{
		{`{"s":"a\ud800b"}`, "a\uFFFDb"},
		{`{"s":"\udc00"}`, "\uFFFD"},
		{`{"s":"\ud800\ud800"}`, "\uFFFD\uFFFD"},
		{`{"s":"\ud800\n"}`, "\uFFFD\n"},
		{`{"s":"\ud800\u0041"}`, "\uFFFDA"},
		{"{\"s\":\"a\xffb\"}", "a\uFFFDb"},
		{"{\"s\":\"\xe2\x82\"}", "\uFFFD\uFFFD"},
		{"{\"s\":\"\xc0\x80\"}", "\uFFFD\uFFFD"},
		{"{\"s\":\"\xed\xa0\x80\"}", "\uFFFD\uFFFD\uFFFD"},
		{"{\"s\":\"12345678\xff12345678é\"}", "12345678\uFFFD12345678é"},
		{"{\"s\":\"\xff23456789012345678901234\"}", "\uFFFD23456789012345678901234"},
	}
	s := stream(t, "s text, n int?")
	for _, c := range cases {
		var oracle struct{ S string }
		if err := json.Unmarshal([]byte(c.body), &oracle); err != nil || oracle.S != c.want {
			t.Errorf("%q: encoding/json reads %q, %v", c.body, oracle.S, err)
		}
		r := parse(t, s, c.body, Options{})
		if got := show(r, s); got != "s="+c.want || r.Mended != 1 {
			t.Errorf("%q: %q, mended %d", c.body, got, r.Mended)
		}
	}
	for body, mended := range map[string]int{
		`[{"s":"é"},{"s":"\u00e9\ufffd"},{"s":"😀"}]`:                        0,
		"[{\"s\":\"\xff\",\"s\":\"\xff\"},{\"s\":\"ok\"},{\"s\":\"\xff\"}]": 2,
		"[{\"s\":\"\xff\",\"n\":\"x\"},{\"s\":\"\xff\"}]":                   1, // the first is rejected
	} {
		if r := parse(t, s, body, Options{}); r.Mended != mended {
			t.Errorf("%q: mended %d, want %d", body, r.Mended, mended)
		}
	}
	open := stream(t, "open")
	if r := parse(t, open, "{\"k\xff\":[\"\xff\"]}", Options{}); r.Mended != 1 || show(r, open) != "fields k\uFFFD:text\nk\uFFFD=[\"\uFFFD\"]" {
		t.Errorf("%q, mended %d", show(r, open), r.Mended)
	}
}

func TestBounds(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	runCases(t, Options{MaxText: 5, MaxDepth: 3}, 6, []readCase{
		{"s text", `[{"s":"12345"},{"s":"123456"},{"s":"1234\u00e9"},{"s":"12\u00e93"}]`,
			"s=12345\ns=12é3\nrecord 1, field \"s\": the text has 6 bytes; 5 is the most\nrecord 2, field \"s\": the text has 6 bytes; 5 is the most"},
		{"open", `[{"s":[1,2]},{"s":[1,20]}]`, "fields s:text\ns=[1,2]\nrecord 1, field \"s\": the array has 6 bytes; 5 is the most"},
		{"open", deep(3), "fields a.a.a:long\na.a.a=1"},
		{"open", deep(4), "record 0 (line 1), field \"a.a.a\": objects lie deeper than 3 in the event"},
		{"open", `[{"x":1},` + deep(100_000) + `,{"x":2}]`, "fields x:long\nx=1\nx=2\nrecord 1, field \"a.a.a\": objects lie deeper than 3 in the event"},
		{"open", `[{"` + strings.Repeat("k", 300) + `":{"x":1}}]`, `record 0, field "` + strings.Repeat("k", 255) + `": names of objects within objects are too long`},
	})
	// Arrays have no bound of depth, and take no stack.
	s := stream(t, "open")
	body := `{"a":` + strings.Repeat("[", 400_000) + strings.Repeat("]", 400_000) + "}"
	if r := parse(t, s, body, Options{}); r.Accepted != 1 || len(r.Events.Columns[0].Bytes) != 800_000 {
		t.Errorf("%d accepted", r.Accepted)
	}
	if r := parse(t, s, `{"s":"`+strings.Repeat("x", 1<<20)+`"}`, Options{}); r.Accepted != 1 {
		t.Errorf("a text of 1 MiB: %v", r.Rejects)
	}
	if r := parse(t, s, `{"s":"`+strings.Repeat("x", 1<<20+1)+`"}`, Options{}); r.Rejected != 1 {
		t.Error("a text of 1 MiB and a byte")
	}
}

func TestListOfRejectsIsBounded(t *testing.T) {
	s := stream(t, "k int")
	r := parse(t, s, strings.Repeat("{\"k\":\"x\"}\n{\"k\":1}\n", 1000), Options{MaxErrors: 7})
	if r.Rejected != 1000 || r.Accepted != 1000 || len(r.Rejects) != 7 || r.Rejects[6].Index != 12 || r.Rejects[6].Line != 13 {
		t.Errorf("%d rejected, %d accepted, %v", r.Rejected, r.Accepted, r.Rejects)
	}
	r = parse(t, s, "{\"k\":\""+strings.Repeat("é", 1000)+"\"}", Options{})
	if got := r.Rejects[0].Reason; got != `text "`+strings.Repeat("é", 20)+`"... (2000 bytes) does not fit a field of type int` {
		t.Errorf("%s", got)
	}
}

func TestSyntaxErrors(t *testing.T) {
	cases := []struct {
		body, want string
	}{
		{`nonsense`, `line 1, byte 0, record 0: it begins with 'n'; an object or an array of objects is expected`},
		{"\n 5", `line 2, byte 2, record 0: it begins with '5'; an object or an array of objects is expected`},
		{`[{"k":1}{"k":2}]`, `line 1, byte 8, record 1: a comma or the end of the array is missing before "{\"k\":2}]"`},
		{"[{\"k\":1},\n]", `line 2, byte 10, record 1: it is not valid JSON: "]"`},
		{`[,{"k":1}]`, `line 1, byte 1, record 0: it is not valid JSON: ",{\"k\":1}]"`},
		{`[{"k":1}] x`, `line 1, byte 10, record 1: the body goes on after the array: "x"`},
		{`[{"k":1}][]`, `line 1, byte 9, record 1: the body goes on after the array: "[]"`},
		{"[{\"k\":1},\n{\"k\":tru}]", `line 2, byte 15, record 1: it is not valid JSON: "tru}]"`},
		{`[{"k":1},{k:1}]`, `line 1, byte 10, record 1: it is not valid JSON: "k:1}]"`},
		{`[{"k" 1}]`, `line 1, byte 2, record 0: it is not valid JSON: "\"k\" 1}]"`},
		{"{\n\"k\":1}\n{\"k\":\n01}", `line 4, byte 15, record 1: it is not valid JSON: "01}"`},
		{"{\n\"k\":1}\n}", `line 3, byte 9, record 1: it is not valid JSON: "}"`},
		{"[\"a\tb\"]", `line 1, byte 1, record 0: it is not valid JSON: "\"a\tb\"]"`},
		{"[\"abcdefgh\tabcdefgh\"]", `line 1, byte 1, record 0: it is not valid JSON: "\"abcdefgh\tabcdefgh\"]"`},
		{`[{"x":"k","k":[1}}]`, `line 1, byte 15, record 0: it is not valid JSON: "1}}]"`},
		{`[{"k":"\x"}]`, `line 1, byte 6, record 0: it is not valid JSON: "\"\\x\"}]"`},
		{`[{"k":"\u12g4"}]`, `line 1, byte 6, record 0: it is not valid JSON: "\"\\u12g4\"}]"`},
		{`[{"x":"k"},{"k":1.}]`, `line 1, byte 16, record 1: it is not valid JSON: "1.}]"`},
	}
	s := stream(t, "k int?")
	for _, c := range cases {
		r, err := Parse(s, []byte(c.body), Options{})
		var where *SyntaxError
		if r != nil || !errors.Is(err, ErrSyntax) || errors.Is(err, ErrCutOff) || !errors.As(err, &where) || err.Error() != c.want {
			t.Errorf("%q:\n%v, want\n%s", c.body, err, c.want)
		}
	}
	if len(cases) != 18 {
		t.Errorf("%d cases", len(cases))
	}
}

func TestMemoryIsBounded(t *testing.T) {
	s := stream(t, "a long?, b long?")
	body := strings.Repeat("{}\n", 100)
	if r := parse(t, s, body, Options{MaxMemory: 1600}); r.Accepted != 100 {
		t.Errorf("%d accepted", r.Accepted)
	}
	if _, err := Parse(s, []byte(body), Options{MaxMemory: 1599}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%v", err)
	}
	// Bad records take none.
	if r := parse(t, s, body+strings.Repeat("5\n", 100), Options{MaxMemory: 1600}); r.Rejected != 100 {
		t.Errorf("%d rejected", r.Rejected)
	}
	// A field of an open stream takes memory for the rows before it.
	open := stream(t, "open, a long?")
	body = strings.Repeat("{}\n", 100) + `{"b":1}`
	if r := parse(t, open, body, Options{MaxMemory: 1616}); r.Accepted != 101 {
		t.Errorf("%d accepted", r.Accepted)
	}
	if _, err := Parse(open, []byte(body), Options{MaxMemory: 1600}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%v", err)
	}
}

// What is handed over does not hang on the body.
func TestResultDoesNotReferToTheBody(t *testing.T) {
	s := stream(t, "open, t text")
	body := []byte(`[{"t":"abc","n":"def","a":[1],"k":5},{"t":1e5}]`)
	r, err := Parse(s, body, Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := show(r, s)
	for i := range body {
		body[i] = '#'
	}
	if after := show(r, s); before != after {
		t.Errorf("%s\nbecame\n%s", before, after)
	}
}
