package filter

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Substring is equal to a part that contains the text, upper and lower case
// being the same. Both are read as UTF-8.
type Substring struct{ Text string }

func (c Substring) String() string { return "substring:" + c.Text }

func (c Substring) compile(*builder) (comparer, error) {
	return &substring{text: []byte(lower(c.Text))}, nil
}

type substring struct {
	text    []byte // lower case
	lowered []byte // memory for the part
}

func (s *substring) compare(part []byte) (int, error) {
	if len(s.text) == 0 {
		return 0, nil
	}
	s.lowered = s.lowered[:0]
	for _, c := range part {
		if c >= utf8.RuneSelf {
			return found(strings.Contains(lower(string(part)), string(s.text))), nil
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		s.lowered = append(s.lowered, c)
	}
	return found(bytes.Contains(s.lowered, s.text)), nil
}

func found(ok bool) int {
	if ok {
		return 0
	}
	return 1
}

// lower is Java's String.toLowerCase in the root locale, of text that is read
// as UTF-8 with bad bytes replaced. The dotted capital I becomes two characters
// there; of the capital sigma at the end of a word Java makes another small one
// than here.
func lower(s string) string {
	s = string(decodeUTF8(nil, []byte(s)))
	return strings.ToLower(strings.ReplaceAll(s, "\u0130", "i\u0307"))
}
