package intake

import (
	"bytes"
	"fmt"
	"math"
)

// mode is the form of a body.
type mode uint8

const (
	unknown  mode = iota // not looked at yet
	lines                // JSON, a record a line
	joined               // JSON, one value after the other
	array                // JSON, within an array
	arrayEnd             // after the array
	csvHead              // CSV, before its header
	csvRows
)

// state says why body.run came back.
type state uint8

const (
	needData state = iota // the rest of the buffer is no whole record
	partFull              // as many rows as the part may have
	finished
)

// body finds the records of a body, of which it sees one buffer at a time.
type body struct {
	p   *parser
	buf []byte
	pos int  // of the first byte in buf that is not done with
	eof bool // nothing comes after buf
	// Of what is no longer in buf.
	base     int64
	newlines int
	// partStart is where the part begins, and partBytes how long it may get.
	partStart, partBytes int64

	mode mode
	// wantValue: in an array, the next is a value, and no comma or end.
	wantValue bool
	// first: in an array, no value was read yet.
	first bool
	// line has the lines before pos, in forms that have lines.
	line int
	// skipping: what comes up to the next newline belongs to a line too long.
	skipping bool

	csv csvTable
}

const byteOrderMark = "\xEF\xBB\xBF"

// run reads records until the part has rows of them, or data is missing, or the
// body is at its end.
func (b *body) run(rows int) (state, error) {
	for {
		var st state
		var err error
		switch b.mode {
		case unknown:
			if st, err = b.recognise(); err == nil && b.mode != unknown {
				continue
			}
		case lines:
			st, err = b.runLines(rows)
		case joined:
			st, err = b.runJoined(rows)
		case array:
			st, err = b.runArray(rows)
			if err == nil && b.mode == arrayEnd {
				continue
			}
		case arrayEnd:
			st, err = b.runEnd()
		case csvHead:
			st, err = b.runHeader()
			if err == nil && b.mode == csvRows {
				continue
			}
		case csvRows:
			st, err = b.runCSV(rows)
		}
		return st, err
	}
}

// partDone says whether the part has rows rows, or was read from as many bytes as
// a part may be: texts take memory too.
func (b *body) partDone(rows int) bool {
	return b.p.rows >= rows || b.p.rows > 0 && b.base+int64(b.pos)-b.partStart >= b.partBytes
}

// waiting is what to answer when buf is at its end.
func (b *body) waiting() state {
	if b.eof {
		return finished
	}
	return needData
}

// recognise finds the form of the body from its first bytes.
func (b *body) recognise() (state, error) {
	if b.base == 0 && b.pos == 0 {
		if len(b.buf) < len(byteOrderMark) && !b.eof {
			return needData, nil
		}
		if bytes.HasPrefix(b.buf, []byte(byteOrderMark)) {
			b.pos = len(byteOrderMark)
		}
	}
	switch b.p.opt.Format {
	case CSV:
		b.mode = csvHead
		return needData, nil
	case NDJSON:
		b.mode = lines
		return needData, nil
	}
	i := skipBlanks(b.buf, b.pos)
	switch {
	case i == len(b.buf):
		if b.eof || len(b.buf) < b.p.opt.MaxRecord {
			return b.waiting(), nil
		}
		return 0, b.syntax(i, "there are only blanks")
	case b.buf[i] == '[':
		b.pos, b.mode = i+1, array
		b.wantValue, b.first = true, true
	case b.buf[i] == '{':
		return b.recogniseObjects(i)
	default:
		return 0, b.syntax(i, fmt.Sprintf("it begins with %q; an object or an array of objects is expected", b.buf[i]))
	}
	return needData, nil
}

// recogniseObjects tells objects that are a line each from others, by the first
// line.
func (b *body) recogniseObjects(i int) (state, error) {
	line, whole := b.buf[i:], false
	if n := bytes.IndexByte(line, '\n'); n >= 0 {
		line, whole = line[:n], true
	} else if !b.eof && len(b.buf) <= b.p.opt.MaxRecord {
		return needData, nil
	}
	end := b.p.skipValue(line, 0)
	switch {
	case end == badSyntax, end >= 0 && skipBlanks(line, end) == len(line), !whole && !b.eof:
		b.mode = lines
	default:
		b.mode = joined
	}
	return needData, nil
}

// runLines reads a record from each line.
func (b *body) runLines(rows int) (state, error) {
	p := b.p
	for {
		if b.partDone(rows) {
			return partFull, nil
		}
		if b.skipping && !b.skipLine() {
			return b.waiting(), nil
		}
		line := b.buf[b.pos:]
		n := bytes.IndexByte(line, '\n')
		last := n < 0
		switch {
		case !last:
			line = line[:n]
		case len(line) == 0:
			return b.waiting(), nil
		case !b.eof:
			if len(line) > p.opt.MaxRecord {
				b.rejectLong()
				continue
			}
			return needData, nil
		}
		if i := skipBlanks(line, 0); i < len(line) {
			p.line = b.line + 1
			if err := b.readLine(line, i, last); err != nil {
				return 0, err
			}
			if p.full {
				return partFull, nil
			}
		}
		b.line++
		if b.pos += len(line); !last {
			b.pos++
		}
	}
}

func (b *body) readLine(line []byte, i int, last bool) error {
	p := b.p
	switch end := p.read(line, i); {
	case end == endOfData && last:
		p.abandon()
		return b.cutOff()
	case end == endOfData:
		p.reject("", "the line ends in the middle of it")
	case end == badSyntax:
		p.rejectf("", "it is not valid JSON at byte %d of the line, %s", p.at, excerpt(line[p.at:]))
	default:
		if i = skipBlanks(line, end); i < len(line) {
			p.rejectf("", "the line goes on after it, at byte %d, %s", i, excerpt(line[i:]))
		}
	}
	p.end()
	b.estimate(len(line) + 1)
	return nil
}

// rejectLong rejects a line that is longer than a record may be.
func (b *body) rejectLong() {
	p := b.p
	p.line = b.line + 1
	p.begin()
	p.rejectf("", "it is longer than %d bytes", p.opt.MaxRecord)
	p.end()
	b.skipping = true
}

// skipLine goes to the beginning of the next line; false: it is not there yet.
func (b *body) skipLine() bool {
	n := bytes.IndexByte(b.buf[b.pos:], '\n')
	if n < 0 {
		b.pos = len(b.buf)
		return false
	}
	b.pos += n + 1
	b.line++
	b.skipping = false
	return true
}

// runJoined reads one value after the other.
func (b *body) runJoined(rows int) (state, error) {
	for {
		if b.partDone(rows) {
			return partFull, nil
		}
		b.pos = skipBlanks(b.buf, b.pos)
		if b.pos == len(b.buf) {
			return b.waiting(), nil
		}
		end, st, err := b.readJoined()
		if end < 0 {
			return st, err
		}
		b.pos = end
	}
}

// readJoined reads the record at pos. A negative end comes with the answer of
// run.
func (b *body) readJoined() (end int, st state, err error) {
	p := b.p
	end = p.read(b.buf, b.pos)
	if end == len(b.buf) && !b.eof && b.buf[b.pos] != '{' {
		end = endOfData // a number may go on
	}
	switch {
	case end == badSyntax:
		p.abandon()
		return end, 0, b.syntax(p.at, "it is not valid JSON: "+excerpt(b.buf[p.at:]).String())
	case end == endOfData && b.eof:
		p.abandon()
		return end, 0, b.cutOff()
	case end == endOfData:
		p.abandon()
		if len(b.buf)-b.pos > p.opt.MaxRecord {
			return end, 0, b.syntax(b.pos, fmt.Sprintf("the record is longer than %d bytes", p.opt.MaxRecord))
		}
		return end, needData, nil
	}
	if p.end(); p.full {
		return endOfData, partFull, nil
	}
	b.estimate(end - b.pos + 1)
	return end, 0, nil
}

// runArray reads the values of the array.
func (b *body) runArray(rows int) (state, error) {
	for {
		if b.partDone(rows) {
			return partFull, nil
		}
		b.pos = skipBlanks(b.buf, b.pos)
		if b.pos == len(b.buf) {
			if b.eof {
				return 0, b.cutOff()
			}
			return needData, nil
		}
		c := b.buf[b.pos]
		switch {
		case c == ']' && (!b.wantValue || b.first):
			b.pos++
			b.mode = arrayEnd
			return needData, nil
		case b.wantValue:
			end, st, err := b.readJoined()
			if end < 0 {
				return st, err
			}
			b.pos, b.wantValue, b.first = end, false, false
		case c == ',':
			b.pos++
			b.wantValue = true
		default:
			return 0, b.syntax(b.pos, fmt.Sprintf("a comma or the end of the array is missing before %s", excerpt(b.buf[b.pos:])))
		}
	}
}

// runEnd sees to it that nothing comes after the array.
func (b *body) runEnd() (state, error) {
	if b.pos = skipBlanks(b.buf, b.pos); b.pos < len(b.buf) {
		return 0, b.syntax(b.pos, "the body goes on after the array: "+excerpt(b.buf[b.pos:]).String())
	}
	return b.waiting(), nil
}

// estimate makes room after the first record of a part for as many like it as
// may come.
func (b *body) estimate(length int) {
	p := b.p
	if p.rows != 1 || p.room == 0 {
		return
	}
	n := min((len(b.buf)-b.pos)/length, p.room, p.maxRows)
	for i := range p.cols {
		p.cols[i].reserve(n)
	}
	p.room = 0
}

// mostRoom bounds the rows that room is made for beforehand: a body of small
// records would else reserve much for a first one that is smaller still.
const mostRoom = 1 << 16

func (b *body) syntax(at int, reason string) error {
	line := b.newlines + bytes.Count(b.buf[:at], []byte{'\n'}) + 1
	return &SyntaxError{Offset: b.base + int64(at), Line: line, Record: b.p.recordIndex, Reason: reason}
}

func (b *body) cutOff() error {
	return &CutOffError{Offset: b.base + int64(len(b.buf)), Record: b.p.recordIndex}
}

// maxBody keeps the offsets of texts within 32 bits: mending makes three bytes
// of one at most.
const maxBody = math.MaxUint32 / 4
