package filter

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cellardb/cellar/cell"
)

// regexTexts are what the patterns are tried on.
var regexTexts = []string{
	"", "a", "b", "ab", "abc", "aab", "abab", "A", "aB", "ABC", "row-0012", "row_12", "foo.bar", "a b", "a-b", "a1_b2", "123", "zz9", "  ", "\t",
	"\n", "a\n", "a\r\n", "\r\n", "a\r", "\ra\n", "a\nb", "a\r\nb", "a\n\n", "b\na", "a\n\rb", "\r\r\n", "\v", "a|b", "[a]", "\\", "$", "^", "\\Qa", "+x-",
	"\x00\x01\x02", "\xff\xfe", "\xe9", "\xc9t\xe9", "a\xe9b", "a\x85", "x\xb5", "\xa0", "\xe2\x82", "a\xe2\x82b", "\xc0\x80", "\xed\xa0\x80",
	"é", "日本", "\u017f", "k\u212a", "a\u2028", "\U0001F600", "aaaa", "tag=1,host=web01",
}

// regexPatterns are in Latin-1 with HBase's default flags, but where the case
// says something else.
var regexPatterns = []RegexString{
	// Characters, classes, escapes.
	Regex("a"), Regex("^a"), Regex("b$"), Regex("^a$"), Regex("^ab+$"), Regex("a|b"), Regex("^(a|b)$"), Regex("^.$"), Regex("^.{2}$"), Regex("^.{3,}$"), Regex("(ab){2}"), Regex("^(?:a*)b"),
	Regex("[a-c]"), Regex("^[^a]"), Regex("[^a-z]"), Regex("[a-z&&[^b]]"), Regex("^[a-c[0-9]]+$"), Regex("[]a]"), Regex("[a-]b"), Regex("[\\w&&[^\\d]]\\d"), Regex("[^^]"), Regex("^[\\^$]$"),
	Regex("\\d"), Regex("^\\D+$"), Regex("\\w\\W\\w"), Regex("^\\s+$"), Regex("\\S\\s\\S"), Regex("\\h"), Regex("\\v"), Regex("^\\H+$"), Regex("\\R"), Regex("^\\V*$"),
	Regex("\\x61"), Regex("\\x{e9}"), Regex("\\u00e9"), Regex("\\0141"), Regex("\\t"), Regex("\\e|\\a|\\f|\\v"), Regex("\\cJ"), Regex("\\\\"), Regex("\\.\\w"), Regex("\\-"), Regex("\\["), Regex("}|\\|"),
	Regex("\\\\Qa"), Regex("^[a-[x]]$"), Regex("^[+-[x]]+$"), Regex("\\Qa|b\\E"), Regex("\\Q[a"), Regex("^\\Q\\E$"), Regex("[\\Q^-\\E]"),
	// Properties.
	Regex("\\p{Lower}\\p{Upper}"), Regex("^\\p{Alpha}+$"), Regex("\\p{Punct}"), Regex("\\p{L}\\P{L}"), Regex("^\\P{ASCII}"), Regex("\\p{Lu}"), Regex("\\pN"), Regex("\\p{IsLatin}\\p{javaDigit}"), Regex("\\p{InLatin-1Supplement}"), Regex("\\p{javaWhitespace}"), Regex("\\p{sc=Latin}\\p{gc=Nd}"), Regex("\\p{IsAlphabetic}\\p{IsPunctuation}"), Regex("[\\p{L}&&[^a-z]]"), Regex("^\\p{Cntrl}+$"), Regex("\\p{XDigit}{4}"), Regex("\\p{javaUpperCase}\\p{javaLowerCase}"),
	// Places.
	Regex("$"), Regex("a$"), Regex("a\\z"), Regex("a\\Z"), Regex("\\r$"), Regex("\\n$"), Regex("^$"), Regex("^\\n"), Regex("\\Aa"), Regex("\\Ga"), Regex("(a$|^b)"), Regex("\\ba"), Regex("[a-z]\\b."), Regex("\\Bb"), Regex("a\\B"), Regex(".$"),
	{Pattern: "a.b"}, Regex("a.b"), {Pattern: "^.*$"}, {Pattern: ".", Flags: UnixLines}, {Pattern: "a$", Flags: UnixLines}, {Pattern: "a..b", Flags: UnixLines},
	{Pattern: "^b", Flags: Multiline}, {Pattern: "a$", Flags: Multiline}, {Pattern: "^a$", Flags: Multiline}, {Pattern: "^$", Flags: Multiline}, {Pattern: "^", Flags: Multiline}, {Pattern: "^\\w+$", Flags: Multiline | UnixLines}, Regex("(?m)^b"), Regex("(?m)a$"), Regex("(?m)\\r$"), {Pattern: "^.$", Flags: Multiline},
	// Flags.
	{Pattern: "abc", Flags: CaseInsensitive}, {Pattern: "[a-b]B", Flags: CaseInsensitive}, {Pattern: "[^b]b", Flags: CaseInsensitive}, {Pattern: "\xe9", Flags: CaseInsensitive}, {Pattern: "\xe9", Flags: CaseInsensitive | UnicodeCase}, {Pattern: "[\xe0-\xff]t", Flags: CaseInsensitive | UnicodeCase}, Regex("(?i)AB"), Regex("a(?i)b"), Regex("a(?i:B)"), Regex("(?i)a(?-i)B"), Regex("(?-s)a.b"), Regex("((?i)a)b"), Regex("(?i)\\p{Lower}\\p{Lower}\\p{Lu}"), Regex("(?u)s"), Regex("(?iu)s"), {Pattern: "k", Flags: CaseInsensitive | UnicodeCase, Charset: UTF8},
	{Pattern: "a b # c", Flags: Comments}, {Pattern: "(?x) a [ b \\ ] # c\n b?$"}, {Pattern: "o.b", Flags: LiteralPattern}, {Pattern: "[A]", Flags: LiteralPattern | CaseInsensitive}, {Pattern: "\\w", Flags: UnicodeCharacterClass}, {Pattern: "(?U)^\\p{Alpha}+$"}, {Pattern: "(?U)\\s"}, {Pattern: "^\\p{Lower}", Flags: UnicodeCharacterClass},
	// Groups and repetitions.
	Regex("(?<x>a)b"), Regex("^(a|ab)(c|b)$"), Regex("^a{0}b"), Regex("^a{2,3}b"), Regex("^a??b"), Regex("^.*?b$"), Regex("a{2}{0}b"), Regex("(|a)b"), Regex("()a"), Regex("^(a|)+$"), Regex("host=\\w+(\\d\\d)"), Regex("^tag=(?:1|2),"),
	// UTF-8, where a character is not a byte.
	{Pattern: "^.$", Flags: DotAll, Charset: UTF8}, {Pattern: "^..$", Flags: DotAll, Charset: UTF8}, {Pattern: "é", Charset: UTF8}, {Pattern: "[è-ê]", Charset: UTF8}, {Pattern: "[^\\x00-\\x7f]", Charset: UTF8}, {Pattern: "\\x{fffd}", Charset: UTF8}, {Pattern: "^\\x{fffd}{2}$", Charset: UTF8}, {Pattern: "^a\\x{fffd}b$", Charset: UTF8}, {Pattern: "\\p{IsHan}", Charset: UTF8}, {Pattern: "\\x{1F600}", Charset: UTF8}, {Pattern: "^\\uD83D\\uDE00$", Charset: UTF8}, {Pattern: "[\\uD83D\\uDE00x]", Charset: UTF8}, {Pattern: "\\uD83D\\u0061|\\uDE00\\uD83D|b", Charset: UTF8}, {Pattern: "a$", Charset: UTF8}, {Pattern: "a\\R?$", Charset: UTF8}, {Pattern: "^[^\\n]\\Z", Flags: DotAll, Charset: UTF8},
}

func testBuilder() *builder { return builderWith(Options{MatchTimeout: time.Second}) }

func builderWith(o Options) *builder {
	left := 30 * time.Second
	return &builder{options: o, left: &left}
}

// Each pattern is found where Java finds it, and does not hold for all texts or
// for none.
func TestRegexAgainstJava(t *testing.T) {
	requests := make([]string, len(regexPatterns))
	for i, r := range regexPatterns {
		requests[i] = fmt.Sprintf("%d %s %s", r.Flags, charsetNames[r.Charset], hexa([]byte(r.Pattern)))
	}
	var data []string
	for _, text := range regexTexts {
		data = append(data, hexa([]byte(text)))
	}
	answers := recorded(t, "regex", 4096, data, requests)
	for i, r := range regexPatterns {
		m, err := r.compile(testBuilder())
		if err != nil {
			t.Errorf("%s: %v, Java: %s", r, err, answers[i])
			continue
		}
		var got strings.Builder
		for _, text := range regexTexts {
			order, err := m.compare([]byte(text))
			if err != nil {
				t.Fatalf("%s in %q: %v", r, text, err)
			}
			got.WriteString(map[int]string{0: "1", 1: "0"}[order])
		}
		for j := range regexTexts {
			if boundaryDiffers(r.Pattern, regexTexts[j]) {
				continue
			}
			if j >= len(answers[i]) || got.String()[j] != answers[i][j] {
				t.Errorf("%s in %q: %c, Java: %s", r, regexTexts[j], got.String()[j], answers[i])
				break
			}
		}
		if !strings.Contains(got.String(), "0") && !everywhere[r.Pattern] || !strings.Contains(got.String(), "1") {
			t.Errorf("%s: %s", r, got.String())
		}
	}
	if len(regexPatterns) < 120 {
		t.Errorf("%d patterns", len(regexPatterns))
	}
}

// boundaryDiffers says that Java up to 18, unlike later ones, takes letters
// beyond ASCII into words where \b looks, though not for \w.
func boundaryDiffers(pattern, text string) bool {
	return strings.Contains(strings.ToLower(pattern), `\b`) &&
		strings.ContainsFunc(text, func(c rune) bool { return c >= utf8.RuneSelf })
}

// everywhere are patterns that hold for every text.
var everywhere = map[string]bool{"$": true}

// What Java refuses is refused, with a text that says what is wrong.
func TestRegexFaults(t *testing.T) {
	cases := []struct{ pattern, says string }{
		{"(", "unclosed group"}, {"a)", "unmatched closing )"}, {"[a", "unclosed character class"}, {"[", "unclosed character class"}, {"[a&&", "unclosed character class"},
		{"*a", "dangling meta character *"}, {"a**", "dangling meta character *"}, {"a|+", "dangling meta character +"}, {"a{", "illegal repetition"}, {"a{x", "illegal repetition"},
		{"a{2", "unclosed counted closure"}, {"a{3,2}", "illegal repetition range"}, {"a{9999999999}", "illegal repetition range"}, {"[b-a]", "illegal character range"}, {"[a-\\d]", "illegal character range"},
		{"\\", "nothing behind the backslash"}, {"[\\", "nothing behind the backslash"}, {"\\y", "illegal or unsupported escape sequence \\y"}, {"[\\b]", "illegal or unsupported escape sequence \\b"}, {"\\E", "illegal or unsupported escape sequence \\E"},
		{"\\x4", "illegal \\x escape sequence"}, {"\\u12", "illegal \\u escape sequence"}, {"\\uD83D\\u12", "illegal \\u escape sequence"}, {"\\x{}", "unclosed hexadecimal escape sequence"}, {"\\x{110000}", "hexadecimal codepoint is too big"}, {"\\08", "illegal octal escape sequence"}, {"\\c", "illegal control escape sequence"},
		{"\\p{Foo}", "character property {Foo} is unknown"}, {"\\p{L", "unclosed character family"}, {"\\p{}", "empty character family"}, {"\\p", "a name of a property is missing"}, {"\\p{x=y}", "character property {x=y} is unknown"},
		{"(?<1>a)", "does not start with a Latin letter"}, {"(?<a", "missing trailing >"}, {"(?<a>x)(?<a>y)", "is already defined"}, {"\\k<b>", "does not exist"}, {"\\kb", "is not followed by <"},
		{"(?q)a", "unknown inline modifier"}, {"(?i", "unknown inline modifier"}, {"(?#x)", "unknown inline modifier"}, {"(?P<n>x)", "unknown inline modifier"}, {"[&&]", "bad class syntax"},
	}
	requests := make([]string, len(cases))
	for i, c := range cases {
		requests[i] = fmt.Sprintf("%d %s %s", DotAll, charsetNames[Latin1], hexa([]byte(c.pattern)))
	}
	answers := recorded(t, "regexfaults", 4096, []string{hexa([]byte("a"))}, requests)
	for i, c := range cases {
		_, err := New(Value{cell.Equal, Regex(c.pattern)}, Options{})
		if err == nil || !strings.Contains(err.Error(), c.says) || !errors.Is(err, cell.ErrIllegalArgument) {
			t.Errorf("%s: %v, want %s", c.pattern, err, c.says)
		}
		if answers[i] != "error" {
			t.Errorf("%s: Java takes it", c.pattern)
		}
	}
	if len(cases) != 42 {
		t.Errorf("%d cases, want 42", len(cases))
	}
}

// Patterns that need backtracking are named, and given to the engine that is
// injected in a form that leaves nothing to its taste.
func TestRegexBacktracking(t *testing.T) {
	cases := []struct {
		pattern, normal, obstacle string
		flags                     RegexFlags
	}{
		{`a(?=b)`, `a(?=b)`, "lookahead (?=...)", 0},
		{`a(?!b).`, `a(?!b)[\x00-\x09\x0B-\x0C\x0E-\x84\x86-\xFF]`, "lookahead (?!...)", 0},
		{`(?<=a)b`, `(?<=a)b`, "lookbehind (?<=...)", 0},
		{`(?<!a|B)[b]`, `(?<!a|B)b`, "lookbehind (?<!...)", 0},
		{`(?>a*)b`, `(?>(?:a){0,})b`, "an atomic group (?>...)", 0},
		{`a++b`, `(?>(?:a){1,})b`, "a possessive quantifier", 0},
		{`(a)\1`, `(a)(?:\1)`, "a backreference", 0},
		{`(?<n>a)\k<n>+?`, `(a)(?:(?:\1)){1,}?`, "a backreference", 0},
		{`(a)\1`, `([Aa])(?i:\1)`, "a backreference", CaseInsensitive},
		{`(a)\11`, `(a)(?:\1)1`, "a backreference", 0},
		{`a$b`, `a(?:(?=(?:\x0D\x0A|[\x0D\x85\u2028\u2029])?\z)|(?<!\x0D)(?=\x0A\z))b`, "$ that is not at the end", 0},
		{`(a$)+`, `(?:(a(?:(?=(?:\x0D\x0A|[\x0D\x85\u2028\u2029])?\z)|(?<!\x0D)(?=\x0A\z)))){1,}`, "$ that is not at the end", 0},
		{`a$b`, `a(?=\x0A?\z)b`, "$ that is not at the end", UnixLines},
		{`a$b`, `a(?:(?=[\x0D\x85\u2028\u2029]|\z)|(?<!\x0D)(?=\x0A))b`, "$ that is not at the end", Multiline},
		{`a$b`, `a(?=\x0A|\z)b`, "$ that is not at the end", Multiline | UnixLines},
		{`a^b`, `a(?:(?!\z)(?:\A|(?<=[\x0A\x85\u2028\u2029])|(?<=\x0D)(?!\x0A)))b`, "^ with MULTILINE that is not at the begin", Multiline},
		{`^a*`, `(?:(?!\z)(?:\A|(?<=\x0A)))(?:a){0,}`, "^ with MULTILINE before what may be empty", Multiline | UnixLines},
		{`x{1001}`, `(?:x){1001,1001}`, "a repetition of more than 1000", 0},
		{`(?U)\b`, ``, "lookbehind (?<=...)", 0},
		{`(?=\ba\B)`, `(?=(?:(?<=[0-9A-Z\x5Fa-z])(?![0-9A-Z\x5Fa-z])|(?<![0-9A-Z\x5Fa-z])(?=[0-9A-Z\x5Fa-z]))a(?:(?<=[0-9A-Z\x5Fa-z])(?=[0-9A-Z\x5Fa-z])|(?<![0-9A-Z\x5Fa-z])(?![0-9A-Z\x5Fa-z])))`, "lookahead (?=...)", 0},
	}
	for _, c := range cases {
		f := Value{cell.Equal, RegexString{Pattern: c.pattern, Flags: c.flags}}
		_, err := New(f, Options{})
		if err == nil || !strings.Contains(err.Error(), c.obstacle+" is not supported") {
			t.Errorf("%s: %v, want one that names %s", c.pattern, err, c.obstacle)
		}
		var given string
		_, err = New(f, Options{Backtracking: func(p string) (Matcher, error) {
			given = p
			return fakeMatcher{}, nil
		}})
		if err != nil || c.normal != "" && given != c.normal {
			t.Errorf("%s: %v\ngives %s\nwant  %s", c.pattern, err, given, c.normal)
		}
	}
	if len(cases) != 20 {
		t.Errorf("%d cases, want 20", len(cases))
	}
}

// fakeMatcher finds what is in it, and fails on "slow".
type fakeMatcher struct{}

var errSlow = errors.New("too slow")

func (fakeMatcher) MatchString(text string) (bool, error) {
	if text == "slow" {
		return false, errSlow
	}
	return text == "\u00e9\r\n", nil
}

// The injected engine gets characters, and its error ends the scan.
func TestRegexInjectedMatcher(t *testing.T) {
	e, err := New(Value{cell.Equal, Regex("(?=a)")}, Options{Backtracking: func(string) (Matcher, error) { return fakeMatcher{}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	c := cell.Cell{Row: []byte("r"), Value: []byte("\xe9\r\n")}
	if code, err := e.FilterCell(&c); code != Include || err != nil {
		t.Errorf("%v %v", code, err)
	}
	c.Value = []byte("slow")
	if _, err := e.FilterCell(&c); !errors.Is(err, errSlow) {
		t.Errorf("%v", err)
	}
	_, err = New(Value{cell.Equal, Regex("(?=a)")}, Options{Backtracking: func(string) (Matcher, error) { return nil, errSlow }})
	if err == nil || !strings.Contains(err.Error(), "lookahead") {
		t.Errorf("%v", err)
	}
}

// FuzzRegex: no pattern breaks the parser or what it is compiled to, and a
// pattern that is plain text is found where the text is.
func FuzzRegex(f *testing.F) {
	for i, r := range regexPatterns {
		f.Add(r.Pattern, int(r.Flags), uint8(r.Charset), []byte(regexTexts[i%len(regexTexts)]))
	}
	f.Fuzz(func(t *testing.T, pattern string, flags int, charset uint8, text []byte) {
		r := RegexString{pattern, RegexFlags(flags), RegexCharset(charset % 2)}
		o := Options{MatchTimeout: time.Second, Backtracking: func(string) (Matcher, error) { return fakeMatcher{}, nil }}
		m, err := r.compile(builderWith(o))
		if err == nil {
			_, _ = m.compare(text)
		} else if !errors.Is(err, cell.ErrIllegalArgument) {
			t.Fatalf("%v", err)
		}
		if len(pattern) > MaxPattern {
			return
		}
		literal, err := RegexString{Pattern: pattern, Flags: LiteralPattern | DotAll}.compile(builderWith(o))
		if err != nil {
			t.Fatalf("%q as plain text: %v", pattern, err)
		}
		order, err := literal.compare(text)
		if err != nil || (order == 0) != strings.Contains(string(text), pattern) {
			t.Fatalf("%q as plain text in %q: %d %v", pattern, text, order, err)
		}
	})
}
