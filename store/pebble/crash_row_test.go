package pebble

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/cell"
)

// stepRow makes step n of a row: one mutation of puts, deletes and an increment
// in two families. After n steps f:step and g:step are n, f:count is the sum of
// its steps, and g:even is there where n is even.
func stepRow(row string, n int) *cell.Mutation {
	value := fmt.Append(nil, n)
	m := cell.NewMutation([]byte(row)).
		Put([]byte("f"), []byte("step"), cell.Latest, value).
		Increment([]byte("f"), []byte("count"), 1).
		Put([]byte("g"), []byte("step"), cell.Latest, value)
	if n%2 == 0 {
		return m.Put([]byte("g"), []byte("even"), cell.Latest, value)
	}
	return m.DeleteColumn([]byte("g"), []byte("even"), cell.Latest)
}

// wholeSteps says how many steps of a row are there; an error names what is
// half done.
func wholeSteps(r *cell.Result) (int, error) {
	found := map[string]string{}
	count := 0
	for _, c := range r.Cells {
		name := string(c.Family) + ":" + string(c.Qualifier)
		found[name] = string(c.Value)
		if name == "f:count" {
			count = int(binary.BigEndian.Uint64(c.Value))
			delete(found, name)
		}
	}
	want := map[string]string{}
	if count > 0 {
		want["f:step"], want["g:step"] = fmt.Sprint(count), fmt.Sprint(count)
		if count%2 == 0 {
			want["g:even"] = fmt.Sprint(count)
		}
	}
	if fmt.Sprint(found) != fmt.Sprint(want) {
		return count, fmt.Errorf("after %d increments row %s has %v, want %v", count, r.Row, found, want)
	}
	return count, nil
}

// A mutation of one row, whatever it puts, deletes and counts, is there whole
// or not at all after a crash, and is there if it was acknowledged.
func TestRowMutationsSurviveCrashWhole(t *testing.T) {
	ctx := context.Background()
	const writers = 6
	for run := range crashRuns() {
		t.Run(fmt.Sprint(run), func(t *testing.T) {
			fs := vfs.NewCrashableMem()
			s := mustOpen(t, Options{Dir: "data", FS: fs, MemtableBytes: 4 << 20})
			mustCreate(t, s, "t", "f", "g")
			var acked [writers]atomic.Int64
			var all atomic.Int64
			running, stop := context.WithCancel(ctx)
			var wg sync.WaitGroup
			for id := range writers {
				wg.Go(func() {
					for n := 1; running.Err() == nil; n++ {
						batch := []cell.Mutation{*stepRow(fmt.Sprint("row", id), n), *stepRow(fmt.Sprint("shadow", id), n)}
						if _, err := s.Apply(ctx, "t", batch); err != nil {
							t.Error(err)
							return
						}
						acked[id].Store(int64(n))
						all.Add(1)
					}
				})
			}
			defer func() {
				stop()
				wg.Wait()
			}()
			rng := rand.New(rand.NewPCG(uint64(run), 7))
			for crash, unsynced := range []int{0, 30, 60, 100} {
				for want := all.Load() + 100 + int64(rng.IntN(2000)); all.Load() < want && !t.Failed(); {
					runtime.Gosched()
				}
				var durable [writers]int64
				for id := range acked {
					durable[id] = acked[id].Load()
				}
				clone := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsynced, RNG: rand.New(rand.NewPCG(uint64(run), uint64(crash)))})
				crashed, err := Open(ctx, Options{Dir: "data", FS: clone})
				if err != nil {
					t.Fatalf("open after crash %d: %v", crash, err)
				}
				for id := range writers {
					for _, name := range []string{"row", "shadow"} {
						var r cell.Result
						if err := crashed.Get(ctx, "t", &cell.Get{Row: fmt.Append(nil, name, id)}, &r); err != nil {
							t.Fatal(err)
						}
						steps, err := wholeSteps(&r)
						if err != nil {
							t.Errorf("crash %d: %v", crash, err)
						}
						if int64(steps) < durable[id] {
							t.Errorf("crash %d: %s%d has %d steps of %d that were acknowledged", crash, name, id, steps, durable[id])
						}
					}
				}
				if err := crashed.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
