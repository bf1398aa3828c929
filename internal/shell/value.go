package shell

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cellardb/cellar/internal/attribute"
)

// kind is the type of a value.
type kind uint8

const (
	kindString kind = iota
	kindNumber
	kindFloat
	kindBool
	kindNil
	kindConstant // NAME, VERSIONS, FOREVER, ...
	kindArray
	kindHash
)

func (k kind) String() string {
	switch k {
	case kindString:
		return "a string"
	case kindNumber, kindFloat:
		return "a number"
	case kindBool:
		return "true or false"
	case kindNil:
		return "nil"
	case kindConstant:
		return "a constant"
	case kindArray:
		return "an array"
	case kindHash:
		return "a hash"
	}
	return "a value"
}

// value is one value of the language.
type value struct {
	kind   kind
	pos    Pos
	text   []byte // kindString, kindConstant, kindFloat as written
	number int64
	truth  bool
	list   []value
	pairs  []pair
}

// pair is an entry of a hash.
type pair struct{ key, value value }

// String writes the value as somebody would type it.
func (v value) String() string {
	switch v.kind {
	case kindString:
		return quote(v.text)
	case kindNumber:
		return strconv.FormatInt(v.number, 10)
	case kindBool:
		return strconv.FormatBool(v.truth)
	case kindNil:
		return "nil"
	case kindArray:
		parts := make([]string, len(v.list))
		for i := range v.list {
			parts[i] = v.list[i].String()
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case kindHash:
		parts := make([]string, len(v.pairs))
		for i := range v.pairs {
			parts[i] = v.pairs[i].key.String() + " => " + v.pairs[i].value.String()
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return string(v.text)
}

// quote writes bytes so that the language reads them back: single quotes where
// nothing needs an escape, double ones with \xHH otherwise.
func quote(b []byte) string {
	escaped := attribute.Escape(b)
	if escaped == string(b) && !strings.ContainsAny(escaped, `'\`) {
		return "'" + escaped + "'"
	}
	// Of what Escape leaves as it is, these mean something in double quotes.
	return `"` + strings.NewReplacer(`"`, `\"`, "#{", `\#{`).Replace(escaped) + `"`
}

// Pos is a place in the text of a statement.
type Pos struct{ Line, Column int } // both from 1; Column counts bytes

// Error is a statement that cannot be understood. Text says what is wrong and
// how to write it.
type Error struct {
	Pos  Pos // zero: of the whole statement
	Text string
	// Command, if not empty, is the one whose help would help.
	Command string
}

func (e *Error) Error() string {
	if e.Pos.Line > 1 {
		return fmt.Sprintf("line %d, column %d: %s", e.Pos.Line, e.Pos.Column, e.Text)
	}
	if e.Pos.Column > 0 {
		return fmt.Sprintf("column %d: %s", e.Pos.Column, e.Text)
	}
	return e.Text
}

func wrong(pos Pos, format string, args ...any) *Error {
	return &Error{Pos: pos, Text: fmt.Sprintf(format, args...)}
}
