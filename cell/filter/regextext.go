package filter

import (
	"io"
	"time"
	"unicode/utf8"
)

// decodeUTF8 reads text as Java does: the begin of a character that is not
// completed becomes one U+FFFD, and so does a surrogate.
func decodeUTF8(into []byte, text []byte) []byte {
	for len(text) > 0 {
		c, n := utf8.DecodeRune(text)
		if c == utf8.RuneError && n == 1 {
			n = malformed(text)
		}
		into = utf8.AppendRune(into, c)
		text = text[n:]
	}
	return into
}

// malformed is the length of the bad part at the begin of a text.
func malformed(text []byte) int {
	lo, hi, n := byte(0x80), byte(0xbf), 0
	switch b := text[0]; {
	case b >= 0xc2 && b <= 0xdf:
		n = 2
	case b >= 0xe0 && b <= 0xef:
		n = 3
	case b >= 0xf0 && b <= 0xf4:
		n = 4
	}
	switch text[0] {
	case 0xe0:
		lo = 0xa0
	case 0xf0:
		lo = 0x90
	case 0xf4:
		hi = 0x8f
	}
	i := 1
	for ; i < min(n, len(text)) && text[i] >= lo && text[i] <= hi; i++ {
		lo, hi = 0x80, 0xbf
	}
	return i
}

// The two characters that stand for \r and \n where they make one line end, so
// that a pattern can tell them from single ones. In UTF-8 they are characters
// that no text should have; where one has, it is read as U+FFFD.
const (
	latinPairCR, latinPairLF = 0x100, 0x101
	utf8PairCR, utf8PairLF   = 0x10fffe, 0x10ffff
)

// textOf turns the bytes of a cell into the UTF-8 text of their characters.
type textOf struct {
	charset RegexCharset
	lines   bool // \r\n is read as a pair
	buffer  []byte
}

// read gives the text; it is valid until the next call, and may be the part
// itself.
func (t *textOf) read(part []byte) []byte {
	ascii, pairs := true, false
	for i, b := range part {
		ascii = ascii && b < utf8.RuneSelf
		pairs = pairs || b == '\n' && i > 0 && part[i-1] == '\r'
	}
	pairs = pairs && t.lines
	if ascii && !pairs {
		return part
	}
	if t.charset == Latin1 {
		return t.latin(part, pairs)
	}
	return t.utf8(part)
}

func (t *textOf) latin(part []byte, pairs bool) []byte {
	t.buffer = t.buffer[:0]
	for i := 0; i < len(part); i++ {
		switch b := part[i]; {
		case pairs && b == '\r' && i+1 < len(part) && part[i+1] == '\n':
			t.buffer = utf8.AppendRune(t.buffer, latinPairCR)
			t.buffer = utf8.AppendRune(t.buffer, latinPairLF)
			i++
		case b < utf8.RuneSelf:
			t.buffer = append(t.buffer, b)
		default:
			t.buffer = append(t.buffer, 0xc0|b>>6, 0x80|b&0x3f)
		}
	}
	return t.buffer
}

func (t *textOf) utf8(part []byte) []byte {
	if !t.lines && utf8.Valid(part) {
		return part
	}
	t.buffer = decodeUTF8(t.buffer[:0], part)
	if !t.lines {
		return t.buffer
	}
	paired := make([]byte, 0, len(t.buffer)+16)
	for i, c := range string(t.buffer) {
		switch {
		case c == utf8PairCR, c == utf8PairLF:
			c = utf8.RuneError
		case c == '\r' && i+1 < len(t.buffer) && t.buffer[i+1] == '\n':
			c = utf8PairCR
		case c == '\n' && i > 0 && t.buffer[i-1] == '\r':
			c = utf8PairLF
		}
		paired = utf8.AppendRune(paired, c)
	}
	return paired
}

// timedReader gives a text until a time has come, then an end.
type timedReader struct {
	text     []byte
	at       int
	runes    int
	deadline time.Time
	late     bool
}

func (r *timedReader) ReadRune() (c rune, n int, err error) {
	if r.runes%64 == 0 && time.Now().After(r.deadline) {
		r.late = true
	}
	r.runes++
	if r.late || r.at == len(r.text) {
		return 0, 0, io.EOF
	}
	c, n = utf8.DecodeRune(r.text[r.at:])
	r.at += n
	return c, n, nil
}
