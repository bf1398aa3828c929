package schema

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	s, err := Parse([]byte(`{"name": "smart_home", "version": 3, "eventTime": "event_time", "retention": "90d",
		"open": true, "primaryKey": ["house_id"], "description": "meters", "sourceVersion": "1.2.3",
		"fields": [{"name": "event_time", "type": "time"}, {"name": "house_id", "type": "INTEGER", "indexed": true},
		           {"name": "power", "type": "double", "nullable": true}, {"name": "x", "type": "long", "nullable": false}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := &Schema{
		Name: "smart_home", Version: 3, EventTime: "event_time", Retention: 90 * 24 * time.Hour,
		Open: true, PrimaryKey: []string{"house_id"}, Description: "meters", SourceVersion: "1.2.3",
		Fields: []Field{
			{Name: "event_time", Type: Time}, {Name: "house_id", Type: Int, Indexed: true},
			{Name: "power", Type: Double, Nullable: true}, {Name: "x", Type: Long},
		},
	}
	if !s.Equal(want) {
		t.Errorf("%+v", s)
	}
	const text = `{"name":"smart_home","version":3,"description":"meters","open":true,"eventTime":"event_time",` +
		`"retention":"90d","primaryKey":["house_id"],"fields":[{"name":"event_time","type":"time","nullable":false},` +
		`{"name":"house_id","type":"int","nullable":false,"indexed":true},{"name":"power","type":"double","nullable":true},` +
		`{"name":"x","type":"long","nullable":false}],"sourceVersion":"1.2.3"}`
	if got, err := json.Marshal(s); string(got) != text || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	var again Schema
	if err := json.Unmarshal([]byte(text), &again); err != nil || !again.Equal(s) {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestParseDefaults(t *testing.T) {
	s, err := Parse([]byte(`{"name": "s", "fields": [{"name": "x", "type": "long"}]}`))
	if err != nil || s.Open || s.Retention != 0 || s.EventTime != "" || s.PrimaryKey != nil || s.Version != 0 ||
		s.Fields[0] != (Field{Name: "x", Type: Long}) {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err = Parse([]byte(`{"name": "s", "open": true, "retention": null, "version": null}`)); err != nil || len(s.Fields) != 0 {
		t.Errorf("an open stream without fields: %+v, %v", s, err)
	}
}

func TestParseRefuses(t *testing.T) {
	cases := map[string]string{
		``: "ends in the middle", `{`: "ends in the middle", `{"name": "s"`: "ends in the middle", `nonsense`: "not valid JSON",
		`{"name": "s", "open": true} {}`: "goes on after its end", `{"name": "s", "open": true}]`: "goes on after its end",
		`[]`:                           "JSON is a array; it must be",
		`{"name": 5, "open": true}`:    `"name" is a number; it must be string`,
		`{"name": "s", "open": "yes"}`: `"open" is a string; it must be bool`,
		`{"name": "s", "open": true, "colour": 1}`:                                                            `unknown field "colour"`,
		`{"name": "s", "open": true, "retention": 90}`:                                                        `retention 90 must be text with a unit`,
		`{"name": "s", "open": true, "retention": "90"}`:                                                      "90 has no unit",
		`{"name": "s", "open": true, "version": "1.0.0"}`:                                                     `version "1.0.0" must be a whole number`,
		`{"name": "s", "open": true, "version": -1}`:                                                          "version -1 must be",
		`{"name": "s", "open": true, "version": 4294967296}`:                                                  "version 4294967296 must be",
		`{"name": "s", "fields": [{"name": "x", "type": "number"}]}`:                                          `field 0, "x": type "number" is not known`,
		`{"name": "s", "fields": [{"name": "x"}]}`:                                                            `field 0, "x": type "" is not known`,
		`{"name": "s", "fields": [{"name": "x", "type": "int", "size": 3}]}`:                                  `unknown field "size"`,
		`{"name": "s", "fields": []}`:                                                                         "has no fields",
		`{"name": "s", "fields": [{"name": "x", "type": "int"}, {"name": "x", "type": "int"}]}`:               `"x" is defined twice`,
		`{"name": "s", "eventTime": "y", "fields": [{"name": "x", "type": "int"}]}`:                           `event time "y"`,
		`{"name": "s", "fields": [{"name": "x", "type": "int"}], "payloadData": [{"name":"y","type":"int"}]}`: "one or the other",
		`{"name": "s", "description": "` + strings.Repeat("d", MaxDefinition) + `"}`:                          "1048576 is the most",
		`{"name": "` + strings.Repeat("[", 100) + `", "open": true}`:                                          "character 1 may not be '['",
		`{"name": 's", "open": true}`:                                                                         "ends in the middle",
	}
	for text, want := range cases {
		s, err := Parse([]byte(text))
		if s != nil || !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v; want %q", text, err, want)
		}
	}
	if len(cases) != 25 {
		t.Errorf("%d cases", len(cases))
	}
}

// A definition as WSO2's documentation shows them.
func TestParseWSO2(t *testing.T) {
	s, err := Parse([]byte(`{"name": "org.example.home", "version": "1.2.0", "nickName": "home", "description": "d", "tags": ["a"],
		"metaData": [{"name": "ip", "type": "STRING"}, {"name": "port", "type": "int"}],
		"correlationData": [{"name": "id", "type": "LONG"}],
		"payloadData": [{"name": "house_id", "type": "INT"}, {"name": "power", "type": "FLOAT"}, {"name": "v", "type": "double"},
		                {"name": "is_peak", "type": "BOOL"}, {"name": "city", "type": "string"}, {"name": "_timestamp", "type": "LONG"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := &Schema{
		Name: "org.example.home", SourceVersion: "1.2.0", Description: "d", EventTime: "_timestamp",
		Fields: []Field{
			{Name: "meta_ip", Type: Text, Nullable: true}, {Name: "meta_port", Type: Int}, {Name: "correlation_id", Type: Long},
			{Name: "house_id", Type: Int}, {Name: "power", Type: Float}, {Name: "v", Type: Double}, {Name: "is_peak", Type: Bool},
			{Name: "city", Type: Text, Nullable: true}, {Name: "_timestamp", Type: Long, Nullable: true},
		},
	}
	if !s.Equal(want) {
		t.Errorf("%+v", s)
	}
}

func TestParseWSO2Leniently(t *testing.T) {
	cases := map[string]func(*Schema) bool{
		`{'name':'a.b','payloadData':[{'name':'x','type':'Int'}]}`: func(s *Schema) bool {
			return s.Name == "a.b" && s.SourceVersion == "1.0.0" && s.Fields[0] == Field{Name: "x", Type: Int}
		},
		`{'name':"a", 'description':'it\'s "his"\n', "metaData":[{"name":"ip's","type":'STRING'}]}`: func(s *Schema) bool {
			return s.Description == "it's \"his\"\n" && s.Fields[0].Name == "meta_ip's"
		},
		// Our options, and those of our fields, beside WSO2's lists.
		`{"name":"a","open":true,"retention":"30 days","primaryKey":["x"],"eventTime":"x","payloadData":[{"name":"x","type":"LONG","indexed":true,"nullable":true}]}`: func(s *Schema) bool {
			return s.Open && s.Retention == 30*day && s.PrimaryKey[0] == "x" && s.EventTime == "x" &&
				s.Fields[0] == Field{Name: "x", Type: Long, Nullable: true, Indexed: true}
		},
		`{"name":"a","version":null,"eventTime":"x","payloadData":[{"name":"x","type":"LONG"},{"name":"_timestamp","type":"LONG"}]}`: func(s *Schema) bool {
			return s.EventTime == "x" && s.SourceVersion == "1.0.0"
		},
		`{"name":"a","metaData":[{"name":"_timestamp","type":"STRING"}]}`: func(s *Schema) bool {
			return s.EventTime == "" && s.Fields[0].Name == "meta__timestamp"
		},
		`{"name":"a","metaData":[],"correlationData":[],"payloadData":[{"name":"meta_x","type":"INT"}]}`: func(s *Schema) bool {
			return len(s.Fields) == 1
		},
	}
	for text, holds := range cases {
		if s, err := Parse([]byte(text)); err != nil || !holds(s) {
			t.Errorf("%s: %+v, %v", text, s, err)
		}
	}
	if len(cases) != 6 {
		t.Errorf("%d cases", len(cases))
	}
}

func TestParseWSO2Refuses(t *testing.T) {
	cases := map[string]string{
		`{"name":"a","payloadData":[]}`:                                                                      "has no fields",
		`{"payloadData":[{"name":"x","type":"INT"}]}`:                                                        "needs a name",
		`{"name":"a","payloadData":[{"type":"INT"}]}`:                                                        "an attribute of payloadData has no name",
		`{"name":"a","metaData":[{"name":"x","type":"TEXT"}]}`:                                               `attribute "x" of metaData: type "TEXT" is not known`,
		`{"name":"a","metaData":[{"name":"x","type":"INTEGER"}]}`:                                            `type "INTEGER" is not known`,
		`{"name":"a","metaData":[{"name":"x"}]}`:                                                             `type "" is not known`,
		`{"name":"a","payloadData":[{"name":"x","type":"INT"},{"name":"x","type":"INT"}]}`:                   `"x" is defined twice`,
		`{"name":"a","payloadData":[{"name":"meta_x","type":"INT"}],"metaData":[{"name":"x","type":"INT"}]}`: `"meta_x" is defined twice`,
		`{"name":"a","payloadData":[{"name":"_timestamp","type":"string"}]}`:                                 "is of type STRING; it must be LONG",
		`{"name":"a","version":1,"payloadData":[{"name":"x","type":"INT"}]}`:                                 "version 1 of a WSO2 definition must be text",
	}
	for text, want := range cases {
		if _, err := Parse([]byte(text)); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
	}
	if len(cases) != 10 {
		t.Errorf("%d cases", len(cases))
	}
}

// What Parse takes, it writes so that it reads the same again.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"name":"s","open":true}`, `{'name':'a\'b','open':true}`, `{"name":"s","fields":[{"name":"x","type":"int"}],"retention":"1h"}`,
		`{"name":"a","payloadData":[{"name":"_timestamp","type":"LONG"}]}`, `{'name':'`, `'`, `'\`, `{"name":"\"'"}`, `{"a":'\`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before := slices.Clone(text)
		s, err := Parse(text)
		if !slices.Equal(text, before) {
			t.Fatal("the text was changed")
		}
		if err != nil {
			if s != nil || !errors.Is(err, ErrInvalid) {
				t.Fatalf("%v, %v", s, err)
			}
			return
		}
		out, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Parse(out); err != nil || !again.Equal(s) {
			t.Fatalf("%s: %+v, %v", out, again, err)
		}
	})
}
