package block

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cellardb/cellar/store"
)

// What was decoded does not change with the bytes that it was decoded from, and
// what was encoded does not with the vector; nor do calls disturb one another
// that follow on the same memory inside.
func TestNothingIsShared(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	for shape := range shapes {
		for _, typ := range allTypes {
			v := vectorOf(typ, numbers(rng, shape, 200), true)
			other := vectorOf(typ, numbers(rng, "random", 300), false)
			chunk, _, err := EncodeChunk(nil, &v, 0, 200)
			if err != nil {
				t.Fatal(err)
			}
			noise, _, err := EncodeChunk(nil, &other, 0, 300)
			if err != nil {
				t.Fatal(err)
			}
			var got, second store.Vector
			if _, err := DecodeChunk(chunk, &got); err != nil {
				t.Fatal(err)
			}
			if _, err := DecodeChunk(noise, &second); err != nil {
				t.Fatal(err)
			}
			clear(chunk)
			clear(noise)
			sameRows(t, &got, &v, 0, 200)
			sameRows(t, &second, &other, 0, 300)
		}
	}
}

// A header and its bounds do not change with the bytes or vectors either.
func TestHeadersShareNothing(t *testing.T) {
	v := store.Vector{Type: store.ColumnBytes, Offsets: []uint32{0, 2, 4}, Bytes: []byte("aabb")}
	_, stats, err := EncodeChunk(nil, &v, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	b, err := AppendHeader(nil, &Header{Rows: 2, Spans: []Span{{Count: 2}}, Columns: []ColumnStats{stats}, Sources: [][]byte{[]byte("key")}})
	if err != nil {
		t.Fatal(err)
	}
	clear(v.Bytes)
	h, err := ParseHeader(b)
	if err != nil {
		t.Fatal(err)
	}
	clear(b)
	for _, s := range []ColumnStats{stats, h.Columns[0]} {
		if !sameBound(s.Min, []byte("aa")) || !sameBound(s.Max, []byte("bb")) {
			t.Errorf("bounds became %v", s)
		}
	}
	if string(h.Sources[0]) != "key" {
		t.Errorf("the source became %q", h.Sources[0])
	}
}

// Any number of goroutines may encode and decode.
func TestManyAtOnce(t *testing.T) {
	columns := newEvents(12).columns(700)
	for n := range 4 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			for i := range columns {
				roundTrip(t, &columns[i], i, 700-i)
			}
		})
	}
}
