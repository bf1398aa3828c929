package pebble

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// A call that looks for the next row among a thousand that show nothing lets
// those in who wait for the table, and sees what they did.
func TestLongNextLetsOthersHaveTheTable(t *testing.T) {
	ctx := context.Background()
	for _, tc := range []struct {
		name string
		do   func(*Store) error
		row  string
		want error
	}{
		{"nothing", func(*Store) error { return nil }, "z", nil},
		{"alter", func(s *Store) error {
			return s.AlterTable(ctx, cell.TableSchema{Name: "t", Families: []cell.FamilySchema{cell.NewFamily("f"), cell.NewFamily("g")}})
		}, "z", nil},
		{"disable and enable", func(s *Store) error { return errors.Join(s.DisableTable(ctx, "t"), s.EnableTable(ctx, "t")) }, "z", nil},
		{"disable", func(s *Store) error { return s.DisableTable(ctx, "t") }, "", store.ErrTableDisabled},
		{"drop", func(s *Store) error { return errors.Join(s.DisableTable(ctx, "t"), s.DropTable(ctx, "t")) }, "", store.ErrTableNotFound},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := mustOpen(t, Options{Dir: "data", FS: vfs.NewMem(), NoJanitor: true})
			mustCreate(t, s, "t", "f")
			for i := range 1000 {
				row := fmt.Appendf(nil, "a%04d", i)
				mustApply(t, s, "t", *cell.NewMutation(row).Put([]byte("f"), nil, 1, nil).DeleteColumn([]byte("f"), nil, 1))
			}
			mustApply(t, s, "t", *cell.NewMutation([]byte("z")).Put([]byte("f"), nil, 1, nil))
			opened, err := s.Scan(ctx, "t", &cell.Scan{})
			if err != nil {
				t.Fatal(err)
			}
			sc := opened.(*scanner)
			sc.breath = 0
			breaths := 0
			sc.breathed = func() {
				if breaths++; breaths == 1 {
					if err := tc.do(s); err != nil {
						t.Error(err)
					}
				}
			}
			r, err := sc.Next(ctx)
			if !errors.Is(err, tc.want) || tc.want == nil && (err != nil || string(r.Row) != tc.row) {
				t.Errorf("the call answers %v, %v; want row %q, %v", r, err, tc.row, tc.want)
			}
			if breaths == 0 {
				t.Error("the call held the table all the time")
			}
			if err := sc.Close(); err != nil {
				t.Error(err)
			}
			// The lock is free however the call ended.
			if err := s.CreateTable(ctx, cell.TableSchema{Name: "u", Families: []cell.FamilySchema{cell.NewFamily("f")}}, nil); err != nil {
				t.Error(err)
			}
			if sc.t.mu.TryLock() {
				sc.t.mu.Unlock()
			} else {
				t.Error("the table is locked after the call")
			}
		})
	}
}
