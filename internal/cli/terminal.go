package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"
)

// width is how many characters fit on a line of what w leads to; 0: it is no
// terminal.
func width(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return n
}

// terminal gives w if it leads to one; nil otherwise. It is for what is only of
// use to somebody who watches.
func terminal(w io.Writer) io.Writer {
	if width(w) == 0 {
		return nil
	}
	return w
}

func comma(n int) string { return humanize.Comma(int64(n)) }

// rate says how many, how long and how fast.
func rate(n int, unit string, took time.Duration) string {
	perSecond := "-"
	if took > 0 {
		perSecond = comma(int(float64(n) / took.Seconds()))
	}
	return fmt.Sprintf("%s %s in %.2f s (%s %s/s)", comma(n), unit, took.Seconds(), perSecond, unit)
}

// indented writes lines with space in front.
type indented struct {
	w    io.Writer
	open bool // the line has begun
}

func indent(w io.Writer) io.Writer { return &indented{w: w} }

func (i *indented) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		if !i.open {
			line = append([]byte("   "), line...)
		}
		if whole {
			line = append(line[:len(line):len(line)], '\n')
		}
		if _, err := i.w.Write(line); err != nil {
			return 0, err
		}
		i.open, rest = !whole, after
	}
	return len(p), nil
}
