package schema

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// The table of widening, whole: a row and a column for each type; - is that
// nothing takes both.
func TestWiden(t *testing.T) {
	const table = `
		        bool int     long    hugeint float  double text bytes time
		bool    bool text    text    text    text   text   text -     text
		int     text int     long    hugeint double double text -     text
		long    text long    long    hugeint double double text -     text
		hugeint text hugeint hugeint hugeint text   text   text -     text
		float   text double  double  text    float  double text -     text
		double  text double  double  text    double double text -     text
		text    text text    text    text    text   text   text -     text
		bytes   -    -       -       -       -      -      -    bytes -
		time    text text    text    text    text   text   text -     time`
	rows := strings.Split(strings.TrimSpace(table), "\n")
	names := strings.Fields(rows[0])
	checked := 0
	for _, row := range rows[1:] {
		cells := strings.Fields(row)
		a, _ := ParseType(cells[0])
		for i, want := range cells[1:] {
			b, _ := ParseType(names[i])
			got, ok := Widen(a, b)
			if want == "-" && ok || want != "-" && (!ok || got.String() != want) {
				t.Errorf("Widen(%s, %s) = %s, %v; want %s", a, b, got, ok, want)
			}
			checked++
		}
	}
	if checked != 81 {
		t.Errorf("%d pairs", checked)
	}
	if _, ok := Widen(Int, 0); ok {
		t.Error("no type is widened")
	}
}

// Widening three types gives one answer whatever their order is; else the type
// of a field would hang on which of two requests came first.
func TestWidenDoesNotDependOnOrder(t *testing.T) {
	for a := Bool; a.Valid(); a++ {
		for b := Bool; b.Valid(); b++ {
			for c := Bool; c.Valid(); c++ {
				if a == Bytes || b == Bytes || c == Bytes {
					continue
				}
				ab, _ := Widen(a, b)
				bc, _ := Widen(b, c)
				left, _ := Widen(ab, c)
				right, _ := Widen(a, bc)
				if left != right {
					t.Errorf("%s, %s, %s: %s or %s", a, b, c, left, right)
				}
			}
		}
	}
}

func TestEvolve(t *testing.T) {
	s := example()
	s.Version = 4
	same, changed, err := s.Evolve(s.Fields...)
	if same != s || changed || err != nil {
		t.Errorf("without a change: %v, %v, %v", same, changed, err)
	}
	next, changed, err := s.Evolve(
		Field{Name: "power", Type: Text, Nullable: true},
		Field{Name: "extra", Type: Long, Nullable: true},
		Field{Name: "extra", Type: HugeInt, Nullable: true},
		Field{Name: "house", Type: Int, Nullable: true},
	)
	if err != nil || !changed || next.Version != 5 {
		t.Fatalf("%+v, %v, %v", next, changed, err)
	}
	want := []Field{
		{Name: "at", Type: Time, Nullable: true}, {Name: "house", Type: Int, Nullable: true},
		{Name: "power", Type: Text, Nullable: true}, {Name: "extra", Type: HugeInt, Nullable: true},
	}
	if !slices.Equal(next.Fields, want) {
		t.Errorf("%+v", next.Fields)
	}
	if s.Version != 4 || !slices.Equal(s.Fields, example().Fields) {
		t.Errorf("the schema itself was changed: %+v", s)
	}
}

func TestEvolveRefuses(t *testing.T) {
	cases := []struct {
		field Field
		kind  error
		fault string
	}{
		{Field{Name: "new", Type: Int}, ErrIncompatible, `field "new" cannot be added as not nullable`},
		{Field{Name: "power", Type: Long, Nullable: true}, ErrIncompatible, `field "power" is of type double and cannot become long`},
		{Field{Name: "power", Type: Bytes, Nullable: true}, ErrIncompatible, "cannot become bytes"},
		{Field{Name: "power", Type: Double}, ErrIncompatible, `field "power" is nullable and cannot become not nullable`},
		{Field{Name: "house", Type: Long}, ErrIncompatible, `field "house" is part of the primary key`},
		{Field{Name: "at", Type: Text, Nullable: true}, ErrIncompatible, `field "at" is the event time`},
		{Field{Name: "x\n", Type: Int, Nullable: true}, ErrInvalid, "begins or ends with a blank"},
		{Field{Name: "x", Nullable: true}, ErrInvalid, `field "x" has no type`},
	}
	for _, c := range cases {
		next, changed, err := example().Evolve(c.field)
		if next != nil || changed || !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%+v: %v, %v, %v; want %q", c.field, next, changed, err, c.fault)
		}
	}
	if len(cases) != 8 {
		t.Errorf("%d cases", len(cases))
	}
}

func TestRedefine(t *testing.T) {
	s := example()
	s.Version = 2
	if same, changed, err := s.Redefine(example()); same != s || changed || err != nil {
		t.Errorf("the same definition: %v, %v, %v", same, changed, err)
	}
	d := example()
	d.Retention, d.Open, d.Description, d.SourceVersion = day, true, "changed", "2.0.0"
	d.Fields = []Field{d.Fields[0], d.Fields[1], {Name: "new", Type: Bool, Nullable: true}}
	next, changed, err := s.Redefine(d)
	if err != nil || !changed || next.Version != 3 {
		t.Fatalf("%+v, %v, %v", next, changed, err)
	}
	if next.Retention != day || !next.Open || next.Description != "changed" || next.SourceVersion != "2.0.0" {
		t.Errorf("options: %+v", next)
	}
	if len(next.Fields) != 4 || next.Fields[2].Name != "power" || next.Fields[3].Name != "new" {
		t.Errorf("a field that the definition leaves out is to stay, in its place: %+v", next.Fields)
	}
	only := example()
	only.Retention = 0
	if next, changed, err = s.Redefine(only); err != nil || !changed || next.Version != 3 || next.Retention != 0 {
		t.Errorf("retention alone: %+v, %v, %v", next, changed, err)
	}
}

// Whoever gives the definition of an open stream again, as scripts do, is not
// refused because events widened a field since.
func TestRedefineOfAWidenedOpenStream(t *testing.T) {
	d := &Schema{Name: "s", Open: true, Fields: []Field{{Name: "n", Type: Int, Nullable: true}}}
	s, _, err := d.Evolve(Field{Name: "n", Type: Text, Nullable: true})
	if err != nil {
		t.Fatal(err)
	}
	same, changed, err := s.Redefine(d)
	if err != nil || changed || same.Fields[0].Type != Text {
		t.Errorf("%+v, %v, %v", same, changed, err)
	}
	strict := s.Clone()
	strict.Open = false
	d.Open = false
	if _, _, err := strict.Redefine(d); !errors.Is(err, ErrIncompatible) {
		t.Errorf("a strict stream: %v", err)
	}
}

func TestRedefineRefuses(t *testing.T) {
	cases := []struct {
		change func(*Schema)
		kind   error
		fault  string
	}{
		{func(s *Schema) { s.Name = "other" }, ErrIncompatible, "the name stays"},
		{func(s *Schema) { s.EventTime = "" }, ErrIncompatible, `event time "at" cannot become ""`},
		{func(s *Schema) { s.PrimaryKey = nil }, ErrIncompatible, `primary key ["house"] cannot become []`},
		{func(s *Schema) { s.Fields[2].Type = Int }, ErrIncompatible, `field "power"`},
		{func(s *Schema) { s.Fields[2].Type = 0 }, ErrInvalid, `field "power" has no type`},
	}
	for i, c := range cases {
		d := example()
		c.change(d)
		if _, _, err := example().Redefine(d); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("case %d: %v; want %q", i, err, c.fault)
		}
	}
}

func TestAbsorb(t *testing.T) {
	base := &Schema{Name: "s", Version: 1, Open: true, Fields: []Field{{Name: "k", Type: Long}}}
	ours, _, _ := base.Evolve(Field{Name: "k", Type: Double, Nullable: true}, Field{Name: "a", Type: Long, Nullable: true})
	theirs, _, _ := base.Evolve(Field{Name: "b", Type: Text, Nullable: true}, Field{Name: "a", Type: Bool, Nullable: true})
	both, changed, err := ours.Absorb(theirs)
	if err != nil || !changed || both.Version != 3 {
		t.Fatalf("%+v, %v, %v", both, changed, err)
	}
	want := []Field{
		{Name: "k", Type: Double, Nullable: true}, {Name: "a", Type: Text, Nullable: true}, {Name: "b", Type: Text, Nullable: true},
	}
	if !slices.Equal(both.Fields, want) {
		t.Errorf("%+v", both.Fields)
	}
	if same, changed, err := both.Absorb(theirs); same != both || changed || err != nil {
		t.Errorf("again: %+v, %v, %v", same, changed, err)
	}
	if next, _, err := base.Absorb(ours); err != nil || next.Fields[0] != (Field{Name: "k", Type: Double, Nullable: true}) {
		t.Errorf("what may be null there may be null here: %+v, %v", next, err)
	}
	if next, _, err := base.Absorb(&Schema{Fields: []Field{{Name: "z", Type: Int}}}); err != nil || !next.Fields[1].Nullable {
		t.Errorf("what was not null there is missing here: %+v, %v", next, err)
	}
	if _, _, err := base.Absorb(&Schema{Fields: []Field{{Name: "k", Type: Bytes}}}); !errors.Is(err, ErrIncompatible) {
		t.Errorf("bytes: %v", err)
	}
}
