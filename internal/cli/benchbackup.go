package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// backup backs the server's store up by "cellar backup -", and throws the tar
// away: it returns its size in bytes.
func (t *temporary) backup(ctx context.Context) (int64, error) {
	exe, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("find this program: %w", err)
	}
	var size counted
	var said bytes.Buffer
	c := exec.CommandContext(ctx, exe, "backup", "-", "--data="+filepath.Join(t.dir, dataName))
	c.Stdout, c.Stderr, c.Env = &size, &said, t.environ
	if err := c.Run(); err != nil {
		return 0, fmt.Errorf("cellar backup: %w: %s", err, bytes.TrimSpace(said.Bytes()))
	}
	return int64(size), nil
}

// counted counts what is written to it.
type counted int64

func (c *counted) Write(p []byte) (int, error) {
	*c += counted(len(p))
	return len(p), nil
}

var _ io.Writer = (*counted)(nil)
