package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/term"
)

// Terminal is where a person types. Raw makes keys come one by one and gives
// back what undoes it; Interrupts calls a function at each Ctrl-C until what it
// gives back is called: while keys are not raw, a Ctrl-C is a signal.
type Terminal struct {
	io.ReadWriter
	Raw        func() (restore func() error, err error)
	Interrupts func(f func()) (stop func())
	// Size of the screen, in characters.
	Size func() (width, height int)
}

// Console is a conversation with a person.
type Console struct {
	Session  *Session
	Terminal Terminal
	History  *History
	// TableTimeout bounds how long a completion waits for the names of tables;
	// 0: one second.
	TableTimeout time.Duration
}

const (
	keyInterrupt = 0x03 // Ctrl-C
	keySearch    = 0x12 // Ctrl-R
	keyTab       = '\t'
	// keyDiscard is what Ctrl-C becomes on its way to the line editor.
	keyDiscard = 0x1c
)

// Run talks until exit or Ctrl-D. The end of the context ends it at the next
// line.
func (c *Console) Run(ctx context.Context) error {
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{&keyReader{from: c.Terminal}, c.Terminal}, "")
	t.History = lineHistory{c.History}
	width, height := c.Terminal.Size()
	if width > 0 && height > 0 {
		// A size that it was given cannot be wrong: the error is of drawing.
		_ = t.SetSize(width, height)
	}
	p := &prompter{Console: c, t: t}
	t.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) { return p.key(ctx, line, pos, key) }
	fmt.Fprintf(c.Terminal, "Commands as in HBase's shell; help lists them, Ctrl-D leaves.\n")
	var text pending
	number := 1
	for ctx.Err() == nil {
		line, err := c.readLine(p, prompt(&text, number))
		switch {
		case errors.Is(err, errInterrupted):
			text.take()
			continue
		case err == io.EOF:
			fmt.Fprintln(c.Terminal)
			return nil
		case err != nil:
			return fmt.Errorf("read from the terminal: %w", err)
		}
		parse := text.add(line + "\n")
		if text.text.Len() > maxStatement {
			fmt.Fprintf(c.Terminal, "\n%s\n\n", Explain(&lengthError{maxStatement}))
			text.take()
			continue
		}
		if !parse {
			continue
		}
		whole := text.take()
		rest, over, err := c.evaluate(ctx, whole)
		if over {
			return err
		}
		if rest == "" {
			c.History.Add(strings.TrimSpace(whole))
			number++
		} else {
			text.keep(rest)
		}
	}
	return ctx.Err()
}

// prompt shows, by a star, that the statement goes on.
func prompt(text *pending, number int) string {
	mark := '>'
	if text.text.Len() > 0 {
		mark = '*'
	}
	return fmt.Sprintf("cellar:%03d%c ", number, mark)
}

// evaluate runs the whole statements of the text and gives what is left. over
// says that the conversation ends; the error is why, nil after exit.
func (c *Console) evaluate(ctx context.Context, text string) (rest string, over bool, err error) {
	for text != "" {
		rest, err := c.evaluateOne(ctx, text)
		var unwritten *OutputError
		switch {
		case errors.Is(err, ErrIncomplete):
			return text, false, nil
		case errors.Is(err, ErrExit):
			return "", true, nil
		case errors.As(err, &unwritten):
			return "", true, err
		case errors.Is(err, context.Canceled) && ctx.Err() == nil:
			fmt.Fprintln(c.Terminal, "Interrupted.")
			return "", false, nil
		case err != nil:
			fmt.Fprintf(c.Terminal, "\n%s\n\n", Explain(err))
			return "", false, nil
		}
		text = rest
	}
	return "", false, nil
}

// evaluateOne runs one statement; Ctrl-C ends it.
func (c *Console) evaluateOne(ctx context.Context, text string) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := c.Terminal.Interrupts(cancel)
	defer stop()
	return c.Session.Eval(ctx, text)
}

// errInterrupted: Ctrl-C while a line was typed.
var errInterrupted = errors.New("interrupted")

// readLine reads one line in raw mode.
func (c *Console) readLine(p *prompter, prompt string) (line string, err error) {
	restore, err := c.Terminal.Raw()
	if err != nil {
		return "", err
	}
	defer func() {
		if e := restore(); err == nil {
			err = e
		}
	}()
	if width, height := c.Terminal.Size(); width > 0 && height > 0 {
		c.Session.Width = width
		_ = p.t.SetSize(width, height)
	}
	p.t.SetPrompt(prompt)
	p.search, p.discarded = "", false
	line, err = p.t.ReadLine()
	if p.discarded {
		return "", errInterrupted
	}
	if errors.Is(err, term.ErrPasteIndicator) {
		err = nil
	}
	return line, err
}

// lineHistory shows the line editor what was typed. What is remembered are whole
// statements, not lines.
type lineHistory struct{ *History }

// Add does nothing.
func (lineHistory) Add(string) {}

// keyReader turns Ctrl-C, which the line editor takes for the end of input, into
// a key that clears the line, see prompter, and Enter, which ends it.
type keyReader struct {
	from io.Reader
	rest []byte
}

func (k *keyReader) Read(p []byte) (int, error) {
	if len(k.rest) == 0 {
		buf := make([]byte, 256)
		n, err := k.from.Read(buf)
		if n == 0 {
			return 0, err
		}
		for _, b := range buf[:n] {
			if b == keyInterrupt {
				k.rest = append(k.rest, keyDiscard, '\r')
			} else {
				k.rest = append(k.rest, b)
			}
		}
	}
	n := copy(p, k.rest)
	k.rest = k.rest[n:]
	return n, nil
}

// prompter answers the keys that the line editor leaves to us.
type prompter struct {
	*Console
	t *term.Terminal
	// search is what Ctrl-R looks for, while it is pressed again and again;
	// found is where it was found last.
	search string
	found  int
	// discarded: the line that is typed was given up.
	discarded bool
}

func (p *prompter) key(ctx context.Context, line string, pos int, key rune) (string, int, bool) {
	switch key {
	case keyTab:
		return p.tab(ctx, line, pos)
	case keySearch:
		return p.backwards(line)
	case keyDiscard:
		p.discarded = true
		return "", 0, true
	}
	p.search = ""
	return line, pos, false
}

// tab completes the word before the cursor as far as it is certain, and lists
// what it may be where it is not.
func (p *prompter) tab(ctx context.Context, line string, pos int) (string, int, bool) {
	from, candidates := complete(line[:pos], func() []string { return p.tables(ctx) })
	common := commonPrefix(candidates)
	if common == "" || common == line[from:pos] {
		if len(candidates) > 1 {
			_, _ = fmt.Fprintln(p.t, strings.Join(candidates, "  "))
		}
		return line, pos, true
	}
	return line[:from] + common + line[pos:], from + len(common), true
}

// tables gives the names of tables; none where the server does not say in time.
func (p *prompter) tables(ctx context.Context) []string {
	timeout := p.TableTimeout
	if timeout == 0 {
		timeout = time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	names, err := p.Session.Gateway.TableNames(ctx)
	if err != nil {
		return nil
	}
	return names
}

// backwards replaces the line by the newest of the history that holds it;
// pressed again, by the one before.
func (p *prompter) backwards(line string) (string, int, bool) {
	if p.search == "" || p.found >= p.History.Len() || p.History.At(p.found) != line {
		p.search, p.found = line, -1
	}
	for i := p.found + 1; i < p.History.Len(); i++ {
		if h := p.History.At(i); strings.Contains(h, p.search) {
			p.found = i
			return h, len(h), true
		}
	}
	return line, len(line), true
}
