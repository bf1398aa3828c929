package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/memory"
)

// Seeds gives the seeds 1 to n.
func Seeds(n int) []uint64 {
	seeds := make([]uint64, n)
	for i := range seeds {
		seeds[i] = uint64(i) + 1
	}
	return seeds
}

// FreshSeeds gives n seeds that differ from run to run.
func FreshSeeds(n int) []uint64 {
	seeds := make([]uint64, n)
	for i := range seeds {
		seeds[i] = rand.Uint64()
	}
	return seeds
}

// RunRandom runs Random for each seed, as a subtest named after it, several at
// once. Openers are called from several goroutines.
func RunRandom(t *testing.T, seeds []uint64, steps int, open Opener) {
	runRandom(t, seeds, steps, open, false)
}

// RunRandomSemantics is RunRandom with everything of RunSemantics among the
// operations: time to live, MIN_VERSIONS, KEEP_DELETED_CELLS, nonces, all
// comparisons, and filters up to three deep. It also fails when less than a tenth
// of the reads met markers, or edges of a time to live, or equal timestamps; each
// of them is counted, in the log.
func RunRandomSemantics(t *testing.T, seeds []uint64, steps int, open Opener) {
	runRandom(t, seeds, steps, open, true)
}

func runRandom(t *testing.T, seeds []uint64, steps int, open Opener, semantics bool) {
	t.Helper()
	t.Logf("seeds %d", seeds)
	var sum struct {
		sync.Mutex
		tally
	}
	workers := runtime.GOMAXPROCS(0)
	err := together(workers, func(worker int) error {
		for i := worker; i < len(seeds); i += workers {
			t.Run(fmt.Sprintf("seed_%d", seeds[i]), func(t *testing.T) {
				met := random(t, seeds[i], steps, open, semantics)
				sum.Lock()
				defer sum.Unlock()
				sum.add(met)
			})
		}
		return nil
	})
	t.Logf("%s", sum.tally)
	if semantics {
		err = errors.Join(err, sum.tenths())
	}
	if err != nil {
		t.Error(err)
	}
}

// Random applies a number of random operations to an engine and to package
// memory: every answer must be the same, results, errors by what they match, and
// at the end everything that is stored. Operations and clock follow from the seed
// alone. If the engine is a Reopener, it is reopened now and then.
//
// Where an answer differs the test fails with the seed, the step, both answers,
// and the shortest history it could find that still ends in a difference.
func Random(t *testing.T, seed uint64, steps int, open Opener) {
	t.Helper()
	random(t, seed, steps, open, false)
}

func random(t *testing.T, seed uint64, steps int, open Opener, semantics bool) tally {
	t.Helper()
	history := generate(seed, steps, semantics)
	d, met := compare(t, history, open)
	t.Logf("seed %d: %s", seed, met)
	if d == nil {
		return met
	}
	short := shorten(t, history[:d.step+1], open)
	if again, _ := compare(t, short, open); again != nil {
		t.Logf("shortened history, which ends with\nwant %s\n got %s\n%s", again.want, again.got, historyText(short))
	}
	t.Fatalf("seed %d, step %d of %d: %s\nwant %s\n got %s", seed, d.step, len(history), history[d.step].what, d.want, d.got)
	return met
}

// step is one operation of a history. Histories are plain data, so that parts of
// one can be tried again.
type step struct {
	now  int64 // what the clock says, ms
	what string
	run  func(ctx context.Context, s store.Store) string // gives the answer as text
	// reopen says that the engine is reopened; run is nil.
	reopen bool
	// table and reads say which rows a read reads; nil: it is none.
	table string
	reads *cell.Range
	// unfiltered is the same read without its filter; nil: it has none.
	unfiltered func(ctx context.Context, s store.Store) string
}

// difference is the first step whose answers differ.
type difference struct {
	step      int
	got, want string
}

// compare runs a history on an engine and on the oracle. The difference is nil
// if there is none.
func compare(t *testing.T, history []step, open Opener) (*difference, tally) {
	t.Helper()
	var stats tally
	clock := NewClock(epoch)
	engine, oracle := open(t, clock.Now), store.Store(memory.New(memory.Options{Clock: clock.Now}))
	defer func() {
		if err := engine.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	ctx := t.Context()
	for i := range history {
		st := &history[i]
		clock.Set(st.now)
		if st.reopen {
			if r, ok := engine.(Reopener); ok {
				engine = r.Reopen(t)
			}
			continue
		}
		want := st.run(ctx, oracle)
		if got := st.run(ctx, engine); got != want {
			return &difference{i, got, want}, stats
		}
		stats.note(ctx, st, oracle, want)
	}
	for _, table := range []string{"t", "u"} {
		st := everythingIn(table)
		want := st.run(ctx, oracle)
		if got := st.run(ctx, engine); got != want {
			return &difference{len(history) - 1, "in the end " + got, "in the end " + want}, stats
		}
	}
	return nil, stats
}

// everythingIn is the step that reads all that is stored of a table.
func everythingIn(table string) step {
	scan := cell.Scan{Raw: true}
	scan.MaxVersions = allVersions
	return scanStep(table, scan)
}

// maxTrials bounds the work of shorten, in runs of a history.
const maxTrials = 400

// shorten leaves steps out of a history as long as its last step still differs.
func shorten(t *testing.T, history []step, open Opener) []step {
	t.Helper()
	trials := 0
	for chunk := len(history) / 2; chunk >= 1; chunk /= 2 {
		for at := 0; at+chunk < len(history) && trials < maxTrials; {
			trials++
			shorter := append(append([]step{}, history[:at]...), history[at+chunk:]...)
			if d, _ := compare(t, shorter, open); d != nil && d.step == len(shorter)-1 {
				history = shorter
			} else {
				at += chunk
			}
		}
	}
	return history
}

func historyText(history []step) string {
	var b strings.Builder
	for i := range history {
		fmt.Fprintf(&b, "%3d  at %s  %s\n", i, timeText(history[i].now), history[i].what)
	}
	return b.String()
}
