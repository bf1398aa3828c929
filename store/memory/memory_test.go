package memory_test

import (
	"testing"

	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/memory"
	"github.com/cellardb/cellar/store/storetest"
)

func open(_ *testing.T, clock func() int64) store.Store {
	return memory.New(memory.Options{Clock: clock})
}

func TestContract(t *testing.T) { storetest.Run(t, open) }

// The oracle against another of its kind: the comparison itself must find no
// difference where there is none.
func TestRandom(t *testing.T) { storetest.RunRandom(t, storetest.Seeds(10), 400, open) }

func TestSemantics(t *testing.T) { storetest.RunSemantics(t, open) }

func TestRandomSemantics(t *testing.T) {
	storetest.RunRandomSemantics(t, storetest.Seeds(10), 400, open)
}
