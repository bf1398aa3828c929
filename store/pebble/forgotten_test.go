package pebble

import (
	"context"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// A thousand scanners that nobody goes on with, nor closes, hold no iterator
// two seconds later, so files that were rewritten meanwhile are deleted; each
// can still go on.
func TestForgottenScannersHoldNoFiles(t *testing.T) {
	ctx := context.Background()
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewMem()
		s, err := Open(ctx, Options{Dir: "data", FS: fs, NoJanitor: true})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		mustCreate(t, s, "t", "f", "g")
		fill := func() {
			for i := range 10 {
				m := cell.NewMutation(fmt.Appendf(nil, "r%d", i))
				mustApply(t, s, "t", *m.Put([]byte("f"), nil, 1, randomBytes(1000)).Put([]byte("g"), nil, 1, nil))
			}
			if err := s.Flush(ctx, "t"); err != nil {
				t.Fatal(err)
			}
		}
		files := func() (n int) {
			names, err := fs.List("data")
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				if len(name) > 4 && name[len(name)-4:] == ".sst" {
					n++
				}
			}
			return n
		}
		fill()
		var scanners []store.Scanner
		for range 1000 {
			sc, err := s.Scan(ctx, "t", &cell.Scan{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := sc.Next(ctx); err != nil {
				t.Fatal(err)
			}
			scanners = append(scanners, sc)
		}
		if n := s.Figures().OpenIterators; n < 2000 {
			t.Fatalf("%d iterators are open: nothing is tested", n)
		}
		fill()
		if err := s.Compact(ctx, "t", cell.Range{}, true); err != nil {
			t.Fatal(err)
		}
		pinned := files()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := s.Figures().OpenIterators; n != 0 {
			t.Errorf("%d iterators are held", n)
		}
		if n := files(); n >= pinned {
			t.Errorf("%d files are there, as many as while the scanners held some", n)
		}
		for _, sc := range scanners {
			rows := 1
			for ; ; rows++ {
				if _, err := sc.Next(ctx); err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
			if rows != 10 {
				t.Fatalf("a scanner gave %d rows", rows)
			}
			if err := sc.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
