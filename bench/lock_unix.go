//go:build unix

package bench

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

func tryLock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errBusy
	}
	return err
}

// inherited says whether one of the descriptors that this process was started
// with holds the lock: to lock it once more then succeeds. The descriptor is
// not passed on to processes that this one starts, which might outlive the run.
func inherited(path string) bool {
	want, err := os.Stat(path)
	if err != nil {
		return false
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return false
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd < 3 {
			continue
		}
		if got, err := os.Stat(filepath.Join("/proc/self/fd", e.Name())); err != nil || !os.SameFile(want, got) {
			continue
		}
		if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
			unix.CloseOnExec(fd)
			return true
		}
	}
	return false
}
