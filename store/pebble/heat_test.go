package pebble

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// heatOfTable finds one table's heat.
func heatOfTable(t *testing.T, s *Store, table string) store.Heat {
	t.Helper()
	all, counts, err := store.HeatOf(s)
	if err != nil || !counts {
		t.Fatalf("heat: %v, %v", counts, err)
	}
	for _, h := range all {
		if h.Table == table {
			return h
		}
	}
	t.Fatalf("no heat of %s in %+v", table, all)
	return store.Heat{}
}

func scanAll(t *testing.T, r store.Reader, table string, scan *cell.Scan) (rows int) {
	t.Helper()
	sc, err := r.Scan(context.Background(), table, scan)
	if err != nil {
		t.Fatal(err)
	}
	for {
		res, err := sc.Next(context.Background())
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !res.Partial {
			rows++
		}
	}
	if err := sc.Close(); err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestHeat_countsWrites(t *testing.T) {
	s := mustOpen(t, Options{Dir: t.TempDir()})
	mustCreate(t, s, "hot", "f")
	mustCreate(t, s, "cold", "f")
	put := func(row, family string) cell.Mutation {
		return *cell.NewMutation([]byte(row)).Put([]byte(family), []byte("q"), 1, make([]byte, 1000))
	}
	mustApply(t, s, "hot", put("a", "f"), put("b", "f"), put("c", "f"))
	h := heatOfTable(t, s, "hot")
	if h.RowsWritten != 3 || h.BytesWritten < 3000 || h.BytesWritten > 3300 || h.RowsRead != 0 || h.BytesRead != 0 {
		t.Errorf("after three rows of 1,000 bytes: %+v", h)
	}

	// A refused mutation is not written, its neighbour is.
	var refused *store.BatchError
	if _, err := s.Apply(t.Context(), "hot", []cell.Mutation{put("d", "f"), put("e", "no")}); !errors.As(err, &refused) {
		t.Fatalf("error %v", err)
	}
	if h := heatOfTable(t, s, "hot"); h.RowsWritten != 4 {
		t.Errorf("after a refusal: %+v", h)
	}

	// A check that fails writes nothing; one that holds writes a row.
	for i, value := range []string{"not it", string(make([]byte, 1000))} {
		m := put("a", "f")
		check := &cell.Check{Op: cell.Equal, Family: []byte("f"), Qualifier: []byte("q"), Value: []byte(value)}
		if _, _, err := s.CheckAndMutate(t.Context(), "hot", check, &m); err != nil {
			t.Fatal(err)
		}
		if h := heatOfTable(t, s, "hot"); h.RowsWritten != int64(4+i) {
			t.Errorf("after check %d: %+v", i, h)
		}
	}
	if h := heatOfTable(t, s, "cold"); h != (store.Heat{Table: "cold"}) {
		t.Errorf("a table that nobody used: %+v", h)
	}
}

func TestHeat_countsReads(t *testing.T) {
	s := mustOpen(t, Options{Dir: t.TempDir()})
	mustCreate(t, s, "t", "f")
	const rows = 2*heatEvery + 44
	var size int64
	var batch []cell.Mutation
	for i := range rows {
		row := fmt.Appendf(nil, "row%03d", i)
		m := cell.NewMutation(row)
		for _, q := range []string{"a", "b"} {
			m.Put([]byte("f"), []byte(q), 1, []byte("value"))
			c := cell.Cell{Row: row, Family: []byte("f"), Qualifier: []byte(q), Value: []byte("value")}
			size += int64(c.Size())
		}
		batch = append(batch, *m)
	}
	mustApply(t, s, "t", batch...)
	want := heatOfTable(t, s, "t")
	check := func(what string, rows, bytes int64) {
		t.Helper()
		want.RowsRead += rows
		want.BytesRead += bytes
		if got := heatOfTable(t, s, "t"); got != want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}

	var r cell.Result
	for _, row := range []string{"row007", "none"} {
		if err := s.Get(t.Context(), "t", &cell.Get{Row: []byte(row)}, &r); err != nil {
			t.Fatal(err)
		}
	}
	check("a row and one that is not there", 2, size/rows)

	if n := scanAll(t, s, "t", &cell.Scan{}); n != rows {
		t.Fatalf("%d rows", n)
	}
	check("a whole scan", rows, size)

	// In parts of one cell: as many bytes, and not more rows.
	scanAll(t, s, "t", &cell.Scan{Batch: 1})
	check("a scan in parts", rows, size)

	// An open scanner adds what it has read in steps.
	sc, err := s.Scan(t.Context(), "t", &cell.Scan{})
	if err != nil {
		t.Fatal(err)
	}
	for range heatEvery {
		if _, err := sc.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	check("a scanner on its way", heatEvery, size/rows*heatEvery)
	if _, err := sc.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("one row more", 0, 0)
	if err := sc.Close(); err != nil {
		t.Fatal(err)
	}
	check("the scanner closed", 1, size/rows)

	// Reads of a snapshot are reads of the table.
	snap, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	scanAll(t, snap, "t", &cell.Scan{})
	if err := snap.Close(); err != nil {
		t.Fatal(err)
	}
	check("a snapshot", rows, size)
}

// What readers and writers count at the same time is all there in the end.
func TestHeat_losesNothing(t *testing.T) {
	s := mustOpen(t, Options{Dir: t.TempDir()})
	mustCreate(t, s, "t", "f")
	const workers, each = 4, 50
	done := make(chan error, workers)
	for w := range workers {
		go func() {
			var r cell.Result
			var err error
			for i := range each {
				row := fmt.Appendf(nil, "%d-%d", w, i)
				_, werr := s.Apply(context.Background(), "t", []cell.Mutation{*cell.NewMutation(row).Put([]byte("f"), nil, 1, nil)})
				err = errors.Join(err, werr, s.Get(context.Background(), "t", &cell.Get{Row: row}, &r))
			}
			done <- err
		}()
	}
	for range workers {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if h := heatOfTable(t, s, "t"); h.RowsWritten != workers*each || h.RowsRead != workers*each {
		t.Errorf("%+v, want %d rows each", h, workers*each)
	}
}

// A truncated table begins anew; a closed store says so.
func TestHeat_ofTruncatedAndClosed(t *testing.T) {
	s := mustOpen(t, Options{Dir: t.TempDir()})
	mustCreate(t, s, "t", "f")
	mustApply(t, s, "t", *cell.NewMutation([]byte("r")).Put([]byte("f"), nil, 1, nil))
	if err := errors.Join(s.DisableTable(t.Context(), "t"), s.TruncateTable(t.Context(), "t", true)); err != nil {
		t.Fatal(err)
	}
	if h := heatOfTable(t, s, "t"); h.RowsWritten != 0 {
		t.Errorf("after truncate: %+v", h)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.HeatOf(s); !errors.Is(err, store.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}
