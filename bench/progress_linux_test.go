package bench

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestProgressBar: on a terminal there is a bar while the phase lasts, and its
// line afterwards.
func TestProgressBar(t *testing.T) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	defer func() { _ = master.Close() }()
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	defer func() { _ = terminal.Close() }()
	if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}

	p := NewProgress(terminal)
	if !p.bar {
		t.Fatal("not taken for a terminal")
	}
	var text strings.Builder
	wait := func(want string) {
		t.Helper()
		if err := master.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Skipf("terminals have no deadlines here: %v", err)
		}
		b := make([]byte, 4096)
		for !strings.Contains(text.String(), want) {
			n, err := master.Read(b)
			if err != nil {
				t.Fatalf("wait for %q: %v after %q", want, err, text.String())
			}
			text.Write(b[:n])
		}
		text.Reset()
	}
	f := p.Begin("load", 60000)
	f.Add(30000)
	wait("(30000/60000")
	f.End()
	wait("30,000 in")
}
