package attribute

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/cellardb/cellar/cell"
)

// Each attribute with a value that it takes, as it is shown afterwards, and one
// that it does not.
func TestFamily(t *testing.T) {
	cases := []struct{ name, good, shown, bad string }{
		{"VERSIONS", "5", "5", "0"},
		{"versions", "2147483647", "2147483647", "2147483648"},
		{"MIN_VERSIONS", "0", "0", "-1"},
		{"BLOCKSIZE", "4096", "4096", "64K"},
		{"TTL", "60", "60", "0"},
		{"TTL", "forever", "FOREVER", "never"},
		{"TTL", "2147483647", "FOREVER", "2147483648"},
		{"KEEP_DELETED_CELLS", "ttl", "TTL", "YES"},
		{"COMPRESSION", "zstd", "ZSTD", "zip"},
		{"BLOOMFILTER", "RowCol", "ROWCOL", "COL"},
		{"IN_MEMORY", "True", "true", "1"},
		{"BLOCKCACHE", "FALSE", "false", ""},
		{"DATA_BLOCK_ENCODING", "fast_diff", "FAST_DIFF", "FASTER"},
		{"REPLICATION_SCOPE", "1", "1", "2"},
		{"STORAGE_POLICY", "HOT", "HOT", "TEPID"},
		{"NEW_VERSION_BEHAVIOR", "false", "", "true"},
		{"IS_MOB", "FALSE", "", "TRUE"},
	}
	for _, c := range cases {
		f := cell.NewFamily("f")
		if err := SetFamily(&f, c.name, c.good); err != nil {
			t.Errorf("%s => %s: %v", c.name, c.good, err)
		}
		shown := ""
		for _, a := range Family(&f) {
			if a.Name == c.name || c.name == "versions" && a.Name == "VERSIONS" {
				shown = a.Value
			}
		}
		if shown != c.shown {
			t.Errorf("%s => %s is shown as %q, want %q", c.name, c.good, shown, c.shown)
		}
		before := f
		var e *Error
		if err := SetFamily(&f, c.name, c.bad); !errors.As(err, &e) || !reflect.DeepEqual(f, before) {
			t.Errorf("%s => %s: %v", c.name, c.bad, err)
		}
	}
	if len(cases) != 17 {
		t.Errorf("%d cases", len(cases))
	}
	for _, name := range []string{"ENCRYPTION", "CONFIGURATION", "DFS_REPLICATION", "FOO", "", "NAME"} {
		f := cell.NewFamily("f")
		if err := SetFamily(&f, name, "1"); err == nil {
			t.Errorf("%s is set", name)
		}
	}
}

// A family that is described and set again is the same.
func TestFamily_thereAndBack(t *testing.T) {
	f := cell.NewFamily("f")
	for _, a := range []Attribute{{"VERSIONS", "3"}, {"TTL", "7"}, {"BLOOMFILTER", "NONE"}, {"IN_MEMORY", "true"}, {"STORAGE_POLICY", "COLD"}, {"DATA_BLOCK_ENCODING", "DIFF"}} {
		if err := SetFamily(&f, a.Name, a.Value); err != nil {
			t.Fatal(err)
		}
	}
	g := cell.NewFamily("f")
	for _, a := range Family(&f) {
		if err := SetFamily(&g, a.Name, a.Value); err != nil {
			t.Errorf("%s => %s: %v", a.Name, a.Value, err)
		}
	}
	if g.Attributes["REPLICATION_SCOPE"] != "0" {
		t.Errorf("%v", g.Attributes)
	}
	delete(g.Attributes, "REPLICATION_SCOPE") // it is said, though it is the default
	if !reflect.DeepEqual(f, g) {
		t.Errorf("%+v\nis not\n%+v", g, f)
	}
	// A family without a setting of deleted cells has HBase's.
	if list := Family(&cell.FamilySchema{}); list[1] != (Attribute{"KEEP_DELETED_CELLS", "FALSE"}) {
		t.Errorf("%v", list)
	}
}

func TestTable(t *testing.T) {
	cases := []struct{ name, good, shown, bad string }{
		{"DURABILITY", "skip_wal", "SKIP_WAL", "NO_WAL"},
		{"READONLY", "TRUE", "true", "1"},
		{"MAX_FILESIZE", "1000", "1000", "0"},
		{"OWNER", "ada", "ada", string(make([]byte, maxText+1))},
		{"owner", "ada", "ada", string(make([]byte, maxText+1))},
		{"SPLIT_POLICY", "x.Y", "x.Y", string(make([]byte, maxText+1))},
	}
	for _, c := range cases {
		var s cell.TableSchema
		if err := SetTable(&s, c.name, c.good); err != nil || !IsTable(c.name) {
			t.Errorf("%s => %s: %v", c.name, c.good, err)
		}
		if list := Table(&s); len(list) != 1 || list[0].Value != c.shown {
			t.Errorf("%s => %s is shown as %v", c.name, c.good, list)
		}
		if err := SetTable(&s, c.name, c.bad); err == nil {
			t.Errorf("%s => %.20q is set", c.name, c.bad)
		}
		if err := UnsetTable(&s, c.name); err != nil || len(Table(&s)) != 0 {
			t.Errorf("%s unset: %v, %v", c.name, err, Table(&s))
		}
	}
	if len(cases) != 6 {
		t.Errorf("%d cases", len(cases))
	}
	for _, name := range []string{"OWNR", "VERSIONS", ""} {
		if SetTable(&cell.TableSchema{}, name, "1") == nil || UnsetTable(&cell.TableSchema{}, name) == nil || IsTable(name) {
			t.Errorf("%q is known", name)
		}
	}
}

// A schema that was copied, as a struct, does not change with the copy.
func TestCopiesAreApart(t *testing.T) {
	f := cell.NewFamily("f")
	_ = SetFamily(&f, "STORAGE_POLICY", "HOT")
	g := f
	if err := SetFamily(&g, "STORAGE_POLICY", "COLD"); err != nil || f.Attributes["STORAGE_POLICY"] != "HOT" || g.Attributes["STORAGE_POLICY"] != "COLD" {
		t.Errorf("%v, %v, %v", f.Attributes, g.Attributes, err)
	}
	var s cell.TableSchema
	_ = SetTable(&s, "OWNER", "ada")
	u, v := s, s
	if err := SetTable(&u, "OWNER", "bob"); err != nil || s.Attributes["OWNER"] != "ada" {
		t.Errorf("%v, %v", s.Attributes, err)
	}
	if err := UnsetTable(&v, "OWNER"); err != nil || s.Attributes["OWNER"] != "ada" || len(v.Attributes) != 0 {
		t.Errorf("%v, %v", s.Attributes, err)
	}
}

// A name that is nearly right is told.
func TestUnknownNames(t *testing.T) {
	var f cell.FamilySchema
	for name, want := range map[string]string{
		"VERSOINS": "VERSOINS: a family has no attribute of this name: did you mean VERSIONS?",
		"ttls":     "ttls: a family has no attribute of this name: did you mean TTL?",
	} {
		if err := SetFamily(&f, name, "1"); err == nil || err.Error() != want {
			t.Errorf("%v", err)
		}
	}
}

func TestEscape(t *testing.T) {
	for plain, escaped := range map[string]string{"": "", "a~ b": "a~ b", "\\": `\x5C`, "\x00\xff": `\x00\xFF`, "é": `\xC3\xA9`, "\x7f": `\x7F`, "a\nb": `a\x0Ab`} {
		if got := Escape([]byte(plain)); got != escaped {
			t.Errorf("%q is %s, want %s", plain, got, escaped)
		}
		if got, err := Unescape(escaped); err != nil || string(got) != plain {
			t.Errorf("%s is %q, %v", escaped, got, err)
		}
	}
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	if got, err := Unescape(Escape(all)); err != nil || !bytes.Equal(got, all) {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := Unescape("é\xff\x00"); err != nil || string(got) != "é\xff\x00" {
		t.Errorf("%q, %v", got, err)
	}
	for _, text := range []string{`\`, `\x`, `\x1`, `\xg0`, `\n`, `\\x00`, `a\X00`} {
		if got, err := Unescape(text); err == nil {
			t.Errorf("%s is %q", text, got)
		}
	}
}

func FuzzUnescape(f *testing.F) {
	f.Add(`a\x00`)
	f.Add(`\\`)
	f.Fuzz(func(t *testing.T, text string) {
		b, err := Unescape(text)
		if err != nil {
			return
		}
		again, err := Unescape(Escape(b))
		if err != nil || !bytes.Equal(again, b) {
			t.Errorf("%q is %q, then %q, %v", text, b, again, err)
		}
	})
}
