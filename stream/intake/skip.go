package intake

import "bytes"

// nesting is the arrays and objects around a value, a bit for each: 1 is an
// object. It takes the place of recursion, so that depth costs no stack.
type nesting struct {
	kinds []uint64
	depth int
}

func (n *nesting) push(object bool) {
	if n.depth/64 == len(n.kinds) {
		n.kinds = append(n.kinds, 0)
	}
	bit := uint64(1) << (n.depth % 64)
	if object {
		n.kinds[n.depth/64] |= bit
	} else {
		n.kinds[n.depth/64] &^= bit
	}
	n.depth++
}

func (n *nesting) pop() { n.depth-- }

func (n *nesting) inObject() bool {
	d := n.depth - 1
	return n.kinds[d/64]&(1<<(d%64)) != 0
}

// skipValue is the index after the JSON value that begins at b[i], or a code. It
// lets the words pass that are numbers elsewhere, NaN and the infinities: word
// tells of the first one.
func (p *parser) skipValue(b []byte, i int) int {
	n := &p.nest
	n.depth = 0
	for {
		opened := false
		if i, opened = p.skipOne(b, i); i < 0 {
			return i
		}
		if opened {
			continue
		}
		// A value ended: close what ends with it, and go on to the next.
		for {
			if n.depth == 0 {
				return i
			}
			if i = skipBlanks(b, i); i >= len(b) {
				return endOfData
			}
			if b[i] == ',' {
				if i = p.skipToValue(b, i+1); i < 0 {
					return i
				}
				break
			}
			if end := byte(']' + ('}'-']')*boolBit(n.inObject())); b[i] != end {
				return badSyntax
			}
			n.pop()
			i++
		}
	}
}

func boolBit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// skipOne passes a scalar, an empty array or object, or the beginning of a full
// one (opened), up to its first value.
func (p *parser) skipOne(b []byte, i int) (end int, opened bool) {
	if i = skipBlanks(b, i); i >= len(b) {
		return endOfData, false
	}
	p.at = i
	c := b[i]
	if c != '{' && c != '[' {
		return p.skipScalar(b, i), false
	}
	if i = skipBlanks(b, i+1); i >= len(b) {
		return endOfData, false
	}
	if b[i] == c+2 { // the closing one, in ASCII
		return i + 1, false
	}
	p.nest.push(c == '{')
	i = p.skipToValue(b, i)
	return i, true
}

// skipToValue passes a key and its colon, within an object.
func (p *parser) skipToValue(b []byte, i int) int {
	if !p.nest.inObject() {
		return i
	}
	if i = skipBlanks(b, i); i >= len(b) {
		return endOfData
	}
	if b[i] != '"' {
		return badSyntax
	}
	if i = skipText(b, i+1); i < 0 {
		return i
	}
	return skipColon(b, i)
}

func skipColon(b []byte, i int) int {
	if i = skipBlanks(b, i); i >= len(b) {
		return endOfData
	}
	if b[i] != ':' {
		return badSyntax
	}
	return i + 1
}

// skipScalar passes a text, a number or a word.
func (p *parser) skipScalar(b []byte, i int) int {
	switch c := b[i]; {
	case c == '"':
		return skipText(b, i+1)
	case c-'0' <= 9, c == '-' && !(i+1 < len(b) && b[i+1] == 'I'):
		_, end := readNumber(b, i)
		return end
	}
	w, end := readWord(b, i)
	if end >= 0 && w >= wordNaN && p.word == 0 {
		p.word = w
	}
	return end
}

// skipText is the index after the closing quote of the string at b[i].
func skipText(b []byte, i int) int {
	for {
		i, _ = textEnd(b, i)
		switch {
		case i == len(b):
			return endOfData
		case b[i] == '"':
			return i + 1
		case b[i] != '\\':
			return badSyntax
		}
		if i++; i == len(b) {
			return endOfData
		}
		switch b[i] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			i++
		case 'u':
			if _, i = hex4(b, i+1); i < 0 {
				return i
			}
		default:
			return badSyntax
		}
	}
}

// word is a value that is a bare word.
type word uint8

const (
	wordNull word = iota + 1
	wordTrue
	wordFalse
	// Those that JSON does not have come last.
	wordNaN
	wordInfinity
	wordMinusInfinity
)

var words = [...]string{
	wordNull: "null", wordTrue: "true", wordFalse: "false",
	wordNaN: "NaN", wordInfinity: "Infinity", wordMinusInfinity: "-Infinity",
}

func (w word) String() string { return words[w] }

// readWord reads the word at b[i] and answers the index after it, or a code.
func readWord(b []byte, i int) (word, int) {
	rest := b[i:]
	for w := wordNull; int(w) < len(words); w++ {
		text := words[w]
		if text[0] != rest[0] {
			continue
		}
		if len(rest) >= len(text) {
			if string(rest[:len(text)]) == text {
				return w, i + len(text)
			}
		} else if bytes.HasPrefix([]byte(text), rest) {
			return 0, endOfData
		}
	}
	return 0, badSyntax
}
