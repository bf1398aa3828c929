package pebble

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// watchedFS counts and, where asked, delays syncs, and counts what is read and
// written. With lazyWAL a sync of a log returns once the operating system has
// the bytes; syncLogs makes good for it.
type watchedFS struct {
	vfs.FS
	dir     string // of the store; logs of copies are not its own
	delay   time.Duration
	lazyWAL bool

	logSyncs, fileSyncs     atomic.Int64
	bytesRead, bytesWritten atomic.Int64
	logBytes                atomic.Int64
	mu                      sync.Mutex
	unsynced                map[*watchedFile]struct{}   // logs, with lazyWAL
	newest                  atomic.Pointer[watchedFile] // the log that was begun last
}

func (fs *watchedFS) wrap(f vfs.File, name string, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return &watchedFile{File: f, fs: fs, log: strings.HasSuffix(name, ".log")}, nil
}

// begin wraps a file that is written from its beginning.
func (fs *watchedFS) begin(f vfs.File, name string, err error) (vfs.File, error) {
	file, err := fs.wrap(f, name, err)
	if w, ok := file.(*watchedFile); ok && w.log && fs.PathDir(name) == fs.dir {
		w.name = fs.PathBase(name)
		fs.newest.Store(w)
	}
	return file, err
}

// logEnd gives the newest log and how many bytes were written to it: what was
// begun to be written by now ends at or behind that place.
func (fs *watchedFS) logEnd() (name string, end int64) {
	if f := fs.newest.Load(); f != nil {
		return f.name, f.written.Load()
	}
	return "", 0
}

// Create implements vfs.FS.
func (fs *watchedFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.Create(name, c)
	return fs.begin(f, name, err)
}

// ReuseForWrite implements vfs.FS.
func (fs *watchedFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.ReuseForWrite(oldname, newname, c)
	return fs.begin(f, newname, err)
}

// Open implements vfs.FS.
func (fs *watchedFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := fs.FS.Open(name, opts...)
	return fs.wrap(f, name, err)
}

// OpenReadWrite implements vfs.FS.
func (fs *watchedFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := fs.FS.OpenReadWrite(name, c, opts...)
	return fs.wrap(f, name, err)
}

// OpenDir implements vfs.FS.
func (fs *watchedFS) OpenDir(name string) (vfs.File, error) {
	f, err := fs.FS.OpenDir(name)
	return fs.wrap(f, name, err)
}

// Unwrap implements vfs.FS.
func (fs *watchedFS) Unwrap() vfs.FS { return fs.FS }

// syncLogs syncs the logs whose syncs were put off. One that cannot be synced
// stays among them.
func (fs *watchedFS) syncLogs() error {
	fs.mu.Lock()
	files := make([]*watchedFile, 0, len(fs.unsynced))
	for f := range fs.unsynced {
		files = append(files, f)
	}
	fs.mu.Unlock()
	var first error
	for _, f := range files {
		if err := f.syncLate(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// watchedFile is one file of a watchedFS.
type watchedFile struct {
	vfs.File
	fs      *watchedFS
	log     bool
	mu      sync.Mutex // with lazyWAL: a log is not closed while it is synced
	dirty   bool       // a sync was put off
	closed  bool
	name    string       // of a log that is written
	written atomic.Int64 // to a log
}

// Read implements vfs.File.
func (f *watchedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.fs.bytesRead.Add(int64(n))
	return n, err
}

// ReadAt implements vfs.File.
func (f *watchedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	f.fs.bytesRead.Add(int64(n))
	return n, err
}

// Write implements vfs.File.
func (f *watchedFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.fs.bytesWritten.Add(int64(n))
	if f.log {
		f.fs.logBytes.Add(int64(n))
		f.written.Add(int64(n))
	}
	return n, err
}

// Sync implements vfs.File.
func (f *watchedFile) Sync() error { return f.sync(f.File.Sync) }

// SyncData implements vfs.File.
func (f *watchedFile) SyncData() error { return f.sync(f.File.SyncData) }

// SyncTo implements vfs.File.
func (f *watchedFile) SyncTo(length int64) (bool, error) {
	if f.log && f.fs.lazyWAL {
		return false, nil
	}
	full, err := f.File.SyncTo(length)
	if full {
		f.count()
		time.Sleep(f.fs.delay)
	}
	return full, err
}

func (f *watchedFile) count() {
	if f.log {
		f.fs.logSyncs.Add(1)
	} else {
		f.fs.fileSyncs.Add(1)
	}
}

func (f *watchedFile) sync(do func() error) error {
	if f.log && f.fs.lazyWAL {
		f.mu.Lock()
		f.dirty = true
		f.mu.Unlock()
		f.fs.mu.Lock()
		if f.fs.unsynced == nil {
			f.fs.unsynced = map[*watchedFile]struct{}{}
		}
		f.fs.unsynced[f] = struct{}{}
		f.fs.mu.Unlock()
		return nil
	}
	f.count()
	if f.fs.delay > 0 {
		time.Sleep(f.fs.delay)
	}
	return do()
}

// syncLate makes good for the syncs that were put off.
func (f *watchedFile) syncLate() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.syncLocked()
}

func (f *watchedFile) syncLocked() error {
	if f.closed || !f.dirty {
		return nil
	}
	f.count()
	if err := f.File.SyncData(); err != nil {
		return err
	}
	f.dirty = false
	f.fs.mu.Lock()
	delete(f.fs.unsynced, f)
	f.fs.mu.Unlock()
	return nil
}

// Close implements vfs.File. A log whose syncs were put off is synced first.
func (f *watchedFile) Close() error {
	if !f.log || !f.fs.lazyWAL {
		return f.File.Close()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.syncLocked()
	f.closed = true
	f.fs.mu.Lock()
	delete(f.fs.unsynced, f)
	f.fs.mu.Unlock()
	if cerr := f.File.Close(); err == nil {
		err = cerr
	}
	return err
}
