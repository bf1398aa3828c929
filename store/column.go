package store

import (
	"context"
	"io"
)

// ColumnSource is rows as typed columns, read in batches of vectors: streams,
// time series, wide tables and search results are sources, SQL consumes them.
type ColumnSource interface {
	// Columns names the columns and their types, in order. It does not change
	// during the life of the source.
	Columns() []Column
	// Open plans a read: at most n partitions, which together give every row
	// once, and which may be read in parallel.
	Open(ctx context.Context, want ColumnRequest, n int) ([]ColumnReader, error)
}

// Column is one column of a source.
type Column struct {
	Name     string
	Type     ColumnType
	Nullable bool
	// Time marks the column that ColumnRequest's time bounds speak of. One
	// column at most has it.
	Time bool
}

// ColumnType is the type of a column's values.
type ColumnType uint8

// Types of columns, and the field of a Vector that holds their values.
const (
	ColumnBool      ColumnType = iota + 1 // Bools
	ColumnInt32                           // Int32s
	ColumnInt64                           // Int64s
	ColumnHugeInt                         // Hugeints: signed, 128 bits
	ColumnFloat32                         // Float32s
	ColumnFloat64                         // Float64s
	ColumnText                            // Offsets and Bytes, UTF-8
	ColumnBytes                           // Offsets and Bytes
	ColumnTimestamp                       // Int64s: ms since 1970-01-01 UTC
)

// ColumnRequest says what a read needs. All of it but Columns is a hint for
// leaving out blocks: rows that do not match may be returned, and whoever asks
// tests again.
type ColumnRequest struct {
	// Columns by their index, in the order the vectors shall have; nil is all.
	// A request for no column at all ([]int{}) counts rows.
	Columns []int
	// MinTime (inclusive) and MaxTime (exclusive) bound the Time column, ms.
	// Both 0: no bound.
	MinTime, MaxTime int64
	// Bounds on other columns.
	Bounds []ColumnBound
}

// ColumnBound is a hint that only rows whose column lies in [Min, Max] matter.
// A nil end is open. The dynamic type is that of the column: bool, int64,
// float64, string or []byte.
type ColumnBound struct {
	Column   int
	Min, Max any
}

// ColumnReader reads one partition; it belongs to one goroutine at a time.
type ColumnReader interface {
	// Next fills the batch with the next rows: up to BatchRows of them. At the
	// end it answers io.EOF. Vectors and their memory are the caller's; the
	// reader resizes them. A vector may be replaced by a dictionary vector.
	Next(ctx context.Context, into *ColumnBatch) error
	io.Closer
}

// BatchRows is the most rows that a batch holds.
const BatchRows = 2048

// ColumnBatch is a number of rows, as one vector for each requested column.
type ColumnBatch struct {
	Rows    int
	Vectors []Vector
}

// Vector is the values of one column in a batch. Which slice is used depends on
// Type; it has as many elements as the batch has rows, null or not.
type Vector struct {
	Type ColumnType
	// Nulls has bit i%64 of word i/64 set where row i is null; nil: none is.
	Nulls    []uint64
	Bools    []bool
	Int32s   []int32
	Int64s   []int64
	Float32s []float32
	Float64s []float64
	Hugeints []HugeInt
	// Row i is Bytes[Offsets[i]:Offsets[i+1]].
	Offsets []uint32
	Bytes   []byte
	// Dictionary, if not nil, holds the distinct values: row i is row Codes[i]
	// of it, and the slices above are empty. Nulls is the vector's own.
	Dictionary *Vector
	Codes      []uint32
}

// HugeInt is a signed integer of 128 bits.
type HugeInt struct {
	High int64
	Low  uint64
}

// Null says whether row i is null.
func (v *Vector) Null(i int) bool {
	return v.Nulls != nil && v.Nulls[i/64]&(1<<(i%64)) != 0
}
