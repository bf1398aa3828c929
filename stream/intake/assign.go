package intake

import (
	"encoding/base64"
	"math"
	"strconv"

	"github.com/cellardb/cellar/stream/schema"
)

// setText gives the record a text in a column, as the rules of the package have
// it. s is valid UTF-8, and not kept.
func (p *parser) setText(c *column, s []byte) {
	if c.field.Type == schema.Text {
		p.claim(c)
		c.v.Bytes = append(c.v.Bytes, s...)
		c.endText()
		return
	}
	if c.time {
		if ms, ok := timeOfText(s); ok {
			p.claim(c)
			c.v.Int64s = append(c.v.Int64s, ms)
			return
		}
	} else if p.setTextAs(c, s) {
		return
	}
	if !p.bad && p.widen(c, schema.Text) {
		p.setText(c, s)
		return
	}
	p.rejectValue(c, "text", s, "does not fit a field of type")
}

// setTextAs tries the type that the column has. True where the text is in it, or
// where the record was rejected for it.
func (p *parser) setTextAs(c *column, s []byte) bool {
	switch c.field.Type {
	case schema.Bool:
		b, ok := boolOfText(s)
		if ok {
			p.claim(c)
			c.v.Bools = append(c.v.Bools, b)
		}
		return ok
	case schema.Bytes:
		p.claim(c)
		bytes, err := base64.StdEncoding.AppendDecode(c.v.Bytes, s)
		if err != nil {
			return false
		}
		c.v.Bytes = bytes
		c.endText()
		return true
	}
	n, ok := numberOfText(s)
	if ok {
		p.setNumber(c, &n, s)
	}
	return ok
}

func timeOfText(s []byte) (ms int64, ok bool) {
	if n, ok := numberOfText(s); ok {
		return epochTime(&n, s)
	}
	return isoTime(s)
}

func numberOfText(s []byte) (n number, ok bool) {
	if len(s) == 0 || s[0] != '-' && s[0]-'0' > 9 {
		return n, false
	}
	n, end := readNumber(s, 0)
	return n, end == len(s)
}

// boolOfText reads true and false in any case.
func boolOfText(s []byte) (b, ok bool) {
	if len(s) != 4 && len(s) != 5 {
		return false, false
	}
	var lower [5]byte
	for i, c := range s {
		lower[i] = c | 0x20
	}
	switch string(lower[:len(s)]) {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return false, false
}

// setBool gives the record a boolean.
func (p *parser) setBool(c *column, b bool) {
	switch {
	case c.field.Type == schema.Bool:
		p.claim(c)
		c.v.Bools = append(c.v.Bools, b)
	case c.field.Type == schema.Text && (p.lenient || !c.fixed):
		p.claim(c)
		c.v.Bytes = strconv.AppendBool(c.v.Bytes, b)
		c.endText()
	case p.widen(c, schema.Text):
		p.setBool(c, b)
	default:
		p.rejectValue(c, "boolean", strconv.AppendBool(nil, b), "does not fit a field of type")
	}
}

// setNumber gives the record the number n that raw writes.
func (p *parser) setNumber(c *column, n *number, raw []byte) {
	why := ""
	switch c.field.Type {
	case schema.Int:
		if v, ok := p.integerFor(n, raw, math.MinInt32, math.MaxInt32); ok {
			p.claim(c)
			c.v.Int32s = append(c.v.Int32s, int32(v))
			return
		}
	case schema.Long, schema.Time:
		v, ok := int64(0), false
		if c.time {
			v, ok = epochTime(n, raw)
		} else {
			v, ok = p.integerFor(n, raw, math.MinInt64, math.MaxInt64)
		}
		if ok {
			p.claim(c)
			c.v.Int64s = append(c.v.Int64s, v)
			return
		}
	case schema.HugeInt:
		if v, size := integer(raw); size == within64 || size == within128 {
			p.claim(c)
			c.v.Hugeints = append(c.v.Hugeints, v)
			return
		}
	case schema.Float:
		f := n.float32(raw)
		if !math.IsInf(float64(f), 0) {
			p.claim(c)
			c.v.Float32s = append(c.v.Float32s, f)
			return
		}
		why = "is beyond the range of a field of type"
	case schema.Double:
		f := n.float(raw)
		if !math.IsInf(f, 0) && (c.fixed || asDouble(n, raw, f)) {
			p.claim(c)
			c.v.Float64s = append(c.v.Float64s, f)
			return
		}
		why = "is beyond the range of a field of type"
	case schema.Text:
		if p.lenient || !c.fixed {
			p.claim(c)
			c.v.Bytes = append(c.v.Bytes, raw...)
			c.endText()
			return
		}
	}
	p.widenForNumber(c, n, raw, why)
}

// integerFor is the integer, if it is one between the bounds.
func (p *parser) integerFor(n *number, raw []byte, low, high int64) (int64, bool) {
	v, ok := n.long()
	if !ok {
		huge, size := integer(raw)
		if size != within64 {
			return 0, false
		}
		v = int64(huge.Low)
	}
	return v, v >= low && v <= high
}

// asDouble says whether a double keeps a number of an open stream: any fraction,
// and integers that are a double, or the way in which one is written.
func asDouble(n *number, raw []byte, f float64) bool {
	if !n.whole || n.exact && n.digits <= 1<<53 {
		return true
	}
	var digits [400]byte
	return string(strconv.AppendFloat(digits[:0], f, 'f', 0, 64)) == string(raw) ||
		string(strconv.AppendFloat(digits[:0], f, 'f', -1, 64)) == string(raw)
}

// widenForNumber gives the column a type that takes the number, or rejects the
// record.
func (p *parser) widenForNumber(c *column, n *number, raw []byte, why string) {
	if math.IsInf(n.float(raw), 0) && !n.whole {
		p.rejectValue(c, "number", raw, "is beyond the range of a double, and so of a field of type")
		return
	}
	if !p.bad && !c.fixed {
		to := typeOfNumber(n, raw)
		if wide, ok := schema.Widen(c.field.Type, to); ok {
			to = wide
		}
		if to == c.field.Type || to == schema.Double && c.losesDigits() {
			to = schema.Text
		}
		if p.widen(c, to) {
			p.setNumber(c, n, raw)
			return
		}
	}
	if why == "" {
		why = "does not fit a field of type"
		if c.field.Type.Numeric() {
			if _, size := integer(raw); size != fraction {
				why = "is too large for a field of type"
			}
		}
	}
	p.rejectValue(c, "number", raw, why)
}

// typeOfNumber is the type that an open stream gives a number.
func typeOfNumber(n *number, raw []byte) schema.Type {
	if !n.whole {
		return schema.Double
	}
	switch _, size := integer(raw); size {
	case within64:
		return schema.Long
	case within128:
		return schema.HugeInt
	}
	return schema.Text
}

// losesDigits says whether the column holds integers that are no double.
func (c *column) losesDigits() bool {
	if c.field.Type != schema.Long {
		return false
	}
	for _, n := range c.v.Int64s {
		if f := float64(n); f >= 1<<63 || int64(f) != n {
			return true
		}
	}
	return false
}

// widen gives the column another type, if it may.
func (p *parser) widen(c *column, to schema.Type) bool {
	if c.fixed || c.field.Type == to {
		return false
	}
	if wide, ok := schema.Widen(c.field.Type, to); !ok || wide != to && to != schema.Text {
		return false
	}
	p.unset(c)
	if err := c.widen(to, p.rows); err != nil {
		return false
	}
	p.setMaxRows()
	return true
}
