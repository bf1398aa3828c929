package block

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math/bits"

	"github.com/klauspost/compress/zstd"

	"github.com/cellardb/cellar/store"
)

// textEncoder is the encoder's memory for text.
type textEncoder struct {
	seed    maphash.Seed
	slots   []uint32 // hash table: index of an entry plus one
	entries []entry
	codes   []int64
	numbers []int64
	digits  int // least digits of numbers
	lengths []int64
	bytes   []byte
	zstd    *zstd.Encoder
}

// entry is a distinct value: where it is in the vector, and its hash.
type entry struct {
	hash     uint64
	from, to uint32
}

const (
	// probeRows are the first values, by which it is decided whether values
	// repeat enough for a dictionary.
	probeRows = 512
	// minDeflate is the least number of bytes that compression is tried on.
	minDeflate = 128
)

// textColumn appends the rows [from, to) that are not null; there is one.
func (e *encoder) textColumn(dst []byte, v *store.Vector, from, to int, s *ColumnStats) ([]byte, error) {
	if err := checkText(v, from, to); err != nil {
		return dst, err
	}
	if v.Dictionary != nil {
		e.recode(v, from, to)
		return e.dictionaryText(dst, v.Dictionary, s), nil
	}
	if e.distinctText(v, from, to) {
		return e.dictionaryText(dst, v, s), nil
	}
	if e.numbered(v, from, to, s) {
		return e.numberedText(dst, v), nil
	}
	t := &e.text
	t.lengths, t.bytes = t.lengths[:0], t.bytes[:0]
	b := textBounds{}
	for at := from; at < to; {
		null := to
		if v.Nulls != nil {
			null = nextBit(v.Nulls, at, to)
		}
		for i := at; i < null; i++ {
			val := v.Bytes[v.Offsets[i]:v.Offsets[i+1]]
			b.add(val)
			t.lengths = append(t.lengths, int64(len(val)))
		}
		if s.Nulls > 0 && at < null {
			t.bytes = append(t.bytes, v.Bytes[v.Offsets[at]:v.Offsets[null]]...)
		}
		at = null + 1
	}
	s.setText(v.Type, b.low, b.high)
	if s.Nulls == 0 {
		return e.plainText(dst, t.lengths, v.Bytes[v.Offsets[from]:v.Offsets[to]]), nil
	}
	return e.plainText(dst, t.lengths, t.bytes), nil
}

// checkText finds offsets and codes that lead out of the vector, and too much
// text.
func checkText(v *store.Vector, from, to int) error {
	d, offsets := v, v.Offsets
	if v.Dictionary != nil {
		d, offsets = v.Dictionary, v.Dictionary.Offsets
	} else {
		offsets = offsets[from : to+1]
	}
	for i := 1; i < len(offsets); i++ {
		if offsets[i-1] > offsets[i] {
			return fmt.Errorf("%w: offset %d is %d, the one before %d", ErrBadVector, i, offsets[i], offsets[i-1])
		}
	}
	if n := len(offsets); n > 0 && int(offsets[n-1]) > len(d.Bytes) {
		return fmt.Errorf("%w: text ends at %d, there are %d bytes", ErrBadVector, offsets[n-1], len(d.Bytes))
	}
	sum := 0
	if v.Dictionary == nil {
		sum = int(offsets[len(offsets)-1] - offsets[0])
	} else {
		for i := from; i < to; i++ {
			code := int(v.Codes[i])
			if v.Null(i) {
				continue
			}
			if code >= len(offsets)-1 {
				return fmt.Errorf("%w: code %d, and a dictionary of %d", ErrBadVector, code, len(offsets)-1)
			}
			sum += int(offsets[code+1] - offsets[code])
		}
	}
	if sum > MaxBytes {
		return fmt.Errorf("%w: %d bytes of text in %d rows, more than %d", ErrTooLarge, sum, to-from, MaxBytes)
	}
	return nil
}

// recode lists the entries of a dictionary that rows use, in the order of their
// first use, and the rows' indices of them.
func (e *encoder) recode(v *store.Vector, from, to int) {
	t := &e.text
	t.entries, t.codes = t.entries[:0], t.codes[:0]
	t.slots = zeros(t.slots, len(v.Dictionary.Offsets))
	for i := from; i < to; i++ {
		if v.Null(i) {
			continue
		}
		code := v.Codes[i]
		if t.slots[code] == 0 {
			t.entries = append(t.entries, entry{from: v.Dictionary.Offsets[code], to: v.Dictionary.Offsets[code+1]})
			t.slots[code] = uint32(len(t.entries))
		}
		t.codes = append(t.codes, int64(t.slots[code]-1))
	}
}

// distinctText lists the distinct values in the order of their first use and
// the rows' indices of them; false: they repeat too little.
func (e *encoder) distinctText(v *store.Vector, from, to int) bool {
	t := &e.text
	size := t.begin(to - from)
	for i := from; i < to; i++ {
		if v.Null(i) {
			continue
		}
		n := len(t.codes)
		if n == probeRows && len(t.entries) > probeRows*3/4 || len(t.entries) > size/2 {
			return false
		}
		a, b := v.Offsets[i], v.Offsets[i+1]
		t.codes = append(t.codes, int64(t.code(v.Bytes, a, b, size-1)))
	}
	return len(t.entries)*2 <= len(t.codes)
}

// begin makes an empty hash table for up to rows values, and says its size: it
// is more than rows, and at most half of it shall be used.
func (t *textEncoder) begin(rows int) int {
	if t.seed == (maphash.Seed{}) {
		t.seed = maphash.MakeSeed()
	}
	size := 1 << bits.Len(uint(rows))
	t.slots = zeros(t.slots, size)
	t.entries, t.codes, t.numbers = t.entries[:0], t.codes[:0], t.numbers[:0]
	return size
}

// code finds a value among the entries, or makes it one.
func (t *textEncoder) code(text []byte, from, to uint32, mask int) int {
	val := text[from:to]
	h := maphash.Bytes(t.seed, val)
	for at := int(h) & mask; ; at = (at + 1) & mask {
		slot := t.slots[at]
		if slot == 0 {
			t.entries = append(t.entries, entry{hash: h, from: from, to: to})
			t.slots[at] = uint32(len(t.entries))
			return len(t.entries) - 1
		}
		have := &t.entries[slot-1]
		if have.hash == h && string(text[have.from:have.to]) == string(val) {
			return int(slot - 1)
		}
	}
}

// dictionaryText appends the entries, whose bytes are those of v, and the codes.
func (e *encoder) dictionaryText(dst []byte, v *store.Vector, s *ColumnStats) []byte {
	t := &e.text
	t.lengths, t.bytes = t.lengths[:0], t.bytes[:0]
	b := textBounds{}
	for _, en := range t.entries {
		val := v.Bytes[en.from:en.to]
		b.add(val)
		t.lengths, t.bytes = append(t.lengths, int64(len(val))), append(t.bytes, val...)
	}
	s.setText(v.Type, b.low, b.high)
	dst = binary.AppendUvarint(append(dst, textDictionary), uint64(len(t.entries)))
	dst = e.plainText(dst, t.lengths, t.bytes)
	return e.ints(dst, t.codes, tryCodes)
}

// textBounds finds the least and the greatest of values.
type textBounds struct {
	any       bool
	low, high []byte
}

func (b *textBounds) add(val []byte) {
	switch {
	case !b.any:
		b.any, b.low, b.high = true, val, val
	case string(val) < string(b.low):
		b.low = val
	case string(val) > string(b.high):
		b.high = val
	}
}

// plainText appends values whose bytes lie behind one another.
func (e *encoder) plainText(dst []byte, lengths []int64, bytes []byte) []byte {
	dst = e.ints(append(dst, textPlain), lengths, tryAll)
	if len(bytes) >= minDeflate {
		if out, ok := e.deflate(append(dst, bytesZstd), bytes); ok {
			return out
		}
	}
	return append(append(dst, bytesRaw), bytes...)
}

// deflate appends the size of a frame of compressed bytes and the frame, if it
// is smaller by an eighth than they are.
func (e *encoder) deflate(dst, bytes []byte) ([]byte, bool) {
	t := &e.text
	if t.zstd == nil {
		w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderCRC(false), zstd.WithAllLitEntropyCompression(true), zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return dst, false
		}
		t.zstd = w
	}
	e.deflated = t.zstd.EncodeAll(bytes, e.deflated[:0])
	if len(e.deflated) > len(bytes)*7/8 {
		return dst, false
	}
	dst = binary.AppendUvarint(dst, uint64(len(e.deflated)))
	return append(dst, e.deflated...), true
}
