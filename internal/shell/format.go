package shell

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/cellardb/cellar/internal/attribute"
)

// firstColumn is how wide the first of two columns is: a quarter of the line,
// as in HBase's shell, whose line has 100 characters where there is no terminal.
func (s *Session) firstColumn() int {
	if s.Width == 0 {
		return 25
	}
	return max(s.Width/4, 10)
}

// header prints the heads of two columns.
func (s *Session) header(first, second string) {
	s.printf("%-*s %s\n", s.firstColumn()+1, first, second)
}

// row prints two columns, each broken into lines where it is wider than its
// part of a terminal.
func (s *Session) row(first, second string) {
	w := s.firstColumn()
	if s.Width == 0 {
		s.printf(" %-*s %s\n", w, first, second)
		return
	}
	left, right := wrap(first, w), wrap(second, max(s.Width-w-2, 10))
	for i := range max(len(left), len(right)) {
		l, r := "", ""
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		s.printf("%s\n", strings.TrimRight(fmt.Sprintf(" %-*s %s", w, l, r), " "))
	}
}

// wrap cuts ASCII into pieces.
func wrap(text string, width int) []string {
	var lines []string
	for len(text) > width {
		lines = append(lines, text[:width])
		text = text[width:]
	}
	return append(lines, text)
}

// timeText is a timestamp as HBase 2 prints it: UTC, with as many digits of the
// second as it takes. What is no date is printed as the number.
func timeText(ms int64) string {
	const firstOfYear10000 = 253402300800000
	if ms < 0 || ms >= firstOfYear10000 {
		return strconv.FormatInt(ms, 10)
	}
	t := time.UnixMilli(ms).UTC()
	switch {
	case ms%1000 != 0:
		return t.Format("2006-01-02T15:04:05.000")
	case t.Second() != 0:
		return t.Format("2006-01-02T15:04:05")
	}
	return t.Format("2006-01-02T15:04")
}

// converters show values as what they are. HBase's Bytes.toLong and so on: big
// endian. Values of another length are shown as bytes.
func converters() map[string]func(b []byte) (string, bool) {
	fixed := func(n int, show func(b []byte) string) func([]byte) (string, bool) {
		return func(b []byte) (string, bool) {
			if len(b) != n {
				return "", false
			}
			return show(b), true
		}
	}
	return map[string]func(b []byte) (string, bool){
		"toInt":   fixed(4, func(b []byte) string { return strconv.Itoa(int(int32(binary.BigEndian.Uint32(b)))) }),
		"toLong":  fixed(8, func(b []byte) string { return strconv.FormatInt(int64(binary.BigEndian.Uint64(b)), 10) }),
		"toShort": fixed(2, func(b []byte) string { return strconv.Itoa(int(int16(binary.BigEndian.Uint16(b)))) }),
		"toFloat": fixed(4, func(b []byte) string {
			return strconv.FormatFloat(float64(math.Float32frombits(binary.BigEndian.Uint32(b))), 'g', -1, 32)
		}),
		"toDouble": fixed(8, func(b []byte) string {
			return strconv.FormatFloat(math.Float64frombits(binary.BigEndian.Uint64(b)), 'g', -1, 64)
		}),
		"toBoolean":      fixed(1, func(b []byte) string { return strconv.FormatBool(b[0] != 0) }),
		"toString":       func(b []byte) (string, bool) { return printable(b), true },
		"toStringBinary": func(b []byte) (string, bool) { return attribute.Escape(b), true },
		"toBigDecimal":   bigDecimal,
	}
}

// printable shows UTF-8 as it is, but nothing that a terminal would obey.
func printable(b []byte) string {
	var s strings.Builder
	for i, r := range string(b) {
		if r == '\uFFFD' || !strconv.IsPrint(r) {
			n := max(1, len(string(r)))
			if r == '\uFFFD' && (i+3 > len(b) || string(b[i:i+3]) != "\uFFFD") {
				n = 1
			}
			for _, c := range b[i:min(i+n, len(b))] {
				fmt.Fprintf(&s, "\\x%02X", c)
			}
			continue
		}
		s.WriteRune(r)
	}
	return s.String()
}

// bigDecimal reads a scale of 4 bytes and a number in two's complement.
func bigDecimal(b []byte) (string, bool) {
	if len(b) < 5 || len(b) > 64 {
		return "", false
	}
	scale := int(int32(binary.BigEndian.Uint32(b)))
	n := new(big.Int).SetBytes(b[4:])
	if b[4]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*(len(b)-4))))
	}
	if scale < 0 || scale > 1000 {
		return "", false
	}
	digits := n.Text(10)
	if scale == 0 {
		return digits, true
	}
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for len(digits) <= scale {
		digits = "0" + digits
	}
	return sign + digits[:len(digits)-scale] + "." + digits[len(digits)-scale:], true
}

// showValue renders a value of a column.
func showValue(b []byte, convert string, maxLength int) string {
	text, ok := "", false
	if c, known := converters()[convert]; known {
		text, ok = c(b)
	}
	if !ok {
		text = attribute.Escape(b)
	}
	if maxLength > 0 && len(text) > maxLength {
		text = text[:maxLength]
	}
	return text
}

// converterOf finds how a column's values are shown.
func (r *Read) converterOf(column []byte) string {
	for _, c := range r.Columns {
		if c.Convert != "" && string(c.Name) == string(column) {
			return c.Convert
		}
	}
	return ""
}

// cellText is a cell as get prints it.
func (r *Read) cellText(c *Cell) string {
	return "timestamp=" + timeText(c.Timestamp) + ", value=" + showValue(c.Value, r.converterOf(c.Column), r.MaxLength)
}
