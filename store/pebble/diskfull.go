package pebble

import (
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/store"
)

// diskWatch refuses writes while little is left of the disk. Pebble ends the
// process when it cannot write its log; so what is left must always do for what was
// admitted: to flush the memtables, and to end the compactions that run.
//
// Below the reserve writes are refused; they are admitted again once there is a
// quarter of the reserve more than that, so that the store does not flutter. Reads go on,
// and so does what frees space: drop, truncate, DeleteRows, compactions, the
// janitor. Deletes by key are refused like puts: each is a new cell, and takes
// space long before it gives any back.
type diskWatch struct {
	fs      vfs.FS
	dir     string
	reserve uint64
	log     *slog.Logger

	free, size atomic.Uint64
	known      atomic.Bool
	full       atomic.Bool
	refused    atomic.Int64
}

// Reserve of a store that was not given one: room for what is in memory and for
// two compactions, and not less than leastReserve.
const (
	leastReserve = 512 << 20
	// readmitAbove is how much more than the reserve must be free, as a part of
	// it, before writes are admitted again.
	readmitAbove = 0.25
	// watchesADisk is every how many looks at the pressure the disk is asked.
	watchesADisk = 2
)

// defaultReserve is two memtables and what two compactions write, about.
func defaultReserve(memtable uint64) uint64 {
	return max(leastReserve, 2*memtable+2*compactionOutput)
}

// compactionOutput is what one compaction writes at most before the files that
// it read can go, mostly.
const compactionOutput = 256 << 20

func newDiskWatch(fs vfs.FS, dir string, reserve uint64, log *slog.Logger) *diskWatch {
	return &diskWatch{fs: fs, dir: dir, reserve: reserve, log: log}
}

// diskState is what the last look found.
type diskState struct {
	known               bool
	free, size, reserve uint64
	full                bool
}

func (w *diskWatch) state() diskState {
	return diskState{known: w.known.Load(), free: w.free.Load(), size: w.size.Load(), reserve: w.reserve, full: w.full.Load()}
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
// nothing is refused.
func (w *diskWatch) look() {
	usage, err := w.fs.GetDiskUsage(w.dir)
	if err != nil {
		return
	}
	w.free.Store(usage.AvailBytes)
	w.size.Store(usage.TotalBytes)
	w.known.Store(true)
	switch full := w.full.Load(); {
	case !full && usage.AvailBytes < w.reserve:
		w.full.Store(true)
		w.log.Error("the disk is nearly full: writes are refused until there is room", "dir", w.dir,
			"free", mebibytes(usage.AvailBytes), "reserve", mebibytes(w.reserve))
	case full && float64(usage.AvailBytes) >= float64(w.reserve)*(1+readmitAbove):
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
