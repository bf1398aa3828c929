package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// errBusy: another process holds the lock.
var errBusy = errors.New("locked")

// lockPoll is how often a lock that another holds is tried again.
const lockPoll = 200 * time.Millisecond

// lock takes the lock file, waiting for another process that measures. waiting
// is called once, if there is anything to wait for. The lock goes with the
// process at the latest; the returned function gives it back.
//
// If this process was started by "flock FILE cellar bench ...", which leaves
// the locked file open in it, the lock is held already.
func lock(ctx context.Context, path string, waiting func()) (release func(), err error) {
	if inherited(path) {
		return func() {}, nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("open the benchmarks' lock file: %w (choose another with BENCH_LOCK)", err)
	}
	for first := true; ; first = false {
		err := tryLock(f)
		if err == nil {
			return func() { _ = f.Close() }, nil // closing unlocks
		}
		if !errors.Is(err, errBusy) {
			_ = f.Close() // nothing was written
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if first {
			waiting()
		}
		select {
		case <-ctx.Done():
			_ = f.Close() // nothing was written
			return nil, fmt.Errorf("wait for %s: %w", path, context.Cause(ctx))
		case <-time.After(lockPoll):
		}
	}
}
