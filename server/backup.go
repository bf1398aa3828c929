package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/door/ops"
	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/archive"
	"github.com/cellardb/cellar/store/pebble"
)

// Folders below the data folder that are there for a while.
const (
	// stagingDir holds the links that a backup is made from.
	stagingDir = "backup.tmp"
	// restoringDir holds a store that is being restored.
	restoringDir = "restore.tmp"
)

// upkeep gives the HTTP port what it verifies and backs up with.
func (s *Server) upkeep() *ops.Upkeep {
	return &ops.Upkeep{Verify: s.verify, Backup: s.backup, BackupTar: s.backupTar, StallTimeout: s.cfg.HTTP.StallTimeout}
}

// openStore gives the store once clients may come.
func (s *Server) openStore() (store.Store, error) {
	if s.state.get() != stateReady || s.store == nil {
		return nil, fmt.Errorf("%w: the store is not open: ask /readyz", store.ErrBusy)
	}
	return s.store, nil
}

func (s *Server) verify(ctx context.Context, o store.VerifyOptions) (store.VerifyReport, error) {
	opened, err := s.openStore()
	if err != nil {
		return store.VerifyReport{}, err
	}
	v, err := store.VerifierOf(opened)
	if err != nil {
		return store.VerifyReport{}, err
	}
	return v.Verify(ctx, o)
}

func (s *Server) backup(ctx context.Context, r ops.BackupRequest, progress func(done, total int64) error) (ops.BackupResult, error) {
	if err := checkBackupPaths(s.folder.path, r.Dir, r.Base); err != nil {
		return ops.BackupResult{}, err
	}
	if err := archive.CheckTarget(r.Dir, r.Discard); err != nil {
		return ops.BackupResult{}, &cell.ArgumentError{Text: err.Error()}
	}
	var result archive.Result
	err := s.staged(ctx, func(from string, info archive.Info) error {
		var err error
		result, err = archive.WriteFolder(ctx, from, r.Dir, archive.WriteOptions{
			Info: info, Base: r.Base, Discard: r.Discard, Rate: r.Rate, Progress: progress,
		})
		return err
	})
	return ops.BackupResult(result), err
}

func (s *Server) backupTar(ctx context.Context, r ops.BackupRequest, open func() interface{ Write([]byte) (int, error) }) error {
	return s.staged(ctx, func(from string, info archive.Info) error {
		_, err := archive.WriteTar(ctx, from, open(), archive.WriteOptions{Info: info, Rate: r.Rate})
		return err
	})
}

// staged copies the store as of now, by links, into the data folder, which is
// on the same file system, and hands the copy over.
func (s *Server) staged(ctx context.Context, do func(from string, info archive.Info) error) error {
	opened, err := s.openStore()
	if err != nil {
		return err
	}
	c, err := store.CheckpointerOf(opened)
	if err != nil {
		return err
	}
	info := s.backupInfo()
	return withStaging(s.folder.path, func(dir string) error {
		begin := time.Now()
		if err := c.Checkpoint(ctx, dir); err != nil {
			return err
		}
		s.log.Info("store is copied for a backup", tookKey, time.Since(begin))
		return do(dir, info)
	})
}

func (s *Server) backupInfo() archive.Info {
	return archive.Info{Cellar: s.build.Version, Engine: s.cfg.Engine, Format: FormatVersion, Taken: time.Now().UTC()}
}

// withStaging calls do with a folder that may be made, and removes it after.
func withStaging(data string, do func(dir string) error) error {
	dir := filepath.Join(data, stagingDir)
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove what an interrupted backup left: %w", err)
	}
	err := do(dir)
	if rerr := os.RemoveAll(dir); err == nil && rerr != nil {
		err = fmt.Errorf("remove the links of the backup: %w", rerr)
	}
	return err
}

// clearStaging removes what a process that was killed left of a backup: links
// that hold space. A store that was being restored is refused.
func clearStaging(data string) error {
	if err := os.RemoveAll(filepath.Join(data, stagingDir)); err != nil {
		return fmt.Errorf("remove what an interrupted backup left: %w", err)
	}
	if _, err := os.Lstat(filepath.Join(data, restoringDir)); err == nil {
		return fmt.Errorf("%s is left of a restore that was interrupted: repeat the restore, or remove it", filepath.Join(data, restoringDir))
	}
	return nil
}

// checkBackupPaths refuses what a backup must not write to: whoever reaches the
// HTTP port names paths on this machine.
func checkBackupPaths(data, dir, base string) error {
	refuse := func(format string, args ...any) error { return &cell.ArgumentError{Text: fmt.Sprintf(format, args...)} }
	for _, path := range []string{dir, base} {
		if path != "" && (!filepath.IsAbs(path) || filepath.Clean(path) != path) {
			return refuse("%q is no absolute path in its plain form: the server's own folder is not the caller's", path)
		}
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(dir))
	if err != nil {
		return refuse("the folder that %s is to be made in: %v", dir, err)
	}
	real, err := filepath.EvalSymlinks(data)
	if err != nil {
		return fmt.Errorf("find the data folder: %w", err)
	}
	if rel, err := filepath.Rel(real, parent); err == nil && (rel == "." || rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))) {
		return refuse("%s lies in the data folder %s: a backup beside it can share its files as well", dir, data)
	}
	return nil
}

// BackupTarget says where a backup of a closed store goes.
type BackupTarget struct {
	// Dir is the folder to make. Empty: Out takes a tar stream.
	Dir string
	Out io.Writer
	// Base, Discard, Rate and Progress are as in archive.WriteOptions.
	Base     string
	Discard  bool
	Rate     int64
	Progress func(done, total int64) error
}

// BackupStore backs up the store of a data folder on which no server runs. The
// store is not opened, and not changed. Errors are those of OpenStore, and those
// of package archive.
func BackupStore(ctx context.Context, cfg Config, build Build, to BackupTarget) (result archive.Result, err error) {
	if to.Dir != "" {
		if to.Dir, err = filepath.Abs(to.Dir); err != nil {
			return result, err
		}
		if err := archive.CheckTarget(to.Dir, to.Discard); err != nil {
			return result, err
		}
	}
	s, done, err := closedStore(cfg, build, "backup")
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, done()) }()
	if to.Dir != "" {
		if err := checkBackupPaths(s.folder.path, to.Dir, ""); err != nil {
			return result, err
		}
	}
	o := archive.WriteOptions{Info: s.backupInfo(), Base: to.Base, Discard: to.Discard, Rate: to.Rate, Progress: to.Progress}
	err = withStaging(s.folder.path, func(dir string) error {
		err := pebble.CheckpointClosed(ctx, s.pebbleOptions(), dir)
		switch {
		case err != nil:
		case to.Dir != "":
			result, err = archive.WriteFolder(ctx, dir, to.Dir, o)
		default:
			result, err = archive.WriteTar(ctx, dir, to.Out, o)
		}
		return err
	})
	return result, err
}

// VerifyStore looks at the store of a data folder on which no server runs.
// Errors are those of OpenStore; what is wrong with the store is none.
func VerifyStore(ctx context.Context, cfg Config, o store.VerifyOptions) (report store.VerifyReport, err error) {
	s, done, err := closedStore(cfg, Build{}, "verify")
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, done()) }()
	return pebble.Verify(ctx, s.pebbleOptions(), o)
}

// UpgradePlan says what an upgrade does, or did.
type UpgradePlan = pebble.UpgradePlan

// UpgradeStore raises the store of a data folder on which no server runs to the
// newest format; with dryRun it only says what it would do.
func UpgradeStore(ctx context.Context, cfg Config, dryRun bool) (plan UpgradePlan, err error) {
	s, done, err := closedStore(cfg, Build{}, "upgrade")
	if err != nil {
		return plan, err
	}
	defer func() { err = errors.Join(err, done()) }()
	return pebble.Upgrade(ctx, s.pebbleOptions(), dryRun)
}

// closedStore takes a data folder with a store that no server has open.
func closedStore(cfg Config, build Build, tool string) (s *Server, done func() error, err error) {
	if s, err = New(cfg, Options{Build: build}); err != nil {
		return nil, nil, err
	}
	if s.cfg.Engine == EngineMemory {
		return nil, nil, ErrKeepsNothing
	}
	if err := s.refuseSecond(); err != nil {
		return nil, nil, err
	}
	if _, err := os.Stat(filepath.Join(s.cfg.Data, storeDir)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("there is no store in %s: %w", s.cfg.Data, fs.ErrNotExist)
	} else if err != nil {
		return nil, nil, fmt.Errorf("look for the store: %w", err)
	}
	if s.folder, err = openFolder(s.cfg.Data); err != nil {
		return nil, nil, err
	}
	who := s.running()
	who.Tool = tool
	if err := s.folder.announce(who); err != nil {
		return nil, nil, errors.Join(err, s.folder.close())
	}
	return s, s.folder.close, nil
}

// VerifyBackup looks at a backup in a folder: the sum of each file, and the
// store that they are. Nothing is written into it.
func VerifyBackup(ctx context.Context, dir string, o store.VerifyOptions) (store.VerifyReport, error) {
	var sums store.VerifyReport
	m, err := archive.Check(ctx, dir, archive.ReadOptions{}, func(path, what string) {
		f := store.Fault{Kind: store.FaultDamage, File: path, Offset: -1, What: what}
		sums.Count(f.Kind)
		if o.Found != nil {
			o.Found(f)
		}
	})
	if err != nil {
		return sums, err
	}
	if m.Format > FormatVersion {
		return sums, fmt.Errorf("%w: the backup in %s has format %d", store.ErrNewerFormat, dir, m.Format)
	}
	o.ReadOnly = true
	report, err := pebble.Verify(ctx, pebble.Options{Dir: filepath.Join(dir, archive.StoreDir)}, o)
	report.Damaged += sums.Damaged
	return report, err
}
