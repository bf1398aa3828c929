package cli

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cellardb/cellar/server"
)

// typist sits at a terminal at which the shell runs as a process of its own.
type typist struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	done   chan struct{} // closed when nothing more is shown
	mu     struct {
		sync.Mutex
		shown []byte
	}
	more chan struct{} // gets a value when more is shown
	seen int           // up to where await has looked
}

// openTerminal gives both ends of a new pseudo-terminal of 100 by 30.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 100}); err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// sitDown starts cellar with the arguments at a new terminal.
func sitDown(t *testing.T, environ []string, args ...string) *typist {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	master, slave := openTerminal(t)
	defer slave.Close()
	ty := &typist{t: t, master: master, done: make(chan struct{}), more: make(chan struct{}, 1)}
	ty.cmd = &exec.Cmd{
		Path: self, Args: append([]string{"cellar"}, args...), Env: append(os.Environ(), environ...),
		Stdin: slave, Stdout: slave, Stderr: slave,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Setctty: true},
	}
	if err := ty.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go ty.watch()
	t.Cleanup(func() {
		_ = ty.cmd.Process.Kill() // it has ended, unless the test failed
		<-ty.done
	})
	return ty
}

// watch keeps what is shown until the process has closed the terminal.
func (ty *typist) watch() {
	defer close(ty.done)
	buf := make([]byte, 4096)
	for {
		n, err := ty.master.Read(buf)
		ty.mu.Lock()
		ty.mu.shown = append(ty.mu.shown, buf[:n]...)
		ty.mu.Unlock()
		select {
		case ty.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (ty *typist) types(keys string) {
	ty.t.Helper()
	if _, err := ty.master.WriteString(keys); err != nil {
		ty.t.Fatal(err)
	}
}

// awaits waits until a text is shown behind what was awaited before.
func (ty *typist) awaits(text string) {
	ty.t.Helper()
	hung := time.After(time.Minute)
	for {
		ty.mu.Lock()
		rest := ty.mu.shown[ty.seen:]
		at := bytes.Index(rest, []byte(text))
		ty.mu.Unlock()
		if at >= 0 {
			ty.seen += at + len(text)
			return
		}
		select {
		case <-ty.more:
		case <-ty.done:
			ty.mu.Lock()
			at := bytes.Index(ty.mu.shown[ty.seen:], []byte(text))
			ty.mu.Unlock()
			if at < 0 {
				ty.t.Fatalf("%q was not shown, but %q", text, ty.mu.shown[ty.seen:])
			}
		case <-hung:
			ty.t.Fatalf("%q is not shown, but %q", text, rest)
		}
	}
}

// leaves waits for the end of the process.
func (ty *typist) leaves(code int) {
	ty.t.Helper()
	_ = ty.cmd.Wait() // the code says it
	if got := ty.cmd.ProcessState.ExitCode(); got != code {
		ty.t.Errorf("the exit status is %d, want %d", got, code)
	}
}

// The shell at a terminal: keys, history, completion, lines that go on.
func TestConsole_atATerminal(t *testing.T) {
	s := serving(t, server.EngineMemory)
	state := t.TempDir()
	ty := sitDown(t, []string{"XDG_STATE_HOME=" + state}, "shell", "-q",
		"--addr", s.Addresses()[server.DoorThrift1], "--http", s.Addresses()[server.DoorHTTP])
	ty.awaits("cellar:001> ")
	ty.types("create 'weather', {NAME => 'f',\r")
	ty.awaits("cellar:001* ")
	ty.types("VERSIONS => 3}, SPLITS => ['m']\r")
	ty.awaits("Created table weather")
	ty.awaits("cellar:002> ")
	ty.types("get_spl\t'wea\t\r")
	ty.awaits("Total number of splits = 2")
	ty.awaits("cellar:003> ")
	ty.types("nonsense\x03")
	ty.awaits("cellar:003> ")
	ty.types("get 'weather'\r")
	ty.awaits("ERROR: column 1: get wants at least 2 arguments")
	ty.awaits("cellar:004> ")
	ty.types("put 'weather', 'r', 'f:c', '" + strings.Repeat("v", 60) + "', 5\r")
	ty.awaits("cellar:005> ")
	ty.types("scan 'weather'\r")
	// The line of 100 is broken.
	ty.awaits("column=f:c, timestamp=1970-01-01T00:00:00.005, value=" + strings.Repeat("v", 20))
	ty.awaits("1 row(s)")
	ty.awaits("cellar:006> ")
	ty.types("\x04")
	ty.leaves(exitOK)

	path := filepath.Join(state, historyFile)
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), "create 'weather', {NAME => 'f', VERSIONS => 3}, SPLITS => ['m']\nget_splits 'weather'\nget 'weather'\n") {
		t.Errorf("the history is %q, %v", text, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// Ctrl-C while a command waits for the server ends the command, not the shell.
func TestConsole_interrupted(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan struct{})
	var peers sync.WaitGroup
	peers.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			peers.Go(func() {
				defer c.Close()
				buf := make([]byte, 4096)
				for {
					if _, err := c.Read(buf); err != nil {
						return // given up
					}
					asked <- struct{}{} // and never answered
				}
			})
		}
	})
	t.Cleanup(peers.Wait)
	t.Cleanup(func() { l.Close() })
	ty := sitDown(t, []string{"XDG_STATE_HOME=" + t.TempDir()}, "shell", "--addr", l.Addr().String())
	for range 2 {
		ty.awaits("> ")
		ty.types("list\r")
		<-asked
		ty.types("\x03")
		ty.awaits("Interrupted.")
	}
	ty.awaits("> ")
	ty.types("exit\r")
	ty.leaves(exitOK)
}
