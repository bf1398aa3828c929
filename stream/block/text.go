package block

import (
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/cellardb/cellar/store"
)

// How text and bytes are written.
const (
	textPlain      = 0 // list of lengths, bytes
	textDictionary = 1 // count, the distinct values as textPlain, list of their indices
	textNumbered   = 2 // digits, count, prefixes as textPlain, list of their indices, list of numbers
)

// How the bytes of text are written.
const (
	bytesRaw  = 0 // as they are; their number is the sum of the lengths
	bytesZstd = 1 // size, one zstd frame
)

// textDecoder is the decoder's memory for text.
type textDecoder struct {
	zstd     *zstd.Decoder
	prefixes store.Vector
	narrow   []byte
}

// texts reads n values into into, which has rows of them, null or not.
func (d *decoder) texts(c *cursor, into *store.Vector, rows, n int) {
	switch kind := c.byte(); kind {
	case textPlain:
		into.Dictionary, into.Codes = nil, into.Codes[:0]
		d.plainText(c, into, rows, n, into.Nulls)
	case textDictionary:
		d.dictionaryText(c, into, rows, n)
	case textNumbered:
		into.Dictionary, into.Codes = nil, into.Codes[:0]
		d.numberedText(c, into, rows, n)
	default:
		c.fail("text is of an unknown kind")
	}
}

func (d *decoder) plainText(c *cursor, into *store.Vector, rows, n int, nulls []uint64) {
	lengths := d.list(rows)
	d.ints(c, lengths[:n], 1)
	spread(lengths, nulls, n)
	into.Offsets = resize(into.Offsets, rows+1)
	total := d.offsets(c, into.Offsets, lengths)
	d.give()
	if c.err == nil {
		into.Bytes = d.bytes(c, into.Bytes[:0], total)
	}
}

// offsets sums lengths up. Sum and lengths are within MaxBytes, or c fails.
func (d *decoder) offsets(c *cursor, offsets []uint32, lengths []int64) int {
	offsets[0] = 0
	sum, strange := uint64(0), uint64(0)
	for i, l := range lengths {
		strange |= uint64(l)
		sum += uint64(l)
		offsets[i+1] = uint32(sum)
	}
	// With every length below 2^32 the sum of MaxRows of them has not wrapped.
	if strange>>32 != 0 || sum > MaxBytes {
		c.fail("text is longer than a chunk may hold")
		return 0
	}
	return int(sum)
}

// bytes reads total bytes, MaxBytes at most.
func (d *decoder) bytes(c *cursor, into []byte, total int) []byte {
	switch kind := c.byte(); kind {
	case bytesRaw:
		return append(into, c.take(total)...)
	case bytesZstd:
		return d.inflate(c, into, total)
	default:
		c.fail("the bytes of text are of an unknown kind")
		return into
	}
}

func (d *decoder) inflate(c *cursor, into []byte, total int) []byte {
	src := c.take(c.count(c.left(), "the bytes end too early"))
	if c.err != nil {
		return into
	}
	if d.text.zstd == nil {
		r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(2*MaxBytes))
		if err != nil {
			c.fail("zstd: " + err.Error())
			return into
		}
		d.text.zstd = r
	}
	into = slices.Grow(into[:0], total)
	out, err := d.text.zstd.DecodeAll(src, into[:0:total])
	if err != nil || len(out) != total {
		c.fail("compressed text is damaged")
		return into
	}
	return out
}

func (d *decoder) dictionaryText(c *cursor, into *store.Vector, rows, n int) {
	entries := c.count(n, "a dictionary has more entries than there are values")
	if entries == 0 {
		c.fail("a dictionary is empty")
		return
	}
	dict := into.Dictionary
	if dict == nil {
		dict = &store.Vector{}
	}
	*dict = store.Vector{Type: into.Type, Offsets: dict.Offsets, Bytes: dict.Bytes}
	if c.byte() != textPlain {
		c.fail("the entries of a dictionary are of an unknown kind")
		return
	}
	d.plainText(c, dict, entries, entries, nil)
	codes := d.list(rows)
	d.ints(c, codes[:n], 1)
	into.Codes = resize(into.Codes, rows)
	if c.err == nil {
		d.codes(c, into, dict, codes, n)
	}
	d.give()
	into.Dictionary, into.Offsets, into.Bytes = dict, into.Offsets[:0], into.Bytes[:0]
}

func (d *decoder) codes(c *cursor, into, dict *store.Vector, codes []int64, n int) {
	most := uint64(0)
	for _, code := range codes[:n] {
		most = max(most, uint64(code))
	}
	if most >= uint64(len(dict.Offsets)-1) {
		c.fail("a code lies outside of its dictionary")
		return
	}
	checkVolume(c, dict, codes[:n])
	spread(codes, into.Nulls, n)
	for i, code := range codes {
		into.Codes[i] = uint32(code)
	}
}

// checkVolume refuses a dictionary vector whose rows stand for more than
// MaxBytes: whoever writes them out shall not be led to.
func checkVolume(c *cursor, dict *store.Vector, codes []int64) {
	if int64(len(dict.Bytes))*int64(len(codes)) <= MaxBytes {
		return
	}
	sum := int64(0)
	for _, code := range codes {
		sum += int64(dict.Offsets[code+1] - dict.Offsets[code])
	}
	if sum > MaxBytes {
		c.fail("a dictionary stands for more text than a chunk may hold")
	}
}
