package oracle

import (
	"testing"

	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/memory"
	"github.com/cellardb/cellar/store/pebble"
)

// now is where the engines' clock stands, in ms; answers show it as "now".
const now = 1_700_000_000_000

func clock() int64 { return now }

// engine is one that has to answer as HBase does.
type engine struct {
	name string
	open func(t *testing.T) store.Store
}

func engines() []engine {
	return []engine{{"memory", openMemory}, {"pebble", openPebble}}
}

func openMemory(t *testing.T) store.Store {
	return closing(t, memory.New(memory.Options{Clock: clock}))
}

// openPebble opens an empty store without a janitor: what is garbage is gone
// when a script says so.
func openPebble(t *testing.T) store.Store {
	s, err := pebble.Open(t.Context(), pebble.Options{
		Dir: t.TempDir(), Clock: clock, WALSync: pebble.WALSyncOS,
		MemtableBytes: 4 << 20, CacheBytes: 4 << 20, NoJanitor: true,
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
