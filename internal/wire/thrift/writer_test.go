package thrift

import (
	"bytes"
	"fmt"
	"math"
	"strings"
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
		w.Field(Struct, 12) // the ids that were taken back do not count
		w.StructBegin()
		w.Field(Set, 1)
		w.List(Bool, 1)
		w.Bool(true) // nor does the boolean field
		w.StructEnd()
		w.Field(String, 14)
		w.String("sorry")
		w.BoolField(15, true)
		w.StructEnd()
		w.MessageEnd()

		before := w.Mark()
		w.Message("third", Reply, 3)
		w.StructBegin()
		w.Field(Struct, 1)
		w.StructBegin()
		w.Truncate(before)
		(&AppException{Code: 6, Message: "x"}).Write(w, "third", 3)
		if len(w.ids) != 0 {
			t.Errorf("%d structs are open", len(w.ids))
		}
		readAll(t, w, `reply first 1 {}`, `reply second 2 {5:i32 5 12:struct{1:set[true]} 14:string "sorry" 15:bool true}`,
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
	w.StructBegin()
	w.buf = append(w.buf, make([]byte, 1000)...)
	had := cap(w.buf)
	w.Reset(Binary, false)
	if cap(w.buf) != had || w.Len() != 0 || len(w.ids) != 0 {
		t.Errorf("capacity %d of %d, length %d, %d structs open", cap(w.buf), had, w.Len(), len(w.ids))
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

// TestFieldIDs: any order of ids, whatever the distance between two.
func TestFieldIDs(t *testing.T) {
	ids := []int16{1, 1, 16, 32, 31, 46, 62, -1, 0, 15, math.MaxInt16, math.MinInt16, math.MinInt16 + 15, 5}
	everyWay(t, func(t *testing.T, w *Writer) {
		w.Message("m", Call, 1)
		w.StructBegin()
		want := "call m 1 {"
		for i, id := range ids {
			w.Field(Byte, id)
			w.Byte(int8(i))
			w.BoolField(id, i%2 == 0)
			want += fmt.Sprintf("%d:byte %d %d:bool %v ", id, i, id, i%2 == 0)
		}
		w.StructEnd()
		w.MessageEnd()
		readAll(t, w, strings.TrimSpace(want)+"}")
	})
}

// TestNumbers: the ends of every range, and where an encoding changes its length.
func TestNumbers(t *testing.T) {
	numbers := []int64{0, 1, -1, 63, 64, -64, -65, 127, 128, -128, -129, 8191, 8192, -8192, -8193, math.MaxInt16, math.MinInt16,
		1 << 20, -1 << 20, 1<<27 - 1, 1 << 27, -1 << 27, math.MaxInt32, math.MinInt32, 1 << 40, -1 << 40, math.MaxInt64, math.MinInt64}
	everyWay(t, func(t *testing.T, w *Writer) {
		w.Message("m", Call, math.MinInt32)
		w.StructBegin()
		for _, n := range numbers {
			w.Field(Byte, 1)
			w.Byte(int8(n))
			w.Field(I16, 2)
			w.I16(int16(n))
			w.Field(I32, 3)
			w.I32(int32(n))
			w.Field(I64, 4)
			w.I64(n)
			w.Field(Double, 5)
			w.Double(float64(n) / 3)
		}
		w.StructEnd()
		w.MessageEnd()
		r := NewReader(bytes.NewReader(w.Bytes()), Limits{})
		if h, err := r.Next(); err != nil || h.Seq != math.MinInt32 {
			t.Fatal(h, err)
		}
		r.StructBegin()
		for _, n := range numbers {
			r.Field()
			b := r.Byte()
			r.Field()
			i16 := r.I16()
			r.Field()
			i32 := r.I32()
			r.Field()
			i64 := r.I64()
			r.Field()
			d := r.Double()
			if b != int8(n) || i16 != int16(n) || i32 != int32(n) || i64 != n || d != float64(n)/3 {
				t.Errorf("%d: %d %d %d %d %v", n, b, i16, i32, i64, d)
			}
		}
		if typ, _ := r.Field(); typ != Stop || r.Err() != nil {
			t.Errorf("%v, %v", typ, r.Err())
		}
	})
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
