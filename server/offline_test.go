package server

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// A store that a command filled is a server's afterwards, and the other way
// round; at one time it has one of them only, and each is told who the other
// is.
func TestOpenStore(t *testing.T) {
	ctx := context.Background()
	cfg := Config{Data: t.TempDir(), Memory: MinMemory}
	cfg.Thrift1.Addr, cfg.HTTP.Addr = "127.0.0.1:0", "127.0.0.1:0"

	off, err := OpenStore(ctx, cfg, OfflineOptions{Tool: "import", Create: true})
	if err != nil {
		t.Fatal(err)
	}
	var _ store.Snapshotter = off
	schema := cell.TableSchema{Name: "t", Families: []cell.FamilySchema{cell.NewFamily("f")}}
	if err := off.CreateTable(ctx, schema, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(ctx, cfg, OfflineOptions{}); !errors.Is(err, ErrRunning) || !strings.Contains(err.Error(), "in use by cellar import with process id") {
		t.Errorf("opened a second time: %v", err)
	}
	s, err := New(cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(ctx); !errors.Is(err, ErrRunning) || !strings.Contains(err.Error(), "in use by cellar import with process id") {
		t.Errorf("a server starts beside it: %v", err)
	}
	for range 2 {
		if err := off.Close(); err != nil {
			t.Error(err)
		}
	}

	s, err = New(cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := s.store.Describe(ctx, "t"); err != nil {
		t.Errorf("the server does not see the table: %v", err)
	}
	if _, err := OpenStore(ctx, cfg, OfflineOptions{}); !errors.Is(err, ErrRunning) || !strings.Contains(err.Error(), "by the server with process id") {
		t.Errorf("opened beside a server: %v", err)
	}
	if err := s.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}

	off, err = OpenStore(ctx, cfg, OfflineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := off.Engine().Describe(ctx, "t"); err != nil {
		t.Error(err)
	}
	if snapshot, err := off.Snapshot(ctx); err != nil {
		t.Error(err)
	} else if err := snapshot.Close(); err != nil {
		t.Error(err)
	}
	if err := off.Close(); err != nil {
		t.Error(err)
	}
}

// What cannot be opened leaves nothing behind, no folder and no lock.
func TestOpenStore_refuses(t *testing.T) {
	ctx := context.Background()
	missing := filepath.Join(t.TempDir(), "data")
	if _, err := OpenStore(ctx, Config{Data: missing}, OfflineOptions{}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Errorf("no store there: %v", err)
	}
	if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was made: %v", err)
	}
	if _, err := OpenStore(ctx, Config{Data: missing, Engine: EngineMemory}, OfflineOptions{Create: true}); !errors.Is(err, ErrKeepsNothing) {
		t.Errorf("the memory engine: %v", err)
	}
	var setting *SettingError
	if _, err := OpenStore(ctx, Config{Engine: "paper"}, OfflineOptions{}); !errors.As(err, &setting) {
		t.Errorf("no such engine: %v", err)
	}

	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, storeDir), []byte("no folder"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(ctx, Config{Data: data}, OfflineOptions{}); err == nil {
		t.Error("a file was opened as a store")
	}
	if _, err := FindRunning(data); !errors.Is(err, ErrNotRunning) {
		t.Errorf("the folder is held after a failure: %v", err)
	}
}
