package oracle

import (
	"sync/atomic"
	"testing"

	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/memory"
	"github.com/cellardb/cellar/store/pebble"
)

// clock gives each mutation a millisecond of its own; answers show them all as
// "now". It may be asked from any goroutine.
type clock struct{ ms atomic.Int64 }

func (c *clock) now() int64 { return 1_700_000_000_000 + c.ms.Add(1) }

// engine is one that has to answer as HBase does.
type engine struct {
	name string
	open func(t *testing.T) store.Store
}

func engines() []engine {
	return []engine{{"memory", openMemory}, {"pebble", openPebble}}
}

func openMemory(t *testing.T) store.Store {
	return closing(t, memory.New(memory.Options{Clock: new(clock).now, Backtracking: backtracking}))
}

// openPebble opens an empty store without a janitor: what is garbage is gone
// when a script says so.
func openPebble(t *testing.T) store.Store {
	s, err := pebble.Open(t.Context(), pebble.Options{
		Dir: t.TempDir(), Clock: new(clock).now, WALSync: pebble.WALSyncOS,
		MemtableBytes: 4 << 20, CacheBytes: 4 << 20, NoJanitor: true, Backtracking: backtracking,
	})
	if err != nil {
		t.Fatal(err)
	}
	return closing(t, s)
}

func closing(t *testing.T, s store.Store) store.Store {
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}
