package filter

import (
	"fmt"
	"slices"
	"strings"
)

// re2Writer writes a regular expression for package regexp, which knows neither
// Java's line ends nor anything that needs backtracking.
//
// $ is written as the characters that may follow it, which is right because
// nothing else comes behind it: only whether there is a match is asked. So is ^
// with MULTILINE, with the characters before it. Anywhere else they are an
// obstacle.
type re2Writer struct {
	strings.Builder
	cr, lf   rune // the characters of a pair \r\n; 0: not told apart
	obstacle string
}

// toRE2 writes the expression. obstacle names what package regexp cannot do;
// then there is no expression.
func toRE2(n *reNode, cs RegexCharset) (source, obstacle string) {
	w := re2Writer{}
	if n.seesLines() {
		w.cr, w.lf = latinPairCR, latinPairLF
		if cs == UTF8 {
			w.cr, w.lf = utf8PairCR, utf8PairLF
		}
	}
	w.node(n, true, true)
	return w.String(), w.obstacle
}

func (w *re2Writer) refuse(what string) {
	if w.obstacle == "" {
		w.obstacle = what
	}
}

// node writes a node. first and last say that nothing of the expression stands
// before and behind it.
func (w *re2Writer) node(n *reNode, first, last bool) {
	switch n.kind {
	case reEmpty:
	case reSet:
		w.set(n.set)
	case reSequence:
		w.sequence(n.parts, first, last)
	case reChoice:
		for i, p := range n.parts {
			if i > 0 {
				w.WriteByte('|')
			}
			w.node(p, first, last)
		}
	case reCapture:
		w.group(n.parts[0], first, last)
	case reRepeat:
		w.repeat(n, first, last)
	case reBegin:
		w.WriteString(`\A`)
	case reEnd:
		w.WriteString(`\z`)
	case reLineBegin:
		_ = w.lineBegin(n, nil, first, last)
	case reLineEnd:
		w.lineEnd(n, last)
	case reBoundary:
		w.WriteString(`\b`)
	case reNoBoundary:
		w.WriteString(`\B`)
	case reAtomic:
		w.refuse("an atomic group (?>...)")
	case reBackref:
		w.refuse("a backreference")
	case reLook:
		w.refuse(lookName(n))
	}
}

func lookName(n *reNode) string {
	switch {
	case n.behind && n.negative:
		return "lookbehind (?<!...)"
	case n.behind:
		return "lookbehind (?<=...)"
	case n.negative:
		return "lookahead (?!...)"
	}
	return "lookahead (?=...)"
}

func (w *re2Writer) group(n *reNode, first, last bool) {
	w.WriteString("(?:")
	w.node(n, first, last)
	w.WriteByte(')')
}

func (w *re2Writer) sequence(parts []*reNode, first, last bool) {
	parts = slices.DeleteFunc(slices.Clone(parts), func(p *reNode) bool { return p.kind == reEmpty })
	for i, p := range parts {
		first := first && i == 0
		switch p.kind {
		case reLineBegin:
			if w.lineBegin(p, parts[i+1:], first, last) {
				return
			}
		case reChoice:
			w.group(p, first, last && i == len(parts)-1)
		default:
			w.node(p, first, last && i == len(parts)-1)
		}
	}
}

func (w *re2Writer) repeat(n *reNode, first, last bool) {
	switch {
	case n.greed == possessive:
		w.refuse("a possessive quantifier")
		return
	case n.min > 1000 || n.max > 1000:
		w.refuse("a repetition of more than 1000")
		return
	}
	once := n.min <= 1 && (n.max == 0 || n.max == 1)
	w.group(n.parts[0], first && once, last && once)
	switch {
	case n.min == 0 && n.max == 1:
		w.WriteByte('?')
	case n.min == 0 && n.max < 0:
		w.WriteByte('*')
	case n.min == 1 && n.max < 0:
		w.WriteByte('+')
	case n.max < 0:
		fmt.Fprintf(w, "{%d,}", n.min)
	default:
		fmt.Fprintf(w, "{%d,%d}", n.min, n.max)
	}
}

// lineBegin writes ^ with MULTILINE: the begin, or a character that ends a line.
// Java has no such place at the end of the text, so a character must follow. It
// says whether the rest is written too.
func (w *re2Writer) lineBegin(n *reNode, rest []*reNode, first, last bool) (all bool) {
	nullable := true
	for _, p := range rest {
		nullable = nullable && p.nullable()
	}
	switch {
	case !first:
		w.refuse("^ with MULTILINE that is not at the begin")
		return true
	case nullable && !last, nullable && len(rest) > 0 && !isLineEnd(rest, n.unix):
		w.refuse("^ with MULTILINE before what may be empty")
		return true
	}
	w.WriteString(`(?:\A|`)
	w.literal(terminators(n.unix).union(setOf(w.lf)))
	w.WriteByte(')')
	switch {
	case nullable && len(rest) == 0:
		w.WriteString(`(?s:.)`)
	case nullable:
		w.literal(w.lineEnds(n.unix))
	}
	return nullable
}

// isLineEnd says whether nothing but $ with MULTILINE follows.
func isLineEnd(rest []*reNode, unix bool) bool {
	return len(rest) == 1 && rest[0].kind == reLineEnd && rest[0].multi && rest[0].unix == unix
}

// lineEnds are the characters before which $ with MULTILINE stands.
func (w *re2Writer) lineEnds(unix bool) charset {
	if unix {
		return setOf('\n', w.lf)
	}
	return terminators(false).union(setOf(w.cr))
}

// lineEnd writes $: the end, or before the line end that ends the text, or with
// MULTILINE any line end.
func (w *re2Writer) lineEnd(n *reNode, last bool) {
	switch {
	case !last:
		w.refuse("$ that is not at the end")
	case n.multi:
		w.WriteString(`(?:\z|`)
		w.literal(w.lineEnds(n.unix))
		w.WriteByte(')')
	case n.unix:
		w.literal(w.lineEnds(true))
		w.WriteString(`?\z`)
	default:
		w.WriteString(`(?:`)
		w.literal(setOf(w.cr))
		w.literal(setOf(w.lf))
		w.WriteByte('|')
		w.literal(terminators(false))
		w.WriteString(`)?\z`)
	}
}

// set writes a set, the characters of pairs along with \r and \n.
func (w *re2Writer) set(s charset) {
	if w.cr != 0 {
		cr, lf := s.has('\r'), s.has('\n')
		s = s.clip(w.cr - 1)
		if cr {
			s = s.union(setOf(w.cr))
		}
		if lf {
			s = s.union(setOf(w.lf))
		}
	}
	w.literal(s)
}

func (w *re2Writer) literal(s charset) {
	switch {
	case len(s) == 0:
		w.WriteString(`[^\x00-\x{10FFFF}]`)
		return
	case len(s) == 1 && s[0].lo == s[0].hi:
		w.char(s[0].lo)
		return
	case len(s) == 1 && s[0].lo == 0 && s[0].hi >= 0xff:
		w.WriteString(`(?s:.)`)
		return
	}
	writeBrackets(&w.Builder, s, w.char)
}

func (w *re2Writer) char(c rune) {
	if '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' {
		w.WriteRune(c)
		return
	}
	fmt.Fprintf(w, `\x{%X}`, c)
}
