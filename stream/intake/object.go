package intake

import (
	"unicode/utf8"

	"github.com/cellardb/cellar/stream/schema"
)

// read begins a record and reads the JSON value at b[i] as an event. It answers
// the index after it, or a code. Either way end or abandon comes next.
func (p *parser) read(b []byte, i int) int {
	p.begin()
	p.at = i
	if b[i] != '{' {
		if i = p.skipValue(b, i); i >= 0 {
			p.reject("", "it is not an object")
		}
		return i
	}
	if p.wso2 {
		if first := wso2Event(b, i+1); first >= 0 {
			p.lenient = true
			i = p.sections(b, first)
			p.lenient = false
			return i
		}
	}
	return p.object(b, i+1, 1)
}

// object reads the values of the object whose first byte after the brace is
// b[i], and answers the index after its closing brace, or a code. Once the
// record is bad, it only looks for the end.
func (p *parser) object(b []byte, i, depth int) int {
	if i = skipBlanks(b, i); i < len(b) && b[i] == '}' {
		return i + 1
	}
	for {
		if i >= len(b) {
			return endOfData
		}
		p.at = i
		if b[i] != '"' {
			return badSyntax
		}
		at, end := p.expected(b, i+1)
		var key []byte
		if at < 0 {
			if key, end = p.readKey(b, i+1); end < 0 {
				return end
			}
		}
		// One blank or none is what writers put after a colon and a comma.
		if i = end; i < len(b) && b[i] == ':' {
			i++
		} else if i = skipColon(b, i); i < 0 {
			return i
		}
		if i = skipBlanks(b, i); i >= len(b) {
			return endOfData
		}
		p.at = i
		switch {
		case p.bad:
			i = p.skipValue(b, i)
		case b[i] == '{':
			i = p.nested(b, i, depth, at, key)
		case at >= 0:
			p.key++
			i = p.value(b, i, &p.cols[at])
		default:
			i = p.unexpected(b, i, key)
		}
		if i < 0 {
			return i
		}
		if i >= len(b) || b[i] != ',' && b[i] != '}' {
			if i = skipBlanks(b, i); i >= len(b) {
				return endOfData
			}
		}
		switch b[i] {
		case '}':
			return i + 1
		case ',':
			i = skipBlanks(b, i+1)
		default:
			return badSyntax
		}
	}
}

// expected looks whether the key at b[i] is the one that stood there in the
// record before, and answers its column and the index after the closing quote; a
// negative column if it is not.
func (p *parser) expected(b []byte, i int) (at, end int) {
	if p.key >= len(p.order) {
		return -1, 0
	}
	at = int(p.order[p.key])
	if at < 0 {
		return -1, 0
	}
	c := &p.cols[at]
	name := c.field.Name
	if n := len(p.prefix); n > 0 {
		if len(name) <= n || name[:n] != string(p.prefix) {
			return -1, 0
		}
		name = name[n:]
	}
	end = i + len(name)
	if !c.plain || end >= len(b) || b[end] != '"' || string(b[i:end]) != name {
		return -1, 0
	}
	return at, end + 1
}

// readKey reads the key at b[i] as UTF-8. It is valid until the next one.
func (p *parser) readKey(b []byte, i int) (key []byte, end int) {
	stop, beyondASCII := textEnd(b, i)
	if stop < len(b) && b[stop] == '"' && !beyondASCII {
		return b[i:stop], stop + 1
	}
	var mended bool
	p.scratch, end, mended = appendText(p.scratch[:0], b, i)
	p.mending = p.mending || mended
	return p.scratch, end
}

// nested reads an object within the event: its keys are joined to the prefix.
func (p *parser) nested(b []byte, i, depth, at int, key []byte) int {
	before := len(p.prefix)
	if at >= 0 {
		p.prefix = append(p.prefix[:0], p.cols[at].field.Name...)
	} else {
		p.prefix = append(p.prefix, key...)
	}
	defer func() { p.prefix = p.prefix[:before] }()
	switch {
	case depth >= p.opt.MaxDepth:
		p.rejectf(fieldName(p.prefix), "objects lie deeper than %d in the event", p.opt.MaxDepth)
		return p.skipValue(b, i)
	case len(p.prefix) > schema.MaxFieldName:
		p.rejectf(fieldName(p.prefix), "names of objects within objects are too long")
		return p.skipValue(b, i)
	}
	p.prefix = append(p.prefix, '.')
	return p.object(b, i+1, depth+1)
}

// unexpected reads a value whose key is not that of the record before.
func (p *parser) unexpected(b []byte, i int, key []byte) int {
	name := key
	if len(p.prefix) > 0 {
		whole := len(p.prefix)
		p.prefix = append(p.prefix, key...)
		name = p.prefix
		defer func() { p.prefix = p.prefix[:whole] }()
	}
	at, known := p.index[string(name)]
	if known && p.cols[at].mark {
		p.reject(string(name), "the field is set by Cellar")
		return p.skipValue(b, i)
	}
	if known {
		if p.key < len(p.order) {
			p.order[p.key] = at
		} else if p.key == len(p.order) && len(p.order) < schema.MaxFields {
			p.order = append(p.order, at)
		}
		p.key++
		return p.value(b, i, &p.cols[at])
	}
	if p.schema.Open {
		return p.newField(b, i, name)
	}
	end := p.skipValue(b, i)
	if end < 0 || string(b[i:end]) == "null" && p.isObject(string(name)) {
		return end // an object of fields that are all null
	}
	p.reject(fieldName(name), "the stream has no such field")
	return end
}

// fieldName is a name from outside, or as much of it as a field could have.
func fieldName(name []byte) string { return string(name[:min(len(name), schema.MaxFieldName)]) }

// isObject says whether there are fields of an object of the name.
func (p *parser) isObject(name string) bool {
	for i := range p.cols {
		if field := p.cols[i].field.Name; len(field) > len(name) && field[len(name)] == '.' && field[:len(name)] == name {
			return true
		}
	}
	return false
}

// newField adds the field that an open stream does not have yet, if the value
// says of what type.
func (p *parser) newField(b []byte, i int, name []byte) int {
	t := schema.Text
	switch c := b[i]; {
	case c == 'n':
		_, end := readWord(b, i) // null, or no JSON
		return end
	case c == 't', c == 'f':
		t = schema.Bool
	case c == '-' || c-'0' <= 9:
		if n, end := readNumber(b, i); end >= 0 {
			t = typeOfNumber(&n, b[i:end])
		}
	}
	at := p.fieldFor(name, t)
	if at < 0 {
		return p.skipValue(b, i)
	}
	return p.value(b, i, &p.cols[at])
}

// fieldFor adds a field to an open stream, or rejects the record.
func (p *parser) fieldFor(name []byte, t schema.Type) int {
	text := string(name)
	if err := schema.ValidateFieldName(text); err != nil {
		p.rejectf(fieldName(name), "%v", err)
		return -1
	}
	if text == schema.Undated {
		p.reject(text, "the field is set by Cellar")
		return -1
	}
	if len(p.cols) >= schema.MaxFields {
		p.rejectf(text, "the stream has %d fields already, the most there can be", len(p.cols))
		return -1
	}
	return p.addColumn(text, t)
}

// value reads the value at b[i] into a column, and answers the index after it,
// or a code.
func (p *parser) value(b []byte, i int, c *column) int {
	switch ch := b[i]; {
	case ch == '"':
		return p.textValue(b, i+1, c)
	case ch-'0' <= 9, ch == '-' && !(i+1 < len(b) && b[i+1] == 'I'):
		n, end := readNumber(b, i)
		if end >= 0 {
			p.numberValue(c, &n, b[i:end])
		}
		return end
	case ch == '[':
		return p.arrayValue(b, i, c)
	}
	w, end := readWord(b, i)
	if end < 0 {
		return end
	}
	switch w {
	case wordNull:
		p.unset(c)
	case wordTrue, wordFalse:
		p.setBool(c, w == wordTrue)
	default:
		p.reject(c.field.Name, w.String()+" is no number in JSON")
	}
	return end
}

// numberValue is setNumber, with the common cases at hand.
func (p *parser) numberValue(c *column, n *number, raw []byte) {
	if c.stamp != p.stamp && n.exact {
		switch {
		case c.field.Type == schema.Double && n.digits <= 1<<53 && n.exponent >= -22 && n.exponent <= 22:
			c.stamp = p.stamp
			p.set++
			c.v.Float64s = append(c.v.Float64s, n.float(raw))
			return
		case c.field.Type == schema.Int && n.whole && n.digits <= 1<<31-1:
			v := int32(n.digits)
			if n.negative {
				v = -v
			}
			c.stamp = p.stamp
			p.set++
			c.v.Int32s = append(c.v.Int32s, v)
			return
		}
	}
	p.setNumber(c, n, raw)
}

// textValue reads the text whose first byte after the quote is b[i].
func (p *parser) textValue(b []byte, i int, c *column) int {
	stop, beyondASCII := textEnd(b, i)
	whole := stop < len(b) && b[stop] == '"' && stop-i <= p.opt.MaxText
	if whole && (!beyondASCII || utf8.Valid(b[i:stop])) {
		if c.field.Type == schema.Text && c.stamp != p.stamp {
			c.stamp = p.stamp
			p.set++
			c.v.Bytes = append(c.v.Bytes, b[i:stop]...)
			c.endText()
			return stop + 1
		}
		p.setText(c, b[i:stop])
		return stop + 1
	}
	var end int
	var mended bool
	p.scratch, end, mended = appendText(p.scratch[:0], b, i)
	if end < 0 {
		return end
	}
	p.mending = p.mending || mended
	if len(p.scratch) > p.opt.MaxText {
		p.rejectf(c.field.Name, "the text has %d bytes; %d is the most", len(p.scratch), p.opt.MaxText)
		return end
	}
	p.setText(c, p.scratch)
	return end
}

// arrayValue takes an array as its text, where the stream is open.
func (p *parser) arrayValue(b []byte, i int, c *column) int {
	end := p.skipValue(b, i)
	switch {
	case end < 0:
		return end
	case p.word != 0:
		p.reject(c.field.Name, p.word.String()+" is no number in JSON")
	case c.field.Type != schema.Text && !p.widen(c, schema.Text), c.fixed && !p.schema.Open:
		p.rejectValue(c, "array", b[i:end], "does not fit a field of type")
	case end-i > p.opt.MaxText:
		p.rejectf(c.field.Name, "the array has %d bytes; %d is the most", end-i, p.opt.MaxText)
	default:
		p.setArray(c, b[i:end])
	}
	return end
}
