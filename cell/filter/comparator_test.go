package filter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/cellardb/cellar/cell"
)

// comparison is a comparator and a part of a cell.
type comparing struct {
	comparator Comparator
	part       []byte
}

func (g *generator) decimal() ([]byte, *big.Int, int32) {
	n := big.NewInt(int64(g.IntN(2001) - 1000))
	switch g.IntN(4) {
	case 0:
		n.Mul(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(g.IntN(40))), nil))
	case 1:
		n.SetInt64(int64(g.IntN(3) - 1))
	}
	scale := int32(g.IntN(7) - 3)
	switch g.IntN(8) {
	case 0:
		scale = int32(g.IntN(60) - 20)
	case 1:
		scale = pick(g, []int32{math.MaxInt32, math.MinInt32, 1 << 20, -1 << 20})
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(scale)), twosComplement(n)...), n, scale
}

func comparisons() []comparing {
	var all []comparing
	for seed := range uint64(2000) {
		g := newGenerator(seed)
		c := comparing{g.comparator(), g.bytes(someBytes)}
		switch seed % 5 {
		case 0, 1:
			part, n, scale := g.decimal()
			if g.bool() {
				_, n, scale = g.decimal()
			}
			c = comparing{BigDecimal{n, scale}, part}
			if g.IntN(20) == 0 {
				c.part = part[:g.IntN(5)]
			}
		case 2:
			c = comparing{Long{int64(g.IntN(5) - 2)}, binary.BigEndian.AppendUint64(nil, uint64(g.IntN(5)-2))}
			if g.IntN(8) == 0 {
				c.part = c.part[:g.IntN(8)]
			}
		case 3:
			c = comparing{BinaryComponent{g.bytes([]string{"a", "b", "ab", "b1"}), g.IntN(3)}, []byte("ab1ab1ab1")}
		}
		all = append(all, c)
	}
	return append(all,
		comparing{Substring{"I\u0307"}, []byte("x\u0130")}, comparing{Substring{"\u0130"}, []byte("xi\u0307")}, comparing{Substring{"i"}, []byte("\u0130")},
		comparing{Substring{"é"}, []byte("É")}, comparing{Substring{"\xff"}, []byte("a\xfe")}, comparing{Substring{"\ufffd\ufffd"}, []byte("\xe2\x82")}, comparing{Substring{"ß"}, []byte("ẞ")},
		comparing{Long{math.MinInt64}, []byte("\x7f\xff\xff\xff\xff\xff\xff\xff")}, comparing{BigDecimal{nil, 0}, make([]byte, 5)},
	)
}

// Comparators order as HBase's do.
func TestComparatorsAgainstHBase(t *testing.T) {
	cases := comparisons()
	requests := make([]string, len(cases))
	for i, c := range cases {
		if d, ok := c.comparator.(BigDecimal); ok && d.Unscaled == nil {
			c.comparator = BigDecimal{new(big.Int), d.Scale}
		}
		requests[i] = hexa(c.part) + " " + specComparator(c.comparator)
	}
	answers := recorded(t, "comparators", 100, nil, requests)
	counts := map[string]int{}
	for i, c := range cases {
		m, err := c.comparator.compile(testBuilder())
		if err != nil {
			counts["not compiled"]++
			continue
		}
		order, err := m.compare(c.part)
		got := "error"
		if err == nil {
			got = fmt.Sprint(order)
		}
		if got != answers[i] {
			t.Errorf("%s: %s, HBase: %s", requests[i], got, answers[i])
		}
		counts[got]++
	}
	for _, kind := range []string{"-1", "0", "1", "error"} {
		if counts[kind] < 20 {
			t.Errorf("%d answers %s", counts[kind], kind)
		}
	}
	if counts["not compiled"] > 10 {
		t.Errorf("%d comparators were refused", counts["not compiled"])
	}
}

// What is too long to be compared as a decimal number is an error, and what has
// an enormous scale takes no time.
func TestBigDecimalIsBounded(t *testing.T) {
	if _, err := New(Value{cell.Equal, BigDecimal{new(big.Int).Lsh(big.NewInt(1), 8*MaxDecimal+1), 0}}, Options{}); !errors.Is(err, cell.ErrIllegalArgument) {
		t.Errorf("%v", err)
	}
	e, err := New(Value{cell.Less, BigDecimal{new(big.Int).Lsh(big.NewInt(1), 8*MaxDecimal-1), math.MinInt32}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	longest := make([]byte, MaxDecimal)
	for i := range longest {
		longest[i] = 0x7f
	}
	c := cell.Cell{Value: longest}
	if code, err := e.FilterCell(&c); code != Include || err != nil {
		t.Errorf("%v %v", code, err)
	}
	c.Value = append(longest, 0)
	if _, err := e.FilterCell(&c); !errors.Is(err, cell.ErrIllegalArgument) {
		t.Errorf("%v", err)
	}
}
