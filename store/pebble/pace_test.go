package pebble

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/cell"
)

func TestPaceFollowsGarbageAndWrites(t *testing.T) {
	const mib = 1 << 20
	inf := math.Inf(1)
	cases := []struct {
		ratio, written float64
		want           pace
	}{
		{0, 0, pace{0.1, 16 * mib}},
		{0.1, 100 * mib, pace{0.1, 16 * mib}},
		{0.175, 30 * mib, pace{0.5, 120 * mib}},
		{0.175, 1 * mib, pace{0.5, 16 * mib}},
		{0.25, 30 * mib, pace{1, inf}},
		{4, 0, pace{1, inf}},
	}
	for _, c := range cases {
		got := paceFor(c.ratio, c.written)
		if math.Abs(got.share-c.want.share) > 1e-9 || got.rate != c.want.rate && math.Abs(got.rate/c.want.rate-1) > 1e-9 {
			t.Errorf("garbage %v, %v bytes/s written: %+v, want %+v", c.ratio, c.written, got, c.want)
		}
	}
	rests := []struct {
		pace   pace
		worked time.Duration
		read   int64
		want   time.Duration
	}{
		{pace{1, inf}, time.Second, 1 << 40, 0},
		{pace{0.1, inf}, time.Second, 0, 9 * time.Second},
		{pace{0.1, inf}, time.Minute, 0, 10 * time.Second}, // it waited: the rest has a bound
		{pace{1, mib}, 0, 2 * mib, 2 * time.Second},
		{pace{1, mib}, 500 * time.Millisecond, 2 * mib, 1500 * time.Millisecond},
		{pace{0.5, mib}, 3 * time.Second, mib, 3 * time.Second},
	}
	for _, c := range rests {
		if got := c.pace.rest(c.worked, c.read); (got - c.want).Abs() > time.Microsecond {
			t.Errorf("%+v: a rest of %v after %v and %d bytes, want %v", c.pace, got, c.worked, c.read, c.want)
		}
	}
	if len(cases) != 6 || len(rests) != 6 {
		t.Errorf("%d and %d cases", len(cases), len(rests))
	}
}

// The pace is kept while nothing but live cells is read, and no iterator is open
// while the janitor rests.
func TestPaceIsKeptWithoutGarbage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(context.Background(), Options{Dir: "data", FS: vfs.NewMem(), NoJanitor: true})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		mustCreate(t, s, "t", "f")
		const rows, size = 3000, 2000
		for i := range rows {
			mustApply(t, s, "t", *cell.NewMutation(fmt.Appendf(nil, "%05d", i)).Put([]byte("f"), nil, 1, randomBytes(size)))
		}
		settle(t, s)
		table, err := s.catalog.find("t")
		if err != nil {
			t.Fatal(err)
		}
		s.janitor.pace = pace{share: 1, rate: 1 << 20}
		c := collection{s: s, t: table, family: table.layout.families[0]}
		rest, looks, read := s.janitor.pacer(&c), 0, int64(0)
		c.pause = func(ctx context.Context) error {
			looks++
			if n := s.db.Metrics().TableIters; n != 0 {
				t.Errorf("%d iterators are open in a rest", n)
			}
			if n := c.bytes - read; n > lookBytes+2*size {
				t.Errorf("%d bytes were read on one iterator", n)
			}
			read = c.bytes
			return rest(ctx)
		}
		lower, upper := familyBounds(table.id, table.layout.families[0].id)
		start := time.Now()
		if done, err := c.run(context.Background(), lower, upper); err != nil || !done {
			t.Fatal(done, err)
		}
		seconds := time.Since(start).Seconds()
		if rate := float64(c.bytes) / seconds; c.bytes < rows*size || math.Abs(rate/(1<<20)-1) > 0.05 {
			t.Errorf("%d bytes were read in %.1f s, %d looks: %.0f bytes/s, want a MiB/s", c.bytes, seconds, looks, rate)
		}
		if c.cells != rows || looks < rows*size/lookBytes {
			t.Errorf("%d cells were read in %d looks", c.cells, looks)
		}
	})
}

func TestMeter(t *testing.T) {
	var m meter
	now := time.Unix(1000, 0)
	m.read(1_000_000, now) // the first says nothing of a rate
	if m.rate != 0 {
		t.Errorf("the rate is %v after one reading", m.rate)
	}
	m.read(2_000_000, now.Add(10*time.Millisecond)) // too soon
	if m.rate != 0 {
		t.Errorf("the rate is %v after 10 ms", m.rate)
	}
	for i := range 30 {
		m.read(1_000_000+int64(i+1)*5000, now.Add(time.Duration(i+1)*time.Second))
	}
	if math.Abs(m.rate-5000) > 10 {
		t.Errorf("the rate is %v, want 5000", m.rate)
	}
}

// due is never early, and late by at most a quarter of the time.
func TestExpiriesDue(t *testing.T) {
	const now = 1_000_000
	r := rand.New(rand.NewPCG(1, 2))
	checked := 0
	for n := 1; n <= 1000; n += 37 {
		var e expiries
		times := make([]int64, n)
		for i := range times {
			times[i] = now - 100 + int64(r.ExpFloat64()*math.Pow(10, float64(r.IntN(12))))
			e.add(now, times[i])
		}
		slices.Sort(times)
		for _, wanted := range []int{0, 1, n / 5, n / 2, n, 2 * n} {
			at := e.due(uint64(wanted))
			exact := times[max(min(wanted, n), 1)-1]
			if late := at - exact; late < 0 || late > max(exact-now, 0)/4+100 {
				t.Fatalf("%d of %d expire at %d, due says %d", wanted, n, exact, at)
			}
			checked++
		}
		e.reset()
		if e.due(1) != 0 {
			t.Fatal("something expires after reset")
		}
	}
	if checked != 28*6 {
		t.Errorf("%d checks", checked)
	}
	var e expiries
	e.add(now, math.MaxInt64)
	if got := e.due(1); got != math.MaxInt64 {
		t.Errorf("the last moment is due at %d", got)
	}
}
