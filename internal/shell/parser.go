package shell

import (
	"math"
	"math/bits"
)

// maxDepth is how deep brackets may be nested, maxPairs how many entries a hash
// may have: each is compared with the others.
const (
	maxDepth = 32
	maxPairs = 1000
)

// statement is a command's name and its arguments. Pairs that are written
// without braces are one hash, the last argument, as in Ruby.
type statement struct {
	name string
	pos  Pos
	args []value
}

// parser reads statements from tokens. It looks one token ahead.
type parser struct {
	l   *lexer
	tok token
}

// parse reads the first statement of a text and says how many bytes it took,
// the break after it included. A nil statement is an empty one. The errors are
// an *Error or errIncomplete.
func parse(text string) (*statement, int, error) {
	p := &parser{l: newLexer(text)}
	if err := p.advance(); err != nil {
		return nil, 0, err
	}
	switch p.tok.kind {
	case tokEnd, tokBreak:
		return nil, p.l.at, nil
	case tokName:
	case tokConst:
		return nil, 0, wrong(p.tok.pos, "%s is no command: commands are written in lower case, as in list; help lists them", clipped(string(p.tok.text)))
	default:
		return nil, 0, wrong(p.tok.pos, "a command begins with its name, as in scan 't1'; help lists them")
	}
	s := &statement{name: string(p.tok.text), pos: p.tok.pos}
	if err := p.advance(); err != nil {
		return nil, 0, err
	}
	if err := p.arguments(s); err != nil {
		return nil, 0, err
	}
	return s, p.l.at, nil
}

func (p *parser) advance() error {
	var err error
	p.tok, err = p.l.next()
	return err
}

// arguments reads the arguments up to the end of the statement.
func (p *parser) arguments(s *statement) error {
	if p.is(tokOpen, '(') && !p.tok.spaced {
		return p.inParentheses(s)
	}
	if err := p.list(s, 0); err != nil {
		return err
	}
	return p.end()
}

func (p *parser) inParentheses(s *statement) error {
	if err := p.advance(); err != nil {
		return err
	}
	if !p.is(tokClose, ')') {
		if err := p.list(s, ')'); err != nil {
			return err
		}
	}
	if err := p.expectClose(')'); err != nil {
		return err
	}
	return p.end()
}

// end wants the end of the statement.
func (p *parser) end() error {
	if p.tok.kind == tokEnd || p.tok.kind == tokBreak {
		return nil
	}
	if p.tok.kind == tokClose {
		return wrong(p.tok.pos, "%s closes nothing", p.tok.text)
	}
	return wrong(p.tok.pos, "arguments are separated by commas, as in put 't1', 'r1', 'f:c', 'value'")
}

// list reads arguments up to what is no comma. Pairs without braces gather in
// one hash at the end.
func (p *parser) list(s *statement, closing byte) error {
	if p.tok.kind == tokEnd || p.tok.kind == tokBreak {
		return nil
	}
	var loose *value
	for {
		v, err := p.expression(0)
		if err != nil {
			return err
		}
		if p.tok.kind == tokArrow {
			if loose == nil {
				loose = &value{kind: kindHash, pos: v.pos}
			}
			if err := p.pair(loose, v, 0); err != nil {
				return err
			}
		} else if loose != nil {
			return wrong(v.pos, "%s stands behind NAME => VALUE pairs: write it before them, or put the pairs in { }", clipped(v.String()))
		} else {
			s.args = append(s.args, v)
		}
		more, err := p.comma(closing)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	if loose != nil {
		s.args = append(s.args, *loose)
	}
	return nil
}

// comma steps over a comma, the newlines after it too, and says whether there
// was one.
func (p *parser) comma(closing byte) (bool, error) {
	if p.tok.kind != tokComma {
		return false, nil
	}
	if err := p.advanceOverLines(); err != nil {
		return false, err
	}
	if closing != 0 && p.is(tokClose, closing) {
		return false, nil
	}
	return true, nil
}

// advanceOverLines is advance where the statement cannot end.
func (p *parser) advanceOverLines() error {
	for {
		if err := p.advance(); err != nil {
			return err
		}
		switch {
		case p.tok.kind == tokEnd:
			return errIncomplete
		case p.tok.kind != tokBreak:
			return nil
		case p.l.text[p.l.at-1] == ';':
			return wrong(p.tok.pos, "something is missing before the ;")
		}
	}
}

// pair reads "=> value" and adds it under the key.
func (p *parser) pair(into *value, key value, depth int) error {
	if key.kind != kindConstant && key.kind != kindString {
		return wrong(key.pos, "%s cannot stand before =>: a name can, as in VERSIONS => 3", clipped(key.String()))
	}
	for _, have := range into.pairs {
		if string(have.key.text) == string(key.text) {
			return wrong(key.pos, "%s is there twice", clipped(key.String()))
		}
	}
	if len(into.pairs) >= maxPairs {
		return wrong(key.pos, "a hash has at most %d entries", maxPairs)
	}
	if err := p.advanceOverLines(); err != nil {
		return err
	}
	v, err := p.expression(depth)
	if err != nil {
		return err
	}
	into.pairs = append(into.pairs, pair{key, v})
	return nil
}

// expression reads a value, or a sum of products of numbers.
func (p *parser) expression(depth int) (value, error) {
	left, err := p.product(depth)
	for err == nil && (p.is(tokOperator, '+') || p.is(tokOperator, '-')) {
		op := p.tok
		if err := p.advanceOverLines(); err != nil {
			return left, err
		}
		right, err := p.product(depth)
		if err != nil {
			return left, err
		}
		if left, err = compute(op, left, right); err != nil {
			return left, err
		}
	}
	return left, err
}

func (p *parser) product(depth int) (value, error) {
	left, err := p.signed(depth)
	for err == nil && p.is(tokOperator, '*') {
		op := p.tok
		if err := p.advanceOverLines(); err != nil {
			return left, err
		}
		right, err := p.signed(depth)
		if err != nil {
			return left, err
		}
		if left, err = compute(op, left, right); err != nil {
			return left, err
		}
	}
	return left, err
}

func (p *parser) signed(depth int) (value, error) {
	if !p.is(tokOperator, '-') {
		return p.primary(depth)
	}
	op := p.tok
	if err := p.advanceOverLines(); err != nil {
		return value{}, err
	}
	if p.tok.big {
		v := value{kind: kindNumber, pos: op.pos, number: p.tok.num}
		return v, p.advance()
	}
	v, err := p.primary(depth)
	if err != nil {
		return v, err
	}
	if v.kind == kindFloat {
		v.text = append([]byte("-"), v.text...)
		return v, nil
	}
	return compute(op, value{kind: kindNumber, pos: op.pos}, v)
}

// compute does one sum, difference or product.
func compute(op token, a, b value) (value, error) {
	if a.kind != kindNumber || b.kind != kindNumber {
		return a, wrong(op.pos, "%s is for whole numbers only", op.text)
	}
	out := value{kind: kindNumber, pos: a.pos}
	overflow := false
	switch op.text[0] {
	case '+':
		out.number = a.number + b.number
		overflow = (out.number > a.number) != (b.number > 0)
	case '-':
		out.number = a.number - b.number
		overflow = (out.number < a.number) != (b.number > 0)
	case '*':
		out.number, overflow = multiply(a.number, b.number)
	}
	if overflow {
		return out, wrong(op.pos, "the result is more than 64 bits hold")
	}
	return out, nil
}

func multiply(a, b int64) (int64, bool) {
	high, low := bits.Mul64(magnitude(a), magnitude(b))
	negative := (a < 0) != (b < 0)
	if high != 0 || low > math.MaxInt64 && (!negative || low > 1<<63) {
		return 0, true
	}
	return a * b, false
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// primary reads one value.
func (p *parser) primary(depth int) (value, error) {
	t := p.tok
	v := value{pos: t.pos, text: t.text, number: t.num}
	switch {
	case t.big:
		return v, wrong(t.pos, "%s is more than 64 bits hold", t.text)
	case t.kind == tokString:
		v.kind = kindString
	case t.kind == tokNumber:
		v.kind = kindNumber
	case t.kind == tokFloat:
		v.kind = kindFloat
	case t.kind == tokConst:
		v.kind = kindConstant
	case t.kind == tokName:
		return p.keyword(v)
	case p.is(tokOpen, '['):
		return p.array(depth + 1)
	case p.is(tokOpen, '{'):
		return p.hash(depth + 1)
	case p.is(tokOpen, '('):
		return p.group(depth + 1)
	case t.kind == tokEnd && p.l.depth > 0:
		return v, errIncomplete
	default:
		return v, wrong(t.pos, "a value is missing here")
	}
	return v, p.advance()
}

// keyword reads true, false or nil; other bare words are no values.
func (p *parser) keyword(v value) (value, error) {
	switch string(v.text) {
	case "true", "false":
		v.kind, v.truth = kindBool, string(v.text) == "true"
	case "nil":
		v.kind = kindNil
	default:
		word := clipped(string(v.text))
		return v, wrong(v.pos, "%s is no value: text is written in quotes, as in '%s'", word, word)
	}
	return v, p.advance()
}

func (p *parser) group(depth int) (value, error) {
	if err := p.open(depth); err != nil {
		return value{}, err
	}
	v, err := p.expression(depth)
	if err != nil {
		return v, err
	}
	return v, p.expectClose(')')
}

func (p *parser) array(depth int) (value, error) {
	v := value{kind: kindArray, pos: p.tok.pos}
	if err := p.open(depth); err != nil {
		return v, err
	}
	for !p.is(tokClose, ']') {
		element, err := p.expression(depth)
		if err != nil {
			return v, err
		}
		v.list = append(v.list, element)
		more, err := p.comma(']')
		if err != nil {
			return v, err
		}
		if !more {
			break
		}
	}
	return v, p.expectClose(']')
}

func (p *parser) hash(depth int) (value, error) {
	v := value{kind: kindHash, pos: p.tok.pos}
	if err := p.open(depth); err != nil {
		return v, err
	}
	for !p.is(tokClose, '}') {
		key, err := p.expression(depth)
		if err != nil {
			return v, err
		}
		if p.tok.kind != tokArrow {
			return v, p.unlessEnded(wrong(p.tok.pos, "=> is missing after %s, as in {NAME => 'f1', VERSIONS => 3}", clipped(key.String())))
		}
		if err := p.pair(&v, key, depth); err != nil {
			return v, err
		}
		more, err := p.comma('}')
		if err != nil {
			return v, err
		}
		if !more {
			break
		}
	}
	return v, p.expectClose('}')
}

// open steps over an opening bracket.
func (p *parser) open(depth int) error {
	if depth > maxDepth {
		return wrong(p.tok.pos, "brackets are nested deeper than %d", maxDepth)
	}
	return p.advance()
}

// expectClose steps over a closing bracket.
func (p *parser) expectClose(c byte) error {
	if !p.is(tokClose, c) {
		return p.unlessEnded(wrong(p.tok.pos, "a comma or %c is missing here", c))
	}
	return p.advance()
}

// unlessEnded is the error, unless the text is at its end: more may come.
func (p *parser) unlessEnded(err error) error {
	if p.tok.kind == tokEnd {
		return errIncomplete
	}
	return err
}

func (p *parser) is(k tokenKind, c byte) bool { return p.tok.kind == k && p.tok.text[0] == c }
