package shell

import (
	"fmt"
	"strings"
)

// maxStatement is how long a statement may be, in bytes: a value of 10 MB with
// each byte written as \xHH fits.
const maxStatement = 64 << 20

// lengthError is a statement that is too long, of one that was never ended as a
// rule.
type lengthError struct{ limit int }

func (e *lengthError) Error() string {
	return fmt.Sprintf("the statement is longer than %d bytes: is a quote or a bracket not closed?", e.limit)
}

// pending is a statement that comes line by line. To parse it at each line would
// take time by the square of its lines, so it is parsed where it may be whole, by
// the look of its end, and else whenever it has doubled: an error in its middle
// is found before long.
type pending struct {
	text strings.Builder
	end  ending
	next int // length at which it is parsed, whatever its end is
}

// firstLook is how long a statement may be for each of its lines to be parsed:
// a person who types is told at once what is wrong.
const firstLook = 4 << 10

// add takes a line, its newline included, and says whether to parse.
func (p *pending) add(line string) (parse bool) {
	p.text.WriteString(line)
	p.end.read(line)
	return p.end.whole() || p.text.Len() >= max(p.next, firstLook) || p.text.Len() < firstLook
}

// take gives the text and forgets it.
func (p *pending) take() string {
	text := p.text.String()
	*p = pending{}
	return text
}

// keep takes back what is not whole.
func (p *pending) keep(text string) {
	*p = pending{next: 2 * len(text)}
	p.text.WriteString(text)
	p.end.read(text)
}

// ending knows of a text whether a statement may end where the text does: not in
// quotes or brackets, nor behind a comma, an arrow, an operator or a backslash.
// It reads each byte once, and agrees with the lexer on what it means.
type ending struct {
	quote   byte // that is open; 0: none
	escaped bool // behind a backslash
	joined  bool // behind one that joins this line with the next
	comment bool
	depth   int  // of brackets
	open    bool // the last token wants another
	over    bool // a statement has ended in the text
}

// whole says whether the text may hold a whole statement.
func (e *ending) whole() bool {
	return e.over || e.quote == 0 && e.depth == 0 && !e.open && !e.escaped && !e.joined
}

func (e *ending) read(text string) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		e.joined = e.escaped && c == '\n' && e.quote == 0
		switch {
		case e.escaped:
			e.escaped = c == '\r' && e.quote == 0
		case c == '\\' && !e.comment:
			e.escaped = true
		case e.quote != 0:
			if c == e.quote {
				e.quote = 0
			}
		case e.comment:
			e.comment = c != '\n'
			if !e.comment {
				e.line(c)
			}
		default:
			e.sign(c)
		}
	}
}

// sign reads a character outside of quotes and comments.
func (e *ending) sign(c byte) {
	switch c {
	case '\'', '"':
		e.quote, e.open = c, false
	case '#':
		e.comment = true
	case '\n', ';':
		e.line(c)
	case ' ', '\t', '\r':
	case '[', '{', '(':
		e.depth++
		e.open = false
	case ']', '}', ')':
		e.depth = max(0, e.depth-1)
		e.open = false
	case ',', '+', '-', '*', '>':
		e.open = true
	default:
		e.open = false
	}
}

// line reads a break, which ends a statement unless something is open.
func (e *ending) line(c byte) {
	e.over = e.over || c == ';' || e.depth == 0 && !e.open
}
