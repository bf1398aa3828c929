package thrift

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"
)

// FuzzReader: whatever comes, every message is read or refused with one of the
// errors of this package, in memory that is in proportion to what came; reading
// and skipping agree; and the pieces in which bytes arrive make no difference.
func FuzzReader(f *testing.F) {
	for _, g := range goldens {
		b := unhex(f, g.hex)
		f.Add(b, uint16(3))
		f.Add(append(b, b...), uint16(9))
	}
	f.Add([]byte("GET / HTTP/1.0\r\n\r\n"), uint16(1))
	f.Fuzz(func(t *testing.T, b []byte, seed uint16) {
		whole, wholeErr := readEverything(t, bytes.NewReader(b), len(b), false)
		rnd := rand.New(rand.NewPCG(uint64(seed), 0))
		parts, partsErr := readEverything(t, &crumbs{b: b, rnd: rnd}, len(b), false)
		if whole != parts || fmt.Sprint(wholeErr) != fmt.Sprint(partsErr) && !sameKind(wholeErr, partsErr) {
			t.Errorf("whole: %s, %v\nparts: %s, %v", whole, wholeErr, parts, partsErr)
		}
		if _, skipErr := readEverything(t, bytes.NewReader(b), len(b), true); !sameKind(wholeErr, skipErr) && !errors.Is(skipErr, ErrDepth) {
			t.Errorf("read: %v; skipped: %v", wholeErr, skipErr)
		}
	})
}

// sameKind: the bytes that an error shows depend on how many have arrived.
func sameKind(a, b error) bool {
	for _, kind := range []error{io.EOF, io.ErrUnexpectedEOF, ErrTooLarge, ErrProtocol, ErrDepth} {
		if errors.Is(a, kind) {
			return errors.Is(b, kind)
		}
	}
	return false
}

func readEverything(t *testing.T, src io.Reader, arrived int, skip bool) (text string, err error) {
	held, peak := 0, 0
	r := NewReader(src, Limits{MaxMessage: 1 << 20, MaxDepth: 8, Grow: func(n int) error { held += n; peak = max(peak, held); return nil }})
	for {
		var h Header
		if h, err = r.Next(); err != nil {
			break
		}
		if skip {
			r.Skip(Struct)
		} else {
			text += dump(r, h)
		}
		if err = r.Err(); err != nil {
			break
		}
	}
	if peak > 4*arrived+largestPiece {
		t.Errorf("held %d bytes for %d", peak, arrived)
	}
	if r.Release(); held != 0 {
		t.Errorf("%d bytes were not given back", held)
	}
	return text, err
}

// crumbs arrive in small pieces.
type crumbs struct {
	b   []byte
	rnd *rand.Rand
}

func (c *crumbs) Read(b []byte) (int, error) {
	if len(c.b) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), 1+c.rnd.IntN(9))], c.b)
	c.b = c.b[n:]
	return n, nil
}

// FuzzRoundTrip: a message made of the fuzzer's bytes comes back as it was, in
// both protocols, framed and not.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f some text \xff\xfe\x80\x00"))
	f.Add(bytes.Repeat([]byte{8, 0x7f, 0xff, 11, 3, 'a', 'b', 'c'}, 40))
	f.Fuzz(func(t *testing.T, b []byte) {
		var want string
		for way := range 4 {
			var w Writer
			w.Reset(Protocol(way%2), way > 1)
			m := maker{b: b, w: &w}
			w.Message("method", Call, int32(len(b))-5)
			m.structure(0)
			w.MessageEnd()
			got, err := read(NewReader(bytes.NewReader(w.Bytes()), Limits{}))
			if err != nil {
				t.Fatalf("way %d: %v after %s", way, err, got)
			}
			if way == 0 {
				want = fmt.Sprintf("call method %d %s", len(b)-5, m.text)
			}
			if got != want {
				t.Fatalf("way %d:\n got %s\nwant %s", way, got, want)
			}
		}
	})
}

// maker writes values chosen by bytes and notes them as dump would.
type maker struct {
	b    []byte
	w    *Writer
	text string
}

func (m *maker) next() byte {
	if len(m.b) == 0 {
		return 0
	}
	c := m.b[0]
	m.b = m.b[1:]
	return c
}

func (m *maker) number() int64 {
	var v [8]byte
	m.b = m.b[copy(v[:], m.b):]
	return int64(binary.LittleEndian.Uint64(v[:]))
}

func (m *maker) note(format string, args ...any) { m.text += fmt.Sprintf(format, args...) }

var makerTypes = []Type{Bool, Byte, Double, I16, I32, I64, String, Struct, Map, Set, List}

func (m *maker) structure(depth int) {
	m.w.StructBegin()
	m.note("{")
	for i := 0; len(m.b) > 0 && i < 20; i++ {
		t, id := makerTypes[int(m.next())%len(makerTypes)], int16(m.next())<<8|int16(m.next())
		if t >= Struct && depth > 5 {
			t = I32
		}
		if i > 0 {
			m.note(" ")
		}
		m.note("%d:%s", id, t)
		if t < Struct {
			m.note(" ")
		}
		m.w.Field(t, id)
		m.value(t, depth)
	}
	m.w.StructEnd()
	m.note("}")
}

func (m *maker) value(t Type, depth int) {
	switch t {
	case Bool:
		v := m.next()&1 == 1
		m.w.Bool(v)
		m.note("%v", v)
	case Byte:
		v := int8(m.next())
		m.w.Byte(v)
		m.note("%d", v)
	case Double:
		v := math.Float64frombits(uint64(m.number()))
		m.w.Double(v)
		m.note("%v", v)
	case I16:
		v := int16(m.number())
		m.w.I16(v)
		m.note("%d", v)
	case I32:
		v := int32(m.number())
		m.w.I32(v)
		m.note("%d", v)
	case I64:
		v := m.number()
		m.w.I64(v)
		m.note("%d", v)
	case String:
		n := int(m.next())
		v := m.b[:min(len(m.b), n)]
		m.b = m.b[len(v):]
		m.w.Binary(v)
		m.note("%q", v)
	case Struct:
		m.structure(depth + 1)
	default:
		m.container(t, depth)
	}
}

func (m *maker) container(t Type, depth int) {
	key, elem, n := makerTypes[int(m.next())%7], makerTypes[int(m.next())%len(makerTypes)], int(m.next()%20)
	if depth > 5 {
		elem = Byte
	}
	brackets := "[]"
	if t == Map {
		brackets = "{}"
		m.w.Map(key, elem, n)
	} else {
		m.w.List(elem, n)
	}
	m.note("%s", brackets[:1])
	for i := range n {
		if i > 0 {
			m.note(" ")
		}
		if t == Map {
			m.value(key, depth+1)
			m.note("=")
		}
		m.value(elem, depth+1)
	}
	m.note("%s", brackets[1:])
}
