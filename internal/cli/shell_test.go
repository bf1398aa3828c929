package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/cellardb/cellar/server"
)

// The script that was run on Apache's gateway prints the same here. Apache's
// texts name regions, which move; its gateway and this shell have other names.
func TestShell_saysTheSameAsApache(t *testing.T) {
	t.Cleanup(func() { goleak.VerifyNone(t) })
	const dir = "../shell/remote/testdata/"
	for _, engine := range []string{"memory", "pebble"} {
		t.Run(engine, func(t *testing.T) {
			s := serving(t, engine)
			addr := s.Addresses()[server.DoorThrift1]
			var out bytes.Buffer
			if code := Run(t.Context(), []string{"shell", "--addr", addr, "-q", dir + "apache.script"}, strings.NewReader(""), &out, &out); code != exitFailed {
				t.Errorf("exit status %d", code)
			}
			want, err := os.ReadFile(dir + "apache.out")
			if err != nil {
				t.Fatal(err)
			}
			got := strings.NewReplacer(dir+"apache.script", "apache", addr, "apache:9090", "cellar: statements failed\n", "").Replace(out.String())
			if g, w := unregioned(got), unregioned(string(want)); g != w {
				t.Errorf("prints\n%s\nwant\n%s", g, w)
			}
			if n := strings.Count(string(want), "\n"); n < 150 {
				t.Errorf("%d lines were compared", n)
			}
		})
	}
}

// Results that cannot be written are a failure that is told, for scripts of every
// kind; nothing that comes after is run.
func TestShell_outputThatFails(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("help\nis_enabled 't'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-e", "help", "-e", "is_enabled 't'"}, {script}, {"-"}} {
		var errOut bytes.Buffer
		args = append([]string{"shell", "--addr", "127.0.0.1:1"}, args...) // where nobody is asked
		code := Run(t.Context(), args, strings.NewReader("help; is_enabled 't'\n"), fullDisk{}, &errOut)
		if want := "cellar: write the output: no space left on device\n"; code != exitFailed || errOut.String() != want {
			t.Errorf("%v: status %d, %q, want %q", args, code, &errOut, want)
		}
	}
}

// fullDisk takes no byte.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// serving is a server for the time of the test.
func serving(t *testing.T, engine string) *server.Server {
	t.Helper()
	s := startServer(t, server.Config{
		Engine: engine, Data: filepath.Join(t.TempDir(), "data"), Memory: server.MinMemory,
		Thrift1: server.Thrift1Config{Addr: "127.0.0.1:0"}, HTTP: server.HTTPConfig{Addr: "127.0.0.1:0"},
	})
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func unregioned(text string) string {
	for _, change := range [][2]string{
		{` in region \S+ in table`, " in table"},
		{`: 1 time, servers with issues: null`, ""},
		{`(?m)^shell .*$`, "shell"},
	} {
		text = regexp.MustCompile(change[0]).ReplaceAllString(text, change[1])
	}
	return text
}

func TestHistory_isTheUsersAlone(t *testing.T) {
	home := t.TempDir()
	var complaints bytes.Buffer
	a := &app{err: &complaints, environ: []string{"HOME=" + home, "XDG_STATE_HOME=relative"}}
	path := filepath.Join(home, ".local", "state", historyFile)
	h := a.openHistory()
	h.Add("list")
	h.Add("put 't', 'r', 'f:secret', 'value'")
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has the mode %v, %v", name, info.Mode(), err)
		}
	}
	if again := a.openHistory(); !slices.Equal(again.Lines(), []string{"list", "put 't', 'r', 'f:secret', 'value'"}) {
		t.Errorf("%q", again.Lines())
	}
	var long bytes.Buffer
	for i := range 3000 {
		fmt.Fprintf(&long, "get 't', '%d'\n", i)
	}
	if err := os.WriteFile(path, long.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if h := a.openHistory(); h.Len() != 1000 || h.At(0) != "get 't', '2999'" {
		t.Errorf("%d lines, the newest %q", h.Len(), h.At(0))
	}
	text, err := os.ReadFile(path)
	if info, e := os.Stat(path); err != nil || e != nil || bytes.Count(text, []byte("\n")) != 1000 || info.Mode().Perm() != 0o600 {
		t.Errorf("%d bytes, %v, %v", len(text), err, e)
	}
	if complaints.Len() > 0 {
		t.Errorf("%s", &complaints)
	}

	other := &app{err: &complaints, environ: []string{"HOME=" + home, "XDG_STATE_HOME=" + t.TempDir()}}
	if h := other.openHistory(); h.Len() != 0 {
		t.Errorf("another folder has %q", h.Lines())
	}
	if h := (&app{err: &complaints}).openHistory(); h.Len() != 0 || h.Save != nil || complaints.Len() > 0 {
		t.Errorf("without a home: %q, %s", h.Lines(), &complaints)
	}
	// A file stands where the folder would be.
	blocked := &app{err: &complaints, environ: []string{"XDG_STATE_HOME=" + path}}
	if h := blocked.openHistory(); h.Save != nil || !strings.Contains(complaints.String(), "will not be remembered") {
		t.Errorf("%s", &complaints)
	}
}

// A shell that is told to stop from outside ends.
func TestShell_contextEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	if code := Run(ctx, []string{"shell", "--addr", "127.0.0.1:1", "-e", "list"}, strings.NewReader(""), &out, &out); code != exitFailed || !strings.Contains(out.String(), "context canceled") {
		t.Errorf("%d %s", code, &out)
	}
}
