package storetest

import (
	"context"
	"errors"
	"io"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

func lifecycleTests() []test {
	return []test{
		{"closed_store_refuses_every_call", closedRefuses},
		{"close_twice", storeCloseTwice},
		{"close_ends_scanners", closeEndsScanners},
		{"close_waits_for_running_calls", closeWaits},
		{"cancelled_context_is_said", cancelledContext},
		{"flush_changes_nothing", flushChangesNothing},
	}
}

// storeCalls is the calls that name no table.
func storeCalls(ctx context.Context) map[string]func(s store.Store) error {
	return map[string]func(store.Store) error{
		"Tables":          func(s store.Store) error { _, err := s.Tables(ctx); return err },
		"Namespaces":      func(s store.Store) error { _, err := s.Namespaces(ctx); return err },
		"CreateNamespace": func(s store.Store) error { return s.CreateNamespace(ctx, store.Namespace{Name: "n"}) },
		"AlterNamespace":  func(s store.Store) error { return s.AlterNamespace(ctx, store.Namespace{Name: "default"}) },
		"DropNamespace":   func(s store.Store) error { return s.DropNamespace(ctx, "n") },
		"CreateTable":     func(s store.Store) error { return s.CreateTable(ctx, schema("new", fam("f", 1)), nil) },
	}
}

func closedRefuses(e *env) {
	e.usual()
	e.rows("r")
	e.must(e.s.Close())
	c := callsOn(e.ctx, "t")
	if made := e.wantEach(store.ErrClosed, c.reads, c.writes, c.changes, c.others, storeCalls(e.ctx)); made != 22 {
		e.Errorf("made %d calls", made)
	}
	if snap, ok := e.s.(store.Snapshotter); ok {
		_, err := snap.Snapshot(e.ctx)
		e.refused(err, store.ErrClosed)
	}
}

func storeCloseTwice(e *env) {
	e.usual()
	e.must(e.s.Close())
	e.must(e.s.Close())
}

func closeEndsScanners(e *env) {
	e.usual()
	e.fill(100)
	sc, err := e.s.Scan(e.ctx, "t", &cell.Scan{})
	e.must(err)
	_, err = sc.Next(e.ctx)
	e.must(err)
	e.must(e.s.Close())
	err = drain(e.ctx, sc)
	e.refused(err, store.ErrClosed)
	if errors.Is(err, io.EOF) {
		e.Error("a scan that was cut off looks like one that ended")
	}
	e.must(sc.Close())
}

// Calls that run when Close is called either succeed or are refused as closed.
func closeWaits(e *env) {
	e.usual()
	started := make(chan struct{}, 8)
	err := together(9, func(w int) error {
		if w == 8 {
			for range 8 {
				<-started
			}
			return e.s.Close()
		}
		for i := 0; ; i++ {
			m := *putOf("r", "f:q", int64(i+1), "v")
			m.Durability = cell.AsyncWAL
			_, err := e.s.Apply(e.ctx, "t", []cell.Mutation{m})
			if err == nil {
				var r cell.Result
				err = e.s.Get(e.ctx, "t", &cell.Get{Row: []byte("r")}, &r)
			}
			if i == 3 || err != nil && i < 3 {
				started <- struct{}{}
			}
			if errors.Is(err, store.ErrClosed) {
				return nil
			}
			if err != nil {
				return err
			}
		}
	})
	e.must(err)
}

func cancelledContext(e *env) {
	e.usual()
	e.rows("r")
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	c := callsOn(ctx, "t")
	if made := e.wantEach(context.Canceled, c.reads, c.writes); made != 5 {
		e.Errorf("made %d calls", made)
	}
	e.equal(e.scan(cell.Scan{}), "r: f:q@1=v")
}

func flushChangesNothing(e *env) {
	e.usual()
	e.script(markersOfAllKinds)
	before := e.raw("r")
	for range 3 {
		e.must(e.s.Flush(e.ctx, "t"))
		e.equal(e.raw("r"), before)
	}
}
