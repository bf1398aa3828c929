package pebble

import (
	"context"
	"os"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/storetest"
)

// reopenable is a store that the suite may close and open again on its files.
type reopenable struct {
	*Store
	opts Options
}

// Reopen implements storetest.Reopener.
func (r reopenable) Reopen(t *testing.T) store.Store {
	t.Helper()
	if err := r.Store.Close(); err != nil {
		t.Fatal(err)
	}
	return openTest(t, r.opts)
}

func openTest(t *testing.T, o Options) reopenable {
	t.Helper()
	s, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return reopenable{s, o}
}

// inMemory opens an empty store on a file system in memory, small, so that
// flushes and compactions happen.
func inMemory(t *testing.T, clock func() int64) store.Store {
	return openTest(t, Options{Dir: "data", FS: vfs.NewMem(), Clock: clock, MemtableBytes: 4 << 20, CacheBytes: 4 << 20, NoJanitor: true})
}

func TestContract(t *testing.T) { storetest.Run(t, inMemory) }

// Time to live, MIN_VERSIONS, KEEP_DELETED_CELLS, nonces, filters.
func TestSemantics(t *testing.T) { storetest.RunSemantics(t, inMemory) }

// The engine answers as the reference engine does, whatever is asked: random
// histories, with compactions, drops and restarts among them. Their seeds are
// fixed, so that a run can be repeated; a soak draws more.
func TestRandomHistories(t *testing.T) {
	seeds, steps := histories(t, 20)
	storetest.RunRandom(t, seeds, steps, inMemory)
}

// The same with everything that RunSemantics is about: the whole data model.
func TestRandomSemantics(t *testing.T) {
	seeds, steps := histories(t, 200)
	storetest.RunRandomSemantics(t, seeds, steps, inMemory)
}

func histories(t *testing.T, n int) (seeds []uint64, steps int) {
	switch {
	case os.Getenv("CELLAR_SOAK") != "":
		return append(storetest.Seeds(n), storetest.FreshSeeds(5*n)...), 5000
	case testing.Short():
		return storetest.Seeds(8), 1000
	}
	return storetest.Seeds(n), 5000
}
