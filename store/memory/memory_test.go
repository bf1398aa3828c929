package memory_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
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

// oneText is a matcher that knows one text.
type oneText string

func (o oneText) MatchString(text string) (bool, error) { return text == string(o), nil }

// Patterns that need backtracking go to the engine that is given for it, in
// every kind of read.
func TestBacktracking(t *testing.T) {
	s := memory.New(memory.Options{Backtracking: func(pattern string) (filter.Matcher, error) {
		if !strings.Contains(pattern, "abc") {
			t.Errorf("asked for %q", pattern)
		}
		return oneText("abc"), nil
	}})
	ctx := t.Context()
	if err := s.CreateTable(ctx, cell.TableSchema{Name: "t", Families: []cell.FamilySchema{cell.NewFamily("f")}}, nil); err != nil {
		t.Fatal(err)
	}
	put := func(row string) *cell.Mutation {
		return cell.NewMutation([]byte(row)).Put([]byte("f"), []byte("q"), 1, []byte(row))
	}
	for _, row := range []string{"abc", "abcd"} {
		if _, err := store.MutateRow(ctx, s, "t", put(row)); err != nil {
			t.Fatal(err)
		}
	}
	back := filter.Value{Op: cell.Equal, Comparator: filter.Regex("(?=abc)...")}
	snap, err := s.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	for name, r := range map[string]store.Reader{"store": s, "snapshot": snap} {
		for row, want := range map[string]int{"abc": 1, "abcd": 0} {
			var got cell.Result
			err := r.Get(ctx, "t", &cell.Get{Row: []byte(row), Read: cell.Read{Filter: back}}, &got)
			if err != nil || len(got.Cells) != want {
				t.Errorf("%s, row %s: %d cells, %v", name, row, len(got.Cells), err)
			}
		}
		sc, err := r.Scan(ctx, "t", &cell.Scan{Reversed: true, Read: cell.Read{Filter: back}})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := sc.Next(ctx); err != nil || string(got.Row) != "abc" {
			t.Errorf("%s: scanned %v, %v", name, got, err)
		}
	}
	for row, want := range map[string]bool{"abc": true, "abcd": false} {
		applied, _, err := s.CheckAndMutate(ctx, "t", &cell.Check{Filter: back}, put(row))
		if err != nil || applied != want {
			t.Errorf("check of %s: %v, %v", row, applied, err)
		}
	}
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
