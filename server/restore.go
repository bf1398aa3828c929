package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/archive"
	"github.com/cellardb/cellar/store/pebble"
)

// ErrNotEmpty refuses to restore into a folder that holds something.
var ErrNotEmpty = errors.New("the data folder is not empty")

// RestoreSource is a backup: a folder, or a tar stream.
type RestoreSource struct {
	// Dir is the folder; empty: Tar is read.
	Dir string
	Tar io.Reader
	// Rate and Progress are as in archive.ReadOptions.
	Rate     int64
	Progress func(done, total int64) error
}

// Restored says what was restored.
type Restored struct {
	Manifest archive.Manifest   `json:"manifest"`
	Report   store.VerifyReport `json:"report"`
}

// Restore makes the store of a data folder from a backup. The folder must hold
// nothing, or not be there; it is locked as by a server. The files are written
// into a folder below it, every sum is checked, the store is looked at whole,
// and only then it gets its name: a process that ends before leaves no store.
// The next restore to the folder removes what it left.
//
// Errors: a RunningError; ErrNotEmpty; store.ErrNewerFormat and those of package
// archive; store.ErrCorrupt where the sums are right and the store is not.
func Restore(ctx context.Context, cfg Config, from RestoreSource) (done Restored, err error) {
	s, err := New(cfg, Options{})
	if err != nil {
		return done, err
	}
	if err := s.refuseSecond(); err != nil {
		return done, err
	}
	if err := wantEmpty(s.cfg.Data); err != nil {
		return done, err
	}
	if s.folder, err = openFolder(s.cfg.Data); err != nil {
		return done, err
	}
	defer func() {
		// The folder and its lock stay: a lock file that is removed excludes nobody.
		err = errors.Join(err, s.folder.close())
	}()
	// Again, now that nobody else writes to it.
	if err := wantEmpty(s.folder.path); err != nil {
		return done, err
	}
	who := s.running()
	who.Tool = "restore"
	if err := s.folder.announce(who); err != nil {
		return done, err
	}
	return s.restore(ctx, from)
}

// wantEmpty refuses a data folder that holds anything but the lock and what an
// interrupted restore left; it need not exist.
func wantEmpty(data string) error {
	entries, err := os.ReadDir(data)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the data folder: %w", err)
	}
	for _, e := range entries {
		switch e.Name() {
		case lockFile, runFile, restoringDir, "lost+found": // the last is a file system's own
		default:
			return fmt.Errorf("%w: %s holds %s", ErrNotEmpty, data, e.Name())
		}
	}
	return nil
}

func (s *Server) restore(ctx context.Context, from RestoreSource) (done Restored, err error) {
	temp := filepath.Join(s.folder.path, restoringDir)
	if err := os.RemoveAll(temp); err != nil {
		return done, fmt.Errorf("remove what an interrupted restore left: %w", err)
	}
	defer func() {
		if rerr := os.RemoveAll(temp); err == nil {
			err = rerr
		}
	}()
	files := filepath.Join(temp, storeDir)
	if err := os.MkdirAll(files, 0o750); err != nil {
		return done, err
	}
	o := archive.ReadOptions{Rate: from.Rate, Progress: from.Progress}
	var m *archive.Manifest
	if from.Dir != "" {
		// Before a byte is copied, where that can be told.
		if m, err = archive.ReadManifest(from.Dir); err == nil {
			err = wantKnown(m)
		}
		if err == nil {
			m, err = archive.ExtractFolder(ctx, from.Dir, files, o)
		}
	} else {
		m, err = archive.ExtractTar(ctx, from.Tar, files, o)
	}
	if err == nil {
		err = wantKnown(m)
	}
	if err != nil {
		return done, err
	}
	done.Manifest = *m
	if done.Report, err = verifyRestored(ctx, files); err != nil {
		return done, err
	}
	if err := os.Rename(files, filepath.Join(s.folder.path, storeDir)); err != nil {
		return done, fmt.Errorf("move the store into place: %w", err)
	}
	return done, syncFolder(s.folder.path)
}

// wantKnown refuses a backup of a store that this program cannot open.
func wantKnown(m *archive.Manifest) error {
	if m.Format > FormatVersion || m.Engine != EnginePebble {
		return fmt.Errorf("%w: cellar %s made the backup, of format %d of engine %q; this program reads formats up to %d of engine %q: use a newer one",
			store.ErrNewerFormat, m.Cellar, m.Format, m.Engine, FormatVersion, EnginePebble)
	}
	return nil
}

// verifyRestored wants the store to be sound.
func verifyRestored(ctx context.Context, dir string) (store.VerifyReport, error) {
	var first *store.Fault
	report, err := pebble.Verify(ctx, pebble.Options{Dir: dir}, store.VerifyOptions{ReadOnly: true, Found: func(f store.Fault) {
		if first == nil && f.Kind != store.FaultNote {
			first = &f
		}
	}})
	if err == nil && !report.Sound() {
		err = fmt.Errorf("%w: the files are as they were backed up, and the store in them is not sound: %d faults, the first: %s", store.ErrCorrupt, report.Damaged+report.Unfinished, first)
	}
	return report, err
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
