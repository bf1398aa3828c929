package pebble

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// waitingFS is a file system on which a full disk is waited out. Pebble ends the
// process when it cannot write its log or its manifest; here such a write does
// not fail for want of space, it takes until there is some.
//
// What happens when the disk has no space (ENOSPC, or EDQUOT):
//
//  1. Writes are refused from then on (full), and the ballast is given up, so
//     that log and manifest have room: a table can be dropped in it.
//  2. The write is tried again until it is done; a part that was written is not
//     written twice. Its goroutine may hold locks of Pebble: whoever must not
//     wait with it (status, metrics) asks no Pebble while Waiting.
//  3. Tables are different: Pebble can begin one anew. It fails, after a pause,
//     which frees the part that was written. That of a flush may use the ballast,
//     since to drop a table its memtable is flushed; for one of a compaction,
//     which takes much, the ballast is not given up, and while space is as
//     short as that (brim) none is begun. During a start a flush waits, since the
//     start needs it; compactions fail as ever: Pebble's Open waits for them.
//
// A sync that fails for want of space is passed on as it is: what the system
// had of the file is gone then, and to sync again would not bring it back.
// File systems that promise space with the write (ext4, XFS, btrfs, tmpfs on
// Linux) do not fail there.
//
// Files outside of the store's folder (copies of it) are none of its business.
type waitingFS struct {
	vfs.FS
	dir string // of the store
	log *slog.Logger
	// full is told of each write that found no space; it must not wait.
	full func()
	// ballast gives space up, once; it says whether there was any.
	ballast func() bool
	// look, if set, asks how much is free, and ends brim if it is enough.
	look func()
	// opening: the store is being opened.
	opening atomic.Bool
	// tablePause keeps Pebble from trying a flush again and again.
	tablePause time.Duration
	// brim: there is so little space that no compaction is begun.
	brim atomic.Bool

	waits atomic.Int64 // writes that had to wait
	mu    struct {
		sync.Mutex
		waiting int
		since   time.Time // the first of those that wait began to
	}
}

// Times of a waitingFS: how often a write is tried again, and how long a table
// takes to fail.
const (
	spaceRetry = 100 * time.Millisecond
	tablePause = time.Second
)

// outOfSpace says whether a write failed for want of space.
func outOfSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// purpose is what a file is written for.
type purpose uint8

const (
	forLog purpose = iota // log, manifest and all that names other files
	forFlush
	forCompaction
)

// flushCategory is how Pebble marks the tables of a flush.
const flushCategory = "pebble-memtable-flush"

func purposeOf(name string, c vfs.DiskWriteCategory) purpose {
	switch {
	case !strings.HasSuffix(name, ".sst") && !strings.HasSuffix(name, ".blob"):
		return forLog
	case c == flushCategory:
		return forFlush
	}
	return forCompaction
}

// errBrim stands for the ENOSPC of a table that was not begun.
var errBrim = &os.SyscallError{Syscall: "write", Err: syscall.ENOSPC}

// Waiting says since when writes wait for space; zero: none does.
func (fs *waitingFS) Waiting() time.Time {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.mu.waiting == 0 {
		return time.Time{}
	}
	return fs.mu.since
}

// short says whether something that the store has to write finds no space. It
// asks for itself: when the store is closed nobody looks at the disk any more.
func (fs *waitingFS) short() bool {
	if fs.brim.Load() && fs.look != nil {
		fs.look()
	}
	return !fs.Waiting().IsZero() || fs.brim.Load()
}

// try does what needs space, again and again until it fails for another reason
// or not at all.
func (fs *waitingFS) try(p purpose, name string, do func() error) error {
	if name != fs.dir && fs.PathDir(name) != fs.dir {
		return do()
	}
	if p == forFlush && fs.opening.Load() {
		p = forLog
	}
	if p == forCompaction && fs.brim.Load() {
		time.Sleep(fs.tablePause)
		return errBrim
	}
	err := do()
	if !outOfSpace(err) {
		return err
	}
	fs.brim.Store(true)
	fs.full()
	if p != forCompaction && fs.ballast() {
		if err = do(); !outOfSpace(err) {
			return err
		}
	}
	if p != forLog {
		time.Sleep(fs.tablePause)
		return err
	}
	fs.enter(name)
	defer fs.leave(name, time.Now())
	tick := time.NewTicker(spaceRetry)
	defer tick.Stop()
	for outOfSpace(err) {
		<-tick.C
		err = do()
	}
	return err
}

func (fs *waitingFS) enter(name string) {
	fs.waits.Add(1)
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.mu.waiting++; fs.mu.waiting == 1 {
		fs.mu.since = time.Now()
		fs.log.Error("the disk is full: the store waits until there is space; free some, it goes on by itself", "file", name)
	}
}

func (fs *waitingFS) leave(name string, began time.Time) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.mu.waiting--; fs.mu.waiting == 0 {
		fs.log.Info("there is space on the disk: the store goes on", "file", name, "waited", time.Since(began))
	}
}

// waitingFile is a file of a waitingFS that is written.
type waitingFile struct {
	vfs.File
	fs   *waitingFS
	name string
	by   purpose
}

func (fs *waitingFS) file(by purpose, name string, open func() (vfs.File, error)) (vfs.File, error) {
	var f vfs.File
	err := fs.try(by, name, func() (err error) {
		f, err = open()
		return err
	})
	if err != nil {
		return nil, err
	}
	return &waitingFile{File: f, fs: fs, name: name, by: by}, nil
}

// Create implements vfs.FS.
func (fs *waitingFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.file(purposeOf(name, c), name, func() (vfs.File, error) { return fs.FS.Create(name, c) })
}

// ReuseForWrite implements vfs.FS.
func (fs *waitingFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.file(purposeOf(newname, c), newname, func() (vfs.File, error) { return fs.FS.ReuseForWrite(oldname, newname, c) })
}

// OpenReadWrite implements vfs.FS.
func (fs *waitingFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return fs.file(purposeOf(name, c), name, func() (vfs.File, error) { return fs.FS.OpenReadWrite(name, c, opts...) })
}

// Link implements vfs.FS.
func (fs *waitingFS) Link(oldname, newname string) error {
	return fs.try(forLog, newname, func() error { return fs.FS.Link(oldname, newname) })
}

// Rename implements vfs.FS.
func (fs *waitingFS) Rename(oldname, newname string) error {
	return fs.try(forLog, newname, func() error { return fs.FS.Rename(oldname, newname) })
}

// MkdirAll implements vfs.FS.
func (fs *waitingFS) MkdirAll(dir string, perm os.FileMode) error {
	return fs.try(forLog, dir, func() error { return fs.FS.MkdirAll(dir, perm) })
}

// Remove implements vfs.FS. Some file systems need space to free some.
func (fs *waitingFS) Remove(name string) error {
	return fs.try(forLog, name, func() error { return fs.FS.Remove(name) })
}

// Unwrap implements vfs.FS.
func (fs *waitingFS) Unwrap() vfs.FS { return fs.FS }

// Write implements vfs.File.
func (f *waitingFile) Write(p []byte) (int, error) {
	done := 0
	err := f.fs.try(f.by, f.name, func() error {
		n, err := f.File.Write(p[done:])
		done += n
		if err == nil && done < len(p) {
			return io.ErrShortWrite
		}
		return err
	})
	return done, err
}

// WriteAt implements vfs.File.
func (f *waitingFile) WriteAt(p []byte, off int64) (int, error) {
	done := 0
	err := f.fs.try(f.by, f.name, func() error {
		n, err := f.File.WriteAt(p[done:], off+int64(done))
		done += n
		if err == nil && done < len(p) {
			return io.ErrShortWrite
		}
		return err
	})
	return done, err
}

var _ vfs.FS = (*waitingFS)(nil)
