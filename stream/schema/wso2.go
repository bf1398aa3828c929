package schema

import (
	"encoding/json"
	"strings"
)

// What the attributes of WSO2's lists are called as fields.
const (
	MetaPrefix        = "meta_"
	CorrelationPrefix = "correlation_"
	// ArbitraryPrefix is that of the keys of an event's arbitrary map.
	ArbitraryPrefix = "_"
)

// recordTime is the payload attribute that is the time of an event.
const recordTime = "_timestamp"

func (d *definition) isWSO2() bool {
	return d.MetaData != nil || d.CorrelationData != nil || d.PayloadData != nil
}

// fromWSO2 reads the three lists of attributes of a WSO2 definition. Attribute x
// is field meta_x, correlation_x or, of the payload, x. Types are INT, LONG,
// FLOAT, DOUBLE, BOOL and STRING, in any case. Strings may be missing in an
// event, others may not, as WSO2's receivers have it; an attribute may say
// "nullable" and "indexed", as our fields do. A payload attribute _timestamp of
// type LONG is the event time.
func (d *definition) fromWSO2(s *Schema) error {
	if d.Fields != nil {
		return invalid("stream %s has fields, and the lists of a WSO2 definition; it can have one or the other", d.Name)
	}
	if err := d.readSourceVersion(s); err != nil {
		return err
	}
	lists := []struct {
		name, prefix string
		attributes   *[]attribute
	}{
		{"metaData", MetaPrefix, d.MetaData},
		{"correlationData", CorrelationPrefix, d.CorrelationData},
		{"payloadData", "", d.PayloadData},
	}
	for _, list := range lists {
		if list.attributes == nil {
			continue
		}
		for _, a := range *list.attributes {
			f, err := a.ofWSO2(list.name, list.prefix)
			if err != nil {
				return err
			}
			if f.Name == recordTime {
				f.Nullable = true // without it, the arrival is the time
				if f.Type != Long {
					return invalid("attribute %s of payloadData is of type %s; it must be LONG", recordTime, strings.ToUpper(a.Type))
				}
				if s.EventTime == "" {
					s.EventTime = recordTime
				}
			}
			s.Fields = append(s.Fields, f)
		}
	}
	return nil
}

func (a *attribute) ofWSO2(list, prefix string) (Field, error) {
	if a.Name == "" {
		return Field{}, invalid("an attribute of %s has no name", list)
	}
	switch strings.ToUpper(a.Type) {
	case "INT", "LONG", "FLOAT", "DOUBLE", "BOOL", "STRING":
	default:
		return Field{}, invalid("attribute %q of %s: type %q is not known; there are INT, LONG, FLOAT, DOUBLE, BOOL and STRING",
			a.Name, list, a.Type)
	}
	t, err := ParseType(a.Type)
	if err != nil {
		return Field{}, err
	}
	f := Field{Name: prefix + a.Name, Type: t, Nullable: t == Text, Indexed: a.Indexed}
	if a.Nullable != nil {
		f.Nullable = *a.Nullable
	}
	return f, nil
}

func (d *definition) readSourceVersion(s *Schema) error {
	s.SourceVersion = "1.0.0"
	if len(d.Version) == 0 || string(d.Version) == "null" {
		return nil
	}
	if err := json.Unmarshal(d.Version, &s.SourceVersion); err != nil {
		return invalid("version %s of a WSO2 definition must be text, such as \"1.0.0\"", d.Version)
	}
	return nil
}

// doubleQuoted gives strings in single quotes double ones, as WSO2's reader of
// definitions takes both. Text without single quotes outside of strings is
// returned as it is.
func doubleQuoted(text []byte) []byte {
	var out []byte // nil as long as nothing differs
	copied := 0
	for i := 0; i < len(text); {
		switch text[i] {
		case '"':
			i = stringEnd(text, i)
		case '\'':
			end := stringEnd(text, i)
			out = append(out, text[copied:i]...)
			out = appendRequoted(out, text[i:end])
			i, copied = end, end
		default:
			i++
		}
	}
	if out == nil {
		return text
	}
	return append(out, text[copied:]...)
}

// stringEnd is the index after the string that begins at i with its quote, or
// the end of the text.
func stringEnd(text []byte, i int) int {
	quote := text[i]
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		}
	}
	return len(text)
}

// appendRequoted appends a string in single quotes as one in double quotes. One
// that does not end stays so, for the JSON reader to complain about.
func appendRequoted(out, quoted []byte) []byte {
	out = append(out, '"')
	body := quoted[1:]
	ended := len(body) > 0 && body[len(body)-1] == '\''
	if ended {
		body = body[:len(body)-1]
	}
	for i := 0; i < len(body); i++ {
		switch {
		case body[i] == '"':
			out = append(out, '\\', '"')
		case body[i] == '\\' && i+1 < len(body):
			i++
			if body[i] != '\'' {
				out = append(out, '\\')
			}
			out = append(out, body[i])
		default:
			out = append(out, body[i])
		}
	}
	if ended {
		out = append(out, '"')
	}
	return out
}
