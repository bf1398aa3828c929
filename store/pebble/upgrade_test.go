package pebble

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// olderPebble is a format of Pebble before the one that is ours.
const olderPebble = pebbledb.FormatTableFormatV6

// olderStore makes a store as a Cellar would have that pinned an older format of
// Pebble: the keys and values of one of today are written by such a Pebble.
func olderStore(t *testing.T) (*vfs.MemFS, map[string]string) {
	t.Helper()
	fs := closedStore(t)
	s, err := Open(context.Background(), Options{Dir: "data", FS: fs, NoJanitor: true})
	if err != nil {
		t.Fatal(err)
	}
	old, err := pebbledb.Open("old", &pebbledb.Options{
		FS: fs, Comparer: comparer, KeySchema: keySchema.Name, KeySchemas: keySchemas(), FormatMajorVersion: olderPebble, Logger: silent{},
	})
	if err != nil {
		t.Fatal(err)
	}
	it, err := s.db.NewIter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for ok := it.First(); ok; ok = it.Next() {
		if err := old.Set(it.Key(), it.Value(), pebbledb.Sync); err != nil {
			t.Fatal(err)
		}
	}
	cells, err := readAll(s, "ns:t")
	for _, err := range []error{err, it.Close(), s.Close(), old.Flush(), old.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := writeWhole(fs, "old", "old/"+formatFile, formatText(1)); err != nil {
		t.Fatal(err)
	}
	if err := fs.RemoveAll("data"); err != nil {
		t.Fatal(err)
	}
	if err := fs.Rename("old", "data"); err != nil {
		t.Fatal(err)
	}
	return fs, cells
}

func TestUpgradeRaisesPebblesFormat(t *testing.T) {
	ctx := context.Background()
	fs, want := olderStore(t)
	o := Options{Dir: "data", FS: fs, NoJanitor: true}
	_, err := Open(ctx, o)
	if !errors.Is(err, store.ErrOlderFormat) || !strings.Contains(err.Error(), "run cellar upgrade") ||
		!strings.Contains(err.Error(), fmt.Sprint("(Pebble's ", int(olderPebble), ")")) {
		t.Fatalf("an older store is opened: %v", err)
	}
	wantPlan := UpgradePlan{From: StoreFormat{1, int(olderPebble)}, To: StoreFormat{1, int(pebbleFormat)}}
	for _, dry := range []bool{true, true, false} {
		plan, err := Upgrade(ctx, o, dry)
		if err != nil || plan.From != wantPlan.From || plan.To != wantPlan.To || len(plan.Steps) != 1 {
			t.Fatalf("dry %v: %+v, %v", dry, plan, err)
		}
	}
	plan, err := Upgrade(ctx, o, false)
	if err != nil || len(plan.Steps) != 0 || plan.From != wantPlan.To {
		t.Errorf("upgraded again: %+v, %v", plan, err)
	}
	if faults, report := look(t, fs); !report.Sound() || len(faults) > 0 {
		t.Errorf("faults %v", faults)
	}
	s := mustOpen(t, o)
	if got, err := readAll(s, "ns:t"); err != nil || !maps.Equal(got, want) || len(want) < 150 {
		t.Errorf("%d cells of %d, %v", len(got), len(want), err)
	}
}

// How a later version will raise its stores: a step that rewrites something. It
// is interrupted once; the next upgrade goes on, and nothing is done twice that
// must not be.
func TestUpgradeTakesStepsInOrder(t *testing.T) {
	ctx := context.Background()
	fs := closedStore(t)
	mark := []byte{0, 'i'} // any key that is there
	var ran []int
	interrupted := errors.New("interrupted")
	fail := true
	steps := append(formatSteps(),
		formatStep{to: 2, pebble: pebbleFormat, what: "a second format", do: func(_ context.Context, db *pebbledb.DB) error {
			ran = append(ran, 2)
			if err := db.Set([]byte("\x00j"), []byte("two"), pebbledb.Sync); err != nil {
				return err
			}
			if fail {
				return interrupted
			}
			return nil
		}},
		formatStep{to: 3, pebble: pebbleFormat, what: "a third", do: func(_ context.Context, db *pebbledb.DB) error {
			ran = append(ran, 3)
			v, closer, err := db.Get([]byte("\x00j"))
			if err != nil {
				return err
			}
			defer closer.Close()
			if string(v) != "two" {
				t.Errorf("the third step finds %q", v)
			}
			return db.Delete(mark, pebbledb.Sync)
		}},
	)
	o := Options{Dir: "data", FS: fs, NoJanitor: true}
	format := func() string { return strings.TrimSpace(string(content(t, fs, formatFile))) }
	if _, err := upgradeBy(ctx, o, false, steps); !errors.Is(err, interrupted) || !strings.Contains(err.Error(), "to format 2") {
		t.Fatalf("%v", err)
	}
	if format() != `{"format":1,"engine":"pebble"}` {
		t.Errorf("after the interruption: %s", format())
	}
	fail = false
	plan, err := upgradeBy(ctx, o, false, steps)
	if err != nil || len(plan.Steps) != 2 || plan.To.Format != 3 {
		t.Fatalf("%+v, %v", plan, err)
	}
	if format() != `{"format":3,"engine":"pebble"}` || fmt.Sprint(ran) != "[2 2 3]" {
		t.Errorf("format %s, steps %v", format(), ran)
	}
	// This program is older than the store now.
	if _, err := Open(ctx, o); !errors.Is(err, store.ErrNewerFormat) {
		t.Errorf("%v", err)
	}
	if _, err := Upgrade(ctx, o, false); !errors.Is(err, store.ErrNewerFormat) {
		t.Errorf("%v", err)
	}
}

func TestUpgradeRefusals(t *testing.T) {
	ctx := context.Background()
	fs := vfs.NewMem()
	if _, err := Upgrade(ctx, Options{Dir: "data", FS: fs}, false); err == nil {
		t.Error("upgraded nothing")
	}
	mustOpen(t, Options{Dir: "data", FS: fs})
	if _, err := Upgrade(ctx, Options{Dir: "data", FS: fs}, false); !errors.Is(err, store.ErrLocked) {
		t.Errorf("of an open store: %v", err)
	}
}

// A process that ends while it makes a store leaves one of Pebble's first
// format, without a table: that is no older store.
func TestStoreThatWasBeingMadeIsOpened(t *testing.T) {
	fs := vfs.NewMem()
	db, err := pebbledb.Open("data", &pebbledb.Options{
		FS: fs, Comparer: comparer, KeySchema: keySchema.Name, KeySchemas: keySchemas(), Logger: silent{},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := writeWhole(fs, "data", "data/"+formatFile, formatText(1)); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, Options{Dir: "data", FS: fs})
	mustCreate(t, s, "t", "f")
	mustApply(t, s, "t", *cell.NewMutation([]byte("a")).Put([]byte("f"), nil, 1, []byte("v")))
}
