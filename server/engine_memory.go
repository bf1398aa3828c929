package server

import (
	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/memory"
)

// openMemory makes an empty store that is gone with the process: for tests, and
// to try a client.
func (s *Server) openMemory() (store.Store, error) {
	s.log.Warn("this engine keeps nothing: all data is gone when the server stops", "engine", EngineMemory)
	return memory.New(memory.Options{
		Backtracking: backtracking(serverMatchLimits()),
		Logger:       s.log.With("engine", EngineMemory),
	}), nil
}
