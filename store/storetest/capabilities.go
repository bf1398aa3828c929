package storetest

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// capabilityTests are about what engines give beyond the contract, where they
// claim it. ShiftsTimestamps and DropsRanges are tested with timestamps and
// ranges.
func capabilityTests() []test {
	return []test{
		{"snapshots_are_claimed_by_snapshotters", snapshotsClaimed},
		{"snapshot_is_of_one_moment", snapshotMoment},
		{"snapshot_of_all_tables", snapshotTables},
		{"snapshot_outlives_the_table", snapshotDropped},
		{"snapshot_after_close", snapshotClosed},
		{"batches_are_atomic", atomicBatches},
	}
}

func snapshotsClaimed(e *env) {
	if _, ok := e.s.(store.Snapshotter); e.s.Capabilities().Snapshots && !ok {
		e.Error("the engine claims Snapshots and is no Snapshotter")
	}
}

func (e *env) snapshot() store.Snapshot {
	e.Helper()
	s, ok := e.s.(store.Snapshotter)
	if !ok || !e.s.Capabilities().Snapshots {
		e.Skip("the engine does not claim Snapshots")
	}
	snap, err := s.Snapshot(e.ctx)
	e.must(err)
	e.Cleanup(func() {
		if err := snap.Close(); err != nil {
			e.Errorf("close snapshot: %v", err)
		}
	})
	return snap
}

// snapScan reads table "t" of a snapshot.
func (e *env) snapScan(s store.Reader, scan cell.Scan) string {
	e.Helper()
	results, err := readAll(e.ctx, s, "t", &scan)
	e.must(err)
	return resultsText(results)
}

func snapshotMoment(e *env) {
	e.usual()
	e.script("put f:q@1=a; put f:q@2=b; put g:q@1=c")
	e.rows("s", "u")
	snap := e.snapshot()
	e.script("put f:q@3=d; delfam g@9; del f:q@1; compact")
	e.rows("a", "t")
	e.must(e.s.DeleteRows(e.ctx, "t", oneRow("s")))
	all := cell.Scan{Read: cell.Read{MaxVersions: 9}}
	want := "r: f:q@2=b f:q@1=a g:q@1=c | s: f:q@1=v | u: f:q@1=v"
	e.equal(e.snapScan(snap, all), want)
	all.Raw = true
	e.equal(e.snapScan(snap, all), want)
	var r cell.Result
	e.must(snap.Get(e.ctx, "t", &cell.Get{Row: []byte("r")}, &r))
	e.equal(text(r.Cells), "f:q@2=b g:q@1=c")
	e.must(snap.Get(e.ctx, "t", &cell.Get{Row: []byte("a")}, &r))
	e.equal(text(r.Cells), "")
	parts, err := snap.Partitions(e.ctx, "t", cell.Range{}, 3)
	e.must(err)
	var got int
	for _, p := range parts {
		results, err := readAll(e.ctx, snap, "t", &cell.Scan{Range: p})
		e.must(err)
		got += len(results)
	}
	if got != 3 {
		e.Errorf("the snapshot's partitions have %d rows, want 3", got)
	}
	e.equal(e.scan(cell.Scan{}), "a: f:q@1=v | r: f:q@3=d | t: f:q@1=v | u: f:q@1=v")
}

func snapshotTables(e *env) {
	e.usual()
	e.create("u", fam("f", 1))
	e.rows("r")
	snap := e.snapshot()
	e.create("v", fam("f", 1))
	var r cell.Result
	e.refused(snap.Get(e.ctx, "v", &cell.Get{Row: []byte("r")}, &r), store.ErrTableNotFound)
	e.must(snap.Get(e.ctx, "u", &cell.Get{Row: []byte("r")}, &r))
	e.refused(snap.Get(e.ctx, "t", &cell.Get{Row: []byte("r"), Read: cell.Read{Select: selection("x")}}, &r), store.ErrNoSuchFamily)
	regions, err := snap.Regions(e.ctx, "t")
	e.must(err)
	if len(regions) != 1 {
		e.Errorf("%d regions, want 1", len(regions))
	}
}

// What a snapshot says of a table that was dropped meanwhile is either what the
// table held or that it is gone; never a part, never what came after.
func snapshotDropped(e *env) {
	e.usual()
	e.fill(100)
	snap := e.snapshot()
	e.must(e.s.DisableTable(e.ctx, "t"))
	e.must(e.s.DropTable(e.ctx, "t"))
	e.usual()
	e.rows("new")
	results, err := readAll(e.ctx, snap, "t", &cell.Scan{})
	if err == nil && len(results) != 100 {
		e.Errorf("the snapshot has %d rows, want 100", len(results))
	}
	if err != nil {
		e.refused(err, store.ErrTableNotFound)
	}
}

func snapshotClosed(e *env) {
	e.usual()
	e.rows("r")
	snap := e.snapshot()
	e.must(snap.Close())
	e.must(snap.Close())
	var r cell.Result
	e.refused(snap.Get(e.ctx, "t", &cell.Get{Row: []byte("r")}, &r), store.ErrClosed)
	_, err := snap.Scan(e.ctx, "t", &cell.Scan{})
	e.refused(err, store.ErrClosed)
	second := e.snapshot()
	e.must(e.s.Close())
	e.refused(second.Get(e.ctx, "t", &cell.Get{Row: []byte("r")}, &r), store.ErrClosed)
}

// With AtomicBatch a reader that has seen one row of a batch sees the others.
func atomicBatches(e *env) {
	if !e.s.Capabilities().AtomicBatch {
		e.Skip("the engine does not claim AtomicBatch")
	}
	e.usual()
	e.must(atomicity(e.ctx, e.s))
}

// atomicity writes one number to rows a and z in one batch, again and again,
// while readers look at one and then at the other.
func atomicity(ctx context.Context, s store.Store) error {
	const rounds = 300
	var done atomic.Bool
	return together(3, func(w int) error {
		if w == 0 {
			defer done.Store(true)
			for i := range rounds {
				batch := values([]*cell.Mutation{putOf("a", "f:q", int64(i+1), ""), putOf("z", "f:q", int64(i+1), "")})
				batch[0].Durability, batch[1].Durability = cell.AsyncWAL, cell.AsyncWAL
				if _, err := s.Apply(ctx, "t", batch); err != nil {
					return err
				}
			}
			return nil
		}
		order := []string{"a", "z"}
		if w == 2 {
			order = []string{"z", "a"}
		}
		for !done.Load() {
			var seen [2]int64
			for i, row := range order {
				var r cell.Result
				if err := s.Get(ctx, "t", &cell.Get{Row: []byte(row)}, &r); err != nil {
					return err
				}
				if len(r.Cells) > 0 {
					seen[i] = r.Cells[0].Timestamp
				}
			}
			if seen[1] < seen[0] {
				return fmt.Errorf("row %s of batch %d is seen, row %s only of batch %d", order[0], seen[0], order[1], seen[1])
			}
		}
		return nil
	})
}
