package pebble

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/store"
)

// diskWatch refuses writes while little is left of the disk. Pebble ends the
// process when it cannot write its log; so what is left must always do for what was
// admitted: to flush the memtables, and to end the compactions that run.
//
// Below the reserve writes are refused; they are admitted again once there is a
// quarter of the reserve more than that, so that the store does not flutter. Reads go on,
// and so does what frees space: drop, truncate, DeleteRows, compactions, and the
// janitor until space is scarce. Deletes by key are refused like puts: each is a new cell, and takes
// space long before it gives any back.
type diskWatch struct {
	fs      vfs.FS
	dir     string
	reserve uint64
	log     *slog.Logger
	space   *waitingFS
	ballast *ballast

	free, size atomic.Uint64
	known      atomic.Bool
	full       atomic.Bool
	refused    atomic.Int64
	// Of a ballast that could not be made: when it is tried again, and after
	// which pause then. Both belong to run.
	ballastAgain time.Time
	ballastPause time.Duration // 0: the last try did not fail
}

// Reserve of a store that was not given one: room for what is in memory and for
// two compactions, and not less than leastReserve.
const (
	leastReserve = 512 << 20
	// readmitAbove is how much more than the reserve must be free, as a part of
	// it, before writes are admitted again.
	readmitAbove = 0.25
	// diskEvery is how often the file system is asked. A load without limit
	// takes some 20 MB in that time.
	diskEvery = 100 * time.Millisecond
	// A ballast that could not be made is tried again after firstBallastPause,
	// and each time later after twice as long, up to lastBallastPause.
	firstBallastPause = time.Second
	lastBallastPause  = 5 * time.Minute
)

// defaultReserve is two memtables and what two compactions write, about.
func defaultReserve(memtable uint64) uint64 {
	return max(leastReserve, 2*memtable+2*compactionOutput)
}

// compactionOutput is what one compaction writes at most before the files that
// it read can go, mostly.
const compactionOutput = 256 << 20

// newDiskWatch makes the watch of a disk, and the file system that waits where
// the watch was too late.
func newDiskWatch(fs vfs.FS, dir string, reserve uint64, log *slog.Logger) *diskWatch {
	w := &diskWatch{fs: fs, dir: dir, reserve: reserve, log: log, ballast: newBallast(fs, dir, reserve)}
	w.space = &waitingFS{FS: fs, dir: dir, log: log, full: w.noSpace, ballast: w.ballast.giveUp, look: w.look, tablePause: tablePause}
	w.space.opening.Store(true)
	return w
}

// run looks at the disk until the context ends. It asks nobody but the file
// system, so that it goes on while the store waits for space.
func (w *diskWatch) run(ctx context.Context) {
	tick := time.NewTicker(diskEvery)
	defer tick.Stop()
	for {
		w.look()
		w.keepBallast()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// keepBallast makes the ballast where there is room for it. The log is told of
// the first of several tries that fail, and of the one that does not.
func (w *diskWatch) keepBallast() {
	if !w.known.Load() || w.full.Load() || float64(w.free.Load()) < float64(w.reserve)*(1+readmitAbove) || time.Now().Before(w.ballastAgain) {
		return
	}
	err := w.ballast.make()
	switch failed := w.ballastPause > 0; {
	case err == nil && failed:
		w.log.Info("there is a ballast again")
	case err != nil && !failed:
		w.log.Warn("there is no ballast: a full disk may have no room to drop a table; it is tried again", "error", err)
	}
	if err == nil {
		w.ballastPause = 0
		return
	}
	w.ballastPause = min(max(2*w.ballastPause, firstBallastPause), lastBallastPause)
	w.ballastAgain = time.Now().Add(w.ballastPause)
}

// noSpace is told of a write that found no space.
func (w *diskWatch) noSpace() {
	if !w.full.Swap(true) {
		w.log.Error("the disk is full: writes are refused until there is room", "dir", w.dir, "reserve", mebibytes(w.reserve))
	}
}

// diskState is what the last look found.
type diskState struct {
	known               bool
	waiting             bool // log or manifest wait for space
	free, size, reserve uint64
	full                bool
}

func (w *diskWatch) state() diskState {
	return diskState{known: w.known.Load(), free: w.free.Load(), size: w.size.Load(), reserve: w.reserve, full: w.full.Load(), waiting: !w.space.Waiting().IsZero()}
}

// scarce says whether what is left is for what was admitted alone: less than half
// of the reserve, or none where that is not known. Then the janitor rests: its
// deletes are writes, and give space back only once they are compacted.
func (w *diskWatch) scarce() bool {
	if w.space.brim.Load() || !w.space.Waiting().IsZero() {
		return true
	}
	return w.full.Load() && (!w.known.Load() || w.free.Load() < w.reserve/2)
}

// pressure is 0 while twice the reserve and more is free, and 1 where writes
// are refused.
func (d *diskState) pressure() float64 {
	switch {
	case !d.known || d.reserve == 0:
		return 0
	case d.full:
		return 1
	}
	return clamp(2 - float64(d.free)/float64(d.reserve))
}

// look asks the file system how much is free. Where it cannot say (in memory),
// nothing is refused for long: what found no space is tried again.
func (w *diskWatch) look() {
	usage, err := w.fs.GetDiskUsage(w.dir)
	if err != nil {
		w.space.brim.Store(false)
		w.full.Store(false)
		return
	}
	w.free.Store(usage.AvailBytes)
	w.size.Store(usage.TotalBytes)
	w.known.Store(true)
	// A quota or the want of inodes stops writes of which this figure knows nothing.
	waits := !w.space.Waiting().IsZero()
	if !waits && usage.AvailBytes >= 2*uint64(w.ballast.size) {
		w.space.brim.Store(false)
	}
	switch full := w.full.Load(); {
	case !full && usage.AvailBytes < w.reserve:
		w.full.Store(true)
		w.log.Error("the disk is nearly full: writes are refused until there is room", "dir", w.dir,
			"free", mebibytes(usage.AvailBytes), "reserve", mebibytes(w.reserve))
	case full && !waits && float64(usage.AvailBytes) >= float64(w.reserve)*(1+readmitAbove):
		w.full.Store(false)
		w.log.Info("there is room on the disk: writes are admitted again", "dir", w.dir,
			"free", mebibytes(usage.AvailBytes))
	}
}

// refuse answers an error that matches store.ErrDiskFull while writes are
// refused.
func (w *diskWatch) refuse() error {
	if !w.full.Load() {
		return nil
	}
	w.refused.Add(1)
	return &diskFullError{Dir: w.dir, Free: w.free.Load(), Need: uint64(float64(w.reserve) * (1 + readmitAbove))}
}

// diskFullError says how much is free and what to do. It matches
// store.ErrDiskFull.
type diskFullError struct {
	Dir        string
	Free, Need uint64 // bytes
}

func (e *diskFullError) Error() string {
	return fmt.Sprintf("disk is full: %s has %s free and writes need %s: drop tables, or free space beside them; reads go on, and writes do without a restart",
		e.Dir, mebibytes(e.Free), mebibytes(e.Need))
}

// Is makes errors.Is(err, store.ErrDiskFull) true.
func (e *diskFullError) Is(target error) bool { return target == store.ErrDiskFull }

func mebibytes(n uint64) string { return fmt.Sprintf("%d MiB", n>>20) }
