package storetest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// concurrencyTests call one engine from many goroutines. They prove most with
// the race detector on.
func concurrencyTests() []test {
	return []test{
		{"increments_add_up", concurrentIncrements},
		{"appends_lose_nothing", concurrentAppends},
		{"checks_let_one_through", concurrentChecks},
		{"readers_see_rows_whole", readersSeeWhole},
		{"acknowledged_is_visible", acknowledgedVisible},
		{"batches_of_crossing_rows", crossingBatches},
		{"reads_writes_and_administration", concurrentAdmin},
	}
}

// together runs f n times at once and gives the errors.
func together(n int, f func(i int) error) error {
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func concurrentIncrements(e *env) {
	e.usual()
	const workers, each = 8, 80
	e.must(together(workers, func(w int) error {
		for i := range each {
			m := cell.NewMutation([]byte("r")).Increment([]byte("f"), []byte("n"), int64(w+1)).Increment([]byte("g"), []byte("n"), 1)
			m.Durability = cell.AsyncWAL
			other := putOf(fmt.Sprintf("other%d-%d", w, i), "f:q", 1, "v")
			other.Durability = cell.AsyncWAL
			if _, err := e.s.Apply(e.ctx, "t", values([]*cell.Mutation{other, m})); err != nil {
				return err
			}
		}
		return nil
	}))
	var r cell.Result
	e.must(e.s.Get(e.ctx, "t", &cell.Get{Row: []byte("r")}, &r))
	if len(r.Cells) != 2 {
		e.Fatalf("got %s", text(r.Cells))
	}
	if sum := binary.BigEndian.Uint64(r.Cells[0].Value); sum != each*workers*(workers+1)/2 {
		e.Errorf("sum %d, want %d", sum, each*workers*(workers+1)/2)
	}
	if count := binary.BigEndian.Uint64(r.Cells[1].Value); count != each*workers {
		e.Errorf("count %d, want %d", count, each*workers)
	}
}

func concurrentAppends(e *env) {
	e.usual()
	const workers, each = 6, 60
	e.must(together(workers, func(w int) error {
		for range each {
			if _, err := store.Append(e.ctx, e.s, "t", []byte("r"), []byte("f"), []byte("a"), []byte{byte('a' + w)}, cell.AsyncWAL); err != nil {
				return err
			}
		}
		return nil
	}))
	var r cell.Result
	e.must(e.s.Get(e.ctx, "t", &cell.Get{Row: []byte("r")}, &r))
	count := map[byte]int{}
	for _, b := range r.Cells[0].Value {
		count[b]++
	}
	for w := range workers {
		if count[byte('a'+w)] != each {
			e.Errorf("worker %d: %d appends are there, want %d", w, count[byte('a'+w)], each)
		}
	}
}

// No other write to the row happens between a check and its mutation.
func concurrentChecks(e *env) {
	e.usual()
	const workers, rounds = 8, 40
	for round := range rounds {
		row := fmt.Appendf(nil, "row%d", round)
		won := make([]bool, workers)
		e.must(together(workers, func(w int) error {
			m := cell.NewMutation(row).Put([]byte("f"), []byte("owner"), 1, []byte{byte('0' + w)}).Increment([]byte("f"), []byte("n"), 1)
			m.Durability = cell.AsyncWAL
			var err error
			won[w], _, err = e.s.CheckAndMutate(e.ctx, "t", &cell.Check{Family: []byte("f"), Qualifier: []byte("owner"), Op: cell.Equal}, m)
			return err
		}))
		winner, winners := 0, 0
		for w := range won {
			if won[w] {
				winner, winners = w, winners+1
			}
		}
		if winners != 1 {
			e.Fatalf("round %d: %d checks held, want 1", round, winners)
		}
		if got := e.get(string(row), only("f:owner")); got != fmt.Sprintf("f:owner@1=%d", winner) {
			e.Fatalf("round %d: worker %d won, the row has %s", round, winner, got)
		}
	}
}

// sameEverywhere says whether all values of a row are alike.
func sameEverywhere(r *cell.Result, columns int) error {
	if len(r.Cells) == 0 {
		return nil
	}
	if len(r.Cells) != columns {
		return fmt.Errorf("row %q has %d columns, want %d or none: %s", r.Row, len(r.Cells), columns, text(r.Cells))
	}
	for i := range r.Cells {
		if string(r.Cells[i].Value) != string(r.Cells[0].Value) {
			return fmt.Errorf("row %q is of different moments: %s", r.Row, text(r.Cells))
		}
	}
	return nil
}

// A read returns each row as it was at one moment, in all families.
func readersSeeWhole(e *env) {
	e.create("t", fam("a", 1), fam("b", 1), fam("c", 1))
	const rows, rounds, columns = 4, 120, 6
	write := func(w int) error {
		for i := range rounds {
			m := cell.NewMutation(fmt.Appendf(nil, "row%d", (w+i)%rows))
			m.Durability = cell.AsyncWAL
			ts := int64(2*(i*2+w) + 1)
			if i%7 == 3 {
				m.DeleteRow(ts)
			} else {
				for c := range columns {
					m.Put([]byte{byte('a' + c%3)}, []byte{byte('0' + c)}, ts, fmt.Appendf(nil, "%d-%d", w, i))
				}
			}
			if _, err := e.s.Apply(e.ctx, "t", values([]*cell.Mutation{m})); err != nil {
				return err
			}
		}
		return nil
	}
	done := make(chan struct{})
	var writers sync.WaitGroup
	var writeErr [2]error
	for w := range 2 {
		writers.Go(func() { writeErr[w] = write(w) })
	}
	go func() { writers.Wait(); close(done) }()
	err := together(4, func(i int) error {
		for {
			select {
			case <-done:
				return nil
			default:
			}
			if err := readWhole(e.ctx, e.s, i, rows, columns); err != nil {
				return err
			}
		}
	})
	<-done
	e.must(errors.Join(err, writeErr[0], writeErr[1]))
}

// readWhole reads all rows once, in one of four ways.
func readWhole(ctx context.Context, s store.Store, way, rows, columns int) error {
	if way == 0 {
		var r cell.Result
		for i := range rows {
			if err := s.Get(ctx, "t", &cell.Get{Row: fmt.Appendf(nil, "row%d", i)}, &r); err != nil {
				return err
			}
			if err := sameEverywhere(&r, columns); err != nil {
				return err
			}
		}
		return nil
	}
	scan := cell.Scan{Reversed: way == 2}
	if way == 3 {
		scan.Batch = 2
	}
	results, err := readAll(ctx, s, "t", &scan)
	if err != nil {
		return err
	}
	var row cell.Result
	for _, r := range results {
		row.Row = r.Row
		row.Cells = append(row.Cells, r.Cells...)
		if !r.Partial {
			if err := sameEverywhere(&row, columns); err != nil {
				return err
			}
			row.Cells = nil
		}
	}
	return nil
}

// What was acknowledged is seen by every read that begins later.
func acknowledgedVisible(e *env) {
	e.usual()
	e.must(together(6, func(w int) error {
		row := fmt.Appendf(nil, "row%d", w)
		var r cell.Result
		for i := range 100 {
			m := cell.NewMutation(row).Put([]byte("f"), []byte("q"), int64(i+1), fmt.Append(nil, i))
			m.Durability = cell.AsyncWAL
			if _, err := e.s.Apply(e.ctx, "t", values([]*cell.Mutation{m})); err != nil {
				return err
			}
			if err := e.s.Get(e.ctx, "t", &cell.Get{Row: row}, &r); err != nil {
				return err
			}
			if len(r.Cells) != 1 || string(r.Cells[0].Value) != fmt.Sprint(i) {
				return fmt.Errorf("after write %d of row %s: %s", i, row, text(r.Cells))
			}
		}
		return nil
	}))
}

// Batches that name the same rows in different orders do not block each other
// for good.
func crossingBatches(e *env) {
	e.usual()
	const workers, rounds, rows = 6, 25, 12
	e.must(together(workers, func(w int) error {
		for i := range rounds {
			var batch []cell.Mutation
			for j := range rows {
				at := j
				if w%2 == 1 {
					at = rows - 1 - j
				}
				m := cell.NewMutation(fmt.Appendf(nil, "row%02d", (at+i)%rows)).Increment([]byte("f"), []byte("n"), 1)
				m.Durability = cell.AsyncWAL
				batch = append(batch, *m)
			}
			if _, err := e.s.Apply(e.ctx, "t", batch); err != nil {
				return err
			}
		}
		return nil
	}))
	results := e.results("t", cell.Scan{})
	if len(results) != rows {
		e.Fatalf("%d rows, want %d", len(results), rows)
	}
	for _, r := range results {
		if n := binary.BigEndian.Uint64(r.Cells[0].Value); n != workers*rounds {
			e.Errorf("row %s counts %d, want %d", r.Row, n, workers*rounds)
		}
	}
}

// A call on a table that others create and drop meanwhile succeeds or says that
// the table is not there or not enabled, nothing else.
func concurrentAdmin(e *env) {
	allowed := []error{store.ErrTableNotFound, store.ErrTableDisabled, store.ErrTableNotDisabled, store.ErrTableExists, store.ErrNoSuchFamily, store.ErrNotServingRegion}
	judge := func(what string, err error) error {
		if err == nil {
			return nil
		}
		for _, a := range allowed {
			if errors.Is(err, a) {
				return nil
			}
		}
		return fmt.Errorf("%s: %w", what, err)
	}
	const rounds = 25
	e.must(together(6, func(w int) error {
		for i := range rounds {
			var err error
			switch w {
			case 0:
				err = judge("create", e.s.CreateTable(e.ctx, schema("t", fam("f", 1), fam("g", 1)), [][]byte{[]byte("m")}))
			case 1:
				err = errors.Join(judge("disable", e.s.DisableTable(e.ctx, "t")), judge("drop", e.s.DropTable(e.ctx, "t")))
			case 2:
				m := *putOf(fmt.Sprint(i), "f:q", 1, "v")
				m.Durability = cell.AsyncWAL
				_, aerr := e.s.Apply(e.ctx, "t", []cell.Mutation{m})
				err = judge("apply", aerr)
			case 3:
				_, serr := readAll(e.ctx, e.s, "t", &cell.Scan{})
				err = judge("scan", serr)
			case 4:
				err = errors.Join(judge("alter", e.s.AlterTable(e.ctx, schema("t", fam("f", 1+i)))), judge("compact", e.s.Compact(e.ctx, "t", cell.Range{}, true)))
			case 5:
				_, terr := e.s.Tables(e.ctx)
				_, rerr := e.s.Regions(e.ctx, "t")
				err = errors.Join(terr, judge("regions", rerr))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}))
}
