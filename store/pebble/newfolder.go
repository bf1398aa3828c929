package pebble

import (
	"errors"
	"fmt"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// syncAncestors makes the names of a folder and of all folders above it durable.
// Whoever made them, maybe a moment ago, need not have: without it a store that
// was just made may be gone after a crash, with all that was acknowledged. A
// folder that may not be opened is not ours, and older than the store.
func syncAncestors(fs vfs.FS, dir string) error {
	for at := dir; ; {
		above := fs.PathDir(at)
		if above == at {
			return nil
		}
		d, err := fs.OpenDir(above)
		if errors.Is(err, os.ErrPermission) {
			return nil
		}
		if err == nil {
			err = closeWith(d, d.Sync())
		}
		if err != nil {
			return fmt.Errorf("sync the folder %s: %w", above, err)
		}
		at = above
	}
}

// syncNewFolder does that for a folder in which no store was made yet, and says
// whether it is one.
func syncNewFolder(fs vfs.FS, dir string) (fresh bool, err error) {
	if _, err := fs.Stat(fs.PathJoin(dir, formatFile)); !errors.Is(err, os.ErrNotExist) {
		return false, nil // another error is for who reads the file
	}
	return true, syncAncestors(fs, dir)
}
