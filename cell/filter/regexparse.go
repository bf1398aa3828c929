package filter

import (
	"github.com/cellardb/cellar/cell"
)

// maxGroups is how deep groups and classes may be nested.
const maxGroups = 200

// maxProperties is how many classes of many characters, such as \p{L}, a pattern
// may have. Each costs up to a fraction of a millisecond.
const maxProperties = 1000

// reChar is a character of a pattern. quoted: it stands for itself, since it
// was between \Q and \E.
type reChar struct {
	c      rune
	quoted bool
}

// reParser reads the syntax of java.util.regex.Pattern.
type reParser struct {
	pattern string
	chars   []reChar
	pos     int
	flags   RegexFlags
	max     rune // the highest character of the charset
	groups  int
	names   map[string]int
	depth   int
	folding folding // made when it is needed
	sets    map[string]charset
	large   int // sets of many ranges that were used
}

// parseRegex reads a pattern. Errors say what Java says.
func parseRegex(pattern string, flags RegexFlags, cs RegexCharset) (*reNode, error) {
	if len(pattern) > MaxPattern {
		return nil, illegalKind(ErrTooLarge, "a regular expression has %d bytes, more than %d", len(pattern), MaxPattern)
	}
	p := &reParser{pattern: pattern, flags: flags, max: cs.max(), names: map[string]int{}, sets: map[string]charset{}}
	if flags&UnicodeCharacterClass != 0 {
		p.flags |= UnicodeCase
	}
	p.chars = decode(pattern, cs)
	if flags&LiteralPattern != 0 {
		for i := range p.chars {
			p.chars[i].quoted = true
		}
		p.flags &^= Comments
	} else {
		p.unquote()
	}
	n, err := p.choice()
	if err != nil {
		return nil, err
	}
	if p.pos < len(p.chars) {
		return nil, p.fail("unmatched closing )")
	}
	n.dropReferences(p.groups)
	return n, nil
}

// decode reads the characters of a pattern.
func decode(pattern string, cs RegexCharset) []reChar {
	chars := make([]reChar, 0, len(pattern))
	if cs == Latin1 {
		for i := range len(pattern) {
			chars = append(chars, reChar{c: rune(pattern[i])})
		}
		return chars
	}
	for _, c := range string(decodeUTF8(nil, []byte(pattern))) {
		chars = append(chars, reChar{c: c})
	}
	return chars
}

// unquote marks what is between \Q and \E, and takes these away.
func (p *reParser) unquote() {
	out := p.chars[:0]
	quoted := false
	for i := 0; i < len(p.chars); i++ {
		c := p.chars[i]
		if c.c == '\\' && i+1 < len(p.chars) {
			next := p.chars[i+1].c
			switch {
			case quoted && next == 'E', !quoted && next == 'Q':
				quoted = !quoted
				i++
				continue
			case !quoted:
				out = append(out, c, p.chars[i+1])
				i++
				continue
			}
		}
		out = append(out, reChar{c.c, quoted})
	}
	p.chars = out
}

func (p *reParser) fail(format string, args ...any) error {
	text := illegal(format, args...).Error()
	return illegal("regular expression %s, character %d: %s", cell.Printable([]byte(p.pattern)), p.pos, text)
}

func (p *reParser) has(f RegexFlags) bool { return p.flags&f != 0 }

// peek gives the next character; with COMMENTS it leaves out white space and
// comments first. 0 is the end; a quoted character is never special.
func (p *reParser) peek() (c rune, quoted bool) {
	if p.has(Comments) {
		p.skipComments()
	}
	return p.look(0)
}

// look gives a character ahead as it is.
func (p *reParser) look(ahead int) (c rune, quoted bool) {
	if p.pos+ahead >= len(p.chars) {
		return -1, false
	}
	next := p.chars[p.pos+ahead]
	return next.c, next.quoted
}

func (p *reParser) skipComments() {
	for p.pos < len(p.chars) && !p.chars[p.pos].quoted {
		switch c := p.chars[p.pos].c; {
		case c == ' ', '\t' <= c && c <= '\r':
			p.pos++
		case c == '#':
			end := terminators(p.has(UnixLines))
			for p.pos < len(p.chars) && !end.has(p.chars[p.pos].c) {
				p.pos++
			}
		default:
			return
		}
	}
}

// is says whether the next character is this one, with its special meaning.
func (p *reParser) is(c rune) bool {
	next, quoted := p.peek()
	return next == c && !quoted
}

// take consumes the next character if it is this one.
func (p *reParser) take(c rune) bool {
	if !p.is(c) {
		return false
	}
	p.pos++
	return true
}

// choice reads alternatives, up to the end or a closing parenthesis.
func (p *reParser) choice() (*reNode, error) {
	var parts []*reNode
	for {
		n, err := p.sequence()
		if err != nil {
			return nil, err
		}
		parts = append(parts, n)
		if !p.take('|') {
			break
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return &reNode{kind: reChoice, parts: parts}, nil
}

func (p *reParser) sequence() (*reNode, error) {
	var parts []*reNode
	for {
		c, quoted := p.peek()
		if c < 0 || !quoted && (c == '|' || c == ')') {
			return sequence(parts...), nil
		}
		n, err := p.item(c, quoted)
		if err != nil {
			return nil, err
		}
		if n == nil {
			continue // flags
		}
		if n, err = p.repetition(n); err != nil {
			return nil, err
		}
		parts = append(parts, n)
	}
}

// item reads what a quantifier may stand behind. It is nil for flags.
func (p *reParser) item(c rune, quoted bool) (*reNode, error) {
	if quoted {
		p.pos++
		return p.char(c), nil
	}
	switch c {
	case '(':
		return p.group()
	case '[':
		p.pos++
		set, err := p.class(true)
		return &reNode{kind: reSet, set: set}, err
	case '\\':
		return p.escape()
	case '^':
		p.pos++
		if p.has(Multiline) {
			return &reNode{kind: reLineBegin, multi: true, unix: p.has(UnixLines)}, nil
		}
		return &reNode{kind: reBegin}, nil
	case '$':
		p.pos++
		return &reNode{kind: reLineEnd, multi: p.has(Multiline), unix: p.has(UnixLines)}, nil
	case '.':
		p.pos++
		if p.has(DotAll) {
			return p.setNode(setOfRange(0, p.max)), nil
		}
		return p.setNode(terminators(p.has(UnixLines)).not(p.max)), nil
	case '*', '+', '?':
		return nil, p.fail("dangling meta character %c", c)
	case '{':
		return &reNode{kind: reEmpty}, nil // the quantifier behind it is of nothing
	}
	p.pos++
	return p.char(c), nil
}

func (p *reParser) setNode(s charset) *reNode { return &reNode{kind: reSet, set: s.clip(p.max)} }

func (p *reParser) char(c rune) *reNode { return p.setNode(p.fold(setOf(c))) }

// fold adds what is the same under the flags.
func (p *reParser) fold(s charset) charset {
	switch {
	case !p.has(CaseInsensitive):
		return s
	case p.has(UnicodeCase):
		if p.folding == nil {
			p.folding = newFolding()
		}
		return p.folding.close(s)
	}
	return s.foldASCII()
}

// repetition reads the quantifier behind a node, if there is one.
func (p *reParser) repetition(n *reNode) (*reNode, error) {
	r := &reNode{kind: reRepeat, parts: []*reNode{n}, max: -1}
	switch {
	case p.take('?'):
		r.max = 1
	case p.take('*'):
	case p.take('+'):
		r.min = 1
	case p.take('{'):
		if err := p.count(r); err != nil {
			return nil, err
		}
	default:
		return n, nil
	}
	switch {
	case p.take('?'):
		r.greed = lazy
	case p.take('+'):
		r.greed = possessive
	}
	return r, nil
}

// count reads the rest of {n}, {n,} or {n,m}.
func (p *reParser) count(r *reNode) error {
	if d, _ := p.look(0); d < '0' || d > '9' {
		return p.fail("illegal repetition")
	}
	var err error
	if r.min, err = p.number(); err != nil {
		return err
	}
	r.max = r.min
	if c, _ := p.look(0); c == ',' {
		p.pos++
		r.max = -1
		if c, _ = p.look(0); c != '}' {
			if r.max, err = p.number(); err != nil {
				return err
			}
			if r.max < r.min {
				return p.fail("illegal repetition range")
			}
		}
	}
	if c, _ := p.look(0); c != '}' {
		return p.fail("unclosed counted closure")
	}
	p.pos++
	return nil
}

func (p *reParser) number() (int, error) {
	n := 0
	for {
		d, quoted := p.look(0)
		if d < '0' || d > '9' || quoted {
			return n, nil
		}
		if n = 10*n + int(d-'0'); n > 1<<31-1 {
			return 0, p.fail("illegal repetition range")
		}
		p.pos++
	}
}

// group reads a parenthesis. It is nil for one that only sets flags.
func (p *reParser) group() (*reNode, error) {
	if p.depth++; p.depth > maxGroups {
		return nil, p.fail("groups are nested more than %d deep", maxGroups)
	}
	defer func() { p.depth-- }()
	p.pos++
	flags := p.flags
	n, err := p.groupHead()
	if n == nil || err != nil {
		return nil, err
	}
	inner, err := p.choice()
	if err != nil {
		return nil, err
	}
	if !p.take(')') {
		return nil, p.fail("unclosed group")
	}
	p.flags = flags
	n.parts = []*reNode{inner}
	if n.kind == reSequence {
		return inner, nil
	}
	return n, nil
}

// groupHead reads the begin of a group, up to its content. A group that is only
// a group comes as a sequence.
func (p *reParser) groupHead() (*reNode, error) {
	if !p.is('?') {
		p.groups++
		return &reNode{kind: reCapture, number: p.groups}, nil
	}
	p.pos++
	c, _ := p.look(0)
	p.pos++
	switch c {
	case ':':
		return &reNode{kind: reSequence}, nil
	case '=', '!':
		return &reNode{kind: reLook, negative: c == '!'}, nil
	case '>':
		return &reNode{kind: reAtomic}, nil
	case '<':
		if c, _ = p.look(0); c == '=' || c == '!' {
			p.pos++
			return &reNode{kind: reLook, behind: true, negative: c == '!'}, nil
		}
		name, err := p.groupName()
		if err != nil {
			return nil, err
		}
		if _, ok := p.names[name]; ok {
			return nil, p.fail("named capturing group <%s> is already defined", name)
		}
		p.groups++
		p.names[name] = p.groups
		return &reNode{kind: reCapture, number: p.groups}, nil
	}
	p.pos--
	return p.inlineFlags()
}

func (p *reParser) groupName() (string, error) {
	var name []rune
	for {
		c, _ := p.look(0)
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		switch {
		case letter, len(name) > 0 && '0' <= c && c <= '9':
			name = append(name, c)
			p.pos++
		case len(name) == 0:
			return "", p.fail("capturing group name does not start with a Latin letter")
		case c == '>':
			p.pos++
			return string(name), nil
		default:
			return "", p.fail("named capturing group is missing trailing >")
		}
	}
}

// inlineFlags reads (?flags) and (?flags: up to the colon.
func (p *reParser) inlineFlags() (*reNode, error) {
	on := true
	for {
		c, quoted := p.peek()
		if quoted || c < 0 {
			return nil, p.fail("unknown inline modifier")
		}
		if c == 'c' {
			return nil, p.fail("canonical equivalence is not supported")
		}
		p.pos++
		switch flag, ok := inlineFlag[c]; {
		case ok && on:
			p.flags |= flag
		case ok:
			p.flags &^= flag
		case c == '-' && on:
			on = false
		case c == ')':
			return nil, nil
		case c == ':':
			return &reNode{kind: reSequence}, nil
		default:
			p.pos--
			return nil, p.fail("unknown inline modifier")
		}
	}
}

var inlineFlag = map[rune]RegexFlags{
	'i': CaseInsensitive, 'm': Multiline, 's': DotAll, 'd': UnixLines, 'u': UnicodeCase,
	'x': Comments, 'U': UnicodeCharacterClass | UnicodeCase,
}
