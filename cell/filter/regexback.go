package filter

import (
	"fmt"
	"strings"
)

// backWriter writes a regular expression for an engine that backtracks, in the
// syntax that Matcher promises.
type backWriter struct{ strings.Builder }

func toBacktracking(n *reNode) string {
	var w backWriter
	w.node(n)
	return w.String()
}

func (w *backWriter) node(n *reNode) {
	switch n.kind {
	case reEmpty:
	case reSet:
		w.set(n.set)
	case reSequence:
		for _, p := range n.parts {
			if p.kind == reChoice {
				w.group("(?:", p)
			} else {
				w.node(p)
			}
		}
	case reChoice:
		for i, p := range n.parts {
			if i > 0 {
				w.WriteByte('|')
			}
			w.node(p)
		}
	case reRepeat:
		w.repeat(n)
	case reCapture:
		w.group("(", n.parts[0])
	case reAtomic:
		w.group("(?>", n.parts[0])
	case reLook:
		w.group(lookHead(n), n.parts[0])
	case reBackref:
		if n.folded {
			fmt.Fprintf(w, `(?i:\%d)`, n.number)
		} else {
			fmt.Fprintf(w, `(?:\%d)`, n.number)
		}
	default:
		w.place(n)
	}
}

func lookHead(n *reNode) string {
	switch {
	case n.behind && n.negative:
		return "(?<!"
	case n.behind:
		return "(?<="
	case n.negative:
		return "(?!"
	}
	return "(?="
}

func (w *backWriter) group(head string, n *reNode) {
	w.WriteString(head)
	w.node(n)
	w.WriteByte(')')
}

func (w *backWriter) repeat(n *reNode) {
	if n.greed == possessive {
		w.WriteString("(?>")
	}
	w.group("(?:", n.parts[0])
	if n.max < 0 {
		fmt.Fprintf(w, "{%d,}", n.min)
	} else {
		fmt.Fprintf(w, "{%d,%d}", n.min, n.max)
	}
	switch n.greed {
	case lazy:
		w.WriteByte('?')
	case possessive:
		w.WriteByte(')')
	}
}

// place writes what stands between characters.
func (w *backWriter) place(n *reNode) {
	const word = `[0-9A-Z\x5Fa-z]`
	switch n.kind {
	case reBegin:
		w.WriteString(`\A`)
	case reEnd:
		w.WriteString(`\z`)
	case reBoundary:
		w.WriteString(`(?:(?<=` + word + `)(?!` + word + `)|(?<!` + word + `)(?=` + word + `))`)
	case reNoBoundary:
		w.WriteString(`(?:(?<=` + word + `)(?=` + word + `)|(?<!` + word + `)(?!` + word + `))`)
	case reLineBegin:
		if n.unix {
			w.WriteString(`(?:(?!\z)(?:\A|(?<=\x0A)))`)
			return
		}
		w.WriteString(`(?:(?!\z)(?:\A|(?<=[\x0A\x85\u2028\u2029])|(?<=\x0D)(?!\x0A)))`)
	case reLineEnd:
		w.lineEnd(n)
	}
}

func (w *backWriter) lineEnd(n *reNode) {
	switch {
	case n.multi && n.unix:
		w.WriteString(`(?=\x0A|\z)`)
	case n.multi:
		w.WriteString(`(?:(?=[\x0D\x85\u2028\u2029]|\z)|(?<!\x0D)(?=\x0A))`)
	case n.unix:
		w.WriteString(`(?=\x0A?\z)`)
	default:
		w.WriteString(`(?:(?=(?:\x0D\x0A|[\x0D\x85\u2028\u2029])?\z)|(?<!\x0D)(?=\x0A\z))`)
	}
}

func (w *backWriter) set(s charset) {
	switch {
	case len(s) == 0:
		w.WriteString(`(?!)`)
		return
	case len(s) == 1 && s[0].lo == s[0].hi:
		w.char(s[0].lo)
		return
	}
	writeBrackets(&w.Builder, s, w.char)
}

// writeBrackets writes a set as both engines read it, its characters by char.
func writeBrackets(w *strings.Builder, s charset, char func(rune)) {
	w.WriteByte('[')
	for _, r := range s {
		char(r.lo)
		if r.hi > r.lo {
			w.WriteByte('-')
			char(r.hi)
		}
	}
	w.WriteByte(']')
}

func (w *backWriter) char(c rune) {
	switch {
	case '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z', c > 0xffff:
		w.WriteRune(c)
	case c > 0xff:
		fmt.Fprintf(w, `\u%04X`, c)
	default:
		fmt.Fprintf(w, `\x%02X`, c)
	}
}
