package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// temporary is a server of our own in a folder of its own, both to be removed.
type temporary struct {
	*process
	dir string
}

// startTemporary starts a server on free ports and an empty folder.
func (a *app) startTemporary(ctx context.Context, parent string, flags []string) (*temporary, error) {
	dir, err := os.MkdirTemp(parent, "cellar-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	p, err := a.startIn(ctx, dir, flags)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if inMemory(dir) {
		fmt.Fprintf(a.err, "%s is in memory, so fsync costs nothing there: name a folder on a disk with --temp\n", dir)
	}
	return &temporary{p, dir}, nil
}

func (a *app) startIn(ctx context.Context, dir string, flags []string) (*process, error) {
	log, err := os.Create(filepath.Join(dir, logName))
	if err != nil {
		return nil, fmt.Errorf("make the server's log: %w", err)
	}
	defer log.Close() // the server has its own descriptor of it
	data := filepath.Join(dir, "data")
	s := spawn{
		args: append([]string{"--data=" + data, "--thrift1-addr=127.0.0.1:0", "--http-addr=127.0.0.1:0"}, flags...),
		data: data, log: log, environ: a.environ,
	}
	return s.start(ctx)
}

// logName is the file in which a server in the background writes its log.
const logName = "cellar.log"

// remove stops the server and removes its folder. It is not called off by the
// end of the context that ended the work: that is when it is needed.
func (t *temporary) remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), killFor)
	defer cancel()
	return errors.Join(t.stop(ctx), os.RemoveAll(t.dir))
}
