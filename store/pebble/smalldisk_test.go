package pebble

import (
	"os"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// smallDisk is a file system with little room: a write beyond it is done as far
// as there is some, and then fails with ENOSPC. Files that are linked to count
// once for each name, which is more than a real disk would take.
type smallDisk struct {
	vfs.FS
	mu    sync.Mutex
	room  int64 // what the disk holds
	taken int64 // by whatever else is on it
	sizes map[string]int64
	// met is told of the file of each write that failed, if somebody listens.
	met chan string
}

func newSmallDisk(fs vfs.FS, room int64) *smallDisk {
	return &smallDisk{FS: fs, room: room, sizes: map[string]int64{}, met: make(chan string, 1)}
}

func (d *smallDisk) freeLocked() int64 {
	free := d.room - d.taken
	for _, n := range d.sizes {
		free -= n
	}
	return free
}

func (d *smallDisk) free() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.freeLocked()
}

// fill lets something else on the disk take all but left bytes; a negative left
// is more than there are.
func (d *smallDisk) fill(left int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.taken += d.freeLocked() - left
}

// grow makes the disk n bytes larger.
func (d *smallDisk) grow(n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room += n
}

// clear removes that something.
func (d *smallDisk) clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.taken = 0
}

// GetDiskUsage implements vfs.FS.
func (d *smallDisk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	free := uint64(max(d.freeLocked(), 0))
	return vfs.DiskUsage{AvailBytes: free, TotalBytes: uint64(d.room), UsedBytes: uint64(d.room) - free}, nil
}

// take gives as many of n bytes as there are.
func (d *smallDisk) take(name string, n int64) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	n = min(n, max(d.freeLocked(), 0))
	d.sizes[name] += n
	return n
}

func (d *smallDisk) noSpace(name string) error {
	select {
	case d.met <- name:
	default:
	}
	return &os.PathError{Op: "write", Path: name, Err: syscall.ENOSPC}
}

type smallFile struct {
	vfs.File
	d    *smallDisk
	name string
}

// Write implements vfs.File.
func (f *smallFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p[:f.d.take(f.name, int64(len(p)))])
	if err == nil && n < len(p) {
		err = f.d.noSpace(f.name)
	}
	return n, err
}

// WriteAt implements vfs.File, as if it were behind the file's end.
func (f *smallFile) WriteAt(p []byte, off int64) (int, error) {
	f.d.mu.Lock()
	more := max(off+int64(len(p))-f.d.sizes[f.name], 0)
	f.d.mu.Unlock()
	if f.d.take(f.name, more) < more {
		return 0, f.d.noSpace(f.name)
	}
	return f.File.WriteAt(p, off)
}

// Create implements vfs.FS.
func (d *smallDisk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if d.free() <= 0 {
		return nil, d.noSpace(name)
	}
	f, err := d.FS.Create(name, c)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.sizes[name] = 0
	d.mu.Unlock()
	return &smallFile{f, d, name}, nil
}

// ReuseForWrite implements vfs.FS: a log that is used again takes no space
// until it is longer than before; here it takes it from the beginning.
func (d *smallDisk) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.ReuseForWrite(oldname, newname, c)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	delete(d.sizes, oldname)
	d.sizes[newname] = 0
	d.mu.Unlock()
	return &smallFile{f, d, newname}, nil
}

// Remove implements vfs.FS.
func (d *smallDisk) Remove(name string) error {
	err := d.FS.Remove(name)
	if err == nil {
		d.mu.Lock()
		delete(d.sizes, name)
		d.mu.Unlock()
	}
	return err
}

// Rename implements vfs.FS.
func (d *smallDisk) Rename(oldname, newname string) error {
	err := d.FS.Rename(oldname, newname)
	if err == nil {
		d.mu.Lock()
		d.sizes[newname] = d.sizes[oldname]
		delete(d.sizes, oldname)
		d.mu.Unlock()
	}
	return err
}
