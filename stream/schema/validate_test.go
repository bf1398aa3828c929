package schema

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func example() *Schema {
	return &Schema{
		Name: "home", EventTime: "at", PrimaryKey: []string{"house"}, Retention: 90 * day,
		Fields: []Field{
			{Name: "at", Type: Time, Nullable: true}, {Name: "house", Type: Int},
			{Name: "power", Type: Double, Nullable: true, Indexed: true},
		},
	}
}

func TestValidate(t *testing.T) {
	cases := []struct {
		change func(*Schema)
		fault  string // empty: it is valid
	}{
		{func(s *Schema) {}, ""},
		{func(s *Schema) { s.Name = "org.example.smart-home_2" }, ""},
		{func(s *Schema) { s.Name = strings.Repeat("n", 128) }, ""},
		{func(s *Schema) { s.Fields[2].Name = "Straße [°C]" }, ""},
		{func(s *Schema) { s.Fields[2].Name = "HOUSE" }, ""}, // names differ by case
		{func(s *Schema) { s.Fields[2].Name = strings.Repeat("f", 255) }, ""},
		{func(s *Schema) { s.Fields[0].Type = Long }, ""},
		{func(s *Schema) { s.Fields, s.EventTime, s.PrimaryKey, s.Open = nil, "", nil, true }, ""},
		{func(s *Schema) { s.Fields = append(s.Fields, Field{Name: Undated, Type: Bool, Nullable: true}) }, ""},
		{func(s *Schema) { s.Fields = manyFields(MaxFields, s.Fields) }, ""},
		{func(s *Schema) { s.Retention = time.Second }, ""},

		{func(s *Schema) { s.Name = "" }, "a stream needs a name"},
		{func(s *Schema) { s.Name = strings.Repeat("n", 129) }, "at most 128 bytes, not 129"},
		{func(s *Schema) { s.Name = "a/b" }, `stream name "a/b": character 2 may not be '/'`},
		{func(s *Schema) { s.Name = ".a" }, "character 1 may not be '.'"},
		{func(s *Schema) { s.Name = "-a" }, "character 1 may not be '-'"},
		{func(s *Schema) { s.Name = "ä" }, "character 1"},
		{func(s *Schema) { s.Fields = nil }, "stream home has no fields"},
		{func(s *Schema) { s.Fields = manyFields(MaxFields+1, s.Fields) }, "has 1001 fields; 1000 is the most"},
		{func(s *Schema) { s.Fields[2].Name = "" }, "a field needs a name"},
		{func(s *Schema) { s.Fields[2].Name = "a\x00b" }, "control character"},
		{func(s *Schema) { s.Fields[2].Name = "a\u0085b" }, "control character"},
		{func(s *Schema) { s.Fields[2].Name = "a\xffb" }, "not valid UTF-8"},
		{func(s *Schema) { s.Fields[2].Name = "power " }, `"power " begins or ends with a blank`},
		{func(s *Schema) { s.Fields[2].Name = "\u00a0power" }, "begins or ends with a blank"},
		{func(s *Schema) { s.Fields[2].Name = strings.Repeat("f", 256) }, "has 256 bytes; 255 is the most"},
		{func(s *Schema) { s.Fields[2].Name = "house" }, `field "house" is defined twice`},
		{func(s *Schema) { s.Fields[2].Type = 0 }, `field "power" has no type`},
		{func(s *Schema) { s.Fields[2].Type = 10 }, `field "power" has no type`},
		{func(s *Schema) { s.Fields[2] = Field{Name: Undated, Type: Bool} }, "must be a nullable bool"},
		{func(s *Schema) { s.Fields[2] = Field{Name: Undated, Type: Text, Nullable: true} }, "must be a nullable bool"},
		{func(s *Schema) { s.EventTime = "when" }, `event time "when" is not a field of stream home`},
		{func(s *Schema) { s.EventTime = "power" }, `event time "power" is of type double`},
		{func(s *Schema) { s.PrimaryKey = []string{"flat"} }, `primary key "flat" is not a field`},
		{func(s *Schema) { s.PrimaryKey = []string{"house", "house"} }, `primary key names "house" twice`},
		{func(s *Schema) { s.PrimaryKey = make([]string, 17) }, "has 17 fields; 16 is the most"},
		{func(s *Schema) { s.Retention = -time.Hour }, "retention -1h0m0s is too short"},
		{func(s *Schema) { s.Retention = time.Second - 1 }, "too short"},
		{func(s *Schema) { s.Retention = time.Second + 1 }, "no whole number of milliseconds"},
		{func(s *Schema) { s.Description = strings.Repeat("d", 4097) }, "has 4097 bytes; 4096 is the most"},
		{func(s *Schema) { s.Description = "\xff" }, "description is not valid UTF-8"},
	}
	valid := 0
	for i, c := range cases {
		s := example()
		c.change(s)
		err := s.Validate()
		switch {
		case c.fault == "" && err == nil:
			valid++
		case c.fault == "":
			t.Errorf("case %d: %v", i, err)
		case !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.fault):
			t.Errorf("case %d: %v; want %q", i, err, c.fault)
		}
	}
	if valid != 11 || len(cases) != 41 {
		t.Errorf("%d of %d are valid", valid, len(cases))
	}
}

// manyFields is n fields, the given ones in front.
func manyFields(n int, fields []Field) []Field {
	for i := len(fields); i < n; i++ {
		fields = append(fields, Field{Name: fmt.Sprintf("f%d", i), Type: Long})
	}
	return fields
}

func TestLookups(t *testing.T) {
	s := example()
	if s.Index("house") != 1 || s.Index("House") != -1 || s.TimeIndex() != 0 || s.KeyIndexes()[0] != 1 {
		t.Errorf("%d %d %d %v", s.Index("house"), s.Index("House"), s.TimeIndex(), s.KeyIndexes())
	}
	columns := s.Columns()
	if len(columns) != 3 || !columns[0].Time || columns[1].Time || columns[1].Nullable || !columns[2].Nullable ||
		columns[2].Name != "power" || columns[2].Type != Double.Column() {
		t.Errorf("%+v", columns)
	}
	s.EventTime = ""
	if s.TimeIndex() != -1 || s.Columns()[0].Time {
		t.Error("a stream without an event time has one")
	}
}

func TestCloneIsDeepAndEqualSeesAll(t *testing.T) {
	changes := []func(*Schema){
		func(s *Schema) { s.Name = "x" }, func(s *Schema) { s.Version = 9 },
		func(s *Schema) { s.Fields[1].Indexed = true }, func(s *Schema) { s.Fields = s.Fields[:2] },
		func(s *Schema) { s.EventTime = "" }, func(s *Schema) { s.Retention = 0 },
		func(s *Schema) { s.PrimaryKey[0] = "at" }, func(s *Schema) { s.Open = true },
		func(s *Schema) { s.Description = "d" }, func(s *Schema) { s.SourceVersion = "1" },
	}
	for i, change := range changes {
		s := example()
		c := s.Clone()
		if !s.Equal(c) || !c.Equal(s) {
			t.Fatal("a clone is not equal")
		}
		change(c)
		if s.Equal(c) || !s.Equal(example()) {
			t.Errorf("change %d of the clone: equal %v, the original %+v", i, s.Equal(c), s)
		}
	}
	if len(changes) != 10 {
		t.Errorf("%d changes", len(changes))
	}
}
