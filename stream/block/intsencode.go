package block

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// forms are the ways to write a list that an encoder may try. Lists within
// lists are allowed fewer, so that nesting ends.
type forms uint8

const (
	tryPatched forms = 1 << iota
	tryDelta
	tryDelta2
	tryDictionary
	tryRuns
	tryScaled
	tryBytes

	tryAll   = tryPatched | tryDelta | tryDelta2 | tryDictionary | tryRuns | tryScaled | tryBytes
	tryCodes = tryPatched | tryRuns | tryBytes
)

// few is the length up to which a list is written in every form, to keep the
// smallest. Of longer ones a sample decides.
const few = 64

// maxCodeBits bounds dictionaries of numbers.
const maxCodeBits = 12

// ints appends a list.
func (e *encoder) ints(dst []byte, vals []int64, try forms) []byte {
	if len(vals) == 0 {
		return dst
	}
	low, high := bounds(vals)
	switch {
	case low == high:
		return appendVarint(append(dst, intsConstant), low)
	case len(vals) < 3:
		return appendPacked(dst, vals, low, packedWidth(uint64(high)-uint64(low)))
	}
	if try&tryScaled != 0 {
		if factor := commonFactor(vals, low); factor > 1 {
			return e.scaled(dst, vals, low, factor, try&^tryScaled)
		}
	}
	if len(vals) <= few {
		return e.smallest(dst, vals, low, high, try)
	}
	return e.estimated(dst, vals, low, high, try)
}

// commonFactor is the greatest number that divides how far each of vals is
// above the least of them; 1 is found early. Not all are equal.
func commonFactor(vals []int64, low int64) uint64 {
	factor := uint64(0)
	for _, v := range vals {
		rest := uint64(v) - uint64(low)
		if factor > 0 && rest%factor == 0 {
			continue
		}
		for rest != 0 {
			factor, rest = rest, factor%rest
		}
		if factor == 1 {
			break
		}
	}
	return factor
}

// scaled writes how often factor lies between each number and the least one.
func (e *encoder) scaled(dst []byte, vals []int64, low int64, factor uint64, try forms) []byte {
	q := e.list(len(vals))
	for i, v := range vals {
		q[i] = int64((uint64(v) - uint64(low)) / factor)
	}
	dst = binary.AppendUvarint(appendVarint(append(dst, intsScaled), low), factor)
	dst = e.ints(dst, q, try)
	e.give()
	return dst
}

func bounds(vals []int64) (low, high int64) {
	low, high = vals[0], vals[0]
	for _, v := range vals {
		low, high = min(low, v), max(high, v)
	}
	return low, high
}

// smallest writes a list in every form and keeps the shortest.
func (e *encoder) smallest(dst []byte, vals []int64, low, high int64, try forms) []byte {
	begin := len(dst)
	dst = appendPacked(dst, vals, low, packedWidth(uint64(high)-uint64(low)))
	keep := func(longer []byte) {
		size := len(dst) - begin
		if len(longer)-len(dst) < size {
			dst = append(dst[:begin], longer[len(dst):]...)
		}
	}
	if try&tryDelta != 0 {
		keep(e.delta(dst, vals, try))
	}
	if try&tryRuns != 0 {
		keep(e.runs(dst, vals, countRuns(vals)))
	}
	if try&tryDictionary != 0 {
		if entries, ok := e.distinct(vals, len(vals)/2); ok {
			keep(e.dictionary(dst, vals, entries))
		}
	}
	return dst
}

// estimated chooses a form by what a sample of the list would take, in bits a
// number. Within a form, the choice of widths is exact.
func (e *encoder) estimated(dst []byte, vals []int64, low, high int64, try forms) []byte {
	s := sample(vals)
	plain := bestWindow(s.values[:s.n])
	best := float64(packedWidth(uint64(high) - uint64(low)))
	if try&tryPatched != 0 {
		best = min(best, plain.cost)
	}
	if try&tryRuns != 0 && s.repeats*2 > s.n {
		n := countRuns(vals)
		if cost := float64(n) / float64(len(vals)) * (best + float64(bits.Len(uint(len(vals)/n))) + 2); cost < best*0.9 {
			return e.runs(dst, vals, n)
		}
	}
	if try&tryDictionary != 0 && s.mayHaveDictionary(best) {
		if entries, ok := e.distinct(vals, maxEntries(len(vals), best)); ok {
			return e.dictionary(dst, vals, entries)
		}
	}
	if try&tryDelta != 0 {
		once, twice := bestWindow(s.deltas[:s.n]).cost, bestWindow(s.deltas2[:s.n]).cost
		if try&tryDelta2 == 0 {
			twice = once
		}
		if min(once, twice)+0.5 < best {
			next := try &^ (tryDictionary | tryRuns | tryDelta)
			if twice+0.5 < once {
				next |= tryDelta
			}
			return e.deltaAs(dst, vals, next&^tryDelta2)
		}
	}
	if try&tryBytes != 0 && uint64(high)-uint64(low) < 256 {
		if out, ok := e.bytes(dst, vals, low, best); ok {
			return out
		}
	}
	return e.window(dst, vals, low, high, plain, try)
}

// bytes writes numbers of less than 8 bits in fewer than width bits each, if
// some are much more frequent than others; false: that saves too little.
func (e *encoder) bytes(dst []byte, vals []int64, low int64, width float64) ([]byte, bool) {
	var counts [256]int
	e.narrow = resize(e.narrow, len(vals))
	for i, v := range vals {
		b := byte(v - low)
		e.narrow[i] = b
		counts[b]++
	}
	const tables = 80 * 8 // bits that a frame takes beside
	limit := width * 0.94 * float64(len(vals))
	if entropy(counts[:], len(vals))+tables > limit {
		return dst, false
	}
	out, ok := e.deflate(appendVarint(append(dst, intsBytes), low), e.narrow)
	return out, ok && float64(8*(len(out)-len(dst))) < limit
}

// entropy is how many bits n draws take of which counts says how often each
// came.
func entropy(counts []int, n int) float64 {
	sum := 0.0
	for _, k := range counts {
		if k > 0 {
			sum += float64(k) * math.Log2(float64(n)/float64(k))
		}
	}
	return sum
}

// window writes a list packed, or patched where the numbers that lie outside of
// w take less than the width that they would need.
func (e *encoder) window(dst []byte, vals []int64, low, high int64, w window, try forms) []byte {
	width := packedWidth(uint64(high) - uint64(low))
	if try&tryPatched == 0 || w.width >= width {
		return appendPacked(dst, vals, low, width)
	}
	base := w.centred(low)
	limit := uint64(1) << w.width
	out := 0
	for _, v := range vals {
		if uint64(v)-uint64(base) >= limit {
			out++
		}
	}
	cost := len(vals)*w.width + out*(width+bits.Len(uint(len(vals)/(out+1)))+2) + 64
	if cost >= len(vals)*width {
		return appendPacked(dst, vals, low, width)
	}
	return e.patched(dst, vals, base, w.width, out)
}

func appendPacked(dst []byte, vals []int64, base int64, w int) []byte {
	dst = append(appendVarint(append(dst, intsPacked), base), byte(w))
	return pack(dst, vals, base, w)
}

// patched writes numbers of w bits from base on, and out others beside them.
func (e *encoder) patched(dst []byte, vals []int64, base int64, w, out int) []byte {
	gaps, strays := e.list(out)[:0], e.list(out)[:0]
	limit := uint64(1) << w
	next := 0
	for i, v := range vals {
		if uint64(v)-uint64(base) >= limit {
			gaps, strays = append(gaps, int64(i-next)), append(strays, v)
			next = i + 1
		}
	}
	dst = append(appendVarint(append(dst, intsPatched), base), byte(w))
	dst = pack(dst, vals, base, w)
	dst = binary.AppendUvarint(dst, uint64(out))
	dst = e.ints(dst, gaps, 0)
	dst = e.ints(dst, strays, 0)
	e.give()
	e.give()
	return dst
}

// delta writes the first number and the differences, in the forms that are left
// to try. Differences may wrap, as the sums do that undo them.
func (e *encoder) delta(dst []byte, vals []int64, try forms) []byte {
	next := try &^ (tryDictionary | tryRuns | tryDelta | tryDelta2)
	if try&tryDelta2 != 0 {
		next |= tryDelta
	}
	return e.deltaAs(dst, vals, next)
}

func (e *encoder) deltaAs(dst []byte, vals []int64, next forms) []byte {
	d := e.list(len(vals) - 1)
	for i := range d {
		d[i] = vals[i+1] - vals[i]
	}
	dst = appendVarint(append(dst, intsDelta), vals[0])
	dst = e.ints(dst, d, next)
	e.give()
	return dst
}

func countRuns(vals []int64) int {
	n := 1
	for i := 1; i < len(vals); i++ {
		if vals[i] != vals[i-1] {
			n++
		}
	}
	return n
}

func (e *encoder) runs(dst []byte, vals []int64, n int) []byte {
	heads, lengths := e.list(n)[:0], e.list(n)[:0]
	begin := 0
	for i := 1; i <= len(vals); i++ {
		if i == len(vals) || vals[i] != vals[begin] {
			heads, lengths = append(heads, vals[begin]), append(lengths, int64(i-begin))
			begin = i
		}
	}
	dst = binary.AppendUvarint(append(dst, intsRuns), uint64(n))
	dst = e.ints(dst, heads, tryPatched|tryDelta)
	dst = e.ints(dst, lengths, tryPatched)
	e.give()
	e.give()
	return dst
}

// maxEntries is how many distinct numbers a list may have to be smaller with a
// dictionary than with width bits a number.
func maxEntries(n int, width float64) int {
	most := 0
	for codes := 1; codes <= maxCodeBits; codes++ {
		if saved := (width*0.9 - float64(codes)) * float64(n); saved > 0 {
			most = max(most, min(1<<codes, int(saved/max(width, 16))))
		}
	}
	return most
}

// distinct lists the distinct numbers, ascending, or says that they are more
// than limit. The list is scratch that the caller gives back by dictionary.
func (e *encoder) distinct(vals []int64, limit int) ([]int64, bool) {
	if limit < 2 {
		return nil, false
	}
	entries := e.list(limit)[:0]
	size := 1 << bits.Len(uint(2*limit))
	e.slots = zeros(e.slots, size)
	for _, v := range vals {
		slot := e.slotOf(v, entries)
		if e.slots[slot] != 0 {
			continue
		}
		if len(entries) == limit {
			e.give()
			return nil, false
		}
		entries = append(entries, v)
		e.slots[slot] = uint32(len(entries))
	}
	slices.Sort(entries)
	return entries, true
}

// slotOf finds where v is in the hash table, or where it would be.
func (e *encoder) slotOf(v int64, entries []int64) int {
	mask := len(e.slots) - 1
	h := uint64(v) * 0x9E3779B97F4A7C15
	at := int(h>>32) & mask
	for e.slots[at] != 0 && entries[e.slots[at]-1] != v {
		at = (at + 1) & mask
	}
	return at
}

// dictionary writes a list by the distinct numbers that distinct gave.
func (e *encoder) dictionary(dst []byte, vals, entries []int64) []byte {
	clear(e.slots)
	for i, v := range entries {
		e.slots[e.slotOf(v, entries)] = uint32(i + 1)
	}
	codes := e.list(len(vals))
	for i, v := range vals {
		codes[i] = int64(e.slots[e.slotOf(v, entries)] - 1)
	}
	dst = binary.AppendUvarint(append(dst, intsDictionary), uint64(len(entries)))
	dst = e.ints(dst, entries, tryPatched|tryDelta)
	dst = e.ints(dst, codes, tryCodes)
	e.give()
	e.give()
	return dst
}
