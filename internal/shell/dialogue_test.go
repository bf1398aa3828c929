package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// TestDialogue: what statements ask of the servers, and what they print. A first
// line that begins with % sets the scene.
func TestDialogue(t *testing.T) {
	ran := runGolden(t, "testdata/dialogue", func(t *testing.T, input string) string {
		f := newFake()
		var out bytes.Buffer
		s := &Session{Gateway: f, Out: &out, Quiet: true, Version: "1", User: "ada"}
		if scene, rest, ok := strings.Cut(input, "\n"); ok && strings.HasPrefix(scene, "%") {
			input = rest
			for _, word := range strings.Fields(scene[1:]) {
				setScene(t, f, s, word)
			}
		}
		script := Script{Session: s, Err: &out}
		if err := script.Run(context.Background(), "test", strings.NewReader(input)); err != nil {
			fmt.Fprintf(&out, "(%v)\n", err)
		}
		for _, c := range f.calls {
			fmt.Fprintf(&out, "> %s\n", c)
		}
		return dotted(out.String())
	})
	if ran < 60 {
		t.Errorf("%d dialogues", ran)
	}
}

func setScene(t *testing.T, f *fake, s *Session, word string) {
	name, value, _ := strings.Cut(word, "=")
	switch name {
	case "http":
		s.Admin = fakeAdmin{f}
	case "nohttp":
		s.NoAdmin = "it is off"
	case "one":
		f.atATime = 1
	case "fail":
		f.fail = map[string]error{value: errors.New("it failed")}
	case "width":
		_, err := fmt.Sscan(value, &s.Width)
		if err != nil {
			t.Fatal(err)
		}
	default:
		t.Fatalf("no scene has %q", word)
	}
}

// clocked is a session whose clock goes on by 12.3 ms at each look.
func clocked(out *bytes.Buffer) *Session {
	now := time.Unix(0, 0)
	return &Session{Gateway: newFake(), Out: out, Now: func() time.Time {
		now = now.Add(12300 * time.Microsecond)
		return now
	}}
}

func TestTook(t *testing.T) {
	var out bytes.Buffer
	s := clocked(&out)
	if _, err := s.Eval(context.Background(), "put 't', 'r', 'f:c', 'v'"); err != nil || out.String() != "Took 0.0123 seconds\n" {
		t.Errorf("%q, %v", &out, err)
	}
	out.Reset()
	if _, err := s.Eval(context.Background(), "is_enabled 'nope'"); !errors.Is(err, errNoTable) || out.String() != "" {
		t.Errorf("%q, %v", &out, err)
	}
}

func runScript(t *testing.T, s *Script, text string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	s.Session, s.Err = &Session{Gateway: newFake(), Out: &out, Quiet: true}, &out
	err := s.Run(context.Background(), "s", strings.NewReader(text))
	return out.String(), err
}

// How scripts end.
func TestScript(t *testing.T) {
	const exists = "Table t does exist\n"
	cases := []struct {
		name, text string
		stop       bool
		out        string
		err        error
	}{
		{"nothing", "", false, "", nil},
		{"no newline at the end", "exists 't'", false, exists, nil},
		{"carriage returns", "exists 't'\r\nexists 't' # x\r\n\r\n", false, exists + exists, nil},
		{"on after an error", "is_enabled 'u'\nexists 't'", false, "s:1: ERROR: no such table\n" + exists, ErrFailed},
		{"not on after an error", "exists 't'; is_enabled 'u'\nexists 't'", true, exists + "s:1: ERROR: no such table\n", ErrFailed},
		{"syntax ends it", "exists 't'\n\nexists x\nexists 't'\n", false, exists + "s:3: ERROR: column 8: x is no value: text is written in quotes, as in 'x'\n", ErrFailed},
		{"in the third line of a statement", "\nput 't',\n'r',\n 'c', x\n", false, "s:4: ERROR: column 7: x is no value: text is written in quotes, as in 'x'\n", ErrFailed},
		{"incomplete", "exists 't'\nscan 't', {\n", false, exists + "s:2: ERROR: the statement is not complete\n", ErrFailed},
		{"exit", "exists 't'; exit; exists 't'\nexists 't'", false, exists, ErrExit},
		{"exit after an error", "is_enabled 'u'\nexit\nexists 't'", false, "s:1: ERROR: no such table\n", ErrFailed},
		{"an argument in a later line", "exists 't'\nput 't', 'r',\n '', 'v'\nexists 't'\n", false,
			exists + "s:3: ERROR: column 2: column '' has no family: write family:qualifier, as in 'f1:c1'\nFor usage try: help 'put'\n" + exists, ErrFailed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			out, err := runScript(t, &Script{StopAtError: c.stop}, c.text)
			if out != c.out || !errors.Is(err, c.err) || (c.err == nil) != (err == nil) {
				t.Errorf("prints %q and ends with %v; want %q and %v", out, err, c.out, c.err)
			}
		})
	}
	if len(cases) != 11 {
		t.Errorf("%d cases", len(cases))
	}
}

func TestScript_thatCannotBeRead(t *testing.T) {
	var out bytes.Buffer
	s := Script{Session: &Session{Gateway: newFake(), Out: &out, Quiet: true}, Err: &out}
	broken := errors.New("broken")
	if err := s.Run(context.Background(), "s", iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if err := s.Run(context.Background(), "s", iotest.DataErrReader(strings.NewReader("exists 't'"))); err != nil || out.String() != "Table t does exist\n" {
		t.Errorf("%q, %v", &out, err)
	}
}

func TestScript_longStatement(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	out, err := runScript(t, &Script{}, "put 't', 'r', 'f:c', '"+big+"'\nexists 't'\n")
	if err != nil || out != "Table t does exist\n" {
		t.Errorf("%.100q, %v", out, err)
	}
	out, err = runScript(t, &Script{}, "put 't', '"+strings.Repeat(big, maxStatement>>20)+"'")
	if !errors.Is(err, ErrFailed) || out != "s:1: ERROR: the statement is longer than 67108864 bytes: is a quote or a bracket not closed?\n" {
		t.Errorf("%.100q, %v", out, err)
	}
}

// The end of the context ends the script, and frees the scanner all the same.
func TestScript_ended(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var out bytes.Buffer
	f := newFake()
	s := Script{Session: &Session{Gateway: f, Out: writerFunc(func(p []byte) (int, error) {
		if bytes.Contains(p, []byte("Current")) {
			cancel()
		}
		return out.Write(p)
	}), Quiet: true}, Err: &out}
	f.atATime = 1
	err := s.Run(ctx, "s", strings.NewReader("count 't', INTERVAL => 1\nexists 't'\n"))
	if !errors.Is(err, context.Canceled) || out.String() != "Current count: 1, row: a\n" || f.calls[len(f.calls)-1] != "close" {
		t.Errorf("%v, %q, %q", err, &out, f.calls)
	}
	if err := s.Run(ctx, "s", strings.NewReader("exists 't'")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestTimeText(t *testing.T) {
	cases := map[int64]string{
		0: "1970-01-01T00:00", 1: "1970-01-01T00:00:00.001", 1000: "1970-01-01T00:00:01", 1356998400000: "2013-01-01T00:00",
		1356998461230: "2013-01-01T00:01:01.230", 253402300799999: "9999-12-31T23:59:59.999", 253402300800000: "253402300800000",
		-1: "-1", 9223372036854775807: "9223372036854775807",
	}
	for ms, want := range cases {
		if got := timeText(ms); got != want {
			t.Errorf("%d is %s, want %s", ms, got, want)
		}
	}
	if len(cases) != 9 {
		t.Errorf("%d cases", len(cases))
	}
}

func TestShowValue(t *testing.T) {
	cases := []struct{ value, convert, want string }{
		{"a\\\x00\xff~", "", `a\x5C\x00\xFF~`},
		{"\x00\x00\x00\x05", "toInt", "5"},
		{"\xff\xff\xff\xff", "toInt", "-1"},
		{"\x00\x00\x05", "toInt", `\x00\x00\x05`},
		{"\x80\x00\x00\x00\x00\x00\x00\x00", "toLong", "-9223372036854775808"},
		{"\xff\xfe", "toShort", "-2"},
		{"\x3f\xc0\x00\x00", "toFloat", "1.5"},
		{"\x3f\xb9\x99\x99\x99\x99\x99\x9a", "toDouble", "0.1"},
		{"\x00", "toBoolean", "false"},
		{"\xff", "toBoolean", "true"},
		{"", "toBoolean", ""},
		{"é\x1b[2J\xff\n\uFFFD", "toString", `é\x1B[2J\xFF\x0A` + `\xEF\xBF\xBD`},
		{"é", "toStringBinary", `\xC3\xA9`},
		{"\x00\x00\x00\x02\x04\xd2", "toBigDecimal", "12.34"},
		{"\x00\x00\x00\x02\xff", "toBigDecimal", "-0.01"},
		{"\x00\x00\x00\x00\x7f", "toBigDecimal", "127"},
		{"\x7f\x00\x00\x00\x7f", "toBigDecimal", `\x7F\x00\x00\x00\x7F`},
		{"ab", "nothing", "ab"},
	}
	for _, c := range cases {
		if got := showValue([]byte(c.value), c.convert, 0); got != c.want {
			t.Errorf("%q %s is %s, want %s", c.value, c.convert, got, c.want)
		}
	}
	if got := showValue([]byte("\xff\xff"), "", 5); got != `\xFF\` {
		t.Errorf("cut: %s", got)
	}
	if len(cases) != 18 {
		t.Errorf("%d cases", len(cases))
	}
}
