package block

import (
	"encoding/binary"
	"math"
)

// How floats are written. As decimals, a value v is the whole number k with
// k / 10^digits = v, to the bit: that holds for whatever was read from a text of
// up to 15 digits, since both k and the power are exact and division rounds
// once. Values for which it does not hold are exceptions, beside the list.
const (
	floatBits     = 0 // list of the bits (of float32: as int32)
	floatDecimals = 1 // digits, count of exceptions, list of their gaps, list of their bits, list of whole numbers
)

// maxDigits is the most digits behind the point that are tried.
const maxDigits = 12

// powers of ten that a float64 holds exactly.
var powers = [maxDigits + 1]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12}

// maxWhole bounds the whole numbers. Rounder, added to a number below it and
// taken away again, rounds it to a whole one.
const (
	maxWhole = 1 << 51
	rounder  = 3 << 51
)

// decimal gives the whole number of a value; ok is false where there is none.
func decimal(v, power float64) (k int64, ok bool) {
	scaled := float64(v * power) // a conversion, so that no compiler fuses it with the sum
	if !(math.Abs(scaled) < maxWhole) {
		return 0, false
	}
	whole := scaled + rounder - rounder
	return int64(whole), math.Float64bits(whole/power) == math.Float64bits(v)
}

func decimal32(v float32, power float64) (k int64, ok bool) {
	scaled := float64(float64(v) * power)
	if !(math.Abs(scaled) < maxWhole) {
		return 0, false
	}
	whole := scaled + rounder - rounder
	return int64(whole), math.Float32bits(float32(whole/power)) == math.Float32bits(v)
}

// digitsOf finds by a sample how many digits behind the point most values have;
// ok is false if too many have none.
func digitsOf[F float32 | float64](vals []F, scale func(F, float64) (int64, bool)) (digits int, ok bool) {
	const places = 64
	step := max(1, len(vals)/places)
	var need [maxDigits + 1]int
	seen, found := 0, 0
	for i := step / 2; i < len(vals); i += step {
		seen++
		for d := range powers {
			if _, ok := scale(vals[i], powers[d]); ok {
				need[d]++
				found++
				break
			}
		}
	}
	// Of those that have decimals, a few may need more digits: a
	// digit for all takes about what a twentieth of them takes as exceptions.
	for sum := 0; digits < maxDigits; digits++ {
		if sum += need[digits]; (found-sum)*20 < found {
			break
		}
	}
	return digits, found*4 >= seen*3
}

// decimals writes vals as whole numbers, or says that there are too many
// exceptions.
func decimals[F float32 | float64](e *encoder, dst []byte, vals []F, scale func(F, float64) (int64, bool), bits func(F) int64) ([]byte, bool) {
	digits, ok := digitsOf(vals, scale)
	if !ok {
		return dst, false
	}
	limit := len(vals) / 4
	whole, gaps, strays := e.list(len(vals)), e.list(limit)[:0], e.list(limit)[:0]
	defer func() { e.used -= 3 }()
	last, next := int64(0), 0
	for i, v := range vals {
		k, ok := scale(v, powers[digits])
		if !ok {
			if len(gaps) == limit {
				return dst, false
			}
			gaps, strays = append(gaps, int64(i-next)), append(strays, bits(v))
			k, next = last, i+1
		}
		whole[i], last = k, k
	}
	dst = append(dst, floatDecimals, byte(digits))
	dst = binary.AppendUvarint(dst, uint64(len(gaps)))
	dst = e.ints(dst, gaps, tryPatched)
	dst = e.ints(dst, strays, tryPatched|tryDictionary)
	return e.ints(dst, whole, tryAll), true
}

func bits64(v float64) int64 { return int64(math.Float64bits(v)) }
func bits32(v float32) int64 { return int64(int32(math.Float32bits(v))) }

func (e *encoder) float64Column(dst []byte, vals []float64, s *ColumnStats) []byte {
	low, high := floatBounds(vals)
	s.Min, s.Max = low, high
	return floats(e, dst, vals, decimal, bits64)
}

func (e *encoder) float32Column(dst []byte, vals []float32, s *ColumnStats) []byte {
	low, high := floatBounds(vals)
	s.Min, s.Max = low, high
	return floats(e, dst, vals, decimal32, bits32)
}

func floats[F float32 | float64](e *encoder, dst []byte, vals []F, scale func(F, float64) (int64, bool), bits func(F) int64) []byte {
	begin := len(dst)
	dst, done := decimals(e, dst, vals, scale, bits)
	if done && len(vals) > few {
		return dst
	}
	// Few values, or no decimals: the bits may be smaller.
	raw := e.list(len(vals))
	for i, v := range vals {
		raw[i] = bits(v)
	}
	out := e.ints(append(dst, floatBits), raw, tryAll)
	e.give()
	if size := len(dst) - begin; done && len(out)-len(dst) >= size {
		return dst
	}
	return append(dst[:begin], out[len(dst):]...)
}

// floats is what was read of a list of floats.
type floatList struct {
	decimals bool
	power    float64
	whole    []int64 // or bits
	at       []int64 // where exceptions are
	strays   []int64 // their bits
}

// floatList reads n floats. Its lists are three of scratch.
func (d *decoder) floatList(c *cursor, n int) floatList {
	l := floatList{power: 1}
	exceptions := 0
	switch kind := c.byte(); kind {
	case floatBits:
	case floatDecimals:
		l.decimals = true
		l.power = powers[c.count(maxDigits, "impossibly many digits")]
		exceptions = c.count(n, "more exceptions than values")
	default:
		c.fail("floats are of an unknown kind")
	}
	l.at, l.strays, l.whole = d.list(exceptions), d.list(exceptions), d.list(n)
	d.positions(c, l.at, n, 1)
	d.ints(c, l.strays, 1)
	d.ints(c, l.whole, 1)
	return l
}

func (d *decoder) float64s(c *cursor, dst []float64) {
	l := d.floatList(c, len(dst))
	defer func() { d.used -= 3 }()
	if c.err != nil {
		return
	}
	if !l.decimals {
		for i, v := range l.whole {
			dst[i] = math.Float64frombits(uint64(v))
		}
		return
	}
	for i, v := range l.whole {
		dst[i] = float64(v) / l.power
	}
	for i, p := range l.at {
		dst[p] = math.Float64frombits(uint64(l.strays[i]))
	}
}

func (d *decoder) float32s(c *cursor, dst []float32) {
	l := d.floatList(c, len(dst))
	defer func() { d.used -= 3 }()
	if c.err != nil {
		return
	}
	strange := int64(0)
	if !l.decimals {
		for i, v := range l.whole {
			dst[i] = math.Float32frombits(uint32(v))
			strange |= v ^ int64(int32(v))
		}
	} else {
		for i, v := range l.whole {
			dst[i] = float32(float64(v) / l.power)
		}
		for i, p := range l.at {
			dst[p] = math.Float32frombits(uint32(l.strays[i]))
			strange |= l.strays[i] ^ int64(int32(l.strays[i]))
		}
	}
	if strange != 0 {
		c.fail("a number has more than 32 bits")
	}
}
