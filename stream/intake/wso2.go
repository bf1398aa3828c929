package intake

import (
	"unicode/utf8"

	"github.com/cellardb/cellar/stream/schema"
)

// section is a part of an event in WSO2's shape, and what its keys are called as
// fields.
type section struct{ name, prefix string }

var sections = [...]section{
	{"payloadData", ""},
	{"metaData", schema.MetaPrefix},
	{"correlationData", schema.CorrelationPrefix},
	{"arbitraryDataMap", schema.ArbitraryPrefix},
}

// wso2Event says whether the object whose first byte after the brace is b[i] is
// {"event":{"payloadData":…: its first key is event, and the first key in that is
// a section. The answer is the index of that key's quote; -1: it is none.
func wso2Event(b []byte, i int) int {
	const key = `"event"`
	i = skipBlanks(b, i)
	if len(b)-i < len(key) || string(b[i:i+len(key)]) != key {
		return -1
	}
	if i = skipColon(b, i+len(key)); i < 0 {
		return -1
	}
	if i = skipBlanks(b, i); i >= len(b) || b[i] != '{' {
		return -1
	}
	if i = skipBlanks(b, i+1); i < len(b) && b[i] == '"' && sectionAt(b, i+1) != nil {
		return i
	}
	return -1
}

// sectionAt is the section whose name is the key at b[i]; nil: it is none.
func sectionAt(b []byte, i int) *section {
	for s := range sections {
		name := sections[s].name
		if end := i + len(name); end < len(b) && b[end] == '"' && string(b[i:end]) == name {
			return &sections[s]
		}
	}
	return nil
}

// sections reads the sections of an event, from the quote of the first one's key
// to the end of the object around it.
func (p *parser) sections(b []byte, i int) int {
	for more := true; more; {
		if i >= len(b) {
			return endOfData
		}
		if b[i] != '"' {
			return badSyntax
		}
		i = p.section(b, i+1)
		if i < 0 {
			return i
		}
		if i, more = listGoesOn(b, i); i < 0 {
			return i
		}
	}
	i, more := listGoesOn(b, i)
	for more && i >= 0 {
		p.reject("event", "the object holds more than the event")
		if i >= len(b) {
			return endOfData
		}
		if b[i] != '"' {
			return badSyntax
		}
		if i = skipText(b, i+1); i >= 0 {
			if i = skipColon(b, i); i >= 0 {
				if i = p.skipValue(b, i); i >= 0 {
					i, more = listGoesOn(b, i)
				}
			}
		}
	}
	return i
}

// listGoesOn passes the comma or the closing brace after a value of an object,
// and, after a comma, the blanks before the next key.
func listGoesOn(b []byte, i int) (end int, more bool) {
	if i = skipBlanks(b, i); i >= len(b) {
		return endOfData, false
	}
	switch b[i] {
	case ',':
		return skipBlanks(b, i+1), true
	case '}':
		return i + 1, false
	}
	return badSyntax, false
}

// section reads one section, from its key on, which is at b[i].
func (p *parser) section(b []byte, i int) int {
	s := sectionAt(b, i)
	key, end := p.readKey(b, i)
	if end < 0 {
		return end
	}
	if s == nil {
		p.reject(fieldName(key), "an event has no such section")
	}
	if i = skipColon(b, end); i < 0 {
		return i
	}
	if i = skipBlanks(b, i); i >= len(b) {
		return endOfData
	}
	switch {
	case p.bad || b[i] == 'n':
		return p.skipValue(b, i)
	case b[i] != '{':
		p.reject(s.name, "the section is not an object")
		return p.skipValue(b, i)
	}
	p.prefix = append(p.prefix[:0], s.prefix...)
	i = p.object(b, i+1, 1)
	p.prefix = p.prefix[:0]
	return i
}

// setArray gives the record an array, as its text.
func (p *parser) setArray(c *column, raw []byte) {
	p.claim(c)
	if utf8.Valid(raw) {
		c.v.Bytes = append(c.v.Bytes, raw...)
	} else {
		c.v.Bytes = appendMended(c.v.Bytes, raw)
		p.mending = true
	}
	c.endText()
}
