package schema

import (
	"slices"
	"time"

	"github.com/cellardb/cellar/store"
)

// Undated is the name of the mark that an event carries whose time was absent:
// a bool field, true where the stream's event time was taken from the arrival.
// An open stream gets the field when it first needs it; a strict one has it if
// it defines it (as a nullable bool). Events cannot set it themselves.
const Undated = "_undated"

// Field is one value that every event of a stream has, or may have.
type Field struct {
	Name string
	Type Type
	// Nullable: an event need not have the field. False in a definition means
	// that an event without it is rejected.
	Nullable bool
	// Indexed: the field is searched by its content.
	Indexed bool
}

// Schema describes a stream, as of one version. Do not change one that somebody
// else may see: Clone it.
type Schema struct {
	// Name: 1 to 128 of the characters A-Z a-z 0-9 _ . -; the first is a letter,
	// a digit or _.
	Name string
	// Version counts the changes of the fields, from 1; 0: not stored yet. Blocks
	// say under which version they were written.
	Version uint32
	// Fields, at most MaxFields, in the order in which they were added. A field
	// keeps its place for life.
	Fields []Field
	// EventTime names the field (of type time, or long: ms) that says when an
	// event happened; "": events happen when they arrive. An event that lacks it
	// takes the arrival, if the field is nullable.
	EventTime string
	// Retention is how long events are kept, after their time and their arrival;
	// 0: forever. Whole milliseconds.
	Retention time.Duration
	// PrimaryKey names the fields that identify an event; a later one replaces an
	// earlier one. Empty: events are only appended. A key field may be nullable:
	// null is a value of its own then.
	PrimaryKey []string
	// Open: events may bring fields that are not there, and wider types.
	Open bool
	// Description is for people.
	Description string
	// SourceVersion is the version that a WSO2 definition had ("1.0.0"); "" for
	// others.
	SourceVersion string
}

// Index is the position of a field; -1: there is none of that name. Names are
// compared byte by byte: x and X are two fields.
func (s *Schema) Index(name string) int {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// TimeIndex is the position of the event time; -1: the arrival is the time.
func (s *Schema) TimeIndex() int {
	if s.EventTime == "" {
		return -1
	}
	return s.Index(s.EventTime)
}

// KeyIndexes are the positions of the fields of the primary key, in its order.
func (s *Schema) KeyIndexes() []int {
	at := make([]int, len(s.PrimaryKey))
	for i, name := range s.PrimaryKey {
		at[i] = s.Index(name)
	}
	return at
}

// Columns are the fields as columns of a source.
func (s *Schema) Columns() []store.Column {
	columns := make([]store.Column, len(s.Fields))
	for i, f := range s.Fields {
		columns[i] = store.Column{
			Name: f.Name, Type: f.Type.Column(), Nullable: f.Nullable,
			Time: s.EventTime != "" && f.Name == s.EventTime,
		}
	}
	return columns
}

// Clone copies the schema deeply.
func (s *Schema) Clone() *Schema {
	c := *s
	c.Fields = slices.Clone(s.Fields)
	c.PrimaryKey = slices.Clone(s.PrimaryKey)
	return &c
}

// Equal says whether two schemas are the same in everything, the version
// included.
func (s *Schema) Equal(o *Schema) bool {
	return s.Name == o.Name && s.Version == o.Version && s.EventTime == o.EventTime &&
		s.Retention == o.Retention && s.Open == o.Open &&
		s.Description == o.Description && s.SourceVersion == o.SourceVersion &&
		slices.Equal(s.Fields, o.Fields) && slices.Equal(s.PrimaryKey, o.PrimaryKey)
}
