package thrift

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// read reads one message as text, for tests that compare texts.
func read(r *Reader) (string, error) {
	h, err := r.Next()
	if err != nil {
		return "", err
	}
	s := dump(r, h)
	return s, r.Err()
}

func TestEveryTruncatedPrefix(t *testing.T) {
	ran := 0
	for _, g := range goldens {
		whole := unhex(t, g.hex)
		for n := range whole {
			for _, src := range []io.Reader{bytes.NewReader(whole[:n]), iotest.OneByteReader(bytes.NewReader(whole[:n])), iotest.DataErrReader(bytes.NewReader(whole[:n]))} {
				want := io.ErrUnexpectedEOF
				if n == 0 {
					want = io.EOF
				}
				if _, err := read(NewReader(src, Limits{})); err != want {
					t.Errorf("%s, %d of %d bytes: error %v, want %v", g.name, n, len(whole), err, want)
				}
				ran++
			}
		}
	}
	if ran < 3*300 {
		t.Errorf("%d prefixes ran", ran)
	}
}

func TestBytesMayComeOneByOne(t *testing.T) {
	for _, g := range goldens {
		whole := unhex(t, g.hex)
		want, err := read(NewReader(bytes.NewReader(whole), Limits{}))
		if err != nil {
			t.Fatalf("%s: %v", g.name, err)
		}
		got, err := read(NewReader(iotest.OneByteReader(bytes.NewReader(whole)), Limits{}))
		if got != want || err != nil {
			t.Errorf("%s: %s, %v", g.name, got, err)
		}
	}
}

// TestDetect: transport and protocol are told from the first bytes; an old-style
// message has no version.
func TestDetect(t *testing.T) {
	const old = "00000001 6d 01 00000005 00"
	f := func(bytesHex, want string) {
		t.Helper()
		r := NewReader(bytes.NewReader(unhex(t, bytesHex)), Limits{MaxMessage: 1 << 20})
		h, err := r.Next()
		got := fmt.Sprintf("%s framed=%v %s %q %d", h.Protocol, h.Framed, h.Type, h.Name, h.Seq)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", bytesHex, got, want)
		}
	}
	f("80010001 00000001 6d 00000005 00", `binary framed=false call "m" 5`)
	f("80010004 00000000 00000005 00", `binary framed=false oneway "" 5`)
	f(old, `binary framed=false call "m" 5`)
	f("00000006 676574526f77 01 00000007 00", `binary framed=false call "getRow" 7`)
	f("0000000b"+old, `binary framed=true call "m" 5`)
	f("0000000e 80010001 00000001 6d 00000005 00", `binary framed=true call "m" 5`)
	f("82 21 05 01 6d 00", `compact framed=false call "m" 5`)
	f("82 81 ffffffff0f 00 00", `compact framed=false oneway "" -1`)
	f("00000006 82 21 05 01 6d 00", `compact framed=true call "m" 5`)
	f("00000000 01 00000000 00", `binary framed=false call "" 0`)

	f("00000000 00 00000000 00", `thrift: expected a call, reply, exception or oneway, got message type 0`)
	f("474554202f20485454502f312e300d0a", `thrift: expected a Thrift message, got 47 45 54 20 2f 20 48 54 54 50 2f 31 2e 30 0d 0a`)
	f("47455420", `thrift: expected a Thrift message, got "GET "`)
	f("16030100", `thrift: frame of 369295616 exceeds the limit: 1048576 are left`)
	f("ffffffff", `thrift: expected a Thrift message, got ff ff ff ff`)
	f("7fffffff", `thrift: frame of 2147483647 exceeds the limit: 1048576 are left`)
	f("0000000f 81020304 05", `thrift: expected a Thrift message, framed or not, got 00 00 00 0f 81 02 03 04 05`)
	f("00000f00 41414141 41", `thrift: expected a Thrift message, framed or not, got 00 00 0f 00 41 41 41 41 41`)
	f("80020001 00000001", `thrift: expected a binary message (8001), got 80 02 00 01`)
	f("80010009 00000001 6d 00000005 00", `thrift: expected a call, reply, exception or oneway, got message type 9`)
	f("80010001 7fffffff", `thrift: method name of 2147483647 exceeds the limit: 1024 are left`)
	f("80010001 ffffffff", `thrift: expected the length of a method name, got -1`)
	f("82 22 05 01 6d 00", `thrift: expected a compact message (82, version 1), got 82 22 05 01`)
	f("82 e1 05 01 6d 00", `thrift: expected a call, reply, exception or oneway, got message type 7`)
	f("82 21 05 ff ff ff ff 07", `thrift: method name of 2147483647 exceeds the limit: 1024 are left`)
	f("82 21 ff ff ff ff 1f 00", `thrift: expected a number of 32 bits, got 8589934591`)
	f("82 21 ff ff ff ff ff ff", `thrift: expected a number of at most 5 bytes, got a longer one`)
	f("00000003 80 01 00 01", `thrift: expected a message header within the 3 bytes left of the frame, got 4`)
}

// TestSticks: what the first message was, all others must be.
func TestSticks(t *testing.T) {
	messages := map[string]string{
		"binary": "80010001 00000001 6d 00000005 00", "old": "00000001 6d 01 00000005 00", "compact": "82 21 05 01 6d 00",
		"framed binary": "0000000e 80010001 00000001 6d 00000005 00", "framed old": "0000000b 00000001 6d 01 00000005 00",
		"framed compact": "00000006 82 21 05 01 6d 00",
	}
	together := map[string]bool{"binary old": true, "old binary": true, "framed binary framed old": true, "framed old framed binary": true}
	ran := 0
	for a, first := range messages {
		for b, second := range messages {
			r := NewReader(bytes.NewReader(unhex(t, first+second)), Limits{MaxMessage: 1 << 20})
			if _, err := read(r); err != nil {
				t.Errorf("%s: %v", a, err)
			}
			_, err := read(r)
			// A frame's length may look like that of an old-style message's name.
			if ok := a == b || together[a+" "+b]; ok != (err == nil) || err != nil && !errors.Is(err, ErrProtocol) && err != io.ErrUnexpectedEOF {
				t.Errorf("%s then %s: error %v", a, b, err)
			}
			ran++
		}
	}
	if ran != 36 {
		t.Errorf("%d pairs ran", ran)
	}
}

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

// TestValuesStay: what Binary returned stays where it is until the next message,
// however often memory grew meanwhile and however the bytes arrived.
func TestValuesStay(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	rounds := 60
	if testing.Short() {
		rounds = 12
	}
	for round := range rounds {
		var w Writer
		w.Reset(Protocol(round%2), round%4 > 1)
		var want [][][]byte
		for range 3 {
			var values [][]byte
			w.Message("m", Call, 1)
			w.StructBegin()
			w.Field(List, 1)
			mark := w.OpenList(String)
			for range rnd.IntN(400) {
				v := make([]byte, rnd.IntN([]int{3, 300, 5000, 100000}[rnd.IntN(4)]))
				for i := 0; i < len(v); i += 1 + i/4 {
					v[i] = byte(rnd.Uint32())
				}
				values = append(values, v)
				w.Binary(v)
			}
			w.CloseList(mark, len(values))
			w.StructEnd()
			w.MessageEnd()
			want = append(want, values)
		}
		held := 0
		limits := Limits{Grow: func(n int) error { held += n; return nil }}
		if round%3 > 0 {
			limits.Pool = new(Pool)
		}
		r := NewReader(&pieces{b: w.Bytes(), rnd: rnd}, limits)
		for m := range want {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
			r.StructBegin()
			r.Field()
			_, n := r.List()
			got := make([][]byte, 0, len(want[m]))
			for range n {
				v := r.Binary()
				if cap(v) != len(v) {
					t.Fatalf("a value of %d bytes has room for %d", len(v), cap(v))
				}
				got = append(got, v)
			}
			r.Field()
			if r.Err() != nil || !slices.EqualFunc(got, want[m], bytes.Equal) {
				t.Fatalf("round %d, message %d: values differ, %v", round, m, r.Err())
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("round %d: %v at the end", round, err)
		}
		if r.Release(); held != 0 {
			t.Errorf("round %d: %d bytes of the budget were not given back", round, held)
		}
	}
}

// pieces is a stream that arrives in pieces of random sizes.
type pieces struct {
	b   []byte
	rnd *rand.Rand
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.b) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), 1+p.rnd.IntN(70000))], p.b)
	p.b = p.b[n:]
	return n, nil
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

// TestALargeValueTakesItsSize: the pieces that held its head are given back.
func TestALargeValueTakesItsSize(t *testing.T) {
	for _, n := range []int{300 << 10, 512<<10 + 1, 1 << 20, 3<<20 + 5, 33 << 20, 34 << 20, 63 << 20} {
		var w Writer
		w.Message("m", Call, 1)
		w.StructBegin()
		w.Field(String, 1)
		w.Binary(bytes.Repeat([]byte{7}, 100))
		w.Field(String, 2)
		w.Binary(bytes.Repeat([]byte("0123456"), n/7))
		w.Field(String, 3)
		w.Binary(bytes.Repeat([]byte{8}, 10_000))
		w.StructEnd()
		held, peak := 0, 0
		limits := Limits{Pool: new(Pool), Grow: func(n int) error { held += n; peak = max(peak, held); return nil }}
		r := NewReader(&pieces{b: w.Bytes(), rnd: rand.New(rand.NewPCG(1, uint64(n)))}, limits)
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		r.StructBegin()
		var values [3][]byte
		for i := range values {
			r.Field()
			values[i] = r.Binary()
		}
		r.Field()
		intact := bytes.Count(values[0], []byte{7}) == 100 && bytes.Count(values[1], []byte("0123456")) == n/7 && bytes.Count(values[2], []byte{8}) == 10_000
		if r.Err() != nil || !intact {
			t.Errorf("%d bytes: intact: %v, %v", n, intact, r.Err())
		}
		if n > 2*largestPiece && (peak > n+n/2+largestPiece || held > n+2*largestPiece) {
			t.Errorf("%d bytes: held %d, %d while it came", n, held, peak)
		}
		if r.Release(); held != 0 {
			t.Errorf("%d bytes: %d not given back", n, held)
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

// TestFrameLeftovers: what a frame holds behind the message is skipped.
func TestFrameLeftovers(t *testing.T) {
	message := unhex(t, "80010001 00000001 6d 00000005 00")
	for _, junk := range []int{0, 1, 5000, 3 << 20} {
		frame := append([]byte{byte((len(message) + junk) >> 24), byte((len(message) + junk) >> 16), byte((len(message) + junk) >> 8), byte(len(message) + junk)}, message...)
		frame = append(frame, bytes.Repeat([]byte{0x55}, junk)...)
		r := NewReader(bytes.NewReader(append(frame, frame...)), Limits{})
		for i := range 2 {
			if got, err := read(r); got != "call m 5 {}" || err != nil {
				t.Errorf("%d bytes of junk, message %d: %s, %v", junk, i, got, err)
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("%d bytes of junk: %v at the end", junk, err)
		}
		// A caller may also leave before the end of the struct.
		r = NewReader(bytes.NewReader(append(frame, frame...)), Limits{})
		for i := range 2 {
			if h, err := r.Next(); err != nil || string(h.Name) != "m" {
				t.Errorf("%d bytes of junk, header %d: %v", junk, i, err)
			}
		}
	}
}

// TestPipelined: many small messages in one read, and what of them is buffered.
func TestPipelined(t *testing.T) {
	for _, g := range goldens {
		one := unhex(t, g.hex)
		want, _ := read(NewReader(bytes.NewReader(one), Limits{}))
		src := &counting{Reader: bytes.NewReader(bytes.Repeat(one, 1000))}
		r := NewReader(src, Limits{Grow: func(int) error { t.Errorf("%s: small messages need more than the first piece", g.name); return nil }})
		for i := range 1000 {
			if got, err := read(r); got != want || err != nil {
				t.Fatalf("%s, message %d: %s, %v", g.name, i, got, err)
			}
			// All that was received is either read or said to be there.
			if left := src.n - (i+1)*len(one); r.Buffered() != left {
				t.Fatalf("%s, message %d: %d buffered, want %d", g.name, i, r.Buffered(), left)
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("%s: %v at the end", g.name, err)
		}
	}
}

type counting struct {
	io.Reader
	n int
}

func (c *counting) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += n
	return n, err
}

// TestSourceErrors: errors of the source come through as they are, and stay.
func TestSourceErrors(t *testing.T) {
	broken := errors.New("broken")
	r := NewReader(io.MultiReader(bytes.NewReader(unhex(t, "80010001 0000")), iotest.ErrReader(broken)), Limits{})
	for range 2 {
		if _, err := r.Next(); err != broken {
			t.Errorf("error %v", err)
		}
	}
	r.StructBegin()
	if typ, id := r.Field(); typ != Stop || id != 0 {
		t.Errorf("field %v %v after an error", typ, id)
	}
	if _, n := r.List(); n != 0 || r.Binary() != nil || r.I64() != 0 || r.Bool() || r.Double() != 0 || r.I16() != 0 {
		t.Error("values after an error")
	}
	r.Skip(Struct)
	r.Skip(Type(99))
	if r.Err() != broken {
		t.Errorf("error %v", r.Err())
	}
	if _, err := NewReader(silent{}, Limits{}).Next(); err != io.ErrNoProgress {
		t.Errorf("silent source: %v", err)
	}
}

type silent struct{}

func (silent) Read([]byte) (int, error) { return 0, nil }

// TestNothingIsReadAfterAnError: not even what has arrived.
func TestNothingIsReadAfterAnError(t *testing.T) {
	for _, message := range []string{
		"80010001 00000001 6d 00000005 0f 0001 05 00000001 0101010101010101010101010101010101010101",
		"82 21 05 01 6d 19 1d 0101010101010101010101010101010101010101",
	} {
		r := NewReader(bytes.NewReader(unhex(t, message)), Limits{})
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		r.StructBegin()
		r.Field()
		if _, n := r.List(); n != 0 || !errors.Is(r.Err(), ErrProtocol) {
			t.Fatalf("%d elements, %v", n, r.Err())
		}
		first := r.Err()
		typ, _ := r.Field()
		if v := []any{typ, r.Bool(), r.Byte(), r.I16(), r.I32(), r.I64(), r.Double(), len(r.Binary())}; fmt.Sprint(v) != "[stop false 0 0 0 0 0 0]" {
			t.Errorf("values %v", v)
		}
		if r.Err() != first || r.Charge(1) != first {
			t.Errorf("%v became %v", first, r.Err())
		}
	}
}

// TestLaterMessagesAreChecked like the first.
func TestLaterMessagesAreChecked(t *testing.T) {
	const plain, framed = "80010001 00000001 6d 00000005 00", "0000000e 80010001 00000001 6d 00000005 00"
	f := func(bytesHex, want string) {
		t.Helper()
		r := NewReader(bytes.NewReader(unhex(t, bytesHex)), Limits{MaxMessage: 1 << 16})
		if _, err := read(r); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", bytesHex, err, want)
		}
	}
	f(framed+"00010001 8001", "thrift: frame of 65537 exceeds the limit: 65536 are left")
	f(framed+"47455420", `thrift: expected a frame, got "GET "`)
	f(framed+"80010001", `thrift: expected a frame, got 80 01 00 01`)
	f(framed+"00000000", "thrift: expected a message header within the 0 bytes left of the frame, got 4")
	f(plain+"47455420", `thrift: expected a binary message (8001, or a method name), got "GET "`)
	f(plain+"80020001", `thrift: expected a binary message (8001), got 80 02 00 01`)
	f("82 21 05 01 6d 00"+"80010001", `thrift: expected a compact message (82, version 1), got 80 01 00 01`)
}

// TestLeftInTheMiddle: of a framed message, whose state is none of the next's.
func TestLeftInTheMiddle(t *testing.T) {
	for _, p := range []Protocol{Binary, Compact} {
		var w Writer
		w.Reset(p, true)
		for range 50 {
			w.Message("m", Call, 1)
			w.StructBegin()
			w.Field(List, 1)
			w.List(Bool, 1)
			w.Bool(false)
			w.Field(Struct, 5)
			w.StructBegin()
			w.BoolField(3, true)
			w.StructEnd()
			w.StructEnd()
			w.MessageEnd()
		}
		r := NewReader(bytes.NewReader(w.Bytes()), Limits{MaxDepth: 4})
		for i := range 50 {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
			r.StructBegin()
			_, one := r.Field()
			_, n := r.List()
			v := r.Bool()
			_, five := r.Field()
			r.StructBegin()
			if typ, three := r.Field(); typ != Bool || one != 1 || n != 1 || v || five != 5 || three != 3 || len(r.ids) > 2 {
				t.Fatalf("%s, message %d: fields %d %d %d, list of %d, %v, %v", p, i, one, five, three, n, v, r.Err())
			}
		}
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

func TestReleasedReader(t *testing.T) {
	r := NewReader(strings.NewReader("x"), Limits{})
	r.Release()
	if _, err := r.Next(); err == nil {
		t.Error("a released reader reads")
	}
}

func TestAppException(t *testing.T) {
	for _, p := range []Protocol{Binary, Compact} {
		var w Writer
		w.Reset(p, false)
		sent := AppException{Code: AppUnknownMethod, Message: "Invalid method name: 'x'"}
		sent.Write(&w, "x", 9)
		r := NewReader(bytes.NewReader(w.Bytes()), Limits{})
		h, err := r.Next()
		if err != nil || h.Type != Exception || h.Seq != 9 {
			t.Fatalf("%+v, %v", h, err)
		}
		got, err := ReadAppException(r)
		if err != nil || *got != sent || got.Error() != "thrift application exception 1: Invalid method name: 'x'" {
			t.Errorf("%v, %v", got, err)
		}
	}
}

// TestNoAllocations: a message that fits into the first piece costs none, to
// read, to skip and to write.
func TestNoAllocations(t *testing.T) {
	ran := 0
	for _, g := range goldens {
		message := unhex(t, g.hex)
		src := &endless{b: message}
		r := NewReader(src, Limits{Pool: new(Pool)})
		var w Writer
		for name, f := range map[string]func(){
			"skip": func() { r.Skip(Struct) },
			"read": func() { readFields(r) },
		} {
			allocations := testing.AllocsPerRun(200, func() {
				if _, err := r.Next(); err != nil {
					t.Fatal(err)
				}
				f()
				w.Reset(g.protocol, g.framed)
				g.write(&w)
			})
			if allocations > 0 || r.Err() != nil {
				t.Errorf("%s, %s: %v allocations, %v", g.name, name, allocations, r.Err())
			}
			ran++
		}
	}
	if ran != 12 {
		t.Errorf("%d cases ran", ran)
	}
}

// readFields reads the values of goldens as a decoder would.
func readFields(r *Reader) {
	r.StructBegin()
	for t, _ := r.Field(); t != Stop; t, _ = r.Field() {
		readField(r, t)
	}
}

func readField(r *Reader, t Type) {
	switch t {
	case Bool:
		r.Bool()
	case I32:
		r.I32()
	case String:
		r.Binary()
	case Struct:
		readFields(r)
	case Map:
		key, value, n := r.Map()
		for ; n > 0 && r.Err() == nil; n-- {
			readField(r, key)
			readField(r, value)
		}
	case List, Set:
		for elem, n := r.List(); n > 0 && r.Err() == nil; n-- {
			readField(r, elem)
		}
	default:
		r.Skip(t)
	}
}
