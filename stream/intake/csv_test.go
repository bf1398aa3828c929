package intake

import (
	"errors"
	"strings"
	"testing"
)

func TestCSV(t *testing.T) {
	csv := Options{Format: CSV}
	runCases(t, csv, 25, []readCase{
		{"a int, b text", "a,b\n1,x\n2,y\n", "a=1 b=x\na=2 b=y"},
		{"a int, b text", "b,a\r\nx,1\r\ny,2", "a=1 b=x\na=2 b=y"},
		{"a int, b text", "\xEF\xBB\xBF\r\n\na, b \n1,x", "a=1 b=x"},
		{"a int, b text", "a,b\n\n1,x\n\r\n\n2,y\n\n", "a=1 b=x\na=2 b=y"},
		{"a int, b text", "", ""},
		{"a int, b text", "a,b\n", ""},
		{"a int, b text", "a,b", ""},
		{"a text, b text", "a,b\n\"x,\"\"y\"\"\nz\",\"\"\"\"\n\"\",\"q\"\r\n", "a=x,\"y\"\nz b=\"\na= b=q"},
		// A value that is not there: null, or empty text.
		{"a int?, b text?, c text, d double?", "a,b,c,d\n,,,\n\"\",\"\",\"\",\"\"\n1,2,3,4\n",
			"c=\nb= c=\na=1 b=2 c=3 d=4"},
		{"a int, b text?", "a,b\n,x\n", `record 0 (line 2), field "a": the field is missing or null, and it is not nullable`},
		{"a int, b text?, c bool?", "a\n1\n", "a=1"},
		// The same rules as JSON's.
		{"a bool, b float, c long, d text, e hugeint", "a,b,c,d,e\nTRUE,1.5,1e3,true,18446744073709551616\n", "a=true b=1.5 c=1000 d=true e=18446744073709551616"},
		{"a int", "a\n1.5\n 1\n01\n+1\n1\nNaN\n", "a=1\n" +
			"record 0 (line 2), field \"a\": number \"1.5\" does not fit a field of type int\n" +
			"record 1 (line 3), field \"a\": text \" 1\" does not fit a field of type int\n" +
			"record 2 (line 4), field \"a\": text \"01\" does not fit a field of type int\n" +
			"record 3 (line 5), field \"a\": text \"+1\" does not fit a field of type int\n" +
			"record 5 (line 7), field \"a\": text \"NaN\" does not fit a field of type int"},
		{"time=t, t time?, x int", "t,x\n2023-11-14T23:13:20+01:00,1\n1700000000000,2\n", "t=2023-11-14T22:13:20.000Z x=1\nt=2023-11-14T22:13:20.000Z x=2"},
		// Rows that are none, each with its line.
		{"a text, b text", "a,b\n1\n1,2,3\nx\"y,2\n\"x\"y,2\n\"one\ntwo\",3\n5\n\"p\nq\"r,\"s\nt\"\n7,8\n",
			"a=one\ntwo b=3\na=7 b=8\n" +
				"record 0 (line 2): it has 1 values; the header has 2\n" +
				"record 1 (line 3): it has 3 values; the header has 2\n" +
				"record 2 (line 4): a quote stands within a value that is not quoted\n" +
				"record 3 (line 5): text follows the closing quote of a value\n" +
				"record 5 (line 8): it has 1 values; the header has 2\n" +
				"record 6 (line 9): text follows the closing quote of a value\n" +
				"record 7 (line 11): a quote stands within a value that is not quoted"},
		// Open streams: what a column holds is found from its values.
		{"open", "a,b,c,d,e,f\n1,1.5,x,true,,007\n2,2,y,false,,8\n", "fields a:long b:double c:text d:bool f:text\na=1 b=1.5 c=x d=true f=007\na=2 b=2 c=y d=false f=8"},
		{"open", "a,b\n,\n,x\n5,\n", "fields b:text a:long\n(nothing)\nb=x\na=5"},
		{"open", "a\n1\nx\n1e2\n", "fields a:text\na=1\na=x\na=1e2"},
		{"open", "a\n18446744073709551616\n1.5\n", "fields a:text\na=18446744073709551616\na=1.5"},
		{"open, a int?", "a,b\n1,2\n,\n", "fields a:int b:long\na=1 b=2\n(nothing)"},
		{"open, key=k, k int", "k,x\n1,1\ny,2\n", "fields k:int x:long\nk=1 x=1\nrecord 1 (line 3), field \"k\": text \"y\" does not fit a field of type int"},
		{"a text", "a\nx\xffy\n\"\xff\"\"\"\n", "a=x\uFFFDy\na=\uFFFD\""},
		{"a text", "a\n\"x\"\r", "a=x"},
		{"a text", "a\nx\r", "a=x"},
		{"a text", "a\n\"\"\n\nx\n", "a=\na=x"},
	})
	tabs := Options{Format: CSV, Comma: '\t'}
	runCases(t, tabs, 1, []readCase{{"a int, b text", "a\tb\n1\tx,y\n", "a=1 b=x,y"}})
	bounded := Options{Format: CSV, MaxText: 3}
	runCases(t, bounded, 1, []readCase{{"a text", "a\nxyz\nwxyz\n", "a=xyz\nrecord 1 (line 3), field \"a\": the text has 4 bytes; 3 is the most"}})
	s := stream(t, "a text, b int?")
	if r := parse(t, s, "a,b\n\xff,1\n\xff,x\nok,2\n", csv); r.Mended != 1 {
		t.Errorf("mended %d", r.Mended)
	}
}

func TestHeaderOfCSV(t *testing.T) {
	cases := []struct{ body, want string }{
		{"a,x\n1,2\n", `line 1, byte 0, record 0: column 2 of the header: stream s has no field "x"`},
		{"\na,a\n", `line 2, byte 1, record 0: column 2 of the header, "a", is there twice`},
		{"a,\n", `line 1, byte 0, record 0: column 2 of the header: a field needs a name`},
		{"a,b\"\n", `line 1, byte 0, record 0: the header: a quote stands within a value that is not quoted`},
		{"a,_undated\n", `line 1, byte 0, record 0: column 2 of the header: field "_undated" is set by Cellar`},
		{"a," + strings.Repeat("b,", 1000) + "\n", `line 1, byte 0, record 0: the header has 1002 columns; 1000 is the most`},
	}
	s := stream(t, "a int?, b int?, _undated bool?")
	for _, c := range cases {
		_, err := Parse(s, []byte(c.body), Options{Format: CSV})
		if !errors.Is(err, ErrSyntax) || err.Error() != c.want {
			t.Errorf("%.30q: %v, want %s", c.body, err, c.want)
		}
	}
	for _, body := range []string{`"a`, "\"a\nb", "a\n\"1", "a,b\n1", "a,b\n1,2\n3"} {
		if _, err := Parse(s, []byte(body), Options{Format: CSV}); !errors.Is(err, ErrCutOff) {
			t.Errorf("%q: %v", body, err)
		}
	}
}
