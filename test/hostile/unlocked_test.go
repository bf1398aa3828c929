package hostile

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cellardb/cellar/test/child"
)

// TestUnlockedThreadsOnOneConnection: eight threads write calls to one shared
// connection without a lock, so that the calls tear each other. At worst that
// connection ends; this is done fifty times beside honest clients.
func TestUnlockedThreadsOnOneConnection(t *testing.T) {
	long(t)
	server := child.Start(t, t.TempDir())
	good := startHonest(t, server.Thrift1)
	for good.calls.Load() < 500 {
		if t.Failed() || !server.Alive() {
			t.FailNow()
		}
		time.Sleep(10 * time.Millisecond)
	}
	before := server.RSS(t)
	peak := watchMemory(server)
	const rounds = 50
	for seed := range uint64(rounds) {
		shareUnlocked(t, server.Thrift1, seed)
	}
	good.finish(t, 600)
	if grown := peak() - before; grown >= memoryAllowed {
		t.Errorf("memory grew by %d MiB, want less than %d", grown>>20, memoryAllowed>>20)
	}
	if err := server.Stop(); err != nil {
		t.Errorf("the server ends with %v", err)
	}
}

// shareUnlocked writes 8 x 50 calls to one connection in pieces.
func shareUnlocked(t *testing.T, addr string, seed uint64) {
	t.Helper()
	c, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	var writers, reader sync.WaitGroup
	reader.Go(func() { io.Copy(io.Discard, c) })
	for i := range uint64(8) {
		writers.Go(func() {
			r := rand.New(rand.NewPCG(seed, i))
			for range 50 {
				message := aPut()
				for len(message) > 0 {
					n := 1 + r.IntN(len(message))
					if _, err := c.Write(message[:n]); err != nil {
						return // the server has ended it: right
					}
					message = message[n:]
				}
			}
		})
	}
	writers.Wait()
	c.(*net.TCPConn).CloseWrite()
	reader.Wait()
}

// TestUnlockedThreadsInPython is the same as users do it: threads of a Python
// program that share one happybase connection. What becomes of that program is
// its own business, and its C buffers may even abort it; the server and its
// other clients must not notice.
func TestUnlockedThreadsInPython(t *testing.T) {
	long(t)
	interpreter := filepath.Join(child.Root(), ".venv", "bin", "python")
	if err := exec.Command(interpreter, "-c", "import happybase").Run(); err != nil {
		if child.InCI() {
			t.Fatalf("no happybase in .venv (%v): run scripts/venv.sh", err)
		}
		t.Skipf("no happybase in .venv (%v): run scripts/venv.sh", err)
	}
	server := child.Start(t, t.TempDir())
	good := startHonest(t, server.Thrift1)
	before := server.RSS(t)
	peak := watchMemory(server)
	host, port, _ := strings.Cut(server.Thrift1, ":")
	const rounds = 6
	harmed := 0
	for range rounds {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		out, err := exec.CommandContext(ctx, interpreter, "unlocked.py", host, port, honestTable).CombinedOutput()
		if ctx.Err() != nil {
			t.Errorf("a client waits for ever: %s", out)
		}
		cancel()
		if err != nil || strings.TrimSpace(string(out)) != "{}" {
			harmed++
		}
	}
	if harmed == 0 {
		t.Errorf("in none of %d rounds did the threads harm one another: this tests nothing", rounds)
	}
	good.finish(t, 50)
	if grown := peak() - before; grown >= memoryAllowed {
		t.Errorf("memory grew by %d MiB, want less than %d", grown>>20, memoryAllowed>>20)
	}
	if err := server.Stop(); err != nil {
		t.Errorf("the server ends with %v", err)
	}
}
