package filter

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/big"
)

// MaxDecimal is the length in bytes of a decimal number, scale included, that
// BigDecimal compares. It keeps one comparison well under a second.
const MaxDecimal = 4096

func (c BigDecimal) compile(*builder) (comparer, error) {
	d := decimal{unscaled: new(big.Int), scale: int64(c.Scale)}
	if c.Unscaled != nil {
		if c.Unscaled.BitLen() > 8*MaxDecimal {
			return nil, illegal("BigDecimalComparator: the number is longer than %d bytes", MaxDecimal)
		}
		d.unscaled.Set(c.Unscaled)
	}
	return &d, nil
}

// decimal is unscaled / 10^scale.
type decimal struct {
	unscaled *big.Int
	scale    int64
}

func (d *decimal) compare(part []byte) (int, error) {
	if len(part) < 5 || len(part) > MaxDecimal {
		return 0, illegal("BigDecimalComparator: the value has %d bytes, not 5 to %d", len(part), MaxDecimal)
	}
	that := decimal{unscaled: signed(part[4:]), scale: int64(int32(binary.BigEndian.Uint32(part)))}
	if s := d.unscaled.Sign(); s != that.unscaled.Sign() || s == 0 {
		return cmp.Compare(s, that.unscaled.Sign()), nil
	}
	// Scales may be four billion apart: the numbers are brought to one scale
	// only when their magnitudes are about the same.
	low, high := d.magnitude()
	thatLow, thatHigh := that.magnitude()
	switch {
	case high < thatLow:
		return -d.unscaled.Sign(), nil
	case low > thatHigh:
		return d.unscaled.Sign(), nil
	}
	a, b := d.unscaled, that.unscaled
	if d.scale < that.scale {
		a = raise(a, that.scale-d.scale)
	} else {
		b = raise(b, d.scale-that.scale)
	}
	return a.Cmp(b), nil
}

// magnitude bounds the decimal logarithm of the number's absolute value, which
// is not zero.
func (d *decimal) magnitude() (low, high float64) {
	bits := float64(d.unscaled.BitLen())
	return (bits-1)*math.Log10(2) - float64(d.scale) - 1, bits*math.Log10(2) - float64(d.scale) + 1
}

func raise(n *big.Int, digits int64) *big.Int {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(digits), nil)
	return power.Mul(power, n)
}

// signed reads two's complement, the highest byte first.
func signed(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}
