package server

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cellardb/cellar/door/ops"
	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/pebble"
)

// FormatVersion is the version of the format in which the embedded engine
// keeps a store.
const FormatVersion = pebble.FormatVersion

// openPebble opens the embedded engine in a folder of its own below the data
// folder.
func (s *Server) openPebble(ctx context.Context) (store.Store, error) {
	if err := clearStaging(s.folder.path); err != nil {
		return nil, err
	}
	p, err := pebble.Open(ctx, s.pebbleOptions())
	if err != nil {
		return nil, err // not p, which would be a store that is not nil
	}
	return p, nil
}

// engineUsage is what the engine takes of memory and disk; of one that has
// neither, nothing.
func (s *Server) engineUsage() usage {
	p, ok := s.store.(*pebble.Store)
	if !s.opened() || !ok {
		return usage{}
	}
	f, open := p.FiguresIfOpen()
	if !open {
		return usage{}
	}
	return usage{
		blockCache: Bytes(f.CacheBytes), memtables: Bytes(f.MemtableBytes),
		disk: &ops.Disk{
			FreeBytes: int64(f.DiskFree), SizeBytes: int64(f.DiskSize), ReserveBytes: int64(f.DiskReserve),
			StoreBytes: int64(f.DiskBytes), Full: f.DiskFull, Waiting: f.DiskWaiting, WrittenBytes: f.BytesWritten, ReadBytes: f.BytesRead,
		},
	}
}

// diskTrouble says why nothing can be written; nil: it can. It does not wait.
func (s *Server) diskTrouble() error {
	p, ok := s.store.(*pebble.Store)
	if !ok {
		return nil
	}
	free, reserve, full, waiting := p.Disk()
	switch {
	case waiting:
		return errors.New("the disk is full: the store waits for space")
	case full:
		return fmt.Errorf("the disk is nearly full (%s free, reserve %s): writes are refused", Bytes(free).Human(), Bytes(reserve).Human())
	}
	return nil
}

// waitsForSpace says whether the engine cannot go on for want of space.
func (s *Server) waitsForSpace() bool {
	p, ok := s.store.(*pebble.Store)
	if !ok {
		return false
	}
	_, _, _, waiting := p.Disk()
	return waiting
}

func (s *Server) pebbleOptions() pebble.Options {
	return pebble.Options{
		Dir:           filepath.Join(s.folder.path, storeDir),
		CacheBytes:    int64(s.split.BlockCache),
		MemtableBytes: int64(s.split.Memtables),
		DiskReserve:   int64(s.cfg.Disk.Reserve),
		WALSync:       s.cfg.WAL.Sync,
		FsyncDelay:    s.cfg.Fault.FsyncDelay,
		Logger:        s.log.With("engine", EnginePebble),
		Backtracking:  backtracking(serverMatchLimits()),
		Registerer:    s.reg,
	}
}
