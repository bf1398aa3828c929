package intake

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/cellardb/cellar/stream/schema"
)

// csvTable is what is known of a CSV body.
type csvTable struct {
	names []string
	// at has the column of each name; -1: an open stream does not have it yet.
	at     []int32
	values []csvValue
	// unquoted holds the values that had quotes within quotes.
	unquoted []byte
}

// csvValue is one value of a row, within the buffer or within unquoted.
type csvValue struct {
	start, end int
	// copied: it is in unquoted.
	copied, quoted bool
}

// Faults of a row that leave the next ones readable.
const (
	bareQuote = "a quote stands within a value that is not quoted"
	afterText = "text follows the closing quote of a value"
)

// readRow takes the row at b[i] apart, into values. It answers the index after
// its end and how many lines it took, or endOfData where the row may go on. A
// row with a fault ends with its line.
func (t *csvTable) readRow(b []byte, i int, comma byte, eof bool) (end, lines int, fault string) {
	t.values, t.unquoted = t.values[:0], t.unquoted[:0]
	for {
		if i < len(b) && b[i] == '"' {
			if i, fault = t.readQuoted(b, i+1, comma, &lines); i < 0 {
				return i, 0, ""
			}
		} else {
			start := i
			for i < len(b) && b[i] != comma && b[i] != '\n' && b[i] != '"' {
				i++
			}
			if i < len(b) && b[i] == '"' {
				fault = bareQuote
			}
			t.values = append(t.values, csvValue{start: start, end: i})
		}
		switch {
		case fault != "":
			n := bytes.IndexByte(b[i:], '\n')
			switch {
			case n >= 0:
				return i + n + 1, lines + 1, fault
			case eof:
				return len(b), lines + 1, fault
			}
			return endOfData, 0, ""
		case i == len(b):
			if !eof {
				return endOfData, 0, ""
			}
			t.dropReturn(b, i)
			return i, lines + 1, ""
		case b[i] == '\n':
			t.dropReturn(b, i)
			return i + 1, lines + 1, ""
		}
		i++ // the comma
	}
}

// dropReturn takes the carriage return before the end of the row from its last
// value.
func (t *csvTable) dropReturn(b []byte, end int) {
	v := &t.values[len(t.values)-1]
	if !v.quoted && v.end == end && v.end > v.start && b[v.end-1] == '\r' {
		v.end--
	}
}

// readQuoted reads the value whose first byte after the quote is b[i]. If that
// ends where b ends, it may go on.
func (t *csvTable) readQuoted(b []byte, i int, comma byte, lines *int) (end int, fault string) {
	v := csvValue{start: i, quoted: true}
	piece := i // of what is not in unquoted
	for {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return endOfData, ""
		}
		*lines += bytes.Count(b[i:i+n], []byte{'\n'})
		if i += n + 1; i == len(b) || b[i] != '"' {
			break
		}
		// Two quotes are one of the value.
		if !v.copied {
			v.copied, v.start = true, len(t.unquoted)
		}
		t.unquoted = append(t.unquoted, b[piece:i]...)
		i++
		piece = i
	}
	v.end = i - 1
	if v.copied {
		t.unquoted = append(t.unquoted, b[piece:i-1]...)
		v.end = len(t.unquoted)
	}
	t.values = append(t.values, v)
	if i < len(b) && b[i] == '\r' && (i+1 == len(b) || b[i+1] == '\n') {
		i++
	}
	if i < len(b) && b[i] != comma && b[i] != '\n' {
		return i, afterText
	}
	return i, ""
}

// value is a value of the row.
func (t *csvTable) value(b []byte, v csvValue) []byte {
	if v.copied {
		return t.unquoted[v.start:v.end]
	}
	return b[v.start:v.end]
}

// runHeader reads the names of the columns.
func (b *body) runHeader() (state, error) {
	t := &b.csv
	for b.pos < len(b.buf) && (b.buf[b.pos] == '\n' || b.buf[b.pos] == '\r') {
		if b.buf[b.pos] == '\n' {
			b.line++
		}
		b.pos++
	}
	if b.pos == len(b.buf) {
		return b.waiting(), nil
	}
	end, lines, fault := t.readRow(b.buf, b.pos, b.p.opt.Comma, b.eof)
	switch {
	case fault != "":
		return 0, b.syntax(b.pos, "the header: "+fault)
	case end < 0 && b.eof:
		return 0, b.cutOff()
	case end < 0 && len(b.buf)-b.pos > b.p.opt.MaxRecord:
		return 0, b.syntax(b.pos, fmt.Sprintf("the header is longer than %d bytes", b.p.opt.MaxRecord))
	case end < 0:
		return needData, nil
	}
	if err := b.readNames(); err != nil {
		return 0, err
	}
	b.pos = end
	b.line += lines
	b.mode = csvRows
	return needData, nil
}

func (b *body) readNames() error {
	t, p := &b.csv, b.p
	if len(t.values) > schema.MaxFields {
		return b.syntax(b.pos, fmt.Sprintf("the header has %d columns; %d is the most", len(t.values), schema.MaxFields))
	}
	seen := map[string]bool{}
	for k, v := range t.values {
		name := string(bytes.TrimSpace(t.value(b.buf, v)))
		if err := schema.ValidateFieldName(name); err != nil {
			return b.syntax(b.pos, fmt.Sprintf("column %d of the header: %v", k+1, err))
		}
		_, known := p.index[name]
		switch {
		case seen[name]:
			return b.syntax(b.pos, fmt.Sprintf("column %d of the header, %q, is there twice", k+1, name))
		case name == schema.Undated:
			return b.syntax(b.pos, fmt.Sprintf("column %d of the header: field %q is set by Cellar", k+1, name))
		case !known && !p.schema.Open:
			return b.syntax(b.pos, fmt.Sprintf("column %d of the header: stream %s has no field %q", k+1, p.schema.Name, name))
		}
		seen[name] = true
		t.names = append(t.names, name)
	}
	b.placeColumns()
	return nil
}

// placeColumns finds the columns of the names, at the beginning of a part.
func (b *body) placeColumns() {
	t := &b.csv
	t.at = t.at[:0]
	for _, name := range t.names {
		at, known := b.p.index[name]
		if !known {
			at = -1
		}
		t.at = append(t.at, at)
	}
}

// runCSV reads records from rows.
func (b *body) runCSV(rows int) (state, error) {
	p, t := b.p, &b.csv
	if p.rows == 0 {
		b.placeColumns()
	}
	for {
		if b.partDone(rows) {
			return partFull, nil
		}
		if b.skipping && !b.skipLine() {
			return b.waiting(), nil
		}
		if b.pos == len(b.buf) {
			return b.waiting(), nil
		}
		end, lines, fault := t.readRow(b.buf, b.pos, p.opt.Comma, b.eof)
		if end < 0 {
			switch {
			case b.eof:
				return 0, b.cutOff()
			case len(b.buf)-b.pos <= p.opt.MaxRecord:
				return needData, nil
			}
			b.rejectLong()
			continue
		}
		if b.isBlankRow(fault) {
			b.pos = end
			b.line += lines
			continue
		}
		p.line = b.line + 1
		p.begin()
		switch {
		case fault != "":
			p.reject("", fault)
		case len(t.values) < len(t.names) && b.eof && end == len(b.buf) && b.buf[end-1] != '\n':
			p.abandon()
			return 0, b.cutOff()
		case len(t.values) != len(t.names):
			p.rejectf("", "it has %d values; the header has %d", len(t.values), len(t.names))
		default:
			b.readValues()
		}
		if p.end(); p.full {
			return partFull, nil
		}
		b.estimate(end - b.pos)
		b.pos = end
		b.line += lines
	}
}

func (b *body) isBlankRow(fault string) bool {
	t := &b.csv
	return fault == "" && len(t.values) == 1 && !t.values[0].quoted && t.values[0].start == t.values[0].end
}

// readValues gives the record the values of the row.
func (b *body) readValues() {
	p, t := b.p, &b.csv
	p.lenient = true
	for k, v := range t.values {
		if p.bad || p.full {
			break
		}
		text := t.value(b.buf, v)
		at := t.at[k]
		if at < 0 {
			if len(text) == 0 {
				continue
			}
			if at = int32(p.fieldFor([]byte(t.names[k]), typeOfText(text))); at < 0 {
				break
			}
			t.at[k] = at
		}
		c := &p.cols[at]
		isText := c.field.Type == schema.Text
		if len(text) == 0 && (!isText || c.field.Nullable && !v.quoted) {
			continue // null
		}
		if len(text) > p.opt.MaxText {
			p.rejectf(c.field.Name, "the text has %d bytes; %d is the most", len(text), p.opt.MaxText)
			break
		}
		p.setValidText(c, text)
	}
	p.lenient = false
}

// setValidText is setText, for text that may be no UTF-8.
func (p *parser) setValidText(c *column, text []byte) {
	if !utf8.Valid(text) {
		p.scratch = appendMended(p.scratch[:0], text)
		p.mending = true
		text = p.scratch
	}
	p.setText(c, text)
}

// typeOfText is the type that an open stream gives a value of CSV.
func typeOfText(text []byte) schema.Type {
	if n, ok := numberOfText(text); ok {
		return typeOfNumber(&n, text)
	}
	if _, ok := boolOfText(text); ok {
		return schema.Bool
	}
	return schema.Text
}
