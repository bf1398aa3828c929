package pebble

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cellardb/cellar/store"
)

// janitor gives back the space of cells that no read can see any more: expired
// ones, surplus versions, masked ones and their markers. It finds its work in
// the garbage property of sstables (survey.go) and keeps no state but a list of
// the files that it has been through, which may be lost.
//
// It works at one file after the other, the worst first, and looks anew at all
// of them each second, so that its pace (pace.go) follows what is there.
type janitor struct {
	s *Store
	// visited are the parts of files that were gone through.
	visited map[part]visit
	// owed are files that were visited and are still there: their garbage is
	// deleted, and not yet compacted away.
	owed map[uint64]owed
	// open is the visit that is under way; nil: none is.
	open *openVisit
	pace pace
	// unpaced: it never rests. Tests say so.
	unpaced bool
	meter   meter
	// singly reads properties where Pebble cannot give those of all files.
	singly singly
	// surveyed is how long the last survey took.
	surveyed time.Duration

	ratio   atomic.Uint64 // garbage / live data, as math.Float64bits
	much    atomic.Bool   // garbage exceeds live data, and is not little
	removed atomic.Int64  // cells
	bytes   atomic.Int64  // that were read
	rounds  atomic.Int64
}

const (
	janitorEvery = time.Second
	// worthwhile is the share of a file's cells that makes it worth a visit.
	worthwhile = 0.2
	// retryAfter is when, in ms, a part that could not be read, or not be
	// cleaned, is tried again.
	retryAfter = 10 * 60_000
)

// visit is what is known of a part that was gone through.
type visit struct {
	again int64 // ms, when to go again, since something expires; 0: never
	rules rules // what the family kept
}

// openVisit is a visit under way.
type openVisit struct {
	job
	collection   collection
	lower, upper []byte
}

func newJanitor(s *Store) *janitor {
	return &janitor{s: s, visited: map[part]visit{}, owed: map[uint64]owed{}}
}

// run works until the context ends.
func (j *janitor) run(ctx context.Context) {
	tick := time.NewTicker(janitorEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := j.round(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrClosed) {
			j.s.log.Error("collect garbage", "error", err)
		}
	}
}

// round works until no file is worth a visit.
func (j *janitor) round(ctx context.Context) error {
	j.rounds.Add(1)
	for {
		jobs, err := j.survey()
		if err != nil {
			return err
		}
		if len(jobs) == 0 {
			return j.settle(ctx)
		}
		if err := j.work(ctx, jobs); err != nil {
			return err
		}
	}
}

// work goes through the files until it is time for another survey: after a
// second, or where surveys take long, so much later that they stay cheap.
func (j *janitor) work(ctx context.Context, jobs []job) error {
	until := time.Now().Add(max(janitorEvery, 20*j.surveyed))
	enough := func() bool { return !time.Now().Before(until) }
	for _, job := range j.inOrder(jobs) {
		err := j.visit(ctx, job, enough)
		if ctx.Err() != nil || errors.Is(err, store.ErrClosed) {
			return err
		}
		if err != nil {
			// The others are not held up by what cannot be read here.
			j.s.log.Error("collect garbage", "table", job.family.table, "file", job.file, "error", err)
			j.visited[job.part] = visit{again: j.s.clock.now() + retryAfter, rules: job.rules}
			j.open = nil
		}
		if enough() || j.s.disk.scarce() {
			return nil // a visit that was left goes on where it is
		}
	}
	return nil
}

// inOrder puts the visit that is under way first, then the worst files.
func (j *janitor) inOrder(jobs []job) []job {
	slices.SortFunc(jobs, func(a, b job) int { return cmp.Compare(b.waste, a.waste) })
	if j.open == nil {
		return jobs
	}
	at := slices.IndexFunc(jobs, func(w job) bool { return w.part == j.open.part })
	if at < 0 {
		j.open = nil // its file is gone
		return jobs
	}
	first := jobs[at]
	copy(jobs[1:], jobs[:at])
	jobs[0] = first
	return jobs
}

// visit goes through one job's keys, from where it was left, until there is
// enough.
func (j *janitor) visit(ctx context.Context, w job, enough func() bool) error {
	s := j.s
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.gate.RUnlock()
	if j.open == nil || j.open.part != w.part {
		j.open = j.begin(w)
	}
	v := j.open
	if v == nil {
		j.visited[w.part] = visit{rules: w.rules} // dropped meanwhile
		return nil
	}
	c := &v.collection
	c.enough, c.pause = enough, j.pacer(c)
	removed, read := c.removed, c.bytes
	done, err := c.run(ctx, v.lower, v.upper)
	j.removed.Add(int64(c.removed - removed))
	j.bytes.Add(c.bytes - read)
	if err != nil || !done {
		return err
	}
	j.open = nil
	again := c.g.expiries.due(worth(c.cells))
	if soon := s.clock.now() + retryAfter; c.left && (again == 0 || again > soon) {
		again = soon
	}
	j.visited[w.part] = visit{again: again, rules: w.rules}
	if c.removed > 0 {
		j.owed[w.file] = owed{v.lower, v.upper}
	}
	return nil
}

// begin opens a visit; nil: table or family are gone.
func (j *janitor) begin(w job) *openVisit {
	s := j.s
	f := s.familyByID(w.family.table, w.family.family)
	t := s.catalog.byID(w.family.table)
	if f == nil || t == nil {
		return nil
	}
	lower, upper := familyBounds(w.family.table, w.family.family)
	if bytes.Compare(w.lower, lower) > 0 {
		// The row that the file begins inside of is looked at whole.
		lower = bytes.Clone(w.lower[:splitKey(w.lower)])
	}
	if bytes.Compare(w.upper, upper) < 0 {
		upper = afterRow(w.upper[:splitKey(w.upper)])
	}
	return &openVisit{job: w, collection: collection{s: s, t: t, family: f}, lower: lower, upper: upper}
}

// owed is a range whose deletes wait for a compaction.
type owed struct{ lower, upper []byte }

// settle compacts one file that was visited and is still there, while hardly
// anything is written: else its garbage would stay until something is. While
// there are writes they carry the deletes down.
func (j *janitor) settle(ctx context.Context) error {
	if len(j.owed) == 0 || j.meter.rate > quietRate || j.s.disk.space.brim.Load() {
		return nil
	}
	s := j.s
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.gate.RUnlock()
	first := uint64(0)
	for file := range j.owed {
		if first == 0 || file < first {
			first = file
		}
	}
	w := j.owed[first]
	err := s.db.Compact(ctx, w.lower, w.upper, false)
	if err == nil || !s.disk.scarce() {
		delete(j.owed, first) // else it is owed still
	}
	return storeError(err)
}
