package plainthrift

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Answer is a reply as it came.
type Answer struct {
	Kind   int // Reply or Exception
	Method string
	Seq    int32
	// Fields of the result struct by their ids: 0 is what the method returns,
	// the others are its declared exceptions. Of an Exception 1 is its text and
	// 2 its type.
	Fields Fields
}

// Fields is a decoded struct. Values are bool, int64, []byte, Fields, []any and
// map[string]any.
type Fields map[int16]any

// ReadAnswer reads one reply of the buffered transport.
func ReadAnswer(r io.Reader) (*Answer, error) {
	d := &decoder{r: r}
	head := d.u32()
	if d.err == nil && head>>16 != 0x8001 {
		return nil, fmt.Errorf("a reply begins with %08x", head)
	}
	a := &Answer{Kind: int(head & 0xff), Method: string(d.bytes()), Seq: int32(d.u32())}
	a.Fields = d.fields()
	if d.err != nil {
		return nil, d.err
	}
	return a, nil
}

type decoder struct {
	r   io.Reader
	err error
	buf [8]byte
}

func (d *decoder) take(n int) []byte {
	if d.err == nil {
		_, d.err = io.ReadFull(d.r, d.buf[:n])
	}
	if d.err != nil {
		clear(d.buf[:])
	}
	return d.buf[:n]
}

func (d *decoder) u8() byte    { return d.take(1)[0] }
func (d *decoder) u16() uint16 { return binary.BigEndian.Uint16(d.take(2)) }
func (d *decoder) u32() uint32 { return binary.BigEndian.Uint32(d.take(4)) }
func (d *decoder) u64() uint64 { return binary.BigEndian.Uint64(d.take(8)) }

func (d *decoder) bytes() []byte {
	n := d.u32()
	if d.err == nil && n > 1<<30 {
		d.err = fmt.Errorf("a byte string of %d bytes", n)
	}
	if d.err != nil {
		return nil
	}
	b := make([]byte, n)
	_, d.err = io.ReadFull(d.r, b)
	return b
}

func (d *decoder) fields() Fields {
	f := Fields{}
	for d.err == nil {
		t := Type(d.u8())
		if t == stop {
			break
		}
		id := int16(d.u16())
		f[id] = d.value(t)
	}
	return f
}

func (d *decoder) value(t Type) any {
	switch t {
	case TypeBool:
		return d.u8() != 0
	case TypeByte:
		return int64(int8(d.u8()))
	case TypeI32:
		return int64(int32(d.u32()))
	case TypeI64:
		return int64(d.u64())
	case TypeBytes:
		return d.bytes()
	case TypeStruct:
		return d.fields()
	case TypeList:
		return d.list()
	case TypeMap:
		return d.dictionary()
	}
	if d.err == nil {
		d.err = fmt.Errorf("a value of type %d", t)
	}
	return nil
}

func (d *decoder) list() []any {
	of, n := Type(d.u8()), d.u32()
	var l []any
	for i := uint32(0); i < n && d.err == nil; i++ {
		l = append(l, d.value(of))
	}
	return l
}

func (d *decoder) dictionary() map[string]any {
	key, of, n := Type(d.u8()), Type(d.u8()), d.u32()
	m := map[string]any{}
	for i := uint32(0); i < n && d.err == nil; i++ {
		if k, ok := d.value(key).([]byte); ok {
			m[string(k)] = d.value(of)
		} else if d.err == nil {
			d.err = fmt.Errorf("a map with keys of type %d", key)
		}
	}
	return m
}

// Holds says whether one of the byte strings of the answer has the text in it.
func (a *Answer) Holds(text string) bool { return holds(a.Fields, []byte(text)) }

func holds(value any, text []byte) bool {
	switch v := value.(type) {
	case []byte:
		return bytes.Contains(v, text)
	case Fields:
		for _, part := range v {
			if holds(part, text) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(part any) bool { return holds(part, text) })
	case map[string]any:
		for key, part := range v {
			if strings.Contains(key, string(text)) || holds(part, text) {
				return true
			}
		}
	}
	return false
}
