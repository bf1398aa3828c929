package filter

import (
	"fmt"
	"unicode"
	"unicode/utf16"
)

// escape reads what begins with a backslash, outside a class.
func (p *reParser) escape() (*reNode, error) {
	p.pos++
	c, quoted := p.look(0)
	if c < 0 || quoted {
		return nil, p.fail("nothing behind the backslash")
	}
	switch c {
	case 'A', 'G':
		p.pos++
		return &reNode{kind: reBegin}, nil
	case 'z':
		p.pos++
		return &reNode{kind: reEnd}, nil
	case 'Z':
		p.pos++
		return &reNode{kind: reLineEnd, unix: p.has(UnixLines)}, nil
	case 'b', 'B':
		return p.boundary(c)
	case 'R':
		p.pos++
		pair := sequence(p.setNode(setOf('\r')), p.setNode(setOf('\n')))
		return &reNode{kind: reChoice, parts: []*reNode{pair, p.setNode(vertical())}}, nil
	case 'X':
		return nil, p.fail(`grapheme clusters (\X) are not supported`)
	case 'k':
		return p.namedReference()
	}
	if '1' <= c && c <= '9' {
		return p.reference(), nil
	}
	set, c, err := p.escaped(false)
	if err != nil {
		return nil, err
	}
	if set == nil {
		return p.char(c), nil
	}
	return p.setNode(set), nil
}

func (p *reParser) boundary(c rune) (*reNode, error) {
	p.pos++
	if next, _ := p.look(1); next == 'g' && c == 'b' && p.is('{') {
		return nil, p.fail(`\b{g} is not supported`)
	}
	if p.has(UnicodeCharacterClass) {
		word := p.cached("word", unicodeWord)
		return unicodeBoundary(&reNode{kind: reSet, set: word}, c == 'B'), p.charge(4)
	}
	if c == 'B' {
		return &reNode{kind: reNoBoundary}, nil
	}
	return &reNode{kind: reBoundary}, nil
}

// unicodeBoundary is a boundary of words that are not of ASCII only.
func unicodeBoundary(word *reNode, not bool) *reNode {
	look := func(behind, negative bool) *reNode {
		return &reNode{kind: reLook, behind: behind, negative: negative, parts: []*reNode{word}}
	}
	return &reNode{kind: reChoice, parts: []*reNode{
		sequence(look(true, false), look(false, !not)),
		sequence(look(true, true), look(false, not)),
	}}
}

// reference reads the number of a group: as many digits as there are groups
// for.
func (p *reParser) reference() *reNode {
	c, _ := p.look(0)
	number := int(c - '0')
	p.pos++
	for {
		d, quoted := p.look(0)
		if quoted || d < '0' || d > '9' || 10*number+int(d-'0') > p.groups {
			break
		}
		number = 10*number + int(d-'0')
		p.pos++
	}
	return &reNode{kind: reBackref, number: number, folded: p.has(CaseInsensitive)}
}

func (p *reParser) namedReference() (*reNode, error) {
	p.pos++
	if c, _ := p.look(0); c != '<' {
		return nil, p.fail(`\k is not followed by < for a named capturing group`)
	}
	p.pos++
	name, err := p.groupName()
	if err != nil {
		return nil, err
	}
	number, ok := p.names[name]
	if !ok {
		return nil, p.fail("named capturing group <%s> does not exist", name)
	}
	return &reNode{kind: reBackref, number: number, folded: p.has(CaseInsensitive)}, nil
}

// escaped reads an escape that may stand in a class too: a set, or, with a nil
// set, a character. single asks for a character where both are possible.
func (p *reParser) escaped(single bool) (charset, rune, error) {
	c, quoted := p.look(0)
	if c < 0 || quoted {
		return nil, 0, p.fail("nothing behind the backslash")
	}
	p.pos++
	if set, ok := p.predefined(c, single); ok {
		return set, 0, p.chargeSet(set)
	}
	switch c {
	case 'p', 'P':
		set, err := p.family(c == 'P')
		return set, 0, err
	case 't':
		return nil, '\t', nil
	case 'n':
		return nil, '\n', nil
	case 'r':
		return nil, '\r', nil
	case 'f':
		return nil, '\f', nil
	case 'a':
		return nil, 7, nil
	case 'e':
		return nil, 0x1b, nil
	case 'v':
		return nil, '\v', nil
	case 'c':
		ctrl, _ := p.look(0)
		if ctrl < 0 {
			return nil, 0, p.fail("illegal control escape sequence")
		}
		p.pos++
		return nil, ctrl ^ 64, nil
	case '0':
		return p.octal()
	case 'x', 'u':
		return p.hexadecimal(c)
	}
	if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '1' <= c && c <= '9' {
		p.pos--
		return nil, 0, p.fail(`illegal or unsupported escape sequence \%c`, c)
	}
	return nil, c, nil
}

// predefined gives \d and its like.
func (p *reParser) predefined(c rune, single bool) (charset, bool) {
	var s charset
	switch unicode.ToLower(c) {
	case 'd':
		s = p.either("digits", digits, func() charset { return setOfTable(unicode.Nd) })
	case 'w':
		s = p.either("word", wordChars, unicodeWord)
	case 's':
		s = p.either("spaces", spaces, func() charset { return setOfTable(unicode.White_Space) })
	case 'h':
		s = horizontal()
	case 'v':
		if single {
			return nil, false
		}
		s = vertical()
	default:
		return nil, false
	}
	if unicode.IsUpper(c) {
		return s.not(p.max), true
	}
	return s.clip(p.max), true
}

// either makes the set that a class has without or with
// UNICODE_CHARACTER_CLASS.
func (p *reParser) either(name string, ascii, full func() charset) charset {
	if p.has(UnicodeCharacterClass) {
		return p.cached(name, full)
	}
	return ascii()
}

// cached makes a set once.
func (p *reParser) cached(key string, make func() charset) charset {
	s, ok := p.sets[key]
	if !ok {
		s = make().clip(p.max)
		p.sets[key] = s
	}
	return s
}

// family reads the name of a property.
func (p *reParser) family(not bool) (charset, error) {
	c, _ := p.look(0)
	if c < 0 {
		return nil, p.fail("a name of a property is missing")
	}
	p.pos++
	name := []rune{c}
	if c == '{' {
		name = name[:0]
		for {
			c, _ = p.look(0)
			if c < 0 {
				return nil, p.fail("unclosed character family")
			}
			p.pos++
			if c == '}' {
				break
			}
			name = append(name, c)
		}
		if len(name) == 0 {
			return nil, p.fail("empty character family")
		}
	}
	key := fmt.Sprint(not, p.flags, string(name))
	set, ok := p.sets[key]
	if !ok {
		if set, ok = property(string(name), p.flags); !ok {
			return nil, p.fail("character property {%s} is unknown or not supported", string(name))
		}
		if not {
			set = set.not(p.max)
		}
		// A set that is empty here is still a set, not a character.
		set = append(charset{}, set.clip(p.max)...)
		p.sets[key] = set
	}
	return set, p.chargeSet(set)
}

// chargeSet counts large sets, since each costs time wherever it is used.
func (p *reParser) chargeSet(s charset) error {
	if len(s) > 32 {
		return p.charge(1)
	}
	return nil
}

func (p *reParser) charge(large int) error {
	if p.large += large; p.large > maxProperties {
		return p.fail("more than %d classes of many characters", maxProperties)
	}
	return nil
}

func (p *reParser) octal() (charset, rune, error) {
	digit := func() rune {
		c, quoted := p.look(0)
		if quoted || c < '0' || c > '7' {
			return -1
		}
		p.pos++
		return c - '0'
	}
	n := digit()
	if n < 0 {
		return nil, 0, p.fail("illegal octal escape sequence")
	}
	value := n
	if m := digit(); m >= 0 {
		value = 8*n + m
		if c, _ := p.look(0); n <= 3 && '0' <= c && c <= '7' {
			value = 8*value + digit()
		}
	}
	return nil, value, nil
}

func hexDigit(c rune) rune {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return -1
}

// hexadecimal reads the digits of \xhh, \x{h...} and \uhhhh. Two \u that are a
// pair of surrogates are one character.
func (p *reParser) hexadecimal(kind rune) (charset, rune, error) {
	if kind == 'u' {
		value, err := p.hexDigits(kind, 4)
		if begin := p.pos; err == nil && utf16.IsSurrogate(value) && p.takeEscape('u') {
			low, err := p.hexDigits(kind, 4)
			if c := utf16.DecodeRune(value, low); err == nil && c != unicode.ReplacementChar {
				return nil, c, nil
			}
			p.pos = begin
		}
		return nil, value, err
	}
	if c, _ := p.look(0); c == '{' {
		return p.braced()
	}
	value, err := p.hexDigits(kind, 2)
	return nil, value, err
}

// takeEscape consumes a backslash and the character behind it.
func (p *reParser) takeEscape(c rune) bool {
	backslash, quoted := p.look(0)
	next, _ := p.look(1)
	if backslash != '\\' || quoted || next != c {
		return false
	}
	p.pos += 2
	return true
}

func (p *reParser) hexDigits(kind rune, n int) (rune, error) {
	value := rune(0)
	for range n {
		c, quoted := p.look(0)
		d := hexDigit(c)
		if d < 0 || quoted {
			return 0, p.fail(`illegal \%c escape sequence`, kind)
		}
		value = value<<4 | d
		p.pos++
	}
	return value, nil
}

func (p *reParser) braced() (charset, rune, error) {
	p.pos++
	value := rune(0)
	for i := 0; ; i++ {
		c, _ := p.look(0)
		d := hexDigit(c)
		switch {
		case d >= 0:
			if value = value<<4 | d; value > unicode.MaxRune {
				return nil, 0, p.fail("hexadecimal codepoint is too big")
			}
			p.pos++
		case i > 0 && c == '}':
			p.pos++
			return nil, value, nil
		default:
			return nil, 0, p.fail("unclosed hexadecimal escape sequence")
		}
	}
}
