package pebble

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cellardb/cellar/cell"
)

const benchTable = "bench"

func openBench(b *testing.B) *Store {
	b.Helper()
	s, err := Open(context.Background(), Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	f := cell.NewFamily("f1")
	if err := s.CreateTable(context.Background(), cell.TableSchema{Name: benchTable, Families: []cell.FamilySchema{f}}, nil); err != nil {
		b.Fatal(err)
	}
	return s
}

// benchBatch is 300 records of 1 KB, the published workload.
func benchBatch(r *rand.Rand, pool [][]byte, from int, d cell.Durability) []cell.Mutation {
	batch := make([]cell.Mutation, 300)
	for i := range batch {
		m := &batch[i]
		m.Row = fmt.Appendf(nil, "RK_%d_%d", r.Uint64(), from+i)
		m.Durability = d
		for q := range 3 {
			m.Put([]byte("f1"), []byte{'1' + byte(q)}, cell.Latest, pool[r.IntN(len(pool))])
		}
	}
	return batch
}

func benchPool() [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	pool := make([][]byte, 1000)
	for i := range pool {
		v := make([]byte, 331)
		for j := range v {
			v[j] = byte(' ' + r.IntN(95))
		}
		pool[i] = v
	}
	return pool
}

func load(b *testing.B, s *Store, rows int, d cell.Durability) {
	pool := benchPool()
	var next atomic.Int64
	var wg sync.WaitGroup
	for g := range 10 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 7))
			for {
				from := int(next.Add(300)) - 300
				if from >= rows {
					return
				}
				if _, err := s.Apply(context.Background(), benchTable, benchBatch(r, pool, from, d)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkLoad(b *testing.B) {
	for _, d := range []cell.Durability{cell.SyncWAL, cell.SkipWAL} {
		b.Run(d.String(), func(b *testing.B) {
			s := openBench(b)
			b.SetBytes(1024)
			b.ReportAllocs()
			b.ResetTimer()
			load(b, s, b.N, d)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func BenchmarkScan(b *testing.B) {
	s := openBench(b)
	load(b, s, 100_000, cell.SkipWAL)
	if err := s.Compact(context.Background(), benchTable, cell.Range{}, false); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	rows := 0
	for rows < b.N {
		sc, err := s.Scan(context.Background(), benchTable, &cell.Scan{})
		if err != nil {
			b.Fatal(err)
		}
		for rows < b.N {
			if _, err := sc.Next(context.Background()); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
			rows++
		}
		if err := sc.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkGet(b *testing.B) {
	s := openBench(b)
	load(b, s, 100_000, cell.SkipWAL)
	if err := s.Compact(context.Background(), benchTable, cell.Range{}, false); err != nil {
		b.Fatal(err)
	}
	var keys [][]byte
	sc, err := s.Scan(context.Background(), benchTable, &cell.Scan{})
	if err != nil {
		b.Fatal(err)
	}
	for {
		r, err := sc.Next(context.Background())
		if err == io.EOF {
			break
		} else if err != nil {
			b.Fatal(err)
		}
		keys = append(keys, append([]byte(nil), r.Row...))
	}
	if err := sc.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		r := rand.New(rand.NewPCG(rand.Uint64(), 7))
		var res cell.Result
		for pb.Next() {
			if err := s.Get(context.Background(), benchTable, &cell.Get{Row: keys[r.IntN(len(keys))]}, &res); err != nil || len(res.Cells) != 3 {
				b.Error(err, len(res.Cells))
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkIncrement(b *testing.B) {
	s := openBench(b)
	b.ReportAllocs()
	r := rand.New(rand.NewPCG(3, 7))
	b.ResetTimer()
	for n := 0; n < b.N; n += 300 {
		batch := make([]cell.Mutation, 300)
		for i := range batch {
			batch[i].Row = fmt.Appendf(nil, "counter%d", r.IntN(1000))
			batch[i].Increment([]byte("f1"), []byte("n"), 1)
			batch[i].Durability = cell.SkipWAL
		}
		if _, err := s.Apply(context.Background(), benchTable, batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
