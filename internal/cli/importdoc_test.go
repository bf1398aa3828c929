package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The first example of docs/import.md does what the page says.
func TestDocs_importExampleRuns(t *testing.T) {
	page, err := os.ReadFile("../../docs/import.md")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```sh\n")
	line, _, found := strings.Cut(rest, "\n")
	if !found || !strings.HasPrefix(line, "cellar import table ") {
		t.Fatalf("the page begins with %q", line)
	}
	t.Chdir(t.TempDir())
	if err := os.Symlink(examples, "examples"); err != nil {
		t.Fatal(err)
	}
	// The import would put its state beside the example, which is ours alone.
	args := append(shellWords(line)[1:], "--state", "state", "--memory", "512MiB")
	var out, errOut bytes.Buffer
	if status := Run(context.Background(), args, strings.NewReader(""), &out, &errOut); status != exitOK {
		t.Fatalf("status %d: %s", status, errOut.String())
	}
	said := regexp.MustCompile(`^imported 26,115 rows in [0-9.]+ s \([0-9,]+ rows/s\) into table weather\n$`)
	if !said.Match(out.Bytes()) || errOut.Len() > 0 {
		t.Errorf("it says %q, %q", out.String(), errOut.String())
	}
	_, shown, _ := strings.Cut(rest, "```\n\n```\n")
	if shown, _, _ = strings.Cut(shown, "```"); !said.MatchString(shown) {
		t.Errorf("the page shows %q", shown)
	}
}

// shellWords cuts a line as a shell does: at spaces outside double quotes.
func shellWords(line string) (words []string) {
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			words[len(words)-1] += part
			continue
		}
		fields := strings.Fields(part)
		if i > 0 && !strings.HasPrefix(part, " ") && len(fields) > 0 {
			words[len(words)-1] += fields[0]
			fields = fields[1:]
		}
		words = append(words, fields...)
		if strings.HasSuffix(part, " ") {
			words = append(words, "")
		}
	}
	return words
}

// ImportTsv's own way to name settings, and separators that are written.
func TestOneByte(t *testing.T) {
	for text, want := range map[string]byte{"": 0, ",": ',', `\t`: '\t', `\x01`: 1, `\xFf`: 0xff, "|": '|', `\`: '\\'} {
		if got, err := oneByte(text); got != want || err != nil {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"::", `\x00`, `\x1`, `\xzz`, `\n`, "é"} {
		if got, err := oneByte(text); err == nil {
			t.Errorf("%q was read as %q", text, got)
		}
	}
}
