package schema

import (
	"strings"

	"github.com/cellardb/cellar/store"
)

// Type is the type of a field.
type Type uint8

// The types. Their numbers are stored and never change.
const (
	Bool    Type = iota + 1
	Int          // 32 bits, signed
	Long         // 64 bits, signed
	HugeInt      // 128 bits, signed
	Float        // 32 bits
	Double       // 64 bits
	Text         // UTF-8
	Bytes
	Time // ms since 1970-01-01 UTC, 64 bits
)

// types holds, for each Type, its name and the column it is stored as.
var types = [...]struct {
	name   string
	column store.ColumnType
	width  int
}{
	Bool:    {"bool", store.ColumnBool, 1},
	Int:     {"int", store.ColumnInt32, 4},
	Long:    {"long", store.ColumnInt64, 8},
	HugeInt: {"hugeint", store.ColumnHugeInt, 16},
	Float:   {"float", store.ColumnFloat32, 4},
	Double:  {"double", store.ColumnFloat64, 8},
	Text:    {"text", store.ColumnText, 4},
	Bytes:   {"bytes", store.ColumnBytes, 4},
	Time:    {"time", store.ColumnTimestamp, 8},
}

// Valid says whether t is one of the types.
func (t Type) Valid() bool { return t >= Bool && int(t) < len(types) }

// String is the name of the type in our JSON: "bool", "int", "long", ...
func (t Type) String() string {
	if !t.Valid() {
		return "no type"
	}
	return types[t].name
}

// Column is the type of the vectors that hold values of t; 0 where t is no type.
func (t Type) Column() store.ColumnType {
	if !t.Valid() {
		return 0
	}
	return types[t].column
}

// Width is the number of bytes that a value takes in a vector, without the bytes
// of a text.
func (t Type) Width() int {
	if !t.Valid() {
		return 0
	}
	return types[t].width
}

// Numeric says whether values of t are numbers.
func (t Type) Numeric() bool { return t >= Int && t <= Double }

// OfColumn is the type whose vectors have the given column type; 0: none has.
func OfColumn(c store.ColumnType) Type {
	for t := Bool; t.Valid(); t++ {
		if types[t].column == c {
			return t
		}
	}
	return 0
}

// aliases are the other names that a type goes by: those of WSO2's definitions
// and event stores, and of SQL.
var aliases = map[string]Type{
	"string": Text, "varchar": Text,
	"integer": Int, "bigint": Long,
	"boolean": Bool, "binary": Bytes, "blob": Bytes,
	"timestamp": Time,
}

// ParseType reads the name of a type, in any case. It also takes the names of
// WSO2 (STRING, INTEGER, BOOLEAN, BINARY) and the commonest ones of SQL.
func ParseType(name string) (Type, error) {
	folded := strings.ToLower(name)
	for t := Bool; t.Valid(); t++ {
		if types[t].name == folded {
			return t, nil
		}
	}
	if t, ok := aliases[folded]; ok {
		return t, nil
	}
	return 0, invalid("type %q is not known; there are bool, int, long, hugeint, float, double, text, bytes and time", name)
}
