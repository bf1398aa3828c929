package block

import (
	"math"
	"strings"
	"testing"

	"github.com/cellardb/cellar/store"
)

func TestBounds(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	floats := func(v ...float64) store.Vector { return store.Vector{Type: store.ColumnFloat64, Float64s: v} }
	text := func(typ store.ColumnType, vals ...string) store.Vector {
		v := store.Vector{Type: typ, Offsets: []uint32{0}}
		for _, s := range vals {
			addText(&v, s)
		}
		return v
	}
	long := strings.Repeat("é", 20) // 40 bytes
	cases := []struct {
		name     string
		v        store.Vector
		min, max any
	}{
		{"bools", store.Vector{Type: store.ColumnBool, Bools: []bool{false, true}}, false, true},
		{"all true", store.Vector{Type: store.ColumnBool, Bools: []bool{true, true}}, true, true},
		{"all false", store.Vector{Type: store.ColumnBool, Bools: []bool{false, false}}, false, false},
		{"int32", store.Vector{Type: store.ColumnInt32, Int32s: []int32{5, math.MinInt32}}, int64(math.MinInt32), int64(5)},
		{"int64", store.Vector{Type: store.ColumnInt64, Int64s: []int64{math.MaxInt64, math.MinInt64}}, int64(math.MinInt64), int64(math.MaxInt64)},
		{"times", store.Vector{Type: store.ColumnTimestamp, Int64s: []int64{2, 1}}, int64(1), int64(2)},
		{"huge", store.Vector{Type: store.ColumnHugeInt, Hugeints: []store.HugeInt{{High: 0, Low: math.MaxUint64}, {High: -1, Low: 0}, {High: 0, Low: 5}}},
			store.HugeInt{High: -1, Low: 0}, store.HugeInt{High: 0, Low: math.MaxUint64}},
		{"float32", store.Vector{Type: store.ColumnFloat32, Float32s: []float32{1.5, -2.5}}, -2.5, 1.5},
		{"float64", floats(1.5, -inf), -inf, 1.5},
		{"NaN is the greatest", floats(1, nan, inf), 1.0, nan},
		{"NaN only", floats(nan, nan), nan, nan},
		{"first NaN", floats(nan, -1), -1.0, nan},
		{"infinities only", floats(inf, inf), inf, inf},
		{"text", text(store.ColumnText, "b", "a", "c"), "a", "c"},
		{"empty text", text(store.ColumnText, ""), "", ""},
		{"empty bytes", text(store.ColumnBytes, "", ""), []byte{}, []byte{}},
		{"long text", text(store.ColumnText, long), long[:32], long[:31] + "\xAA"},
		{"32 bytes are whole", text(store.ColumnText, long[:32]), long[:32], long[:32]},
		{"FF is carried", text(store.ColumnBytes, "a"+strings.Repeat("\xFF", 40)), []byte("a" + strings.Repeat("\xFF", 31)), []byte("b")},
		{"nothing lies above FF", text(store.ColumnBytes, strings.Repeat("\xFF", 40)), []byte(strings.Repeat("\xFF", 32)), nil},
		{"none", floats(), nil, nil},
	}
	for _, c := range cases {
		rows := lengthOf(&c.v)
		_, s := roundTrip(t, &c.v, 0, rows)
		if !sameBound(s.Min, c.min) || !sameBound(s.Max, c.max) {
			t.Errorf("%s: %v to %v, want %v to %v", c.name, s.Min, s.Max, c.min, c.max)
		}
	}
	if len(cases) != 21 {
		t.Errorf("%d cases", len(cases))
	}
}

func sameBound(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	order, ok := compare(a, b)
	return ok && order == 0
}

func TestMayHold(t *testing.T) {
	nan := math.NaN()
	cases := []struct {
		name  string
		s     ColumnStats
		bound store.ColumnBound
		want  bool
	}{
		{"inside", ColumnStats{Min: int64(1), Max: int64(9)}, store.ColumnBound{Min: int64(3), Max: int64(4)}, true},
		{"around", ColumnStats{Min: int64(1), Max: int64(9)}, store.ColumnBound{Min: int64(0), Max: int64(10)}, true},
		{"touches below", ColumnStats{Min: int64(1), Max: int64(9)}, store.ColumnBound{Max: int64(1)}, true},
		{"touches above", ColumnStats{Min: int64(1), Max: int64(9)}, store.ColumnBound{Min: int64(9)}, true},
		{"below", ColumnStats{Min: int64(1), Max: int64(9)}, store.ColumnBound{Max: int64(0)}, false},
		{"above", ColumnStats{Min: int64(1), Max: int64(9)}, store.ColumnBound{Min: int64(10)}, false},
		{"open", ColumnStats{Min: int64(1), Max: int64(9)}, store.ColumnBound{}, true},
		{"open, all null", ColumnStats{Nulls: 10}, store.ColumnBound{}, true},
		{"all null", ColumnStats{Nulls: 10}, store.ColumnBound{Min: int64(0)}, false},
		{"unknown bounds", ColumnStats{}, store.ColumnBound{Min: int64(0), Max: int64(0)}, true},
		{"unknown maximum", ColumnStats{Min: "b"}, store.ColumnBound{Min: "z"}, true},
		{"unknown maximum, below", ColumnStats{Min: "b"}, store.ColumnBound{Max: "a"}, false},
		{"another type", ColumnStats{Min: int64(1), Max: int64(9)}, store.ColumnBound{Min: "x"}, true},
		{"NaN is above", ColumnStats{Min: 1.0, Max: nan}, store.ColumnBound{Min: 1e300}, true},
		{"NaN is asked for", ColumnStats{Min: 1.0, Max: 2.0}, store.ColumnBound{Min: nan}, false},
		{"NaN is there", ColumnStats{Min: 1.0, Max: nan}, store.ColumnBound{Min: nan, Max: nan}, true},
		{"up to NaN", ColumnStats{Min: nan, Max: nan}, store.ColumnBound{Max: nan}, true},
		{"NaN only", ColumnStats{Min: nan, Max: nan}, store.ColumnBound{Max: 1e300}, false},
		{"zeros are one", ColumnStats{Min: 0.0, Max: 0.0}, store.ColumnBound{Max: math.Copysign(0, -1)}, true},
		{"bools", ColumnStats{Min: false, Max: false}, store.ColumnBound{Min: true}, false},
		{"bytes", ColumnStats{Min: []byte("a"), Max: []byte("b")}, store.ColumnBound{Min: []byte("ba")}, false},
		{"huge and 64 bits", ColumnStats{Min: store.HugeInt{High: -1, Low: math.MaxUint64}, Max: store.HugeInt{Low: 7}}, store.ColumnBound{Min: int64(8)}, false},
		{"negative of 64 bits", ColumnStats{Min: store.HugeInt{High: -1, Low: math.MaxUint64}, Max: store.HugeInt{Low: 7}}, store.ColumnBound{Max: int64(-1)}, true},
		{"huge in 64 bits", ColumnStats{Min: int64(1), Max: int64(2)}, store.ColumnBound{Min: store.HugeInt{High: 1}}, false},
		{"huge that is small", ColumnStats{Min: int64(1), Max: int64(2)}, store.ColumnBound{Min: store.HugeInt{Low: 2}}, true},
	}
	for _, c := range cases {
		if got := c.s.MayHold(10, c.bound); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if len(cases) != 25 {
		t.Errorf("%d cases", len(cases))
	}
}

func TestMergeOfStatistics(t *testing.T) {
	cases := []struct {
		name       string
		a          ColumnStats
		rows       int
		b          ColumnStats
		more       int
		min, max   any
		nulls, sum int
	}{
		{"wider", ColumnStats{Min: int64(3), Max: int64(5), Nulls: 1, Bytes: 10}, 9, ColumnStats{Min: int64(1), Max: int64(9), Nulls: 2, Bytes: 7}, 9, int64(1), int64(9), 3, 17},
		{"narrower", ColumnStats{Min: int64(1), Max: int64(9)}, 9, ColumnStats{Min: int64(3), Max: int64(5)}, 9, int64(1), int64(9), 0, 0},
		{"into nulls", ColumnStats{Nulls: 9}, 9, ColumnStats{Min: "a", Max: "b"}, 2, "a", "b", 9, 0},
		{"of nulls", ColumnStats{Min: "a", Max: "b"}, 2, ColumnStats{Nulls: 9}, 9, "a", "b", 9, 0},
		{"into nothing", ColumnStats{}, 0, ColumnStats{Min: 1.5, Max: 2.5}, 2, 1.5, 2.5, 0, 0},
		{"unknown stays unknown", ColumnStats{Min: "a"}, 2, ColumnStats{Min: "0", Max: "z"}, 2, "0", nil, 0, 0},
		{"known becomes unknown", ColumnStats{Min: "0", Max: "z"}, 2, ColumnStats{Min: "a"}, 2, "0", nil, 0, 0},
		{"types that differ", ColumnStats{Min: int64(1), Max: int64(2)}, 2, ColumnStats{Min: "a", Max: "b"}, 2, nil, nil, 0, 0},
		{"NaN", ColumnStats{Min: 1.0, Max: math.NaN()}, 2, ColumnStats{Min: 0.0, Max: 9.0}, 2, 0.0, math.NaN(), 0, 0},
	}
	for _, c := range cases {
		c.a.Merge(c.rows, c.b, c.more)
		if !sameBound(c.a.Min, c.min) || !sameBound(c.a.Max, c.max) || c.a.Nulls != c.nulls || c.a.Bytes != c.sum {
			t.Errorf("%s: %+v", c.name, c.a)
		}
	}
	if len(cases) != 9 {
		t.Errorf("%d cases", len(cases))
	}
}
