package block

import (
	"testing"

	"github.com/cellardb/cellar/store"
)

func TestFit(t *testing.T) {
	text := func(lengths ...int) store.Vector {
		v := store.Vector{Type: store.ColumnText, Offsets: []uint32{0}}
		for _, n := range lengths {
			v.Offsets = append(v.Offsets, v.Offsets[len(v.Offsets)-1]+uint32(n))
		}
		v.Bytes = make([]byte, v.Offsets[len(lengths)])
		return v
	}
	repeated := store.Vector{Type: store.ColumnText, Codes: []uint32{0, 1, 1, 1, 0}, Dictionary: &store.Vector{
		Type: store.ColumnText, Offsets: []uint32{0, 5, TargetBytes/2 + 5}, Bytes: make([]byte, TargetBytes/2+5)}}
	nulls := repeated
	nulls.Nulls = []uint64{4}
	wide := make([]store.Vector, 2048)
	for i := range wide {
		wide[i] = store.Vector{Type: store.ColumnInt64, Int64s: make([]int64, MaxRows)}
	}
	numbers := store.Vector{Type: store.ColumnInt64, Int64s: make([]int64, 10_000)}
	cases := []struct {
		name     string
		columns  []store.Vector
		from, to int
		want     int
	}{
		{"numbers", []store.Vector{numbers}, 0, 10_000, MaxRows},
		{"the rest of them", []store.Vector{numbers}, MaxRows, 10_000, 10_000 - MaxRows},
		{"none", []store.Vector{numbers}, 10_000, 10_000, 0},
		{"no columns", nil, 0, 9000, MaxRows},
		{"short text", []store.Vector{text(1, 2, 3)}, 0, 3, 3},
		{"text that just fits", []store.Vector{text(TargetBytes-1, 1, 1)}, 0, 3, 2},
		{"one that does not", []store.Vector{text(TargetBytes+1, 1, 1)}, 0, 3, 1},
		{"one that does not, later", []store.Vector{text(1, TargetBytes+1, 1)}, 0, 3, 1},
		{"from its row on", []store.Vector{text(1, TargetBytes+1, 1)}, 1, 3, 1},
		{"behind it", []store.Vector{text(1, TargetBytes+1, 1)}, 2, 3, 1},
		{"two columns", []store.Vector{text(1, 1, TargetBytes), text(1, TargetBytes, 1)}, 0, 3, 1},
		{"a dictionary stands for its rows", []store.Vector{repeated}, 0, 5, 2},
		{"and later", []store.Vector{repeated}, 1, 5, 2},
		{"a null stands for nothing", []store.Vector{nulls}, 0, 5, 3},
		{"wide rows", wide, 0, MaxRows, 1024},
		{"wide rows with much text", []store.Vector{text(TargetBytes), text(TargetBytes)}, 0, 1, 1},
		{"too few offsets are left to the encoder", []store.Vector{text(1)}, 0, 3, 3},
		{"and codes that lead nowhere", []store.Vector{{Type: store.ColumnText, Codes: []uint32{9}, Dictionary: &store.Vector{}}}, 0, 3, 3},
	}
	for _, c := range cases {
		if got := Fit(c.columns, c.from, c.to); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if len(cases) != 18 {
		t.Errorf("%d cases", len(cases))
	}
}
