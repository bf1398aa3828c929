package block

import (
	"fmt"
	"testing"

	"github.com/cellardb/cellar/store"
)

func encodeAll(b testing.TB, columns []store.Vector, rows int) [][]byte {
	chunks := make([][]byte, len(columns))
	for i := range columns {
		chunk, _, err := EncodeChunk(nil, &columns[i], 0, rows)
		if err != nil {
			b.Fatal(err)
		}
		chunks[i] = chunk
	}
	return chunks
}

// Events of 13 fields into chunks, on one core: rows/s, and bytes an event of
// each field.
func BenchmarkEncodeEvents(b *testing.B) {
	columns := newEvents(1).columns(MaxRows)
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		for i := range columns {
			var err error
			if dst, _, err = EncodeChunk(dst[:0], &columns[i], 0, MaxRows); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N)*MaxRows/b.Elapsed().Seconds(), "rows/s")
	total := 0
	for i, chunk := range encodeAll(b, columns, MaxRows) {
		total += len(chunk)
		b.ReportMetric(float64(len(chunk))/MaxRows, "B/"+fieldNames[i])
	}
	b.ReportMetric(float64(total)/MaxRows, "B/event")
}

// Chunks of 13 fields back into vectors, on one core.
func BenchmarkDecodeEvents(b *testing.B) {
	chunks := encodeAll(b, newEvents(1).columns(MaxRows), MaxRows)
	into := make([]store.Vector, len(chunks))
	b.ReportAllocs()
	for b.Loop() {
		for i, chunk := range chunks {
			if _, err := DecodeChunk(chunk, &into[i]); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N)*MaxRows/b.Elapsed().Seconds(), "rows/s")
}

// One field at a time.
func BenchmarkField(b *testing.B) {
	columns := newEvents(1).columns(MaxRows)
	for i, name := range fieldNames {
		b.Run(fmt.Sprintf("%s/encode", name), func(b *testing.B) {
			var dst []byte
			for b.Loop() {
				dst, _, _ = EncodeChunk(dst[:0], &columns[i], 0, MaxRows)
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/MaxRows, "ns/row")
			b.ReportMetric(float64(len(dst))/MaxRows, "B/row")
		})
		b.Run(fmt.Sprintf("%s/decode", name), func(b *testing.B) {
			chunk, _, _ := EncodeChunk(nil, &columns[i], 0, MaxRows)
			var into store.Vector
			for b.Loop() {
				if _, err := DecodeChunk(chunk, &into); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/MaxRows, "ns/row")
		})
	}
}

// Small blocks of 13 fields, as quiet streams make them.
func BenchmarkPacked(b *testing.B) {
	columns := newEvents(1).columns(PackedRows)
	for _, rows := range []int{1, 10, 100, PackedRows - 1} {
		packed, _, err := EncodePacked(nil, columns, 0, rows)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("encode/%d", rows), func(b *testing.B) {
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				dst, _, _ = EncodePacked(dst[:0], columns, 0, rows)
			}
			b.ReportMetric(float64(b.N*rows)/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(float64(len(dst))/float64(rows), "B/event")
		})
		b.Run(fmt.Sprintf("decode/%d", rows), func(b *testing.B) {
			b.ReportAllocs()
			into := make([]store.Vector, len(columns))
			for b.Loop() {
				if _, err := DecodePacked(packed, nil, into); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*rows)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// The header of a block of 13 fields.
func BenchmarkHeader(b *testing.B) {
	columns := newEvents(1).columns(MaxRows)
	h := &Header{Rows: MaxRows, Spans: []Span{{Run: 1, Count: MaxRows}}}
	for i := range columns {
		_, s, err := EncodeChunk(nil, &columns[i], 0, MaxRows)
		if err != nil {
			b.Fatal(err)
		}
		h.Columns = append(h.Columns, s)
	}
	header, err := AppendHeader(nil, h)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseHeader(header); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(header)), "B/header")
}
