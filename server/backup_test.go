package server

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/door/ops"
	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/archive"
)

// Where a caller of the HTTP port may have a backup made.
func TestBackupPathsThatAreRefused(t *testing.T) {
	root := t.TempDir()
	data := filepath.Join(root, "data")
	for _, dir := range []string{filepath.Join(data, "store"), filepath.Join(root, "backups")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(data, "store"), filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name, dir, base string
		ok              bool
	}{
		{"beside the data", root + "/b", "", true},
		{"elsewhere", root + "/backups/b", root + "/backups/a", true},
		{"a name that begins like the data's", root + "/data-backup", "", true},
		{"relative", "b", "", false},
		{"with a way back", root + "/backups/../b", "", false},
		{"relative base", root + "/b", "a", false},
		{"in the data", data + "/b", "", false},
		{"in the store", data + "/store/b", "", false},
		{"the data", data, "", true}, // it exists: refused by that
		{"in the store by a link", root + "/link/b", "", false},
		{"in a folder that is not there", root + "/no/b", "", false},
	}
	for _, c := range cases {
		if err := checkBackupPaths(data, c.dir, c.base); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if len(cases) != 11 {
		t.Errorf("%d cases", len(cases))
	}
}

// filledData makes a data folder with one table of one row, closed.
func filledData(t *testing.T) Config {
	t.Helper()
	ctx := context.Background()
	cfg := Config{Data: filepath.Join(t.TempDir(), "data"), Memory: MinMemory}
	cfg.Thrift1.Addr, cfg.HTTP.Addr = "127.0.0.1:0", "127.0.0.1:0"
	off, err := OpenStore(ctx, cfg, OfflineOptions{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	schema := cell.TableSchema{Name: "t", Families: []cell.FamilySchema{cell.NewFamily("f")}}
	if err := off.CreateTable(ctx, schema, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := off.Apply(ctx, "t", []cell.Mutation{*cell.NewMutation([]byte("r")).Put([]byte("f"), nil, 1, []byte("v"))}); err != nil {
		t.Fatal(err)
	}
	if err := off.Close(); err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestRestoreRefusals(t *testing.T) {
	ctx := context.Background()
	cfg := filledData(t)
	backup := filepath.Join(t.TempDir(), "b")
	if _, err := BackupStore(ctx, cfg, Build{Version: "v1"}, BackupTarget{Dir: backup}); err != nil {
		t.Fatal(err)
	}
	target := func() Config { return Config{Data: filepath.Join(t.TempDir(), "r"), Memory: MinMemory} }
	from := RestoreSource{Dir: backup}

	if _, err := Restore(ctx, cfg, from); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("over a store: %v", err)
	}
	full := target()
	if err := os.MkdirAll(filepath.Join(full.Data, "photos"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(ctx, full, from); !errors.Is(err, ErrNotEmpty) || !strings.Contains(err.Error(), "photos") {
		t.Errorf("beside photos: %v", err)
	}
	if _, err := os.Stat(filepath.Join(full.Data, lockFile)); err == nil {
		t.Error("a lock was left in a folder that was refused")
	}
	// A file system of its own has a folder of its own.
	disk := target()
	if err := os.MkdirAll(filepath.Join(disk.Data, "lost+found"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(ctx, disk, from); err != nil {
		t.Errorf("onto a new disk: %v", err)
	}
	// An interrupted restore is gone on with; a server does not start on it.
	left := target()
	if err := os.MkdirAll(filepath.Join(left.Data, restoringDir, storeDir), 0o700); err != nil {
		t.Fatal(err)
	}
	left.Thrift1.Addr, left.HTTP.Addr = "127.0.0.1:0", "127.0.0.1:0"
	s, err := New(left, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(ctx); err == nil || !strings.Contains(err.Error(), "restore that was interrupted") {
		t.Errorf("a server starts: %v", err)
	}
	if done, err := Restore(ctx, left, from); err != nil || done.Report.Cells != 1 || done.Manifest.Cellar != "v1" {
		t.Errorf("%+v, %v", done, err)
	}
	// What is of a newer version is named by it.
	info := archive.Info{Cellar: "v77", Engine: EnginePebble, Format: FormatVersion + 1}
	newer := filepath.Join(t.TempDir(), "newer")
	if _, err := archive.WriteFolder(ctx, filepath.Join(backup, archive.StoreDir), newer, archive.WriteOptions{Info: info}); err != nil {
		t.Fatal(err)
	}
	into := target()
	if _, err := Restore(ctx, into, RestoreSource{Dir: newer}); !errors.Is(err, store.ErrNewerFormat) || !strings.Contains(err.Error(), "v77") {
		t.Errorf("newer: %v", err)
	}
	// Sums that are right do not make a store.
	files := t.TempDir()
	if err := os.WriteFile(filepath.Join(files, "CELLAR"), []byte(`{"format":1,"engine":"pebble"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	unsound := filepath.Join(t.TempDir(), "unsound")
	info.Format = FormatVersion
	if _, err := archive.WriteFolder(ctx, files, unsound, archive.WriteOptions{Info: info}); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(ctx, into, RestoreSource{Dir: unsound}); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("no store: %v", err)
	}
	for _, left := range []string{storeDir, restoringDir} {
		if _, err := os.Stat(filepath.Join(into.Data, left)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a refused restore leaves %s: %v", left, err)
		}
	}
}

// A backup of a live store to another file system is copied from links beside the
// store, which are gone then: the store's own copying ends before a byte is moved.
func TestBackupElsewhereIsCopiedFromLinks(t *testing.T) {
	ctx := context.Background()
	elsewhere, err := os.MkdirTemp("/dev/shm", "cellar-test-")
	if err != nil {
		t.Skip("no second file system here: ", err)
	}
	t.Cleanup(func() { os.RemoveAll(elsewhere) })
	cfg := filledData(t)
	if os.Link(filepath.Join(cfg.Data, storeDir, "CELLAR"), filepath.Join(elsewhere, "probe")) == nil {
		t.Skip("/dev/shm is the temporary folder's file system")
	}
	s, err := New(cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	staging, tables := filepath.Join(cfg.Data, stagingDir), 0
	result, err := s.backup(ctx, ops.BackupRequest{Dir: filepath.Join(elsewhere, "b")}, func(done, total int64) error {
		if done < total {
			return nil
		}
		names, err := filepath.Glob(filepath.Join(staging, "*.sst"))
		if err != nil {
			return err
		}
		for _, name := range names {
			link, err1 := os.Stat(name)
			own, err2 := os.Stat(filepath.Join(cfg.Data, storeDir, filepath.Base(name)))
			if err1 != nil || err2 != nil || !os.SameFile(link, own) {
				t.Errorf("%s is no link to the store's: %v, %v", name, err1, err2)
			}
			tables++
		}
		return nil
	})
	if err != nil || result.Linked != 0 || result.Copied != result.Bytes || result.Copied == 0 || tables == 0 {
		t.Errorf("%+v, %d tables seen, %v", result, tables, err)
	}
	if _, err := os.Lstat(staging); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the links are left: %v", err)
	}
	if err := s.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
}

// What a killed process left of a backup goes at the next start, and with the
// next backup.
func TestStagingIsCleared(t *testing.T) {
	data := t.TempDir()
	left := filepath.Join(data, stagingDir)
	fill := func() {
		t.Helper()
		if err := errors.Join(os.MkdirAll(left, 0o700), os.WriteFile(filepath.Join(left, "old"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	fill()
	if err := clearStaging(data); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a start leaves it: %v", err)
	}
	fill()
	stop := errors.New("stop")
	err := withStaging(data, func(dir string) error {
		if _, err := os.Lstat(dir); dir != left || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a backup begins upon %s: %v", dir, err)
		}
		fill()
		return stop
	})
	if !errors.Is(err, stop) {
		t.Error(err)
	}
	if _, err := os.Lstat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("one that failed leaves it: %v", err)
	}
}

// While a command has the folder a server does not start, and the other way
// round; the engine that keeps nothing is refused.
func TestClosedStoreIsTakenAlone(t *testing.T) {
	ctx := context.Background()
	cfg := filledData(t)
	s, err := New(cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func() error{
		"verify":  func() error { _, err := VerifyStore(ctx, cfg, store.VerifyOptions{}); return err },
		"upgrade": func() error { _, err := UpgradeStore(ctx, cfg, true); return err },
		"restore": func() error { _, err := Restore(ctx, cfg, RestoreSource{Dir: "x"}); return err },
		"backup": func() error {
			_, err := BackupStore(ctx, cfg, Build{}, BackupTarget{Dir: filepath.Join(t.TempDir(), "b")})
			return err
		},
	} {
		if err := do(); !errors.Is(err, ErrRunning) {
			t.Errorf("%s beside a server: %v", name, err)
		}
	}
	if err := s.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	_, err = VerifyStore(ctx, cfg, store.VerifyOptions{Progress: func(int64, int64) error {
		if _, err := OpenStore(ctx, cfg, OfflineOptions{}); !errors.Is(err, ErrRunning) || !strings.Contains(err.Error(), "cellar verify") {
			t.Errorf("opened beside verify: %v", err)
		}
		return nil
	}})
	if err != nil {
		t.Error(err)
	}
	memory := cfg
	memory.Engine = EngineMemory
	if _, err := VerifyStore(ctx, memory, store.VerifyOptions{}); !errors.Is(err, ErrKeepsNothing) {
		t.Errorf("%v", err)
	}
}

// A server of an engine that keeps nothing says so.
func TestUpkeepOfMemory(t *testing.T) {
	ctx := context.Background()
	cfg := Config{Data: t.TempDir(), Memory: MinMemory, Engine: EngineMemory}
	cfg.Thrift1.Addr, cfg.HTTP.Addr = "127.0.0.1:0", "127.0.0.1:0"
	s, err := New(cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.verify(ctx, store.VerifyOptions{}); !errors.Is(err, store.ErrBusy) {
		t.Errorf("before the start: %v", err)
	}
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := s.verify(ctx, store.VerifyOptions{}); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("verify: %v", err)
	}
	if _, err := s.backup(ctx, ops.BackupRequest{Dir: filepath.Join(t.TempDir(), "b")}, nil); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("backup: %v", err)
	}
	if err := s.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := s.verify(ctx, store.VerifyOptions{}); !errors.Is(err, store.ErrBusy) {
		t.Errorf("after the end: %v", err)
	}
	if got := s.upkeep().StallTimeout; got != time.Minute {
		t.Errorf("a client may stall for %v", got)
	}
}

// A backup is looked at as files with sums, and as a store; a newer one is
// refused.
func TestVerifyBackup(t *testing.T) {
	ctx := context.Background()
	cfg := filledData(t)
	dir := filepath.Join(t.TempDir(), "b")
	if _, err := BackupStore(ctx, cfg, Build{}, BackupTarget{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	if r, err := VerifyBackup(ctx, dir, store.VerifyOptions{}); err != nil || !r.Sound() || r.Cells != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	// What the manifest does not name is no fault of a store.
	if err := os.WriteFile(filepath.Join(dir, archive.StoreDir, "holiday.jpg"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	found := 0
	r, err := VerifyBackup(ctx, dir, store.VerifyOptions{Found: func(f store.Fault) {
		if f.Kind == store.FaultDamage {
			found++
		}
	}})
	if err != nil || r.Sound() || r.Damaged != 1 || found != 1 {
		t.Errorf("%+v, %d found, %v", r, found, err)
	}
	newer := filepath.Join(t.TempDir(), "newer")
	info := archive.Info{Engine: EnginePebble, Format: FormatVersion + 1}
	if _, err := archive.WriteFolder(ctx, filepath.Join(dir, archive.StoreDir), newer, archive.WriteOptions{Info: info}); err != nil {
		t.Fatal(err)
	}
	if _, err := VerifyBackup(ctx, newer, store.VerifyOptions{}); !errors.Is(err, store.ErrNewerFormat) {
		t.Errorf("a newer one: %v", err)
	}
}
