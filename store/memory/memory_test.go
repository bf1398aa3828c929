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
