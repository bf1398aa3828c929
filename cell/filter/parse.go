package filter

import (
	"bytes"
	"fmt"

	"github.com/cellardb/cellar/cell"
)

// MaxText is the length in bytes of a text that Parse reads.
const MaxText = 1 << 20

// SyntaxError says what is wrong with a text of the filter language. It matches
// cell.ErrIllegalArgument.
type SyntaxError struct {
	Pos  int // the byte, from 0, where the fault is
	Text string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("filter text, byte %d: %s", e.Pos, e.Text)
}

// Is makes errors.Is(err, cell.ErrIllegalArgument) true.
func (e *SyntaxError) Is(target error) bool { return target == cell.ErrIllegalArgument }

// Parse reads the filter language as HBase's ParseFilter does:
//
//	expression = expression OR expression | expression AND expression
//	           | SKIP expression | WHILE expression | "(" expression ")"
//	           | Name "(" [ argument { "," argument } ] ")"
//	argument   = quoted bytes | integer | true | false | operator
//
// SKIP and WHILE bind tightest, then AND, then OR; a chain of one operator is
// one List. AND and OR count only between a space or ")" and a space or "(";
// SKIP and WHILE after the beginning, a space or a parenthesis. Between
// expressions there may be spaces and tabs. Quoted bytes are taken as they are,
// two single quotes in them are one.
//
// The text is not kept. Errors are of type *SyntaxError. A regular expression
// that is one, but cannot be evaluated, is refused by New, not here.
func Parse(text []byte) (cell.Filter, error) {
	if len(text) > MaxText {
		return nil, &SyntaxError{Pos: MaxText, Text: fmt.Sprintf("the text has %d bytes, more than %d", len(text), MaxText)}
	}
	p := parser{text: text}
	if err := p.run(); err != nil {
		return nil, err
	}
	return p.finish()
}

// parser has the two stacks of ParseFilter.
type parser struct {
	text      []byte
	operators []operatorAt
	operands  []operandAt
	filters   int
}

type word uint8

const (
	open word = iota
	or
	and
	skip
	while
)

var words = [...]string{open: "(", or: "OR", and: "AND", skip: "SKIP", while: "WHILE"}

// binding is how tight an operator binds.
var binding = [...]int{or: 1, and: 2, skip: 3, while: 3}

type operatorAt struct {
	word word
	pos  int
}

type operandAt struct {
	filter cell.Filter
	pos    int
	depth  int
}

func (p *parser) fail(pos int, format string, args ...any) error {
	return &SyntaxError{Pos: pos, Text: fmt.Sprintf(format, args...)}
}

func (p *parser) run() error {
	for i := 0; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '(':
			p.operators = append(p.operators, operatorAt{open, i})
		case c == ' ', c == '\t':
		case c == ')':
			if err := p.close(i); err != nil {
				return err
			}
		default:
			n, err := p.item(i)
			if err != nil {
				return err
			}
			i += n - 1
		}
	}
	return nil
}

// item reads an operator or a filter and says how many bytes it has.
func (p *parser) item(i int) (n int, err error) {
	for w := or; w <= while; w++ {
		if !p.isWord(w, i) {
			continue
		}
		for len(p.operators) > 0 && p.top().word != open && binding[p.top().word] > binding[w] {
			if err := p.reduce(); err != nil {
				return 0, err
			}
		}
		p.operators = append(p.operators, operatorAt{w, i})
		return len(words[w]), nil
	}
	f, n, err := p.simple(i)
	if err != nil {
		return 0, err
	}
	return n, p.push(operandAt{f, i, 1})
}

// isWord says whether an operator stands here, set off as it must be.
func (p *parser) isWord(w word, i int) bool {
	end := i + len(words[w])
	if !bytes.HasPrefix(p.text[i:], []byte(words[w])) || end == len(p.text) {
		return false
	}
	if after := p.text[end]; after != ' ' && after != '(' {
		return false
	}
	if i == 0 {
		return w == skip || w == while
	}
	before := p.text[i-1]
	return before == ' ' || before == ')' || before == '(' && (w == skip || w == while)
}

func (p *parser) top() operatorAt { return p.operators[len(p.operators)-1] }

func (p *parser) pop() { p.operators = p.operators[:len(p.operators)-1] }

func (p *parser) push(o operandAt) error {
	if p.filters++; p.filters > MaxFilters {
		return p.fail(o.pos, "more than %d filters", MaxFilters)
	}
	if o.depth > MaxDepth {
		return p.fail(o.pos, "filters are nested more than %d deep", MaxDepth)
	}
	p.operands = append(p.operands, o)
	return nil
}

// take removes the last n operands.
func (p *parser) take(n int) []operandAt {
	rest := len(p.operands) - n
	taken := p.operands[rest:]
	p.operands = p.operands[:rest]
	return taken
}

// close ends a parenthesis. HBase's own parser loses its way here when more
// than one kind of operator is open, and refuses the text.
func (p *parser) close(pos int) error {
	for len(p.operators) > 0 && p.top().word != open {
		if err := p.reduce(); err != nil {
			return err
		}
	}
	if len(p.operators) == 0 {
		return p.fail(pos, "this parenthesis was not opened")
	}
	p.pop()
	return nil
}

// reduce applies the operator on top of the stack, with AND and OR all of the
// same kind below it.
func (p *parser) reduce() error {
	op := p.top()
	switch op.word {
	case skip, while:
		return p.wrap(op)
	case and, or:
		return p.join(op)
	}
	// A parenthesis that is open at the end of the text: HBase lets it be.
	if len(p.operands) == 0 {
		return p.fail(op.pos, "nothing stands in this parenthesis")
	}
	p.pop()
	return nil
}

func (p *parser) wrap(op operatorAt) error {
	if len(p.operands) == 0 {
		return p.fail(op.pos, "%s needs a filter behind it", words[op.word])
	}
	p.pop()
	inner := p.take(1)[0]
	outer := operandAt{filter: SkipRow{inner.filter}, pos: op.pos, depth: inner.depth + 1}
	if op.word == while {
		outer.filter = WhileMatch{inner.filter}
	}
	return p.push(outer)
}

func (p *parser) join(op operatorAt) error {
	n := 1
	for len(p.operators) > 0 && p.top().word == op.word {
		op = p.top()
		p.pop()
		n++
	}
	if len(p.operands) < n {
		return p.fail(op.pos, "%s needs a filter on both sides", words[op.word])
	}
	list := List{Op: MustPassAll, Filters: make([]cell.Filter, n)}
	if op.word == or {
		list.Op = MustPassOne
	}
	depth := 0
	taken := p.take(n)
	for i, o := range taken {
		list.Filters[i] = o.filter
		depth = max(depth, o.depth)
	}
	return p.push(operandAt{list, taken[0].pos, depth + 1})
}

// finish applies what operators are left and expects one filter.
func (p *parser) finish() (cell.Filter, error) {
	for len(p.operators) > 0 {
		if err := p.reduce(); err != nil {
			return nil, err
		}
	}
	switch len(p.operands) {
	case 0:
		return nil, p.fail(0, "no filter in the text")
	case 1:
		return p.operands[0].filter, nil
	}
	return nil, p.fail(p.operands[1].pos, "AND or OR is missing before this filter")
}
