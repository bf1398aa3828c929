package schema

import (
	"slices"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of a definition.
const (
	MaxFields       = 1000
	MaxFieldName    = 255     // bytes
	MaxName         = 128     // bytes
	MaxDescription  = 4 << 10 // bytes
	MaxPrimaryKey   = 16      // fields
	minKeptDuration = time.Second
)

// Validate checks the rules of a definition. Its errors match ErrInvalid and
// name the field and the value.
func (s *Schema) Validate() error {
	if err := ValidateName(s.Name); err != nil {
		return err
	}
	if len(s.Fields) == 0 && !s.Open {
		return invalid("stream %s has no fields; define some, or make it open", s.Name)
	}
	if len(s.Fields) > MaxFields {
		return invalid("stream %s has %d fields; %d is the most", s.Name, len(s.Fields), MaxFields)
	}
	if err := s.validateFields(); err != nil {
		return err
	}
	if err := s.validateEventTime(); err != nil {
		return err
	}
	if err := s.validateKey(); err != nil {
		return err
	}
	return s.validateRest()
}

// ValidateName checks the name of a stream.
func ValidateName(name string) error {
	if name == "" {
		return invalid("a stream needs a name")
	}
	if len(name) > MaxName {
		return invalid("the name of a stream has at most %d bytes, not %d", MaxName, len(name))
	}
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
		if !letter && (i == 0 || c != '.' && c != '-') {
			return invalid("stream name %q: character %d may not be %q; letters, digits and _ may, and within it . and -",
				name, i+1, c)
		}
	}
	return nil
}

// ValidateFieldName checks the name of a field: valid UTF-8 of at most
// MaxFieldName bytes, no control characters, no blanks at its ends.
func ValidateFieldName(name string) error {
	switch {
	case name == "":
		return invalid("a field needs a name")
	case len(name) > MaxFieldName:
		return invalid("field name %.40q... has %d bytes; %d is the most", name, len(name), MaxFieldName)
	case !utf8.ValidString(name):
		return invalid("field name %q is not valid UTF-8", name)
	}
	first, _ := utf8.DecodeRuneInString(name)
	last, _ := utf8.DecodeLastRuneInString(name)
	if unicode.IsSpace(first) || unicode.IsSpace(last) {
		return invalid("field name %q begins or ends with a blank", name)
	}
	for _, r := range name {
		if unicode.IsControl(r) {
			return invalid("field name %q holds a control character", name)
		}
	}
	return nil
}

func (s *Schema) validateFields() error {
	seen := make(map[string]bool, len(s.Fields))
	for _, f := range s.Fields {
		if err := ValidateFieldName(f.Name); err != nil {
			return err
		}
		if !f.Type.Valid() {
			return invalid("field %q has no type", f.Name)
		}
		if seen[f.Name] {
			return invalid("field %q is defined twice", f.Name)
		}
		seen[f.Name] = true
		if f.Name == Undated && (f.Type != Bool || !f.Nullable) {
			return invalid("field %q marks events without a time: it must be a nullable bool", f.Name)
		}
	}
	return nil
}

func (s *Schema) validateEventTime() error {
	if s.EventTime == "" {
		return nil
	}
	i := s.Index(s.EventTime)
	if i < 0 {
		return invalid("event time %q is not a field of stream %s", s.EventTime, s.Name)
	}
	if t := s.Fields[i].Type; t != Time && t != Long {
		return invalid("event time %q is of type %s; time or long (ms) can be one", s.EventTime, t)
	}
	return nil
}

func (s *Schema) validateKey() error {
	if len(s.PrimaryKey) > MaxPrimaryKey {
		return invalid("the primary key has %d fields; %d is the most", len(s.PrimaryKey), MaxPrimaryKey)
	}
	for i, name := range s.PrimaryKey {
		if s.Index(name) < 0 {
			return invalid("primary key %q is not a field of stream %s", name, s.Name)
		}
		if slices.Contains(s.PrimaryKey[:i], name) {
			return invalid("primary key names %q twice", name)
		}
	}
	return nil
}

func (s *Schema) validateRest() error {
	switch {
	case s.Retention < 0 || s.Retention > 0 && s.Retention < minKeptDuration:
		return invalid("retention %s is too short; %s is the least, 0 keeps events forever", s.Retention, minKeptDuration)
	case s.Retention%time.Millisecond != 0:
		return invalid("retention %s is no whole number of milliseconds", s.Retention)
	case len(s.Description) > MaxDescription:
		return invalid("the description has %d bytes; %d is the most", len(s.Description), MaxDescription)
	case !utf8.ValidString(s.Description):
		return invalid("the description is not valid UTF-8")
	}
	return nil
}
