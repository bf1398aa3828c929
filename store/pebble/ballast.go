package pebble

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// ballast is a file without a meaning that takes space, to be removed when
// there is none left: the log then has room for what was admitted, and for
// dropping a table. It is made anew once writes are admitted again.
type ballast struct {
	fs   vfs.FS // not the one that waits
	name string
	size int64
	mu   struct {
		sync.Mutex
		there bool
	}
}

// ballastName is the file's name in the folder of the store. Pebble leaves
// files alone whose names it does not know.
const ballastName = "ballast"

// A ballast is an eighth of the reserve, and not more than mostBallast: the log
// of some minutes of administration.
const mostBallast = 64 << 20

func newBallast(fs vfs.FS, dir string, reserve uint64) *ballast {
	return &ballast{fs: fs, name: fs.PathJoin(dir, ballastName), size: int64(min(reserve/8, mostBallast))}
}

// make writes the file, unless it is there. A part of one is made anew.
func (b *ballast) make() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.there || b.size == 0 {
		return nil
	}
	if info, err := b.fs.Stat(b.name); err == nil && info.Size() == b.size {
		b.mu.there = true
		return nil
	}
	if err := b.write(); err != nil {
		return errors.Join(fmt.Errorf("make the ballast: %w", err), b.remove())
	}
	b.mu.there = true
	return nil
}

// write takes the space: by asking the system for it, where it is known to give
// it without the bytes being written, else by writing them.
func (b *ballast) write() error {
	f, err := b.fs.Create(b.name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if runtime.GOOS == "linux" && f.Preallocate(0, b.size) == nil {
		_, err = f.WriteAt([]byte{0}, b.size-1)
		return errors.Join(err, f.Close())
	}
	zeros := make([]byte, min(b.size, 1<<20))
	for left := b.size; left > 0 && err == nil; left -= int64(len(zeros)) {
		_, err = f.Write(zeros[:min(left, int64(len(zeros)))])
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func (b *ballast) remove() error {
	if err := b.fs.Remove(b.name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// giveUp removes the file, and says whether it was there.
func (b *ballast) giveUp() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, err := b.fs.Stat(b.name)
	if err != nil || b.remove() != nil {
		return false
	}
	b.mu.there = false
	return true
}
