package pebble

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
	"github.com/cellardb/cellar/store"
)

var errDisk = errors.New("the disk does not answer")

// failingDisk fails the n-th read of a table file since it was armed.
type failingDisk struct {
	armed, reads atomic.Int64
}

func (d *failingDisk) MaybeError(op errorfs.Op) error {
	if op.Kind != errorfs.OpFileReadAt || !strings.HasSuffix(op.Path, ".sst") {
		return nil
	}
	if n := d.reads.Add(1); n == d.armed.Load() {
		return errDisk
	}
	return nil
}

func (d *failingDisk) String() string { return "one failing read" }

// Each read, with each of its reads of the disk failing once: it says so, and
// does not end early, and the next try answers all.
func TestReadErrorsAreToldNotSkipped(t *testing.T) {
	ctx := context.Background()
	disk := &failingDisk{}
	s := mustOpen(t, Options{Dir: "data", FS: errorfs.Wrap(vfs.NewMem(), disk), CacheBytes: 1, MemtableBytes: 1 << 20, NoJanitor: true})
	f, g := cell.NewFamily("f"), cell.NewFamily("g")
	f.MaxVersions, g.MaxVersions = 3, 3
	if err := s.CreateTable(ctx, cell.TableSchema{Name: "t", Families: []cell.FamilySchema{f, g}}, nil); err != nil {
		t.Fatal(err)
	}
	value := randomBytes(4_000)
	for i := range 30 {
		row := fmt.Appendf(nil, "r%02d", i)
		for version := range 4 {
			m := cell.NewMutation(row)
			for q := range 5 {
				name := fmt.Appendf(nil, "q%d", q)
				m.Put([]byte("f"), name, int64(10+version), value).Put([]byte("g"), name, int64(10+version), value)
			}
			if version == 1 {
				m.DeleteFamily([]byte("g"), 5).DeleteColumn([]byte("f"), []byte("q2"), 11)
			}
			mustApply(t, s, "t", *m)
		}
		// Several files, so that an iterator crosses from one to the next.
		if i%10 == 9 {
			if err := s.Flush(ctx, "t"); err != nil {
				t.Fatal(err)
			}
		}
	}
	pages := func() cell.Filter { return filter.Page{Rows: 7} }
	skips := func() cell.Filter {
		return filter.All(filter.MultipleColumnPrefix{Prefixes: [][]byte{[]byte("q1"), []byte("q4")}}, filter.InclusiveStop{Row: []byte("r22")})
	}
	scans := map[string]func() *cell.Scan{
		"all":      func() *cell.Scan { return &cell.Scan{} },
		"versions": func() *cell.Scan { return &cell.Scan{Read: cell.Read{MaxVersions: 3}} },
		"reversed": func() *cell.Scan { return &cell.Scan{Reversed: true} },
		"raw":      func() *cell.Scan { return &cell.Scan{Raw: true, Read: cell.Read{MaxVersions: 9}} },
		"parts":    func() *cell.Scan { return &cell.Scan{Batch: 3} },
		"one old":  func() *cell.Scan { return &cell.Scan{Read: cell.Read{Within: cell.TimeRange{Min: 10, Max: 12}}} },
		"columns": func() *cell.Scan {
			return &cell.Scan{Read: cell.Read{Select: []cell.FamilySelect{{Family: []byte("f"), Qualifiers: [][]byte{[]byte("q0"), []byte("q3")}}}}}
		},
		"filtered":       func() *cell.Scan { return &cell.Scan{Read: cell.Read{Filter: pages()}} },
		"hints":          func() *cell.Scan { return &cell.Scan{Read: cell.Read{Filter: skips()}} },
		"reversed parts": func() *cell.Scan { return &cell.Scan{Reversed: true, Batch: 4, Read: cell.Read{MaxVersions: 2}} },
	}
	for name, scan := range scans {
		t.Run(name, func(t *testing.T) {
			answers := func() string { return readScan(ctx, s, scan()) }
			disk.armed.Store(0)
			disk.reads.Store(0)
			whole := answers()
			reads := disk.reads.Load()
			if strings.Contains(whole, errDisk.Error()) || len(whole) < 100 || reads < 10 {
				t.Fatalf("without a fault, %d reads: %.200s", reads, whole)
			}
			told := 0
			for n := int64(1); n <= reads; n++ {
				disk.reads.Store(0)
				disk.armed.Store(n)
				got := answers()
				before, failed := strings.CutSuffix(got, errDisk.Error())
				switch {
				case failed && strings.HasPrefix(whole, before):
					told++
				case got != whole: // what was read ahead may not be needed
					t.Errorf("read %d of %d fails: the scan gives %d bytes, and not the error, of %d", n, reads, len(got), len(whole))
				}
			}
			if told < int(reads)/3 {
				t.Errorf("%d of %d failing reads were told", told, reads)
			}
			disk.armed.Store(0)
			if again := answers(); again != whole {
				t.Error("after the faults the scan gives another answer")
			}
		})
	}
	if len(scans) != 10 {
		t.Errorf("%d scans", len(scans))
	}
}

// readScan writes down what a scan gives, up to its error.
func readScan(ctx context.Context, s store.Reader, scan *cell.Scan) string {
	var out strings.Builder
	sc, err := s.Scan(ctx, "t", scan)
	for err == nil {
		var r *cell.Result
		if r, err = sc.Next(ctx); err == nil {
			for _, c := range r.Cells {
				fmt.Fprintf(&out, "%s %s:%s@%d %v %d\n", r.Row, c.Family, c.Qualifier, c.Timestamp, c.Type, len(c.Value))
			}
		}
	}
	if sc != nil {
		err = errors.Join(err, sc.Close())
	}
	switch {
	case errors.Is(err, errDisk):
		out.WriteString(errDisk.Error())
	case !errors.Is(err, io.EOF):
		fmt.Fprintf(&out, "another error: %v", err)
	}
	return out.String()
}
