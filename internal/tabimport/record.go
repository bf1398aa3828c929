package tabimport

import (
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// record is what a splitter makes of one or more lines. Its bytes are valid
// until the next one is read.
type record struct {
	// line and lastLine are the physical lines that it stands on, from 1.
	line, lastLine int64
	// raw is the record as it stands in the file, without its line end. Where
	// fault says that it is too long, it is cut, and ends with a note of that.
	raw []byte
	// fault says why the line is no record; empty: it is one.
	fault string
	// fields by position. Of NDJSON they are those that have a value, and names
	// says what each is called.
	fields [][]byte
	names  [][]byte
}

// splitter takes a stream apart. next answers io.EOF at the end, again and
// again; other errors are of the stream and end it. A line that is no record is
// a record with a fault, and the next line is read after it.
type splitter interface {
	next(*record) error
	window() *window
}

// shownOfLong is how much is kept of a line that is longer than the budget.
const shownOfLong = 4 << 10

// line reads one physical line, leaving out blank ones. The line is still in the
// window: rec is done with it by w.take(next, 1). taken says that there is
// nothing to take: the line was too long.
func readLine(w *window, rec *record) (next int, taken bool, err error) {
	for {
		if w.offset == 0 {
			skipMark(w)
		}
		end, next, whole := w.lineEnd(0)
		*rec = record{line: w.line, lastLine: w.line, fields: rec.fields[:0], names: rec.names[:0]}
		switch {
		case !whole:
			return 0, true, longLine(w, rec)
		case w.err != nil && (next == 0 || w.held()[next-1] != '\n'):
			return 0, false, w.err // what is held is half a line
		case next == 0:
			return 0, false, io.EOF
		case end == 0:
			w.take(next, 1)
			continue
		}
		rec.raw = w.held()[:end]
		return next, false, nil
	}
}

// longLine leaves a line behind that the window cannot hold: of its bytes the
// first are kept, with a note that says so. After an error of the stream there
// is no record: nobody knows where the line ends.
func longLine(w *window, rec *record) error {
	shown := w.held()[:min(shownOfLong, len(w.held()))]
	rec.raw = append([]byte(nil), wholeRunes(shown)...)
	rec.fault = tooLong(w.max)
	length := w.skipLine()
	if w.err != nil {
		return w.err
	}
	rec.raw = fmt.Appendf(rec.raw, "... (cut here: the line has %d bytes)", length)
	return nil
}

// wholeRunes leaves a character out that is cut at the end of a text.
func wholeRunes(b []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if last := b[len(b)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// skipMark leaves a UTF-8 byte order mark out.
func skipMark(w *window) {
	for len(w.held()) < 3 && w.fill() {
	}
	if h := w.held(); len(h) >= 3 && h[0] == 0xef && h[1] == 0xbb && h[2] == 0xbf {
		w.take(3, 0)
	}
}

func tooLong(limit int) string {
	return "longer than the limit of " + strconv.Itoa(limit) + " bytes"
}
