package block

import (
	"encoding/binary"
	"hash/crc32"
)

// cursor reads bytes from front to back. The first thing that is wrong is kept
// in err; from then on it gives zeros, so that a caller may look at err late,
// but must look before it trusts a length. Lengths are checked before they are
// believed: take never gives more than there is.
type cursor struct {
	b   []byte
	off int
	err error
}

func (c *cursor) fail(what string) {
	if c.err == nil {
		c.err = &CorruptError{What: what, Offset: c.off}
	}
}

// left is how many bytes have not been read.
func (c *cursor) left() int { return len(c.b) - c.off }

func (c *cursor) byte() byte {
	if c.err != nil || c.off >= len(c.b) {
		c.fail("the bytes end too early")
		return 0
	}
	c.off++
	return c.b[c.off-1]
}

// take gives the next n bytes; nil if there are not as many.
func (c *cursor) take(n int) []byte {
	if c.err != nil || n < 0 || n > c.left() {
		c.fail("the bytes end too early")
		return nil
	}
	c.off += n
	return c.b[c.off-n : c.off : c.off]
}

func (c *cursor) uvarint() uint64 {
	if c.err != nil {
		return 0
	}
	x, n := binary.Uvarint(c.b[c.off:])
	if n <= 0 {
		c.fail("a number has no end")
		return 0
	}
	c.off += n
	return x
}

// varint reads a signed number in zig-zag form.
func (c *cursor) varint() int64 {
	x := c.uvarint()
	return int64(x>>1) ^ -int64(x&1)
}

// count reads a length that may be limit at most.
func (c *cursor) count(limit int, what string) int {
	x := c.uvarint()
	if x > uint64(limit) {
		c.fail(what)
		return 0
	}
	return int(x)
}

func (c *cursor) uint64() uint64 {
	if b := c.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// end checks that nothing is left.
func (c *cursor) end() error {
	if c.err == nil && c.left() != 0 {
		c.fail("bytes follow the end")
	}
	return c.err
}

func appendVarint(dst []byte, x int64) []byte {
	return binary.AppendUvarint(dst, uint64(x)<<1^uint64(x>>63))
}

// sumBytes is the size of the checksum at the end.
const sumBytes = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal appends the checksum of all that was appended to dst behind from.
func seal(dst []byte, from int) []byte {
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[from:], castagnoli))
}

// open checks version and checksum and gives what is between them.
func open(b []byte, what string) (cursor, error) {
	if len(b) == 0 {
		return cursor{}, &CorruptError{What: what + " is empty"}
	}
	if b[0] == 0 || b[0] > version {
		return cursor{}, versionFault(what, b[0])
	}
	body := len(b) - sumBytes
	if body < 1 {
		return cursor{}, &CorruptError{What: what + " ends before its checksum", Offset: len(b)}
	}
	if crc32.Checksum(b[:body], castagnoli) != binary.LittleEndian.Uint32(b[body:]) {
		return cursor{}, &CorruptError{What: "the checksum of the " + what + " is wrong", Offset: body}
	}
	return cursor{b: b[:body], off: 1}, nil
}

func versionFault(what string, v byte) error {
	if v == 0 {
		return &CorruptError{What: what + " has version 0"}
	}
	return &VersionError{What: what, Version: v}
}
