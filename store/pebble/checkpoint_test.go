package pebble

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// checkCopy verifies a copy and reads it, and wants it to hold whole rows only.
func checkCopy(t *testing.T, fs vfs.FS, dir string) map[string]string {
	t.Helper()
	_, err := Verify(context.Background(), Options{Dir: dir, FS: fs}, store.VerifyOptions{Found: func(f store.Fault) { t.Error(f.String()) }})
	if err != nil {
		t.Fatal(err)
	}
	endsWhole(t, fs, dir)
	s, err := Open(context.Background(), Options{Dir: dir, FS: fs, NoJanitor: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	cells, err := readAll(s, "t")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	n := map[string]int{}
	for key, v := range cells {
		row, _, _ := strings.Cut(key, "/")
		if old, ok := rows[row]; ok && old != v {
			t.Errorf("row %s holds %q and %q", row, old, v)
		}
		rows[row] = v
		n[row]++
	}
	for row, k := range n {
		if k != len(crashColumns) {
			t.Errorf("row %s is there by half: %d columns", row, k)
		}
	}
	return rows
}

// endsWhole wants the newest log of a copy to end with its last whole record.
func endsWhole(t *testing.T, fs vfs.FS, dir string) {
	t.Helper()
	all, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	newest, number := "", uint32(0)
	for _, name := range all {
		if n, ok := logNumber(name); ok && n >= number {
			newest, number = fs.PathJoin(dir, name), n
		}
	}
	format, err := formatOf(fs, newest, number)
	if err != nil {
		t.Fatal(err)
	}
	w := &recordWalk{format: format}
	if size, err := walkFile(fs, newest, w); err != nil || size != w.whole { // 0: the log was just begun
		t.Errorf("%s has %d bytes, the last whole record ends at %d: %v", newest, size, w.whole, err)
	}
}

// A copy that is made under writers holds what was acknowledged before it began,
// of any durability, and whole batches only; nothing that was not written.
func TestCheckpointHasWhatWasAcknowledged(t *testing.T) {
	fs := vfs.NewMem()
	s := mustOpen(t, Options{Dir: "data", FS: fs, MemtableBytes: 4 << 20})
	mustCreate(t, s, "t", "f", "g")
	a := &acks{rows: map[string]string{}}
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for id, d := range []cell.Durability{cell.SyncWAL, cell.SkipWAL, cell.AsyncWAL, cell.SyncWAL} {
		wg.Go(func() {
			if err := crashWriter(ctx, s, a, id, d); err != nil {
				t.Error(err)
			}
		})
	}
	rng := rand.New(rand.NewPCG(6, 6))
	copies, acked := 0, []map[string]string{}
	for i := range 4 {
		for want := a.count() + 100 + rng.IntN(3000); a.count() < want && !t.Failed(); {
			runtime.Gosched()
		}
		acked = append(acked, a.copy())
		if err := s.Checkpoint(context.Background(), fmt.Sprint("copy", i)); err != nil {
			t.Fatal(err)
		}
		copies++
	}
	stop()
	wg.Wait()
	all := a.copy() // every batch of the writers was acknowledged by now
	for i := range copies {
		got := checkCopy(t, fs, fmt.Sprint("copy", i))
		lost, foreign := 0, 0
		for row, v := range acked[i] {
			if got[row] != v {
				lost++
			}
		}
		for row, v := range got {
			if all[row] != v {
				foreign++
			}
		}
		if lost > 0 || foreign > 0 {
			t.Errorf("copy %d: %d of %d acknowledged rows are lost, %d of %d rows were not written", i, lost, len(acked[i]), foreign, len(got))
		}
	}
	if copies != 4 {
		t.Errorf("%d copies", copies)
	}
}

// The first log of a store has another form than the later ones: nothing of it
// is cut.
func TestCheckpointOfNewStore(t *testing.T) {
	fs := vfs.NewMem()
	s := mustOpen(t, Options{Dir: "data", FS: fs})
	mustCreate(t, s, "t", "f", "g")
	want := map[string]string{}
	for i := range 20 {
		m := cell.NewMutation(fmt.Appendf(nil, "r%d", i))
		for _, c := range crashColumns {
			m.Put([]byte(c[0]), []byte(c[1]), cell.Latest, []byte("v"))
		}
		mustApply(t, s, "t", *m)
		want[string(m.Row)] = "v"
	}
	if err := s.Checkpoint(context.Background(), "copy"); err != nil {
		t.Fatal(err)
	}
	if got := checkCopy(t, fs, "copy"); !maps.Equal(got, want) {
		t.Errorf("%d rows of %d", len(got), len(want))
	}
}

// Tables that are dropped while a copy is made are in it, with or without their
// mark, but never by their cells alone.
func TestCheckpointBesideDrops(t *testing.T) {
	ctx := context.Background()
	fs := vfs.NewMem()
	s := mustOpen(t, Options{Dir: "data", FS: fs, NoJanitor: true})
	mustCreate(t, s, "t", "f", "g")
	ended := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-ended:
				return
			default:
			}
			name := fmt.Sprint("d", i)
			mustCreate(t, s, name, "f")
			for k := range 20 {
				mustApply(t, s, name, *cell.NewMutation([]byte{byte(k)}).Put([]byte("f"), nil, 1, []byte("v")))
			}
			if err := s.Flush(ctx, name); err != nil {
				t.Error(err)
			}
			if err := s.DisableTable(ctx, name); err != nil {
				t.Error(err)
			}
			if err := s.DropTable(ctx, name); err != nil {
				t.Error(err)
			}
		}
	})
	const copies = 15
	for i := range copies {
		if err := s.Checkpoint(ctx, fmt.Sprint("copy", i)); err != nil {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
	close(ended)
	wg.Wait()
	for i := range copies {
		_, err := Verify(ctx, Options{Dir: fmt.Sprint("copy", i), FS: fs}, store.VerifyOptions{Found: func(f store.Fault) { t.Errorf("copy %d: %s", i, f.String()) }})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A closed store, and one whose process was killed, are copied without being
// opened: the copy opens to the same.
func TestCheckpointOfClosedStore(t *testing.T) {
	for name, make := range map[string]func(*testing.T) *vfs.MemFS{"closed": closedStore, "killed": killedStore} {
		t.Run(name, func(t *testing.T) {
			fs := make(t)
			before := names(t, fs)
			if err := CheckpointClosed(context.Background(), Options{Dir: "data", FS: fs}, "copy"); err != nil {
				t.Fatal(err)
			}
			if after := names(t, fs); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("the store's files are %v, and were %v", after, before)
			}
			if name == "killed" {
				endsWhole(t, fs, "copy")
			}
			read := func(dir string) map[string]string {
				s := mustOpen(t, Options{Dir: dir, FS: fs, NoJanitor: true})
				cells, err := readAll(s, "ns:t")
				if err != nil {
					t.Fatal(err)
				}
				return cells
			}
			if a, b := read("data"), read("copy"); !maps.Equal(a, b) || len(a) < 150 {
				t.Errorf("the store has %d cells, the copy %d", len(a), len(b))
			}
		})
	}
}

func TestCheckpointRefusals(t *testing.T) {
	ctx := context.Background()
	fs := vfs.NewMem()
	s, err := Open(ctx, Options{Dir: "data", FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Checkpoint(ctx, "data"); err == nil {
		t.Error("copied onto itself")
	}
	if err := CheckpointClosed(ctx, Options{Dir: "data", FS: vfs.Default}, "copy"); err == nil {
		t.Error("copied a folder that is not there")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Checkpoint(ctx, "copy"); err != store.ErrClosed {
		t.Errorf("of a closed one: %v", err)
	}
	// What could not be opened is not copied either.
	for _, n := range names(t, fs) {
		if strings.HasPrefix(n, "OPTIONS-") {
			save(t, fs, n, []byte("nonsense"))
		}
	}
	if err := CheckpointClosed(ctx, Options{Dir: "data", FS: fs}, "copy"); err == nil {
		t.Error("copied a damaged store")
	}
	if all, err := fs.List("copy"); err == nil {
		t.Errorf("a copy is left: %v", all)
	}
}

// On a disk the sstables are links.
func TestCheckpointLinks(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, Options{Dir: filepath.Join(dir, "data"), NoJanitor: true})
	everyKind(t, s)
	// Nothing is left to be compacted meanwhile.
	if err := s.Compact(context.Background(), "ns:t", cell.Range{}, true); err != nil {
		t.Fatal(err)
	}
	before := map[string]os.FileInfo{}
	tables, err := filepath.Glob(filepath.Join(dir, "data", "*.sst"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range tables {
		info, err := os.Stat(path)
		if err == nil {
			before[filepath.Base(path)] = info
		}
	}
	if err := s.Checkpoint(context.Background(), filepath.Join(dir, "copy")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "copy"))
	if err != nil {
		t.Fatal(err)
	}
	linked := 0
	for _, e := range entries {
		a, err := os.Stat(filepath.Join(dir, "copy", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		b := before[e.Name()]
		same := b != nil && os.SameFile(a, b)
		if same != strings.HasSuffix(e.Name(), ".sst") {
			t.Errorf("%s: linked %v", e.Name(), same)
		}
		if same {
			linked++
		}
	}
	if linked == 0 {
		t.Error("there is no table")
	}
}

// A copy does not cut away what was acknowledged because a bit of the log is
// wrong: it is refused by the log's name.
func TestCheckpointOfDamagedLogIsRefused(t *testing.T) {
	fs := vfs.NewMem()
	s := mustOpen(t, Options{Dir: "data", FS: fs, NoJanitor: true})
	mustCreate(t, s, "t", "f")
	for i := range 20 {
		mustApply(t, s, "t", *cell.NewMutation([]byte{'a' + byte(i)}).Put([]byte("f"), nil, 1, randomBytes(100)))
	}
	if err := s.Checkpoint(context.Background(), "sound"); err != nil {
		t.Fatal(err)
	}
	name, end := s.fs.logEnd()
	for _, at := range []int64{end / 10, end / 2, end - 20} {
		whole := content(t, fs, name)
		damaged := bytes.Clone(whole)
		damaged[at] ^= 4
		overwriteFile(t, fs, "data/"+name, damaged)
		if err := s.Checkpoint(context.Background(), "copy"); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), name) {
			t.Errorf("the bit at %d of %d is wrong, and the copy is made: %v", at, end, err)
		}
		if _, err := fs.Stat("copy"); err == nil {
			t.Error("a refused copy is there")
			_ = fs.RemoveAll("copy")
		}
		overwriteFile(t, fs, "data/"+name, whole)
	}
	if err := s.Checkpoint(context.Background(), "copy"); err != nil {
		t.Errorf("mended: %v", err)
	}
}

// overwriteFile changes a file that somebody has open.
func overwriteFile(t *testing.T, fs vfs.FS, path string, data []byte) {
	t.Helper()
	f, err := fs.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
	if err == nil {
		_, err = f.WriteAt(bytes.Clone(data), 0)
		err = closeWith(f, err)
	}
	if err != nil {
		t.Fatal(err)
	}
}
