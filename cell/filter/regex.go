package filter

import "regexp"

// Matcher finds a regular expression in a text.
type Matcher interface {
	MatchString(text string) (bool, error)
}

// Flags of a regular expression; the numbers are those of Java's Pattern.
type RegexFlags int

const (
	CaseInsensitive RegexFlags = 2
	DotAll          RegexFlags = 32
)

// RegexString is equal to a part in which the pattern is found.
type RegexString struct {
	Pattern string
	Flags   RegexFlags
}

// Regex is a RegexString with HBase's default flags.
func Regex(pattern string) RegexString { return RegexString{pattern, DotAll} }

func (c RegexString) String() string { return "regexstring:" + c.Pattern }

func (c RegexString) compile(*builder) (comparer, error) {
	re, err := regexp.Compile("(?s)" + c.Pattern)
	if err != nil {
		return nil, illegal("%v", err)
	}
	return regexComparer{re}, nil
}

type regexComparer struct{ re *regexp.Regexp }

func (r regexComparer) compare(part []byte) (int, error) { return found(r.re.Match(part)), nil }
