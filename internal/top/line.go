package top

import (
	"strings"
	"unicode/utf8"
)

// Style is what a piece of text means; the terminal gives it its looks.
type Style uint8

// Styles.
const (
	Plain Style = iota
	Title       // a heading
	Dim         // a name beside its figure
	Good
	Warn
	Bad
	styles
)

// Span is text of one style.
type Span struct {
	Text  string
	Style Style
}

// Line is one line of the view.
type Line []Span

// String is the line without styles and without space at its end.
func (l Line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return strings.TrimRight(b.String(), " ")
}

// width in columns: all that is shown is one column a rune. Names of tables and
// methods are ASCII, and what comes from elsewhere is made so.
func (l Line) width() int {
	n := 0
	for _, s := range l {
		n += utf8.RuneCountInString(s.Text)
	}
	return n
}

// cut shortens the line to a width.
func (l Line) cut(width int) Line {
	for i, s := range l {
		n := utf8.RuneCountInString(s.Text)
		if n <= width {
			width -= n
			continue
		}
		s.Text = string([]rune(s.Text)[:width])
		return append(l[:i:i], s)
	}
	return l
}

// flow sets items behind a heading, as many on a line as fit; further lines are
// indented as far. An item is never broken.
func flow(head string, items []Line, width int) []Line {
	const gap = "  "
	const indent = 11
	lines := []Line{{{pad(head, indent), Title}}}
	for i, item := range items {
		last := &lines[len(lines)-1]
		if i > 0 && last.width()+len(gap)+item.width() > width && last.width() > indent {
			lines = append(lines, Line{{strings.Repeat(" ", indent), Plain}})
			last = &lines[len(lines)-1]
		} else if last.width() > indent {
			*last = append(*last, Span{gap, Plain})
		}
		*last = append(*last, item...)
	}
	return lines
}

// pad fills text up to a width.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(width-utf8.RuneCountInString(s), 0))
}

// padLeft fills text up to a width, in front.
func padLeft(s string, width int) string {
	return strings.Repeat(" ", max(width-utf8.RuneCountInString(s), 0)) + s
}

// printable makes text that came over the network safe to show: control
// characters could drive the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}
