package compat

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/cellardb/cellar/test/child"
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	child.RemoveBinary()
	os.Exit(code)
}

// long skips a test that starts processes where only the quick ones are wanted.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("not one of the quick tests")
	}
}

// python gives the interpreter of the environment that scripts/venv.sh makes.
func python(t *testing.T) string {
	t.Helper()
	path := filepath.Join(child.Root(), ".venv", "bin", "python")
	err := exec.Command(path, "-c", "import happybase").Run()
	if err == nil {
		return path
	}
	why := fmt.Sprintf("no happybase in .venv (%v): run scripts/venv.sh", err)
	if child.InCI() {
		t.Fatal(why)
	}
	t.Skip(why)
	return ""
}
