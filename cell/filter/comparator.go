package filter

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/big"

	"github.com/cellardb/cellar/cell"
)

// Comparator compares a part of a cell with a value of its own. It is one of
// the types of this package: Binary, BinaryPrefix, BinaryComponent, Long,
// BigDecimal, Bit, Null, RegexString and Substring.
type Comparator interface {
	// String gives the comparator as the filter language writes it, or
	// something like it where the language has no such comparator.
	String() string
	compile(b *builder) (comparer, error)
}

// comparer is a comparator ready to use. compare orders its value against the
// part of a cell: below 0 when the value is the lower one. Those that only know
// equality answer 0 and 1.
type comparer interface {
	compare(part []byte) (int, error)
}

// test is an operator with its comparer.
type test struct {
	op       cell.CompareOp
	comparer comparer
}

// test makes a test, refusing what HBase has no meaning for.
func (b *builder) test(op cell.CompareOp, c Comparator) (test, error) {
	if op > cell.NoOp {
		return test{}, illegal("comparison %d is unknown", op)
	}
	if c == nil {
		return test{}, illegal("a comparator is missing")
	}
	comparer, err := c.compile(b)
	return test{op, comparer}, err
}

// drops says whether the part of a cell fails the test. NoOp fails always, as
// in HBase.
func (t *test) drops(part []byte) (bool, error) {
	if t.op == cell.NoOp {
		return true, nil
	}
	order, err := t.comparer.compare(part)
	if err != nil {
		return true, err
	}
	switch t.op {
	case cell.Less:
		return order <= 0, nil
	case cell.LessOrEqual:
		return order < 0, nil
	case cell.Equal:
		return order != 0, nil
	case cell.NotEqual:
		return order == 0, nil
	case cell.GreaterOrEqual:
		return order > 0, nil
	}
	return order >= 0, nil
}

// Binary compares unsigned bytes.
type Binary struct{ Value []byte }

func (c Binary) String() string { return "binary:" + string(c.Value) }

func (c Binary) compile(*builder) (comparer, error) { return c, nil }

func (c Binary) compare(part []byte) (int, error) { return bytes.Compare(c.Value, part), nil }

// BinaryPrefix compares unsigned bytes, of the cell's only as many as it has
// itself.
type BinaryPrefix struct{ Value []byte }

func (c BinaryPrefix) String() string { return "binaryprefix:" + string(c.Value) }

func (c BinaryPrefix) compile(*builder) (comparer, error) { return c, nil }

func (c BinaryPrefix) compare(part []byte) (int, error) {
	return bytes.Compare(c.Value, part[:min(len(part), len(c.Value))]), nil
}

// BinaryComponent compares unsigned bytes from an offset on, as many as it has
// itself. Of a part that ends earlier it takes what there is.
type BinaryComponent struct {
	Value  []byte
	Offset int // bytes, not negative
}

func (c BinaryComponent) String() string {
	return fmt.Sprintf("binarycomponent:%d:%s", c.Offset, c.Value)
}

func (c BinaryComponent) compile(*builder) (comparer, error) {
	if c.Offset < 0 {
		return nil, illegal("offset %d of a BinaryComponentComparator is negative", c.Offset)
	}
	return c, nil
}

func (c BinaryComponent) compare(part []byte) (int, error) {
	part = part[min(c.Offset, len(part)):]
	return bytes.Compare(c.Value, part[:min(len(part), len(c.Value))]), nil
}

// Long compares signed integers of eight bytes. A part of any other length is
// an error that ends the scan.
type Long struct{ Value int64 }

func (c Long) String() string { return fmt.Sprintf("long:%d", c.Value) }

func (c Long) compile(*builder) (comparer, error) { return c, nil }

func (c Long) compare(part []byte) (int, error) {
	if len(part) != 8 {
		return 0, illegal("LongComparator: the value has %d bytes, not 8", len(part))
	}
	that := int64(binary.BigEndian.Uint64(part))
	switch {
	case c.Value < that:
		return -1, nil
	case c.Value > that:
		return 1, nil
	}
	return 0, nil
}

// BigDecimal compares decimal numbers as HBase's Bytes.toBytes(BigDecimal)
// writes them: a scale of four bytes, then the unscaled number in two's
// complement. The number is Unscaled / 10^Scale; nil is 0. A part that is
// shorter than five bytes, or longer than MaxDecimal, is an error that ends the
// scan.
type BigDecimal struct {
	Unscaled *big.Int
	Scale    int32
}

func (c BigDecimal) String() string {
	if c.Unscaled == nil {
		return fmt.Sprintf("bigdecimal:0E%d", -int64(c.Scale))
	}
	return fmt.Sprintf("bigdecimal:%sE%d", c.Unscaled, -int64(c.Scale))
}

// BitOp is the operation of a Bit comparator.
type BitOp uint8

// Bit operations; the numbers are those of HBase's protocol.
const (
	BitAnd BitOp = 1
	BitOr  BitOp = 2
	BitXor BitOp = 3
)

func (op BitOp) String() string {
	switch op {
	case BitAnd:
		return "AND"
	case BitOr:
		return "OR"
	case BitXor:
		return "XOR"
	}
	return "?"
}

// Bit is equal to a part of its own length when the operation on both yields a
// bit that is not zero.
type Bit struct {
	Op    BitOp
	Value []byte
}

func (c Bit) String() string { return "bit:" + c.Op.String() + ":" + string(c.Value) }

func (c Bit) compile(*builder) (comparer, error) {
	if c.Op < BitAnd || c.Op > BitXor {
		return nil, illegal("bit operation %d is unknown", c.Op)
	}
	return c, nil
}

func (c Bit) compare(part []byte) (int, error) {
	if len(part) != len(c.Value) {
		return 1, nil
	}
	var bits byte
	for i, v := range c.Value {
		switch c.Op {
		case BitAnd:
			bits |= v & part[i]
		case BitOr:
			bits |= v | part[i]
		default:
			bits |= v ^ part[i]
		}
	}
	if bits == 0 {
		return 1, nil
	}
	return 0, nil
}

// Null is equal to what is missing. A filter sees only what is there, so there
// it is equal to nothing, an empty value included.
type Null struct{}

func (Null) String() string { return "null:" }

func (c Null) compile(*builder) (comparer, error) { return c, nil }

func (Null) compare([]byte) (int, error) { return 1, nil }
