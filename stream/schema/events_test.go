package schema

import (
	"slices"
	"strings"
	"testing"

	"github.com/cellardb/cellar/store"
)

func TestNullVector(t *testing.T) {
	for _, rows := range []int{0, 1, 63, 64, 65, 200} {
		for typ := Bool; typ.Valid(); typ++ {
			v := NullVector(typ, rows)
			e := Events{Rows: rows, Columns: []store.Vector{v}}
			if err := e.Check(&Schema{Fields: []Field{{Name: "x", Type: typ}}}); err != nil {
				t.Errorf("%s, %d rows: %v", typ, rows, err)
			}
			for i := range rows {
				if !v.Null(i) {
					t.Fatalf("%s: row %d of %d is not null", typ, i, rows)
				}
			}
			if tail := rows % 64; tail != 0 && v.Nulls[rows/64]>>tail != 0 {
				t.Errorf("%s: bits beyond row %d are set", typ, rows)
			}
		}
	}
}

func TestCheckEvents(t *testing.T) {
	s := &Schema{Name: "s", Fields: []Field{{Name: "x", Type: Long}, {Name: "y", Type: Text}}}
	good := func() Events {
		return Events{Rows: 2, Columns: []store.Vector{
			{Type: Long.Column(), Int64s: []int64{1, 2}, Nulls: []uint64{1}}, textVector(Text, "a", ""),
		}}
	}
	e := good()
	if err := e.Check(s); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		change func(*Events)
		fault  string
	}{
		{func(e *Events) { e.Columns = e.Columns[:1] }, "events have 1 columns; stream s has 2 fields"},
		{func(e *Events) { e.Rows = 3 }, `field "x": the column has 2 rows, not 3`},
		{func(e *Events) { e.Columns[1].Offsets = []uint32{0, 1} }, `field "y": the column has 1 rows, not 2`},
		{func(e *Events) { e.Columns[0].Type = Time.Column() }, `field "x": the column is not a plain one of type long`},
		{func(e *Events) { e.Columns[0].Dictionary = &store.Vector{} }, "not a plain one"},
		{func(e *Events) { e.Columns[0].Nulls = []uint64{1, 0} }, "2 words of nulls for 2 rows"},
		{func(e *Events) { e.Columns[0].Nulls = []uint64{} }, "0 words of nulls"},
	}
	for i, c := range cases {
		e := good()
		c.change(&e)
		if err := e.Check(s); err == nil || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("case %d: %v; want %q", i, err, c.fault)
		}
	}
}

func TestFit(t *testing.T) {
	from := &Schema{Name: "s", Open: true, Version: 1, Fields: []Field{{Name: "x", Type: Long}, {Name: "y", Type: Text}}}
	to, _, err := from.Evolve(Field{Name: "x", Type: Double}, Field{Name: "z", Type: Bool, Nullable: true})
	if err != nil {
		t.Fatal(err)
	}
	// The order of fields is that of the version; it may differ when two
	// evolved at once.
	to.Fields[0], to.Fields[1] = to.Fields[1], to.Fields[0]
	e := Events{Rows: 2, Columns: []store.Vector{{Type: Long.Column(), Int64s: []int64{1, 2}}, textVector(Text, "a", "b")}}
	got, err := Fit(e, from, to)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Check(to); err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]string{{"a", "b"}, {"1", "2"}, {"null", "null"}} {
		if have := texts(&got.Columns[i], to.Fields[i].Type); !slices.Equal(have, want) {
			t.Errorf("column %d: %q, want %q", i, have, want)
		}
	}
	if _, err := Fit(e, to, from); err == nil {
		t.Error("events of another version fit")
	}
	to.Fields[1].Type = Bytes
	if _, err := Fit(e, from, to); err == nil || !strings.Contains(err.Error(), `field "x"`) {
		t.Errorf("%v", err)
	}
}

func TestRejectTellsWhere(t *testing.T) {
	cases := map[string]Reject{
		`record 3: it is not an object`:          {Index: 3, Reason: "it is not an object"},
		`record 3 (line 7), field "n": too long`: {Index: 3, Line: 7, Field: "n", Reason: "too long"},
	}
	for want, r := range cases {
		if r.String() != want {
			t.Errorf("%s, want %s", r, want)
		}
	}
}
