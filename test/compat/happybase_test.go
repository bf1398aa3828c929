package compat

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cellardb/cellar/test/child"
)

// happybaseChecks is how many checks happybase_check.py makes of one transport
// and protocol. Fewer that pass are a failure, even if none says FAIL: a walk
// that ends early must not look like one that went well.
const happybaseChecks = 427

// TestHappybase walks one server, on one port, with all four ways in which
// client and server can talk (case C11). Each check of the walk is a test here;
// C01, C02, C04, C05, C07, C08, C14, C16, C17, C28 and C29 are among them.
func TestHappybase(t *testing.T) {
	long(t)
	interpreter := python(t)
	server := child.Start(t, t.TempDir())
	for _, transport := range []string{"buffered", "framed"} {
		for _, protocol := range []string{"binary", "compact"} {
			t.Run("C11_"+transport+"_"+protocol, func(t *testing.T) {
				walk(t, interpreter, server, "--transport", transport, "--protocol", protocol)
			})
		}
	}
	if !server.Alive() {
		t.Error("the server has ended")
	}
}

func walk(t *testing.T, interpreter string, server *child.Server, flags ...string) {
	host, port, _ := strings.Cut(server.Thrift1, ":")
	args := append([]string{filepath.Join("happybase_check.py"), "--host", host, "--port", port}, flags...)
	cmd := exec.CommandContext(t.Context(), interpreter, args...)
	cmd.Env = append(cmd.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	var faults bytes.Buffer
	cmd.Stderr = &faults
	out, err := cmd.Output()
	passed := 0
	for line := range strings.Lines(string(out)) {
		line = strings.TrimRight(line, "\n")
		if name, ok := strings.CutPrefix(line, "ok   "); ok {
			passed++
			t.Run(name, func(*testing.T) {})
		} else if fault, ok := strings.CutPrefix(line, "FAIL "); ok {
			name, _, _ := strings.Cut(fault, ": got ")
			t.Run(name, func(t *testing.T) { t.Error(fault) })
		}
	}
	if err != nil {
		t.Errorf("the walk ends with %v\n%s", err, faults.String())
	}
	if passed != happybaseChecks {
		t.Errorf("%d checks passed, want %d", passed, happybaseChecks)
	}
	end := fmt.Sprintf("checks: %d passed, 0 failed, 0 skipped\n", happybaseChecks)
	if !strings.HasSuffix(string(out), end) {
		t.Errorf("the walk ends with %q, want %q", out[max(0, len(out)-200):], end)
	}
}
