package intake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/cellardb/cellar/stream/schema"
)

// Parse reads a whole body for a stream. The events are columns of the schema in
// the result; nothing in it refers to body. Errors are those of the package:
// nothing of the body is to be stored then.
func Parse(s *schema.Schema, body []byte, o Options) (*Result, error) {
	if len(body) > maxBody {
		return nil, fmt.Errorf("%w: the body has %d bytes; %d is the most", ErrTooLarge, len(body), maxBody)
	}
	b := newBody(s, o)
	b.buf, b.eof, b.partBytes = body, true, math.MaxInt64
	st, err := b.run(math.MaxInt)
	if err != nil {
		return nil, err
	}
	if st == partFull {
		return nil, b.tooLarge()
	}
	return b.p.result()
}

func newBody(s *schema.Schema, o Options) *body { return &body{p: newParser(s, o)} }

func (b *body) tooLarge() error {
	return fmt.Errorf("%w: their columns would take more than %d bytes; send fewer at a time", ErrTooLarge, b.p.opt.MaxMemory)
}

// Reader reads a long body in parts. Its memory is bounded: a buffer of
// Options.MaxRecord at most, twice that while it grows, and the columns of one
// part, read from as many bytes. It belongs to one goroutine at a time.
type Reader struct {
	b     *body
	from  io.Reader
	ended error // what the next Next answers
}

// firstBuffer is the size of a Reader's buffer as long as records are shorter.
const firstBuffer = 1 << 20

// NewReader reads events for a stream from r. It reads ahead, and waits until
// its buffer is full.
func NewReader(s *schema.Schema, r io.Reader, o Options) *Reader {
	return newReader(s, r, o, firstBuffer)
}

func newReader(s *schema.Schema, r io.Reader, o Options, buffer int) *Reader {
	b := newBody(s, o)
	b.buf, b.partBytes = make([]byte, 0, buffer), int64(b.p.opt.MaxRecord)
	return &Reader{b: b, from: r}
}

// Schema is the one under which the next part is read: that of the last result,
// at first the one that NewReader was given.
func (r *Reader) Schema() *schema.Schema { return r.b.p.schema }

// Evolve goes on under another version of the schema, one that came of Schema()
// by Evolve or Absorb: it is for whoever stored the last part under it.
func (r *Reader) Evolve(s *schema.Schema) { r.b.p.reset(s) }

// Next reads the next part: up to rows events (at least 1), fewer at the end, or
// where they take more than Options.MaxRecord bytes or than MaxMemory. A part may have rejected records and no
// events. At the end it answers io.EOF. Indexes and lines of rejected records go
// on from part to part.
//
// Other errors are of the body, as those of Parse, and the Reader is done. Parts
// that were given before stay good; events read since are not given.
func (r *Reader) Next(rows int) (*Result, error) {
	if r.ended != nil {
		return nil, r.ended
	}
	result, err := r.next(max(rows, 1))
	if err != nil {
		r.ended = err
		return nil, err
	}
	return result, nil
}

func (r *Reader) next(rows int) (*Result, error) {
	b := r.b
	b.partStart = b.base + int64(b.pos)
	for {
		st, err := b.run(rows)
		if err != nil {
			return nil, err
		}
		switch {
		case st == partFull && b.p.rows == 0 && b.p.full:
			return nil, b.tooLarge()
		case st == partFull, st == finished && b.p.rows+b.p.rejected > 0:
			return b.p.result()
		case st == finished:
			return nil, io.EOF
		}
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

// fill moves what is left to the front of the buffer and fills it up.
func (r *Reader) fill() error {
	b := r.b
	if b.eof {
		return errors.New("intake: data is missing after the end") // a fault of this package
	}
	left := b.buf[b.pos:]
	b.newlines += bytes.Count(b.buf[:b.pos], []byte{'\n'})
	b.base += int64(b.pos)
	if len(left) > cap(b.buf)/2 {
		grown := make([]byte, len(left), 2*cap(b.buf))
		copy(grown, left)
		b.buf = grown
	} else {
		b.buf = b.buf[:copy(b.buf[:cap(b.buf)], left)]
	}
	b.pos = 0
	for idle := 0; len(b.buf) < cap(b.buf); {
		n, err := r.from.Read(b.buf[len(b.buf):cap(b.buf)])
		b.buf = b.buf[:len(b.buf)+n]
		switch {
		case errors.Is(err, io.EOF):
			b.eof = true
			return nil
		case err != nil:
			return &CutOffError{Offset: b.base + int64(len(b.buf)), Record: b.p.recordIndex, Err: err}
		case n > 0:
			idle = 0
		default:
			if idle++; idle == 100 {
				return &CutOffError{Offset: b.base + int64(len(b.buf)), Record: b.p.recordIndex, Err: io.ErrNoProgress}
			}
		}
	}
	return nil
}
