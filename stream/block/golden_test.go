package block

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"math"
	"math/bits"
	"os"
	"strings"
	"testing"

	"github.com/cellardb/cellar/store"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/golden.txt anew")

const goldenFile = "testdata/golden.txt"

type goldenCase struct {
	name string
	v    store.Vector
}

// goldenCases are small columns, one for each form that the bytes can have.
func goldenCases() []goldenCase {
	ints := func(n int, f func(i int) int64) store.Vector {
		v := store.Vector{Type: store.ColumnInt64}
		for i := range n {
			v.Int64s = append(v.Int64s, f(i))
		}
		return v
	}
	with := func(v store.Vector, typ store.ColumnType, nulls ...int) store.Vector {
		v.Type = typ
		if len(nulls) > 0 {
			v.Nulls = make([]uint64, bitWords(max(lengthOf(&v), 1)))
			for _, i := range nulls {
				setBits(v.Nulls, i, 1)
			}
		}
		return v
	}
	scattered := func(i int) int64 { return int64((uint32(i+1) * 2654435761 >> 9) % 1021) }
	text := func(vals ...string) store.Vector {
		v := store.Vector{Type: store.ColumnText, Offsets: []uint32{0}}
		for _, s := range vals {
			addText(&v, s)
		}
		return v
	}
	bools := func(n int, f func(i int) bool) store.Vector {
		v := store.Vector{Type: store.ColumnBool}
		for i := range n {
			v.Bools = append(v.Bools, f(i))
		}
		return v
	}
	return []goldenCase{
		{"no rows", ints(0, nil)},
		{"one", ints(1, func(int) int64 { return -2 })},
		{"constant", ints(5, func(int) int64 { return 300 })},
		{"packed", ints(12, scattered)},
		{"packed in 64", ints(3, func(i int) int64 { return []int64{math.MinInt64, math.MaxInt64, 5}[i] })},
		{"patched", ints(100, func(i int) int64 { return scattered(i)%16 + int64(i/40*40/max(i, 1))*1_000_003 })},
		{"delta", ints(20, func(i int) int64 { return 1_000_000*int64(i) + scattered(i)%5 })},
		{"delta of delta", ints(20, func(i int) int64 { return int64(i) * int64(i) * 1001 / 2 })},
		{"dictionary", ints(60, func(i int) int64 { return []int64{7, 1 << 61, 1<<61 + 8, -5}[scattered(i)%4] })},
		{"runs", ints(60, func(i int) int64 { return scattered(i / 20) })},
		{"scaled", ints(12, func(i int) int64 { return 1_700_000_000_000 + scattered(i)*1000 })},
		{"timestamps", with(ints(3, func(i int) int64 { return 1_700_000_000_000 + int64(i) }), store.ColumnTimestamp)},
		{"sparse nulls", with(ints(64, scattered), store.ColumnInt64, 9, 40)},
		{"nulls in runs", with(ints(64, scattered), store.ColumnInt64, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19)},
		{"nulls as bitmap", with(ints(16, scattered), store.ColumnInt64, 0, 2, 3, 7, 8, 12, 13, 15)},
		{"nulls only", with(ints(2, scattered), store.ColumnInt64, 0, 1)},
		{"bools", bools(12, func(i int) bool { return scattered(i)%2 == 0 })},
		{"bools, all true", bools(12, func(int) bool { return true })},
		{"bools, all false", bools(12, func(int) bool { return false })},
		{"int32", store.Vector{Type: store.ColumnInt32, Int32s: []int32{math.MinInt32, math.MaxInt32, 0}}},
		{"hugeint", store.Vector{Type: store.ColumnHugeInt, Hugeints: []store.HugeInt{{High: -1, Low: math.MaxUint64}, {High: 1, Low: 2}, {Low: 3}}}},
		{"float32", store.Vector{Type: store.ColumnFloat32, Float32s: []float32{1.5, -0.25, 3}}},
		{"float32 bits", store.Vector{Type: store.ColumnFloat32, Float32s: []float32{math.MaxFloat32, 1e-30, float32(math.Copysign(0, -1))}}},
		{"decimals", store.Vector{Type: store.ColumnFloat64, Float64s: []float64{20.125, 20.25, 20.001, -3, 20.5}}},
		{"decimals with exceptions", store.Vector{Type: store.ColumnFloat64, Float64s: []float64{1.5, 2.5, math.Inf(1), 4.5, 3.5, 1.5, 2.5, 3.5}}},
		{"float bits", store.Vector{Type: store.ColumnFloat64, Float64s: []float64{math.Pi, math.E, math.Sqrt2}}},
		{"float zero", store.Vector{Type: store.ColumnFloat64, Float64s: []float64{0}}},
		{"text", text("a", "", "grüße", "\xff")},
		{"text of one length", text("abc", "def")},
		{"text that repeats", text("up", "up", "down", "up", "up", "down", "up", "up")},
		{"text with nulls", with(text("up", "up", "down", "up", "x", "up", "down", "up", "up"), store.ColumnText, 4)},
		{"text that ends in numbers", text("lamp 07", "lamp 08", "door 01", "lamp 110", "door 02", "lamp 99", "door 03", "lamp 12")},
		{"text of numbers", with(text("1", "20", "", "300", "4000", "5"), store.ColumnText, 2)},
		{"numbers of very different frequency", ints(1000, func(i int) int64 { return 5 + int64(bits.TrailingZeros64(uint64(scattered(i)|1024))) })},
		{"compressed text", text(strings.Repeat("to be or not to be, ", 20))},
		{"bytes", with(text("\x00\x01", "\xff"), store.ColumnBytes)},
	}
}

// The bytes of each form do not drift: they are those of the golden file, what
// they are made of is told there, and what the file holds is read as ever. New
// bytes for an old form need a new format version; run with -rewrite only after
// a new form was added.
func TestGoldenBytes(t *testing.T) {
	var out strings.Builder
	cases := goldenCases()
	want := readGolden(t)
	for _, c := range cases {
		rows := lengthOf(&c.v)
		chunk, _, err := EncodeChunk(nil, &c.v, 0, rows)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		told := describe(chunk)
		fmt.Fprintf(&out, "%s\n\t%s\n\t%x\n", c.name, told, chunk)
		if *rewrite {
			continue
		}
		old, ok := want[c.name]
		if !ok {
			t.Errorf("%s is not in %s", c.name, goldenFile)
			continue
		}
		// The frame of a compressor may be another with its next version.
		if told != old.told || !bytes.Equal(chunk, old.bytes) && !strings.Contains(told, "zstd") {
			t.Errorf("%s:\n%s\n%x\nwant\n%s\n%x", c.name, told, chunk, old.told, old.bytes)
		}
		var got store.Vector
		if n, err := DecodeChunk(old.bytes, &got); err != nil || n != rows {
			t.Errorf("%s: %d rows, %v", c.name, n, err)
			continue
		}
		sameRows(t, &got, &c.v, 0, rows)
	}
	if *rewrite {
		if err := os.WriteFile(goldenFile, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if len(want) != len(cases) {
		t.Errorf("%d cases, %s has %d", len(cases), goldenFile, len(want))
	}
}

// Every form that the format has is in the golden file.
func TestGoldenFileIsWhole(t *testing.T) {
	told, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"nulls=none", "nulls=all", "nulls=bitmap", "nulls=sparse(", "nulls=runs(",
		" constant ", " packed ", " patched ", " delta ", "(delta ", " dictionary (", " runs (", " scaled ", " bytes from ", " bits ", " decimals ", "except (constant",
		" raw", " zstd", "dictionary of ", "numbered in ", "bool ", "int32 ", "int64 ", "hugeint ", "float32 ", "float64 ", "text ", "bytes ", "timestamp "} {
		if !bytes.Contains(told, []byte(form)) {
			t.Errorf("%q is not in %s", form, goldenFile)
		}
	}
}

// The example on the page of the format is one of the golden bytes.
func TestExampleOfTheFormat(t *testing.T) {
	page, err := os.ReadFile("../../docs/internals/format/stream-block.md")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%X", readGolden(t)["packed"].bytes)
	if text := strings.ReplaceAll(string(page), " ", ""); !strings.Contains(text, want) {
		t.Errorf("the page does not hold %s", want)
	}
}

type goldenBytes struct {
	told  string
	bytes []byte
}

func readGolden(t *testing.T) map[string]goldenBytes {
	file, err := os.ReadFile(goldenFile)
	if err != nil {
		if *rewrite {
			return nil
		}
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(file), "\n"), "\n")
	golden := map[string]goldenBytes{}
	for i := 0; i+2 < len(lines); i += 3 {
		b, err := hex.DecodeString(strings.TrimSpace(lines[i+2]))
		if err != nil {
			t.Fatalf("line %d: %v", i+3, err)
		}
		golden[lines[i]] = goldenBytes{strings.TrimSpace(lines[i+1]), b}
	}
	return golden
}

// Headers and packed blocks do not drift either.
func TestGoldenHeaderAndPackedBlock(t *testing.T) {
	h := &Header{Rows: 3, Packed: true, SchemaVersion: 2, Spans: []Span{{Run: 7, Shard: 1, First: 100, Count: 2}, {Run: 9, Shard: 1, First: 5, Count: 1}},
		MinTime: 990, MaxTime: 1003, MinArrival: 1000, MaxArrival: 1001, Sources: [][]byte{[]byte("k")},
		Columns: []ColumnStats{{Min: int64(1), Max: int64(2), Bytes: 9}, {Min: "a", Nulls: 1}, {Min: 1.5, Max: math.Inf(1)},
			{Min: false, Max: true}, {Min: []byte{1}, Max: store.HugeInt{High: -1, Low: 2}}}}
	header, err := AppendHeader(nil, h)
	if err != nil {
		t.Fatal(err)
	}
	const wantHeader = "01010302d00f021306020e02c801020400c10101050009030203040100060161" +
		"00000005000000000000f83f05000000000000f07f00000102000007010104ffffffffffffffff020000000000000001016b54980d77"
	if got := hex.EncodeToString(header); got != wantHeader {
		t.Errorf("header %s, want %s", got, wantHeader)
	}
	packed, _, err := EncodePacked(nil, []store.Vector{{Type: store.ColumnInt64, Int64s: []int64{1, 5, 9}, Nulls: []uint64{2}},
		{Type: store.ColumnBool, Bools: []bool{true, true, true}}}, 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	const wantPacked = "010302070303020201020480010001fbd4b9f2"
	if got := hex.EncodeToString(packed); got != wantPacked {
		t.Errorf("packed block %s, want %s", got, wantPacked)
	}
}
