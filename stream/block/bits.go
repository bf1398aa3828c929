package block

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// A set of rows, for nulls and for booleans, is written in the way that is
// smallest. The first byte says how.
const (
	setNone   = 0 // no row
	setAll    = 1 // all rows
	setBitmap = 2 // a bit a row, the first in the lowest bit
	setSparse = 3 // count, list of gaps
	setRuns   = 4 // count, list of lengths: rows outside, inside, outside, ...
)

// bitWords is the number of words that n bits need.
func bitWords(n int) int { return (n + 63) / 64 }

// countBits is how many of the first n bits are set.
func countBits(set []uint64, n int) int {
	sum := 0
	for _, w := range set[:n/64] {
		sum += bits.OnesCount64(w)
	}
	if n%64 != 0 {
		sum += bits.OnesCount64(set[n/64] << (64 - n%64))
	}
	return sum
}

// copyBits appends n bits of src from bit from on; what is above the last is 0.
func copyBits(dst, src []uint64, from, n int) []uint64 {
	words, shift := bitWords(n), from%64
	src = src[from/64:]
	for i := range words {
		w := src[i] >> shift
		if shift != 0 && i+1 < len(src) {
			w |= src[i+1] << (64 - shift)
		}
		dst = append(dst, w)
	}
	if n%64 != 0 {
		dst[len(dst)-1] &= 1<<(n%64) - 1
	}
	return dst
}

// set appends the first n bits of a set of which there are count; all others
// of its words are 0.
func (e *encoder) set(dst []byte, set []uint64, n, count int) []byte {
	switch count {
	case 0:
		return append(dst, setNone)
	case n:
		return append(dst, setAll)
	}
	begin, bitmap := len(dst), 1+(n+7)/8
	if count*4 < n {
		if dst = e.sparse(dst, set, n, count); len(dst)-begin < bitmap {
			return dst
		}
		dst = dst[:begin]
	}
	if runs := countBitRuns(set, n); runs*4 < n {
		if dst = e.bitRuns(dst, set, n, runs); len(dst)-begin < bitmap {
			return dst
		}
		dst = dst[:begin]
	}
	return appendBitmap(append(dst, setBitmap), set, n)
}

func (e *encoder) sparse(dst []byte, set []uint64, n, count int) []byte {
	gaps := e.list(count)
	next := 0
	for i := range gaps {
		at := nextBit(set, next, n)
		gaps[i] = int64(at - next)
		next = at + 1
	}
	dst = binary.AppendUvarint(append(dst, setSparse), uint64(count))
	dst = e.ints(dst, gaps, tryPatched)
	e.give()
	return dst
}

// countBitRuns is the number of runs of bits of one value; one of length 0
// counts where the first bit is set.
func countBitRuns(set []uint64, n int) int {
	runs, last := 1, uint64(0)
	for i := range bitWords(n) {
		w := set[i]
		edges := w ^ (w<<1 | last)
		if rest := n - i*64; rest < 64 {
			edges &= 1<<rest - 1
		}
		runs += bits.OnesCount64(edges)
		last = w >> 63
	}
	return runs
}

func (e *encoder) bitRuns(dst []byte, set []uint64, n, runs int) []byte {
	lengths := e.list(runs)[:0]
	for at, inside := 0, false; at < n; inside = !inside {
		end := nextBit(set, at, n)
		if inside {
			end = nextClear(set, at, n)
		}
		lengths = append(lengths, int64(end-at))
		at = end
	}
	dst = binary.AppendUvarint(append(dst, setRuns), uint64(runs))
	dst = e.ints(dst, lengths, tryPatched)
	e.give()
	return dst
}

// nextClear is the lowest bit in [from, to) that is not set, or to.
func nextClear(set []uint64, from, to int) int {
	for at := from; at < to; {
		run := bits.TrailingZeros64(^(set[at/64] >> (at % 64)))
		if run < 64-at%64 {
			return min(to, at+run)
		}
		at += 64 - at%64
	}
	return to
}

func appendBitmap(dst []byte, set []uint64, n int) []byte {
	size := len(dst) + (n+7)/8
	for _, w := range set[:bitWords(n)] {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst[:size]
}

// set reads n bits into into and says how many are set; nil if none is.
func (d *decoder) set(c *cursor, into []uint64, n int) ([]uint64, int) {
	into = slices.Grow(into[:0], bitWords(n))[:bitWords(n)]
	clear(into)
	switch c.byte() {
	case setNone:
		return nil, 0
	case setAll:
		setBits(into, 0, n)
		return into, n
	case setBitmap:
		readBitmap(c, into, n)
	case setSparse:
		at := d.list(c.count(n, "more bits than rows"))
		d.positions(c, at, n, 1)
		for _, p := range at {
			if c.err == nil {
				into[p/64] |= 1 << (p % 64)
			}
		}
		d.give()
	case setRuns:
		d.bitRuns(c, into, n)
	default:
		c.fail("a set of rows is of an unknown kind")
	}
	return into, countBits(into, n)
}

func readBitmap(c *cursor, into []uint64, n int) {
	src := c.take((n + 7) / 8)
	for i := range into {
		if len(src) >= 8 {
			into[i], src = binary.LittleEndian.Uint64(src), src[8:]
			continue
		}
		for j, b := range src {
			into[i] |= uint64(b) << (8 * j)
		}
	}
	if n%64 != 0 && into[len(into)-1]>>(n%64) != 0 {
		c.fail("a bitmap has bits behind its end")
	}
}

func (d *decoder) bitRuns(c *cursor, into []uint64, n int) {
	lengths := d.list(c.count(n+1, "more runs than rows"))
	d.ints(c, lengths, 1)
	at := 0
	for i, length := range lengths {
		if length < 0 || length > int64(n-at) {
			c.fail("a run has an impossible length")
			break
		}
		if i%2 == 1 {
			setBits(into, at, int(length))
		}
		at += int(length)
	}
	if at != n {
		c.fail("runs end too early")
	}
	d.give()
}

// setBits sets n bits from bit from on.
func setBits(set []uint64, from, n int) {
	for n > 0 {
		shift := from % 64
		k := min(64-shift, n)
		set[from/64] |= (^uint64(0) >> (64 - k)) << shift
		from, n = from+k, n-k
	}
}
