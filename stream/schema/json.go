package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// MaxDefinition is the most bytes that a definition has.
const MaxDefinition = 1 << 20

// definition is a stream definition as it is written: ours, or WSO2's.
type definition struct {
	Name        string          `json:"name"`
	Version     json.RawMessage `json:"version"`
	Description string          `json:"description"`
	Open        bool            `json:"open"`
	EventTime   string          `json:"eventTime"`
	Retention   json.RawMessage `json:"retention"`
	PrimaryKey  []string        `json:"primaryKey"`
	Fields      []attribute     `json:"fields"`
	// SourceVersion is WSO2's version, in a definition of ours that came of one.
	SourceVersion string `json:"sourceVersion"`

	// WSO2's.
	NickName        *string      `json:"nickName"`
	Tags            *[]string    `json:"tags"`
	MetaData        *[]attribute `json:"metaData"`
	CorrelationData *[]attribute `json:"correlationData"`
	PayloadData     *[]attribute `json:"payloadData"`
}

// attribute is one field of a definition.
type attribute struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Nullable *bool  `json:"nullable"`
	Indexed  bool   `json:"indexed"`
}

// written is our JSON, as it is written; its order is that of reading.
type written struct {
	Name          string         `json:"name"`
	Version       uint32         `json:"version,omitempty"`
	Description   string         `json:"description,omitempty"`
	Open          bool           `json:"open"`
	EventTime     string         `json:"eventTime,omitempty"`
	Retention     string         `json:"retention"`
	PrimaryKey    []string       `json:"primaryKey,omitempty"`
	Fields        []writtenField `json:"fields"`
	SourceVersion string         `json:"sourceVersion,omitempty"`
}

type writtenField struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Nullable bool   `json:"nullable"`
	Indexed  bool   `json:"indexed,omitempty"`
}

// Parse reads a definition, ours or WSO2's, and validates it:
//
//	{"name": "smart_home", "eventTime": "event_time", "retention": "90d", "open": false,
//	 "primaryKey": ["house_id"], "description": "…",
//	 "fields": [{"name": "event_time", "type": "time"},
//	            {"name": "power", "type": "double", "nullable": true, "indexed": true}]}
//
// A definition with metaData, correlationData or payloadData is WSO2's; see
// WSO2's rules at fromWSO2. It may have our options too, but not our fields.
// Keys that are not known are refused; strings may stand in single quotes.
// Errors match ErrInvalid.
func Parse(text []byte) (*Schema, error) {
	if len(text) > MaxDefinition {
		return nil, invalid("the definition has %d bytes; %d is the most", len(text), MaxDefinition)
	}
	var d definition
	if err := decodeStrictly(doubleQuoted(text), &d); err != nil {
		return nil, err
	}
	s := &Schema{
		Name: d.Name, Description: d.Description, Open: d.Open, EventTime: d.EventTime,
		PrimaryKey: d.PrimaryKey, SourceVersion: d.SourceVersion,
	}
	if err := d.readRetention(s); err != nil {
		return nil, err
	}
	if d.isWSO2() {
		if err := d.fromWSO2(s); err != nil {
			return nil, err
		}
	} else if err := d.readFields(s); err != nil {
		return nil, err
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return s, nil
}

// decodeStrictly is one JSON value and nothing after it, without unknown keys.
func decodeStrictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		var wrong *json.UnmarshalTypeError
		switch {
		case errors.As(err, &wrong):
			return invalid("the definition's %s is a %s; it must be %s", orWhole(wrong.Field), wrong.Value, wrong.Type)
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return invalid("the definition ends in the middle")
		}
		return invalid("the definition is not valid JSON: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return invalid("the definition goes on after its end, at byte %d", d.InputOffset())
	}
	return nil
}

func orWhole(field string) string {
	if field == "" {
		return "JSON"
	}
	return fmt.Sprintf("%q", field)
}

func (d *definition) readRetention(s *Schema) error {
	if len(d.Retention) == 0 || string(d.Retention) == "null" {
		return nil
	}
	var text string
	if err := json.Unmarshal(d.Retention, &text); err != nil {
		return invalid("retention %s must be text with a unit, such as \"90d\" or \"12h\"", d.Retention)
	}
	kept, err := ParseDuration(text)
	s.Retention = kept
	return err
}

func (d *definition) readFields(s *Schema) error {
	if len(d.Version) > 0 && string(d.Version) != "null" {
		n, err := strconv.ParseUint(string(d.Version), 10, 32)
		if err != nil {
			return invalid("version %s must be a whole number", d.Version)
		}
		s.Version = uint32(n)
	}
	s.Fields = make([]Field, 0, len(d.Fields))
	for i, a := range d.Fields {
		t, err := ParseType(a.Type)
		if err != nil {
			return invalid("field %d, %q: %v", i, a.Name, err)
		}
		s.Fields = append(s.Fields, Field{
			Name: a.Name, Type: t, Indexed: a.Indexed, Nullable: a.Nullable != nil && *a.Nullable,
		})
	}
	return nil
}

// MarshalJSON writes our JSON, which Parse reads.
func (s *Schema) MarshalJSON() ([]byte, error) {
	w := written{
		Name: s.Name, Version: s.Version, Description: s.Description, Open: s.Open,
		EventTime: s.EventTime, Retention: FormatDuration(s.Retention),
		PrimaryKey: s.PrimaryKey, SourceVersion: s.SourceVersion,
		Fields: make([]writtenField, len(s.Fields)),
	}
	for i, f := range s.Fields {
		w.Fields[i] = writtenField{f.Name, f.Type.String(), f.Nullable, f.Indexed}
	}
	return json.Marshal(w)
}

// UnmarshalJSON is Parse.
func (s *Schema) UnmarshalJSON(text []byte) error {
	parsed, err := Parse(text)
	if err != nil {
		return err
	}
	*s = *parsed
	return nil
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
