package block

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cellardb/cellar/store"
)

// Every type, at every edge of the number of rows, in numbers of every shape
// and with nulls of every shape, comes back bit for bit.
func TestChunksComeBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	cases := 0
	for _, rows := range []int{0, 1, 2, 3, 8, 9, 63, 64, 65, 66, 129, 1000, 8191, 8192} {
		for _, shape := range slices.Sorted(maps.Keys(shapes)) {
			nums := numbers(rng, shape, rows)
			for _, typ := range allTypes {
				nulls := slices.Sorted(maps.Keys(nullShapes))[cases%len(nullShapes)]
				t.Run(fmt.Sprintf("%d/%s/%d/%s", rows, shape, typ, nulls), func(t *testing.T) {
					v := vectorOf(typ, nums, cases%2 == 0)
					roundTrip(t, &v, 0, rows)
					v.Nulls = nullsOf(rng, nulls, rows)
					roundTrip(t, &v, 0, rows)
				})
				cases++
			}
		}
	}
	if cases != 14*13*9 {
		t.Errorf("%d cases, want %d", cases, 14*13*9)
	}
}

// A part of a vector is encoded as if it were one of its own.
func TestPartOfAVector(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	cases := 0
	for _, typ := range allTypes {
		v := vectorOf(typ, numbers(rng, "walk", 500), true)
		v.Nulls = nullsOf(rng, "half", 500)
		for _, part := range [][2]int{{0, 500}, {0, 0}, {500, 500}, {1, 500}, {63, 65}, {64, 128}, {65, 66}, {100, 431}} {
			roundTrip(t, &v, part[0], part[1])
			cases++
		}
	}
	if cases != 9*8 {
		t.Errorf("%d cases", cases)
	}
}

// Any vector comes back, also where shapes change in its middle.
func TestAnyVectorComesBack(t *testing.T) {
	names, nullNames := slices.Sorted(maps.Keys(shapes)), slices.Sorted(maps.Keys(nullShapes))
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 3))
		rows := rng.IntN(1500)
		cut := rng.IntN(rows + 1)
		nums := append(numbers(rng, names[rng.IntN(len(names))], cut), numbers(rng, names[rng.IntN(len(names))], rows-cut)...)
		v := vectorOf(allTypes[rng.IntN(len(allTypes))], nums, rng.IntN(2) == 0)
		v.Nulls = nullsOf(rng, nullNames[rng.IntN(len(nullNames))], rows)
		from := rng.IntN(rows + 1)
		roundTrip(t, &v, from, from+rng.IntN(rows-from+1))
	}
}

// Floats that arithmetic would change keep every bit.
func TestStrangeFloats(t *testing.T) {
	strange := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), math.Float64frombits(0x7FF0000000000001),
		math.Float64frombits(0xFFF8DEADBEEF0001), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 0.1 + 0.2, 1e300,
		1 << 51, 1<<51 - 1, 1<<53 + 2, 123456789.123456789, 0.001, -0.001, 4503599627370496.5, 2.675, 1e-12, 1e-13, 5e-324}
	for _, n := range []int{len(strange), 500, 8192} {
		v := store.Vector{Type: store.ColumnFloat64}
		w := store.Vector{Type: store.ColumnFloat32}
		rng := rand.New(rand.NewPCG(uint64(n), 1))
		for i := range n {
			x := math.Round(rng.Float64()*1e6) / 1e3
			if i < len(strange) {
				x = strange[i]
			} else if i%37 == 0 {
				x = strange[rng.IntN(len(strange))]
			}
			v.Float64s, w.Float32s = append(v.Float64s, x), append(w.Float32s, float32(x))
		}
		w.Float32s = append(w.Float32s, math.Float32frombits(0x7F800001), math.Float32frombits(0xFFC12345))
		roundTrip(t, &v, 0, n)
		roundTrip(t, &w, 2, len(w.Float32s))
	}
}

// What a column should take at most, in bits a value.
func TestSizes(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	walk3, halves := make([]int64, MaxRows), make([]int64, MaxRows)
	for i := range walk3 {
		halves[i] = rng.Int64N(1000) * 500
		walk3[i] = 100_000 + int64(i) // decimals of three digits
	}
	cases := []struct {
		name string
		v    store.Vector
		bits float64
	}{
		{"constant", vectorOf(store.ColumnInt64, numbers(rng, "constant", MaxRows), false), 0.02},
		{"narrow", vectorOf(store.ColumnInt64, numbers(rng, "narrow", MaxRows), false), 10.1},
		{"outliers", vectorOf(store.ColumnInt64, numbers(rng, "outliers", MaxRows), false), 8.6},
		{"walk", vectorOf(store.ColumnInt64, numbers(rng, "walk", MaxRows), false), 6.1},
		{"counter", vectorOf(store.ColumnInt64, numbers(rng, "counter", MaxRows), false), 0.05},
		{"clock", vectorOf(store.ColumnTimestamp, numbers(rng, "clock", MaxRows), false), 3.1},
		{"quadratic", vectorOf(store.ColumnInt64, numbers(rng, "quadratic", MaxRows), false), 0.05},
		{"seconds", vectorOf(store.ColumnTimestamp, numbers(rng, "seconds", MaxRows), false), 12.1},
		{"halves", vectorOf(store.ColumnFloat64, halves, true), 10.1},
		{"runs", vectorOf(store.ColumnInt64, numbers(rng, "runs", MaxRows), false), 2.2},
		{"few values", vectorOf(store.ColumnInt64, numbers(rng, "few values", MaxRows), false), 4.2},
		{"few floats", vectorOf(store.ColumnFloat64, numbers(rng, "few values", MaxRows), false), 4.2},
		{"walk of decimals", vectorOf(store.ColumnFloat64, numbers(rng, "walk", MaxRows), true), 6.1},
		{"decimals", vectorOf(store.ColumnFloat64, walk3, true), 0.1},
		{"decimals of float32", vectorOf(store.ColumnFloat32, walk3, true), 0.1},
		{"random", vectorOf(store.ColumnInt64, numbers(rng, "random", MaxRows), false), 64.1},
		{"text of few values", vectorOf(store.ColumnText, numbers(rng, "few values", MaxRows), false), 4.2},
		{"text of one value", vectorOf(store.ColumnText, numbers(rng, "constant", MaxRows), false), 1.1},
		{"bools", vectorOf(store.ColumnBool, numbers(rng, "random", MaxRows), false), 1.1},
		{"bools in runs", vectorOf(store.ColumnBool, numbers(rng, "runs", MaxRows), false), 0.2},
		{"huge", vectorOf(store.ColumnHugeInt, numbers(rng, "narrow", MaxRows), false), 22.2},
	}
	for _, c := range cases {
		chunk, _ := roundTrip(t, &c.v, 0, MaxRows)
		if bits := float64(len(chunk)) * 8 / MaxRows; bits > c.bits {
			t.Errorf("%s: %.3f bits a value, want at most %.3f", c.name, bits, c.bits)
		}
	}
	if len(cases) != 21 {
		t.Errorf("%d cases", len(cases))
	}
}

// A list that looks small in the places that are looked at, and is not, takes
// no more than it must.
func TestSampleThatMisleads(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for _, n := range []int{65, 500, MaxRows} {
		places := make([]int64, n)
		for i := range places {
			places[i] = int64(i)
		}
		s := sample(places)
		nums := numbers(rng, "random", n)
		for _, at := range s.values[:s.n] {
			nums[at-2], nums[at-1], nums[at] = 1000+rng.Int64N(8), 1000+rng.Int64N(8), 1000+rng.Int64N(8)
		}
		v := vectorOf(store.ColumnInt64, nums, false)
		if chunk, _ := roundTrip(t, &v, 0, n); len(chunk) > 8*n+40 {
			t.Errorf("%d bytes for %d numbers", len(chunk), n)
		}
	}
}

// Events of the 13 fields take less than the 40 bytes that are aimed at, and no
// field takes much more than its entropy.
func TestBytesAnEvent(t *testing.T) {
	columns := newEvents(7).columns(MaxRows)
	total, least := 0.0, 0.0
	for i, entropy := range entropies() {
		chunk, _ := roundTrip(t, &columns[i], 0, MaxRows)
		bits := float64(len(chunk)) * 8 / MaxRows
		t.Logf("%-15s %6.3f bytes, entropy %6.3f", fieldNames[i], bits/8, entropy/8)
		slack := 1.7 // what is lost to whole bits, to exceptions, and to tables
		if fieldNames[i] == "label" {
			slack = 5.5 // the dictionary of what stands before the numbers
		}
		if bits > entropy*1.03+slack {
			t.Errorf("%s: %.2f bits, entropy %.2f", fieldNames[i], bits, entropy)
		}
		total, least = total+bits/8, least+entropy/8
	}
	t.Logf("%-15s %6.3f bytes, entropy %6.3f", "all", total, least)
	if total > 20.5 {
		t.Errorf("%.1f bytes an event, want at most 20.5", total)
	}
}

// Values of null rows are not stored: what they are does not change a byte.
func TestNullRowsAreNotStored(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, typ := range allTypes {
		a, b := numbers(rng, "walk", 300), numbers(rng, "random", 300)
		nulls := nullsOf(rng, "half", 300)
		for i := range b {
			if nulls[i/64]>>(i%64)&1 == 0 {
				b[i] = a[i]
			}
		}
		va, vb := vectorOf(typ, a, true), vectorOf(typ, b, true)
		va.Nulls, vb.Nulls = nulls, nulls
		ca, _ := roundTrip(t, &va, 0, 300)
		cb, _ := roundTrip(t, &vb, 0, 300)
		if string(ca) != string(cb) {
			t.Errorf("type %d: %d and %d bytes differ", typ, len(ca), len(cb))
		}
	}
}

// Text that repeats comes as a dictionary vector, and a dictionary vector is
// taken as it is, whatever else its dictionary holds.
func TestDictionaries(t *testing.T) {
	v := store.Vector{Type: store.ColumnText, Offsets: []uint32{0}, Nulls: make([]uint64, 4)}
	for i := range 200 {
		addText(&v, []string{"Seattle", "", "Boston"}[i%3])
	}
	v.Nulls[0] = 1 << 5
	var first store.Vector
	chunk, _ := roundTrip(t, &v, 0, 200)
	if _, err := DecodeChunk(chunk, &first); err != nil || first.Dictionary == nil || len(first.Dictionary.Offsets) != 4 {
		t.Fatalf("%v, dictionary %v", err, first.Dictionary)
	}
	again, stats := roundTrip(t, &first, 0, 200)
	if string(again) != string(chunk) || stats.Min != "" || stats.Max != "Seattle" {
		t.Errorf("%d bytes, %v, want %d", len(again), stats, len(chunk))
	}
	// Entries that no row has are left out, of the bounds too.
	v = store.Vector{Type: store.ColumnText, Codes: []uint32{2, 2, 1, 9}, Nulls: []uint64{8},
		Dictionary: &store.Vector{Type: store.ColumnText, Offsets: []uint32{0, 1, 2, 3}, Bytes: []byte("abc")}}
	_, stats = roundTrip(t, &v, 0, 3)
	if stats.Min != "b" || stats.Max != "c" {
		t.Errorf("bounds %v", stats)
	}
	var part store.Vector
	chunk, _, err := EncodeChunk(nil, &v, 0, 4)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeChunk(chunk, &part); err != nil || len(part.Dictionary.Offsets) != 3 || !part.Null(3) {
		t.Errorf("%v, %v", err, part)
	}
}

// Numbers with a dictionary, as other sources may give them, are encoded too.
func TestDictionariesOfNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	for _, typ := range allTypes {
		d := vectorOf(typ, numbers(rng, "random", 10), false)
		v := store.Vector{Type: typ, Dictionary: &d, Nulls: nullsOf(rng, "rare", 300)}
		for i := range 300 {
			v.Codes = append(v.Codes, uint32(rng.IntN(10)))
			if v.Null(i) {
				v.Codes[i] = 77 // beneath a null nothing counts
			}
		}
		roundTrip(t, &v, 0, 300)
		roundTrip(t, &v, 100, 290)
	}
}

// Vectors that contradict themselves are refused, and dst stays as it was.
func TestBadVectors(t *testing.T) {
	text := func(offsets []uint32, bytes string) store.Vector {
		return store.Vector{Type: store.ColumnText, Offsets: offsets, Bytes: []byte(bytes)}
	}
	abc := text([]uint32{0, 1, 3}, "abc")
	ints := store.Vector{Type: store.ColumnInt64, Int64s: []int64{1}}
	cases := []struct {
		name string
		v    store.Vector
		from int
		to   int
		want error
	}{
		{"too few values", ints, 0, 2, ErrBadVector},
		{"negative row", ints, -1, 1, ErrBadVector},
		{"end before begin", ints, 1, 0, ErrBadVector},
		{"no type", store.Vector{}, 0, 0, ErrBadVector},
		{"unknown type", store.Vector{Type: 99}, 0, 0, ErrBadVector},
		{"too few nulls", store.Vector{Type: store.ColumnBool, Bools: make([]bool, 65), Nulls: []uint64{0}}, 0, 65, ErrBadVector},
		{"too few offsets", abc, 0, 3, ErrBadVector},
		{"no offsets", text(nil, ""), 0, 1, ErrBadVector},
		{"descending offsets", text([]uint32{0, 3, 1}, "abc"), 0, 2, ErrBadVector},
		{"offsets behind the end", text([]uint32{0, 3, 4}, "abc"), 0, 2, ErrBadVector},
		{"code outside", store.Vector{Type: store.ColumnText, Dictionary: &abc, Codes: []uint32{0, 2}}, 0, 2, ErrBadVector},
		{"code of a number outside", store.Vector{Type: store.ColumnInt64, Dictionary: &ints, Codes: []uint32{1}}, 0, 1, ErrBadVector},
		{"too few codes", store.Vector{Type: store.ColumnText, Dictionary: &abc, Codes: []uint32{0}}, 0, 2, ErrBadVector},
		{"dictionary of another type", store.Vector{Type: store.ColumnBytes, Dictionary: &abc, Codes: []uint32{0}}, 0, 1, ErrBadVector},
		{"dictionary with nulls", store.Vector{Type: store.ColumnText, Codes: []uint32{0}, Dictionary: &store.Vector{Type: store.ColumnText,
			Offsets: []uint32{0, 0}, Nulls: []uint64{1}}}, 0, 1, ErrBadVector},
		{"dictionary with descending offsets", store.Vector{Type: store.ColumnText, Codes: []uint32{0}, Dictionary: &store.Vector{
			Type: store.ColumnText, Offsets: []uint32{2, 0}, Bytes: []byte("ab")}}, 0, 1, ErrBadVector},
		{"dictionary without offsets", store.Vector{Type: store.ColumnText, Codes: []uint32{0}, Dictionary: &store.Vector{
			Type: store.ColumnText}}, 0, 1, ErrBadVector},
		{"too many rows", store.Vector{Type: store.ColumnInt64, Int64s: make([]int64, MaxRows+1)}, 0, MaxRows + 1, ErrTooLarge},
		{"too much text", text([]uint32{0, MaxBytes + 1}, strings.Repeat("x", MaxBytes+1)), 0, 1, ErrTooLarge},
		{"too much text by a dictionary", store.Vector{Type: store.ColumnText, Codes: make([]uint32, 17), Dictionary: &store.Vector{
			Type: store.ColumnText, Offsets: []uint32{0, 1 << 20}, Bytes: make([]byte, 1<<20)}}, 0, 17, ErrTooLarge},
	}
	for _, c := range cases {
		dst, _, err := EncodeChunk([]byte("dst"), &c.v, c.from, c.to)
		if !errors.Is(err, c.want) || string(dst) != "dst" {
			t.Errorf("%s: %v, want %v; dst has %d bytes", c.name, err, c.want, len(dst))
		}
		dst, _, err = EncodePacked([]byte("dst"), []store.Vector{c.v}, c.from, c.to)
		if !errors.Is(err, c.want) || string(dst) != "dst" {
			t.Errorf("%s, packed: %v, want %v; dst has %d bytes", c.name, err, c.want, len(dst))
		}
	}
	if len(cases) != 20 {
		t.Errorf("%d cases", len(cases))
	}
}

// The largest text that a chunk may hold is one value, or many by a dictionary.
func TestLargestText(t *testing.T) {
	v := store.Vector{Type: store.ColumnBytes, Offsets: []uint32{0, MaxBytes}, Bytes: make([]byte, MaxBytes)}
	chunk, _, err := EncodeChunk(nil, &v, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	var got store.Vector
	if rows, err := DecodeChunk(chunk, &got); err != nil || rows != 1 {
		t.Fatal(rows, err)
	}
	if d := got.Dictionary; d == nil && len(got.Bytes) != MaxBytes {
		t.Errorf("%d bytes came back", len(got.Bytes))
	}
	v = store.Vector{Type: store.ColumnText, Codes: make([]uint32, 16), Dictionary: &store.Vector{
		Type: store.ColumnText, Offsets: []uint32{0, 1 << 20}, Bytes: make([]byte, 1<<20)}}
	roundTrip(t, &v, 0, 16)
	// One large entry that is used once.
	v = store.Vector{Type: store.ColumnText, Codes: make([]uint32, 16), Dictionary: &store.Vector{
		Type: store.ColumnText, Offsets: []uint32{0, 1, 1 + MaxBytes - 15}, Bytes: make([]byte, 1+MaxBytes-15)}}
	v.Codes[7] = 1
	roundTrip(t, &v, 0, 16)
}
