package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// script is a file of testdata.
type script struct {
	name     string
	sections []section
}

// section is a part of a script with a table of its own.
type section struct {
	name  string
	steps []step
}

// step is a command and HBase's answer.
type step struct {
	line    int
	command string
	answer  []string
	// never: HBase was not asked, since it would not come to an end.
	never bool
	// reason says why Cellar answers otherwise, and ours is what; empty: it
	// answers as HBase does.
	reason string
	ours   []string
}

// faulty is a mistake in a script.
type faulty struct{ text string }

func (f *faulty) Error() string { return f.text }

func fault(format string, args ...any) *faulty { return &faulty{fmt.Sprintf(format, args...)} }

// scripts reads all of testdata.
func scripts(t *testing.T) []script {
	t.Helper()
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []script
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := parseScript(strings.TrimSuffix(filepath.Base(name), ".txt"), string(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

func parseScript(name, text string) (script, error) {
	s := script{name: name}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSuffix(line, "\n")
		if title, ok := strings.CutPrefix(line, "== "); ok {
			s.sections = append(s.sections, section{name: title})
			continue
		}
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if len(s.sections) == 0 {
			return s, fault("%s:%d: a command before the first section", name, number)
		}
		steps := &s.sections[len(s.sections)-1].steps
		if line[0] != '\t' && line[0] != '~' {
			command, never := strings.CutPrefix(line, "never ")
			*steps = append(*steps, step{line: number, command: command, never: never})
			continue
		}
		if len(*steps) == 0 {
			return s, fault("%s:%d: an answer without a command", name, number)
		}
		(*steps)[len(*steps)-1].add(line)
	}
	return s, nil
}

// add takes a line that stands below the command.
func (s *step) add(line string) {
	if answer, ok := strings.CutPrefix(line, "\t"); ok {
		s.answer = append(s.answer, answer)
	} else if answer, ok := strings.CutPrefix(line, "~\t"); ok {
		s.ours = append(s.ours, answer)
	} else {
		s.reason = strings.TrimPrefix(line, "~ ")
	}
}

func TestScriptsAreRead(t *testing.T) {
	s, err := parseScript("s", "# c\n\n== one\ntable f\nget a\n\ta: x\n\tb: y\n== two\nnever scan\n\tz\n~ since\n~\tw\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(s); got != "{s [{one [{4 table f [] false  []} {5 get a [a: x b: y] false  []}]} {two [{9 scan [z] true since [w]}]}]}" {
		t.Error(got)
	}
	for _, text := range []string{"scan\n", "== a\n\tx\n", "== a\n~ x\n"} {
		if _, err := parseScript("s", text); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}
