package block

import (
	"encoding/binary"

	"github.com/cellardb/cellar/store"
)

// Names of things often end in a number: "kitchen lamp 07", "host-1234", or are
// one. As numbered text, a value is one of few prefixes and a number, which is
// written in decimal with zeros before it up to a least number of digits. The
// split is one of several possible ones; what matters is that joining the two
// gives the value again.

// maxNumberDigits is the most digits that are taken for a number.
const maxNumberDigits = 18

// numberedLimit[d] is the least number of more than d digits.
var numberedLimit = [maxNumberDigits + 1]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// numbered lists the prefixes of a flat vector's values, their indices and the
// numbers; false: not all values end in digits, or prefixes repeat too little.
func (e *encoder) numbered(v *store.Vector, from, to int, s *ColumnStats) bool {
	t := &e.text
	t.digits = maxNumberDigits
	for i := from; i < to && t.digits > 0; i++ {
		if !v.Null(i) {
			t.digits = min(t.digits, trailingDigits(v.Bytes[v.Offsets[i]:v.Offsets[i+1]]))
		}
	}
	if t.digits == 0 {
		return false
	}
	size := t.begin(to - from)
	b := textBounds{}
	for i := from; i < to; i++ {
		if v.Null(i) {
			continue
		}
		if len(t.entries)*4 > to-from {
			return false
		}
		a, z := v.Offsets[i], v.Offsets[i+1]
		b.add(v.Bytes[a:z])
		number, digits := lastNumber(v.Bytes[a:z], t.digits)
		t.numbers = append(t.numbers, number)
		t.codes = append(t.codes, int64(t.code(v.Bytes, a, z-uint32(digits), size-1)))
	}
	if len(t.entries)*4 > len(t.codes) {
		return false
	}
	s.setText(v.Type, b.low, b.high)
	return true
}

// trailingDigits counts the digits at the end, up to maxNumberDigits.
func trailingDigits(val []byte) int {
	n := 0
	for n < len(val) && n < maxNumberDigits && val[len(val)-1-n]-'0' <= 9 {
		n++
	}
	return n
}

// lastNumber is the number at the end and of how many digits it is: at least
// least, and more only as far as none of those is a zero in front.
func lastNumber(val []byte, least int) (number int64, digits int) {
	digits = trailingDigits(val)
	for digits > least && val[len(val)-digits] == '0' {
		digits--
	}
	for _, c := range val[len(val)-digits:] {
		number = number*10 + int64(c-'0')
	}
	return number, digits
}

// numberedText appends what numbered has listed; the bytes of prefixes are
// those of v.
func (e *encoder) numberedText(dst []byte, v *store.Vector) []byte {
	t := &e.text
	t.lengths, t.bytes = t.lengths[:0], t.bytes[:0]
	for _, en := range t.entries {
		t.lengths, t.bytes = append(t.lengths, int64(en.to-en.from)), append(t.bytes, v.Bytes[en.from:en.to]...)
	}
	dst = append(dst, textNumbered, byte(t.digits))
	dst = binary.AppendUvarint(dst, uint64(len(t.entries)))
	dst = e.plainText(dst, t.lengths, t.bytes)
	dst = e.ints(dst, t.codes, tryCodes)
	return e.ints(dst, t.numbers, tryAll)
}

// numberedText reads n values into into, which has rows of them.
func (d *decoder) numberedText(c *cursor, into *store.Vector, rows, n int) {
	least := c.count(maxNumberDigits, "numbers have impossibly many digits")
	prefixes := c.count(n, "more prefixes than values")
	if least == 0 || prefixes == 0 {
		c.fail("numbers have no digits, or values no prefix")
		return
	}
	if c.byte() != textPlain {
		c.fail("prefixes are of an unknown kind")
		return
	}
	d.plainText(c, &d.text.prefixes, prefixes, prefixes, nil)
	codes, numbers, lengths := d.list(n), d.list(n), d.list(rows)
	defer func() { d.used -= 3 }()
	d.ints(c, codes, 1)
	d.ints(c, numbers, 1)
	if c.err != nil || !d.numberedLengths(c, lengths[:n], codes, numbers, least) {
		return
	}
	spread(lengths, into.Nulls, n)
	into.Offsets = resize(into.Offsets, rows+1)
	total := d.offsets(c, into.Offsets, lengths)
	if c.err == nil {
		into.Bytes = d.join(resize(into.Bytes, total), codes, numbers, least)
	}
}

// numberedLengths are the lengths of the values, if codes and numbers are ones.
func (d *decoder) numberedLengths(c *cursor, lengths, codes, numbers []int64, least int) bool {
	offsets := d.text.prefixes.Offsets
	for i, code := range codes {
		if uint64(code) >= uint64(len(offsets)-1) {
			c.fail("a code lies outside of the prefixes")
			return false
		}
		number := uint64(numbers[i])
		if number >= numberedLimit[maxNumberDigits] {
			c.fail("a number has more digits than it may")
			return false
		}
		digits := least
		for number >= numberedLimit[digits] {
			digits++
		}
		lengths[i] = int64(offsets[code+1]-offsets[code]) + int64(digits)
	}
	return true
}

// join writes prefixes and numbers behind one another. They fill out.
func (d *decoder) join(out []byte, codes, numbers []int64, least int) []byte {
	p, at := &d.text.prefixes, 0
	for i, code := range codes {
		at += copy(out[at:], p.Bytes[p.Offsets[code]:p.Offsets[code+1]])
		number, digits := uint64(numbers[i]), least
		for number >= numberedLimit[digits] {
			digits++
		}
		field := out[at : at+digits]
		for j := len(field) - 1; j >= 0; j-- {
			field[j] = '0' + byte(number%10)
			number /= 10
		}
		at += digits
	}
	return out
}
