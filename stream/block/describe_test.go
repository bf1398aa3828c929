package block

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// teller reads chunks by the page of the format, not by the decoder, and tells
// what they are made of: the golden file holds that beside the bytes. It trusts
// them: what is wrong is a panic.
type teller struct {
	b    []byte
	text strings.Builder
}

// describe tells what a chunk is made of.
func describe(chunk []byte) string {
	t := &teller{b: chunk[1 : len(chunk)-4]}
	n := int(t.uvarint())
	t.column(n)
	if len(t.b) != 0 {
		t.say(" and %d bytes", len(t.b))
	}
	return t.text.String()
}

func (t *teller) say(format string, args ...any) { fmt.Fprintf(&t.text, format, args...) }

func (t *teller) byte() byte { return t.take(1)[0] }

func (t *teller) take(n int) []byte {
	b := t.b[:n]
	t.b = t.b[n:]
	return b
}

func (t *teller) uvarint() uint64 {
	x, n := binary.Uvarint(t.b)
	t.take(n)
	return x
}

func (t *teller) varint() int64 {
	x, n := binary.Varint(t.b)
	t.take(n)
	return x
}

func (t *teller) column(rows int) {
	names := []string{"", "bool", "int32", "int64", "hugeint", "float32", "float64", "text", "bytes", "timestamp"}
	typ := t.byte()
	t.say("%s x%d", names[typ], rows)
	t.say(" nulls=")
	n := rows - t.set(rows)
	if n == 0 {
		return
	}
	t.say(" ")
	switch typ {
	case 1:
		t.set(n)
	case 4:
		t.list(n)
		t.say(" ")
		t.list(n)
	case 5, 6:
		t.floats(n)
	case 7, 8:
		t.texts(n)
	default:
		t.list(n)
	}
}

// set tells of a set of n rows and says how many are in it.
func (t *teller) set(n int) int {
	count := 0
	switch t.byte() {
	case 0:
		t.say("none")
	case 1:
		t.say("all")
		return n
	case 2:
		t.say("bitmap")
		for _, b := range t.take((n + 7) / 8) {
			for ; b != 0; b &= b - 1 {
				count++
			}
		}
	case 3:
		count = int(t.uvarint())
		t.say("sparse(")
		t.list(count)
		t.say(")")
	case 4:
		t.say("runs(")
		for i, length := range t.list(int(t.uvarint())) {
			count += i % 2 * int(length)
		}
		t.say(")")
	}
	return count
}

// list tells of a list of n numbers and gives them, where sets need them: of
// constant and packed lists.
func (t *teller) list(n int) []int64 {
	nums := make([]int64, n)
	if n == 0 {
		t.say("()")
		return nums
	}
	switch t.byte() {
	case 0:
		c := t.varint()
		t.say("constant %d", c)
		for i := range nums {
			nums[i] = c
		}
	case 1:
		t.packed(nums)
	case 2:
		t.say("patched ")
		t.packed(nums)
		k := int(t.uvarint())
		t.say(" (")
		t.list(k)
		t.say(") (")
		t.list(k)
		t.say(")")
	case 3:
		t.say("delta from %d (", t.varint())
		t.list(n - 1)
		t.say(")")
	case 4:
		t.say("dictionary (")
		t.list(int(t.uvarint()))
		t.say(") (")
		t.list(n)
		t.say(")")
	case 5:
		k := int(t.uvarint())
		t.say("runs (")
		t.list(k)
		t.say(") (")
		t.list(k)
		t.say(")")
	case 6:
		t.say("scaled from %d by %d (", t.varint(), t.uvarint())
		t.list(n)
		t.say(")")
	case 7:
		t.say("bytes from %d zstd", t.varint())
		t.take(int(t.uvarint()))
	}
	return nums
}

func (t *teller) packed(nums []int64) {
	base, w := t.varint(), int(t.byte())
	t.say("packed from %d in %d", base, w)
	src := t.take((len(nums)*w + 7) / 8)
	for i := range nums {
		x := uint64(0)
		for j := range w {
			bit := i*w + j
			x |= uint64(src[bit/8]>>(bit%8)&1) << j
		}
		nums[i] = base + int64(x)
	}
}

func (t *teller) floats(n int) {
	if t.byte() == 0 {
		t.say("bits ")
		t.list(n)
		return
	}
	t.say("decimals of %d", t.byte())
	k := int(t.uvarint())
	t.say(" except (")
	t.list(k)
	t.say(") (")
	t.list(k)
	t.say(") ")
	t.list(n)
}

func (t *teller) texts(n int) {
	switch t.byte() {
	case 0:
		t.plainText(n)
		return
	case 2:
		t.say("numbered in %d digits", t.byte())
		k := int(t.uvarint())
		t.say(", prefixes %d: ", k)
		t.byte()
		t.plainText(k)
		t.say(" codes ")
		t.list(n)
		t.say(" numbers ")
		t.list(n)
		return
	}
	k := int(t.uvarint())
	t.say("dictionary of %d: ", k)
	t.byte()
	t.plainText(k)
	t.say(" codes ")
	t.list(n)
}

func (t *teller) plainText(n int) {
	// The lengths may be in any form: what is told of them is enough to know
	// where the bytes begin.
	t.say("lengths ")
	sum := int64(0)
	for _, l := range t.list(n) {
		sum += l
	}
	if t.byte() == 1 {
		t.take(int(t.uvarint()))
		t.say(" zstd")
		return
	}
	t.say(" raw")
	t.take(int(sum))
}
