package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/cellardb/cellar/store"
)

// OfflineOptions are what OpenStore needs besides the configuration.
type OfflineOptions struct {
	// Tool is the command that opens the store, as "import": whoever finds the
	// folder taken is told so. Empty: "another command".
	Tool string
	// Create makes the folder and an empty store where there is none. Without
	// it a missing store is an error that matches fs.ErrNotExist.
	Create bool
	// Logger, nil: silent.
	Logger *slog.Logger
}

// OfflineStore is a store that is open without a server. It holds the data
// folder, so that no server starts on it, until it is closed.
type OfflineStore struct {
	store.Store
	folder    *folder
	heapLimit int64
}

// OpenStore opens the store of a data folder for a command that works without a
// server: it takes the folder as a server does, and no port. Of the
// configuration it uses what concerns the store: data, engine, memory, wal. It
// sets the process's memory limit as a server does, until Close.
//
// Errors: those of Config.Validate, a RunningError if a server or another
// command has the folder, one that matches fs.ErrNotExist where there is no
// store, ErrKeepsNothing, and the engine's, as store.ErrNewerFormat and
// store.ErrCorrupt.
func OpenStore(ctx context.Context, cfg Config, o OfflineOptions) (*OfflineStore, error) {
	s, err := New(cfg, Options{Logger: o.Logger})
	if err != nil {
		return nil, err
	}
	if s.cfg.Engine == EngineMemory {
		return nil, fmt.Errorf("open the store in %s: %w", s.cfg.Data, ErrKeepsNothing)
	}
	if err := s.refuseSecond(); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(s.cfg.Data, storeDir)); !o.Create && err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no store in %s: %w", s.cfg.Data, fs.ErrNotExist)
		}
		return nil, fmt.Errorf("look for the store: %w", err)
	}
	f, err := openFolder(s.cfg.Data)
	if err != nil {
		return nil, err
	}
	s.folder = f
	off := &OfflineStore{folder: f, heapLimit: debug.SetMemoryLimit(int64(s.split.Go))}
	if err := off.open(ctx, s, o.Tool); err != nil {
		return nil, errors.Join(err, off.Close())
	}
	return off, nil
}

// ErrKeepsNothing refuses to open an engine that has nothing on disk.
var ErrKeepsNothing = errors.New("the engine memory keeps nothing that could be opened")

func (o *OfflineStore) open(ctx context.Context, s *Server, tool string) error {
	if tool == "" {
		tool = "another command"
	}
	who := s.running()
	who.Tool = tool
	if err := o.folder.announce(who); err != nil {
		return err
	}
	begin := time.Now()
	opened, err := s.openEngine(ctx)
	if err != nil {
		return fmt.Errorf("open the store in %s: %w", o.folder.path, err)
	}
	o.Store = opened
	s.log.Info("store is open", "engine", s.cfg.Engine, "data", o.folder.path, tookKey, time.Since(begin))
	return nil
}

// Engine is the engine itself, for what it can beyond the contract. It must not
// be closed.
func (o *OfflineStore) Engine() store.Store { return o.Store }

// Snapshot makes it a store.Snapshotter where the engine is one.
func (o *OfflineStore) Snapshot(ctx context.Context) (store.Snapshot, error) {
	s, ok := o.Store.(store.Snapshotter)
	if !ok {
		return nil, fmt.Errorf("snapshot: %w", store.ErrUnsupported)
	}
	return s.Snapshot(ctx)
}

// Close closes the store, which makes everything durable, and gives the folder
// up. A second Close does nothing.
func (o *OfflineStore) Close() error {
	if o.folder == nil {
		return nil
	}
	var err error
	if o.Store != nil {
		if err = o.Store.Close(); err != nil {
			err = fmt.Errorf("close the store: %w", err)
		}
	}
	err = errors.Join(err, o.folder.close())
	o.folder = nil
	debug.SetMemoryLimit(o.heapLimit)
	return err
}
