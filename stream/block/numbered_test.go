package block

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cellardb/cellar/store"
)

// Text that ends in numbers comes back, whatever zeros stand before them, and
// whether it is taken for numbered or not.
func TestNumberedText(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 1))
	cases := []struct {
		name     string
		value    func(i int) string
		numbered bool
	}{
		{"of one width", func(int) string { return fmt.Sprintf("%c lamp %03d", 'a'+rng.IntN(9), rng.IntN(1000)) }, true},
		{"without zeros", func(i int) string { return fmt.Sprintf("host-%d", i*7) }, true},
		{"numbers only", func(i int) string { return fmt.Sprint(i * 1_000_003) }, true},
		{"zeros only", func(i int) string { return strings.Repeat("0", 1+i%300) }, false},
		{"short and long with zeros", func(i int) string { return fmt.Sprintf("x%0*d", 1+i%3, i) }, true},
		{"18 digits", func(i int) string { return fmt.Sprintf("%018d", int64(i)*1_000_000_000_000_003) }, true},
		{"25 digits", func(i int) string { return fmt.Sprintf("1234567%018d", int64(i)*1_000_000_000_000_003) }, true},
		{"all nines", func(i int) string { return fmt.Sprintf("%d%s", i, strings.Repeat("9", 18)) }, false},
		{"one without", func(i int) string { return strings.TrimSuffix(fmt.Sprintf("a%d", i), "423") }, false},
		{"an empty one", func(i int) string { return strings.TrimSuffix(fmt.Sprint(i), "423") }, false},
		{"prefixes that do not repeat", func(i int) string { return fmt.Sprintf("%x/%d", i*99991, i) }, false},
		{"other digits", func(i int) string { return fmt.Sprintf("n%d\u0663", i) }, false},
		{"long prefixes", func(i int) string { return fmt.Sprintf("%s%d", strings.Repeat("p", 300), i) }, true},
	}
	for _, c := range cases {
		for _, typ := range []store.ColumnType{store.ColumnText, store.ColumnBytes} {
			v := store.Vector{Type: typ, Offsets: []uint32{0}}
			for i := range 600 {
				addText(&v, c.value(i))
			}
			chunk, stats := roundTrip(t, &v, 0, 600)
			if told := describe(chunk); strings.Contains(told, "numbered") != c.numbered {
				t.Errorf("%s: %s", c.name, told)
			}
			if stats.Min == nil || stats.Max == nil {
				t.Errorf("%s: bounds %v", c.name, stats)
			}
			v.Nulls = nullsOf(rng, "half", 600)
			roundTrip(t, &v, 3, 577)
		}
	}
	if len(cases) != 13 {
		t.Errorf("%d cases", len(cases))
	}
}

// A value is its prefix and its number, joined again.
func TestLastNumber(t *testing.T) {
	cases := []struct {
		val    string
		least  int
		number int64
		digits int
	}{
		{"7", 1, 7, 1}, {"07", 1, 7, 1}, {"07", 2, 7, 2}, {"a10", 1, 10, 2}, {"a010", 1, 10, 2}, {"a010", 3, 10, 3}, {"000", 1, 0, 1}, {"000", 2, 0, 2},
		{"a1b", 0, 0, 0}, {"999999999999999999", 1, 999999999999999999, 18}, {"1999999999999999999", 1, 999999999999999999, 18},
		{"1000000000000000005", 1, 5, 1}, {"1:/9", 1, 9, 1},
	}
	for _, c := range cases {
		if number, digits := lastNumber([]byte(c.val), c.least); number != c.number || digits != c.digits {
			t.Errorf("%q, %d digits: %d of %d, want %d of %d", c.val, c.least, number, digits, c.number, c.digits)
		}
	}
	if len(cases) != 13 {
		t.Errorf("%d cases", len(cases))
	}
}

// Numbers of which some are much more frequent take less than their width.
func TestNumbersOfDifferentFrequency(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 1))
	z := newZipf(50, 1.1)
	for _, rows := range []int{65, 300, MaxRows} {
		v := store.Vector{Type: store.ColumnInt64}
		for range rows {
			v.Int64s = append(v.Int64s, int64(z.draw(rng))-20)
		}
		chunk, _ := roundTrip(t, &v, 0, rows)
		if bits := 8 * float64(len(chunk)) / float64(rows); rows == MaxRows && bits > 4.9 {
			t.Errorf("%.2f bits a number", bits)
		}
		if rows == 65 && strings.Contains(describe(chunk), "zstd") {
			t.Errorf("a frame for %d numbers", rows)
		}
	}
}

// 256 is one more than a byte holds.
func TestNumbersThatJustFitBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 1))
	for _, most := range []int64{254, 255, 256, 257} {
		v := store.Vector{Type: store.ColumnInt64}
		for range 2000 {
			x := rng.Int64N(4)
			if rng.IntN(4) == 0 {
				x = rng.Int64N(most)
			}
			v.Int64s = append(v.Int64s, x-7)
		}
		v.Int64s[9], v.Int64s[10] = -7, most-7
		chunk, _ := roundTrip(t, &v, 0, 2000)
		if told := describe(chunk); strings.Contains(told, "zstd") != (most < 256) {
			t.Errorf("up to %d: %s", most, told)
		}
	}
}
