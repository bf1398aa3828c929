package thrift

import (
	"io"
	"math/bits"
	"sync"
)

// A message is read into pieces of memory that never move: when one is full, the
// following bytes go into another, twice as large, and only the value that was
// cut by the end of the first is copied, and if the first held nothing else, it is
// given back. So a value's bytes stay where they are
// until the next message, without knowing in advance how long the message is.
const (
	smallestPiece = 4 << 10   // each Reader's own; all that an idle connection holds
	largestPiece  = 256 << 10 // a larger piece is made for a single large value only
	largeStep     = 4 << 10   // what the size of such a one is a multiple of
	pieceClasses  = 7         // 4 KiB, 8 KiB, ... 256 KiB
	// tightRoom is the room in a piece under which bytes to be skipped are
	// read into another.
	tightRoom = 512
	// emptyReads is how often a source may return nothing, without an error.
	emptyReads = 100
)

// Pool lends pieces of memory to the Readers of many connections, so that those
// that wait hold next to nothing. The zero Pool is ready; safe for any number
// of goroutines.
type Pool struct{ classes [pieceClasses]sync.Pool }

// piece is memory that a Reader reads into.
type piece struct{ b []byte }

// get lends a piece of size bytes: a power of two, or more than 2*largestPiece.
func (p *Pool) get(size int) *piece {
	if c := class(size); p != nil && c < pieceClasses {
		if x, ok := p.classes[c].Get().(*piece); ok {
			return x
		}
	}
	return &piece{b: make([]byte, size)}
}

func (p *Pool) put(x *piece) {
	if c := class(len(x.b)); p != nil && c < pieceClasses {
		p.classes[c].Put(x)
	}
}

func class(size int) int { return bits.Len(uint(size)) - bits.Len(uint(smallestPiece)) }

// roundUp is the smallest power of two that is not below n.
func roundUp(n int) int { return 1 << bits.Len(uint(n-1)) }

// more makes n bytes from pos on available in one piece, reading and growing as
// needed. It fails, and returns false, if the message cannot hold them.
func (r *Reader) more(n int, what string) bool {
	if r.err != nil {
		return false
	}
	if n > r.limit-r.pos {
		r.tooFar(what, n)
		return false
	}
	for r.end-r.pos < n {
		if r.filled == len(r.buf) && !r.grow(n) {
			return false
		}
		k := r.read(r.buf[r.filled:])
		if k == 0 {
			return false
		}
		r.filled += k
		r.end = min(r.filled, r.limit)
	}
	return true
}

// grow continues in a new piece: the bytes from pos on move there.
func (r *Reader) grow(n int) bool {
	rest := r.filled - r.pos
	size := r.nextSize(n, rest)
	if r.limits.Grow != nil {
		if err := r.limits.Grow(size); err != nil {
			r.fail(err)
			return false
		}
	}
	p := r.limits.Pool.get(size)
	copy(p.b, r.buf[r.pos:r.filled])
	switch {
	case r.current == nil:
	case r.pos == 0: // it held nothing but the head of this value
		r.giveBack(r.current)
	default:
		r.full = append(r.full, r.current)
	}
	r.current, r.buf = p, p.b
	r.limit -= r.pos
	r.pos, r.filled = 0, rest
	r.end = min(rest, r.limit)
	return true
}

// nextSize is the size of the piece for a value of n bytes, of which rest are
// there. It is at most twice that of the full one, or, for a value that is larger
// than pieces are, four times what has arrived of it, whatever n is: so the value
// fits from a quarter on, and takes at most 1.5 times its size while it moves for
// the last time.
func (r *Reader) nextSize(n, rest int) int {
	size := min(2*len(r.buf), largestPiece)
	switch {
	case n <= size:
		return size
	case n <= 2*largestPiece:
		return max(size, min(roundUp(n), 2*roundUp(max(rest, 1))))
	case n <= 4*rest:
		return (n + largeStep - 1) &^ (largeStep - 1)
	}
	return max(size, 2*roundUp(max(rest, 1)))
}

// read reads at least one byte into b, or fails and returns 0.
func (r *Reader) read(b []byte) int {
	for range emptyReads {
		n, err := r.src.Read(b)
		if n > 0 {
			return n
		}
		if err == nil {
			continue
		}
		if err == io.EOF && !(r.atBoundary && r.pos == r.filled) {
			err = io.ErrUnexpectedEOF
		}
		r.fail(err)
		return 0
	}
	r.fail(io.ErrNoProgress)
	return 0
}

// discard skips n bytes of the message without keeping them.
func (r *Reader) discard(n int, what string) {
	if n <= r.end-r.pos {
		r.pos += n
		return
	}
	if r.err != nil {
		return
	}
	if n > r.limit-r.pos {
		r.tooFar(what, n)
		return
	}
	n -= r.end - r.pos
	r.pos = r.end // which is filled: the message reaches beyond it
	for n > 0 {
		// What is skipped goes into the free end of the piece, over and over:
		// nothing refers to it.
		if len(r.buf)-r.filled < min(n, tightRoom) && !r.grow(0) {
			return
		}
		k := r.read(r.buf[r.filled:min(len(r.buf), r.filled+n)])
		if k == 0 {
			return
		}
		n -= k
		r.limit -= k
	}
	r.end = min(r.filled, r.limit)
}

// recycle gives back the memory of the message before. Bytes of the following
// messages that have arrived stay.
func (r *Reader) recycle() {
	for i, p := range r.full {
		r.giveBack(p)
		r.full[i] = nil
	}
	r.full = r.full[:0]
	if r.charged > 0 && r.limits.Grow != nil {
		_ = r.limits.Grow(-r.charged) // giving back cannot fail
	}
	r.charged = 0
	rest := r.filled - r.pos
	switch {
	case r.current != nil && rest <= smallestPiece:
		copy(r.own, r.buf[r.pos:r.filled])
		r.giveBack(r.current)
		r.current, r.buf = nil, r.own
		r.pos, r.filled = 0, rest
	case rest == 0 || r.pos > len(r.buf)/2:
		copy(r.buf, r.buf[r.pos:r.filled])
		r.pos, r.filled = 0, rest
	}
}

func (r *Reader) giveBack(p *piece) {
	if r.limits.Grow != nil {
		_ = r.limits.Grow(-len(p.b)) // giving back cannot fail
	}
	r.limits.Pool.put(p)
}
