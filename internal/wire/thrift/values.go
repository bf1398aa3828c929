package thrift

import (
	"encoding/binary"
	"fmt"
	"math"
)

// StructBegin begins a struct. Its end comes with the Stop that Field returns.
func (r *Reader) StructBegin() {
	if r.err == nil && r.depth >= r.limits.MaxDepth {
		r.fail(ErrDepth)
	}
	if r.err != nil {
		return
	}
	r.depth++
	if r.compact {
		r.ids = append(r.ids, r.last)
		r.last = 0
	}
}

// Field reads the beginning of a field: its type and id. Stop says that the
// struct has ended (or that there is an error).
func (r *Reader) Field() (Type, int16) {
	if r.compact {
		return r.compactField()
	}
	if r.end-r.pos < 1 && !r.more(1, "field") {
		return Stop, 0
	}
	t := Type(r.buf[r.pos])
	if t == Stop {
		r.pos++
		r.depth--
		return Stop, 0
	}
	if r.end-r.pos < 3 && !r.more(3, "field") {
		return Stop, 0
	}
	if !validType(t) {
		r.malformed("a field's type", t.String())
		return Stop, 0
	}
	id := int16(binary.BigEndian.Uint16(r.buf[r.pos+1:]))
	r.pos += 3
	return t, id
}

func (r *Reader) compactField() (Type, int16) {
	if r.end-r.pos < 1 && !r.more(1, "field") {
		return Stop, 0
	}
	b := r.buf[r.pos]
	r.pos++
	if b&0x0f == 0 {
		if b != 0 {
			r.malformed("a field's type", fmt.Sprintf("%02x", b))
			return Stop, 0
		}
		r.depth--
		if n := len(r.ids) - 1; n >= 0 {
			r.last, r.ids = r.ids[n], r.ids[:n]
		}
		return Stop, 0
	}
	t := fromCompact[b&0x0f]
	if t == Stop {
		r.malformed("a field's type", fmt.Sprintf("%02x", b))
		return Stop, 0
	}
	if delta := b >> 4; delta != 0 {
		r.last += int16(delta)
	} else {
		r.last = int16(unzigzag32(r.uvarint32()))
		if r.err != nil {
			return Stop, 0
		}
	}
	if t == Bool {
		r.boolPending, r.boolValue = true, b&0x0f == compactTrue
	}
	return t, r.last
}

// Bool reads a boolean.
func (r *Reader) Bool() bool {
	if r.boolPending {
		r.boolPending = false
		return r.boolValue
	}
	b := r.Byte()
	if r.compact {
		return b == compactTrue
	}
	return b != 0
}

// Byte reads an 8-bit number.
func (r *Reader) Byte() int8 {
	if r.end-r.pos < 1 && !r.more(1, "byte") {
		return 0
	}
	b := r.buf[r.pos]
	r.pos++
	return int8(b)
}

// I16 reads a 16-bit number.
func (r *Reader) I16() int16 {
	if r.compact {
		return int16(unzigzag32(r.uvarint32()))
	}
	if r.end-r.pos < 2 && !r.more(2, "i16") {
		return 0
	}
	v := binary.BigEndian.Uint16(r.buf[r.pos:])
	r.pos += 2
	return int16(v)
}

// I32 reads a 32-bit number.
func (r *Reader) I32() int32 {
	if r.compact {
		return unzigzag32(r.uvarint32())
	}
	if r.end-r.pos < 4 && !r.more(4, "i32") {
		return 0
	}
	v := binary.BigEndian.Uint32(r.buf[r.pos:])
	r.pos += 4
	return int32(v)
}

// I64 reads a 64-bit number.
func (r *Reader) I64() int64 {
	if r.compact {
		v := r.uvarint(10)
		return int64(v>>1) ^ -int64(v&1)
	}
	if r.end-r.pos < 8 && !r.more(8, "i64") {
		return 0
	}
	v := binary.BigEndian.Uint64(r.buf[r.pos:])
	r.pos += 8
	return int64(v)
}

// Double reads a floating-point number.
func (r *Reader) Double() float64 {
	if r.end-r.pos < 8 && !r.more(8, "double") {
		return 0
	}
	b := r.buf[r.pos : r.pos+8]
	r.pos += 8
	if r.compact {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return math.Float64frombits(binary.BigEndian.Uint64(b))
}

// Binary reads a byte string. It is valid until the following Next or Release,
// never nil unless there is an error, and has no room to append to.
func (r *Reader) Binary() []byte {
	n := r.size("string")
	if r.err != nil {
		return nil
	}
	return r.bytes(n, "string")
}

func (r *Reader) bytes(n int, what string) []byte {
	if r.end-r.pos < n && !r.more(n, what) {
		return nil
	}
	b := r.buf[r.pos : r.pos+n : r.pos+n]
	r.pos += n
	return b
}

// List reads the beginning of a list: the type and number of its elements,
// which follow. The number is what the peer announced, checked only against
// the size that the message may have: allocate while elements arrive, not by it.
func (r *Reader) List() (elem Type, n int) { return r.list("list") }

// Set is List for a set.
func (r *Reader) Set() (elem Type, n int) { return r.list("set") }

func (r *Reader) list(what string) (Type, int) {
	if r.end-r.pos < 1 && !r.more(1, what) {
		return Stop, 0
	}
	b := r.buf[r.pos]
	r.pos++
	var elem Type
	var n int
	switch {
	case !r.compact:
		elem, n = Type(b), r.size(what)
	case b>>4 < 15:
		elem, n = fromCompact[b&0x0f], int(b>>4)
	default:
		elem, n = fromCompact[b&0x0f], r.size(what)
	}
	if r.err != nil || n == 0 {
		return elem, 0
	}
	if !validType(elem) {
		r.malformed("the type of a "+what+"'s elements", fmt.Sprintf("%02x", b))
		return Stop, 0
	}
	if !r.canHold(what, n, minimal(r.protocol(), elem)) {
		return Stop, 0
	}
	return elem, n
}

// Map reads the beginning of a map: the types of keys and values and their
// number; pairs follow. See List about the number.
func (r *Reader) Map() (key, value Type, n int) {
	var k, v byte // as they came
	if r.compact {
		if n = r.size("map"); n == 0 || r.err != nil {
			return Stop, Stop, 0
		}
		b := byte(r.Byte())
		key, value = fromCompact[b>>4], fromCompact[b&0x0f]
		k, v = b>>4, b&0x0f
	} else {
		if r.end-r.pos < 6 && !r.more(6, "map") {
			return Stop, Stop, 0
		}
		k, v = r.buf[r.pos], r.buf[r.pos+1]
		key, value = Type(k), Type(v)
		r.pos += 2
		n = r.size("map")
	}
	if r.err != nil || n == 0 {
		return key, value, 0
	}
	if !validType(key) || !validType(value) {
		r.malformed("the types of a map's keys and values", fmt.Sprintf("%02x %02x", k, v))
		return Stop, Stop, 0
	}
	p := r.protocol()
	if !r.canHold("map", n, minimal(p, key)+minimal(p, value)) {
		return Stop, Stop, 0
	}
	return key, value, n
}

// canHold checks that n elements of at least size bytes can still come.
func (r *Reader) canHold(what string, n, size int) bool {
	if int64(n)*int64(size) > int64(r.limit-r.pos) {
		r.tooFar(what+" of elements", n)
		return false
	}
	return true
}

func (r *Reader) protocol() Protocol {
	if r.compact {
		return Compact
	}
	return Binary
}

// size reads the length of a string or the number of elements.
func (r *Reader) size(what string) int {
	var n int32
	if r.compact {
		n = int32(r.uvarint32())
	} else {
		n = r.I32()
	}
	if n < 0 {
		r.malformed("the size of a "+what, fmt.Sprint(n))
		return 0
	}
	return int(n)
}

func (r *Reader) uvarint32() uint32 {
	if r.pos < r.end && r.buf[r.pos] < 0x80 {
		b := r.buf[r.pos]
		r.pos++
		return uint32(b)
	}
	v := r.uvarint(5)
	if v > math.MaxUint32 {
		r.malformed("a number of 32 bits", fmt.Sprint(v))
		return 0
	}
	return uint32(v)
}

// uvarint reads a number of at most length bytes, seven bits each, the lowest
// first; all but the last have the top bit set.
func (r *Reader) uvarint(length int) uint64 {
	var v uint64
	for i := range length {
		if r.pos >= r.end && !r.more(1, "number") {
			return 0
		}
		b := r.buf[r.pos]
		r.pos++
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			if i == 9 && b > 1 {
				break
			}
			return v
		}
	}
	r.malformed(fmt.Sprintf("a number of at most %d bytes", length), "a longer one")
	return 0
}

func unzigzag32(v uint32) int32 { return int32(v>>1) ^ -int32(v&1) }

// Skip reads over a value. Strings in it are not kept in memory.
func (r *Reader) Skip(t Type) {
	switch t {
	case Bool:
		r.Bool()
	case Byte:
		r.discard(1, "byte")
	case I16:
		r.I16()
	case I32:
		r.I32()
	case I64:
		r.I64()
	case Double:
		r.discard(8, "double")
	case String:
		if n := r.size("string"); n > 0 {
			r.discard(n, "string")
		}
	case Struct:
		r.StructBegin()
		for {
			t, _ := r.Field()
			if t == Stop {
				return
			}
			r.Skip(t)
		}
	case List, Set:
		elem, n := r.list(t.String())
		r.skipElements(n, elem, Stop)
	case Map:
		key, value, n := r.Map()
		r.skipElements(n, key, value)
	default:
		r.malformed("a value's type", t.String())
	}
}

// skipElements skips n values, or n pairs if b is a type.
func (r *Reader) skipElements(n int, a, b Type) {
	if n == 0 {
		return
	}
	if r.depth >= r.limits.MaxDepth {
		r.fail(ErrDepth)
		return
	}
	sizes := &fixedSize[r.protocol()]
	if sizes[a] > 0 && (b == Stop || sizes[b] > 0) {
		r.discard(n*(sizes[a]+sizes[b]), "elements")
		return
	}
	r.depth++
	for i := 0; i < n && r.err == nil; i++ {
		r.Skip(a)
		if b != Stop {
			r.Skip(b)
		}
	}
	r.depth--
}
