package pebble

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/store"
)

var _ store.Checkpointer = (*Store)(nil)

// Checkpoint implements store.Checkpointer. Sstables are hard links into the
// store; the manifest up to the moment of the copy, and the logs, are copies,
// since they change. The newest log is cut behind its last whole record: what
// was being written to it was not acknowledged before the call began.
//
// Dropped tables do not go while it lasts: a log is copied a moment later than
// the list of sstables is taken, so a copy could have the end of a mark in its
// log and the cells that it stood for in its sstables.
func (s *Store) Checkpoint(ctx context.Context, dir string) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.gate.RUnlock()
	s.dropping.Lock()
	defer s.dropping.Unlock()
	if err := s.checkpoint(dir); err != nil {
		return fmt.Errorf("copy the store to %s: %w", dir, err)
	}
	return nil
}

func (s *Store) checkpoint(dir string) error {
	// What is acknowledged by now lies before this place of the newest log, or is
	// completed by the sync that follows.
	log, end := s.fs.logEnd()
	if err := s.db.Checkpoint(dir, pebbledb.WithFlushedWAL()); err != nil {
		return storeError(err)
	}
	if err := finishCopy(s.fs, s.opts.Dir, dir, &logEnd{log, end}); err != nil {
		return errors.Join(err, s.fs.RemoveAll(dir))
	}
	return nil
}

// logEnd is a log and the place up to which it must be whole.
type logEnd struct {
	name string
	end  int64
}

// finishCopy adds what Pebble does not know of to its copy of a store; live is
// nil for the copy of a closed one.
func finishCopy(fs vfs.FS, from, dir string, live *logEnd) error {
	if err := cutNewestLog(fs, dir, live); err != nil {
		return err
	}
	format, err := readFile(fs, fs.PathJoin(from, formatFile))
	if err != nil {
		return err
	}
	if err := writeWhole(fs, dir, fs.PathJoin(dir, formatFile), format); err != nil {
		return err
	}
	return writeSums(fs, dir)
}

// CheckpointClosed is Checkpoint for the store that the options name, which
// nobody has open. It does not open it: a log that was not replayed stays one.
// A store that could not be opened is refused.
func CheckpointClosed(ctx context.Context, opts Options, dir string) (err error) {
	o, err := opts.withDefaults()
	if err != nil {
		return err
	}
	if _, err := o.FS.Stat(o.Dir); err != nil {
		return fmt.Errorf("copy the store: %w", err)
	}
	lock, err := lockFolder(o.FS, o.Dir)
	if err != nil {
		return err
	}
	defer func() { err = closeWith(lock, err) }()
	names, err := o.FS.List(o.Dir)
	if err != nil {
		return fmt.Errorf("copy the store: %w", err)
	}
	if _, strange := onlyFiles(o.FS, o.Dir, names); len(strange) > 0 {
		return fmt.Errorf("%w: %s is %s and no regular file", store.ErrCorrupt, o.FS.PathJoin(o.Dir, strange[0].name), strange[0].kind)
	}
	desc, err := pebbledb.Peek(o.Dir, o.FS)
	if err != nil {
		return openError(err)
	}
	if !desc.Exists {
		return fmt.Errorf("copy the store: there is none in %s", o.Dir)
	}
	if err := checkFormat(o.FS, o.Dir); err != nil {
		return err
	}
	if err := checkFiles(o.FS, o.Dir); err != nil {
		return err
	}
	if err := copyClosed(ctx, o.FS, o.Dir, dir); err != nil {
		return errors.Join(fmt.Errorf("copy the store to %s: %w", dir, err), o.FS.RemoveAll(dir))
	}
	return nil
}

func copyClosed(ctx context.Context, fs vfs.FS, from, dir string) error {
	names, err := fs.List(from)
	if err != nil {
		return err
	}
	slices.Sort(names)
	if err := fs.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	// What is written is synced before it is closed.
	synced := vfs.NewSyncingFS(fs, vfs.SyncingFileOptions{})
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, isLog := logNumber(name)
		var err error
		switch {
		case strings.HasSuffix(name, ".sst"), strings.HasSuffix(name, ".blob"):
			err = vfs.LinkOrCopy(synced, fs.PathJoin(from, name), fs.PathJoin(dir, name))
		case isLog, strings.HasPrefix(name, "MANIFEST-"), strings.HasPrefix(name, "OPTIONS-"), strings.HasPrefix(name, "marker."):
			err = vfs.Copy(synced, fs.PathJoin(from, name), fs.PathJoin(dir, name))
		}
		if err != nil {
			return err
		}
	}
	return finishCopy(fs, from, dir, nil)
}

// cutNewestLog takes away what follows the last whole record of the newest log
// of a copy: part of a record, or what an earlier log left in the file. In the
// copy of a live log that may be anything from the place on up to which it was
// written before, since it was written to while it was read; up to there, and in
// a closed store everywhere, a bad record is damage.
func cutNewestLog(fs vfs.FS, dir string, live *logEnd) error {
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	newest, number := "", uint32(0)
	for _, name := range names {
		if n, ok := logNumber(name); ok && n >= number {
			newest, number = name, n
		}
	}
	if newest == "" {
		return nil
	}
	path := fs.PathJoin(dir, newest)
	format, err := formatOf(fs, path, number)
	if err != nil {
		return err
	}
	w := &recordWalk{format: format}
	size, err := walkFile(fs, path, w)
	switch {
	case err != nil:
		return err
	case live != nil && live.name == newest && w.whole < live.end:
		return fmt.Errorf("%w: %s has a bad record at offset %d, and was written up to %d", store.ErrCorrupt, newest, w.whole, live.end)
	case live == nil:
		for _, f := range w.faults {
			if f.kind == store.FaultDamage {
				return fmt.Errorf("%w: %s at offset %d: %s", store.ErrCorrupt, newest, f.offset, f.what)
			}
		}
	}
	if w.whole == size {
		return nil
	}
	return cutFile(fs, dir, path, w.whole)
}

// cutFile shortens a file.
func cutFile(fs vfs.FS, dir, path string, size int64) error {
	from, err := fs.Open(path, vfs.SequentialReadsOption)
	if err != nil {
		return err
	}
	tmp := path + ".new"
	to, err := fs.Create(tmp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return closeWith(from, err)
	}
	_, err = io.CopyN(to, from, size)
	if err == nil {
		err = to.Sync()
	}
	err = closeWith(from, closeWith(to, err))
	if err == nil {
		err = fs.Rename(tmp, path)
	}
	if err == nil {
		err = syncDir(fs, dir)
	}
	if err != nil {
		return fmt.Errorf("cut the copy of %s: %w", path, err)
	}
	return nil
}
