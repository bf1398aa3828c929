package thrift1

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/door"
)

// step is a call and what it is answered, as peer.expect renders it.
type step struct {
	method string
	args   fields
	want   string
}

// walk makes the calls of a dialogue in each of the forms, over a store that
// setup fills.
func walk(t *testing.T, setup func(*testDoor), steps []step) {
	t.Helper()
	for _, f := range forms {
		t.Run(f.String(), func(t *testing.T) {
			d := openDoor(t, Options{}, door.Options{})
			setup(d)
			p := d.dial(f)
			done := 0
			for _, s := range steps {
				p.expect(s.method, s.args, s.want)
				done++
			}
			if done != len(steps) || done == 0 {
				t.Errorf("%d of %d steps done", done, len(steps))
			}
		})
	}
}

// versions makes a table with three versions of cf:a.
func versions(d *testDoor) {
	d.table("t", "cf", "cg")
	d.put("t", "r cf:a 10 v10", "r cf:a 20 v20", "r cf:a 30 v30", "r cf:b 15 b15", "r cg:c 25 c25", "s cf:a 5 s5")
}

func TestGets(t *testing.T) {
	col := func(c string) fields { return fields{1: "t", 2: "r", 3: c} }
	ver := func(c string, n int32) fields { return fields{1: "t", 2: "r", 3: c, 4: n} }
	verTs := func(c string, ts int64, n int32) fields { return fields{1: "t", 2: "r", 3: c, 4: ts, 5: n} }
	walk(t, versions, []step{
		{"get", col("cf:a"), "[v30@30]"},
		{"get", col("cf"), "[v30@30 b15@15]"}, // a bare family is all its columns
		{"get", col("cf:"), "[]"},             // with a colon it is the empty qualifier
		{"get", col("cf:none"), "[]"},
		{"get", fields{1: "t", 2: "none", 3: "cf:a"}, "[]"},
		{"getVer", ver("cf:a", 1), "[v30@30]"},
		{"getVer", ver("cf:a", 2), "[v30@30 v20@20]"},
		{"getVer", ver("cf:a", math.MaxInt32), "[v30@30 v20@20 v10@10]"},
		{"getVer", ver("cf", 2), "[v30@30 v20@20 b15@15]"},
		// The timestamp is excluded.
		{"getVerTs", verTs("cf:a", 30, 9), "[v20@20 v10@10]"},
		{"getVerTs", verTs("cf:a", 31, 9), "[v30@30 v20@20 v10@10]"},
		{"getVerTs", verTs("cf:a", 10, 9), "[]"},
		{"getVerTs", verTs("cf:a", 0, 9), "[]"},
		{"getVerTs", verTs("cf:a", math.MaxInt64, 9), "[v30@30 v20@20 v10@10]"},
		{"getVerTs", fields{1: "t", 2: "r", 3: "cf:a", 5: int32(9)}, "[v30@30 v20@20 v10@10]"}, // left out: no bound
	})
}

func TestGetRows(t *testing.T) {
	walk(t, versions, []step{
		{"getRow", fields{1: "t", 2: "r"}, "[r{cf:a=v30@30 cf:b=b15@15 cg:c=c25@25}]"},
		{"getRow", fields{1: "default:t", 2: "s"}, "[s{cf:a=s5@5}]"},
		{"getRow", fields{1: "t", 2: "none"}, "[]"},
		{"getRowTs", fields{1: "t", 2: "r", 3: int64(25)}, "[r{cf:a=v20@20 cf:b=b15@15}]"},
		{"getRowTs", fields{1: "t", 2: "r", 3: int64(0)}, "[]"},
		{"getRowTs", fields{1: "t", 2: "r", 3: int64(math.MaxInt64)}, "[r{cf:a=v30@30 cf:b=b15@15 cg:c=c25@25}]"},
		{"getRowWithColumns", fields{1: "t", 2: "r", 3: list{"cf:b", "cg"}}, "[r{cf:b=b15@15 cg:c=c25@25}]"},
		{"getRowWithColumns", fields{1: "t", 2: "r", 3: list{}}, "[r{cf:a=v30@30 cf:b=b15@15 cg:c=c25@25}]"},
		{"getRowWithColumns", fields{1: "t", 2: "r"}, "[r{cf:a=v30@30 cf:b=b15@15 cg:c=c25@25}]"},
		{"getRowWithColumnsTs", fields{1: "t", 2: "r", 3: list{"cf"}, 4: int64(15)}, "[r{cf:a=v10@10}]"},
		// A family after a column of it widens, a column after the family narrows.
		{"getRowWithColumns", fields{1: "t", 2: "r", 3: list{"cf:b", "cf"}}, "[r{cf:a=v30@30 cf:b=b15@15}]"},
		{"getRowWithColumns", fields{1: "t", 2: "r", 3: list{"cf", "cf:b"}}, "[r{cf:b=b15@15}]"},
		{"getRowWithColumns", fields{1: "t", 2: "r", 3: list{"cf:b", "cf:a", "cf:b"}}, "[r{cf:a=v30@30 cf:b=b15@15}]"},
	})
}

// Missing rows leave no place-holder; a row that is asked for twice comes twice.
func TestC08_ReadingManyRowsWhenSomeAreMissing(t *testing.T) {
	walk(t, versions, []step{
		{"getRows", fields{1: "t", 2: list{"s", "nope", "r"}}, "[s{cf:a=s5@5} r{cf:a=v30@30 cf:b=b15@15 cg:c=c25@25}]"},
		{"getRows", fields{1: "t", 2: list{"s", "s"}}, "[s{cf:a=s5@5} s{cf:a=s5@5}]"},
		{"getRows", fields{1: "t", 2: list{"nope"}}, "[]"},
		{"getRows", fields{1: "t", 2: list{}}, "[]"},
		{"getRow", fields{1: "t", 2: "nope"}, "[]"},
		{"getRowsWithColumns", fields{1: "t", 2: list{"r", "s"}, 3: list{"cg:c"}}, "[r{cg:c=c25@25}]"},
		{"getRowsTs", fields{1: "t", 2: list{"r", "s"}, 3: int64(10)}, "[s{cf:a=s5@5}]"},
		{"getRowsWithColumnsTs", fields{1: "t", 2: list{"s", "r"}, 3: list{"cf"}, 4: int64(20)}, "[s{cf:a=s5@5} r{cf:a=v10@10 cf:b=b15@15}]"},
	})
}

func TestC17_QualifiersWithColonsAndEmptyOnes(t *testing.T) {
	walk(t, func(d *testDoor) { d.table("t", "cf") }, []step{
		{"mutateRowTs", fields{1: "t", 2: "r", 3: list{put("cf:a:b:c", "1"), put("cf:", "2")}, 4: int64(7)}, "void"},
		{"getRow", fields{1: "t", 2: "r"}, "[r{cf:=2@7 cf:a:b:c=1@7}]"},
		{"getRowWithColumns", fields{1: "t", 2: "r", 3: list{"cf:"}}, "[r{cf:=2@7}]"},
		{"getRowWithColumns", fields{1: "t", 2: "r", 3: list{"cf"}}, "[r{cf:=2@7 cf:a:b:c=1@7}]"},
		{"get", fields{1: "t", 2: "r", 3: "cf:a:b:c"}, "[1@7]"},
		{"mutateRowTs", fields{1: "t", 2: "r", 3: list{put("cf:", "")}, 4: int64(8)}, "void"},
		{"getRow", fields{1: "t", 2: "r"}, "[r{cf:=@8 cf:a:b:c=1@7}]"}, // present, and empty
		// A put to a bare family: an error of its row in a batch, ignored alone.
		{"mutateRowsTs", fields{1: "t", 2: list{batch("good", put("cf:x", "g")), batch("bad", put("cf:x", "b"), put("cf", "?")), batch("late", put("cf:x", "l"))}, 3: int64(9)},
			"IllegalArgument: java.lang.IllegalArgumentException: Invalid famAndQf provided. A put to row 'bad' needs a column family:qualifier, not 'cf'"},
		{"getRows", fields{1: "t", 2: list{"good", "bad", "late"}}, "[good{cf:x=g@9} late{cf:x=l@9}]"},
		{"mutateRow", fields{1: "t", 2: "alone", 3: list{put("cf", "?")}}, "void"},
		{"mutateRowTs", fields{1: "t", 2: "mixed", 3: list{put("cf", "?"), put("cf:k", "kept")}, 4: int64(3)}, "void"},
		{"getRows", fields{1: "t", 2: list{"alone", "mixed"}}, "[mixed{cf:k=kept@3}]"},
		// Without a column at all.
		{"mutateRow", fields{1: "t", 2: "alone", 3: list{fields{3: "v"}}},
			"IllegalArgument: java.lang.IllegalArgumentException: Invalid famAndQf provided. A mutation of row 'alone' has no column"},
	})
}

func TestGetRowOrBefore(t *testing.T) {
	args := func(row string) fields { return fields{1: "t", 2: row, 3: "cf"} }
	walk(t, func(d *testDoor) {
		d.table("t", "cf", "cg")
		d.put("t", "b cf:x 1 B", "b cg:y 1 no", "d cf:x 2 D", "c cg:y 1 no")
	}, []step{
		{"getRowOrBefore", args("b"), "[B@1]"},
		{"getRowOrBefore", args("c"), "[B@1]"},
		{"getRowOrBefore", args("zz"), "[D@2]"},
		{"getRowOrBefore", args("a"), "[]"},
	})
}

// The columns of a row are a map: families whose names begin one another must not
// break it.
func TestColumnsAreAMap(t *testing.T) {
	row := []cell.Cell{
		{Family: []byte("a"), Qualifier: []byte("x")}, {Family: []byte("a"), Qualifier: []byte("x")},
		{Family: []byte("a"), Qualifier: []byte("z")}, {Family: []byte("a!"), Qualifier: []byte("y")},
		{Family: []byte("aa"), Qualifier: []byte("b")}, {Family: []byte("b"), Qualifier: nil},
	}
	for i := range row {
		row[i].Timestamp = int64(10 - i)
	}
	var names []string
	for _, c := range asMap(row) {
		names = append(names, string(c.Family)+":"+string(c.Qualifier))
		if string(c.Qualifier) == "x" && c.Timestamp != 10 {
			t.Errorf("of two versions the one at %d was taken", c.Timestamp)
		}
	}
	if got := strings.Join(names, " "); got != "a!:y a:x a:z aa:b b:" {
		t.Errorf("columns: %s", got)
	}
	if &asMap(row[3:])[0] != &row[3] {
		t.Error("columns that are in order were copied")
	}
	if n := len(asMap(row[:3])); n != 2 {
		t.Errorf("two columns, one of them twice, became %d", n)
	}
}

func TestSelections(t *testing.T) {
	many := [][]byte{}
	for i := range 100 {
		many = append(many, fmt.Appendf(nil, "f%d:q", i))
	}
	for i := range 100 {
		many = append(many, fmt.Appendf(nil, "f%d:p", i))
	}
	var sel selection
	for range 2 { // its memory is used again
		if got, err := sel.set(budgetReader(1<<20), many); err != nil || len(got) != 100 || len(got[99].Qualifiers) != 2 || string(got[99].Family) != "f99" {
			t.Errorf("100 families became %d", len(got))
		}
		for _, c := range []struct{ columns, want string }{
			{"", "[]"},
			{"a", "[a]"},
			{"a:x b a:", "[a: a:x b]"},
			{"a:z a:x a:z a:y a:x", "[a:x a:y a:z]"},
			{"a:x a", "[a]"},
			{"a a:x", "[a:x]"},
			{"a:x a a:y", "[a:y]"},
		} {
			var columns [][]byte
			for f := range strings.FieldsSeq(c.columns) {
				columns = append(columns, []byte(f))
			}
			got := []string{}
			families, err := sel.set(budgetReader(1<<20), columns)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range families {
				for _, q := range f.Qualifiers {
					got = append(got, string(f.Family)+":"+string(q))
				}
				if f.Qualifiers == nil {
					got = append(got, string(f.Family))
				}
			}
			if fmt.Sprint(got) != c.want {
				t.Errorf("%q selects %v, want %s", c.columns, got, c.want)
			}
		}
	}
	if got, err := sel.set(budgetReader(0), nil); got != nil || err != nil {
		t.Error("no columns must be all columns")
	}
}
