package thrift

import (
	"bytes"
	"encoding/hex"
	"math"
	"strings"
	"testing"
)

// golden is a message as calls on a Writer and as bytes, derived by hand from
// the rules of docs/internals/format/thrift-wire.md; one line a value.
type golden struct {
	name     string
	protocol Protocol
	framed   bool
	write    func(w *Writer)
	hex      string
}

func writeCall(w *Writer) {
	w.Message("getRow", Call, 7)
	w.StructBegin()
	w.Field(String, 1)
	w.String("t\xff")
	w.Field(Map, 3)
	w.Map(String, String, 0)
	w.StructEnd()
	w.MessageEnd()
}

func writeAll(w *Writer) {
	w.Message("m", Reply, -2)
	w.StructBegin()
	w.BoolField(1, true)
	w.BoolField(2, false)
	w.Field(Byte, 3)
	w.Byte(-3)
	w.Field(I16, 20)
	w.I16(-300)
	w.Field(I32, 21)
	w.I32(math.MinInt32)
	w.Field(I64, 22)
	w.I64(1 << 40)
	w.Field(Double, 23)
	w.Double(-2.5)
	w.Field(Struct, 24)
	w.StructBegin()
	w.Field(I32, 100)
	w.I32(1)
	w.BoolField(99, true) // ids may go down
	w.StructEnd()
	w.Field(Set, 25) // the ids of the inner struct do not count here
	w.List(Bool, 3)
	w.Bool(true)
	w.Bool(false)
	w.Bool(true)
	w.Field(List, 26)
	w.List(I16, 15)
	for i := range 15 {
		w.I16(int16(i))
	}
	w.Field(Map, -1)
	w.Map(Byte, String, 1)
	w.Byte(5)
	w.String("x")
	w.StructEnd()
	w.MessageEnd()
}

var goldens = []golden{
	{"call", Binary, false, writeCall, `
		80010001                  version 1, call
		00000006 676574526f77     name
		00000007                  sequence id
		0b 0001 00000002 74ff     1: string
		0d 0003 0b 0b 00000000    3: empty map
		00`},
	{"call framed", Binary, true, writeCall, `
		00000025
		80010001
		00000006 676574526f77
		00000007
		0b 0001 00000002 74ff
		0d 0003 0b 0b 00000000
		00`},
	{"call compact", Compact, false, writeCall, `
		82 21                     protocol id; call << 5 | version 1
		07                        sequence id
		06 676574526f77           name
		18 02 74ff                1: delta 1, binary
		2b 00                     3: delta 2, map without pairs
		00`},
	{"call compact framed", Compact, true, writeCall, `
		00000011
		82 21 07
		06 676574526f77
		18 02 74ff
		2b 00
		00`},
	{"all types", Binary, false, writeAll, `
		80010002 00000001 6d fffffffe
		02 0001 01
		02 0002 00
		03 0003 fd
		06 0014 fed4
		08 0015 80000000
		0a 0016 0000010000000000
		04 0017 c004000000000000
		0c 0018
		  08 0064 00000001
		  02 0063 01
		  00
		0e 0019 02 00000003 01 00 01
		0f 001a 06 0000000f 0000 0001 0002 0003 0004 0005 0006 0007 0008 0009 000a 000b 000c 000d 000e
		0d ffff 03 0b 00000001 05 00000001 78
		00`},
	{"all types compact", Compact, false, writeAll, `
		82 41 feffffff0f 01 6d    reply; sequence id -2 as an unsigned number
		11                        1: true
		12                        2: false
		13 fd                     3: byte
		04 28 d704                20: 17 behind: no delta, the id itself (zigzag 40); -300 is 599
		15 ffffffff0f             21: -2^31
		16 808080808040           22: 2^41
		17 00000000000004c0       23: double, lowest byte first
		1c                        24: struct
		  05 c801 02              100: too far for a delta
		  01 c601                 99: true, backwards
		  00
		1a 31 01 02 01            25: set, 3 << 4 | bool
		19 f4 0f 00 02 04 06 08 0a 0c 0e 10 12 14 16 18 1a 1c   26: list, long form from 15 elements on
		0b 01 01 38 05 01 78      -1: map of 1, byte << 4 | binary
		00`},
}

// unhex reads the hexadecimal words at the beginning of each line; the rest of
// a line behind two or more spaces in a row is a remark.
func unhex(t testing.TB, text string) []byte {
	t.Helper()
	var all []byte
	for _, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "   ")
		if i := strings.Index(line, "  "); i >= 0 {
			line = line[:i]
		}
		b, err := hex.DecodeString(strings.ReplaceAll(line, " ", ""))
		if err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		all = append(all, b...)
	}
	return all
}

func TestWriterGolden(t *testing.T) {
	ran := 0
	for _, g := range goldens {
		var w Writer
		w.Reset(g.protocol, g.framed)
		g.write(&w)
		if want := unhex(t, g.hex); !bytes.Equal(w.Bytes(), want) {
			t.Errorf("%s:\n got %x\nwant %x", g.name, w.Bytes(), want)
		}
		ran++
	}
	if ran != 6 {
		t.Errorf("%d cases ran", ran)
	}
}

func TestReaderGolden(t *testing.T) {
	dumps := map[string]string{
		"call": `call getRow 7 {1:string "t\xff" 3:map{}}`,
		"all types": `reply m -2 {1:bool true 2:bool false 3:byte -3 20:i16 -300 21:i32 -2147483648 22:i64 1099511627776 ` +
			`23:double -2.5 24:struct{100:i32 1 99:bool true} 25:set[true false true] ` +
			`26:list[0 1 2 3 4 5 6 7 8 9 10 11 12 13 14] -1:map{5="x"}}`,
	}
	ran := 0
	for _, g := range goldens {
		r := NewReader(bytes.NewReader(unhex(t, g.hex)), Limits{})
		h, err := r.Next()
		if err != nil {
			t.Errorf("%s: %v", g.name, err)
			continue
		}
		if h.Protocol != g.protocol || h.Framed != g.framed {
			t.Errorf("%s: detected %v, framed %v", g.name, h.Protocol, h.Framed)
		}
		want := dumps["call"]
		if strings.HasPrefix(g.name, "all") {
			want = dumps["all types"]
		}
		if got := dump(r, h); got != want || r.Err() != nil {
			t.Errorf("%s: error %v\n got %s\nwant %s", g.name, r.Err(), got, want)
		}
		ran++
	}
	if ran != 6 {
		t.Errorf("%d cases ran", ran)
	}
}
