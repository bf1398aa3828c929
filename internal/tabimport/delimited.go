package tabimport

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// delimited splits CSV and TSV: fields with a separator between, one record a
// line; with a quote, fields may be quoted as in RFC 4180 and then hold
// separators and line ends.
//
// A quote out of place costs its own line only: reading goes on at the next
// physical line, wherever the search for the other quote ended.
type delimited struct {
	w         *window
	separator byte
	quote     byte // 0: none
	spans     []span
	unquoted  []byte // of fields with doubled quotes
	lineStop  int    // where the line ends that parse is in; -1: not looked for
	severed   bool   // the stream failed inside of quotes
}

// maxFields bounds the fields of a record: they cost more memory than the
// separators between them.
const maxFields = 1 << 16

var tooMany = fmt.Sprintf("more than %d fields", maxFields)

// span is a field in the window, relative to its start.
type span struct {
	start, end int
	doubled    bool // holds doubled quotes
}

func (d *delimited) window() *window { return d.w }

func (d *delimited) next(rec *record) error {
	next, taken, err := readLine(d.w, rec)
	if err != nil || taken {
		return err
	}
	if d.quote == 0 || bytes.IndexByte(rec.raw, d.quote) < 0 {
		d.split(rec)
		d.w.take(next, 1)
		return nil
	}
	end, next, lines, fault := d.parse()
	if fault != "" {
		// Half a file may have been looked at: the line is at another place by now.
		end, next, _ = d.w.lineEnd(0)
		if d.severed {
			return d.w.err // it is the stream that is at fault
		}
		rec.raw, rec.fault = d.w.held()[:end], fault
		d.w.take(next, 1)
		return nil
	}
	if d.w.err != nil && d.w.held()[next-1] != '\n' {
		return d.w.err // what is held is half a record
	}
	rec.raw = d.w.held()[:end]
	rec.lastLine = rec.line + lines - 1
	d.collect(rec)
	d.w.take(next, lines)
	return nil
}

// split cuts a line without quotes.
func (d *delimited) split(rec *record) {
	rest := rec.raw
	for {
		i := bytes.IndexByte(rest, d.separator)
		if i < 0 {
			rec.fields = append(rec.fields, rest)
			return
		}
		if len(rec.fields) == maxFields-1 {
			rec.fault = tooMany
			return
		}
		rec.fields = append(rec.fields, rest[:i])
		rest = rest[i+1:]
	}
}

// parse finds the fields of a record with quotes in it. The record is
// held()[:end], of so many lines, and what comes after begins at next.
func (d *delimited) parse() (end, next int, lines int64, fault string) {
	d.spans = d.spans[:0]
	lines, d.lineStop, d.severed = 1, -1, false
	at := 0
	for {
		if len(d.spans) == maxFields {
			return 0, 0, 0, tooMany
		}
		s, stop, inner, fault := d.field(at)
		if fault != "" {
			return 0, 0, 0, strings.Replace(fault, "%d", strconv.Itoa(len(d.spans)+1), 1)
		}
		d.spans = append(d.spans, s)
		lines += inner
		held := d.w.held()
		if stop < len(held) && held[stop] == d.separator {
			at = stop + 1
			continue
		}
		end, next, _ = d.w.lineEnd(stop)
		return end, next, lines, ""
	}
}

// Faults of quoting; the number of the field goes in.
const (
	faultBare   = "a quote inside field %d, which does not begin with one"
	faultAfter  = "text after the closing quote of field %d"
	faultOpen   = "the quote of field %d is not closed"
	faultTooBig = "the quote of field %d is not closed within the limit of a line"

	faultPlainTooBig = "field %d goes beyond the limit of a line"
)

// field finds the field that begins at a place. stop is where it ends: at a
// separator, a line end, or the end of the stream.
func (d *delimited) field(at int) (s span, stop int, lines int64, fault string) {
	if b, ok := d.byteAt(at); !ok || b != d.quote {
		return d.plain(at)
	}
	s.start = at + 1
	for from := at + 1; ; {
		held := d.w.held()
		i := bytes.IndexByte(held[from:], d.quote)
		if i < 0 {
			from = len(held)
			if d.w.fill() {
				continue
			}
			if d.w.full() {
				return s, 0, 0, faultTooBig
			}
			d.severed = d.w.err != nil
			return s, 0, 0, faultOpen
		}
		closing := from + i
		if b, ok := d.byteAt(closing + 1); ok && b == d.quote {
			s.doubled = true
			from = closing + 2
			continue
		}
		s.end = closing
		if fault := d.ends(closing + 1); fault != "" {
			return s, 0, 0, fault
		}
		lines = int64(bytes.Count(d.w.held()[s.start:s.end], newline))
		return s, closing + 1, lines, ""
	}
}

var newline = []byte{'\n'}

// plain finds a field that is not quoted.
func (d *delimited) plain(at int) (s span, stop int, lines int64, fault string) {
	if at > d.lineStop {
		// Once a line, and not once a field: it may have many.
		end, _, whole := d.w.lineEnd(at)
		if !whole {
			return s, 0, 0, faultPlainTooBig
		}
		d.lineStop = max(at, end)
	}
	line := d.w.held()[at:d.lineStop]
	if i := bytes.IndexByte(line, d.separator); i >= 0 {
		line = line[:i]
	}
	if bytes.IndexByte(line, d.quote) >= 0 {
		return s, 0, 0, faultBare
	}
	return span{start: at, end: at + len(line)}, at + len(line), 0, ""
}

// byteAt gives a byte of the window, reading more if need be.
func (d *delimited) byteAt(i int) (byte, bool) {
	for i >= len(d.w.held()) {
		if !d.w.fill() {
			return 0, false
		}
	}
	return d.w.held()[i], true
}

// ends says why a quoted field may not end before a place; empty: it may.
func (d *delimited) ends(i int) (fault string) {
	b, ok := d.byteAt(i)
	if ok && b == '\r' {
		if b, ok = d.byteAt(i + 1); ok && b != '\n' {
			return faultAfter
		}
	}
	switch {
	case !ok && d.w.full():
		return faultTooBig
	case !ok || b == d.separator || b == '\n':
		return ""
	}
	return faultAfter
}

// collect makes the fields of the spans, now that the window stands still.
func (d *delimited) collect(rec *record) {
	held := d.w.held()
	d.unquoted = d.unquoted[:0]
	for _, s := range d.spans {
		field := held[s.start:s.end]
		if s.doubled {
			field = d.undouble(field)
		}
		rec.fields = append(rec.fields, field)
	}
}

// undouble copies a field, one quote for each two.
func (d *delimited) undouble(field []byte) []byte {
	// What was handed out before points into the old array if it grows.
	begin := len(d.unquoted)
	for {
		i := bytes.IndexByte(field, d.quote)
		if i < 0 {
			d.unquoted = append(d.unquoted, field...)
			return d.unquoted[begin:len(d.unquoted):len(d.unquoted)]
		}
		d.unquoted = append(d.unquoted, field[:i+1]...)
		field = field[i+2:]
	}
}
