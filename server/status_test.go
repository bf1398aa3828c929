package server

import (
	"context"
	"errors"
	"testing"

	"github.com/cellardb/cellar/store"
)

// busyTables is an engine whose tables cannot be listed: a call on them waits for
// space on the disk.
type busyTables struct {
	store.Store
	open bool
}

func (b busyTables) Tables(context.Context) ([]store.TableInfo, error) {
	return nil, errors.New("this would wait")
}

func (b busyTables) CountTables() (int, bool) { return 3, b.open }

// A status is told from what is known: it does not ask for the tables themselves.
func TestStatusDoesNotWaitForTables(t *testing.T) {
	ctx := context.Background()
	cfg := Config{Data: t.TempDir(), Memory: MinMemory, Engine: EngineMemory}
	cfg.Thrift1.Addr, cfg.HTTP.Addr = "127.0.0.1:0", "127.0.0.1:0"
	s, err := New(cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if n := s.countTables(ctx); n == nil || *n != 0 {
		t.Errorf("an engine that cannot count says %v", n)
	}
	real := s.store
	s.store = busyTables{real, true}
	if n := s.countTables(ctx); n == nil || *n != 3 {
		t.Errorf("one that can says %v", n)
	}
	s.store = busyTables{real, false}
	if n := s.countTables(ctx); n != nil {
		t.Errorf("one that is closed says %d", *n)
	}
	s.store = real
	if err := s.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
}
