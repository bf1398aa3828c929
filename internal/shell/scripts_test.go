package shell

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write what was found into testdata; the difference is for a person to read")

// goldenCase is an input and what comes out of it.
type goldenCase struct{ input, want string }

// runGolden runs every case of the files in a folder and returns their number.
// A file has, for each case, the input, a line of four dashes, and what comes
// out, which ends at an empty line. Lines that begin with ## are comments.
func runGolden(t *testing.T, dir string, run func(t *testing.T, input string) string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	ran := 0
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			comment, cases := splitGolden(string(text))
			var out strings.Builder
			out.WriteString(comment)
			for _, c := range cases {
				ran++
				got := strings.TrimRight(run(t, c.input), "\n") + "\n"
				out.WriteString("\n" + c.input + "----\n" + got)
				if got != c.want && !*rewrite {
					t.Errorf("\n%s\ngives\n%s\nwant\n%s", c.input, got, c.want)
				}
			}
			if *rewrite {
				if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	return ran
}

// splitGolden reads a file. Empty lines of results are written as a dot.
func splitGolden(text string) (comment string, cases []goldenCase) {
	var c goldenCase
	result := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "##") && len(cases) == 0 && c.input == "":
			comment += line
		case line == "----\n":
			result = true
		case result && line == "\n":
			cases, c, result = append(cases, c), goldenCase{}, false
		case result:
			c.want += line
		case line == "\n" && c.input == "":
		default:
			c.input += line
		}
	}
	if result {
		cases = append(cases, c)
	}
	return comment, cases
}

// dotted makes a result fit into a golden file: its empty lines become dots.
func dotted(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, l := range lines {
		if l == "" {
			lines[i] = "."
		}
	}
	return strings.Join(lines, "\n")
}
