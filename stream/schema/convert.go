package schema

import (
	"math/bits"
	"strconv"
	"time"

	"github.com/cellardb/cellar/store"
)

// Convert gives the values of a vector the wider type: what Widen allows, and
// nothing else. Nulls, codes of a dictionary vector, and values that need no
// change are shared with v. The text of a value is that of AppendValue.
func Convert(v *store.Vector, from, to Type) (store.Vector, error) {
	if wide, ok := Widen(from, to); !ok || wide != to {
		return store.Vector{}, incompatible("type %s cannot be read as %s", from, to)
	}
	if from == to {
		return *v, nil
	}
	out := store.Vector{Type: to.Column(), Nulls: v.Nulls}
	if v.Dictionary != nil {
		d, err := Convert(v.Dictionary, from, to)
		if err != nil {
			return store.Vector{}, err
		}
		out.Dictionary, out.Codes = &d, v.Codes
		return out, nil
	}
	switch to {
	case Long:
		out.Int64s = make([]int64, len(v.Int32s))
		for i, n := range v.Int32s {
			out.Int64s[i] = int64(n)
		}
	case HugeInt:
		toHuge(v, &out)
	case Double:
		toDouble(v, &out)
	default:
		toText(v, from, &out)
	}
	return out, nil
}

func toHuge(v, out *store.Vector) {
	out.Hugeints = make([]store.HugeInt, vectorRows(v))
	for i, n := range v.Int32s {
		out.Hugeints[i] = HugeOf(int64(n))
	}
	for i, n := range v.Int64s {
		out.Hugeints[i] = HugeOf(n)
	}
}

func toDouble(v, out *store.Vector) {
	out.Float64s = make([]float64, vectorRows(v))
	for i, n := range v.Int32s {
		out.Float64s[i] = float64(n)
	}
	for i, n := range v.Int64s {
		out.Float64s[i] = float64(n)
	}
	for i, n := range v.Float32s {
		out.Float64s[i] = float64(n)
	}
}

func toText(v *store.Vector, from Type, out *store.Vector) {
	rows := vectorRows(v)
	out.Offsets = make([]uint32, rows+1)
	out.Bytes = make([]byte, 0, 8*rows)
	for i := range rows {
		if !v.Null(i) {
			out.Bytes = AppendValue(out.Bytes, v, from, i)
		}
		out.Offsets[i+1] = uint32(len(out.Bytes))
	}
}

// AppendValue appends the text of row i of a plain vector: true and false;
// digits; the shortest digits that give the same float or double (an exponent
// from 1e21 on and below 1e-6, as JSON has it); a time as
// 2006-01-02T15:04:05.000Z; texts and bytes as they are. Null is not looked at.
func AppendValue(dst []byte, v *store.Vector, t Type, i int) []byte {
	switch t {
	case Bool:
		return strconv.AppendBool(dst, v.Bools[i])
	case Int:
		return strconv.AppendInt(dst, int64(v.Int32s[i]), 10)
	case Long:
		return strconv.AppendInt(dst, v.Int64s[i], 10)
	case HugeInt:
		return AppendHuge(dst, v.Hugeints[i])
	case Float:
		return appendFloat(dst, float64(v.Float32s[i]), 32)
	case Double:
		return appendFloat(dst, v.Float64s[i], 64)
	case Time:
		return AppendTime(dst, v.Int64s[i])
	}
	return append(dst, v.Bytes[v.Offsets[i]:v.Offsets[i+1]]...)
}

func appendFloat(dst []byte, f float64, width int) []byte {
	small, large := 1e-6, 1e21
	if width == 32 { // the floats nearest to them
		small, large = float64(float32(small)), float64(float32(large))
	}
	form := byte('f')
	if a := max(f, -f); a != 0 && (a < small || a >= large) {
		form = 'e'
	}
	dst = strconv.AppendFloat(dst, f, form, -1, width)
	if n := len(dst); form == 'e' && dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' {
		dst = append(dst[:n-2], dst[n-1]) // e-7, not e-07
	}
	return dst
}

// AppendTime appends ms since 1970 as 2006-01-02T15:04:05.000Z.
func AppendTime(dst []byte, ms int64) []byte {
	return time.UnixMilli(ms).UTC().AppendFormat(dst, "2006-01-02T15:04:05.000Z")
}

// HugeOf is an integer of 64 bits as one of 128.
func HugeOf(n int64) store.HugeInt { return store.HugeInt{High: n >> 63, Low: uint64(n)} }

// AppendHuge appends the digits of an integer of 128 bits.
func AppendHuge(dst []byte, n store.HugeInt) []byte {
	high, low := uint64(n.High), n.Low
	if n.High < 0 {
		dst = append(dst, '-')
		var borrow uint64
		low, borrow = bits.Sub64(0, low, 0)
		high, _ = bits.Sub64(0, high, borrow)
	}
	if high == 0 {
		return strconv.AppendUint(dst, low, 10)
	}
	// The upper 64 bits of a magnitude, 2^127 at most, are below 10^19: so the
	// division cannot overflow.
	const group = 10_000_000_000_000_000_000
	upper, lower := bits.Div64(high, low, group)
	return appendGroup(strconv.AppendUint(dst, upper, 10), lower)
}

// appendGroup appends 19 digits, zeros in front.
func appendGroup(dst []byte, n uint64) []byte {
	var digits [19]byte
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = '0' + byte(n%10)
		n /= 10
	}
	return append(dst, digits[:]...)
}

// CompareHuge orders two integers of 128 bits: -1, 0 or 1.
func CompareHuge(a, b store.HugeInt) int {
	switch {
	case a.High < b.High || a.High == b.High && a.Low < b.Low:
		return -1
	case a == b:
		return 0
	}
	return 1
}
