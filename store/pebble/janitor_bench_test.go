package pebble

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cellardb/cellar/cell"
)

var (
	overwriteFor  = flag.Duration("overwrite.for", 0, "how long BenchmarkSteadyOverwriting writes; 0: it is skipped")
	overwriteRows = flag.Int("overwrite.rows", 1_000_000, "rows of 1 KB that BenchmarkSteadyOverwriting overwrites")
	overwriteRate = flag.Int("overwrite.rate", 30_000, "rows a second that BenchmarkSteadyOverwriting offers")
)

// openOverwriting opens a store whose table keeps one version.
func openOverwriting(b *testing.B, o Options) *Store {
	b.Helper()
	o.Dir = b.TempDir()
	s, err := Open(context.Background(), o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	f := cell.NewFamily("f1")
	f.MaxVersions = 1
	if err := s.CreateTable(context.Background(), cell.TableSchema{Name: benchTable, Families: []cell.FamilySchema{f}}, nil); err != nil {
		b.Fatal(err)
	}
	return s
}

// overwriteAll writes each of the rows once more, 300 at a time.
func overwriteAll(b *testing.B, s *Store, pool [][]byte, rows int) {
	b.Helper()
	r := rand.New(rand.NewPCG(uint64(rows), 7))
	for from := 0; from < rows; from += 300 {
		batch := make([]cell.Mutation, min(300, rows-from))
		for i := range batch {
			overwrite(&batch[i], from+i, pool, r)
			batch[i].Durability = cell.SkipWAL
		}
		if _, err := s.Apply(context.Background(), benchTable, batch); err != nil {
			b.Fatal(err)
		}
	}
}

// overwrite makes a put of three cells of 331 bytes in the row with a number.
func overwrite(m *cell.Mutation, row int, pool [][]byte, r *rand.Rand) {
	m.Row = fmt.Appendf(nil, "RK_%08d_%d", row*2654435761%100_000_000, row)
	for q := range 3 {
		m.Put([]byte("f1"), []byte{'1' + byte(q)}, cell.Latest, pool[r.IntN(len(pool))])
	}
}

// BenchmarkScanOverwritten scans rows of which each cell was overwritten ten
// times, before and after the janitor went over them, and such as were written
// once only. All of them fit into the cache.
func BenchmarkScanOverwritten(b *testing.B) {
	const rows = 6_000
	pool := benchPool()
	ctx := context.Background()
	fill := func(b *testing.B, times int) *Store {
		s := openOverwriting(b, Options{NoJanitor: true})
		for range times {
			overwriteAll(b, s, pool, rows)
		}
		if err := s.Compact(ctx, benchTable, cell.Range{}, false); err != nil {
			b.Fatal(err)
		}
		return s
	}
	b.Run("clean", func(b *testing.B) { scanRows(b, fill(b, 1), rows) })
	b.Run("before", func(b *testing.B) { scanRows(b, fill(b, 11), rows) })
	b.Run("after", func(b *testing.B) {
		s := fill(b, 11)
		s.janitor.unpaced = true
		for range 2 + len(s.janitor.owed) {
			s.janitor.meter = meter{} // as after a while without writes
			if err := s.janitor.round(ctx); err != nil {
				b.Fatal(err)
			}
		}
		scanRows(b, s, rows)
	})
}

// scanRows scans the table over and over; b.N counts rows.
func scanRows(b *testing.B, s *Store, rows int) {
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; {
		sc, err := s.Scan(context.Background(), benchTable, &cell.Scan{})
		if err != nil {
			b.Fatal(err)
		}
		seen := 0
		for ; n < b.N; n++ {
			r, err := sc.Next(context.Background())
			if err == io.EOF {
				break
			}
			if err != nil || len(r.Cells) != 3 {
				b.Fatal(r, err)
			}
			seen++
		}
		if n < b.N && seen != rows {
			b.Fatalf("%d rows were seen, want %d", seen, rows)
		}
		if err := sc.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkSteadyOverwriting loads rows, then overwrites random ones at a steady
// rate, with the memory that a server with 512 MiB gives its store. It reports
// what was reached of the rate, and the largest size of all tables over that of
// the live data, whose own is taken after the load.
func BenchmarkSteadyOverwriting(b *testing.B) {
	if *overwriteFor == 0 {
		b.Skip("takes minutes: say how long with -overwrite.for 3m")
	}
	for range b.N {
		steadyOverwriting(b)
	}
}

func steadyOverwriting(b *testing.B) {
	ctx := context.Background()
	s := openOverwriting(b, Options{CacheBytes: 512 << 20 * 35 / 100, MemtableBytes: 512 << 20 / 10})
	pool := benchPool()
	overwriteAll(b, s, pool, *overwriteRows)
	if err := s.Compact(ctx, benchTable, cell.Range{}, false); err != nil {
		b.Fatal(err)
	}
	live := tableBytes(s)
	var written atomic.Int64
	var wg sync.WaitGroup
	stop, cancel := context.WithTimeout(ctx, *overwriteFor)
	defer cancel()
	b.ResetTimer()
	start := time.Now()
	for g := range 10 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 11))
			const batchRows = 300
			for n := 0; stop.Err() == nil; n++ {
				due := start.Add(time.Duration(n*10+g) * batchRows * time.Second / time.Duration(*overwriteRate))
				if late := time.Since(due); late < 0 {
					time.Sleep(-late)
				}
				batch := make([]cell.Mutation, batchRows)
				for i := range batch {
					overwrite(&batch[i], r.IntN(*overwriteRows), pool, r)
				}
				if _, err := s.Apply(ctx, benchTable, batch); err != nil {
					b.Error(err)
					return
				}
				written.Add(batchRows)
			}
		})
	}
	largest := watchTables(b, s, stop, &written, live)
	wg.Wait()
	rate := float64(written.Load()) / time.Since(start).Seconds()
	b.ReportMetric(rate, "rows/s")
	b.ReportMetric(float64(largest)/float64(live), "tables/live")
	b.ReportMetric(0, "ns/op")
}

// watchTables logs the state each ten seconds until the context ends, and gives
// the largest size of all tables.
func watchTables(b *testing.B, s *Store, ctx context.Context, written *atomic.Int64, live uint64) uint64 {
	var largest uint64
	last := int64(0)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return largest
		case <-tick.C:
		}
		size := tableBytes(s)
		largest = max(largest, size)
		if n%10 == 0 {
			now := written.Load()
			f := s.Figures()
			b.Logf("%3d s: %d rows/s, tables %.2f of live, L0 %d files %d deep, debt %d MiB, garbage %.2f, %d cells collected",
				n, (now-last)/10, float64(size)/float64(live), f.L0Files, f.L0Sublevels, f.CompactionDebt>>20, f.Garbage, f.Collected)
			last = now
		}
	}
}

// tableBytes is the size of all tables that are part of the store now.
func tableBytes(s *Store) uint64 {
	var n int64
	m := s.db.Metrics()
	for i := range m.Levels {
		n += m.Levels[i].TablesSize
	}
	return uint64(n)
}
