package block

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/cellardb/cellar/store"
)

// Any bytes, with the checksum that belongs to them, so that what lies behind
// it is reached.
func FuzzDecodeChunk(f *testing.F) {
	for i, chunk := range samples(f) {
		if i%5 == 0 {
			f.Add(chunk[1 : len(chunk)-sumBytes])
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		tryDecode(t, sealed(body))
		var into store.Vector
		if _, err := DecodeChunk(body, &into); err != nil && !isRefusal(err) {
			t.Error(err)
		}
	})
}

func FuzzParseHeader(f *testing.F) {
	for _, h := range []*Header{{}, wholeHeader()} {
		b, err := AppendHeader(nil, h)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[1 : len(b)-sumBytes])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		h, err := ParseHeader(sealed(body))
		if err != nil {
			if !isRefusal(err) {
				t.Error(err)
			}
			return
		}
		b, err := AppendHeader(nil, h)
		if err != nil {
			t.Fatalf("a header that was read cannot be written: %v", err)
		}
		if _, err := ParseHeader(b); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzDecodePacked(f *testing.F) {
	columns := newEvents(2).columns(20)
	for _, rows := range []int{0, 1, 20} {
		packed, _, err := EncodePacked(nil, columns, 0, rows)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packed[1 : len(packed)-sumBytes])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		packed := sealed(body)
		_, columns, err := PackedColumns(packed)
		if err != nil {
			if !isRefusal(err) {
				t.Error(err)
			}
			return
		}
		into := make([]store.Vector, columns)
		rows, err := DecodePacked(packed, nil, into)
		if err != nil {
			if !isRefusal(err) {
				t.Error(err)
			}
			return
		}
		if _, _, err := EncodePacked(nil, into, 0, rows); err != nil {
			t.Error(err)
		}
	})
}

// Any vector comes back: the bytes are numbers of a width, the rest follows from
// the first of them.
func FuzzRoundTrip(f *testing.F) {
	f.Add(byte(3), byte(8), []byte("numbers of eight bytes, and more of them"), []byte{5})
	f.Add(byte(7), byte(1), []byte("numbers of one byte"), []byte{})
	f.Fuzz(func(t *testing.T, typ, width byte, data, nulls []byte) {
		w := int(width%8) + 1
		nums := make([]int64, min(len(data)/w, MaxRows))
		for i := range nums {
			var b [8]byte
			copy(b[:], data[i*w:(i+1)*w])
			nums[i] = int64(binary.LittleEndian.Uint64(b[:]))
		}
		v := vectorOf(allTypes[int(typ)%len(allTypes)], nums, typ&0x80 != 0)
		v.Nulls = make([]uint64, bitWords(len(nums)))
		for i := range nums {
			if len(nulls) > 0 && nulls[i%len(nulls)]>>(i%8)&1 != 0 {
				setBits(v.Nulls, i, 1)
			}
		}
		roundTrip(t, &v, 0, len(nums))
	})
}

// Whatever a float is, its decimal is right or there is none.
func FuzzDecimal(f *testing.F) {
	f.Add(uint64(0), byte(3))
	f.Add(math.Float64bits(20.125), byte(3))
	f.Fuzz(func(t *testing.T, bits uint64, digits byte) {
		v, power := math.Float64frombits(bits), powers[int(digits)%len(powers)]
		if k, ok := decimal(v, power); ok && math.Float64bits(float64(k)/power) != bits {
			t.Errorf("%x is not %d / %g", bits, k, power)
		}
		v32 := math.Float32frombits(uint32(bits))
		if k, ok := decimal32(v32, power); ok && math.Float32bits(float32(float64(k)/power)) != uint32(bits) {
			t.Errorf("%x is not %d / %g", uint32(bits), k, power)
		}
	})
}
