package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/cellardb/cellar/server"
)

// background is a server that outlives this command.
type background struct {
	*server.Running
	// found: it ran already.
	found bool
	// took is how long it needed to be ready; zero: found.
	took time.Duration
}

// findOrStart finds the server on the data folder that the settings name, or
// starts one there in the background, with the command's flags.
func (a *app) findOrStart(ctx context.Context, c *cobra.Command) (*background, error) {
	e, err := a.load(c)
	if err != nil {
		return nil, err
	}
	r, err := awaitAnnounced(ctx, e.config.Data)
	if r != nil {
		return &background{Running: r, found: true}, nil
	}
	if !errors.Is(err, server.ErrNotRunning) {
		return nil, err
	}
	return a.startBackground(ctx, c, e.config.Data)
}

// awaitAnnounced is FindRunning, with patience for a server that is just
// starting.
func awaitAnnounced(ctx context.Context, data string) (*server.Running, error) {
	ctx, cancel := context.WithTimeout(ctx, startFor)
	defer cancel()
	poll := time.NewTicker(pollPause)
	defer poll.Stop()
	for {
		r, err := server.FindRunning(data)
		if !errors.Is(err, server.ErrRunning) {
			return r, err
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return nil, err
		}
	}
}

// startBackground starts a server that outlives this process. When it does not
// start, nothing of it is left.
func (a *app) startBackground(ctx context.Context, c *cobra.Command, data string) (_ *background, err error) {
	if data, err = filepath.Abs(data); err != nil {
		return nil, fmt.Errorf("find data folder: %w", err)
	}
	_, statErr := os.Stat(data)
	fresh := errors.Is(statErr, fs.ErrNotExist)
	if err := os.MkdirAll(data, 0o750); err != nil {
		return nil, fmt.Errorf("create data folder: %w", err)
	}
	log, ours, err := openLog(filepath.Join(data, logName))
	if err != nil {
		return nil, err
	}
	defer log.Close() // the server has its own descriptor of it
	begin := time.Now()
	s := spawn{
		args: append(changedFlags(c, allSettings()), "--data="+data), // the last --data counts
		data: data, log: log, detached: true, environ: a.environ,
	}
	p, err := s.start(ctx)
	if err != nil {
		var said *startError
		if fresh && errors.As(err, &said) {
			removeFresh(data, log, ours)
		}
		return nil, err
	}
	return &background{Running: p.server, took: time.Since(begin)}, nil
}

// openLog opens the log of a server in the background to append; created: it was
// not there.
func openLog(name string) (log *os.File, created bool, err error) {
	const flags, mode = os.O_CREATE | os.O_WRONLY | os.O_APPEND, 0o640
	log, err = os.OpenFile(name, flags|os.O_EXCL, mode)
	created = err == nil
	if errors.Is(err, fs.ErrExist) {
		log, err = os.OpenFile(name, flags, mode)
	}
	if err != nil {
		return nil, false, fmt.Errorf("open log: %w", err)
	}
	return log, created, nil
}

// removeFresh removes a data folder that was made for a server which did not
// start. Whoever put something in meanwhile keeps it: another command may have
// started a server there, which writes its log under the same name. The log
// goes only if this command created it (ours), it is still that file, and no
// server is there.
func removeFresh(data string, log *os.File, ours bool) {
	_, err := server.FindRunning(data)
	if !ours || !errors.Is(err, server.ErrNotRunning) || !isFile(log, filepath.Join(data, logName)) {
		return
	}
	_ = os.Remove(log.Name())
	_ = os.Remove(data) // fails if there is something in it, as it is to
}

// isFile says whether a name is still that of an open file.
func isFile(f *os.File, name string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(name)
	return err == nil && os.SameFile(opened, named)
}

func allSettings() []string {
	var keys []string
	for _, s := range server.Settings() {
		keys = append(keys, s.Key)
	}
	return keys
}

// logPath is where the log of a server in the background is; empty: it was
// started in another way.
func (b *background) logPath() string {
	name := filepath.Join(b.Data, logName)
	if _, err := os.Stat(name); err != nil {
		return ""
	}
	return name
}

// introduce says which server is used.
func (b *background) introduce(w io.Writer) {
	if b.found {
		fmt.Fprintf(w, "Found a server on %s: process id %d, running since %s.\n", b.Data, b.PID, b.Started.Local().Format(time.DateTime))
	} else {
		fmt.Fprintf(w, "Started a server on %s: process id %d, ready after %s.\n", b.Data, b.PID, b.took.Round(time.Millisecond))
	}
}
