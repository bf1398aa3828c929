package tabimport

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cellardb/cellar/cell"
)

// text shows a mapping as it was understood.
func (m *Mapping) text() string {
	source := func(s source) string {
		var parts []string
		for _, p := range s {
			switch {
			case p.field < 0:
				parts = append(parts, fmt.Sprintf("'%s'", p.text))
			case m.fields[p.field].place >= 0:
				parts = append(parts, fmt.Sprintf("#%d", m.fields[p.field].place+1))
			default:
				parts = append(parts, m.fields[p.field].name)
			}
		}
		return strings.Join(parts, "+")
	}
	out := []string{"key=" + source(m.key)}
	if m.ts != nil {
		out = append(out, "ts="+source(m.ts))
	}
	if m.ttl != nil {
		out = append(out, "ttl="+source(m.ttl))
	}
	for _, c := range m.cells {
		out = append(out, fmt.Sprintf("%s:%s=%s", c.family, c.qualifier, source(c.from)))
	}
	if m.rest != nil {
		out = append(out, string(m.rest)+":*")
	}
	return strings.Join(out, " ")
}

func TestParseMapping(t *testing.T) {
	cases := []struct{ spec, want string }{
		{"HBASE_ROW_KEY,f:a,f:b", "key=#1 f:a=#2 f:b=#3"},
		{" f:a , HBASE_ROW_KEY ,g", "key=#2 f:a=#1 g:=#3"},
		{"HBASE_ROW_KEY,,f:a,HBASE_TS_KEY,HBASE_CELL_TTL", "key=#1 ts=#4 ttl=#5 f:a=#3"},
		{"HBASE_ROW_KEY,f:a:b,f:*", "key=#1 f:a:b=#2 f:*=#3"},
		{"HBASE_ROW_KEY=station+'/'+hour,w:temp=t,w:humid", "key=station+'/'+hour w:temp=t w:humid=humid"},
		{"w:*,HBASE_ROW_KEY=id", "key=id w:*"},
		{"HBASE_ROW_KEY = #2 + ',=' + \"a+b\" , f:x = #1,HBASE_TS_KEY=when", "key=#2+',='+a+b ts=when f:x=#1"},
		{"HBASE_ROW_KEY=a,f:b=a+a,HBASE_CELL_TTL='60000'", "key=a ttl='60000' f:b=a+a"},
		{"HBASE_ROW_KEY=device.id,f:it's=x", "key=device.id f:it's=x"},
		{"HBASE_ROW_KEY=a,f:=b", "key=a f:=b"},

		{"", "bad mapping of columns: it needs HBASE_ROW_KEY, the field that becomes the row key"},
		{"f:a,f:b", "bad mapping of columns: it needs HBASE_ROW_KEY, the field that becomes the row key"},
		{"HBASE_ROW_KEY", "bad mapping of columns: it needs at least one column besides HBASE_ROW_KEY"},
		{"HBASE_ROW_KEY,HBASE_TS_KEY", "bad mapping of columns: it needs at least one column besides HBASE_ROW_KEY"},
		{"HBASE_ROW_KEY,HBASE_ROW_KEY,f:a", "bad mapping of columns: HBASE_ROW_KEY is there twice"},
		{"HBASE_ROW_KEY,HBASE_TS_KEY,f:a,HBASE_TS_KEY", "bad mapping of columns: HBASE_TS_KEY is there twice"},
		{"HBASE_ROW_KEY,f:a,HBASE_ATTRIBUTES_KEY", "bad mapping of columns: HBASE_ATTRIBUTES_KEY is not supported: Cellar keeps no attributes of operations"},
		{"HBASE_ROW_KEY,f:a,HBASE_CELL_VISIBILITY", "bad mapping of columns: HBASE_CELL_VISIBILITY is not supported: Cellar has no visibility labels"},
		{"HBASE_ROWKEY,f:a", "bad mapping of columns: HBASE_ROWKEY is none of ImportTsv's names: want HBASE_ROW_KEY, HBASE_TS_KEY, HBASE_CELL_TTL or family:qualifier"},
		{"HBASE_ROW_KEY,:a", "bad mapping of columns: Column Family name can not be empty"},
		{"HBASE_ROW_KEY=a,f", `bad mapping of columns: "f" does not say which field it comes from: write f=NAME`},
		{"HBASE_ROW_KEY,f:a=b", `bad mapping of columns: "HBASE_ROW_KEY" does not say which field it comes from: write HBASE_ROW_KEY=NAME`},
		{"HBASE_ROW_KEY=,f:a", "bad mapping of columns: HBASE_ROW_KEY= says no field"},
		{"HBASE_ROW_KEY=a+,f:a", "bad mapping of columns: a field is missing beside a plus sign"},
		{"HBASE_ROW_KEY=a++b,f:a", "bad mapping of columns: a field is missing beside a plus sign"},
		{"HBASE_ROW_KEY=a+'b,f:a", `bad mapping of columns: a quote ' is not closed in "HBASE_ROW_KEY=a+'b,f:a"`},
		{"HBASE_ROW_KEY='a'b,f:a", `bad mapping of columns: "'a'b": want a plus sign before "b"`},
		{"HBASE_ROW_KEY=#0,f:a", "bad mapping of columns: #0 is no field: the first one is #1"},
		{"HBASE_ROW_KEY=#x,f:a", "bad mapping of columns: #x is no field: the first one is #1"},
		{"HBASE_ROW_KEY=#99999999999999999999,f:a", "bad mapping of columns: #99999999999999999999 is no field: the first one is #1"},
		{"HBASE_ROW_KEY=a,f:*,g:*", "bad mapping of columns: f:* and g:* both want the other fields"},
	}
	for _, c := range cases {
		m, err := ParseMapping(c.spec)
		got := ""
		if err == nil {
			got = m.text()
		} else {
			got = err.Error()
			if !errors.Is(err, ErrMapping) {
				t.Errorf("%q: %v does not match ErrMapping", c.spec, err)
			}
		}
		if got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.spec, got, c.want)
		}
	}
	if len(cases) != 31 {
		t.Errorf("%d cases, want 31", len(cases))
	}
}

// No mapping, however it is written, ends the process; one that is understood is
// understood alike again.
func FuzzParseMapping(f *testing.F) {
	for _, seed := range []string{"HBASE_ROW_KEY,f:a", "HBASE_ROW_KEY=a+'x'+#2,w:*", "\"='+,"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		m, err := ParseMapping(spec)
		if err != nil {
			return
		}
		if again, err := ParseMapping(spec); err != nil || again.text() != m.text() {
			t.Fatalf("%q: %v", spec, err)
		}
		if len(m.Families()) == 0 || m.key == nil {
			t.Fatalf("%q has no families or no key", spec)
		}
	})
}

// Files that the import writes are not its inputs, and a timestamp that stands for
// the server's time is none.
func TestOptionsThatWouldLoseRows(t *testing.T) {
	dir := t.TempDir()
	input := filepath.Join(dir, "in.csv")
	if err := os.WriteFile(input, []byte("a,b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Options){
		"bad file":  func(o *Options) { o.BadFile = filepath.Join(dir, ".", "in.csv") },
		"state":     func(o *Options) { o.State = input },
		"timestamp": func(o *Options) { o.Timestamp = cell.Latest },
	} {
		o := Options{Table: "t", Files: []string{input}, Columns: "HBASE_ROW_KEY,f:a"}
		change(&o)
		if _, err := New(o, nil); err == nil {
			t.Errorf("%s: nothing is refused", name)
		}
		if text, err := os.ReadFile(input); err != nil || string(text) != "a,b\n" {
			t.Errorf("%s: the input is %q: %v", name, text, err)
		}
	}
}
