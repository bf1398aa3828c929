package block

import (
	"errors"
	"strings"
	"testing"

	"github.com/cellardb/cellar/store"
)

// All columns, or some in another order, come back from one cell.
func TestPackedBlocksComeBack(t *testing.T) {
	columns := newEvents(2).columns(PackedRows)
	for _, part := range [][2]int{{0, 0}, {0, 1}, {7, 9}, {0, 100}, {13, PackedRows}} {
		packed, stats, err := EncodePacked([]byte("x"), columns, part[0], part[1])
		if err != nil {
			t.Fatal(err)
		}
		packed = packed[1:]
		rows, n, err := PackedColumns(packed)
		if err != nil || rows != part[1]-part[0] || n != len(columns) {
			t.Fatalf("%d rows, %d columns, %v", rows, n, err)
		}
		for _, want := range [][]int{nil, {}, {12}, {3, 0, 3}} {
			into := make([]store.Vector, len(want))
			if want == nil {
				into = make([]store.Vector, len(columns))
			}
			for i := range into {
				into[i] = used()
			}
			if got, err := DecodePacked(packed, want, into); err != nil || got != rows {
				t.Fatalf("%d rows, %v", got, err)
			}
			for i := range into {
				at := i
				if want != nil {
					at = want[i]
				}
				sameRows(t, &into[i], &columns[at], part[0], part[1])
			}
		}
		sum := 0
		for i := range stats {
			checkStats(t, stats[i], &columns[i], part[0], part[1])
			sum += stats[i].Bytes
		}
		if sum >= len(packed) || sum < len(packed)-40 {
			t.Errorf("columns have %d bytes, the block %d", sum, len(packed))
		}
	}
}

// A single event of 13 fields is a small cell, and ten are not ten times it.
func TestSizeOfPackedBlocks(t *testing.T) {
	columns := newEvents(2).columns(PackedRows)
	for _, c := range []struct{ rows, bytes int }{{1, 200}, {10, 900}, {PackedRows, 26 * PackedRows}} {
		packed, _, err := EncodePacked(nil, columns, 0, c.rows)
		if err != nil || len(packed) > c.bytes {
			t.Errorf("%d rows: %d bytes, want at most %d; %v", c.rows, len(packed), c.bytes, err)
		}
	}
}

func TestPackedColumnsThatAreNotThere(t *testing.T) {
	columns := newEvents(2).columns(3)[:2]
	packed, _, err := EncodePacked(nil, columns, 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range [][]int{{2}, {-1}, {0, 1}, {}} {
		if _, err := DecodePacked(packed, want, make([]store.Vector, 1)); !errors.Is(err, ErrBadVector) {
			t.Errorf("%v: %v", want, err)
		}
	}
	if _, err := DecodePacked(packed, nil, make([]store.Vector, 3)); !errors.Is(err, ErrBadVector) {
		t.Errorf("three of two: %v", err)
	}
	if _, _, err := EncodePacked(nil, make([]store.Vector, MaxColumns+1), 0, 0); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too many columns: %v", err)
	}
}

func TestDamagedPackedBlocks(t *testing.T) {
	b := func(bytes ...byte) []byte { return bytes }
	cases := []struct {
		name   string
		packed []byte
		want   string
	}{
		{"nothing", nil, "is empty"},
		{"no columns", sealed(b(1)), "no end"},
		{"too many rows", sealed(b(0x81, 0x40, 0)), "more rows"},
		{"more columns than bytes", sealed(b(1, 4, 1, 1)), "more columns"},
		{"a column that is too long", sealed(b(1, 1, 5, typeInt64, 0, 0, 0)), "longer than"},
		{"columns that are too long together", sealed(b(1, 2, 4, 4, typeInt64, 0, 0, 0)), "longer than"},
		{"more behind", sealed(b(1, 1, 4, typeInt64, 0, 0, 0, 0)), "bytes follow"},
		{"a column that ends early", sealed(b(1, 1, 3, typeInt64, 0, 0)), "column 0: "},
		{"a column with more behind", sealed(b(1, 1, 5, typeInt64, 0, 0, 0, 0)), "column 0: "},
	}
	for _, c := range cases {
		_, err := DecodePacked(c.packed, []int{0}, make([]store.Vector, 1))
		if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if len(cases) != 9 {
		t.Errorf("%d cases", len(cases))
	}
	columns := newEvents(2).columns(5)
	packed, _, err := EncodePacked(nil, columns, 0, 5)
	if err != nil {
		t.Fatal(err)
	}
	into := make([]store.Vector, len(columns))
	for n := range packed {
		if _, err := DecodePacked(packed[:n], nil, into); !isRefusal(err) {
			t.Errorf("%d bytes: %v", n, err)
		}
		if n > sumBytes {
			if _, err := DecodePacked(seal(append([]byte{}, packed[:n-sumBytes]...), 0), nil, into); !isRefusal(err) {
				t.Errorf("%d bytes, sealed anew: %v", n, err)
			}
		}
	}
}
