package shell

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// screen is a terminal without a device: keys come from a text, in the pieces
// that it is made of; what is shown is kept.
type screen struct {
	keys      []string
	shown     bytes.Buffer
	raw       bool
	interrupt func()
}

func (s *screen) Read(p []byte) (int, error) {
	if len(s.keys) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.keys[0])
	if s.keys[0] = s.keys[0][n:]; s.keys[0] == "" {
		s.keys = s.keys[1:]
	}
	return n, nil
}

func (s *screen) Write(p []byte) (int, error) { return s.shown.Write(p) }

// converse types the keys and gives the lines that were printed, without what
// the line editor draws; and what the gateway was asked.
func converse(t *testing.T, h *History, f *fake, keys ...string) (string, error) {
	t.Helper()
	sc := &screen{keys: keys}
	var out bytes.Buffer
	c := &Console{
		Session: &Session{Gateway: f, Out: &out, Quiet: true},
		History: h,
		Terminal: Terminal{
			ReadWriter: sc,
			Raw: func() (func() error, error) {
				if sc.raw {
					t.Error("raw twice")
				}
				sc.raw = true
				return func() error { sc.raw = false; return nil }, nil
			},
			Interrupts: func(fn func()) func() {
				sc.interrupt = fn
				return func() { sc.interrupt = nil }
			},
			Size: func() (int, int) { return 200, 50 },
		},
		TableTimeout: time.Nanosecond,
	}
	if !f.block {
		c.TableTimeout = time.Minute
	}
	err := c.Run(context.Background())
	if sc.raw {
		t.Error("the terminal is left raw")
	}
	return out.String() + errorsShown(sc.shown.String()), err
}

// errorsShown picks the lines of errors out of what the screen shows.
func errorsShown(shown string) string {
	var b strings.Builder
	for line := range strings.Lines(shown) {
		if i := strings.Index(line, "ERROR"); i >= 0 {
			b.WriteString(strings.TrimSpace(line[i:]) + "\n")
		} else if strings.Contains(line, "Interrupted.") {
			b.WriteString("Interrupted.\n")
		}
	}
	return b.String()
}

func TestConsole(t *testing.T) {
	const exists = "Table t does exist\n"
	const up = "\x1b[A"
	cases := []struct {
		name  string
		keys  []string
		out   string
		calls string
	}{
		{"a line", []string{"exists 't'\r"}, exists, "names"},
		{"key by key", strings.Split("exists 't'\r", ""), exists, "names"},
		{"exit", []string{"exit\rexists 't'\r"}, "", ""},
		{"Ctrl-D on an empty line", []string{"\x04exists 't'\r"}, "", ""},
		{"Ctrl-D in a line", []string{"exists 't'\x04\r"}, exists, "names"},
		{"an error, and on", []string{"is_enabled 'u'\rexists 't'\r"}, exists + "ERROR: no such table\n", "names"},
		{"two in a line", []string{"exists 't'; exists 't'\r"}, exists + exists, "names names"},
		{"over lines", []string{"put 't',\r'r', 'f:c', 'a\rb'\r"}, "", `put t r f:c a\x0Ab -`},
		{"Ctrl-C clears the line", []string{"is_enabled \x03exists 't'\r"}, exists, "names"},
		{"Ctrl-C clears the line from its middle", []string{"is_enabled 't'\x1b[D\x1b[D\x03exists 't'\r"}, exists, "names"},
		{"Ctrl-C clears the lines before", []string{"put 't',\r'r'\x03exists 't'\r"}, exists, "names"},
		{"Ctrl-C on an empty line", []string{"\x03", "\x03", "exists 't'\r"}, exists, "names"},
		{"the one before", []string{"exists 't'\r" + up + "\r"}, exists + exists, "names names"},
		{"up over lines is one line", []string{"exists\r" + "put 't',\r'r', 'f:c', 'v'\r" + up + "\r"},
			"ERROR: column 1: exists wants one argument, not 0; as in exists 't1'\n", "put t r f:c v - put t r f:c v -"},
		{"Ctrl-R", []string{"exists 't'\rlist 'x'\r" + "exi\x12\r"}, exists + "TABLE\n0 row(s)\n" + exists, "names names names"},
		{"Ctrl-R finds the newest", []string{"exists 't'\r" + "exi\x12\r"}, exists + exists, "names names"},
		{"Ctrl-C behind what was typed ahead", []string{"exists 't'\rfoo\x03exists 't'\r"}, exists + exists, "names names"},
		{"Ctrl-R twice", []string{"list 'a'\rlist 'b'\rexists 't'\r" + "list\x12\x12\r"},
			"TABLE\n0 row(s)\nTABLE\n0 row(s)\n" + exists + "TABLE\n0 row(s)\n", "names names names names"},
		{"Ctrl-R finds nothing", []string{"exists 't'\x12\r"}, exists, "names"},
		{"Tab completes a command", []string{"is_en\t't'\r"}, "true\n", "isenabled t"},
		{"Tab completes a table", []string{"is_enabled 'n\t\r"}, "true\n", "names isenabled ns:u"},
		{"Tab as far as it is certain", []string{"is_\ten\t't'\r"}, "true\n", "isenabled t"},
		{"Tab completes a constant", []string{"scan 't', {LIM\t1, REVER\ttrue}\r"},
			"ROW                                                 COLUMN+CELL\n b                                                  column=f:c, timestamp=1970-01-01T00:00:00.040, value=\\xFF\\x5C\n1 row(s)\n",
			`scan t [,) * before=- filter="" reversed=true caching=1 batch=0 nocache=false next 1 close`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := newFake()
			out, err := converse(t, &History{}, f, c.keys...)
			if calls := strings.Join(f.calls, " "); err != nil || out != c.out || calls != c.calls {
				t.Errorf("%v; prints\n%s\nwant\n%s\nasks %q, want %q", err, out, c.out, calls, c.calls)
			}
		})
	}
	if len(cases) != 23 {
		t.Errorf("%d cases", len(cases))
	}
}

// A server that does not answer does not hold up the Tab key for ever.
func TestConsole_tabWithoutAnswer(t *testing.T) {
	f := newFake()
	f.block = true
	if out, err := converse(t, &History{}, f, "is_enabled 't\t'\r"); err != nil || out != "true\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// Ctrl-C while a command runs ends the command, and not the shell.
func TestConsole_interruptsTheCommand(t *testing.T) {
	f := newFake()
	sc := &screen{keys: []string{"count 't', INTERVAL => 1\rexists 't'\r"}}
	f.atATime = 1
	var out bytes.Buffer
	c := &Console{History: &History{}, Terminal: Terminal{
		ReadWriter: sc,
		Raw:        func() (func() error, error) { return func() error { return nil }, nil },
		Interrupts: func(fn func()) func() { sc.interrupt = fn; return func() { sc.interrupt = nil } },
		Size:       func() (int, int) { return 0, 0 },
	}}
	c.Session = &Session{Gateway: f, Quiet: true, Out: writerFunc(func(p []byte) (int, error) {
		if bytes.HasPrefix(p, []byte("Current count: 2")) {
			sc.interrupt()
		}
		return out.Write(p)
	})}
	if err := c.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := out.String() + errorsShown(sc.shown.String()); got != "Current count: 1, row: a\nCurrent count: 2, row: a\\x00\nTable t does exist\nInterrupted.\n" {
		t.Errorf("%q", got)
	}
	if sc.interrupt != nil {
		t.Error("somebody still waits for Ctrl-C")
	}
}

func TestHistory(t *testing.T) {
	h := ReadHistory("one\n\n" + strings.Repeat("x", maxEntry+1) + "\ntwo")
	if !slices.Equal(h.Lines(), []string{"one", "two"}) || h.Len() != 2 || h.At(0) != "two" {
		t.Fatalf("%q", h.Lines())
	}
	var saved []string
	h.Save = func(line string) { saved = append(saved, line) }
	for _, text := range []string{"three", "three", "", "create 't', {\n  NAME => 'f'\n}", "put 't', 'a\nb'", "put 't', # x\n 'r'", "put \\\n't'", strings.Repeat("x", maxEntry+1), "three"} {
		h.Add(text)
	}
	if want := []string{"three", "create 't', { NAME => 'f' }", "three"}; !slices.Equal(saved, want) {
		t.Errorf("saved %q, want %q", saved, want)
	}
	for range maxHistory {
		h.Add("a")
		h.Add("b")
	}
	if h.Len() != maxHistory || h.At(0) != "b" || h.At(maxHistory-1) != "a" {
		t.Errorf("%d statements are kept", h.Len())
	}
}

func TestComplete(t *testing.T) {
	tables := func() []string { return []string{"weather", "web", "ns:t"} }
	cases := []struct{ line, want string }{
		{"", strings.Join(append(slices.Clone(Names()), ""), " ")},
		{"sc", "scan "},
		{"  de", "delete  deleteall  desc  describe "},
		{"scan 'w", "weather'|web'"},
		{`scan "we`, `weather"|web"`},
		{"scan '", "ns:t'|weather'|web'"},
		{"scan 'x', {LI", "LIMIT => "},
		{"scan 'x', 'LI", ""},
		{"scan 'x', {", ""},
		{"nosuch 'w", ""},
		{"scan 'weather', 'w", ""},
		{"help 'pu", "put'"},
		{"help pu", "put"},
		{"scan 'x', {FILTER => 'it\\'s LI", ""},
	}
	for i, c := range cases {
		_, got := complete(c.line, tables)
		text := strings.Join(got, "|")
		if i == 0 || i == 2 {
			text = strings.Join(got, " ")
			text = strings.TrimRight(text, " ") + " "
			text = strings.Join(strings.Fields(text), " ")
			c.want = strings.Join(strings.Fields(c.want), " ")
		}
		if text != c.want {
			t.Errorf("%q may be %q, want %q", c.line, text, c.want)
		}
	}
	if len(cases) != 14 {
		t.Errorf("%d cases", len(cases))
	}
	if from, _ := complete("scan 'x', {LI", tables); from != len("scan 'x', {") {
		t.Errorf("the word begins at %d", from)
	}
}
