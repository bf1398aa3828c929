package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cellardb/cellar/bench"
	"github.com/cellardb/cellar/server"
)

// temporary is a server of our own in a folder of its own, both to be removed.
type temporary struct {
	*process // nil: it could not be started again
	dir      string
	environ  []string
	start    func(ctx context.Context) (*process, error)
}

// startTemporary starts a server on free ports and an empty folder.
func (a *app) startTemporary(ctx context.Context, parent string, flags []string) (*temporary, error) {
	dir, err := os.MkdirTemp(parent, "cellar-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	start := func(ctx context.Context) (*process, error) { return a.startIn(ctx, dir, flags) }
	p, err := start(ctx)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if inMemory(dir) {
		fmt.Fprintf(a.err, "%s is in memory, so fsync costs nothing there: name a folder on a disk with --temp\n", dir)
	}
	return &temporary{p, dir, a.environ, start}, nil
}

func (a *app) startIn(ctx context.Context, dir string, flags []string) (*process, error) {
	log, err := os.Create(filepath.Join(dir, logName))
	if err != nil {
		return nil, fmt.Errorf("make the server's log: %w", err)
	}
	defer log.Close() // the server has its own descriptor of it
	data := filepath.Join(dir, dataName)
	s := spawn{
		args: append([]string{"--data=" + data, "--thrift1-addr=127.0.0.1:0", "--http-addr=127.0.0.1:0"}, flags...),
		data: data, log: log, environ: a.environ,
	}
	return s.start(ctx)
}

// dataName is the data folder of a server of our own, in its folder.
const dataName = "data"

// logName is the file in which a server in the background writes its log.
const logName = "cellar.log"

// remove stops the server and removes its folder. It is not called off by the
// end of the context that ended the work: that is when it is needed.
func (t *temporary) remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), killFor)
	defer cancel()
	var err error
	if t.process != nil {
		err = t.stop(ctx)
	}
	return errors.Join(err, os.RemoveAll(t.dir))
}

// where is the server as the benchmark needs to know it.
func (t *temporary) where() bench.Restarted {
	return bench.Restarted{
		Addr: t.server.Addresses[server.DoorThrift1], PID: t.server.PID,
		StatsURL: "http://" + t.server.Addresses[server.DoorHTTP] + "/metrics",
	}
}

// restart ends the server, in order or by SIGKILL, and starts it again on the
// same folder.
func (t *temporary) restart(ctx context.Context, kill bool) (bench.Restarted, error) {
	end := t.stop
	if kill {
		end = func(context.Context) error { return t.kill() }
	}
	if err := end(ctx); err != nil {
		return bench.Restarted{}, err
	}
	t.process = nil
	began := time.Now()
	p, err := t.start(ctx)
	if err != nil {
		return bench.Restarted{}, err
	}
	t.process = p
	now := t.where()
	now.Took = time.Since(began)
	return now, nil
}
