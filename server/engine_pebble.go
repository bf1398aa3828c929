package server

import (
	"context"
	"path/filepath"

	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/pebble"
)

// FormatVersion is the version of the format in which the embedded engine
// keeps a store.
const FormatVersion = pebble.FormatVersion

// openPebble opens the embedded engine in a folder of its own below the data
// folder.
func (s *Server) openPebble(ctx context.Context) (store.Store, error) {
	p, err := pebble.Open(ctx, s.pebbleOptions())
	if err != nil {
		return nil, err // not p, which would be a store that is not nil
	}
	return p, nil
}

func (s *Server) pebbleOptions() pebble.Options {
	return pebble.Options{
		Dir:           filepath.Join(s.folder.path, storeDir),
		CacheBytes:    int64(s.split.BlockCache),
		MemtableBytes: int64(s.split.Memtables),
		WALSync:       s.cfg.WAL.Sync,
		FsyncDelay:    s.cfg.Fault.FsyncDelay,
		Logger:        s.log.With("engine", EnginePebble),
		Backtracking:  backtracking(serverMatchLimits()),
		Registerer:    s.reg,
	}
}
