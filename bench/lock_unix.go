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
// with holds the lock: to lock it once more then succeeds. Such descriptors are
// those that are open across exec; Go opens its own otherwise.
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
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC != 0 {
			continue
		}
		got, err := os.Stat(filepath.Join("/proc/self/fd", e.Name()))
		if err == nil && os.SameFile(want, got) && unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
			return true
		}
	}
	return false
}
