package thrift

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
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
