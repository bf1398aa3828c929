package thrift

import (
	"encoding/binary"
	"math"
)

// keepWriter is how much memory, in bytes, a Reset leaves to a Writer.
const keepWriter = 1 << 20

// Writer appends messages to a buffer of its own. The zero Writer writes
// unframed binary messages. It has no errors: memory is the only thing that it
// needs, and what it writes is what its caller says. Not for concurrent use.
//
// A message is Message, one struct (StructBegin, a Field before each value,
// StructEnd), MessageEnd. Several messages may follow one another in the
// buffer, as replies to calls that were sent together.
type Writer struct {
	buf     []byte
	compact bool
	framed  bool
	frame   int // where the message began that is being written

	// The compact protocol writes a field's id as the distance to the one
	// before it in the same struct: ids holds, for each struct around the
	// current one, the last id written in it.
	last int16
	ids  []int16
	// A boolean field of the compact protocol is written with its value.
	boolField   int16
	boolPending bool
}

// Reset empties the buffer and sets how the following messages are written.
// Memory is kept for them, up to 1 MiB.
func (w *Writer) Reset(p Protocol, framed bool) {
	if cap(w.buf) > keepWriter {
		w.buf = nil
	}
	*w = Writer{buf: w.buf[:0], ids: w.ids[:0], compact: p == Compact, framed: framed}
}

// Bytes is what was written since Reset; valid until the next call that writes.
func (w *Writer) Bytes() []byte { return w.buf }

// Len is the number of bytes written since Reset.
func (w *Writer) Len() int { return len(w.buf) }

// Mark is a place in what a Writer wrote; see Truncate.
type Mark struct {
	at, depth int
	last      int16
}

// Mark remembers the place that the Writer is at.
func (w *Writer) Mark() Mark {
	return Mark{at: len(w.buf), depth: len(w.ids), last: w.last}
}

// Truncate takes back everything after m, so that another value or message can
// be written in its place. The struct in which m was taken must not have ended
// since (a mark between two messages is always good).
func (w *Writer) Truncate(m Mark) {
	w.buf, w.ids, w.last = w.buf[:m.at], w.ids[:m.depth], m.last
	w.boolPending = false
}

// Message begins a message, with its frame if there are any.
func (w *Writer) Message(name string, t MessageType, seq int32) {
	w.frame = len(w.buf)
	if w.framed {
		w.buf = append(w.buf, 0, 0, 0, 0)
	}
	if w.compact {
		w.buf = append(w.buf, compactFirst, compactVersion|byte(t)<<compactTypeBit)
		w.buf = binary.AppendUvarint(w.buf, uint64(uint32(seq)))
		w.String(name)
		return
	}
	w.buf = binary.BigEndian.AppendUint32(w.buf, binaryVersion|uint32(t))
	w.String(name)
	w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(seq))
}

// MessageEnd ends the message: it fills in the length of its frame.
func (w *Writer) MessageEnd() {
	if w.framed {
		binary.BigEndian.PutUint32(w.buf[w.frame:], uint32(len(w.buf)-w.frame-4))
	}
}

// StructBegin begins a struct: the content of a message, a field's value or an
// element.
func (w *Writer) StructBegin() {
	if w.compact {
		w.ids = append(w.ids, w.last)
		w.last = 0
	}
}

// StructEnd ends the struct that was begun last.
func (w *Writer) StructEnd() {
	w.buf = append(w.buf, byte(Stop))
	if w.compact {
		n := len(w.ids) - 1
		w.last = w.ids[n]
		w.ids = w.ids[:n]
	}
}

// Field begins a field; its value must follow.
func (w *Writer) Field(t Type, id int16) {
	if !w.compact {
		w.buf = append(w.buf, byte(t), byte(uint16(id)>>8), byte(id))
		return
	}
	if t == Bool {
		w.boolField, w.boolPending = id, true
		return
	}
	w.compactField(toCompact[t&15], id)
}

func (w *Writer) compactField(t byte, id int16) {
	if delta := int32(id) - int32(w.last); delta > 0 && delta <= 15 {
		w.buf = append(w.buf, byte(delta)<<4|t)
	} else {
		w.buf = binary.AppendUvarint(append(w.buf, t), zigzag32(int32(id)))
	}
	w.last = id
}

// BoolField is a whole boolean field.
func (w *Writer) BoolField(id int16, v bool) {
	w.Field(Bool, id)
	w.Bool(v)
}

// Bool writes a boolean.
func (w *Writer) Bool(v bool) {
	b := byte(0)
	if v {
		b = 1
	}
	if w.compact {
		b = 2 - b
		if w.boolPending {
			w.boolPending = false
			w.compactField(b, w.boolField)
			return
		}
	}
	w.buf = append(w.buf, b)
}

// Byte writes an 8-bit number.
func (w *Writer) Byte(v int8) { w.buf = append(w.buf, byte(v)) }

// I16 writes a 16-bit number.
func (w *Writer) I16(v int16) {
	if w.compact {
		w.buf = binary.AppendUvarint(w.buf, zigzag32(int32(v)))
		return
	}
	w.buf = binary.BigEndian.AppendUint16(w.buf, uint16(v))
}

// I32 writes a 32-bit number.
func (w *Writer) I32(v int32) {
	if w.compact {
		w.buf = binary.AppendUvarint(w.buf, zigzag32(v))
		return
	}
	w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(v))
}

// I64 writes a 64-bit number.
func (w *Writer) I64(v int64) {
	if w.compact {
		w.buf = binary.AppendUvarint(w.buf, uint64(v)<<1^uint64(v>>63))
		return
	}
	w.buf = binary.BigEndian.AppendUint64(w.buf, uint64(v))
}

// Double writes a floating-point number.
func (w *Writer) Double(v float64) {
	if w.compact {
		w.buf = binary.LittleEndian.AppendUint64(w.buf, math.Float64bits(v))
		return
	}
	w.buf = binary.BigEndian.AppendUint64(w.buf, math.Float64bits(v))
}

// Binary writes a byte string.
func (w *Writer) Binary(v []byte) {
	w.size(len(v))
	w.buf = append(w.buf, v...)
}

// String writes a byte string.
func (w *Writer) String(v string) {
	w.size(len(v))
	w.buf = append(w.buf, v...)
}

// BinaryN writes a byte string of n bytes and returns the place where they are
// for the caller to fill before it calls the Writer again.
func (w *Writer) BinaryN(n int) []byte {
	w.size(n)
	at := len(w.buf)
	if cap(w.buf)-at < n {
		w.buf = append(w.buf, make([]byte, n)...)
	} else {
		w.buf = w.buf[:at+n]
	}
	return w.buf[at : at+n : at+n]
}

func (w *Writer) size(n int) {
	if w.compact {
		w.buf = binary.AppendUvarint(w.buf, uint64(uint32(n)))
		return
	}
	w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(n))
}

// List begins a list of n elements; a set is written the same way.
func (w *Writer) List(elem Type, n int) {
	switch {
	case !w.compact:
		w.buf = binary.BigEndian.AppendUint32(append(w.buf, byte(elem)), uint32(n))
	case n < 15:
		w.buf = append(w.buf, byte(n)<<4|toCompact[elem&15])
	default:
		w.buf = binary.AppendUvarint(append(w.buf, 0xf0|toCompact[elem&15]), uint64(uint32(n)))
	}
}

// ListMark is a list whose number of elements is not known yet.
type ListMark int

// OpenList begins a list (or set) whose elements are counted while they are
// written; CloseList fills the number in.
func (w *Writer) OpenList(elem Type) ListMark {
	if w.compact {
		// The long form, with a number of five bytes whatever it is.
		w.buf = append(w.buf, 0xf0|toCompact[elem&15], 0x80, 0x80, 0x80, 0x80, 0)
		return ListMark(len(w.buf) - 5)
	}
	w.buf = append(w.buf, byte(elem), 0, 0, 0, 0)
	return ListMark(len(w.buf) - 4)
}

// CloseList says that n elements were written since OpenList returned m.
func (w *Writer) CloseList(m ListMark, n int) {
	if !w.compact {
		binary.BigEndian.PutUint32(w.buf[m:], uint32(n))
		return
	}
	for i := range 4 {
		w.buf[int(m)+i] = 0x80 | byte(n>>(7*i))
	}
	w.buf[m+4] = byte(n >> 28 & 0x0f)
}

// Map begins a map of n pairs; key and value follow for each.
func (w *Writer) Map(key, value Type, n int) {
	if !w.compact {
		w.buf = binary.BigEndian.AppendUint32(append(w.buf, byte(key), byte(value)), uint32(n))
		return
	}
	w.buf = binary.AppendUvarint(w.buf, uint64(uint32(n)))
	if n > 0 {
		w.buf = append(w.buf, toCompact[key&15]<<4|toCompact[value&15])
	}
}

func zigzag32(v int32) uint64 { return uint64(uint32(v<<1) ^ uint32(v>>31)) }
