package block

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/cellardb/cellar/store"
)

// wholeHeader has something of everything.
func wholeHeader() *Header {
	return &Header{
		Rows: 700, Packed: true, SchemaVersion: math.MaxUint32,
		Spans: []Span{{Run: 7, Shard: 3, First: 1 << 40, Count: 500}, {Run: 7, Shard: 3, First: 12, Count: 100},
			{Run: math.MaxUint32, Shard: math.MaxUint16, First: math.MaxUint64 - 99, Count: 99}, {Run: 0, Shard: 0, First: 0, Count: 1}},
		MinTime: math.MinInt64, MaxTime: math.MaxInt64, MinArrival: 1_700_000_000_000, MaxArrival: 1_700_000_000_050,
		Columns: []ColumnStats{
			{Min: false, Max: true, Nulls: 3, Bytes: 40},
			{Min: int64(math.MinInt64), Max: int64(math.MaxInt64), Bytes: 1 << 24},
			{Min: store.HugeInt{High: -1, Low: 5}, Max: store.HugeInt{High: math.MaxInt64, Low: math.MaxUint64}},
			{Min: math.Inf(-1), Max: 1.5}, {Min: "", Max: strings.Repeat("z", boundBytes)}, {Min: []byte{}, Max: []byte{0, 0xFF}},
			{Nulls: 700, Bytes: 12}, {Min: "all above", Max: nil},
		},
		Sources: [][]byte{[]byte("one"), {}, bytes.Repeat([]byte{0xFF}, MaxSourceBytes)},
	}
}

func TestHeadersComeBack(t *testing.T) {
	most := &Header{Rows: MaxRows}
	for i := range uint64(MaxRows) {
		most.Spans = append(most.Spans, Span{Run: 1, First: 2 * i, Count: 1})
	}
	for range MaxColumns {
		most.Columns = append(most.Columns, ColumnStats{Min: int64(1), Max: int64(2)})
	}
	for range MaxSources {
		most.Sources = append(most.Sources, []byte("key"))
	}
	for name, h := range map[string]*Header{"empty": {}, "whole": wholeHeader(), "most": most,
		"one row": {Rows: 1, Spans: []Span{{Count: 1}}, MinTime: -1, MaxTime: -1}} {
		b, err := AppendHeader([]byte("x"), h)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := ParseHeader(b[1:])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := *h
		if len(want.Spans) == 0 {
			want.Spans = []Span{}
		}
		if len(want.Columns) == 0 {
			want.Columns = []ColumnStats{}
		}
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v\nwant %+v", name, *got, want)
		}
	}
}

// NaN as a bound keeps its bits.
func TestHeaderWithNaN(t *testing.T) {
	nan := math.Float64frombits(0x7FF8000000000123)
	b, err := AppendHeader(nil, &Header{Columns: []ColumnStats{{Min: 0.5, Max: nan}}})
	if err != nil {
		t.Fatal(err)
	}
	h, err := ParseHeader(b)
	if err != nil || math.Float64bits(h.Columns[0].Max.(float64)) != 0x7FF8000000000123 {
		t.Errorf("%v, %v", h, err)
	}
}

// A header of the 13 fields is small.
func TestSizeOfAHeader(t *testing.T) {
	columns := newEvents(5).columns(MaxRows)
	h := &Header{Rows: MaxRows, SchemaVersion: 1, Spans: []Span{{Run: 900, Shard: 1, First: 1 << 30, Count: MaxRows}},
		MinTime: 1_700_000_000_000, MaxTime: 1_700_000_010_000, MinArrival: 1_700_000_005_000, MaxArrival: 1_700_000_005_020}
	for i := range columns {
		_, stats, err := EncodeChunk(nil, &columns[i], 0, MaxRows)
		if err != nil {
			t.Fatal(err)
		}
		h.Columns = append(h.Columns, stats)
	}
	b, err := AppendHeader(nil, h)
	if err != nil || len(b) > 400 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

func TestHeadersThatContradictThemselves(t *testing.T) {
	span := []Span{{Count: 2}}
	cases := []struct {
		name string
		h    Header
	}{
		{"negative rows", Header{Rows: -1}},
		{"too many rows", Header{Rows: MaxRows + 1, Spans: []Span{{Count: MaxRows}, {Count: 1}}}},
		{"fewer ids than rows", Header{Rows: 3, Spans: span}},
		{"more ids than rows", Header{Rows: 1, Spans: span}},
		{"no ids", Header{Rows: 1}},
		{"an empty span", Header{Rows: 2, Spans: []Span{{Count: 2}, {Count: 0}}}},
		{"ids that wrap", Header{Rows: 2, Spans: []Span{{First: math.MaxUint64 - 1, Count: 2}}}},
		{"counts that wrap", Header{Rows: 2, Spans: []Span{{Count: math.MaxUint64 - 1}, {Count: 4}}}},
		{"event times", Header{MinTime: 2, MaxTime: 1}},
		{"arrival times", Header{MinArrival: 2, MaxArrival: 1}},
		{"more nulls than rows", Header{Rows: 2, Spans: span, Columns: []ColumnStats{{Nulls: 3}}}},
		{"negative nulls", Header{Columns: []ColumnStats{{Nulls: -1}}}},
		{"negative bytes", Header{Columns: []ColumnStats{{Bytes: -1}}}},
		{"a bound of no known type", Header{Columns: []ColumnStats{{Min: 1}}}},
		{"a maximum of no known type", Header{Columns: []ColumnStats{{Max: float32(1)}}}},
		{"a long bound", Header{Columns: []ColumnStats{{Min: strings.Repeat("x", boundBytes+1)}}}},
		{"a long bound of bytes", Header{Columns: []ColumnStats{{Max: make([]byte, boundBytes+1)}}}},
		{"too many columns", Header{Columns: make([]ColumnStats, MaxColumns+1)}},
		{"too many sources", Header{Sources: make([][]byte, MaxSources+1)}},
		{"a long source", Header{Sources: [][]byte{make([]byte, MaxSourceBytes+1)}}},
	}
	for _, c := range cases {
		b, err := AppendHeader([]byte("dst"), &c.h)
		if !errors.Is(err, ErrBadHeader) || string(b) != "dst" {
			t.Errorf("%s: %v, dst has %d bytes", c.name, err, len(b))
		}
	}
	if len(cases) != 20 {
		t.Errorf("%d cases", len(cases))
	}
}

func TestDamagedHeaders(t *testing.T) {
	b := func(bytes ...byte) []byte { return bytes }
	times := b(0, 0, 0, 0)
	cases := []struct {
		name   string
		header []byte
		want   string
	}{
		{"nothing", nil, "is empty"},
		{"flags only", sealed(b(0)), "no end"},
		{"unknown flags", sealed(b(2, 0, 0), times, b(0, 0, 0)), "unknown flags"},
		{"too many rows", sealed(b(0, 0x81, 0x40, 0), times, b(0, 0, 0)), "more rows"},
		{"a schema version of 33 bits", sealed(b(0, 0, 0x80, 0x80, 0x80, 0x80, 0x10), times, b(0, 0, 0)), "32 bits"},
		{"more spans than rows", sealed(b(0, 1, 0), times, b(2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0)), "more spans"},
		{"more spans than bytes", sealed(b(0, 9, 0), times, b(9, 0, 0, 0, 1, 0, 0)), "more spans"},
		{"a negative run", sealed(b(0, 1, 0), times, b(1, 1, 0, 0, 1, 0, 0)), "out of range"},
		{"a negative shard", sealed(b(0, 1, 0), times, b(1, 0, 1, 0, 1, 0, 0)), "out of range"},
		{"a shard of 17 bits", sealed(b(0, 1, 0), times, b(1, 0, 0x80, 0x80, 0x08, 0, 1, 0, 0)), "out of range"},
		{"fewer ids than rows", sealed(b(0, 2, 0), times, b(1, 0, 0, 0, 1, 0, 0)), "contradicts"},
		{"times that end first", sealed(b(0, 0, 0, 0, 1, 0, 0), b(0, 0, 0)), "contradicts"},
		{"more columns than bytes", sealed(b(0, 0, 0), times, b(0, 2, 0, 0, 0, 0, 0)), "more columns"},
		{"too many nulls", sealed(b(0, 0, 0), times, b(0, 1, 1, 0, 0, 0, 0)), "contradicts"},
		{"an unknown bound", sealed(b(0, 0, 0), times, b(0, 1, 0, 0, 8, 0, 0)), "unknown kind"},
		{"a bound too long", sealed(b(0, 0, 0), times, b(0, 1, 0, 0, boundText, 33), make([]byte, 33), b(0, 0)), "too long"},
		{"a bound cut", sealed(b(0, 0, 0), times, b(0, 1, 0, 0, 0, boundFloat, 1)), "too early"},
		{"more sources than bytes", sealed(b(0, 0, 0), times, b(0, 0, 3, 0)), "more sources"},
		{"a source too long", sealed(b(0, 0, 0), times, b(0, 0, 1, 0x81, 0x08)), "too long"},
		{"more behind", sealed(b(0, 0, 0), times, b(0, 0, 0, 0)), "bytes follow"},
	}
	for _, c := range cases {
		h, err := ParseHeader(c.header)
		if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), c.want) || h != nil {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if len(cases) != 20 {
		t.Errorf("%d cases", len(cases))
	}
	whole, err := AppendHeader(nil, wholeHeader())
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if _, err := ParseHeader(whole[:n]); !isRefusal(err) {
			t.Errorf("%d bytes: %v", n, err)
		}
		bad := append([]byte{}, whole...)
		bad[n] ^= 0x10
		if _, err := ParseHeader(bad); !isRefusal(err) {
			t.Errorf("byte %d changed: %v", n, err)
		}
	}
}

func TestAppendSpan(t *testing.T) {
	var spans []Span
	for _, s := range []Span{{1, 1, 0, 5}, {1, 1, 5, 2}, {1, 1, 7, 0}, {5, 5, 5, 0}, {1, 1, 8, 1}, {1, 2, 9, 1}, {2, 2, 10, 1}, {2, 2, 11, 3}} {
		spans = AppendSpan(spans, s)
	}
	want := []Span{{1, 1, 0, 7}, {1, 1, 8, 1}, {1, 2, 9, 1}, {2, 2, 10, 4}}
	if !reflect.DeepEqual(spans, want) {
		t.Errorf("%v, want %v", spans, want)
	}
}
