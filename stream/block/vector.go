package block

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/cellardb/cellar/store"
)

// resize gives n elements, in the old memory if it is large enough.
func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// spread moves the n values at the front of dst to where rows are not null;
// null rows become zero. nulls has len(dst)-n bits set; nil: n is len(dst).
func spread[T any](dst []T, nulls []uint64, n int) {
	if nulls == nil {
		return
	}
	var zero T
	for end := len(dst); end > 0; {
		null := lastBit(nulls, end)
		run := end - (null + 1)
		copy(dst[null+1:end], dst[n-run:n])
		n -= run
		if null >= 0 {
			dst[null] = zero
		}
		end = null
	}
}

// lastBit is the highest set bit below end, or -1.
func lastBit(set []uint64, end int) int {
	i := (end - 1) / 64
	w := set[i] << (63 - (end-1)%64) // bit end-1 is the highest
	if w != 0 {
		return end - 1 - bits.LeadingZeros64(w)
	}
	for i--; i >= 0; i-- {
		if set[i] != 0 {
			return i*64 + 63 - bits.LeadingZeros64(set[i])
		}
	}
	return -1
}

// gather appends the values of rows [from, to) that are not null.
func gather[T any](dst, src []T, nulls []uint64, from, to int) []T {
	if nulls == nil {
		return append(dst, src[from:to]...)
	}
	for at := from; at < to; {
		null := nextBit(nulls, at, to)
		dst = append(dst, src[at:null]...)
		at = null + 1
	}
	return dst
}

// nextBit is the lowest set bit in [from, to), or to.
func nextBit(set []uint64, from, to int) int {
	i := from / 64
	if w := set[i] >> (from % 64); w != 0 {
		return min(to, from+bits.TrailingZeros64(w))
	}
	for i++; i*64 < to; i++ {
		if set[i] != 0 {
			return min(to, i*64+bits.TrailingZeros64(set[i]))
		}
	}
	return to
}

// check says what is wrong with a vector of at least rows rows.
func check(v *store.Vector, rows int) error {
	if v.Nulls != nil && len(v.Nulls) < bitWords(rows) {
		return fmt.Errorf("%w: nulls of %d rows, want %d", ErrBadVector, 64*len(v.Nulls), rows)
	}
	if v.Dictionary != nil {
		return checkDictionary(v, rows)
	}
	have := lengthOf(v)
	if have < rows {
		return fmt.Errorf("%w: %d values, want %d", ErrBadVector, have, rows)
	}
	return nil
}

func checkDictionary(v *store.Vector, rows int) error {
	d := v.Dictionary
	if d.Dictionary != nil || d.Nulls != nil || d.Type != v.Type {
		return fmt.Errorf("%w: a dictionary of another type, with nulls, or with a dictionary", ErrBadVector)
	}
	if len(v.Codes) < rows {
		return fmt.Errorf("%w: %d codes, want %d", ErrBadVector, len(v.Codes), rows)
	}
	return nil
}

// lengthOf is the number of rows of a vector without a dictionary.
func lengthOf(v *store.Vector) int {
	switch v.Type {
	case store.ColumnBool:
		return len(v.Bools)
	case store.ColumnInt32:
		return len(v.Int32s)
	case store.ColumnInt64, store.ColumnTimestamp:
		return len(v.Int64s)
	case store.ColumnHugeInt:
		return len(v.Hugeints)
	case store.ColumnFloat32:
		return len(v.Float32s)
	case store.ColumnFloat64:
		return len(v.Float64s)
	case store.ColumnText, store.ColumnBytes:
		return max(0, len(v.Offsets)-1)
	}
	return -1
}
