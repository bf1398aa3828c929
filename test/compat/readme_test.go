package compat

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cellardb/cellar/test/child"
)

// step is a command of the README and what it says that comes of it.
type step struct{ command, want string }

// tour reads the README's blocks of commands.
func tour(t *testing.T) []step {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(child.Root(), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var steps []step
	inside := false
	for line := range strings.Lines(string(text)) {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = strings.TrimSpace(line) == "```console"
		case inside && isCommand:
			steps = append(steps, step{command: strings.TrimSpace(command)})
		case inside && len(steps) > 0:
			steps[len(steps)-1].want += line
		}
	}
	return steps
}

// The README's tour is true: each command prints what stands below it, against
// the server that the quick start leaves behind.
func TestReadmeTour(t *testing.T) {
	long(t)
	python(t) // the tour uses it
	bin, err := child.Binary()
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "data")
	quick := exec.Command(bin, "quickstart", "--records", "0", "--data", data, "--thrift1-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0")
	out, err := quick.CombinedOutput()
	t.Cleanup(func() {
		if out, err := exec.Command(bin, "stop", "--data", data).CombinedOutput(); err != nil {
			t.Errorf("stop: %v\n%s", err, out)
		}
	})
	if err != nil {
		t.Fatalf("quickstart: %v\n%s", err, out)
	}
	server, err := child.Find(data)
	if err != nil {
		t.Fatal(err)
	}
	_, thriftPort, _ := strings.Cut(server.Thrift1, ":")
	here := strings.NewReplacer("127.0.0.1:8600", server.HTTP, "'127.0.0.1', 9090", "'127.0.0.1', "+thriftPort,
		"127.0.0.1:9090", server.Thrift1, "bin/cellar ", bin+" ", "/tmp/cellar-copy", filepath.Join(t.TempDir(), "copy"))
	steps := tour(t)
	for _, s := range steps {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", here.Replace(s.command))
		cmd.Dir = child.Root()
		got, err := cmd.CombinedOutput()
		if want := strings.TrimSpace(s.want); err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("$ %s\nprints %s(%v), want\n%s", s.command, got, err, want)
		}
	}
	if len(steps) != 8 {
		t.Errorf("the README has %d commands to try, want 8", len(steps))
	}
}
