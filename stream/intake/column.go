package intake

import (
	"math/bits"

	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/stream/schema"
)

// column builds the vector of one field. Between two records it has as many
// values as the parser has rows.
type column struct {
	v     store.Vector
	field schema.Field
	// plain: the name stands in JSON as it is, without escapes.
	plain bool
	// fixed: the type cannot be widened.
	fixed bool
	// time: values are times, whatever the type.
	time bool
	// mark: it is schema.Undated, which events cannot set.
	mark bool
	// added by this parser: dropped again if no value stays.
	added bool
	// stamp of the record that set it last.
	stamp int
}

// newColumn makes a column with rows nulls in it, and room for more.
func newColumn(f schema.Field, rows, room int) column {
	c := column{field: f, plain: isPlainKey(f.Name), mark: f.Name == schema.Undated}
	if rows == 0 {
		c.v.Type = f.Type.Column()
		if hasOffsets(f.Type) {
			c.v.Offsets = append(make([]uint32, 0, room+1), 0)
		}
	} else {
		c.v = schema.NullVector(f.Type, rows)
	}
	return c
}

func hasOffsets(t schema.Type) bool { return t == schema.Text || t == schema.Bytes }

// isPlainKey says whether JSON may write the name without escapes, and no other
// name that way.
func isPlainKey(name string) bool {
	for i := range len(name) {
		if c := name[i]; c == '"' || c == '\\' || c < ' ' {
			return false
		}
	}
	return true
}

// reserve makes room for n values more.
func (c *column) reserve(n int) {
	switch c.field.Type {
	case schema.Bool:
		c.v.Bools = grown(c.v.Bools, n)
	case schema.Int:
		c.v.Int32s = grown(c.v.Int32s, n)
	case schema.Long, schema.Time:
		c.v.Int64s = grown(c.v.Int64s, n)
	case schema.HugeInt:
		c.v.Hugeints = grown(c.v.Hugeints, n)
	case schema.Float:
		c.v.Float32s = grown(c.v.Float32s, n)
	case schema.Double:
		c.v.Float64s = grown(c.v.Float64s, n)
	case schema.Text, schema.Bytes:
		c.v.Offsets = grown(c.v.Offsets, n)
		if len(c.v.Bytes) > 0 { // as long as the texts were so far
			c.v.Bytes = grown(c.v.Bytes, len(c.v.Bytes)/(len(c.v.Offsets)-1)*n*9/8)
		}
	}
}

func grown[T any](s []T, n int) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	g := make([]T, len(s), len(s)+n)
	copy(g, s)
	return g
}

// truncate takes back what is beyond the given number of rows.
func (c *column) truncate(rows int) {
	switch c.field.Type {
	case schema.Bool:
		c.v.Bools = shortened(c.v.Bools, rows)
	case schema.Int:
		c.v.Int32s = shortened(c.v.Int32s, rows)
	case schema.Long, schema.Time:
		c.v.Int64s = shortened(c.v.Int64s, rows)
	case schema.HugeInt:
		c.v.Hugeints = shortened(c.v.Hugeints, rows)
	case schema.Float:
		c.v.Float32s = shortened(c.v.Float32s, rows)
	case schema.Double:
		c.v.Float64s = shortened(c.v.Float64s, rows)
	case schema.Text, schema.Bytes:
		c.v.Offsets = shortened(c.v.Offsets, rows+1)
		c.v.Bytes = c.v.Bytes[:c.v.Offsets[rows]]
	}
	if w := rows / 64; w < len(c.v.Nulls) {
		c.v.Nulls[w] &= 1<<(rows%64) - 1
	}
}

func shortened[T any](s []T, n int) []T {
	if len(s) > n {
		return s[:n]
	}
	return s
}

// null appends a null as the given row.
func (c *column) null(row int) {
	for len(c.v.Nulls) <= row/64 {
		c.v.Nulls = append(c.v.Nulls, 0)
	}
	c.v.Nulls[row/64] |= 1 << (row % 64)
	switch c.field.Type {
	case schema.Bool:
		c.v.Bools = append(c.v.Bools, false)
	case schema.Int:
		c.v.Int32s = append(c.v.Int32s, 0)
	case schema.Long, schema.Time:
		c.v.Int64s = append(c.v.Int64s, 0)
	case schema.HugeInt:
		c.v.Hugeints = append(c.v.Hugeints, store.HugeInt{})
	case schema.Float:
		c.v.Float32s = append(c.v.Float32s, 0)
	case schema.Double:
		c.v.Float64s = append(c.v.Float64s, 0)
	case schema.Text, schema.Bytes:
		c.endText()
	}
}

// endText ends the text whose bytes were appended.
func (c *column) endText() { c.v.Offsets = append(c.v.Offsets, uint32(len(c.v.Bytes))) }

// finish gives Nulls the length that schema.Events promises.
func (c *column) finish(rows int) {
	if c.v.Nulls == nil {
		return
	}
	for len(c.v.Nulls) < (rows+63)/64 {
		c.v.Nulls = append(c.v.Nulls, 0)
	}
	c.v.Nulls = c.v.Nulls[:(rows+63)/64]
	for _, w := range c.v.Nulls {
		if w != 0 {
			return
		}
	}
	c.v.Nulls = nil
}

// empty says whether all of the rows are null. It comes after finish.
func (c *column) empty(rows int) bool {
	nulls := 0
	for _, w := range c.v.Nulls {
		nulls += bits.OnesCount64(w)
	}
	return nulls == rows
}

// widen gives the column another type; it holds rows values.
func (c *column) widen(t schema.Type, rows int) error {
	c.finish(rows)
	v, err := schema.Convert(&c.v, c.field.Type, t)
	if err != nil {
		return err
	}
	c.v, c.field.Type = v, t
	return nil
}
