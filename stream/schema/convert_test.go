package schema

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cellardb/cellar/store"
)

// texts writes all rows of a plain vector; null as "null".
func texts(v *store.Vector, t Type) []string {
	out := make([]string, vectorRows(v))
	for i := range out {
		out[i] = "null"
		if !v.Null(i) {
			out[i] = string(AppendValue(nil, v, t, i))
		}
	}
	return out
}

func textVector(t Type, values ...string) store.Vector {
	v := store.Vector{Type: t.Column(), Offsets: []uint32{0}}
	for _, s := range values {
		v.Bytes = append(v.Bytes, s...)
		v.Offsets = append(v.Offsets, uint32(len(v.Bytes)))
	}
	return v
}

func TestConvert(t *testing.T) {
	second := []uint64{2} // the second row is null
	ints := store.Vector{Type: Int.Column(), Nulls: second, Int32s: []int32{math.MinInt32, 0, 7}}
	longs := store.Vector{Type: Long.Column(), Nulls: second, Int64s: []int64{math.MinInt64, 0, 1 << 53}}
	floats := store.Vector{Type: Float.Column(), Nulls: second, Float32s: []float32{0.1, 0, -1e30}}
	doubles := store.Vector{Type: Double.Column(), Nulls: second, Float64s: []float64{0.1, 0, 1e-7}}
	huge := store.Vector{Type: HugeInt.Column(), Nulls: second, Hugeints: []store.HugeInt{{High: math.MinInt64}, {}, {High: 1}}}
	bools := store.Vector{Type: Bool.Column(), Nulls: second, Bools: []bool{true, false, false}}
	times := store.Vector{Type: Time.Column(), Nulls: second, Int64s: []int64{-1, 0, 1_700_000_000_123}}
	cases := []struct {
		v        *store.Vector
		from, to Type
		want     []string
	}{
		{&ints, Int, Long, []string{"-2147483648", "null", "7"}},
		{&ints, Int, HugeInt, []string{"-2147483648", "null", "7"}},
		{&ints, Int, Double, []string{"-2147483648", "null", "7"}},
		{&ints, Int, Text, []string{"-2147483648", "null", "7"}},
		{&longs, Long, HugeInt, []string{"-9223372036854775808", "null", "9007199254740992"}},
		{&longs, Long, Double, []string{"-9223372036854776000", "null", "9007199254740992"}},
		{&longs, Long, Text, []string{"-9223372036854775808", "null", "9007199254740992"}},
		{&floats, Float, Double, []string{"0.10000000149011612", "null", "-1.0000000150474662e+30"}},
		{&floats, Float, Text, []string{"0.1", "null", "-1e+30"}},
		{&doubles, Double, Text, []string{"0.1", "null", "1e-7"}},
		{&huge, HugeInt, Text, []string{"-170141183460469231731687303715884105728", "null", "18446744073709551616"}},
		{&bools, Bool, Text, []string{"true", "null", "false"}},
		{&times, Time, Text, []string{"1969-12-31T23:59:59.999Z", "null", "2023-11-14T22:13:20.123Z"}},
	}
	for _, c := range cases {
		out, err := Convert(c.v, c.from, c.to)
		if err != nil {
			t.Errorf("%s to %s: %v", c.from, c.to, err)
			continue
		}
		if got := texts(&out, c.to); out.Type != c.to.Column() || !slices.Equal(got, c.want) {
			t.Errorf("%s to %s: %q, want %q", c.from, c.to, got, c.want)
		}
		if c.to == Text && out.Offsets[1] != out.Offsets[2] {
			t.Errorf("%s to %s: there is text under a null", c.from, c.to)
		}
	}
	if len(cases) != 13 {
		t.Errorf("%d cases", len(cases))
	}
}

// The text of a float is that of encoding/json.
func TestAppendFloatIsJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	values := []float64{0, math.Copysign(0, -1), 1e-6, 9.9e-7, 1e-9, 1e-10, 1e20, 1e21, -1e21, 1e300, 5e-324, 1.5, -0.001}
	for range 2000 {
		if f := math.Float64frombits(r.Uint64()); !math.IsNaN(f) && !math.IsInf(f, 0) {
			values = append(values, f)
		}
	}
	for _, f := range values {
		want, _ := json.Marshal(f)
		if got := appendFloat([]byte("x"), f, 64); string(got[1:]) != string(want) {
			t.Errorf("%s, want %s", got[1:], want)
		}
		small := float32(f)
		if math.IsInf(float64(small), 0) {
			continue
		}
		want, _ = json.Marshal(small)
		if got := appendFloat(nil, float64(small), 32); string(got) != string(want) {
			t.Errorf("float: %s, want %s", got, want)
		}
	}
}

func TestConvertSharesWhatStays(t *testing.T) {
	v := textVector(Text, "a", "b")
	out, err := Convert(&v, Text, Text)
	if err != nil || &out.Bytes[0] != &v.Bytes[0] {
		t.Errorf("%v", err)
	}
}

func TestConvertOfADictionary(t *testing.T) {
	words := store.Vector{Type: Int.Column(), Int32s: []int32{5, -6}}
	v := store.Vector{Type: Int.Column(), Dictionary: &words, Codes: []uint32{1, 0, 1}, Nulls: []uint64{4}}
	out, err := Convert(&v, Int, Text)
	if err != nil || !slices.Equal(texts(out.Dictionary, Text), []string{"5", "-6"}) ||
		!slices.Equal(out.Codes, v.Codes) || !out.Null(2) || out.Type != Text.Column() || words.Int32s == nil {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestConvertRefuses(t *testing.T) {
	v := store.Vector{Type: Long.Column(), Int64s: []int64{1}}
	for _, to := range []Type{Int, Bool, Bytes, Time, 0} {
		if _, err := Convert(&v, Long, to); !errors.Is(err, ErrIncompatible) {
			t.Errorf("long to %s: %v", to, err)
		}
	}
}

func TestAppendHugeIsDigitForDigit(t *testing.T) {
	check := func(high int64, low uint64) {
		t.Helper()
		want := new(big.Int).Lsh(big.NewInt(high), 64)
		want.Add(want, new(big.Int).SetUint64(low))
		if got := string(AppendHuge(nil, store.HugeInt{High: high, Low: low})); got != want.String() {
			t.Errorf("%d, %d: %s, want %s", high, low, got, want)
		}
	}
	edges := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 542101086242752217, -542101086242752218, 5421010862427522170}
	lows := []uint64{0, 1, 9, 10, 1e19 - 1, 1e19, 1 << 63, math.MaxUint64, 687399551400673280, 687399551400673279}
	for _, high := range edges {
		for _, low := range lows {
			check(high, low)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		check(int64(r.Uint64())>>r.IntN(64), r.Uint64()>>r.IntN(64))
	}
}

func TestCompareHuge(t *testing.T) {
	ascending := []store.HugeInt{
		{High: math.MinInt64}, {High: -1}, {High: -1, Low: math.MaxUint64}, {}, {Low: 1}, {Low: math.MaxUint64}, {High: 1}, {High: math.MaxInt64},
	}
	for i, a := range ascending {
		for j, b := range ascending {
			if got, want := CompareHuge(a, b), compareInts(i, j); got != want {
				t.Errorf("CompareHuge(%v, %v) = %d, want %d", a, b, got, want)
			}
		}
	}
	if HugeOf(-5) != (store.HugeInt{High: -1, Low: math.MaxUint64 - 4}) || HugeOf(5) != (store.HugeInt{Low: 5}) {
		t.Error("HugeOf")
	}
}

func compareInts(a, b int) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
