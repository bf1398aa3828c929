package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/cellardb/cellar/server"
)

// Bounds of waiting for a server of our own.
const (
	startFor = time.Minute
	killFor  = 10 * time.Second
)

// spawn says how a server is started as a process of its own.
type spawn struct {
	// args follow "serve".
	args []string
	// data is the folder, which args name too.
	data string
	// log takes what the server writes; it stays the caller's.
	log *os.File
	// detached: the server outlives this process and its terminal. Otherwise
	// it ends when this process does, however that comes about.
	detached bool
	environ  []string
}

// process is a server that this command started.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer // nil: detached
	// server says where it listens.
	server *server.Running
	done   chan struct{}
	err    error // of Wait; valid once done is closed
}

// start runs a server and waits until it is ready. On an error none is left.
func (s *spawn) start(ctx context.Context) (*process, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	began, err := s.log.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("look at the log: %w", err)
	}
	args := append([]string{"serve"}, s.args...)
	if !s.detached {
		args = append(args, "--"+untilStdinFlag)
	}
	p := &process{cmd: exec.Command(exe, args...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.Env = s.log, s.log, s.environ
	// Ctrl-C goes to a whole group: ours would kill the server before its time.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: s.detached, Setpgid: !s.detached}
	if !s.detached {
		if p.stdin, err = p.cmd.StdinPipe(); err != nil {
			return nil, fmt.Errorf("start a server: %w", err)
		}
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	go func() {
		defer close(p.done)
		p.err = p.cmd.Wait()
	}()
	if err := p.awaitReady(ctx, s.data); err != nil {
		stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killFor)
		defer cancel()
		return nil, errors.Join(explainExit(err, s.log.Name(), began), p.stop(stopCtx))
	}
	return p, nil
}

// errEnded says that the server ended before it was ready.
var errEnded = errors.New("the server ended at its start")

// awaitReady waits until the server announces itself and answers.
func (p *process) awaitReady(ctx context.Context, data string) error {
	ctx, cancel := context.WithTimeout(ctx, startFor)
	defer cancel()
	poll := time.NewTicker(pollPause)
	defer poll.Stop()
	for {
		if r, err := server.FindRunning(data); err == nil && r.PID == p.cmd.Process.Pid {
			if st, err := askStatus(ctx, r.Addresses[server.DoorHTTP]); err == nil && st.State == "ready" {
				p.server = r
				return nil
			}
		}
		select {
		case <-poll.C:
		case <-p.done:
			return errEnded
		case <-ctx.Done():
			return fmt.Errorf("the server is not ready: %w", context.Cause(ctx))
		}
	}
}

// stop ends the server in order, and the hard way when the context ends first.
// It returns when the process is gone; a second call does nothing.
func (p *process) stop(ctx context.Context) error {
	if p.stdin != nil {
		defer p.stdin.Close()
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the server: %w", err)
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
	}
	return p.kill()
}

// kill ends the server the hard way, and waits until it is gone.
func (p *process) kill() error {
	if p.stdin != nil {
		defer p.stdin.Close()
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill the server: %w", err)
	}
	<-p.done
	return nil
}

// explainExit puts the reason that a server wrote to its log in place of the
// mere fact that it ended.
func explainExit(err error, log string, from int64) error {
	if !errors.Is(err, errEnded) {
		return err
	}
	f, openErr := os.Open(log)
	if openErr != nil {
		return err
	}
	defer f.Close()
	if _, seekErr := f.Seek(from, io.SeekStart); seekErr != nil {
		return err
	}
	lines := bufio.NewScanner(f)
	last := ""
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "cellar: "); ok {
			last = text
		}
	}
	if last == "" {
		return withHint(err, "its log is %s", log)
	}
	return &startError{last}
}

// startError is why a server that this command started ended at once, in its own
// words.
type startError struct{ text string }

func (e *startError) Error() string { return e.text }
