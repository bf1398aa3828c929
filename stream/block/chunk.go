package block

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/cellardb/cellar/store"
)

// Types of columns in the bytes. They are not those of package store by their
// number, so that these may change.
const (
	typeBool      = 1
	typeInt32     = 2
	typeInt64     = 3
	typeHugeInt   = 4
	typeFloat32   = 5
	typeFloat64   = 6
	typeText      = 7
	typeBytes     = 8
	typeTimestamp = 9
)

var typeCodes = map[store.ColumnType]byte{
	store.ColumnBool: typeBool, store.ColumnInt32: typeInt32, store.ColumnInt64: typeInt64,
	store.ColumnHugeInt: typeHugeInt, store.ColumnFloat32: typeFloat32, store.ColumnFloat64: typeFloat64,
	store.ColumnText: typeText, store.ColumnBytes: typeBytes, store.ColumnTimestamp: typeTimestamp,
}

var typesOfCodes = [...]store.ColumnType{
	typeBool: store.ColumnBool, typeInt32: store.ColumnInt32, typeInt64: store.ColumnInt64,
	typeHugeInt: store.ColumnHugeInt, typeFloat32: store.ColumnFloat32, typeFloat64: store.ColumnFloat64,
	typeText: store.ColumnText, typeBytes: store.ColumnBytes, typeTimestamp: store.ColumnTimestamp,
}

// Memory for encoding and decoding is kept between calls, whoever makes them.
var (
	encoders = sync.Pool{New: func() any { return new(encoder) }}
	decoders = sync.Pool{New: func() any { return new(decoder) }}
)

// EncodeChunk appends rows [from, to) of v to dst as a chunk, in the smallest
// form that it knows for them, and says what a header should hold of them. v
// may be a dictionary vector. It refuses more than MaxRows rows or MaxBytes of
// text (ErrTooLarge; Fit says how many rows are few enough), and a vector whose
// slices are too short or whose offsets do not ascend (ErrBadVector).
func EncodeChunk(dst []byte, v *store.Vector, from, to int) ([]byte, ColumnStats, error) {
	if err := checkRange(from, to); err != nil {
		return dst, ColumnStats{}, err
	}
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	begin := len(dst)
	out := binary.AppendUvarint(append(dst, version), uint64(to-from))
	out, stats, err := e.column(out, v, from, to)
	if err != nil {
		return dst, ColumnStats{}, err
	}
	out = seal(out, begin)
	stats.Bytes = len(out) - begin
	return out, stats, nil
}

// DecodeChunk fills into with the rows of a chunk and says how many they are.
// The memory of into is used again, that of its Dictionary too; text that has
// a dictionary comes as a dictionary vector. After an error into holds nothing
// of meaning. Errors match store.ErrCorrupt or store.ErrNewerFormat.
func DecodeChunk(chunk []byte, into *store.Vector) (rows int, err error) {
	c, err := open(chunk, "chunk")
	if err != nil {
		return 0, err
	}
	d := decoders.Get().(*decoder)
	defer decoders.Put(d)
	rows = c.count(MaxRows, "more rows than a chunk may have")
	d.column(&c, rows, into)
	return rows, c.end()
}

func checkRange(from, to int) error {
	if from < 0 || to < from {
		return fmt.Errorf("%w: rows %d to %d", ErrBadVector, from, to)
	}
	if to-from > MaxRows {
		return fmt.Errorf("%w: %d rows, more than %d", ErrTooLarge, to-from, MaxRows)
	}
	return nil
}

// column appends type, nulls and values.
func (e *encoder) column(dst []byte, v *store.Vector, from, to int) ([]byte, ColumnStats, error) {
	var s ColumnStats
	if err := check(v, to); err != nil {
		return dst, s, err
	}
	dst = append(dst, typeCodes[v.Type])
	n := to - from
	var nulls []uint64
	if v.Nulls != nil {
		e.nulls = copyBits(e.nulls[:0], v.Nulls, from, n)
		nulls = e.nulls
		s.Nulls = countBits(nulls, n)
	}
	dst = e.set(dst, nulls, n, s.Nulls)
	if s.Nulls == n {
		return dst, s, nil
	}
	if v.Type == store.ColumnText || v.Type == store.ColumnBytes {
		dst, err := e.textColumn(dst, v, from, to, &s)
		return dst, s, err
	}
	if v.Dictionary != nil {
		flat, err := e.flatten(v, from, to)
		if err != nil {
			return dst, s, err
		}
		v, from, to = flat, 0, n
	}
	return e.values(dst, v, from, to, &s), s, nil
}

// values appends the values of rows [from, to) that are not null. There is at
// least one.
func (e *encoder) values(dst []byte, v *store.Vector, from, to int, s *ColumnStats) []byte {
	switch v.Type {
	case store.ColumnBool:
		return e.bools(dst, v, from, to, s)
	case store.ColumnInt32:
		e.int32s = gather(e.int32s[:0], v.Int32s, v.Nulls, from, to)
		e.vals = e.vals[:0]
		for _, x := range e.int32s {
			e.vals = append(e.vals, int64(x))
		}
		return e.integers(dst, e.vals, s)
	case store.ColumnInt64, store.ColumnTimestamp:
		e.vals = gather(e.vals[:0], v.Int64s, v.Nulls, from, to)
		return e.integers(dst, e.vals, s)
	case store.ColumnHugeInt:
		e.huge = gather(e.huge[:0], v.Hugeints, v.Nulls, from, to)
		return e.hugeints(dst, e.huge, s)
	case store.ColumnFloat32:
		e.float32s = gather(e.float32s[:0], v.Float32s, v.Nulls, from, to)
		return e.float32Column(dst, e.float32s, s)
	default:
		e.float64s = gather(e.float64s[:0], v.Float64s, v.Nulls, from, to)
		return e.float64Column(dst, e.float64s, s)
	}
}

func (e *encoder) integers(dst []byte, vals []int64, s *ColumnStats) []byte {
	low, high := bounds(vals)
	s.Min, s.Max = low, high
	return e.ints(dst, vals, tryAll)
}

func (e *encoder) bools(dst []byte, v *store.Vector, from, to int, s *ColumnStats) []byte {
	e.boolean = gather(e.boolean[:0], v.Bools, v.Nulls, from, to)
	n := len(e.boolean)
	set := resize(e.set64, bitWords(n))
	clear(set)
	for i, b := range e.boolean {
		if b {
			set[i/64] |= 1 << (i % 64)
		}
	}
	e.set64 = set
	count := countBits(set, n)
	s.Min, s.Max = count == n, count > 0
	return e.set(dst, set, n, count)
}

func (e *encoder) hugeints(dst []byte, vals []store.HugeInt, s *ColumnStats) []byte {
	low, high := vals[0], vals[0]
	e.vals = e.vals[:0]
	for _, v := range vals {
		if order, _ := compareHuge(v, low); order < 0 {
			low = v
		}
		if order, _ := compareHuge(v, high); order > 0 {
			high = v
		}
		e.vals = append(e.vals, v.High)
	}
	s.Min, s.Max = low, high
	dst = e.ints(dst, e.vals, tryAll)
	e.vals = e.vals[:0]
	for _, v := range vals {
		e.vals = append(e.vals, int64(v.Low))
	}
	return e.ints(dst, e.vals, tryAll)
}

// flatten writes the rows of a dictionary vector of numbers out.
func (e *encoder) flatten(v *store.Vector, from, to int) (*store.Vector, error) {
	d, codes := v.Dictionary, v.Codes[from:to]
	flat := &store.Vector{Type: v.Type}
	if v.Nulls != nil {
		flat.Nulls = e.nulls
	}
	ok := true
	pick := func(i int, have int) int {
		if flat.Null(i) {
			return -1
		}
		if int(codes[i]) >= have {
			ok = false
			return -1
		}
		return int(codes[i])
	}
	switch v.Type {
	case store.ColumnBool:
		flat.Bools = flattened(d.Bools, len(codes), pick)
	case store.ColumnInt32:
		flat.Int32s = flattened(d.Int32s, len(codes), pick)
	case store.ColumnInt64, store.ColumnTimestamp:
		flat.Int64s = flattened(d.Int64s, len(codes), pick)
	case store.ColumnHugeInt:
		flat.Hugeints = flattened(d.Hugeints, len(codes), pick)
	case store.ColumnFloat32:
		flat.Float32s = flattened(d.Float32s, len(codes), pick)
	case store.ColumnFloat64:
		flat.Float64s = flattened(d.Float64s, len(codes), pick)
	}
	if !ok {
		return nil, fmt.Errorf("%w: a code lies outside of its dictionary", ErrBadVector)
	}
	return flat, nil
}

func flattened[T any](entries []T, n int, pick func(i, have int) int) []T {
	out := make([]T, n)
	for i := range out {
		if at := pick(i, len(entries)); at >= 0 {
			out[i] = entries[at]
		}
	}
	return out
}
