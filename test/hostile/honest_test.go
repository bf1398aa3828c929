package hostile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cellardb/cellar/test/child"
	"github.com/cellardb/cellar/test/plainthrift"
)

// honestTable is where the honest clients work.
const honestTable = "honest"

// honest are clients that do what clients do, in a loop, and check each answer:
// one that keeps its connection, one that makes a new one for each call, and
// happybase.
type honest struct {
	stop  atomic.Bool
	wg    sync.WaitGroup
	calls atomic.Int64
	addr  string

	python      *exec.Cmd
	pythonStdin io.WriteCloser
	pythonOut   bytes.Buffer
}

// startHonest makes the table and starts the clients; the test fails when one
// of them sees anything but the right answer.
func startHonest(t *testing.T, addr string) *honest {
	t.Helper()
	h := &honest{addr: addr}
	if err := dial(t, addr).CreateTable(honestTable, "cf"); err != nil {
		t.Fatal(err)
	}
	h.startPython(t)
	c := dial(t, addr)
	h.wg.Go(func() {
		h.loop(t, "one connection", func(n int) error { return writeAndRead(c, "kept", n) })
	})
	h.wg.Go(func() {
		h.loop(t, "a connection a call", func(n int) error {
			c, err := plainthrift.Dial(addr)
			if err != nil {
				return err
			}
			defer c.Close()
			return writeAndRead(c, "new", n)
		})
	})
	t.Cleanup(func() { h.stop.Store(true); h.wg.Wait(); h.endPython() })
	return h
}

func (h *honest) loop(t *testing.T, who string, call func(n int) error) {
	for n := 0; !h.stop.Load(); n++ {
		if err := call(n); err != nil {
			t.Errorf("honest client, %s, call %d: %v", who, n, err)
			return
		}
		h.calls.Add(1)
		time.Sleep(time.Millisecond) // a client, not a load
	}
}

// writeAndRead puts one of ten rows and reads it back.
func writeAndRead(c *plainthrift.Client, who string, n int) error {
	c.SetDeadline(time.Now().Add(patience))
	row, value := fmt.Sprintf("%s%d", who, n%10), strconv.Itoa(n)
	put := plainthrift.Row{Key: row, Puts: []plainthrift.Put{{Column: "cf:n", Value: value}, {Column: "cf:who", Value: who}}}
	if err := c.PutRows(honestTable, put); err != nil {
		return err
	}
	got, err := c.GetRow(honestTable, row)
	if err != nil {
		return err
	}
	if len(got) != 2 || got["cf:n"] != value || got["cf:who"] != who {
		return fmt.Errorf("row %s is %v, want number %s", row, got, value)
	}
	return nil
}

// startPython starts the happybase client where there is one.
func (h *honest) startPython(t *testing.T) {
	t.Helper()
	interpreter := filepath.Join(child.Root(), ".venv", "bin", "python")
	if err := exec.Command(interpreter, "-c", "import happybase").Run(); err != nil {
		if child.InCI() {
			t.Fatalf("no happybase in .venv (%v): run scripts/venv.sh", err)
		}
		t.Logf("without happybase: %v", err)
		return
	}
	host, port, _ := strings.Cut(h.addr, ":")
	h.python = exec.CommandContext(context.Background(), interpreter, "honest.py", host, port, honestTable)
	h.python.Stdout, h.python.Stderr = &h.pythonOut, &h.pythonOut
	var err error
	if h.pythonStdin, err = h.python.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := h.python.Start(); err != nil {
		t.Fatal(err)
	}
}

// endPython lets the happybase client end; its error says that it saw a fault.
func (h *honest) endPython() error {
	if h.python == nil {
		return nil
	}
	p := h.python
	h.python = nil
	h.pythonStdin.Close()
	return p.Wait()
}

// finish lets the clients go on until they have made so many calls, however
// short the rest of the test was, and stops them. One that stands still runs
// into its deadline.
func (h *honest) finish(t *testing.T, atLeast int64) {
	t.Helper()
	for end := time.Now().Add(patience); h.calls.Load() < atLeast && !t.Failed() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	h.stop.Store(true)
	h.wg.Wait()
	if n := h.calls.Load(); n < atLeast {
		t.Errorf("the honest clients made %d calls, want at least %d", n, atLeast)
	}
	python := h.python != nil
	if python {
		fmt.Fprint(h.pythonStdin, atLeast/4) // a client that has ended says why below
	}
	if err := h.endPython(); err != nil {
		t.Errorf("the happybase client: %v\n%s", err, h.pythonOut.String())
	}
	if python {
		n, err := strconv.Atoi(strings.TrimSpace(h.pythonOut.String()))
		if err != nil || n < int(atLeast)/4 {
			t.Errorf("the happybase client made %q calls, want at least %d", h.pythonOut.String(), atLeast/4)
		}
	}
}
