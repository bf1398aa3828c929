package thrift

import (
	"bytes"
	"io"
	"testing"
)

// writeBatch writes what a client sends to store 300 records of 1 KB.
func writeBatch(w *Writer, value []byte) {
	w.Message("mutateRows", Call, 1)
	w.StructBegin()
	w.Field(String, 1)
	w.String("table")
	w.Field(List, 2)
	w.List(Struct, 300)
	for range 300 {
		w.StructBegin()
		w.Field(String, 1)
		w.String("RK_12345678901234567890_1234567890123456789")
		w.Field(List, 2)
		w.List(Struct, 3)
		for range 3 {
			w.StructBegin()
			w.BoolField(1, false)
			w.Field(String, 2)
			w.String("f1:1")
			w.Field(String, 3)
			w.Binary(value)
			w.BoolField(4, true)
			w.StructEnd()
		}
		w.StructEnd()
	}
	w.StructEnd()
	w.MessageEnd()
}

// readBatch reads it field by field; it returns the bytes of all values.
func readBatch(r *Reader) int {
	size := 0
	r.StructBegin()
	for t, id := r.Field(); t != Stop; t, id = r.Field() {
		if id != 2 {
			r.Skip(t)
			continue
		}
		for _, n := r.List(); n > 0 && r.Err() == nil; n-- {
			r.StructBegin()
			for t, id := r.Field(); t != Stop; t, id = r.Field() {
				if id == 1 {
					size += len(r.Binary())
					continue
				}
				for _, n := r.List(); n > 0 && r.Err() == nil; n-- {
					r.StructBegin()
					for t, _ := r.Field(); t != Stop; t, _ = r.Field() {
						if t == Bool {
							r.Bool()
						} else {
							size += len(r.Binary())
						}
					}
				}
			}
		}
	}
	return size
}

// endless repeats a message, as much of it as a socket gives at a time.
type endless struct {
	b  []byte
	at int
}

func (e *endless) Read(b []byte) (int, error) {
	if e.at == len(e.b) {
		e.at = 0
	}
	n := copy(b, e.b[e.at:])
	e.at += n
	return n, nil
}

func BenchmarkWriteBatch(b *testing.B) {
	for _, p := range []Protocol{Binary, Compact} {
		b.Run(p.String(), func(b *testing.B) {
			var w Writer
			value := make([]byte, 331)
			writeBatch(&w, value)
			b.SetBytes(int64(w.Len()))
			b.ReportAllocs()
			for b.Loop() {
				w.Reset(p, true)
				writeBatch(&w, value)
			}
		})
	}
}

func BenchmarkReadBatch(b *testing.B) {
	for _, p := range []Protocol{Binary, Compact} {
		for _, framed := range []bool{false, true} {
			name := p.String()
			if framed {
				name += "/framed"
			}
			b.Run(name, func(b *testing.B) {
				var w Writer
				w.Reset(p, framed)
				writeBatch(&w, make([]byte, 331))
				r := NewReader(&endless{b: w.Bytes()}, Limits{Pool: new(Pool)})
				b.SetBytes(int64(w.Len()))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := r.Next(); err != nil {
						b.Fatal(err)
					}
					if n := readBatch(r); r.Err() != nil || n < 300000 {
						b.Fatal(n, r.Err())
					}
				}
			})
		}
	}
}

func BenchmarkSkipBatch(b *testing.B) {
	var w Writer
	writeBatch(&w, make([]byte, 331))
	r := NewReader(&endless{b: w.Bytes()}, Limits{Pool: new(Pool)})
	b.SetBytes(int64(w.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Next(); err != nil {
			b.Fatal(err)
		}
		if r.Skip(Struct); r.Err() != nil {
			b.Fatal(r.Err())
		}
	}
}

func BenchmarkSmallCalls(b *testing.B) {
	var w Writer
	for range 100 {
		writeCall(&w)
	}
	r := NewReader(&endless{b: bytes.Clone(w.Bytes())}, Limits{Pool: new(Pool)})
	b.ReportAllocs()
	for b.Loop() {
		h, err := r.Next()
		if err != nil {
			b.Fatal(err)
		}
		if r.Skip(Struct); r.Err() != nil {
			b.Fatal(r.Err())
		}
		w.Reset(h.Protocol, h.Framed)
		writeCall(&w)
		_, _ = io.Discard.Write(w.Bytes())
	}
}
