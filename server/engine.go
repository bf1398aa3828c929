package server

import (
	"context"
	"fmt"

	"github.com/cellardb/cellar/store"
)

// openEngine opens the engine that the configuration names. Adding an engine
// takes a case here and a file engine_NAME.go.
func (s *Server) openEngine(ctx context.Context) (store.Store, error) {
	switch s.cfg.Engine {
	case EnginePebble:
		return s.openPebble(ctx)
	case EngineMemory:
		return s.openMemory()
	}
	return nil, fmt.Errorf("there is no engine %q", s.cfg.Engine)
}
