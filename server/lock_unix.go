//go:build unix

package server

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the lock of an open file if nobody has it. It goes with the
// last descriptor of this open file, so also when the process is killed.
func tryLock(f *os.File) (bool, error) { return tryFlock(f, unix.LOCK_EX) }

// tryShared takes the lock so that others may do the same at the same time, but
// nobody has it alone. Several who look for a server do not see each other.
func tryShared(f *os.File) (bool, error) { return tryFlock(f, unix.LOCK_SH) }

func tryFlock(f *os.File, how int) (bool, error) {
	err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
