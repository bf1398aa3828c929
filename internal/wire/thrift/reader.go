package thrift

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Defaults of Limits, and the longest method name.
const (
	DefaultMaxMessage = 64 << 20
	DefaultMaxDepth   = 64
	maxName           = 1 << 10
)

// Limits bounds what a Reader takes from its peer. The zero value is the
// defaults, with no budget.
type Limits struct {
	// MaxMessage is the size in bytes of the largest message, its frame's
	// length not counted; 0 is 64 MiB.
	MaxMessage int
	// MaxDepth is how deep values may be nested; 0 is 64.
	MaxDepth int
	// Grow is asked before the Reader takes memory beyond its first 4 KiB, with
	// the number of bytes, and told with a negative number when it gives memory
	// back. An error ends the message with that error; one for a negative
	// number is ignored. Nil is no budget.
	Grow func(bytes int) error
	// Pool lends the memory; nil: the Reader allocates it.
	Pool *Pool
}

// errReleased is what a Reader says after Release.
var errReleased = errors.New("thrift: reader was released")

// Reader takes messages from a stream. After Next has returned a message's
// header, the caller reads its content, or skips it, by calls that follow the
// structure of the message: StructBegin, then Field and the value (or Skip)
// until Field returns Stop.
//
// Errors are kept: the first one makes every following call return zero values
// at once (Field: Stop; List and Map: no elements), and Err and Next return it.
// So a decoder may check once at its end, and inside loops over elements.
//
// Not for concurrent use.
type Reader struct {
	src    io.Reader
	limits Limits
	err    error

	// buf[pos:filled] has arrived and was not read; of it, the message reaches
	// to end. The message must end at index limit, which may be far behind what
	// has arrived: end = min(filled, limit), always.
	buf                     []byte
	pos, end, filled, limit int

	own     []byte   // first piece, kept for good
	current *piece   // what buf is of; nil: own
	full    []*piece // earlier pieces of the message
	charged int      // see Charge

	known           bool // protocol and transport are
	compact, framed bool
	inMessage       bool // Next has returned a header
	atBoundary      bool // an end of the stream would be one between messages

	// As in Writer: the last field id, and those of the structs around.
	last  int16
	ids   []int16
	depth int
	// The value of a boolean field came with its type.
	boolValue, boolPending bool
}

// NewReader reads messages from src. A server whose replies are buffered
// flushes them in src's Read: it is called only when nothing more has arrived.
func NewReader(src io.Reader, limits Limits) *Reader {
	if limits.MaxMessage == 0 {
		limits.MaxMessage = DefaultMaxMessage
	}
	if limits.MaxDepth == 0 {
		limits.MaxDepth = DefaultMaxDepth
	}
	own := make([]byte, smallestPiece)
	return &Reader{src: src, limits: limits, own: own, buf: own}
}

// Err is the first error, nil if there was none.
func (r *Reader) Err() error { return r.err }

// Buffered is the number of bytes that have arrived and were not read: those of
// the message's unread rest and of the messages behind it.
func (r *Reader) Buffered() int { return r.filled - r.pos }

// Charge counts n bytes that the caller allocated for the message towards its
// budget, until the following Next. The error is that of Limits.Grow.
func (r *Reader) Charge(n int) error {
	if r.err == nil && r.limits.Grow != nil {
		if err := r.limits.Grow(n); err != nil {
			r.fail(err)
		} else {
			r.charged += n
		}
	}
	return r.err
}

// Release gives back all memory. The Reader and what it returned must not be
// used afterwards.
func (r *Reader) Release() {
	r.pos = r.filled
	r.recycle()
	r.fail(errReleased)
}

// Next skips what is left of a frame, gives back the memory of the message
// before and waits for the next message. io.EOF: there is none.
//
// An unframed message must have been read (or skipped) to its end: its length
// is not known otherwise.
func (r *Reader) Next() (Header, error) {
	if r.framed && r.inMessage {
		r.discard(r.limit-r.pos, "frame")
	}
	if r.err != nil {
		return Header{}, r.err
	}
	r.recycle()
	r.inMessage, r.boolPending = false, false
	r.last, r.ids, r.depth = 0, r.ids[:0], 0
	r.setLimit(r.limits.MaxMessage)
	r.atBoundary = true
	if !r.more(1, "message") {
		return Header{}, r.err
	}
	if !r.known {
		r.detect()
	}
	if r.framed {
		r.frame()
	}
	h := r.header()
	r.atBoundary = false
	if r.err != nil {
		return Header{}, r.err
	}
	r.inMessage = true
	return h, nil
}

func (r *Reader) setLimit(n int) {
	r.limit = r.pos + n
	r.end = min(r.filled, r.limit)
}

// detect finds out what the peer speaks, from the beginning of its first
// message. No frame is as long as 2 GiB, so a first byte from 0x80 on begins an
// unframed message of one of the protocols. Otherwise the first four bytes are
// a frame's length, or the length of the method name that an old-style message
// begins with; the byte behind is no letter in the first case.
func (r *Reader) detect() {
	switch b := r.buf[r.pos]; {
	case b == compactFirst:
		r.compact = true
	case b == binaryFirst:
	case b > binaryFirst:
		r.malformed("a Thrift message", r.peek(4))
	default:
		r.detectLength()
	}
	r.known = r.err == nil
}

func (r *Reader) detectLength() {
	if !r.more(4, "message") {
		return
	}
	n := int(binary.BigEndian.Uint32(r.buf[r.pos:]))
	if n == 0 {
		return // old style, and no name
	}
	if n > r.limits.MaxMessage {
		if isText(r.buf[r.pos : r.pos+4]) {
			r.malformed("a Thrift message", r.peek(16))
		} else {
			r.fail(&SizeError{What: "frame", Size: int64(n), Limit: int64(r.limits.MaxMessage)})
		}
		return
	}
	if !r.more(5, "message") {
		return
	}
	switch b := r.buf[r.pos+4]; {
	case b == compactFirst:
		r.framed, r.compact = true, true
	case b == binaryFirst || b == 0: // 0: a name's length, old style
		r.framed = true
	case n <= maxName && isText(r.buf[r.pos+4:r.pos+5]):
	default:
		r.malformed("a Thrift message, framed or not", r.peek(16))
	}
}

func isText(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// frame reads a frame's length.
func (r *Reader) frame() {
	r.setLimit(4)
	if !r.more(4, "frame length") {
		return
	}
	n := int64(binary.BigEndian.Uint32(r.buf[r.pos:]))
	switch {
	case n > int64(r.limits.MaxMessage) && isText(r.buf[r.pos:r.pos+4]) || n > 0x7fffffff:
		r.malformed("a frame", r.peek(4))
	case n > int64(r.limits.MaxMessage):
		r.fail(&SizeError{What: "frame", Size: n, Limit: int64(r.limits.MaxMessage)})
	default:
		r.pos += 4
		r.setLimit(int(n))
		r.atBoundary = false
	}
}

// header reads the beginning of a message.
func (r *Reader) header() Header {
	h := Header{Framed: r.framed}
	var kind byte
	if r.compact {
		h.Protocol = Compact
		kind = r.compactHeader(&h)
	} else {
		kind = r.binaryHeader(&h)
	}
	h.Type = MessageType(kind)
	if r.err == nil && (h.Type < Call || h.Type > Oneway) {
		r.malformed("a call, reply, exception or oneway", h.Type.String())
	}
	return h
}

func (r *Reader) compactHeader(h *Header) (kind byte) {
	if !r.more(2, "message header") {
		return 0
	}
	b := r.buf[r.pos : r.pos+2]
	if b[0] != compactFirst || b[1]&0x1f != compactVersion {
		r.malformed("a compact message (82, version 1)", r.peek(4))
		return 0
	}
	kind = b[1] >> compactTypeBit
	r.pos += 2
	r.atBoundary = false
	h.Seq = int32(r.uvarint32())
	h.Name = r.name(int(int32(r.uvarint32())))
	return kind
}

func (r *Reader) binaryHeader(h *Header) (kind byte) {
	if !r.more(4, "message header") {
		return 0
	}
	word := binary.BigEndian.Uint32(r.buf[r.pos:])
	if int32(word) >= 0 { // old style: no version, the name's length comes first
		if word > maxName {
			r.malformed("a binary message (8001, or a method name)", r.peek(4))
			return 0
		}
		r.pos += 4
		r.atBoundary = false
		h.Name = r.name(int(word))
		kind = byte(r.Byte())
		h.Seq = r.I32()
		return kind
	}
	if word&0xffff0000 != binaryVersion {
		r.malformed("a binary message (8001)", r.peek(4))
		return 0
	}
	r.pos += 4
	r.atBoundary = false
	h.Name = r.name(int(r.I32()))
	h.Seq = r.I32()
	return byte(word)
}

func (r *Reader) name(n int) []byte {
	switch {
	case r.err != nil:
		return nil
	case n < 0:
		r.malformed("the length of a method name", fmt.Sprint(n))
		return nil
	case n > maxName:
		r.fail(&SizeError{What: "method name", Size: int64(n), Limit: maxName})
		return nil
	}
	return r.bytes(n, "method name")
}

// fail keeps the first error and stops all reading.
func (r *Reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.end = r.pos
}

func (r *Reader) malformed(expected, got string) {
	r.fail(&MalformedError{Expected: expected, Got: got})
}

// tooFar fails because n bytes (or elements) do not fit into what is left of
// the message.
func (r *Reader) tooFar(what string, n int) {
	left := r.limit - r.pos
	if r.framed {
		r.malformed(fmt.Sprintf("a %s within the %d bytes left of the frame", what, left), fmt.Sprint(n))
		return
	}
	r.fail(&SizeError{What: what, Size: int64(n), Limit: int64(left)})
}

// peek renders up to n bytes that have arrived, for an error.
func (r *Reader) peek(n int) string {
	b := r.buf[r.pos:min(r.filled, r.pos+n)]
	if isText(b) {
		return fmt.Sprintf("%q", b)
	}
	return fmt.Sprintf("% x", b)
}
