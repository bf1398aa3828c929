package block

import "github.com/cellardb/cellar/store"

// column reads type, nulls and values of rows rows.
func (d *decoder) column(c *cursor, rows int, into *store.Vector) {
	code := c.byte()
	if c.err == nil && (code == 0 || int(code) >= len(typesOfCodes)) {
		c.fail("a column is of an unknown type")
	}
	if c.err != nil {
		return
	}
	*into = store.Vector{Type: typesOfCodes[code], Nulls: into.Nulls, Bools: into.Bools[:0], Int32s: into.Int32s[:0],
		Int64s: into.Int64s[:0], Float32s: into.Float32s[:0], Float64s: into.Float64s[:0], Hugeints: into.Hugeints[:0],
		Offsets: into.Offsets[:0], Bytes: into.Bytes[:0], Dictionary: into.Dictionary, Codes: into.Codes[:0]}
	nulls, count := d.set(c, into.Nulls, rows)
	into.Nulls = nulls
	if c.err != nil {
		return
	}
	n := rows - count
	if n == 0 {
		into.Dictionary = nil
		allNull(into, rows)
		return
	}
	if code == typeText || code == typeBytes {
		d.texts(c, into, rows, n)
		return
	}
	into.Dictionary = nil
	d.values(c, code, into, rows, n)
}

// allNull makes rows zeros.
func allNull(into *store.Vector, rows int) {
	switch into.Type {
	case store.ColumnBool:
		into.Bools = zeros(into.Bools, rows)
	case store.ColumnInt32:
		into.Int32s = zeros(into.Int32s, rows)
	case store.ColumnInt64, store.ColumnTimestamp:
		into.Int64s = zeros(into.Int64s, rows)
	case store.ColumnHugeInt:
		into.Hugeints = zeros(into.Hugeints, rows)
	case store.ColumnFloat32:
		into.Float32s = zeros(into.Float32s, rows)
	case store.ColumnFloat64:
		into.Float64s = zeros(into.Float64s, rows)
	default:
		into.Offsets = zeros(into.Offsets, rows+1)
	}
}

func zeros[T any](s []T, n int) []T {
	s = resize(s, n)
	clear(s)
	return s
}

// values reads n values that are not null into a column of rows rows.
func (d *decoder) values(c *cursor, code byte, into *store.Vector, rows, n int) {
	switch code {
	case typeBool:
		into.Bools = resize(into.Bools, rows)
		d.bools(c, into.Bools[:n])
		spread(into.Bools, into.Nulls, n)
	case typeInt32:
		into.Int32s = resize(into.Int32s, rows)
		d.int32s(c, into.Int32s[:n])
		spread(into.Int32s, into.Nulls, n)
	case typeInt64, typeTimestamp:
		into.Int64s = resize(into.Int64s, rows)
		d.ints(c, into.Int64s[:n], 1)
		spread(into.Int64s, into.Nulls, n)
	case typeHugeInt:
		into.Hugeints = resize(into.Hugeints, rows)
		d.hugeints(c, into.Hugeints[:n])
		spread(into.Hugeints, into.Nulls, n)
	case typeFloat32:
		into.Float32s = resize(into.Float32s, rows)
		d.float32s(c, into.Float32s[:n])
		spread(into.Float32s, into.Nulls, n)
	case typeFloat64:
		into.Float64s = resize(into.Float64s, rows)
		d.float64s(c, into.Float64s[:n])
		spread(into.Float64s, into.Nulls, n)
	}
}

func (d *decoder) bools(c *cursor, dst []bool) {
	set, _ := d.set(c, d.bits, len(dst))
	if set == nil {
		clear(dst)
		return
	}
	d.bits = set
	for i := range dst {
		dst[i] = set[i/64]>>(i%64)&1 != 0
	}
}

func (d *decoder) int32s(c *cursor, dst []int32) {
	wide := d.list(len(dst))
	d.ints(c, wide, 1)
	narrow(c, dst, wide)
	d.give()
}

// narrow copies numbers of 32 bits.
func narrow(c *cursor, dst []int32, wide []int64) {
	strange := int64(0)
	for i, v := range wide {
		dst[i] = int32(v)
		strange |= v ^ int64(int32(v))
	}
	if strange != 0 {
		c.fail("a number has more than 32 bits")
	}
}

func (d *decoder) hugeints(c *cursor, dst []store.HugeInt) {
	part := d.list(len(dst))
	d.ints(c, part, 1)
	for i, v := range part {
		dst[i].High = v
	}
	d.ints(c, part, 1)
	for i, v := range part {
		dst[i].Low = uint64(v)
	}
	d.give()
}
