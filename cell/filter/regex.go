package filter

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"time"
	"unicode"

	"github.com/cellardb/cellar/cell"
)

// MaxPattern is the length in bytes of a regular expression.
const MaxPattern = 64 << 10

// MaxInstructions bounds the programs of all regular expressions of a filter
// together. A literal, a set, a choice take about one instruction each, a
// repetition {n} takes its part n times.
const MaxInstructions = 50_000

// RegexFlags are flags of a regular expression; the numbers are those of Java's
// Pattern.
type RegexFlags int

// Flags.
const (
	UnixLines             RegexFlags = 1   // only \n ends a line
	CaseInsensitive       RegexFlags = 2   // ASCII letters only, without UnicodeCase
	Comments              RegexFlags = 4   // white space and comments are left out
	Multiline             RegexFlags = 8   // ^ and $ stand at lines
	LiteralPattern        RegexFlags = 16  // the pattern is plain text
	DotAll                RegexFlags = 32  // . is any character
	UnicodeCase           RegexFlags = 64  // with CaseInsensitive: all letters
	UnicodeCharacterClass RegexFlags = 256 // \w, \p{Alpha} and so on are Unicode's
	allFlags                         = UnixLines | CaseInsensitive | Comments | Multiline | LiteralPattern | DotAll | UnicodeCase | UnicodeCharacterClass
)

// RegexCharset says how the bytes of pattern and cell are read as characters.
type RegexCharset uint8

// Charsets. Latin1 makes a character of each byte, so that a pattern can speak
// about any bytes. UTF8 is what HBase's Java client asks for unless told
// otherwise; there bytes that are not UTF-8 are read as U+FFFD.
const (
	Latin1 RegexCharset = iota
	UTF8
)

func (c RegexCharset) max() rune {
	if c == Latin1 {
		return unicode.MaxLatin1
	}
	return unicode.MaxRune
}

// RegexString is equal to a part in which the pattern is found, anywhere. The
// pattern is one of java.util.regex, in bytes of the charset. HBase's own
// default is DotAll: see Regex.
type RegexString struct {
	Pattern string
	Flags   RegexFlags
	Charset RegexCharset
}

// Regex is a RegexString with HBase's default flags, of Latin-1.
func Regex(pattern string) RegexString { return RegexString{Pattern: pattern, Flags: DotAll} }

func (c RegexString) String() string {
	switch {
	case c.Charset != Latin1:
	case c.Flags == DotAll:
		return "regexstring:" + c.Pattern
	case c.Flags == DotAll|CaseInsensitive:
		return "regexstringnocase:" + c.Pattern
	}
	return fmt.Sprintf("regex(flags=%d,charset=%d):%s", c.Flags, c.Charset, c.Pattern)
}

func (c RegexString) compile(b *builder) (comparer, error) {
	if c.Flags&^allFlags != 0 || c.Charset > UTF8 {
		return nil, illegal("regular expression %s: flags %d or charset %d are not supported",
			cell.Printable([]byte(c.Pattern)), c.Flags, c.Charset)
	}
	n, err := parseRegex(c.Pattern, c.Flags, c.Charset)
	if err != nil {
		return nil, err
	}
	left := MaxInstructions - b.instructions
	size := n.size(left)
	if size > left {
		return nil, illegalKind(ErrTooLarge, "regular expression %s: more than %d instructions, or too many in one filter",
			cell.Printable([]byte(c.Pattern)), MaxInstructions)
	}
	b.instructions += size
	text := textOf{charset: c.Charset}
	source, obstacle := toRE2(n, c.Charset)
	if obstacle != "" {
		return c.backtrack(b, n, text, obstacle)
	}
	text.lines = n.seesLines()
	return c.compileRE2(b, source, text)
}

func (c RegexString) compileRE2(b *builder, source string, text textOf) (comparer, error) {
	parsed, err := syntax.Parse(source, syntax.Perl)
	if err == nil {
		var program *syntax.Prog
		if program, err = syntax.Compile(parsed.Simplify()); err == nil {
			var re *regexp.Regexp
			re, err = regexp.Compile(source)
			return &re2{re: re, size: len(program.Inst), timeout: b.options.MatchTimeout, left: b.left, text: text}, err
		}
	}
	return nil, illegalKind(ErrTooLarge, "regular expression %s: %v", cell.Printable([]byte(c.Pattern)), err)
}

func (c RegexString) backtrack(b *builder, n *reNode, text textOf, obstacle string) (comparer, error) {
	if b.options.Backtracking == nil {
		return nil, illegal("regular expression %s: %s is not supported", cell.Printable([]byte(c.Pattern)), obstacle)
	}
	m, err := b.options.Backtracking(toBacktracking(n))
	if err != nil {
		return nil, illegal("regular expression %s, which has %s: %v", cell.Printable([]byte(c.Pattern)), obstacle, err)
	}
	return &backtracking{m, text}, nil
}

// Matcher finds a regular expression in a text that is UTF-8; it is what
// Options.Backtracking makes. An error, such as one of a time limit, ends the
// scan.
//
// The pattern that it is made of uses only what Perl, Java and .NET have in
// common and mean alike, and needs no flags: characters, sets written as
// ranges of \xHH and \uHHHH, (...) and (?:...), |, greedy and lazy quantifiers,
// (?>...), (?=...), (?!...), (?<=...), (?<!...), \A, \z, backreferences by
// number, and (?i:\1). Text and pattern are in characters: a byte of Latin-1 is
// a character from U+0000 to U+00FF.
type Matcher interface {
	MatchString(text string) (bool, error)
}

type backtracking struct {
	matcher Matcher
	text    textOf
}

func (m *backtracking) compare(part []byte) (int, error) {
	ok, err := m.matcher.MatchString(string(m.text.read(part)))
	if err != nil {
		return 0, fmt.Errorf("regular expression: %w", err)
	}
	return found(ok), nil
}

// A match of fewer steps than these, the product of program and text, is not
// timed: it takes a few milliseconds at worst. One of more than directSteps,
// half a second at worst, looks at the clock while it runs.
const (
	untimedSteps = 1 << 17
	directSteps  = 1 << 25
)

// slowMatch is the time from which a match counts for Options.ScanTimeout.
const slowMatch = time.Millisecond

// re2 finds a pattern with package regexp, in time that grows with the product
// of program and text.
type re2 struct {
	re      *regexp.Regexp
	size    int
	timeout time.Duration
	left    *time.Duration // for slow matches of the whole filter
	text    textOf
}

func (m *re2) compare(part []byte) (int, error) {
	text := m.text.read(part)
	steps := len(text) * m.size
	if steps <= untimedSteps {
		return found(m.re.Match(text)), nil
	}
	begin := time.Now()
	var ok, late bool
	if steps <= directSteps {
		ok = m.re.Match(text)
	} else {
		r := timedReader{text: text, deadline: begin.Add(m.timeout)}
		ok = m.re.MatchReader(&r)
		late = r.late && !ok
	}
	if took := time.Since(begin); took >= slowMatch {
		*m.left -= took
	}
	if late || *m.left < 0 {
		return 0, illegalKind(ErrTooSlow, "regular expression %s on %d bytes: more than %v, or too long for all values together",
			cell.Printable([]byte(m.re.String())), len(part), m.timeout)
	}
	return found(ok), nil
}
