package shell

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// many is how many lines a statement of the tests has.
const many = 200_000

// However a statement is drawn out over lines, and however it ends, what the
// parser looks at stays in proportion to what was typed.
func TestScript_workIsLinear(t *testing.T) {
	line := strings.Repeat
	cases := []struct{ name, text string }{
		{"a single quote is not closed", "put 't', 'r', 'f:c', '" + line("a line\n", many)},
		{"a double quote is not closed", "put 't', 'r', 'f:c', \"" + line("a 'line' \\\n", many)},
		{"a quote is closed in the end", "put 't', 'r', 'f:c', '" + line("a line\n", many) + "'\n"},
		{"quotes of the other kind", "put 't', 'r', 'f:c', '" + line("\"a\" \"\n", many) + "'\n"},
		{"a bracket is not closed", "create 't', [" + line("'a',\n", many)},
		{"a bracket around empty lines", "create 't', [" + line("\n", many)},
		{"braces", "create 't', {" + line("\n # 'x ]\n", many/2) + "}\n"},
		{"a comma at each end", "create 't'" + line(",\n'f'", many)},
		{"a comma, then comments", "create 't', " + line("# and so on,\n", many)},
		{"sums", "incr 't', 'r', 'f:c', 1" + line(" +\n1", many) + "\n"},
		{"products and signs", "incr 't', 'r', 'f:c', 1" + line(" * -\n1", many) + "\n"},
		{"backslashes", "put 't', 'r', 'f:c', 'v'" + line(" \\\n", many) + "\n"},
		{"backslashes and returns", "put 't', 'r', 'f:c', 'v'" + line(" \\\r\n", many) + "\n"},
		{"an arrow without a value", "create 't', {NAME =>" + line("\n", many)},
		{"a line each", line("exists 't'\n", 50_000)},
		{"all in one line", line("exists 't';", 50_000) + "\n"},
		{"two lines each", line("put 't',\n'r', 'f:c', 'v'\n", 50_000)},
		{"nothing", line("\n", many)},
		{"statements, and then a quote", line("exists 't';", 10_000) + "\nput 't', '" + line("x\n", many)},
	}
	for _, c := range cases {
		s := Script{Session: &Session{Gateway: newFake(), Out: io.Discard, Quiet: true}, Err: io.Discard}
		if err := s.Run(t.Context(), "s", strings.NewReader(c.text)); err != nil && !errors.Is(err, ErrFailed) {
			t.Errorf("%s: %v", c.name, err)
		}
		// While it doubles, all that was there before is looked at once more.
		if most := 4*int64(len(c.text)) + 2*firstLook*firstLook; s.Session.looked > most || s.Session.looked < int64(len(c.text)) {
			t.Errorf("%s: the parser looked at %d bytes, for %d", c.name, s.Session.looked, len(c.text))
		}
	}
	if len(cases) != 19 {
		t.Error("cases are missing")
	}
}

// The same for a person, or for what is pasted.
func TestConsole_workIsLinear(t *testing.T) {
	var p pending
	looked, lines := 0, 0
	for i := range many {
		line := "a line\r\n"
		if i == 0 {
			line = "put 't', 'r', 'f:c', '" + line
		}
		if lines += len(line); p.add(line) {
			text := p.take()
			looked += len(text)
			if _, _, err := parse(text); !errors.Is(err, errIncomplete) {
				t.Fatal(err)
			}
			p.keep(text)
		}
	}
	if looked > 4*lines+2*firstLook*firstLook || p.text.Len() != lines {
		t.Errorf("the parser looked at %d bytes for %d", looked, lines)
	}
	if !p.add("'\n") {
		t.Error("the end of the statement is not seen")
	}
}

// A statement that is wrong in its middle is refused before its end comes, though
// not at the line.
func TestScript_wrongInTheMiddle(t *testing.T) {
	text := "create 't', [" + strings.Repeat("'a',\n", 10_000) + " ? ,\n"
	var out strings.Builder
	read := 0
	s := Script{Session: &Session{Gateway: newFake(), Out: &out, Quiet: true}, Err: &out}
	endless := io.MultiReader(strings.NewReader(text), &endlessReader{"'b',\n", &read})
	if err := s.Run(t.Context(), "s", endless); !errors.Is(err, ErrFailed) || !strings.HasPrefix(out.String(), "s:10001: ERROR: column 2: '?' means nothing here") {
		t.Errorf("%q, %v", &out, err)
	}
	if read > 4*len(text) {
		t.Errorf("after %d bytes more", read)
	}
}

// What a statement may have is bounded, and the error says where it began.
func TestScript_statementThatNeverEnds(t *testing.T) {
	var out strings.Builder
	read := 0
	s := Script{Session: &Session{Gateway: newFake(), Out: &out, Quiet: true}, Err: &out, limit: 100_000}
	text := io.MultiReader(strings.NewReader("exists 't'\n\nexists 't'\nput 't', 'r', 'f:c', 'it is\n"), &endlessReader{"x\n", &read})
	err := s.Run(t.Context(), "s", text)
	want := "Table t does exist\nTable t does exist\ns:4: ERROR: the statement is longer than 100000 bytes: is a quote or a bracket not closed?\n"
	if !errors.Is(err, ErrFailed) || out.String() != want || read > 110_000 {
		t.Errorf("%q, %v after %d bytes", &out, err, read)
	}
}

// endlessReader gives a text again and again, and counts.
type endlessReader struct {
	text string
	n    *int
}

func (r *endlessReader) Read(p []byte) (int, error) {
	n := copy(p, r.text)
	if n < len(r.text) {
		r.text = r.text[n:] + r.text[:n]
	}
	*r.n += n
	return n, nil
}

// A backslash at the end of a line joins it with the next, also where a statement
// could end.
func TestScript_joinedLines(t *testing.T) {
	for _, text := range []string{"exists \\\n't'\n", "exists \\\r\n't'\n", "\\\nexists 't'", "exists \\\n\\\n 't' \\\n\n"} {
		out, err := runScript(t, &Script{}, text)
		if err != nil || out != "Table t does exist\n" {
			t.Errorf("%q: %q, %v", text, out, err)
		}
	}
}

// A text is parsed as soon as a statement of it is whole, and the look of its end
// does not say so before. Where the parser finds an error it may be either.
func FuzzEnding(f *testing.F) {
	for _, seed := range []string{
		"exists 't'\n", "put 't',\n", "a \\\n", "a \\\r\n", "a 'x\\'\n", "a \"x\\\"\n", "a [\n", "a (1 +\n", "a {A =>\n", "# x ' \\\n", "a 'b', -\n",
		"a;b 'x", "a 1 * \\\n", "\\\n\n", "a # \\\n", "a 'x' \\ \n", "a \"\\x4", "a \\", "f(\n)\n", "a 'x\\\\'\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var e ending
		for i := range len(text) {
			e.read(text[i : i+1])
		}
		st, n, err := parse(text)
		whole := err == nil && (st != nil || n > 0)
		switch {
		case whole && !e.whole():
			t.Errorf("%q has a statement of %d bytes, and %+v", text, n, e)
		case errors.Is(err, errIncomplete) && e.whole():
			t.Errorf("%q is not complete, and %+v", text, e)
		}
	})
}

func TestPending_keepsWhatIsLeft(t *testing.T) {
	var p pending
	for i := range 3 {
		if !p.add(fmt.Sprintf("exists 't%d'; put 't', 'a\n", i)) {
			t.Fatal("a statement is whole, and is not parsed")
		}
		text := p.take()
		if p.text.Len() != 0 {
			t.Error("the text is still there")
		}
		p.keep(text[strings.Index(text, "put"):])
		if p.end.whole() || p.text.String() != "put 't', 'a\n" {
			t.Errorf("%q, %+v", p.text.String(), p.end)
		}
		p.take()
	}
}
