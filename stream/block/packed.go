package block

import (
	"encoding/binary"
	"fmt"

	"github.com/cellardb/cellar/store"
)

// EncodePacked appends rows [from, to) of all columns to dst as one packed
// block, and gives the statistics of each column, for its header. It refuses
// what EncodeChunk refuses, and more than MaxColumns columns.
func EncodePacked(dst []byte, columns []store.Vector, from, to int) ([]byte, []ColumnStats, error) {
	if err := checkRange(from, to); err != nil {
		return dst, nil, err
	}
	if len(columns) > MaxColumns {
		return dst, nil, fmt.Errorf("%w: %d columns, more than %d", ErrTooLarge, len(columns), MaxColumns)
	}
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	stats := make([]ColumnStats, len(columns))
	body := e.packed[:0]
	for i := range columns {
		begin := len(body)
		var err error
		if body, stats[i], err = e.column(body, &columns[i], from, to); err != nil {
			return dst, nil, fmt.Errorf("column %d: %w", i, err)
		}
		stats[i].Bytes = len(body) - begin
	}
	e.packed = body
	begin := len(dst)
	dst = binary.AppendUvarint(append(dst, version), uint64(to-from))
	dst = binary.AppendUvarint(dst, uint64(len(columns)))
	for i := range stats {
		dst = binary.AppendUvarint(dst, uint64(stats[i].Bytes))
	}
	return seal(append(dst, body...), begin), stats, nil
}

// DecodePacked reads the wanted columns of a packed block, by their index, into
// the vectors of into, of which it needs as many; nil wants as many as into
// has, from the first on. Only their bytes are looked at. Memory and errors are
// those of DecodeChunk. A block may have fewer columns than a later schema:
// PackedColumns says how many.
func DecodePacked(packed []byte, want []int, into []store.Vector) (rows int, err error) {
	if want != nil && len(want) != len(into) {
		return 0, fmt.Errorf("%w: %d columns are wanted, there are %d vectors", ErrBadVector, len(want), len(into))
	}
	c, err := open(packed, "packed block")
	if err != nil {
		return 0, err
	}
	rows, columns := packedShape(&c)
	parts, err := packedParts(&c, columns)
	if err != nil {
		return 0, err
	}
	d := decoders.Get().(*decoder)
	defer decoders.Put(d)
	for i := range into {
		at := i
		if want != nil {
			at = want[i]
		}
		if at < 0 || at >= columns {
			return 0, fmt.Errorf("%w: column %d is wanted, the packed block has %d", ErrBadVector, at, columns)
		}
		part := c
		part.off, part.b = parts[at], c.b[:parts[at+1]]
		d.column(&part, rows, &into[i])
		if err := part.end(); err != nil {
			return 0, fmt.Errorf("column %d: %w", at, err)
		}
	}
	return rows, nil
}

// PackedColumns says how many rows and columns a packed block has.
func PackedColumns(packed []byte) (rows, columns int, err error) {
	c, err := open(packed, "packed block")
	if err != nil {
		return 0, 0, err
	}
	rows, columns = packedShape(&c)
	return rows, columns, c.err
}

func packedShape(c *cursor) (rows, columns int) {
	rows = c.count(MaxRows, "more rows than a block may have")
	return rows, c.count(min(MaxColumns, c.left()), "more columns than there are bytes for")
}

// packedParts gives where each column begins, and where the last ends.
func packedParts(c *cursor, columns int) ([]int, error) {
	parts := make([]int, columns+1)
	for i := range columns {
		parts[i+1] = c.count(c.left(), "a column is longer than the bytes")
	}
	parts[0] = c.off
	for i := range columns {
		if parts[i+1] += parts[i]; parts[i+1] > len(c.b) {
			c.fail("a column is longer than the bytes")
		}
	}
	if c.err == nil && parts[columns] != len(c.b) {
		c.fail("bytes follow the end")
	}
	return parts, c.err
}
