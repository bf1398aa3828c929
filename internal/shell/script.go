package shell

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Script runs statements from text, without a person.
type Script struct {
	Session *Session
	// Err takes errors; it is not nil.
	Err io.Writer
	// StopAtError ends the script at the first error. Otherwise it goes on, but
	// for one that leaves unknown where the next statement begins.
	StopAtError bool

	// limit of a statement in bytes; 0: maxStatement. It is the tests'.
	limit int
}

// ErrFailed says that statements of a script failed; Err has said which.
var ErrFailed = errors.New("statements failed")

// Run runs all statements of a text. The name is of the text, for errors. It
// ends with ErrFailed if there were errors, with the context's error if it
// ended, with an *OutputError where results cannot be written, with ErrExit after
// exit. It takes time by the length of the text, however its statements are cut
// into lines.
func (s *Script) Run(ctx context.Context, name string, text io.Reader) error {
	in := bufio.NewReader(text)
	r := running{Script: s, name: name, line: 1}
	for {
		line, err := readLine(in, cmp.Or(s.limit, maxStatement), r.pending.text.Len())
		var long *lengthError
		if errors.As(err, &long) {
			r.report(err)
			return r.end(nil)
		}
		if err != nil && err != io.EOF {
			return r.end(fmt.Errorf("read %s: %w", name, err))
		}
		last := err == io.EOF
		if !r.pending.add(line) && !last {
			if ctx.Err() != nil {
				return r.end(ctx.Err())
			}
			continue
		}
		if over, err := r.drain(ctx, last); over || last {
			return r.end(err)
		}
	}
}

// readLine reads a line with its newline, of a statement of which so much is
// there. At the end of the text the last one comes with io.EOF.
func readLine(in *bufio.Reader, limit, there int) (string, error) {
	var line strings.Builder
	for {
		piece, err := in.ReadSlice('\n')
		if there+line.Len()+len(piece) > limit {
			return "", &lengthError{limit}
		}
		line.Write(piece)
		if err != bufio.ErrBufferFull {
			return line.String(), err
		}
	}
}

// running is a script while it runs.
type running struct {
	*Script
	name    string
	line    int // where pending begins
	pending pending
	failed  bool
}

// drain runs the whole statements that are pending. over says that the script
// ends here; the error is why, nil after errors that were reported.
func (r *running) drain(ctx context.Context, last bool) (over bool, err error) {
	var unwritten *OutputError
	text := r.pending.take()
	for text != "" {
		if ctx.Err() != nil {
			return true, ctx.Err()
		}
		rest, err := r.Session.Eval(ctx, text)
		switch {
		case errors.Is(err, ErrIncomplete) && !last:
			r.pending.keep(text)
			return false, nil
		case errors.Is(err, ErrExit):
			return true, ErrExit
		case err != nil && ctx.Err() != nil:
			return true, ctx.Err()
		case errors.As(err, &unwritten):
			return true, err
		case err != nil:
			if r.report(err) || r.StopAtError {
				return true, nil
			}
		}
		r.line += strings.Count(text[:len(text)-len(rest)], "\n")
		text = rest
	}
	return false, nil
}

// report prints an error with its place, and says whether the script cannot go
// on.
func (r *running) report(err error) (fatal bool) {
	r.failed = true
	var syntax *syntaxError
	fatal = errors.As(err, &syntax) || errors.Is(err, ErrIncomplete)
	line := r.line
	var e *Error
	if errors.As(err, &e) && e.Pos.Line > 0 {
		line += e.Pos.Line - 1
		moved := *e
		moved.Pos.Line = 1
		err = &moved
	}
	// An error that cannot be printed still makes the script fail.
	_, _ = fmt.Fprintf(r.Err, "%s:%d: %s\n", r.name, line, Explain(err))
	return fatal
}

// end is the outcome of the script: what ended it, or that statements failed.
func (r *running) end(err error) error {
	if err == nil || errors.Is(err, ErrExit) {
		if r.failed {
			return ErrFailed
		}
	}
	return err
}
