package pebble

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"time"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"github.com/cellardb/cellar/store"
)

// janitor gives back the space of cells that no read can see any more: expired
// ones, surplus versions, masked ones and their markers. It finds its work in
// the garbage property of sstables and keeps no state but a list of the files
// that it has been through, which may be lost.
//
// Its pace follows the garbage that is left: below a tenth of the live data it
// rests, unless a file is worth it by itself; at half of it, it works all the
// time; above all of it, writers are slowed (pressing, admission.go).
type janitor struct {
	s *Store
	// done are the parts of files that were gone through, and when to go again
	// because something in them expires or could not be read (ms; 0: not
	// again).
	done map[part]int64
	// share of the time that it may work, in (0,1].
	share float64

	ratio   atomic.Uint64 // garbage / live data, as math.Float64bits
	much    atomic.Bool   // garbage exceeds live data, and is not little
	removed atomic.Int64  // cells
	rounds  atomic.Int64
}

const (
	janitorEvery = time.Second
	// worthwhile is the share of a file's cells that makes it worth a visit.
	worthwhile = 0.2
	// restBelow, hurryAbove and slowAbove are ratios of garbage to live data.
	restBelow  = 0.1
	hurryAbove = 0.5
	slowAbove  = 1.0
	// slowFrom is the least garbage, in bytes, that slows writers.
	slowFrom = 64 << 20
	// retryAfter is when, in ms, a part that could not be read is tried again.
	retryAfter = 10 * 60_000
)

func newJanitor(s *Store) *janitor { return &janitor{s: s, done: map[part]int64{}} }

// Garbage is the ratio of garbage to live data that the last survey found.
func (j *janitor) Garbage() float64 { return math.Float64frombits(j.ratio.Load()) }

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

// part is what one file has of one family.
type part struct {
	file   uint64
	family familyKey
}

// job is a part that is worth a visit.
type job struct {
	part
	lower, upper []byte // of the file, both inclusive
	waste        uint64 // bytes
}

// round surveys the files and goes through those that are worth it, the worst
// first.
func (j *janitor) round(ctx context.Context) error {
	jobs, err := j.survey()
	if err != nil {
		return err
	}
	j.rounds.Add(1)
	for _, job := range jobs {
		err := j.visit(ctx, job)
		if ctx.Err() != nil || errors.Is(err, store.ErrClosed) {
			return err
		}
		if err != nil {
			// The others are not held up by what cannot be read here.
			j.s.log.Error("collect garbage", "table", job.family.table, "file", job.file, "error", err)
			j.done[job.part] = j.s.clock.now() + retryAfter
		}
	}
	return nil
}

// survey reads the properties of all files.
func (j *janitor) survey() ([]job, error) {
	levels, err := j.s.db.SSTables(pebbledb.WithProperties())
	if err != nil {
		return nil, storeError(err)
	}
	now := j.s.clock.now()
	var jobs []job
	var total, waste uint64
	seen := map[uint64]bool{}
	for _, files := range levels {
		for i := range files {
			f := &files[i]
			number := uint64(f.FileNum)
			seen[number] = true
			parts, err := parseGarbage([]byte(property(f)))
			if err != nil {
				continue // written by another version: nothing is known of it
			}
			total += f.Size
			for _, g := range parts {
				job := jobOf(f, g, parts)
				again, visited := j.done[job.part]
				if visited {
					if again > 0 && again < now {
						jobs = append(jobs, job)
					}
					continue
				}
				waste += job.waste
				if g.expiry > 0 && g.expiry < now || float64(g.waste) > worthwhile*float64(g.cells) || j.ownTTL(g) {
					jobs = append(jobs, job)
				}
			}
		}
	}
	for p := range j.done {
		if !seen[p.file] {
			delete(j.done, p)
		}
	}
	ratio := float64(waste) / max(float64(total-waste), 1)
	j.ratio.Store(math.Float64bits(ratio))
	j.share = min(1, max(0.1, (ratio-restBelow)/(hurryAbove-restBelow)))
	j.much.Store(ratio > slowAbove && waste >= slowFrom)
	slices.SortFunc(jobs, func(a, b job) int { return cmp.Compare(b.waste, a.waste) })
	return jobs, nil
}

func property(f *pebbledb.SSTableInfo) string {
	if f.Properties == nil {
		return ""
	}
	// The first byte is Pebble's own id of the property.
	if p := f.Properties.UserProperties[garbageProperty]; len(p) > 1 {
		return p[1:]
	}
	return ""
}

// ownTTL says whether the family may have cells with a time to live of their
// own, of which the property knows nothing: its files are visited once, to find
// out.
func (j *janitor) ownTTL(g familyGarbage) bool {
	f := j.s.familyByID(g.table, g.family)
	return f != nil && f.ownTTL.Load()
}

func jobOf(f *pebbledb.SSTableInfo, g familyGarbage, all []familyGarbage) job {
	var cells uint64
	for i := range all {
		cells += all[i].cells
	}
	return job{
		part:  part{uint64(f.FileNum), familyKey{g.table, g.family}},
		lower: f.Smallest.UserKey, upper: f.Largest.UserKey,
		waste: uint64(float64(f.Size) * float64(g.waste) / float64(max(cells, 1))),
	}
}

// visit goes through one job's keys.
func (j *janitor) visit(ctx context.Context, w job) error {
	s := j.s
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.gate.RUnlock()
	f := s.familyByID(w.family.table, w.family.family)
	t := s.catalog.byID(w.family.table)
	if f == nil || t == nil {
		j.done[w.part] = 0 // dropped meanwhile
		return nil
	}
	lower, upper := familyBounds(w.family.table, w.family.family)
	if bytes.Compare(w.lower, lower) > 0 {
		// The row that the file begins inside of is looked at whole.
		lower = w.lower[:splitKey(w.lower)]
	}
	if bytes.Compare(w.upper, upper) < 0 {
		upper = afterRow(w.upper[:splitKey(w.upper)])
	}
	c := collection{s: s, t: t, family: f, pause: j.pacer()}
	err := c.run(ctx, lower, upper)
	j.removed.Add(int64(c.removed))
	if err != nil {
		return err
	}
	j.done[w.part] = c.expiry
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// pacer gives a function that rests so long that the time at work is the
// janitor's share.
func (j *janitor) pacer() func(context.Context) error {
	last := time.Now()
	return func(ctx context.Context) error {
		if j.share >= 1 {
			return ctx.Err()
		}
		rest := time.Duration(float64(time.Since(last)) * (1 - j.share) / j.share)
		if err := sleep(ctx, min(rest, time.Second)); err != nil {
			return err
		}
		last = time.Now()
		return nil
	}
}
