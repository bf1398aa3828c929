package shell

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// errIncomplete: the text ends inside of a statement; more lines may end it.
var errIncomplete = errors.New("the statement is not complete")

// token is a word of the language.
type token struct {
	kind tokenKind
	pos  Pos
	text []byte // names, strings (their value), floats as written
	num  int64
	// spaced: there is space before it; it tells a call's parenthesis from a
	// value's.
	spaced bool
	// big: the number is 2^63, which is one only behind a minus.
	big bool
}

type tokenKind uint8

const (
	tokEnd      tokenKind = iota // of the text
	tokBreak                     // of the statement: newline or ;
	tokName                      // put, is_enabled
	tokConst                     // NAME
	tokString                    // 'x' "x"
	tokNumber                    // 12
	tokFloat                     // 1.5
	tokArrow                     // =>
	tokComma                     // ,
	tokOpen                      // [ { (
	tokClose                     // ] } )
	tokOperator                  // + - *
)

// lexer cuts text into tokens. Inside brackets newlines are space.
type lexer struct {
	text       string
	at         int
	line, from int // from: where the line begins
	depth      int
	joined     bool // the space before here ends with a backslash that joins two lines
}

func newLexer(text string) *lexer { return &lexer{text: text, line: 1} }

func (l *lexer) pos() Pos { return Pos{l.line, l.at - l.from + 1} }

// next gives the next token. The errors are an *Error or errIncomplete.
func (l *lexer) next() (token, error) {
	spaced := l.space()
	t := token{pos: l.pos(), spaced: spaced}
	if l.at >= len(l.text) {
		if l.joined {
			return t, errIncomplete // the next line goes on
		}
		return t, nil
	}
	c := l.text[l.at]
	switch {
	case c == '\n' || c == ';':
		l.advance()
		t.kind = tokBreak
		return t, nil
	case c == '\'':
		return l.single(t)
	case c == '"':
		return l.double(t)
	case isDigit(c):
		return l.number(t)
	case isLetter(c):
		return l.word(t), nil
	}
	return l.sign(t, c)
}

// space skips what means nothing, and says whether there was any.
func (l *lexer) space() bool {
	begin := l.at
	l.joined = false
	for l.at < len(l.text) {
		joins := l.text[l.at] == '\\'
		switch c := l.text[l.at]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n' && l.depth > 0:
			l.advance()
		case c == '\\' && strings.HasPrefix(l.text[l.at:], "\\\n"):
			l.advance()
			l.advance()
		case c == '\\' && strings.HasPrefix(l.text[l.at:], "\\\r\n"):
			l.at += 2
			l.advance()
		case c == '#':
			for l.at < len(l.text) && l.text[l.at] != '\n' {
				l.at++
			}
		default:
			return l.at > begin
		}
		l.joined = joins
	}
	return l.at > begin
}

func (l *lexer) advance() {
	if l.text[l.at] == '\n' {
		l.line++
		l.from = l.at + 1
	}
	l.at++
}

func (l *lexer) sign(t token, c byte) (token, error) {
	t.text = []byte{c}
	switch {
	case strings.HasPrefix(l.text[l.at:], "=>"):
		l.at += 2
		t.kind, t.text = tokArrow, []byte("=>")
		return t, nil
	case c == ',':
		t.kind = tokComma
	case c == '[' || c == '{' || c == '(':
		t.kind = tokOpen
		l.depth++
	case c == ']' || c == '}' || c == ')':
		t.kind = tokClose
		l.depth = max(0, l.depth-1)
	case c == '+' || c == '-' || c == '*':
		t.kind = tokOperator
	case c == '=':
		return t, wrong(t.pos, "= means nothing here: a name and its value are joined by =>, as in VERSIONS => 3")
	case c == '\\' && l.at+1 == len(l.text):
		return t, errIncomplete // the next line goes on
	default:
		r, _ := utf8.DecodeRuneInString(l.text[l.at:])
		return t, wrong(t.pos, "%q means nothing here: text is written in quotes, as in 'text'", r)
	}
	l.at++
	return t, nil
}

func (l *lexer) word(t token) token {
	begin := l.at
	for l.at < len(l.text) && (isLetter(l.text[l.at]) || isDigit(l.text[l.at])) {
		l.at++
	}
	if l.at < len(l.text) && l.text[l.at] == '?' && l.text[begin] >= 'a' {
		l.at++ // exists?
	}
	t.text = []byte(l.text[begin:l.at])
	t.kind = tokName
	if t.text[0] >= 'A' && t.text[0] <= 'Z' {
		t.kind = tokConst
	}
	return t
}

func (l *lexer) number(t token) (token, error) {
	begin := l.at
	for l.at < len(l.text) && (isLetter(l.text[l.at]) || isDigit(l.text[l.at]) || l.text[l.at] == '.') {
		l.at++
	}
	written := l.text[begin:l.at]
	t.text = []byte(written)
	n, err := strconv.ParseInt(strings.ReplaceAll(written, "_", ""), numberBase(written), 64)
	if err == nil && !strings.HasSuffix(written, "_") {
		t.kind, t.num = tokNumber, n
		return t, nil
	}
	if strings.ReplaceAll(written, "_", "") == "9223372036854775808" {
		t.kind, t.num, t.big = tokNumber, math.MinInt64, true
		return t, nil
	}
	if errors.Is(err, strconv.ErrRange) {
		return t, wrong(t.pos, "%s is more than 64 bits hold", clipped(written))
	}
	if f, err := strconv.ParseFloat(written, 64); err == nil && !math.IsInf(f, 0) && !strings.ContainsAny(written, "xXpP_") {
		t.kind = tokFloat
		return t, nil
	}
	return t, wrong(t.pos, "%s is no number: text is written in quotes, as in '%s'", clipped(written), clipped(written))
}

// numberBase is 10 unless the number says otherwise by 0x. A leading zero is
// decimal here: nobody types timestamps in octal.
func numberBase(s string) int {
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X") {
		return 0
	}
	return 10
}

// single reads a string in single quotes: all is literal but \' and \\.
func (l *lexer) single(t token) (token, error) {
	t.kind, t.text = tokString, []byte{}
	l.at++
	for l.at < len(l.text) {
		c := l.text[l.at]
		switch {
		case c == '\'':
			l.at++
			return t, nil
		case c == '\\' && l.at+1 < len(l.text) && (l.text[l.at+1] == '\'' || l.text[l.at+1] == '\\'):
			l.at++
			c = l.text[l.at]
		}
		t.text = append(t.text, c)
		l.advance()
	}
	return t, errIncomplete
}

// double reads a string in double quotes, with escapes.
func (l *lexer) double(t token) (token, error) {
	t.kind, t.text = tokString, []byte{}
	l.at++
	for l.at < len(l.text) {
		switch c := l.text[l.at]; {
		case c == '"':
			l.at++
			return t, nil
		case c == '#' && l.at+1 < len(l.text) && l.text[l.at+1] == '{':
			return t, wrong(l.pos(), "#{...} is not evaluated here: write \\#{ for the characters themselves")
		case c == '\\':
			var err error
			if t.text, err = l.escape(t.text); err != nil {
				return t, err
			}
		default:
			t.text = append(t.text, c)
			l.advance()
		}
	}
	return t, errIncomplete
}

// escape reads a backslash and what it stands for. As in Ruby a backslash
// before a character that has no meaning stands for that character.
func (l *lexer) escape(into []byte) ([]byte, error) {
	if l.at+1 >= len(l.text) {
		return into, errIncomplete
	}
	pos := l.pos()
	l.at++
	c := l.text[l.at]
	switch {
	case c == 'x':
		l.at++
		digits := l.run(isHex, 2)
		if digits == "" {
			return into, wrong(pos, `\x wants one or two hex digits, as in \x00`)
		}
		n, _ := strconv.ParseUint(digits, 16, 8)
		return append(into, byte(n)), nil
	case c == 'u':
		return l.unicode(into, pos)
	case isOctal(c):
		n, _ := strconv.ParseUint(l.run(isOctal, 3), 8, 16)
		return append(into, byte(n)), nil
	case c == '\n':
		l.advance() // the string goes on in the next line
		return into, nil
	}
	l.advance()
	if i := strings.IndexByte("nrtabefvs", c); i >= 0 {
		c = "\n\r\t\a\b\x1b\f\v "[i]
	}
	return append(into, c), nil
}

func (l *lexer) unicode(into []byte, pos Pos) ([]byte, error) {
	l.at++
	braces := l.at < len(l.text) && l.text[l.at] == '{'
	most := 4
	if braces {
		l.at++
		most = 6
	}
	digits := l.run(isHex, most)
	closed := !braces
	if braces && l.at < len(l.text) && l.text[l.at] == '}' {
		l.at++
		closed = true
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || !closed || !braces && len(digits) != 4 || !utf8.ValidRune(rune(n)) {
		return into, wrong(pos, `\u wants a character, as in \u00e9 or \u{1f377}`)
	}
	return utf8.AppendRune(into, rune(n)), nil
}

// run takes at most n characters of a class.
func (l *lexer) run(is func(byte) bool, n int) string {
	begin := l.at
	for l.at < len(l.text) && l.at-begin < n && is(l.text[l.at]) {
		l.at++
	}
	return l.text[begin:l.at]
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isOctal(c byte) bool  { return c >= '0' && c <= '7' }
func isHex(c byte) bool    { return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }
func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

// clipped keeps error messages to one line.
func clipped(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}
