package cell

import (
	"bytes"
	"cmp"
	"math"
)

// Latest as the timestamp of an edit means "the server's clock when the
// mutation is applied". It is HBase's HConstants.LATEST_TIMESTAMP.
const Latest int64 = math.MaxInt64

// Type says what a stored cell is: a value, or a marker that masks values. The
// numbers are HBase's KeyValue.Type codes, since cells sort by them.
type Type uint8

// Types of stored cells. What a marker masks, it masks by timestamp, whatever
// the order of the writes was.
const (
	TypePut                 Type = 4  // a value
	TypeDelete              Type = 8  // masks the put of its column at exactly its timestamp
	TypeDeleteFamilyVersion Type = 10 // masks the puts of its family at exactly its timestamp
	TypeDeleteColumn        Type = 12 // masks the puts of its column up to its timestamp
	TypeDeleteFamily        Type = 14 // masks the puts of its family up to its timestamp
)

// IsMarker says whether t masks other cells instead of holding a value.
func (t Type) IsMarker() bool { return t != TypePut }

// IsFamilyMarker says whether t masks cells of a whole family; such a marker
// is stored under the empty qualifier.
func (t Type) IsFamilyMarker() bool { return t == TypeDeleteFamily || t == TypeDeleteFamilyVersion }

// Valid says whether t is one of the types above.
func (t Type) Valid() bool {
	switch t {
	case TypePut, TypeDelete, TypeDeleteFamilyVersion, TypeDeleteColumn, TypeDeleteFamily:
		return true
	}
	return false
}

// String gives the name that HBase's tools print.
func (t Type) String() string {
	switch t {
	case TypePut:
		return "Put"
	case TypeDelete:
		return "Delete"
	case TypeDeleteFamilyVersion:
		return "DeleteFamilyVersion"
	case TypeDeleteColumn:
		return "DeleteColumn"
	case TypeDeleteFamily:
		return "DeleteFamily"
	}
	return "Unknown"
}

// Cell is one version of one column, or one marker.
//
// A cell that a read returned points into memory of the reader: it is valid
// until the next call on the scanner, or as long as the Result that holds it is
// not used again. Clone it to keep it.
type Cell struct {
	Row       []byte
	Family    []byte
	Qualifier []byte
	Timestamp int64 // ms
	Type      Type
	Value     []byte
	// TTL is the cell's own time to live in ms, counted from Timestamp; 0 is
	// none. HBase keeps it as tag type 8; here it is apart from Tags.
	TTL int64
	// Tags are the other HBase tags of the cell, serialized as HBase does
	// (u16 length, u8 type, bytes; repeated). Nil is none.
	Tags []byte
}

// Compare orders cells as HBase stores them: row, family and qualifier
// ascending, then timestamp descending, then type descending. Of two cells with
// the same timestamp the marker therefore comes before the put.
func Compare(a, b *Cell) int {
	if c := bytes.Compare(a.Row, b.Row); c != 0 {
		return c
	}
	return CompareInRow(a, b)
}

// CompareInRow is Compare for two cells that are known to be of one row.
func CompareInRow(a, b *Cell) int {
	if c := bytes.Compare(a.Family, b.Family); c != 0 {
		return c
	}
	if c := bytes.Compare(a.Qualifier, b.Qualifier); c != 0 {
		return c
	}
	if c := cmp.Compare(b.Timestamp, a.Timestamp); c != 0 {
		return c
	}
	return cmp.Compare(b.Type, a.Type)
}

// Clone copies the cell and all bytes it points to.
func (c *Cell) Clone() Cell {
	d := *c
	d.Row = bytes.Clone(c.Row)
	d.Family = bytes.Clone(c.Family)
	d.Qualifier = bytes.Clone(c.Qualifier)
	d.Value = bytes.Clone(c.Value)
	d.Tags = bytes.Clone(c.Tags)
	return d
}

// keyValueFixed is what HBase's KeyValue adds to the bytes of its parts: two
// lengths of 4, row length 2, family length 1, timestamp 8, type 1.
const keyValueFixed = 4 + 4 + 2 + 1 + 8 + 1

// Size is the cell's size in bytes as a serialized HBase KeyValue, tags left
// out. Limits on the size of a cell compare this figure.
func (c *Cell) Size() int {
	return keyValueFixed + len(c.Row) + len(c.Family) + len(c.Qualifier) + len(c.Value)
}
