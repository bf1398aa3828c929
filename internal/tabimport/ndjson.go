package tabimport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// ndjson splits lines of JSON objects. Names of nested objects are joined with
// points; an array is the value that it is written as; what is null is not
// there.
type ndjson struct {
	w    *window
	text []byte // names, and strings with escapes
	// nested is the names of the objects that the scan is in, joined.
	nested []byte
}

// maxNesting bounds objects in objects.
const maxNesting = 64

func (n *ndjson) window() *window { return n.w }

func (n *ndjson) next(rec *record) error {
	next, taken, err := readLine(n.w, rec)
	if err != nil || taken {
		return err
	}
	n.text, n.nested = n.text[:0], n.nested[:0]
	line := space(rec.raw)
	switch {
	case !json.Valid(line):
		rec.fault = "not JSON"
	case line[0] != '{':
		rec.fault = "not a JSON object"
	default:
		n.object(rec, line, 1)
	}
	n.w.take(next, 1)
	return nil
}

// object takes an object apart and gives what comes after it. The text is valid
// JSON: nothing is looked at that could be wrong. After a fault there is no rest.
func (n *ndjson) object(rec *record, b []byte, depth int) (rest []byte) {
	if depth > maxNesting {
		rec.fault = fmt.Sprintf("objects nested deeper than %d", maxNesting)
		return nil
	}
	outer := len(n.nested)
	for b = space(b[1:]); b[0] != '}'; {
		var name []byte
		name, b = stringToken(b)
		b = space(space(b)[1:]) // the colon
		n.nested = append(n.nested[:outer], n.unescape(name)...)
		if b[0] == '{' {
			n.nested = append(n.nested, '.')
			b = n.object(rec, b, depth+1)
		} else {
			b = n.value(rec, b)
		}
		if rec.fault != "" {
			return nil
		}
		if b = space(b); b[0] == ',' {
			b = space(b[1:])
		}
	}
	n.nested = n.nested[:outer]
	return b[1:]
}

// value notes a value that is no object, under the name that is in nested.
func (n *ndjson) value(rec *record, b []byte) (rest []byte) {
	var value []byte
	switch b[0] {
	case '"':
		value, b = stringToken(b)
		value = n.unescape(value)
	case '[':
		value, b = arrayToken(b)
	default:
		i := bytes.IndexAny(b, ",}] \t\r\n")
		value, b = b[:i], b[i:]
		if string(value) == "null" {
			return b
		}
	}
	switch {
	case len(rec.fields) == maxFields:
		rec.fault = tooMany
		return nil
	case len(n.text)+len(n.nested) > n.w.max:
		// The name of an outer object is part of many names.
		rec.fault = "its names, joined, are " + tooLong(n.w.max)
		return nil
	}
	begin := len(n.text)
	n.text = append(n.text, n.nested...)
	rec.names = append(rec.names, n.text[begin:len(n.text):len(n.text)])
	rec.fields = append(rec.fields, value)
	return b
}

func space(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\r' || b[0] == '\n') {
		b = b[1:]
	}
	return b
}

// stringToken cuts a string off, its quotes included.
func stringToken(b []byte) (token, rest []byte) {
	for i := 1; ; i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return b[:i+1], b[i+1:]
		}
	}
}

// arrayToken cuts an array off.
func arrayToken(b []byte) (token, rest []byte) {
	depth := 0
	for i := 0; ; i++ {
		switch b[i] {
		case '"':
			token, _ := stringToken(b[i:])
			i += len(token) - 1
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return b[:i+1], b[i+1:]
			}
		}
	}
}

// unescape gives the text of a string. Bytes that are no UTF-8 become U+FFFD, as
// in encoding/json.
func (n *ndjson) unescape(token []byte) []byte {
	inner := token[1 : len(token)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return inner
	}
	var s string
	if err := json.Unmarshal(token, &s); err != nil {
		return inner // cannot be: the token is valid
	}
	begin := len(n.text)
	n.text = append(n.text, s...)
	return n.text[begin:len(n.text):len(n.text)]
}
