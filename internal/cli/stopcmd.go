package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/cellardb/cellar/server"
)

// Pace of waiting for a server.
const (
	pollPause      = 10 * time.Millisecond
	progressPause  = 2 * time.Second
	defaultStopFor = 2 * time.Minute
)

func (a *app) stopCommand() *cobra.Command {
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "stop",
		Short: "Stop the server that runs on a data folder, in order",
		Long: `Asks the server that runs on a data folder of this machine to stop: it finishes
the requests that run and closes the store. Waits until it is gone.`,
		Example: `  cellar stop
  cellar stop --data /srv/cellar --timeout 10s`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := a.findRunning(c)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context(), timeout)
			defer cancel()
			begin := time.Now()
			if err := stopRunning(ctx, r, a.err); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "stopped the server on %s in %s\n", r.Data, time.Since(begin).Round(time.Millisecond))
			return nil
		},
	}
	someSettingFlags(c.Flags(), "data")
	c.Flags().DurationVar(&timeout, "timeout", defaultStopFor, "how long to wait")
	return c
}

// stopRunning ends a server and waits until it has given its folder up.
func stopRunning(ctx context.Context, r *server.Running, progress io.Writer) error {
	p, err := os.FindProcess(r.PID)
	if err != nil {
		return fmt.Errorf("find process %d: %w", r.PID, err)
	}
	defer p.Release()
	if gone, err := confirm(p, r); gone || err != nil {
		return err
	}
	if err := p.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop process %d: %w", r.PID, err)
	}
	poll := time.NewTicker(pollPause)
	defer poll.Stop()
	said := time.Now()
	for {
		now, err := server.FindRunning(r.Data)
		if errors.Is(err, server.ErrNotRunning) || now != nil && now.PID != r.PID {
			return nil
		}
		if time.Since(said) > progressPause {
			said = time.Now()
			fmt.Fprintf(progress, "process %d finishes the requests that run\n", r.PID)
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return withHint(fmt.Errorf("process %d has not stopped yet: %w", r.PID, ctx.Err()),
				"it goes on stopping; a second kill %d aborts it", r.PID)
		}
	}
}

// confirm checks that a process which was taken by its number is the server
// that is meant: it is alive, and still the one that holds the folder. The
// number may be another process's by now, which must not be signalled. gone
// says that there is nothing to stop any more.
func confirm(p *os.Process, r *server.Running) (gone bool, err error) {
	alive := p.Signal(syscall.Signal(0))
	now, err := server.FindRunning(r.Data)
	switch {
	case errors.Is(err, server.ErrNotRunning):
		return true, nil
	case err != nil:
		return false, err
	case now.PID != r.PID || !now.Started.Equal(r.Started):
		return true, nil
	case alive != nil && !errors.Is(alive, os.ErrPermission):
		return false, withHint(fmt.Errorf("process %d, which says that it serves %s, is not there: %w", r.PID, r.Data, alive),
			"the folder is in use all the same: stop the server where it runs, in its container or on its machine")
	}
	return false, nil
}
