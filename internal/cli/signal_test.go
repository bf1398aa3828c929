package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/cellardb/cellar/server"
)

// Each signal to stop, the end of the terminal too, ends what was started.
func TestInterruptible(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("the tests run under nohup")
	}
	ran := 0
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		ctx, release := interruptible(t.Context())
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
		awaitEnd(t, ctx, s)
		release()

		stop, abort, done := signalContexts(t.Context())
		for _, c := range []context.Context{stop, abort} {
			if c.Err() != nil {
				t.Errorf("%v: ended too early", s)
			}
			if err := syscall.Kill(os.Getpid(), s); err != nil {
				t.Fatal(err)
			}
			awaitEnd(t, c, s)
		}
		done()
		ran++
	}
	if ran != 3 {
		t.Errorf("%d signals", ran)
	}
}

func awaitEnd(t *testing.T, ctx context.Context, s syscall.Signal) {
	t.Helper()
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
		t.Fatalf("%v does not end it", s)
	}
}

// A second signal ends a start that does not look at its context.
func TestAbortable(t *testing.T) {
	abort, cancel := context.WithCancel(t.Context())
	why := errors.New("no")
	if err := abortable(abort, func() error { return why }); err != why {
		t.Errorf("a start that fails: %v", err)
	}
	hangs, left := make(chan struct{}), make(chan struct{})
	cancel()
	err := abortable(abort, func() error { defer close(left); <-hangs; return nil })
	if !errors.Is(err, server.ErrAborted) {
		t.Errorf("a start that hangs: %v", err)
	}
	close(hangs)
	<-left
}

// A process that got the number of a server which was killed is not signalled.
func TestStopRunning_sparesOthers(t *testing.T) {
	other := exec.Command("sleep", "1000")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = other.Wait(); close(ended) }()
	defer func() { _ = other.Process.Kill(); <-ended }()
	r := &server.Running{PID: other.Process.Pid, Data: t.TempDir()}

	// Nobody is on the folder; then somebody else is.
	if err := stopRunning(t.Context(), r, os.Stderr); err != nil {
		t.Error(err)
	}
	s := startServer(t, memoryConfig(r.Data))
	if err := stopRunning(t.Context(), r, os.Stderr); err != nil {
		t.Error(err)
	}
	// What ends it comes after the signal that must not.
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the process was ended: %v", err)
	}

	// The announcement names a process that is gone, and the folder is held.
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	r.PID = dead.Process.Pid
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.Data, "cellar.run"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := stopRunning(t.Context(), r, os.Stderr); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("a process that is not there: %v", err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	select {
	case <-ended:
		t.Error("the process was ended")
	default:
	}
}

func memoryConfig(data string) server.Config {
	return server.Config{
		Data: data, Engine: server.EngineMemory, Memory: server.MinMemory,
		Thrift1: server.Thrift1Config{Addr: "127.0.0.1:0"}, HTTP: server.HTTPConfig{Addr: "127.0.0.1:0"},
	}
}

// After a start that failed, the log is removed with the folder unless it is
// another's.
func TestRemoveFresh(t *testing.T) {
	open := func() (data string, log *os.File, ours bool) {
		t.Helper()
		data = filepath.Join(t.TempDir(), "data")
		if err := os.Mkdir(data, 0o700); err != nil {
			t.Fatal(err)
		}
		log, ours, err := openLog(filepath.Join(data, logName))
		if err != nil || !ours {
			t.Fatal(ours, err)
		}
		t.Cleanup(func() { log.Close() })
		return data, log, ours
	}
	there := func(what, data string, want bool) {
		t.Helper()
		if _, err := os.Stat(filepath.Join(data, logName)); (err == nil) != want {
			t.Errorf("%s: the log is there: %v, want %v", what, err == nil, want)
		}
	}

	data, log, ours := open()
	removeFresh(data, log, ours)
	if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder stays: %v", err)
	}

	data, log, ours = open()
	s := startServer(t, memoryConfig(data))
	removeFresh(data, log, ours)
	there("another server runs", data, true)
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}

	data, _, _ = open()
	log, ours, err := openLog(filepath.Join(data, logName))
	if err != nil || ours {
		t.Fatal(ours, err)
	}
	defer log.Close()
	removeFresh(data, log, ours)
	there("another command made it", data, true)

	data, log, ours = open()
	if err := os.Remove(log.Name()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log.Name(), []byte("another's"), 0o600); err != nil {
		t.Fatal(err)
	}
	removeFresh(data, log, ours)
	there("it was made anew", data, true)
}
