package filter

import (
	"bytes"
	"math"

	"github.com/cellardb/cellar/cell"
)

// argument of a filter in the text.
type argument struct {
	bytes  []byte // without quotes
	quoted bool
	pos    int
}

// filterCall is a filter as it is written: its name and its arguments.
type filterCall struct {
	p    *parser
	name string
	pos  int
	args []argument
}

// simple reads Name(arguments) and says how many bytes it has.
func (p *parser) simple(pos int) (f cell.Filter, n int, err error) {
	end, err := p.endOfCall(pos)
	if err != nil {
		return nil, 0, err
	}
	text := p.text[pos:end]
	nameEnd := bytes.IndexAny(text, "( ")
	begin := bytes.IndexByte(text, '(')
	if begin < 0 {
		return nil, 0, p.fail(pos, "a filter is a name and arguments in parentheses: %s", cell.Printable(text))
	}
	if junk := bytes.TrimLeft(text[nameEnd:begin], " "); len(junk) > 0 {
		return nil, 0, p.fail(pos+begin-len(junk), "( expected after the name of the filter: %s", cell.Printable(junk))
	}
	c := filterCall{p: p, name: string(text[:nameEnd]), pos: pos}
	if c.args, err = p.arguments(pos+begin+1, end-1); err != nil {
		return nil, 0, err
	}
	f, err = c.filter()
	return f, len(text), err
}

// endOfCall finds the end of a filter: behind the first parenthesis that closes
// outside quotes.
func (p *parser) endOfCall(pos int) (int, error) {
	quote := -1 // where the open quote is
	for i := pos; i < len(p.text); i++ {
		switch {
		case p.text[i] == '\'' && i+1 < len(p.text) && p.text[i+1] == '\'':
			i++ // one quote in quoted bytes, or none at all between quotes
		case p.text[i] == '\'' && quote < 0:
			quote = i
		case p.text[i] == '\'':
			quote = -1
		case p.text[i] == ')' && quote < 0:
			return i + 1, nil
		}
	}
	if quote >= 0 {
		return 0, p.fail(quote, "this quote is not closed")
	}
	return 0, p.fail(pos, "the parenthesis of this filter is not closed: %s", cell.Printable(p.text[pos:]))
}

// arguments reads what stands between the parentheses of a filter. Commas
// between arguments may be missing where a space is.
func (p *parser) arguments(pos, end int) ([]argument, error) {
	var args []argument
	for i := pos; i < end; {
		switch p.text[i] {
		case ' ', ',':
			i++
		case '\'':
			a, next, err := p.quoted(i, end)
			if err != nil {
				return nil, err
			}
			args, i = append(args, a), next
		default:
			next := i
			for next < end && p.text[next] != ' ' && p.text[next] != ',' {
				next++
			}
			args = append(args, argument{bytes: p.text[i:next], pos: i})
			i = next
		}
	}
	return args, nil
}

// quoted reads quoted bytes and says where to go on.
func (p *parser) quoted(pos, end int) (a argument, next int, err error) {
	a = argument{bytes: []byte{}, quoted: true, pos: pos}
	for i := pos + 1; i < end; i++ {
		if p.text[i] != '\'' {
			a.bytes = append(a.bytes, p.text[i])
			continue
		}
		if i+1 < end && p.text[i+1] == '\'' {
			a.bytes = append(a.bytes, '\'')
			i++
			continue
		}
		if i+1 < end && p.text[i+1] != ' ' && p.text[i+1] != ',' {
			return a, 0, p.fail(i+1, ", or ) expected after the quoted argument")
		}
		return a, i + 1, nil
	}
	return a, 0, p.fail(pos, "this quote is not closed")
}

func (c *filterCall) fail(i int, format string, args ...any) error {
	return c.p.fail(c.args[i].pos, c.name+": "+format, args...)
}

// count checks the number of arguments.
func (c *filterCall) count(allowed ...int) error {
	for _, n := range allowed {
		if len(c.args) == n {
			return nil
		}
	}
	text := []byte{}
	for i, n := range allowed {
		if i > 0 {
			text = append(text, " or "...)
		}
		text = append(text, integer(n)...)
	}
	if string(text) == "1" {
		return c.p.fail(c.pos, "%s takes 1 argument, not %d", c.name, len(c.args))
	}
	return c.p.fail(c.pos, "%s takes %s arguments, not %d", c.name, text, len(c.args))
}

// text gives a quoted argument.
func (c *filterCall) text(i int) ([]byte, error) {
	if !c.args[i].quoted {
		return nil, c.fail(i, "argument %d must be in single quotes: %s", i+1, cell.Printable(c.args[i].bytes))
	}
	return c.args[i].bytes, nil
}

// number gives an integer.
func (c *filterCall) number(i int) (int64, error) {
	digits, negative := bytes.CutPrefix(c.args[i].bytes, []byte("-"))
	if c.args[i].quoted || len(digits) == 0 {
		return 0, c.fail(i, "argument %d must be an integer without quotes", i+1)
	}
	var n int64
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, c.fail(i, "argument %d must be an integer: %s", i+1, cell.Printable(c.args[i].bytes))
		}
		if n > (math.MaxInt64-int64(d-'0'))/10 {
			return 0, c.fail(i, "argument %d is too large: %s", i+1, cell.Printable(c.args[i].bytes))
		}
		n = n*10 + int64(d-'0')
	}
	if negative {
		n = -n
	}
	return n, nil
}

// natural gives an integer that is not negative and at most max.
func (c *filterCall) natural(i int, max int64) (int64, error) {
	n, err := c.number(i)
	switch {
	case err != nil:
		return 0, err
	case n < 0:
		return 0, c.fail(i, "argument %d must not be negative: %d", i+1, n)
	case n > max:
		return 0, c.fail(i, "argument %d must not be above %d: %d", i+1, max, n)
	}
	return n, nil
}

// boolean gives true or false, in any case.
func (c *filterCall) boolean(i int) (bool, error) {
	if !c.args[i].quoted {
		switch {
		case bytes.EqualFold(c.args[i].bytes, []byte("true")):
			return true, nil
		case bytes.EqualFold(c.args[i].bytes, []byte("false")):
			return false, nil
		}
	}
	return false, c.fail(i, "argument %d must be true or false: %s", i+1, cell.Printable(c.args[i].bytes))
}

// operator gives a comparison.
func (c *filterCall) operator(i int) (cell.CompareOp, error) {
	if !c.args[i].quoted {
		for op := cell.Less; op < cell.NoOp; op++ {
			if string(c.args[i].bytes) == operators[op] {
				return op, nil
			}
		}
	}
	return 0, c.fail(i, "argument %d must be one of < <= = != > >=, not %s", i+1, cell.Printable(c.args[i].bytes))
}

// comparator gives what stands behind an operator: kind, colon, value.
func (c *filterCall) comparator(i int) (Comparator, error) {
	text, err := c.text(i)
	if err != nil {
		return nil, err
	}
	kind, value, ok := bytes.Cut(text, []byte(":"))
	if !ok {
		return nil, c.fail(i, "argument %d must be a comparator, a colon and a value: %s", i+1, cell.Printable(text))
	}
	switch string(kind) {
	case "binary":
		return Binary{value}, nil
	case "binaryprefix":
		return BinaryPrefix{value}, nil
	case "regexstring":
		return c.regex(i, Regex(string(value)))
	case "regexstringnocase":
		return c.regex(i, RegexString{Pattern: string(value), Flags: DotAll | CaseInsensitive})
	case "substring":
		return Substring{string(value)}, nil
	}
	return nil, c.fail(i, "comparator %s is none of binary, binaryprefix, regexstring, regexstringnocase and substring", cell.Printable(kind))
}

// regex refuses what is no regular expression.
func (c *filterCall) regex(i int, r RegexString) (Comparator, error) {
	if _, err := parseRegex(r.Pattern, r.Flags, r.Charset); err != nil {
		return nil, c.fail(i, "%v", err)
	}
	return r, nil
}

// comparison gives operator and comparator. Those that only know equality go
// with = and != only, unless anyOperator.
func (c *filterCall) comparison(i int, anyOperator bool) (cell.CompareOp, Comparator, error) {
	op, err := c.operator(i)
	if err != nil {
		return 0, nil, err
	}
	comparator, err := c.comparator(i + 1)
	if err != nil {
		return 0, nil, err
	}
	switch comparator.(type) {
	case RegexString, Substring:
		if op != cell.Equal && op != cell.NotEqual && !anyOperator {
			return 0, nil, c.fail(i, "regexstring and substring go with = and != only, not with %s", operators[op])
		}
	}
	return op, comparator, nil
}
