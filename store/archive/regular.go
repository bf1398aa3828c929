package archive

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// openRegular opens a file to be read that is a regular one by its own name: a
// link may lead anywhere, and to open a pipe waits for somebody to write to it.
func openRegular(path string) (*os.File, error) {
	named, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if err := wantRegular(path, named.Mode()); err != nil {
		return nil, err
	}
	// Another one may have taken its place since: opened so, no pipe waits.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(named, opened) {
		err = fmt.Errorf("%w: %s was replaced while it was opened", ErrNotRegular, path)
	}
	if err != nil {
		_ = f.Close() // nothing was read
		return nil, err
	}
	return f, nil
}

// wantRegular refuses what is no regular file, and says what it is.
func wantRegular(path string, mode fs.FileMode) error {
	kind := ""
	switch mode.Type() {
	case 0:
		return nil
	case fs.ModeDir:
		kind = "a folder"
	case fs.ModeSymlink:
		kind = "a symbolic link"
	case fs.ModeNamedPipe:
		kind = "a named pipe"
	case fs.ModeSocket:
		kind = "a socket"
	default:
		kind = "a device"
	}
	return fmt.Errorf("%w: %s is %s", ErrNotRegular, path, kind)
}
