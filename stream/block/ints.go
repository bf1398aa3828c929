package block

import "slices"

// A list of 64-bit integers is the common denominator of the package: numbers,
// lengths, codes, scaled decimals and positions are lists. How many there are
// is known from outside; an empty list has no bytes. The first byte of others
// says how they are written; parts of a list are lists themselves.
const (
	intsConstant   = 0 // varint: all are this number
	intsPacked     = 1 // varint base, width, bits
	intsPatched    = 2 // packed, then count, list of gaps, list of the numbers that did not fit
	intsDelta      = 3 // varint first, list of the differences
	intsDictionary = 4 // count, list of the distinct numbers, list of their indices
	intsRuns       = 5 // count, list of the numbers, list of how often each is repeated
	intsScaled     = 6 // varint base, factor, list of quotients: base + quotient * factor
	intsBytes      = 7 // varint base, size, zstd frame of a byte a number: base + byte
)

// maxNesting is how deep lists may lie in lists. The encoder needs all of it:
// scaled numbers, of a dictionary, whose codes are runs, whose heads are
// differences, which are patched, at gaps.
const maxNesting = 6

// decoder holds what decoding needs besides its result: memory that is used
// again and again. It belongs to one goroutine at a time.
type decoder struct {
	lists [][]int64 // scratch, used as a stack
	used  int
	bits  []uint64
	text  textDecoder
}

// list takes n numbers of scratch; give returns the one taken last.
func (d *decoder) list(n int) []int64 {
	if d.used == len(d.lists) {
		d.lists = append(d.lists, nil)
	}
	l := slices.Grow(d.lists[d.used][:0], n)[:n]
	d.lists[d.used] = l
	d.used++
	return l
}

func (d *decoder) give() { d.used-- }

// ints reads a list of len(dst) numbers, MaxRows at most.
func (d *decoder) ints(c *cursor, dst []int64, depth int) {
	if len(dst) == 0 {
		return
	}
	if depth > maxNesting {
		c.fail("lists lie in lists too deep")
		return
	}
	switch kind := c.byte(); kind {
	case intsConstant:
		fill(dst, c.varint())
	case intsPacked:
		d.packed(c, dst)
	case intsPatched:
		d.patched(c, dst, depth)
	case intsDelta:
		dst[0] = c.varint()
		d.ints(c, dst[1:], depth+1)
		sum := dst[0]
		for i, v := range dst[1:] {
			sum += v
			dst[i+1] = sum
		}
	case intsDictionary:
		d.indexed(c, dst, depth)
	case intsRuns:
		d.runs(c, dst, depth)
	case intsScaled:
		base, factor := c.varint(), int64(c.uvarint())
		d.ints(c, dst, depth+1)
		for i, q := range dst {
			dst[i] = base + q*factor
		}
	case intsBytes:
		base := c.varint()
		d.text.narrow = d.inflate(c, d.text.narrow, len(dst))
		if c.err == nil {
			for i, b := range d.text.narrow {
				dst[i] = base + int64(b)
			}
		}
	default:
		c.fail("a list of numbers is of an unknown kind")
	}
}

func fill[T any](dst []T, v T) {
	for i := range dst {
		dst[i] = v
	}
}

func (d *decoder) packed(c *cursor, dst []int64) {
	base, w := c.varint(), int(c.byte())
	if w < 1 || w > maxPackedWidth && w != 64 {
		c.fail("numbers have an impossible width")
		return
	}
	if src := c.take(packedBytes(len(dst), w)); src != nil {
		unpack(dst, src, base, w)
	}
}

func (d *decoder) patched(c *cursor, dst []int64, depth int) {
	d.packed(c, dst)
	n := c.count(len(dst), "more exceptions than numbers")
	at, vals := d.list(n), d.list(n)
	d.positions(c, at, len(dst), depth)
	d.ints(c, vals, depth+1)
	if c.err == nil {
		for i, p := range at {
			dst[p] = vals[i]
		}
	}
	d.give()
	d.give()
}

// positions reads a list of ascending positions below n, written as the gaps
// between them.
func (d *decoder) positions(c *cursor, at []int64, n, depth int) {
	d.ints(c, at, depth+1)
	next := int64(0)
	for i, gap := range at {
		if gap < 0 || gap >= int64(n)-next {
			c.fail("a position lies outside")
			clear(at)
			return
		}
		at[i] = next + gap
		next = at[i] + 1
	}
}

func (d *decoder) indexed(c *cursor, dst []int64, depth int) {
	entries := d.list(c.count(len(dst), "a dictionary has more entries than there are numbers"))
	d.ints(c, entries, depth+1)
	d.ints(c, dst, depth+1)
	for i, code := range dst {
		if uint64(code) >= uint64(len(entries)) {
			c.fail("a code lies outside of its dictionary")
			break
		}
		dst[i] = entries[code]
	}
	d.give()
}

func (d *decoder) runs(c *cursor, dst []int64, depth int) {
	n := c.count(len(dst), "more runs than numbers")
	vals, lengths := d.list(n), d.list(n)
	d.ints(c, vals, depth+1)
	d.ints(c, lengths, depth+1)
	if c.err == nil {
		rest := dst
		for i, v := range vals {
			if lengths[i] < 1 || lengths[i] > int64(len(rest)) {
				c.fail("a run has an impossible length")
				break
			}
			fill(rest[:lengths[i]], v)
			rest = rest[lengths[i]:]
		}
		if len(rest) != 0 {
			c.fail("runs end too early")
		}
	}
	d.give()
	d.give()
}
