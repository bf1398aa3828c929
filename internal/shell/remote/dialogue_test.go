package remote

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cellardb/cellar/internal/shell"
)

// record is the address of a gateway of Apache HBase 1.4.13 that has no tables.
// The dialogue with it, and what the shell makes of it, are written to testdata.
var record = flag.String("record", "", "record the dialogue with a real gateway at this address anew")

// TestApache: the shell's commands on Apache's Thrift 1 gateway, as it answered
// them: each request must be, byte for byte, the one that was recorded.
func TestApache(t *testing.T) {
	const base = "testdata/apache"
	var steps []step
	options := Options{}
	var rec *recorder
	if *record != "" {
		rec = &recorder{}
		options.Dial = rec.dial
	} else {
		steps = readDialogue(t, base+".dialogue")
		if len(steps) < 100 {
			t.Fatalf("%d steps", len(steps))
		}
		options.Dial = (&replayer{t: t, steps: &steps}).dial
	}
	g := NewGateway("apache:9090", options)
	defer g.Close()
	script, err := os.Open(base + ".script")
	if err != nil {
		t.Fatal(err)
	}
	defer script.Close()
	var out bytes.Buffer
	s := shell.Script{Session: &shell.Session{Gateway: g, Out: &out, Quiet: true, Version: "1"}, Err: &out}
	if err := s.Run(context.Background(), "apache", script); !errors.Is(err, shell.ErrFailed) {
		t.Errorf("the script ends with %v", err)
	}
	if rec != nil {
		rec.write(t, base+".dialogue")
		if err := os.WriteFile(base+".out", out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(base + ".out")
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) > 0 {
		t.Errorf("%d steps of the dialogue did not happen; the next is %c %.200q", len(steps), steps[0].kind, steps[0].text)
	}
	if !bytes.Equal(out.Bytes(), want) && !t.Failed() {
		t.Errorf("the script prints\n%s\nwant\n%s", out.Bytes(), want)
	}
}

// step is a part of a dialogue: > what was sent, < what came, ! the end of the
// connection.
type step struct {
	kind byte
	text string
}

func readDialogue(t *testing.T, file string) []step {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var steps []step
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		content, err := strconv.Unquote(line[2:])
		if err != nil {
			t.Fatalf("%s: %q: %v", file, line, err)
		}
		steps = append(steps, step{line[0], content})
	}
	return steps
}

// recorder notes what goes over its connections.
type recorder struct{ steps []step }

func (r *recorder) dial(ctx context.Context, _ string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", *record)
	return &recorded{c, r}, err
}

func (r *recorder) add(kind byte, text string) {
	if n := len(r.steps); n > 0 && kind == '<' && r.steps[n-1].kind == '<' {
		r.steps[n-1].text += text
		return
	}
	r.steps = append(r.steps, step{kind, text})
}

func (r *recorder) write(t *testing.T, file string) {
	var b strings.Builder
	b.WriteString("# The Thrift 1 gateway of Apache HBase 1.4.13. > is sent, < comes, ! is the end of the connection.\n")
	for _, s := range r.steps {
		fmt.Fprintf(&b, "%c %s\n", s.kind, strconv.QuoteToASCII(s.text))
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

type recorded struct {
	net.Conn
	r *recorder
}

func (c *recorded) Write(b []byte) (int, error) {
	c.r.add('>', string(b))
	return c.Conn.Write(b)
}

func (c *recorded) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.r.add('<', string(b[:n]))
	}
	if err == io.EOF {
		c.r.add('!', "")
	}
	return n, err
}

// replayer gives connections that answer as it was recorded.
type replayer struct {
	t     *testing.T
	steps *[]step
}

func (r *replayer) dial(context.Context, string) (net.Conn, error) { return &replayed{r: r}, nil }

type replayed struct {
	r    *replayer
	rest string
}

// errAstray ends a replay whose requests are others than the recorded ones.
var errAstray = errors.New("the dialogue is another than the recorded one")

func (c *replayed) next(kind byte) (string, error) {
	steps := *c.r.steps
	if len(steps) == 0 || steps[0].kind != kind {
		return "", errAstray
	}
	*c.r.steps = steps[1:]
	return steps[0].text, nil
}

func (c *replayed) Write(b []byte) (int, error) {
	want, err := c.next('>')
	if err != nil {
		return 0, err
	}
	if want != string(b) {
		c.r.t.Errorf("sent\n%q\nwant\n%q", b, want)
		return 0, errAstray
	}
	return len(b), nil
}

func (c *replayed) Read(b []byte) (int, error) {
	if c.rest == "" {
		if _, err := c.next('!'); err == nil {
			return 0, io.EOF
		}
		text, err := c.next('<')
		if err != nil {
			return 0, err
		}
		c.rest = text
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *replayed) Close() error                     { return nil }
func (c *replayed) LocalAddr() net.Addr              { return nil }
func (c *replayed) RemoteAddr() net.Addr             { return nil }
func (c *replayed) SetDeadline(time.Time) error      { return nil }
func (c *replayed) SetReadDeadline(time.Time) error  { return nil }
func (c *replayed) SetWriteDeadline(time.Time) error { return nil }
