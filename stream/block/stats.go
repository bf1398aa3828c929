package block

import (
	"bytes"
	"math"

	"github.com/cellardb/cellar/store"
)

// ColumnStats is what is known of a column of a block without its chunk.
type ColumnStats struct {
	// Min and Max bound the values that are not null; nil: no bound is known,
	// or all rows are null. Their dynamic type is bool, int64 (all integers up
	// to 64 bits, and timestamps), store.HugeInt, float64 (both floats; NaN is
	// the greatest number, as in SQL, and equal to itself), string (text) or
	// []byte. Of text and bytes they may be shorter than the values: Min is at
	// or below the smallest, Max at or above the greatest.
	Min, Max any
	// Nulls is the number of rows that are null.
	Nulls int
	// Bytes is the size of the column's chunk.
	Bytes int
}

// boundBytes is the most bytes that a bound of text or bytes has.
const boundBytes = 32

func (s *ColumnStats) setText(t store.ColumnType, low, high []byte) {
	min, max := lowerBound(low), upperBound(high)
	if t == store.ColumnText {
		s.Min = string(min)
		if max != nil {
			s.Max = string(max)
		}
		return
	}
	s.Min = bytes.Clone(min)
	if max != nil {
		s.Max = bytes.Clone(max)
	}
	if s.Min.([]byte) == nil {
		s.Min = []byte{}
	}
}

// lowerBound is a prefix: it sorts before whatever it begins.
func lowerBound(low []byte) []byte { return low[:min(len(low), boundBytes)] }

// upperBound is the value, or the shortest that sorts behind all that begin
// like it; nil if there is none because all bytes are FF.
func upperBound(high []byte) []byte {
	if len(high) <= boundBytes {
		return append([]byte{}, high...)
	}
	up := append([]byte{}, high[:boundBytes]...)
	for len(up) > 0 {
		if last := len(up) - 1; up[last] != 0xFF {
			up[last]++
			return up
		}
		up = up[:len(up)-1]
	}
	return nil
}

// floatBounds are the least and the greatest of vals, NaN being the greatest.
// There is at least one.
func floatBounds[F float32 | float64](vals []F) (low, high float64) {
	l, h := F(math.Inf(1)), F(math.Inf(-1))
	nans := 0
	for _, v := range vals {
		if v < l {
			l = v
		}
		if v > h {
			h = v
		}
		if v != v {
			nans++
		}
	}
	low, high = float64(l), float64(h)
	if nans > 0 {
		high = math.NaN()
		if nans == len(vals) {
			low = high
		}
	}
	return low, high
}

// compare orders two bounds of the same dynamic type, or two integers; ok is
// false for others.
func compare(a, b any) (order int, ok bool) {
	switch a := a.(type) {
	case bool:
		b, ok := b.(bool)
		return compareBools(a, b), ok
	case int64:
		if b, ok := b.(int64); ok {
			return compareOrdered(a, b), true
		}
		return compareHuge(hugeOf(a), b)
	case float64:
		b, ok := b.(float64)
		return compareFloats(a, b), ok
	case string:
		b, ok := b.(string)
		return compareOrdered(a, b), ok
	case []byte:
		b, ok := b.([]byte)
		return bytes.Compare(a, b), ok
	case store.HugeInt:
		return compareHuge(a, b)
	}
	return 0, false
}

func compareOrdered[T int64 | uint64 | string](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// compareFloats has NaN as the greatest number, and -0 equal to 0.
func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	return compareBools(a != a, b != b)
}

// compareHuge compares with a huge integer or with one of 64 bits.
func compareHuge(a store.HugeInt, b any) (int, bool) {
	switch b := b.(type) {
	case store.HugeInt:
		if a.High != b.High {
			return compareOrdered(a.High, b.High), true
		}
		return compareOrdered(a.Low, b.Low), true
	case int64:
		return compareHuge(a, hugeOf(b))
	}
	return 0, false
}

func hugeOf(x int64) store.HugeInt { return store.HugeInt{High: x >> 63, Low: uint64(x)} }

// Merge widens s by the statistics of other rows of the column: their sizes
// and nulls are added. rows and more are the rows behind each of them.
func (s *ColumnStats) Merge(rows int, other ColumnStats, more int) {
	switch {
	case other.Nulls == more: // it says nothing of values
	case s.Nulls == rows:
		s.Min, s.Max = other.Min, other.Max
	default:
		s.Min = outer(s.Min, other.Min, -1)
		s.Max = outer(s.Max, other.Max, 1)
	}
	s.Nulls += other.Nulls
	s.Bytes += other.Bytes
}

// outer is the bound that lies further out in a direction; none if one is none.
func outer(a, b any, direction int) any {
	order, ok := compare(a, b)
	switch {
	case !ok:
		return nil
	case order*direction >= 0:
		return a
	}
	return b
}

// MayHold says whether one of rows rows may lie within the bound. It is true
// where that is not known. Null rows lie in no bound, except in one that is
// open on both ends.
func (s *ColumnStats) MayHold(rows int, b store.ColumnBound) bool {
	if b.Min == nil && b.Max == nil {
		return true
	}
	if s.Nulls == rows {
		return false
	}
	if b.Min != nil && s.Max != nil {
		if order, ok := compare(s.Max, b.Min); ok && order < 0 {
			return false
		}
	}
	if b.Max != nil && s.Min != nil {
		if order, ok := compare(s.Min, b.Max); ok && order > 0 {
			return false
		}
	}
	return true
}
