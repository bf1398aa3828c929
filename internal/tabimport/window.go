package tabimport

import (
	"bytes"
	"io"
)

// window is a part of a stream: a record is looked at as a whole, however it
// came in, and may be left again without having been taken.
type window struct {
	r          io.Reader
	buf        []byte
	start, end int
	// max bounds what the window holds, in bytes.
	max int
	eof bool
	err error // other than io.EOF
	// offset and line say where buf[start] is in the stream; line counts from 1.
	offset, line int64
}

// firstRead is how much a window holds at the beginning.
const firstRead = 64 << 10

func newWindow(r io.Reader, offset, line int64, max int) *window {
	return &window{r: r, offset: offset, line: line, max: max, buf: make([]byte, min(firstRead, max))}
}

// held is what is there of the stream from where the window is.
func (w *window) held() []byte { return w.buf[w.start:w.end] }

// fill reads more. It answers false when there is no more: at the end, after an
// error, or when the window is full. Slices of held are not valid after it.
func (w *window) fill() bool {
	if w.eof || w.err != nil || w.full() {
		return false
	}
	if w.end == len(w.buf) {
		w.makeRoom()
	}
	for range 100 {
		n, err := w.r.Read(w.buf[w.end:min(len(w.buf), w.start+w.max)])
		w.end += n
		if err == io.EOF {
			w.eof = true
		} else if err != nil {
			w.err = err
		}
		if n > 0 || err != nil {
			return n > 0
		}
	}
	w.err = io.ErrNoProgress
	return false
}

func (w *window) makeRoom() {
	if w.start > 0 && w.start >= len(w.buf)/2 {
		w.end = copy(w.buf, w.buf[w.start:w.end])
		w.start = 0
		return
	}
	grown := make([]byte, min(2*len(w.buf), w.max+w.start))
	w.end = copy(grown, w.buf[w.start:w.end])
	w.start = 0
	w.buf = grown
}

// full says whether the window holds as much as it may.
func (w *window) full() bool { return w.end-w.start >= w.max }

// take leaves n bytes and as many lines behind.
func (w *window) take(n int, lines int64) {
	w.start += n
	w.offset += int64(n)
	w.line += lines
}

// lineEnd finds the end of the line that holds the byte at from: the line is
// held()[:end], and the next one begins at next. ok is false where the line, its
// end included, is longer than the window may be.
func (w *window) lineEnd(from int) (end, next int, ok bool) {
	for at := from; ; {
		held := w.held()
		if i := bytes.IndexByte(held[at:], '\n'); i >= 0 {
			return trimReturn(held, at+i), at + i + 1, true
		}
		at = len(held)
		if !w.fill() {
			return trimReturn(held, at), at, !w.full()
		}
	}
}

// trimReturn moves the end of a line before a carriage return.
func trimReturn(b []byte, end int) int {
	if end > 0 && b[end-1] == '\r' {
		return end - 1
	}
	return end
}

// skipLine leaves a line that is longer than the window behind, and answers how
// many bytes it has, its end not counted.
func (w *window) skipLine() (length int64) {
	begin := w.offset
	for {
		held := w.held()
		if i := bytes.IndexByte(held, '\n'); i >= 0 {
			w.take(i+1, 1)
			return w.offset - begin - 1
		}
		w.take(len(held), 0)
		if !w.fill() {
			w.line++
			return w.offset - begin
		}
	}
}
