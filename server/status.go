package server

import (
	"context"
	"maps"
	"os"
	"time"

	"github.com/cellardb/cellar/door/ops"
)

// status describes the server to whoever asks over HTTP. While the store is
// being opened it has no number of tables.
func (s *Server) status(ctx context.Context) ops.Status {
	st := ops.Status{
		State: s.state.get(), Version: s.build.Version, Commit: s.build.Commit,
		PID: os.Getpid(), Started: s.began.Round(0), UptimeSeconds: time.Since(s.began).Seconds(),
		Data: s.folder.path, Engine: s.cfg.Engine, Addresses: maps.Clone(s.address),
		MemoryBytes: int64(s.cfg.Memory),
	}
	if !s.opened() {
		return st
	}
	u := s.engineUsage()
	st.Pressure, st.Memory, st.Disk = s.pressure(), s.memoryParts(u), u.disk
	st.Tables = s.countTables(ctx)
	return st
}

// countTables counts the tables of users; nil: that is not known. An engine that
// can count them without waiting for anything is asked to.
func (s *Server) countTables(ctx context.Context) *int {
	if c, ok := s.store.(interface{ CountTables() (int, bool) }); ok {
		n, open := c.CountTables()
		if !open {
			return nil
		}
		return &n
	}
	tables, err := s.store.Tables(ctx)
	if err != nil {
		s.log.Warn("tables not counted", "error", err)
		return nil
	}
	n := len(tables)
	return &n
}
