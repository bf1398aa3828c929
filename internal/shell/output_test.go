package shell

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
)

// fullWriter takes n bytes.
type fullWriter struct {
	strings.Builder
	n   int
	err error
}

func (w *fullWriter) Write(p []byte) (int, error) {
	if len(p) > w.n-w.Len() {
		n, _ := w.Builder.Write(p[:w.n-w.Len()])
		return n, w.err
	}
	return w.Builder.Write(p)
}

// Results that nobody can read end the script: with the error, at the statement
// that printed them, and a scan stops asking for rows.
func TestScript_outputThatFails(t *testing.T) {
	const text = "exists 't'\nscan 't'\nput 't', 'r', 'f:c', 'v'\nexists 't'\n"
	var whole strings.Builder
	s := Script{Session: &Session{Gateway: newFake(), Out: &whole, Quiet: true}, Err: io.Discard}
	if err := s.Run(t.Context(), "s", strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	for n := range whole.Len() {
		for _, cause := range []error{syscall.EPIPE, syscall.ENOSPC} {
			f := newFake()
			f.atATime = 1
			out := &fullWriter{n: n, err: cause}
			var errs strings.Builder
			s := Script{Session: &Session{Gateway: f, Out: out, Quiet: true}, Err: &errs}
			err := s.Run(t.Context(), "s", strings.NewReader(text))
			var unwritten *OutputError
			if !errors.As(err, &unwritten) || !errors.Is(err, cause) || err.Error() != "write the output: "+cause.Error() || errs.Len() > 0 {
				t.Fatalf("after %d bytes: %v, %q", n, err, &errs)
			}
			if out.String() != whole.String()[:n] {
				t.Fatalf("after %d bytes this was written: %q", n, out)
			}
			calls := strings.Join(f.calls, ", ")
			if n < strings.Index(whole.String(), "ROW") && calls != "names" || n < len(whole.String())-len("Table t does exist\n") && strings.Contains(calls, "put") {
				t.Fatalf("after %d bytes it went on: %s", n, calls)
			}
			if strings.Contains(calls, "scan") && !strings.Contains(calls, "close") {
				t.Fatalf("after %d bytes the scanner is left: %s", n, calls)
			}
			if row := strings.Index(whole.String(), "\n a"); n < row && strings.Count(calls, "next") > 1 {
				t.Fatalf("after %d bytes rows are asked for: %s", n, calls)
			}
		}
	}
	if whole.Len() < 300 {
		t.Errorf("%d bytes", whole.Len())
	}
}

// The end of exit is not lost in it, and the time that a command took counts.
func TestSession_outputThatFails(t *testing.T) {
	for _, text := range []string{"exists 't'\n", "version\n", "help\n"} {
		s := &Session{Gateway: newFake(), Out: &fullWriter{err: syscall.ENOSPC}}
		if _, err := s.Eval(t.Context(), text); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%q: %v", text, err)
		}
	}
	s := &Session{Gateway: newFake(), Out: &fullWriter{err: syscall.ENOSPC}}
	if _, err := s.Eval(t.Context(), "put 't', 'r', 'f:c', 'v'\n"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("only the time is printed: %v", err)
	}
	s = &Session{Gateway: newFake(), Out: &fullWriter{err: syscall.ENOSPC}, Quiet: true}
	if _, err := s.Eval(t.Context(), "put 't', 'r', 'f:c', 'v'\n"); err != nil {
		t.Errorf("nothing is printed: %v", err)
	}
	// An error of the statement comes first: it is what the person must know.
	s = &Session{Gateway: newFake(), Out: &fullWriter{err: syscall.ENOSPC}}
	if _, err := s.Eval(t.Context(), "truncate 'nothere'\n"); err == nil || errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v", err)
	}
}
