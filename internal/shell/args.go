package shell

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/cellardb/cellar/internal/attribute"
)

// Bytes are bytes that print as HBase's tools print them.
type Bytes []byte

func (b Bytes) String() string { return attribute.Escape(b) }

// args are the arguments of a statement while they are taken, first to last.
type args struct {
	name string
	at   Pos
	rest []value
}

// wrong is a fault of the arguments; help for the command helps.
func (a *args) wrong(pos Pos, format string, more ...any) error {
	return &Error{Pos: pos, Text: fmt.Sprintf(format, more...), Command: a.name}
}

// count refuses a number of arguments that is not between two.
func (a *args) count(low, high int) error {
	n := len(a.rest)
	if n >= low && n <= high {
		return nil
	}
	want := fmt.Sprintf("%d to %d arguments", low, high)
	switch {
	case high == math.MaxInt:
		want = fmt.Sprintf("at least %d arguments", low)
	case low == high && low == 0:
		want = "no arguments"
	case low == high && low == 1:
		want = "one argument"
	case low == high:
		want = fmt.Sprintf("%d arguments", low)
	}
	return a.wrong(a.at, "%s wants %s, not %d; %s", a.name, want, n, usageOf(a.name))
}

func (a *args) take() value {
	v := a.rest[0]
	a.rest = a.rest[1:]
	return v
}

// hash takes the last argument if it is a hash, else an empty one.
func (a *args) hash() value {
	if n := len(a.rest); n > 0 && a.rest[n-1].kind == kindHash {
		v := a.rest[n-1]
		a.rest = a.rest[:n-1]
		return v
	}
	return value{kind: kindHash, pos: a.at}
}

// text reads bytes: a string, or a number as its decimal digits.
func (a *args) text(v value, what string) ([]byte, error) {
	switch v.kind {
	case kindString, kindFloat:
		return v.text, nil
	case kindNumber, kindBool:
		return []byte(v.String()), nil
	case kindConstant:
		return nil, a.wrong(v.pos, "%s is %s, not the constant %s: text is written in quotes, as in '%s'", what, "a string", clipped(v.String()), clipped(v.String()))
	}
	return nil, a.wrong(v.pos, "%s is a string, not %s", what, v.kind)
}

func (a *args) table(v value) (string, error) {
	b, err := a.text(v, "the table")
	if err == nil && len(b) == 0 {
		err = a.wrong(v.pos, "the name of the table is empty")
	}
	return string(b), err
}

func (a *args) row(v value) (Bytes, error) {
	b, err := a.text(v, "the row")
	if err == nil && len(b) == 0 {
		err = a.wrong(v.pos, "the row key is empty: no row has this key")
	}
	return b, err
}

// column reads family:qualifier. A bare family gets the colon: that is the
// column with the empty qualifier.
func (a *args) column(v value) (Bytes, error) {
	b, err := a.family(v)
	if err == nil && !bytes.ContainsRune(b, ':') {
		b = append(bytes.Clone(b), ':')
	}
	return b, err
}

// family reads family or family:qualifier.
func (a *args) family(v value) (Bytes, error) {
	b, err := a.text(v, "the column")
	if err == nil && (len(b) == 0 || b[0] == ':') {
		err = a.wrong(v.pos, "column %s has no family: write family:qualifier, as in 'f1:c1'", v)
	}
	return b, err
}

// integer reads a number, or a string that is one, between two bounds.
func (a *args) integer(v value, what string, low, high int64) (int64, error) {
	n := v.number
	if v.kind == kindString {
		t := newLexer(string(v.text))
		p := &parser{l: t}
		if p.advance() == nil {
			if w, err := p.signed(0); err == nil && w.kind == kindNumber && p.tok.kind == tokEnd {
				n, v.kind = w.number, kindNumber
			}
		}
	}
	if v.kind != kindNumber {
		return 0, a.wrong(v.pos, "%s is a whole number, not %s", what, clipped(v.String()))
	}
	if n < low || n > high {
		return 0, a.wrong(v.pos, "%s is from %d to %d, not %d", what, low, high, n)
	}
	return n, nil
}

func (a *args) timestamp(v value) (Timestamp, error) {
	n, err := a.integer(v, "a timestamp", 0, math.MaxInt64)
	return Timestamp{true, n}, err
}

func (a *args) boolean(v value, what string) (bool, error) {
	if v.kind == kindString && (strings.EqualFold(string(v.text), "true") || strings.EqualFold(string(v.text), "false")) {
		return strings.EqualFold(string(v.text), "true"), nil
	}
	if v.kind != kindBool {
		return false, a.wrong(v.pos, "%s is true or false, not %s", what, clipped(v.String()))
	}
	return v.truth, nil
}

// list reads one value or an array of values.
func list(v value) []value {
	if v.kind == kindArray {
		return v.list
	}
	return []value{v}
}

// options reads a hash by a function for each key. A key that none is for is
// refused by name.
type options map[string]func(v value) error

func (a *args) options(hash value, known options, cannot map[string]string) error {
	for _, p := range hash.pairs {
		key := strings.ToUpper(string(p.key.text))
		if why, ok := cannot[key]; ok {
			return a.wrong(p.key.pos, "%s: %s", key, why)
		}
		read, ok := known[key]
		if !ok && len(known) == 0 {
			return a.wrong(p.key.pos, "%s knows no %s, nor any other option", a.name, clipped(p.key.String()))
		}
		if !ok {
			return a.wrong(p.key.pos, "%s knows no %s: it knows %s", a.name, clipped(p.key.String()), sortedNames(known))
		}
		if err := read(p.value); err != nil {
			return err
		}
	}
	return nil
}
