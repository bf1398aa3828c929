package intake

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// Answers in place of an index.
const (
	endOfData = -1 // what was given ends within the value
	badSyntax = -2 // it is no JSON
)

// textEnd finds the end of a JSON string from b[i] on, within its quotes: the
// index of the first quote, backslash or control character, len(b) if there is
// none. beyondASCII says whether a byte before it is.
func textEnd(b []byte, i int) (end int, beyondASCII bool) {
	const (
		ones   = 0x0101010101010101
		tops   = 0x80 * ones
		quotes = '"' * ones
		slash  = '\\' * ones
		blanks = ' ' * ones
	)
	seen := uint64(0)
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		q, s := x^quotes, x^slash
		// A byte's top bit is set where it is one of those looked for; above the
		// lowest such byte it may be set wrongly.
		found := ((q-ones)&^q | (s-ones)&^s | (x-blanks)&^x) & tops
		if found != 0 {
			n := bits.TrailingZeros64(found)
			return i + n/8, (seen|x&(1<<(n-7)-1))&tops != 0
		}
		seen |= x
	}
	for ; i < len(b); i++ {
		c := b[i]
		if c == '"' || c == '\\' || c < ' ' {
			break
		}
		seen |= uint64(c)
	}
	return i, seen&tops != 0
}

// appendText appends the JSON string whose first byte after the quote is b[i],
// as valid UTF-8. It answers the index after the closing quote, endOfData or
// badSyntax (then dst may have part of it), and whether something was mended.
func appendText(dst, b []byte, i int) (out []byte, end int, mended bool) {
	for {
		stop, beyondASCII := textEnd(b, i)
		run := b[i:stop]
		if beyondASCII && !utf8.Valid(run) {
			dst, mended = appendMended(dst, run), true
		} else {
			dst = append(dst, run...)
		}
		switch {
		case stop == len(b):
			return dst, endOfData, mended
		case b[stop] == '"':
			return dst, stop + 1, mended
		case b[stop] != '\\':
			return dst, badSyntax, mended // a control character
		}
		var lone bool
		if dst, i, lone = appendEscape(dst, b, stop+1); i < 0 {
			return dst, i, mended
		}
		mended = mended || lone
	}
}

// appendMended appends text with U+FFFD for each byte that is no UTF-8.
func appendMended(dst, text []byte) []byte {
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		dst = utf8.AppendRune(dst, r)
		text = text[n:]
	}
	return dst
}

// appendEscape appends what the escape stands for whose letter is b[i]; lone:
// half a surrogate pair, which became U+FFFD.
func appendEscape(dst, b []byte, i int) (out []byte, end int, lone bool) {
	if i >= len(b) {
		return dst, endOfData, false
	}
	c := b[i]
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return appendUnicode(dst, b, i+1)
	default:
		return dst, badSyntax, false
	}
	return append(dst, c), i + 1, false
}

func appendUnicode(dst, b []byte, i int) (out []byte, end int, lone bool) {
	r, end := hex4(b, i)
	if end < 0 {
		return dst, end, false
	}
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(dst, r), end, false
	}
	if end+1 < len(b) && b[end] == '\\' && b[end+1] == 'u' {
		if low, after := hex4(b, end+2); after >= 0 {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return utf8.AppendRune(dst, pair), after, false
			}
		}
	}
	return utf8.AppendRune(dst, utf8.RuneError), end, true
}

func hex4(b []byte, i int) (r rune, end int) {
	for end = i; end < i+4; end++ {
		if end >= len(b) {
			return 0, endOfData
		}
		d := b[end]
		switch {
		case d-'0' <= 9:
			d -= '0'
		case d|0x20 >= 'a' && d|0x20 <= 'f':
			d = d | 0x20 - 'a' + 10
		default:
			return 0, badSyntax
		}
		r = r<<4 | rune(d)
	}
	return r, end
}

// skipBlanks is the index of the first byte from i on that is no blank of JSON.
func skipBlanks(b []byte, i int) int {
	for i < len(b) && isBlank(b[i]) {
		i++
	}
	return i
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }
