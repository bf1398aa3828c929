package pebble

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
)

// filterRows is how many rows BenchmarkFilterScan goes over.
const filterRows = 600_000

// fillForFilters loads rows of the published shape, three columns of 331 bytes,
// in which one in a thousand is marked in its key, and in a column.
func fillForFilters(b *testing.B) *Store {
	s := openBench(b)
	pool := benchPool()
	for from := 0; from < filterRows; from += 300 {
		batch := make([]cell.Mutation, 300)
		for i := range batch {
			n := from + i
			mark := "plain "
			if n%1000 == 7 {
				mark = "marked"
			}
			m := &batch[i]
			m.Row = fmt.Appendf(nil, "RK_%08d_%s", n, mark)
			m.Durability = cell.SkipWAL
			for q := range 3 {
				v := append([]byte(mark), pool[(n+q)%len(pool)]...)
				m.Put([]byte("f1"), []byte{'1' + byte(q)}, cell.Latest, v)
			}
		}
		if _, err := s.Apply(context.Background(), benchTable, batch); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Compact(context.Background(), benchTable, cell.Range{}, false); err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkFilterScan scans rows with filters that keep one in a thousand,
// beside the scan that keeps all. A rate is of rows looked at.
func BenchmarkFilterScan(b *testing.B) {
	s := fillForFilters(b)
	text := func(t string) cell.Filter {
		f, err := filter.Parse([]byte(t))
		if err != nil {
			b.Fatal(err)
		}
		return f
	}
	for _, bc := range []struct {
		name string
		read cell.Read
		kept int
	}{
		{"all", cell.Read{}, filterRows},
		{"SingleColumnValue", cell.Read{Filter: text("SingleColumnValueFilter('f1','1',=,'binaryprefix:marked')")}, filterRows / 1000},
		{"RowSubstring", cell.Read{Filter: text("RowFilter(=,'substring:marked')")}, filterRows / 1000},
		{"RowRegex", cell.Read{Filter: text("RowFilter(=,'regexstring:_marked$')")}, filterRows / 1000},
		{"Value", cell.Read{Filter: text("ValueFilter(=,'binaryprefix:marked')")}, filterRows / 1000},
	} {
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			looked := 0
			for looked < b.N {
				sc, err := s.Scan(context.Background(), benchTable, &cell.Scan{Read: bc.read})
				if err != nil {
					b.Fatal(err)
				}
				kept := 0
				for {
					if _, err := sc.Next(context.Background()); err == io.EOF {
						break
					} else if err != nil {
						b.Fatal(err)
					}
					kept++
				}
				if err := sc.Close(); err != nil {
					b.Fatal(err)
				}
				if kept != bc.kept {
					b.Fatalf("%d rows are kept, want %d", kept, bc.kept)
				}
				looked += filterRows
			}
			b.ReportMetric(float64(looked)/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}
