package pebble

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/cell"
)

// A log that ends inside its first record has nothing for a start to flush, and
// Pebble would keep it beside the next log. Another crash would make it an older
// log, which must end whole, and the store would not open any more.
func TestCrashesUponATornFirstRecord(t *testing.T) {
	tried := 0
	for _, kept := range []int{1, 7, 11, 20, 200, 900} { // bytes of the first record
		fs := vfs.NewCrashableMem()
		s := mustOpen(t, Options{Dir: "data", FS: fs, NoJanitor: true})
		mustCreate(t, s, "t", "f")
		mustApply(t, s, "t", *cell.NewMutation([]byte("old")).Put([]byte("f"), nil, 5, []byte("v")))
		if err := s.db.Flush(); err != nil { // the next record is the first of a log
			t.Fatal(err)
		}
		mustApply(t, s, "t", *cell.NewMutation([]byte("torn")).Put([]byte("f"), nil, 5, make([]byte, 1000)))
		torn := fs.CrashClone(vfs.CrashCloneCfg{})
		cutLastLog(t, torn, "data", kept)
		for start := range 3 {
			s, err := Open(t.Context(), Options{Dir: "data", FS: torn, NoJanitor: true})
			if err != nil {
				t.Fatalf("%d bytes of the first record, start %d: %v", kept, start+1, err)
			}
			torn = torn.CrashClone(vfs.CrashCloneCfg{})
			var row cell.Result
			if err := s.Get(t.Context(), "t", &cell.Get{Row: []byte("old")}, &row); err != nil || len(row.Cells) != 1 {
				t.Errorf("%d bytes of the first record, start %d: %d cells: %v", kept, start+1, len(row.Cells), err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			tried++
		}
	}
	if tried != 18 {
		t.Errorf("%d starts, want 18", tried)
	}
}

// cutLastLog leaves some bytes of the newest log of a store.
func cutLastLog(t *testing.T, fs *vfs.MemFS, dir string, kept int) {
	t.Helper()
	files, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(f string) bool { return !strings.HasSuffix(f, ".log") })
	name := fs.PathJoin(dir, slices.Max(files))
	from, err := fs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(from)
	if err != nil || len(all) <= kept {
		t.Fatalf("%s has %d bytes: %v", name, len(all), err)
	}
	to, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	_, err = to.Write(slices.Clone(all[:kept]))
	folder, openErr := fs.OpenDir(dir)
	for _, err := range []error{err, openErr, to.Sync(), to.Close(), from.Close(), folder.Sync(), folder.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
}
