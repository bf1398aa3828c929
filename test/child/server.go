package child

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// startFor bounds how long a server may take to start; a machine that runs
// other tests beside is slow at it.
const startFor = 60 * time.Second

// Server is a server that runs as a child process.
type Server struct {
	Running

	cmd   *exec.Cmd
	stdin io.Closer
	log   string // path
	done  chan struct{}
	err   error // of Wait; valid after done
}

// Start runs a server on a data folder, with further flags, and waits until it
// says its addresses. It listens on ports that were free. When the test ends it
// is killed, and if the test failed its log is shown.
func Start(t testing.TB, data string, flags ...string) *Server {
	t.Helper()
	s, err := start(data, t.TempDir(), flags)
	if s != nil {
		t.Cleanup(func() {
			s.Kill()
			if t.Failed() {
				t.Logf("log of the server, pid %d:\n%s", s.PID, s.Log())
			}
		})
	}
	if err != nil {
		t.Fatalf("start a server: %v", err)
	}
	return s
}

func start(data, temp string, flags []string) (*Server, error) {
	bin, err := Binary()
	if err != nil {
		return nil, err
	}
	s := &Server{Running: Running{Data: data}, log: filepath.Join(temp, "server.log"), done: make(chan struct{})}
	logFile, err := os.OpenFile(s.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer logFile.Close()
	args := []string{"serve", "--data", data, "--thrift1-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0", "--until-stdin-closes"}
	s.cmd = exec.Command(bin, append(args, flags...)...)
	s.cmd.Stdout, s.cmd.Stderr = logFile, logFile
	// The kernel closes this pipe however the test binary ends.
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.PID = s.cmd.Process.Pid
	go func() { s.err = s.cmd.Wait(); close(s.done) }()
	return s, s.awaitAddresses()
}

// awaitAddresses waits for the file in which a server says where it listens.
func (s *Server) awaitAddresses() error {
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	late := time.NewTimer(startFor)
	defer late.Stop()
	for {
		if ok, err := s.readAddresses(); ok || err != nil {
			return err
		}
		select {
		case <-poll.C:
		case <-s.done:
			return fmt.Errorf("it ended: %v\n%s", s.err, s.Log())
		case <-late.C:
			return fmt.Errorf("no addresses after %s\n%s", startFor, s.Log())
		}
	}
}

func (s *Server) readAddresses() (bool, error) {
	run, err := Find(s.Data)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil || run.PID != s.PID {
		return false, err // another PID is of a server that was killed
	}
	s.Running = run
	return true, nil
}

// Kill ends the process at once, as kill -9 does, and waits for its end. A
// second call does nothing.
func (s *Server) Kill() {
	s.cmd.Process.Signal(syscall.SIGKILL)
	<-s.done
	s.stdin.Close()
}

// Stop asks the process to stop and gives the error of its end; it is an
// *exec.ExitError when the status is not 0.
func (s *Server) Stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	<-s.done
	return s.err
}

// Alive says whether the process has not ended.
func (s *Server) Alive() bool {
	select {
	case <-s.done:
		return false
	default:
		return true
	}
}

// Log gives the last 64 KiB of what the process has written.
func (s *Server) Log() string {
	text, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	const tail = 64 << 10
	if len(text) > tail {
		text = append([]byte("...\n"), text[len(text)-tail:]...)
	}
	return string(bytes.TrimSpace(text))
}
