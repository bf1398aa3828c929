package pebble

import (
	"context"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/cell"
)

// A store in folders that did not exist survives a crash: each of them is
// synced into its parent before anything is acknowledged.
func TestNewFoldersSurviveCrash(t *testing.T) {
	for _, dir := range []string{"data", "a/b/data", "/x/y/z/data"} {
		t.Run(dir, func(t *testing.T) {
			fs := vfs.NewCrashableMem()
			s := mustOpen(t, Options{Dir: dir, FS: fs, NoJanitor: true})
			mustCreate(t, s, "t", "f")
			mustApply(t, s, "t", *cell.NewMutation([]byte("r")).Put([]byte("f"), nil, 1, nil))
			crashed := mustOpen(t, Options{Dir: dir, FS: fs.CrashClone(vfs.CrashCloneCfg{}), NoJanitor: true})
			var r cell.Result
			if err := crashed.Get(context.Background(), "t", &cell.Get{Row: []byte("r")}, &r); err != nil || len(r.Cells) != 1 {
				t.Errorf("after the crash the row has %d cells: %v", len(r.Cells), err)
			}
		})
	}
}
