package block

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cellardb/cellar/store"
)

// rowOf is the value of a row with all its bits, as a text that can be compared.
func rowOf(v *store.Vector, i int) string {
	if v.Null(i) {
		return "null"
	}
	if v.Dictionary != nil {
		return rowOf(v.Dictionary, int(v.Codes[i]))
	}
	switch v.Type {
	case store.ColumnBool:
		return fmt.Sprint(v.Bools[i])
	case store.ColumnInt32:
		return fmt.Sprint(v.Int32s[i])
	case store.ColumnInt64, store.ColumnTimestamp:
		return fmt.Sprint(v.Int64s[i])
	case store.ColumnHugeInt:
		return fmt.Sprintf("%d:%d", v.Hugeints[i].High, v.Hugeints[i].Low)
	case store.ColumnFloat32:
		return fmt.Sprintf("%08x", math.Float32bits(v.Float32s[i]))
	case store.ColumnFloat64:
		return fmt.Sprintf("%016x", math.Float64bits(v.Float64s[i]))
	}
	return fmt.Sprintf("%x", v.Bytes[v.Offsets[i]:v.Offsets[i+1]])
}

// sameRow compares two rows, bit for bit.
func sameRow(a *store.Vector, i int, b *store.Vector, j int) bool {
	if a.Null(i) || b.Null(j) {
		return a.Null(i) == b.Null(j)
	}
	if a.Dictionary != nil {
		a, i = a.Dictionary, int(a.Codes[i])
	}
	if b.Dictionary != nil {
		b, j = b.Dictionary, int(b.Codes[j])
	}
	switch a.Type {
	case store.ColumnBool:
		return a.Bools[i] == b.Bools[j]
	case store.ColumnInt32:
		return a.Int32s[i] == b.Int32s[j]
	case store.ColumnInt64, store.ColumnTimestamp:
		return a.Int64s[i] == b.Int64s[j]
	case store.ColumnHugeInt:
		return a.Hugeints[i] == b.Hugeints[j]
	case store.ColumnFloat32:
		return math.Float32bits(a.Float32s[i]) == math.Float32bits(b.Float32s[j])
	case store.ColumnFloat64:
		return math.Float64bits(a.Float64s[i]) == math.Float64bits(b.Float64s[j])
	}
	return string(a.Bytes[a.Offsets[i]:a.Offsets[i+1]]) == string(b.Bytes[b.Offsets[j]:b.Offsets[j+1]])
}

// zeroRow says whether what lies beneath a null is nothing.
func zeroRow(v *store.Vector, i int) bool {
	shown := *v
	shown.Nulls = nil
	if v.Dictionary != nil {
		return v.Codes[i] == 0
	}
	got := rowOf(&shown, i)
	for _, zero := range []string{"", "0", "false", "0:0", "00000000", "0000000000000000"} {
		if got == zero {
			return true
		}
	}
	return false
}

// sameRows checks that got has rows [from, to) of want, and no others, in
// slices of that length.
func sameRows(t testing.TB, got, want *store.Vector, from, to int) {
	t.Helper()
	rows := to - from
	if got.Type != want.Type {
		t.Fatalf("type %d, want %d", got.Type, want.Type)
	}
	if got.Dictionary != nil {
		if len(got.Codes) != rows || len(got.Bytes) != 0 || len(got.Offsets) != 0 {
			t.Fatalf("%d codes and %d bytes beside them, want %d and 0", len(got.Codes), len(got.Bytes), rows)
		}
		if err := check(got, rows); err != nil {
			t.Fatal(err)
		}
	} else if n := lengthOf(got); n != rows {
		t.Fatalf("%d rows, want %d", n, rows)
	}
	for i := range rows {
		if !sameRow(got, i, want, from+i) {
			t.Fatalf("row %d of %d is %.80s, want %.80s", i, rows, rowOf(got, i), rowOf(want, from+i))
		}
		if got.Null(i) && !zeroRow(got, i) {
			t.Fatalf("row %d is null, and not zero beneath", i)
		}
	}
}

// roundTrip encodes and decodes rows, into memory that held something else.
func roundTrip(t testing.TB, v *store.Vector, from, to int) ([]byte, ColumnStats) {
	t.Helper()
	chunk, stats, err := EncodeChunk([]byte("before"), v, from, to)
	if err != nil {
		t.Fatal(err)
	}
	if string(chunk[:6]) != "before" {
		t.Fatalf("what was in dst is %q", chunk[:6])
	}
	chunk = chunk[6:]
	if stats.Bytes != len(chunk) {
		t.Fatalf("statistics speak of %d bytes, there are %d", stats.Bytes, len(chunk))
	}
	into := used()
	rows, err := DecodeChunk(chunk, &into)
	if err != nil || rows != to-from {
		t.Fatalf("%d rows, %v; want %d", rows, err, to-from)
	}
	sameRows(t, &into, v, from, to)
	checkStats(t, stats, v, from, to)
	return chunk, stats
}

// used is a vector that was used before, for everything.
func used() store.Vector {
	return store.Vector{Type: store.ColumnText, Nulls: []uint64{^uint64(0), 7}, Bools: []bool{true, true}, Int32s: []int32{7, 7, 7},
		Int64s: []int64{7, 7}, Float32s: []float32{7}, Float64s: []float64{7, 7}, Hugeints: []store.HugeInt{{High: 7, Low: 7}},
		Offsets: []uint32{7, 8, 9}, Bytes: []byte("seven"), Codes: []uint32{7, 7, 7, 7},
		Dictionary: &store.Vector{Type: store.ColumnBytes, Offsets: []uint32{0, 7}, Bytes: []byte("sevensy"), Nulls: []uint64{1}}}
}

// checkStats compares statistics with what a look at every row finds.
func checkStats(t testing.TB, s ColumnStats, v *store.Vector, from, to int) {
	t.Helper()
	nulls := 0
	for i := from; i < to; i++ {
		if v.Null(i) {
			nulls++
			continue
		}
		val := boundOf(v, i)
		if s.Min != nil {
			if order, ok := compare(s.Min, val); !ok || order > 0 {
				t.Fatalf("row %d is %v, below the minimum %v", i, val, s.Min)
			}
		}
		if s.Max != nil {
			if order, ok := compare(s.Max, val); !ok || order < 0 {
				t.Fatalf("row %d is %v, above the maximum %v", i, val, s.Max)
			}
		}
		if !s.MayHold(to-from, store.ColumnBound{Min: val, Max: val}) {
			t.Fatalf("statistics deny row %d, %v", i, val)
		}
	}
	if s.Nulls != nulls {
		t.Fatalf("statistics speak of %d nulls, there are %d", s.Nulls, nulls)
	}
	if nulls == to-from && (s.Min != nil || s.Max != nil) {
		t.Fatalf("bounds %v and %v of nothing", s.Min, s.Max)
	}
}

// boundOf is the value of a row in the type of a bound.
func boundOf(v *store.Vector, i int) any {
	if v.Dictionary != nil {
		return boundOf(v.Dictionary, int(v.Codes[i]))
	}
	switch v.Type {
	case store.ColumnBool:
		return v.Bools[i]
	case store.ColumnInt32:
		return int64(v.Int32s[i])
	case store.ColumnInt64, store.ColumnTimestamp:
		return v.Int64s[i]
	case store.ColumnHugeInt:
		return v.Hugeints[i]
	case store.ColumnFloat32:
		return float64(v.Float32s[i])
	case store.ColumnFloat64:
		return v.Float64s[i]
	case store.ColumnText:
		return string(v.Bytes[v.Offsets[i]:v.Offsets[i+1]])
	}
	return v.Bytes[v.Offsets[i]:v.Offsets[i+1]]
}

var allTypes = []store.ColumnType{store.ColumnBool, store.ColumnInt32, store.ColumnInt64, store.ColumnHugeInt,
	store.ColumnFloat32, store.ColumnFloat64, store.ColumnText, store.ColumnBytes, store.ColumnTimestamp}

// vectorOf makes a vector of any type out of numbers. Floats take the number in
// one of two ways: as their bits, or as a decimal; text as hexadecimal, with
// empty ones between, or as a name that ends in it.
func vectorOf(typ store.ColumnType, nums []int64, decimals bool) store.Vector {
	v := store.Vector{Type: typ, Offsets: []uint32{0}}
	for i, x := range nums {
		v.Bools = append(v.Bools, x&1 != 0)
		v.Int32s = append(v.Int32s, int32(x))
		v.Int64s = append(v.Int64s, x)
		v.Hugeints = append(v.Hugeints, store.HugeInt{High: x, Low: uint64(x) * 3})
		if decimals {
			v.Float32s = append(v.Float32s, float32(x%1_000_000)/100)
			v.Float64s = append(v.Float64s, float64(x%1_000_000_000)/1000)
		} else {
			v.Float32s = append(v.Float32s, math.Float32frombits(uint32(x)))
			v.Float64s = append(v.Float64s, math.Float64frombits(uint64(x)))
		}
		if decimals {
			v.Bytes = fmt.Appendf(v.Bytes, "n%02d", x%1_000_000)
		} else if i%7 != 0 {
			v.Bytes = fmt.Appendf(v.Bytes, "%x", uint64(x))
		}
		v.Offsets = append(v.Offsets, uint32(len(v.Bytes)))
	}
	return only(v)
}

// only keeps the slices of the vector's type.
func only(v store.Vector) store.Vector {
	o := store.Vector{Type: v.Type, Nulls: v.Nulls, Dictionary: v.Dictionary, Codes: v.Codes}
	switch v.Type {
	case store.ColumnBool:
		o.Bools = v.Bools
	case store.ColumnInt32:
		o.Int32s = v.Int32s
	case store.ColumnInt64, store.ColumnTimestamp:
		o.Int64s = v.Int64s
	case store.ColumnHugeInt:
		o.Hugeints = v.Hugeints
	case store.ColumnFloat32:
		o.Float32s = v.Float32s
	case store.ColumnFloat64:
		o.Float64s = v.Float64s
	default:
		o.Offsets, o.Bytes = v.Offsets, v.Bytes
	}
	return o
}

// shapes are ways in which numbers follow one another: each suits a form.
var shapes = map[string]func(rng *rand.Rand, i int, last int64) int64{
	"constant":   func(*rand.Rand, int, int64) int64 { return -5 },
	"extremes":   func(_ *rand.Rand, i int, _ int64) int64 { return []int64{math.MinInt64, math.MaxInt64, 0, -1}[i%4] },
	"random":     func(rng *rand.Rand, _ int, _ int64) int64 { return int64(rng.Uint64()) },
	"narrow":     func(rng *rand.Rand, _ int, _ int64) int64 { return 1e12 + rng.Int64N(1000) },
	"outliers":   func(rng *rand.Rand, i int, _ int64) int64 { return outlier(rng, i) },
	"walk":       func(rng *rand.Rand, _ int, last int64) int64 { return last + rng.Int64N(41) - 20 },
	"counter":    func(_ *rand.Rand, i int, _ int64) int64 { return math.MaxInt64 - 100 + int64(i) },
	"clock":      func(rng *rand.Rand, i int, _ int64) int64 { return 1e13 + int64(i)*60_000 + rng.Int64N(3) },
	"quadratic":  func(_ *rand.Rand, i int, _ int64) int64 { return int64(i) * int64(i) * 1e6 },
	"runs":       func(rng *rand.Rand, i int, last int64) int64 { return newOrLast(rng, i, last) },
	"few values": func(rng *rand.Rand, _ int, _ int64) int64 { return int64(uint64(rng.IntN(9)+1) * 0x9E3779B97F4A7C15) },
	"seconds":    func(rng *rand.Rand, _ int, _ int64) int64 { return 1_700_000_000_000 + rng.Int64N(3600)*1000 },
	"skewed":     func(rng *rand.Rand, _ int, _ int64) int64 { return int64(math.Exp(rng.ExpFloat64() * 4)) },
}

func outlier(rng *rand.Rand, i int) int64 {
	if i%50 == 1 {
		return -rng.Int64N(1e15)
	}
	return rng.Int64N(100)
}

func newOrLast(rng *rand.Rand, i int, last int64) int64 {
	if i == 0 || rng.IntN(40) == 0 {
		return int64(rng.Uint64())
	}
	return last
}

func numbers(rng *rand.Rand, shape string, n int) []int64 {
	nums := make([]int64, n)
	last := int64(0)
	for i := range nums {
		last = shapes[shape](rng, i, last)
		nums[i] = last
	}
	return nums
}

// nullShapes are ways in which null rows lie.
var nullShapes = map[string]func(rng *rand.Rand, i, rows int) bool{
	"none":    func(*rand.Rand, int, int) bool { return false },
	"all":     func(*rand.Rand, int, int) bool { return true },
	"half":    func(rng *rand.Rand, _, _ int) bool { return rng.IntN(2) == 0 },
	"rare":    func(rng *rand.Rand, _, _ int) bool { return rng.IntN(50) == 0 },
	"most":    func(rng *rand.Rand, _, _ int) bool { return rng.IntN(50) != 0 },
	"first":   func(_ *rand.Rand, i, _ int) bool { return i == 0 },
	"last":    func(_ *rand.Rand, i, rows int) bool { return i == rows-1 },
	"but one": func(_ *rand.Rand, i, rows int) bool { return i != rows/2 },
	"tail":    func(_ *rand.Rand, i, rows int) bool { return i >= rows/3 },
}

func nullsOf(rng *rand.Rand, shape string, rows int) []uint64 {
	set := make([]uint64, bitWords(rows))
	for i := range rows {
		if nullShapes[shape](rng, i, rows) {
			setBits(set, i, 1)
		}
	}
	return set
}
