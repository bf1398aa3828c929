package memory_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cellardb/cellar/cell"
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

// Without a clock the machine's is used.
func TestDefaultClock(t *testing.T) {
	s := memory.New(memory.Options{})
	ctx := t.Context()
	before := time.Now().UnixMilli()
	if err := s.CreateTable(ctx, cell.TableSchema{Name: "t", Families: []cell.FamilySchema{cell.NewFamily("f")}}, nil); err != nil {
		t.Fatal(err)
	}
	info, err := s.Describe(ctx, "t")
	if err != nil {
		t.Fatal(err)
	}
	if after := time.Now().UnixMilli(); info.Created < before || info.Created > after {
		t.Errorf("created at %d, not from %d to %d", info.Created, before, after)
	}
}

// A clock that is set back far is followed, and the log says so once.
func TestClockStepIsLogged(t *testing.T) {
	var log bytes.Buffer
	now := int64(1_000_000)
	s := memory.New(memory.Options{Clock: func() int64 { return now }, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	ctx := t.Context()
	create := func(name string) {
		if err := s.CreateTable(ctx, cell.TableSchema{Name: name, Families: []cell.FamilySchema{cell.NewFamily("f")}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	create("a")
	now -= 60_000
	create("b")
	if log.Len() > 0 {
		t.Errorf("a small step was logged: %s", log.String())
	}
	now -= 60_001
	create("c")
	create("d")
	if got := strings.Count(log.String(), "clock stepped back"); got != 1 {
		t.Errorf("logged %d times: %s", got, log.String())
	}
	info, err := s.Describe(ctx, "d")
	if err != nil {
		t.Fatal(err)
	}
	if info.Created != now {
		t.Errorf("created at %d, the clock says %d", info.Created, now)
	}
}
