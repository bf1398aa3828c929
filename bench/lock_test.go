//go:build linux

package bench

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// inProcess makes the test binary take a lock in a process of its own.
const inProcess = "BENCH_TEST_LOCK"

// lockElsewhere takes the lock in another process, which may hold a descriptor
// that it was started with, and says whether that process had to wait.
func lockElsewhere(t *testing.T, path string, inherit *os.File) (waited bool) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestLockInProcess$")
	c.Env = append(os.Environ(), inProcess+"="+path)
	if inherit != nil {
		c.ExtraFiles = []*os.File{inherit}
	}
	err := c.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 9 {
		return true
	}
	if err != nil {
		t.Fatal(err)
	}
	return false
}

func TestLockInProcess(t *testing.T) {
	path := os.Getenv(inProcess)
	if path == "" {
		t.Skip("for TestLock")
	}
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := lock(ctx, path, func() { cancel() }); err != nil {
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		os.Exit(9)
	}
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if lockElsewhere(t, path, nil) {
		t.Error("a free lock is waited for")
	}
	release, err := lock(context.Background(), path, func() { t.Error("a free lock is waited for") })
	if err != nil {
		t.Fatal(err)
	}
	if !lockElsewhere(t, path, nil) {
		t.Error("two processes hold the lock")
	}

	// A wait ends when the lock is given back.
	waiting, held := make(chan bool), make(chan error)
	go func() {
		release, err := lock(context.Background(), path, func() { close(waiting) })
		if err == nil {
			release()
		}
		held <- err
	}()
	<-waiting
	release()
	if err := <-held; err != nil {
		t.Error(err)
	}
	if lockElsewhere(t, path, nil) {
		t.Error("a lock that was given back is waited for")
	}
}

// TestLockOfParent: "flock FILE cellar bench" leaves the locked file open in the
// process that it starts, which must not wait for itself.
func TestLockOfParent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if lockElsewhere(t, path, f) {
		t.Error("a process waits for the lock that it was started with")
	}
	if !lockElsewhere(t, path, nil) {
		t.Error("a process with nothing inherited does not wait")
	}
	// A descriptor of the file that is not what holds the lock does not count.
	other, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	if !lockElsewhere(t, path, other) {
		t.Error("a process with some descriptor of the file does not wait")
	}
}

func TestLockFails(t *testing.T) {
	if _, err := lock(context.Background(), filepath.Join(t.TempDir(), "no", "such", "folder"), func() {}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	path := filepath.Join(t.TempDir(), "lock")
	release, err := lock(context.Background(), path, func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(context.Background())
	if _, err := lock(ctx, path, func() { cancel(stop) }); !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
}

func TestLockPath(t *testing.T) {
	env := map[string]string{"BENCH_LOCK": "/x/y"}
	if got := LockPath(func(k string) string { return env[k] }); got != "/x/y" {
		t.Error(got)
	}
	if got, want := LockPath(nil), filepath.Join(os.TempDir(), "cellar-bench.lock"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
