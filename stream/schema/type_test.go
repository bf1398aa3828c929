package schema

import (
	"errors"
	"strings"
	"testing"

	"github.com/cellardb/cellar/store"
)

func TestTypes(t *testing.T) {
	cases := []struct {
		t       Type
		name    string
		column  store.ColumnType
		number  uint8 // as it is stored
		numeric bool
	}{
		{Bool, "bool", store.ColumnBool, 1, false},
		{Int, "int", store.ColumnInt32, 2, true},
		{Long, "long", store.ColumnInt64, 3, true},
		{HugeInt, "hugeint", store.ColumnHugeInt, 4, true},
		{Float, "float", store.ColumnFloat32, 5, true},
		{Double, "double", store.ColumnFloat64, 6, true},
		{Text, "text", store.ColumnText, 7, false},
		{Bytes, "bytes", store.ColumnBytes, 8, false},
		{Time, "time", store.ColumnTimestamp, 9, false},
	}
	if len(cases) != int(Time) {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		if uint8(c.t) != c.number || c.t.String() != c.name || c.t.Column() != c.column || c.t.Numeric() != c.numeric {
			t.Errorf("%s: number %d, column %d, numeric %v", c.t, uint8(c.t), c.t.Column(), c.t.Numeric())
		}
		if got, err := ParseType(strings.ToUpper(c.name)); got != c.t || err != nil {
			t.Errorf("ParseType(%s) = %s, %v", c.name, got, err)
		}
		if OfColumn(c.column) != c.t {
			t.Errorf("OfColumn(%d) = %s", c.column, OfColumn(c.column))
		}
		if v := NullVector(c.t, 3); c.t.Width() == 0 || vectorRows(&v) != 3 {
			t.Errorf("%s: width %d, rows %d", c.t, c.t.Width(), vectorRows(&v))
		}
	}
	for _, bad := range []Type{0, Time + 1, 255} {
		if bad.Valid() || bad.Column() != 0 || bad.Width() != 0 || bad.String() != "no type" {
			t.Errorf("type %d is one", bad)
		}
	}
	if OfColumn(0) != 0 || OfColumn(77) != 0 {
		t.Error("a column type that is none has a type")
	}
}

func TestParseTypeTakesOtherNames(t *testing.T) {
	for name, want := range map[string]Type{
		"STRING": Text, "String": Text, "INT": Int, "INTEGER": Int, "LONG": Long, "FLOAT": Float, "DOUBLE": Double,
		"BOOL": Bool, "BOOLEAN": Bool, "BINARY": Bytes, "bigint": Long, "varchar": Text, "Timestamp": Time,
	} {
		if got, err := ParseType(name); got != want || err != nil {
			t.Errorf("ParseType(%s) = %s, %v; want %s", name, got, err, want)
		}
	}
	for _, name := range []string{"", "number", "int ", "no type"} {
		_, err := ParseType(name)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), `"`+name+`"`) {
			t.Errorf("ParseType(%q): %v", name, err)
		}
	}
}
