package schema

import "slices"

// Widen is the narrowest type that takes the values of both, as an open stream
// sees it:
//
//   - integers widen int, long, hugeint; float widens to double
//   - int and long with float or double are double: measures, of which some had
//     no fraction. A hugeint is an identifier rather than a measure: with a
//     fraction it becomes text, which keeps every digit
//   - all else that differs is text: the values as they were written
//
// ok is false where nothing takes both: bytes mix with nothing.
func Widen(a, b Type) (t Type, ok bool) {
	switch {
	case !a.Valid() || !b.Valid():
		return 0, false
	case a == b:
		return a, true
	case a == Bytes || b == Bytes:
		return 0, false
	case isInteger(a) && isInteger(b):
		return max(a, b), true
	case a.Numeric() && b.Numeric() && a != HugeInt && b != HugeInt:
		return Double, true
	}
	return Text, true
}

func isInteger(t Type) bool { return t >= Int && t <= HugeInt }

// Evolve gives s the fields: those it lacks are added, and must be nullable;
// those it has get the type, which must be the same or wider, and become
// nullable if they say so. Order and other options stay. Without a change it
// answers s itself; else another schema with the next version. Errors match
// ErrIncompatible or ErrInvalid.
func (s *Schema) Evolve(fields ...Field) (*Schema, bool, error) {
	var next *Schema
	edit := func() *Schema {
		if next == nil {
			next = s.Clone()
			next.Version++
		}
		return next
	}
	for _, f := range fields {
		current := s
		if next != nil {
			current = next
		}
		i := current.Index(f.Name)
		switch {
		case i < 0:
			if !f.Nullable {
				return nil, false, incompatible("field %q cannot be added as not nullable: older events have none", f.Name)
			}
			edit().Fields = append(edit().Fields, f)
		case current.Fields[i] != f:
			if err := s.mayBecome(current.Fields[i], f); err != nil {
				return nil, false, err
			}
			edit().Fields[i] = f
		}
	}
	if next == nil {
		return s, false, nil
	}
	if err := next.Validate(); err != nil {
		return nil, false, err
	}
	return next, true, nil
}

func (s *Schema) mayBecome(from, to Field) error {
	if wide, ok := Widen(from.Type, to.Type); !ok || wide != to.Type {
		return incompatible("field %q is of type %s and cannot become %s: older events would not fit", from.Name, from.Type, to.Type)
	}
	if from.Type != to.Type && slices.Contains(s.PrimaryKey, from.Name) {
		return incompatible("field %q is part of the primary key: its type cannot change from %s to %s", from.Name, from.Type, to.Type)
	}
	if from.Type != to.Type && from.Name == s.EventTime {
		return incompatible("field %q is the event time: its type cannot change from %s to %s", from.Name, from.Type, to.Type)
	}
	if from.Nullable && !to.Nullable {
		return incompatible("field %q is nullable and cannot become not nullable: older events may lack it", from.Name)
	}
	return nil
}

// Redefine makes of s what a new definition says: fields as by Evolve (those
// that the definition does not name stay), retention, openness and description
// as it has them. The name, the event time and the primary key must be the same.
// Where events widened a field of an open stream, the type that it had is no
// step back: the same definition can be given again.
func (s *Schema) Redefine(definition *Schema) (*Schema, bool, error) {
	if err := definition.Validate(); err != nil {
		return nil, false, err
	}
	switch {
	case definition.Name != s.Name:
		return nil, false, incompatible("stream %s cannot become %s: the name stays", s.Name, definition.Name)
	case definition.EventTime != s.EventTime:
		return nil, false, incompatible("event time %q cannot become %q: blocks are ordered by it", s.EventTime, definition.EventTime)
	case !slices.Equal(definition.PrimaryKey, s.PrimaryKey):
		return nil, false, incompatible("primary key %q cannot become %q: rows are named by it", s.PrimaryKey, definition.PrimaryKey)
	}
	next, changed, err := s.Evolve(s.keepWidened(definition.Fields)...)
	if err != nil {
		return nil, false, err
	}
	if s.Retention != definition.Retention || s.Open != definition.Open ||
		s.Description != definition.Description || s.SourceVersion != definition.SourceVersion {
		if !changed {
			next = s.Clone()
			next.Version++
		}
		changed = true
		next.Retention, next.Open = definition.Retention, definition.Open
		next.Description, next.SourceVersion = definition.Description, definition.SourceVersion
	}
	return next, changed, nil
}

// keepWidened gives fields of an open stream the type that they have by now, if
// it is the wider one.
func (s *Schema) keepWidened(fields []Field) []Field {
	if !s.Open {
		return fields
	}
	kept := slices.Clone(fields)
	for k := range kept {
		if i := s.Index(kept[k].Name); i >= 0 {
			if wide, ok := Widen(s.Fields[i].Type, kept[k].Type); ok && wide == s.Fields[i].Type {
				kept[k].Type = wide
			}
		}
	}
	return kept
}

// Absorb joins another version of the same stream into s, as it is when two
// writers evolved one version at once: fields that s lacks are added, and types
// are the wider of both. It is what an open stream does before it stores events
// that were read under another version; Fit then brings the events along.
func (s *Schema) Absorb(other *Schema) (*Schema, bool, error) {
	fields := make([]Field, 0, len(other.Fields))
	for _, f := range other.Fields {
		i := s.Index(f.Name)
		if i < 0 {
			f.Nullable = true
			fields = append(fields, f)
			continue
		}
		own := s.Fields[i]
		wide, ok := Widen(own.Type, f.Type)
		if !ok {
			return nil, false, incompatible("field %q is of type %s here and of type %s there", f.Name, own.Type, f.Type)
		}
		own.Type = wide
		own.Nullable = own.Nullable || f.Nullable
		fields = append(fields, own)
	}
	return s.Evolve(fields...)
}
