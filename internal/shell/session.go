package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// ErrExit is how the command exit ends; it is no failure.
var ErrExit = errors.New("exit")

// Session is where commands run: a gateway, and who reads what they print. It is
// used by one goroutine at a time.
type Session struct {
	Gateway Gateway
	// Admin, nil: what Thrift 1 cannot say is refused.
	Admin Admin
	// NoAdmin says why there is no Admin; empty: it was not asked for.
	NoAdmin string
	// Out takes results; it is not nil.
	Out io.Writer
	// Width is how many characters fit on a line of Out; 0: lines are as long
	// as what is in them.
	Width int
	// Quiet leaves "Took 0.0123 seconds" out.
	Quiet bool
	// Now, nil: time.Now.
	Now func() time.Time
	// Version of the shell; User who types. Both are for version and whoami.
	Version, User string

	// unwritten is the first error of Out. Nothing is written after it, and
	// commands end as soon as they notice.
	unwritten *OutputError
	// looked counts the bytes that were parsed, those that were looked at again
	// each time.
	looked int64
}

// OutputError says that results cannot be written to Session.Out.
type OutputError struct{ Err error }

func (e *OutputError) Error() string { return "write the output: " + e.Err.Error() }

// Unwrap gives what the write answered.
func (e *OutputError) Unwrap() error { return e.Err }

func (s *Session) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// Eval runs the first statement of a text and gives what is left of the text.
// The errors are those of commands; ErrIncomplete where the text ends in the
// middle of the statement; ErrExit after exit; an *OutputError where Out does not
// take what the command prints, from then on for every statement.
func (s *Session) Eval(ctx context.Context, text string) (rest string, err error) {
	st, n, err := parse(text)
	if err != nil {
		s.looked += int64(len(text))
		if errors.Is(err, errIncomplete) {
			return text, ErrIncomplete
		}
		return "", &syntaxError{err}
	}
	rest = text[n:]
	s.looked += int64(n)
	if st == nil {
		return rest, nil
	}
	c, err := decode(st)
	if err != nil {
		return rest, err
	}
	if s.unwritten != nil {
		return rest, s.unwritten
	}
	begin := s.now()
	err = c.Run(ctx, s)
	if err == nil && !s.Quiet {
		s.printf("Took %.4f seconds\n", s.now().Sub(begin).Seconds())
	}
	if s.unwritten != nil && (err == nil || errors.Is(err, ErrExit)) {
		err = s.unwritten
	}
	return rest, err
}

// ErrIncomplete says that a statement goes on beyond the end of its text.
var ErrIncomplete = errIncomplete

// syntaxError is a text of which not even the end of the statement is known:
// what is behind it must not run.
type syntaxError struct{ err error }

func (e *syntaxError) Error() string { return e.err.Error() }
func (e *syntaxError) Unwrap() error { return e.err }

// Explain renders an error as the shell prints it: what is wrong, and the
// command whose help helps.
func Explain(err error) string {
	text := "ERROR: " + strings.TrimSpace(err.Error())
	var e *Error
	if errors.As(err, &e) && e.Command != "" {
		text += fmt.Sprintf("\nFor usage try: help '%s'", e.Command)
	}
	return text
}

func (s *Session) printf(format string, args ...any) {
	if s.unwritten != nil {
		return
	}
	if _, err := fmt.Fprintf(s.Out, format, args...); err != nil {
		s.unwritten = &OutputError{err}
	}
}

// written is the error of what was printed.
func (s *Session) written() error {
	if s.unwritten == nil {
		return nil
	}
	return s.unwritten
}

// admin gives the HTTP port, or says why what is asked for needs it.
func (s *Session) admin(what string) (Admin, error) {
	if s.Admin != nil {
		return s.Admin, nil
	}
	if s.NoAdmin != "" {
		return nil, fmt.Errorf("%s: over Thrift 1 this cannot be said, and Cellar's HTTP port is not at hand: %s", what, s.NoAdmin)
	}
	return nil, fmt.Errorf("%s: %w", what, errNeedsAdmin)
}
