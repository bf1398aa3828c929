package thrift

import (
	"bytes"
	"fmt"
	"testing"
)

// everyWay runs f for both protocols, framed and not.
func everyWay(t *testing.T, f func(t *testing.T, w *Writer)) {
	ran := 0
	for _, p := range []Protocol{Binary, Compact} {
		for _, framed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s framed=%v", p, framed), func(t *testing.T) {
				var w Writer
				w.Reset(p, framed)
				f(t, &w)
				ran++
			})
		}
	}
	if ran != 4 {
		t.Errorf("%d ways ran", ran)
	}
}

func readAll(t *testing.T, w *Writer, want ...string) {
	t.Helper()
	r := NewReader(bytes.NewReader(w.Bytes()), Limits{})
	for i, text := range want {
		if got, err := read(r); got != text || err != nil {
			t.Errorf("message %d: %v\n got %s\nwant %s", i, err, got, text)
		}
	}
	if r.Buffered() != 0 || r.Err() != nil {
		t.Errorf("%d bytes are left, %v", r.Buffered(), r.Err())
	}
}

// TestTruncate: a half-written answer is replaced by another one.
func TestTruncate(t *testing.T) {
	everyWay(t, func(t *testing.T, w *Writer) {
		w.Message("first", Reply, 1)
		w.StructBegin()
		w.StructEnd()
		w.MessageEnd()
		start := w.Mark()
		if w.Len() != start.at {
			t.Errorf("length %d, mark %d", w.Len(), start.at)
		}
		w.Message("second", Reply, 2)
		w.StructBegin()
		w.Field(I32, 5)
		w.I32(5)
		inside := w.Mark()
		w.Field(List, 9)
		w.OpenList(Struct)
		w.StructBegin()
		w.Field(I32, 7)
		w.Field(Bool, 8) // its value never comes

		w.Truncate(inside)
		w.Field(Struct, 6)
		w.StructBegin()
		w.Field(String, 1)
		w.String("sorry")
		w.StructEnd()
		w.BoolField(7, true)
		w.StructEnd()
		w.MessageEnd()

		before := w.Mark()
		w.Message("third", Reply, 3)
		w.StructBegin()
		w.Field(Struct, 1)
		w.StructBegin()
		w.Truncate(before)
		(&AppException{Code: 6, Message: "x"}).Write(w, "third", 3)
		readAll(t, w, `reply first 1 {}`, `reply second 2 {5:i32 5 6:struct{1:string "sorry"} 7:bool true}`,
			`exception third 3 {1:string "x" 2:i32 6}`)
	})
}

// TestOpenList: the number of elements is filled in at the end.
func TestOpenList(t *testing.T) {
	for _, n := range []int{0, 1, 14, 15, 127, 128, 16383, 16384, 3000000} {
		everyWay(t, func(t *testing.T, w *Writer) {
			w.Message("m", Reply, 1)
			w.StructBegin()
			w.Field(List, 1)
			m := w.OpenList(Byte)
			for range n {
				w.Byte(7)
			}
			w.CloseList(m, n)
			w.Field(I32, 2)
			w.I32(9)
			w.StructEnd()
			w.MessageEnd()
			r := NewReader(bytes.NewReader(w.Bytes()), Limits{})
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
			r.StructBegin()
			r.Field()
			elem, got := r.List()
			for range got {
				r.Skip(elem)
			}
			if typ, id := r.Field(); got != n || typ != I32 || id != 2 || r.I32() != 9 || r.Err() != nil {
				t.Errorf("%d elements: %d came, then %v %d, %v", n, got, typ, id, r.Err())
			}
		})
	}
}

// TestOpenListGolden: the number is written in the long form.
func TestOpenListGolden(t *testing.T) {
	for p, want := range map[Protocol]string{Binary: "06 0000000f", Compact: "f4 8f 80 80 80 00"} {
		var w Writer
		w.Reset(p, false)
		w.CloseList(w.OpenList(I16), 15)
		if !bytes.Equal(w.Bytes(), unhex(t, want)) {
			t.Errorf("%s: % x, want %s", p, w.Bytes(), want)
		}
	}
}

// TestOpenListHoldsAnyNumber: also what no test can write.
func TestOpenListHoldsAnyNumber(t *testing.T) {
	for _, n := range []int{1<<31 - 1, 1 << 28, 1<<28 - 1} {
		for _, p := range []Protocol{Binary, Compact} {
			var w Writer
			w.Reset(p, false)
			w.CloseList(w.OpenList(Byte), n)
			r := NewReader(bytes.NewReader(w.Bytes()), Limits{})
			r.compact = p == Compact
			r.setLimit(1<<31 + 10)
			if elem, got := r.List(); elem != Byte || got != n {
				t.Errorf("%s: %d %v, want %d", p, got, elem, n)
			}
		}
	}
}

func TestBinaryN(t *testing.T) {
	everyWay(t, func(t *testing.T, w *Writer) {
		w.Message("m", Call, 1)
		w.StructBegin()
		for id := range int16(200) {
			w.Field(String, id+1)
			b := w.BinaryN(int(id))
			if len(b) != int(id) || cap(b) != len(b) {
				t.Fatalf("%d bytes of %d, want %d", len(b), cap(b), id)
			}
			for i := range b {
				b[i] = byte(id)
			}
		}
		w.StructEnd()
		w.MessageEnd()
		r := NewReader(bytes.NewReader(w.Bytes()), Limits{})
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		r.StructBegin()
		for id := range int16(200) {
			r.Field()
			if got := r.Binary(); !bytes.Equal(got, bytes.Repeat([]byte{byte(id)}, int(id))) {
				t.Errorf("field %d: %x, %v", id+1, got, r.Err())
			}
		}
	})
}

// TestResetKeepsMemory: and nothing else.
func TestResetKeepsMemory(t *testing.T) {
	var w Writer
	w.Reset(Compact, true)
	w.Message("m", Call, 1)
	w.StructBegin()
	w.Field(I32, 5)
	w.Field(Bool, 6)
	w.buf = append(w.buf, make([]byte, 1000)...)
	had := cap(w.buf)
	w.Reset(Binary, false)
	if cap(w.buf) != had || w.Len() != 0 {
		t.Errorf("capacity %d of %d, length %d", cap(w.buf), had, w.Len())
	}
	w.Message("m", Call, 1)
	w.StructBegin()
	w.StructEnd()
	w.MessageEnd()
	w.Reset(Compact, false)
	w.Message("m", Call, 1)
	w.StructBegin()
	w.BoolField(1, true)
	w.StructEnd()
	w.MessageEnd()
	readAll(t, &w, `call m 1 {1:bool true}`)
}

func TestNames(t *testing.T) {
	for value, want := range map[fmt.Stringer]string{
		Binary: "binary", Compact: "compact", Protocol(7): "Protocol(7)",
		Stop: "stop", Bool: "bool", Byte: "byte", Double: "double", I16: "i16", I32: "i32", I64: "i64", String: "string",
		Struct: "struct", Map: "map", Set: "set", List: "list", Type(5): "type 5",
		Call: "call", Reply: "reply", Exception: "exception", Oneway: "oneway", MessageType(0): "message type 0",
	} {
		if got := value.String(); got != want {
			t.Errorf("%#v: %q, want %q", value, got, want)
		}
	}
}
