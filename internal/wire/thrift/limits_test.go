package thrift

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
)

// TestAnnouncedSizes: nothing is believed that cannot be true.
func TestAnnouncedSizes(t *testing.T) {
	const binary, compact = "80010001 00000001 6d 00000005", "82 21 05 01 6d"
	f := func(name, bytesHex string, want error) {
		t.Helper()
		grown := 0
		r := NewReader(bytes.NewReader(unhex(t, bytesHex)), Limits{MaxMessage: 1 << 16, Grow: func(n int) error { grown += n; return nil }})
		_, err := read(r)
		if !errors.Is(err, want) {
			t.Errorf("%s: error %v, want %v", name, err, want)
		}
		if grown != 0 {
			t.Errorf("%s: grew by %d", name, grown)
		}
		skipper := NewReader(bytes.NewReader(unhex(t, bytesHex)), Limits{MaxMessage: 1 << 16})
		if _, err := skipper.Next(); err == nil {
			skipper.Skip(Struct)
			if !errors.Is(skipper.Err(), want) {
				t.Errorf("%s skipped: error %v, want %v", name, skipper.Err(), want)
			}
		}
	}
	f("string", binary+"0b 0001 7fffffff", ErrTooLarge)
	f("string of negative size", binary+"0b 0001 ffffffff", ErrProtocol)
	f("string, compact", compact+"18 ffffffff07", ErrTooLarge)
	f("string of negative size, compact", compact+"18 ffffffff0f", ErrProtocol)
	f("list of i64", binary+"0f 0001 0a 00002001", ErrTooLarge) // 8193 * 8 > 65536
	f("list of i64 that just may be", binary+"0f 0001 0a 00001ff0", io.ErrUnexpectedEOF)
	f("list of structs", binary+"0f 0001 0c 00010000", ErrTooLarge)
	f("list of negative size", binary+"0f 0001 0c 80000000", ErrProtocol)
	f("list of nothing known", binary+"0f 0001 05 00000001", ErrProtocol)
	f("list of stops", binary+"0f 0001 00 00000001", ErrProtocol)
	f("list of structs, compact", compact+"19 fc ffff04", ErrTooLarge)
	f("list of doubles, compact", compact+"19 f7 ff7f", ErrTooLarge) // 16383 * 8
	f("list of nothing known, compact", compact+"19 1d", ErrProtocol)
	f("set", binary+"0e 0001 0b 00004000", ErrTooLarge)
	f("map", binary+"0d 0001 0b 0b 00002000", ErrTooLarge)
	f("map of negative size", binary+"0d 0001 0b 0b ffffffff", ErrProtocol)
	f("map of nothing known", binary+"0d 0001 01 0b 00000001", ErrProtocol)
	f("map, compact", compact+"1b ffff03 88", ErrTooLarge)
	f("map to nothing known", binary+"0d 0001 0b 05 00000001", ErrProtocol)
	f("map to nothing known, compact", compact+"1b 01 8d", ErrProtocol)
	f("map of nothing known, compact", compact+"1b 01 08", ErrProtocol)
	f("field of no type", binary+"05 0001", ErrProtocol)
	f("field of type 16", binary+"10 0001", ErrProtocol)
	f("field of no type, compact", compact+"1d", ErrProtocol)
	f("stop with a delta, compact", compact+"10", ErrProtocol)
	f("i64 of eleven bytes, compact", compact+"16 ffffffffffffffffffff01", ErrProtocol)
	f("i64 beyond 64 bits, compact", compact+"16 ffffffffffffffffff02", ErrProtocol)
	f("framed string", "00000020"+binary+"0b 0001 00000020", ErrProtocol)
	f("framed list", "00000020"+binary+"0f 0001 06 00000020", ErrProtocol)
}

// TestEmptyContainersMayHaveAnyType: writers put whatever there.
func TestEmptyContainersMayHaveAnyType(t *testing.T) {
	for text, want := range map[string]string{
		"80010001 00000001 6d 00000005 0f 0001 00 00000000 00":    `call m 5 {1:list[]}`,
		"80010001 00000001 6d 00000005 0d 0001 00 07 00000000 00": `call m 5 {1:map{}}`,
		"82 21 05 01 6d 19 00 00":                                 `call m 5 {1:list[]}`,
		"82 21 05 01 6d 1b 00 00":                                 `call m 5 {1:map{}}`,
		"82 21 05 01 6d 19 fc 8080808000 00":                      `call m 5 {1:list[]}`, // a number longer than it need be
	} {
		if got, err := read(NewReader(bytes.NewReader(unhex(t, text)), Limits{})); got != want || err != nil {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}

// TestDepth: a message's struct is the first level. Lists count when they are
// skipped only: a caller that reads them knows how deep it goes.
func TestDepth(t *testing.T) {
	const limit = 10
	structs := func(w *Writer) { w.Field(Struct, 1); w.StructBegin() }
	lists := func(w *Writer) { w.Field(List, 1); w.List(Struct, 1); w.StructBegin() }
	f := func(open func(w *Writer), levels int, readErr, skipErr error) {
		t.Helper()
		for _, p := range []Protocol{Binary, Compact} {
			var w Writer
			w.Reset(p, false)
			w.Message("m", Call, 1)
			w.StructBegin()
			for range levels - 1 {
				open(&w)
			}
			for range levels {
				w.StructEnd()
			}
			r := NewReader(bytes.NewReader(w.Bytes()), Limits{MaxDepth: limit})
			if _, err := read(r); err != readErr {
				t.Errorf("%s, %d levels read: %v, want %v", p, levels, err, readErr)
			}
			r = NewReader(bytes.NewReader(w.Bytes()), Limits{MaxDepth: limit})
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
			if r.Skip(Struct); r.Err() != skipErr {
				t.Errorf("%s, %d levels skipped: %v, want %v", p, levels, r.Err(), skipErr)
			}
		}
	}
	f(structs, limit, nil, nil)
	f(structs, limit+1, ErrDepth, ErrDepth)
	f(lists, limit/2, nil, nil)
	f(lists, limit/2+1, nil, ErrDepth)
	f(lists, limit+1, ErrDepth, ErrDepth)
}

// TestSkipNestedLists: lists in lists are no way around the limit.
func TestSkipNestedLists(t *testing.T) {
	const n = 100000
	for _, message := range [][]byte{
		append(unhex(t, "80010001 00000001 6d 00000005 0f 0001"), bytes.Repeat(unhex(t, "0f 00000001"), n)...),
		append(unhex(t, "82 21 05 01 6d 19"), bytes.Repeat([]byte{0x19}, n)...),
		append(unhex(t, "82 21 05 01 6d"), bytes.Repeat([]byte{0x1c}, n)...),
		append(unhex(t, "82 21 05 01 6d 1b"), bytes.Repeat(unhex(t, "01 bb"), n)...),
	} {
		r := NewReader(bytes.NewReader(message), Limits{})
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		r.Skip(Struct)
		if !errors.Is(r.Err(), ErrDepth) {
			t.Errorf("%x...: %v", message[:16], r.Err())
		}
	}
}

// TestGrowsByWhatArrives: a long value is announced and hardly any of it comes.
func TestGrowsByWhatArrives(t *testing.T) {
	for _, arrived := range []int{10, 5000, 100 << 10, 700 << 10, 5 << 20} {
		message := append(unhex(t, "80010001 00000001 6d 00000005 0b 0001 03f00000"), make([]byte, arrived)...)
		held, peak := 0, 0
		r := NewReader(bytes.NewReader(message), Limits{Grow: func(n int) error { held += n; peak = max(peak, held); return nil }})
		if _, err := read(r); err != io.ErrUnexpectedEOF {
			t.Errorf("%d bytes: %v", arrived, err)
		}
		// A piece twice as large as the last, and those before.
		if peak > 4*len(message) {
			t.Errorf("%d bytes arrived: held %d", arrived, peak)
		}
		if r.Release(); held != 0 {
			t.Errorf("%d bytes: %d not given back", arrived, held)
		}
	}
}

func TestBudget(t *testing.T) {
	refused := errors.New("budget is exhausted")
	var w Writer
	w.Message("m", Call, 1)
	w.StructBegin()
	w.Field(String, 1)
	w.Binary(make([]byte, 100<<10))
	w.StructEnd()
	left := 50 << 10
	r := NewReader(bytes.NewReader(w.Bytes()), Limits{Grow: func(n int) error {
		if n > left {
			return refused
		}
		left -= n
		return nil
	}})
	if _, err := read(r); err != refused {
		t.Errorf("error %v", err)
	}
	if r.Release(); left != 50<<10 {
		t.Errorf("%d left", left)
	}

	// Charge counts what the caller allocates, until the next message.
	r = NewReader(bytes.NewReader(bytes.Repeat(unhex(t, "82 21 05 01 6d 00"), 3)), Limits{Grow: func(n int) error {
		if n > left {
			return refused
		}
		left -= n
		return nil
	}})
	if _, err := read(r); err != nil {
		t.Fatal(err)
	}
	if err := r.Charge(40 << 10); err != nil || left != 10<<10 {
		t.Errorf("charge: %v, %d left", err, left)
	}
	for range 2 {
		if _, err := read(r); err != nil || left != 50<<10 {
			t.Errorf("next: %v, %d left", err, left)
		}
	}
	if err := r.Charge(51 << 10); err != refused || r.Err() != refused {
		t.Errorf("charge beyond: %v, %v", err, r.Err())
	}
}

func TestMaxMessage(t *testing.T) {
	for _, framed := range []bool{false, true} {
		for _, p := range []Protocol{Binary, Compact} {
			var w Writer
			w.Reset(p, framed)
			w.Message("m", Call, 1)
			w.StructBegin()
			w.Field(String, 1)
			w.Binary(make([]byte, 30000))
			w.Field(String, 2)
			w.Binary(make([]byte, 30000))
			w.StructEnd()
			w.MessageEnd()
			size := w.Len()
			if framed {
				size -= 4
			}
			w.buf = append(w.buf, w.buf...) // each message has the limit of its own
			for _, less := range []int{0, 1} {
				r := NewReader(bytes.NewReader(w.Bytes()), Limits{MaxMessage: size - less})
				_, err := read(r)
				if err == nil {
					_, err = read(r)
				}
				if (less == 0) != (err == nil) || less == 1 && !errors.Is(err, ErrTooLarge) {
					t.Errorf("%v framed=%v, %d under the size: %v", p, framed, less, err)
				}
			}
			// Skipping does not lift the limit.
			r := NewReader(bytes.NewReader(w.Bytes()), Limits{MaxMessage: size - 1})
			if _, err := r.Next(); err == nil {
				r.Skip(Struct)
			}
			if !errors.Is(r.Err(), ErrTooLarge) {
				t.Errorf("%v framed=%v skipped: %v", p, framed, r.Err())
			}
		}
	}
}

// TestSkippedStringsAreNotKept: reading over 40 MiB takes no memory to speak of.
func TestSkippedStringsAreNotKept(t *testing.T) {
	var w Writer
	w.Message("m", Call, 1)
	w.StructBegin()
	w.Field(String, 1)
	w.Binary(make([]byte, 40<<20))
	w.Field(String, 2)
	w.String("kept")
	w.StructEnd()
	held, peak := 0, 0
	r := NewReader(&pieces{b: w.Bytes(), rnd: rand.New(rand.NewPCG(1, 1))}, Limits{Grow: func(n int) error { held += n; peak = max(peak, held); return nil }})
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	r.StructBegin()
	if typ, _ := r.Field(); typ != String {
		t.Fatalf("%v", typ)
	}
	r.Skip(String)
	r.Field()
	if got := string(r.Binary()); got != "kept" || r.Err() != nil {
		t.Errorf("%q, %v", got, r.Err())
	}
	if peak > largestPiece {
		t.Errorf("held %d bytes", peak)
	}
}

// TestManyValuesSideBySide are not deep.
func TestManyValuesSideBySide(t *testing.T) {
	for _, p := range []Protocol{Binary, Compact} {
		var w Writer
		w.Reset(p, false)
		w.Message("m", Call, 1)
		w.StructBegin()
		for range 100 {
			w.Field(List, 1)
			w.List(Struct, 1)
			w.StructBegin()
			w.Field(Map, 2)
			w.Map(String, String, 1)
			w.String("a")
			w.String("b")
			w.StructEnd()
		}
		w.StructEnd()
		for name, f := range map[string]func(r *Reader){"read": func(r *Reader) { dump(r, Header{}) }, "skipped": func(r *Reader) { r.Skip(Struct) }} {
			r := NewReader(bytes.NewReader(w.Bytes()), Limits{MaxDepth: 4})
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
			if f(r); r.Err() != nil || r.Buffered() != 0 {
				t.Errorf("%s %s: %v, %d bytes left", p, name, r.Err(), r.Buffered())
			}
		}
	}
}

// writeLeast writes the shortest value of a type.
func writeLeast(w *Writer, t Type) {
	switch t {
	case Bool:
		w.Bool(false)
	case Byte:
		w.Byte(0)
	case I16:
		w.I16(0)
	case I32:
		w.I32(0)
	case I64:
		w.I64(0)
	case Double:
		w.Double(0)
	case String:
		w.String("")
	case Struct:
		w.StructBegin()
		w.StructEnd()
	case Map:
		w.Map(Byte, Byte, 0)
	case Set, List:
		w.List(Byte, 0)
	}
}

// TestAsManyElementsAsFit: a number of the shortest elements that just fit is
// believed, one more is not; and what is skipped ends where it ends.
func TestAsManyElementsAsFit(t *testing.T) {
	const n = 500
	ran := 0
	for _, p := range []Protocol{Binary, Compact} {
		for _, key := range append([]Type{Stop}, makerTypes...) { // Stop: a list
			for _, elem := range makerTypes {
				var w Writer
				w.Reset(p, false)
				write := func(announced int) {
					w.Message("m", Call, 1)
					w.StructBegin()
					if key == Stop {
						w.Field(List, 1)
						w.List(elem, announced)
					} else {
						w.Field(Map, 1)
						w.Map(key, elem, announced)
					}
					for range n {
						writeLeast(&w, key)
						writeLeast(&w, elem)
					}
				}
				write(n)
				fits := bytes.Clone(w.Bytes())
				whole := append(bytes.Clone(fits), 0)
				f := func(b []byte, limit int, want error) {
					t.Helper()
					r := NewReader(bytes.NewReader(b), Limits{MaxMessage: limit})
					if _, err := r.Next(); err != nil {
						t.Fatal(err)
					}
					if r.Skip(Struct); !errors.Is(r.Err(), want) || want == nil && r.Buffered() != 0 {
						t.Errorf("%s, %s to %s, limit %d of %d: %v, want %v; %d bytes left", p, key, elem, limit, len(b), r.Err(), want, r.Buffered())
					}
					ran++
				}
				f(whole, len(whole), nil)
				f(fits, len(fits), ErrTooLarge) // for the stop
				w.Reset(p, false)
				write(n + 1)
				if announced := w.Bytes(); len(announced) == len(fits) {
					// Refused at once, before the elements are read.
					short := announced[:len(announced)-n]
					f(short, len(announced), ErrTooLarge)
				}
			}
		}
	}
	if ran != 2*12*11*3 {
		t.Errorf("%d cases ran", ran)
	}
}

// TestBeginningOfTheNextMessage: it moves to the first piece, so that a large
// one is given back.
func TestBeginningOfTheNextMessage(t *testing.T) {
	var w Writer
	w.Message("m", Call, 1)
	w.StructBegin()
	w.Field(String, 1)
	w.Binary(make([]byte, 100000))
	w.StructEnd()
	size := w.Len()
	writeCall(&w)
	writeCall(&w)
	held := 0
	r := NewReader(bytes.NewReader(w.Bytes()), Limits{Grow: func(n int) error { held += n; return nil }})
	if h, err := r.Next(); err != nil || string(h.Name) != "m" {
		t.Fatal(err)
	}
	if r.Skip(Struct); held == 0 && size > 2*smallestPiece {
		t.Error("the large message took nothing")
	}
	for range 2 {
		if got, err := read(r); got != `call getRow 7 {1:string "t\xff" 3:map{}}` || err != nil {
			t.Errorf("%s, %v", got, err)
		}
		if held != 0 {
			t.Errorf("%d bytes are held for the next message", held)
		}
	}
}

// TestIdleConnectionsHoldLittle: after a large message, and with nothing more
// there, a Reader holds its first piece only.
func TestIdleConnectionsHoldLittle(t *testing.T) {
	var w Writer
	w.Message("m", Call, 1)
	w.StructBegin()
	w.Field(String, 1)
	w.Binary(make([]byte, 16<<20))
	w.StructEnd()
	message := append([]byte{}, w.Bytes()...)
	held := 0
	r := NewReader(bytes.NewReader(message), Limits{Grow: func(n int) error { held += n; return nil }})
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	r.StructBegin()
	r.Field()
	if v := r.Binary(); len(v) != 16<<20 {
		t.Fatalf("%d bytes, %v", len(v), r.Err())
	}
	r.Field()
	if held < 16<<20 {
		t.Errorf("held %d during the message", held)
	}
	_, _ = r.Next() // io.EOF; a connection would wait here
	if held != 0 || cap(r.buf) != smallestPiece {
		t.Errorf("held %d and a piece of %d when idle", held, cap(r.buf))
	}
	w.Reset(Binary, false)
	if cap(w.buf) > keepWriter {
		t.Errorf("writer keeps %d", cap(w.buf))
	}
	runtime.KeepAlive(r)
}
