package intake

import (
	"math"
	"math/bits"
	"strconv"
	"unsafe"

	"github.com/cellardb/cellar/store"
)

// number is a number as JSON writes it.
type number struct {
	// digits is all digits, without the point, as an integer, if there are few
	// enough: see exact.
	digits uint64
	// exponent of ten that the digits are times.
	exponent int
	negative bool
	// whole: there is no point and no exponent.
	whole bool
	// exact: digits and exponent are the number.
	exact bool
}

// readNumber reads the number that begins at b[i]. The answer is the index after
// it, endOfData where b may end within it, or badSyntax.
func readNumber(b []byte, i int) (n number, end int) {
	if b[i] == '-' {
		n.negative = true
		i++
	}
	start := i
	for i < len(b) && b[i]-'0' <= 9 {
		n.digits = n.digits*10 + uint64(b[i]-'0')
		i++
	}
	switch {
	case i == start && i == len(b):
		return n, endOfData
	case i == start || b[start] == '0' && i > start+1:
		return n, badSyntax
	}
	count := i - start
	n.whole = true
	if i < len(b) && b[i] == '.' {
		n.whole = false
		i++
		point := i
		for i < len(b) && b[i]-'0' <= 9 {
			n.digits = n.digits*10 + uint64(b[i]-'0')
			i++
		}
		if i == point {
			return n, endOr(b, i)
		}
		n.exponent = point - i
		count += i - point
	}
	n.exact = count <= 19 // 10^19 - 1 is below 2^64
	if i < len(b) && b[i]|0x20 == 'e' {
		n.whole = false
		return readExponent(b, i+1, n)
	}
	return n, i
}

func readExponent(b []byte, i int, n number) (number, int) {
	negative := false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		negative = b[i] == '-'
		i++
	}
	start, e := i, 0
	for i < len(b) && b[i]-'0' <= 9 {
		if e < 1e8 { // more is as good as infinite
			e = e*10 + int(b[i]-'0')
		}
		i++
	}
	if i == start {
		return n, endOr(b, i)
	}
	if negative {
		e = -e
	}
	n.exponent += e
	return n, i
}

// endOr is endOfData where i is the end of b, else badSyntax.
func endOr(b []byte, i int) int {
	if i >= len(b) {
		return endOfData
	}
	return badSyntax
}

// tens are the powers of ten that a double holds exactly.
var tens = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// float is the double nearest to the number that raw writes. It may be infinite.
func (n *number) float(raw []byte) float64 {
	if n.exact && n.digits <= 1<<53 && n.exponent >= -22 && n.exponent <= 22 {
		// Both are exact, so that one operation rounds once.
		f := float64(n.digits)
		if n.exponent < 0 {
			f /= tens[-n.exponent]
		} else {
			f *= tens[n.exponent]
		}
		if n.negative {
			f = -f
		}
		return f
	}
	f, _ := strconv.ParseFloat(textOf(raw), 64) // out of range: infinite
	return f
}

// float32 is the float nearest to the number: rounding to a double first would
// round twice.
func (n *number) float32(raw []byte) float32 {
	f, _ := strconv.ParseFloat(textOf(raw), 32)
	return float32(f)
}

// textOf is raw as a string for as long as the caller does not change raw.
// strconv keeps its argument only in an error, which is dropped.
func textOf(raw []byte) string { return unsafe.String(unsafe.SliceData(raw), len(raw)) }

// long is the number as an integer of 64 bits, if it is written as one. False
// says no more than that integer is to be asked.
func (n *number) long() (int64, bool) {
	if !n.whole || !n.exact || n.digits > math.MaxInt64 {
		return 0, false
	}
	if n.negative {
		return -int64(n.digits), true
	}
	return int64(n.digits), true
}

// size says how large an integer is.
type size uint8

const (
	fraction size = iota // it is none
	within64
	within128
	beyond
)

// integer is the integer that raw writes, be it with a point or an exponent. The
// value counts within 128 bits.
func integer(raw []byte) (store.HugeInt, size) {
	negative, digits, exponent := decimal(raw)
	if len(digits) == 0 {
		return store.HugeInt{}, within64
	}
	if exponent < 0 {
		return store.HugeInt{}, fraction
	}
	if len(digits)+exponent > 39 {
		return store.HugeInt{}, beyond
	}
	var high, low uint64
	for i := range len(digits) + exponent {
		d := uint64(0)
		if i < len(digits) {
			d = uint64(digits[i] - '0')
		}
		var over, carry uint64
		if over, high = bits.Mul64(high, 10); over != 0 {
			return store.HugeInt{}, beyond
		}
		carry, low = bits.Mul64(low, 10)
		low, over = bits.Add64(low, d, 0)
		if high, over = bits.Add64(high, carry, over); over != 0 {
			return store.HugeInt{}, beyond
		}
	}
	return signed(high, low, negative)
}

// signed puts the sign to a magnitude.
func signed(high, low uint64, negative bool) (store.HugeInt, size) {
	if negative {
		if high > 1<<63 || high == 1<<63 && low > 0 {
			return store.HugeInt{}, beyond
		}
		var borrow uint64
		low, borrow = bits.Sub64(0, low, 0)
		high, _ = bits.Sub64(0, high, borrow)
	} else if high >= 1<<63 {
		return store.HugeInt{}, beyond
	}
	n := store.HugeInt{High: int64(high), Low: low}
	if n.High == int64(n.Low)>>63 {
		return n, within64
	}
	return n, within128
}

// decimal takes a number apart: its digits without zeros at either end, and the
// power of ten that they are times. No digits: it is 0.
func decimal(raw []byte) (negative bool, digits []byte, exponent int) {
	n, _ := readNumber(raw, 0)
	point := false
	for _, c := range raw {
		switch {
		case c|0x20 == 'e':
			return n.negative, trimZeros(&digits, &n), n.exponent
		case c == '.':
			point = true
		case c-'0' <= 9 && (c != '0' || len(digits) > 0 || point):
			digits = append(digits, c)
		}
	}
	return n.negative, trimZeros(&digits, &n), n.exponent
}

func trimZeros(digits *[]byte, n *number) []byte {
	d := *digits
	for len(d) > 0 && d[0] == '0' {
		d = d[1:]
	}
	for len(d) > 0 && d[len(d)-1] == '0' {
		d = d[:len(d)-1]
		n.exponent++
	}
	return d
}
