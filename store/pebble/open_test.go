package pebble

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

func mustOpen(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func mustCreate(t *testing.T, s store.Admin, table string, families ...string) {
	t.Helper()
	schema := cell.TableSchema{Name: table}
	for _, f := range families {
		fs := cell.NewFamily(f)
		fs.MaxVersions = 3
		schema.Families = append(schema.Families, fs)
	}
	if err := s.CreateTable(context.Background(), schema, nil); err != nil {
		t.Fatal(err)
	}
}

func mustApply(t *testing.T, s store.Writer, table string, batch ...cell.Mutation) {
	t.Helper()
	if _, err := s.Apply(context.Background(), table, batch); err != nil {
		t.Fatal(err)
	}
}

// filled makes a store on the disk with one flushed table and a log, as a
// process that was killed leaves it.
func filled(t *testing.T) (dir string) {
	t.Helper()
	live := t.TempDir()
	dir = filepath.Join(t.TempDir(), "killed")
	s, err := Open(context.Background(), Options{Dir: live})
	if err != nil {
		t.Fatal(err)
	}
	mustCreate(t, s, "t", "f")
	batch := make([]cell.Mutation, 2000)
	for i := range batch {
		batch[i].Row = []byte{byte(i >> 8), byte(i)}
		batch[i].Put([]byte("f"), []byte("q"), 1, []byte(strings.Repeat("value", 20)))
	}
	mustApply(t, s, "t", batch...)
	if err := s.Flush(context.Background(), "t"); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		mustApply(t, s, "t", *cell.NewMutation([]byte("in the log")).Put([]byte("f"), []byte("q"), int64(i), []byte(strings.Repeat("v", 100))))
	}
	if err := os.CopyFS(dir, os.DirFS(live)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestOpenElsewhereIsRefused(t *testing.T) {
	dir := t.TempDir()
	mustOpen(t, Options{Dir: dir})
	_, err := Open(context.Background(), Options{Dir: dir})
	if !errors.Is(err, store.ErrLocked) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("a second open in the same process: %v", err)
	}
	// And in another process, which is this test again.
	cmd := exec.Command(os.Args[0], "-test.run=^TestOpensFolderOfEnvironment$", "-test.v")
	cmd.Env = append(os.Environ(), "CELLAR_TEST_OPEN="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "refused as locked") {
		t.Fatalf("a second open in another process: %v\n%s", err, out)
	}
}

// TestOpensFolderOfEnvironment is the other process of the test above.
func TestOpensFolderOfEnvironment(t *testing.T) {
	dir := os.Getenv("CELLAR_TEST_OPEN")
	if dir == "" {
		return // nothing to do but for TestOpenElsewhereIsRefused
	}
	s, err := Open(context.Background(), Options{Dir: dir})
	if errors.Is(err, store.ErrLocked) && strings.Contains(err.Error(), dir) {
		t.Log("refused as locked")
		return
	}
	if s != nil {
		s.Close()
	}
	t.Fatalf("opened, or another error: %v", err)
}

func TestNewerFormatIsRefusedByName(t *testing.T) {
	dir := filled(t)
	if err := os.WriteFile(filepath.Join(dir, formatFile), []byte(`{"format":2,"engine":"pebble"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Open(context.Background(), Options{Dir: dir})
	if !errors.Is(err, store.ErrNewerFormat) || !strings.Contains(err.Error(), filepath.Join(dir, formatFile)) || !strings.Contains(err.Error(), "format 2") {
		t.Fatalf("got %v", err)
	}
}

// findFile gives the one file of the store with a suffix or prefix.
func findFile(t *testing.T, dir, pattern string) string {
	t.Helper()
	m, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(m) == 0 {
		t.Fatalf("no file %s in %s: %v", pattern, dir, err)
	}
	return m[len(m)-1]
}

func edit(t *testing.T, path string, f func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, f(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A damaged file is refused by name: when the store is opened if that can be
// seen without reading all of it, else by the read that meets the damage.
func TestDamagedFileIsRefusedByName(t *testing.T) {
	flip := func(at float64) func([]byte) []byte {
		return func(b []byte) []byte {
			b[int(at*float64(len(b)-1))] ^= 0x55
			return b
		}
	}
	half := func(b []byte) []byte { return b[:len(b)/2] }
	remove := func([]byte) []byte { return nil } // an empty file, or with a marker: none
	cases := []struct {
		name, file string
		damage     func([]byte) []byte
		onRead     bool
	}{
		{"format file empty", formatFile, remove, false},
		{"format file is not JSON", formatFile, func([]byte) []byte { return []byte("hello") }, false},
		{"manifest flipped", "MANIFEST-*", flip(0.3), false},
		{"manifest flipped in a length", "MANIFEST-*", func(b []byte) []byte { b[4] ^= 0x10; return b }, false},
		{"marker of the manifest gone", "marker.manifest.*", remove, false},
		{"log flipped in its middle", "*.log", flip(0.3), false},
		{"manifest cut", "MANIFEST-*", func(b []byte) []byte { return b[:20] }, false},
		{"options flipped", "OPTIONS-*", func(b []byte) []byte { return []byte("nonsense") }, false},
		{"table cut", "*.sst", half, false},
		{"table empty", "*.sst", remove, false},
		{"table flipped in its data", "*.sst", flip(0.1), true},
		{"table flipped in its footer", "*.sst", flip(0.9999), true},
	}
	ran := 0
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := filled(t)
			path := findFile(t, dir, c.file)
			edit(t, path, c.damage)
			if strings.HasPrefix(c.file, "marker") {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
			s, err := Open(context.Background(), Options{Dir: dir})
			if err == nil {
				defer s.Close()
				if !c.onRead {
					t.Fatalf("opened with a damaged %s", filepath.Base(path))
				}
				_, err = readAll(s, "t")
			}
			if !errors.Is(err, store.ErrCorrupt) {
				t.Fatalf("the error is %v, want one that says the store is damaged", err)
			}
			number := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
			if strings.HasPrefix(number, "marker") {
				number = "marker.manifest.*" // its own name is gone with it
			}
			if !strings.Contains(err.Error(), number) {
				t.Errorf("the error does not name %s: %v", number, err)
			}
		})
		ran++
	}
	if ran != len(cases) || ran != 12 {
		t.Errorf("%d cases ran", ran)
	}
}

// readAll reads a table whole.
func readAll(s store.Reader, table string) (map[string]string, error) {
	sc, err := s.Scan(context.Background(), table, &cell.Scan{})
	if err != nil {
		return nil, err
	}
	defer sc.Close()
	all := map[string]string{}
	for {
		r, err := sc.Next(context.Background())
		if err != nil {
			if err.Error() == "EOF" {
				return all, nil
			}
			return nil, err
		}
		for i := range r.Cells {
			all[string(r.Row)+"/"+string(r.Cells[i].Family)+":"+string(r.Cells[i].Qualifier)] = string(r.Cells[i].Value)
		}
	}
}

func TestFolderOfAnotherDatabaseIsRefused(t *testing.T) {
	dir := filled(t)
	if err := os.Remove(filepath.Join(dir, formatFile)); err != nil {
		t.Fatal(err)
	}
	_, err := Open(context.Background(), Options{Dir: dir})
	if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), formatFile) {
		t.Fatalf("got %v", err)
	}
}

func TestBadOptions(t *testing.T) {
	for _, o := range []Options{{}, {Dir: "x", WALSync: "never"}, {Dir: "x", CacheBytes: -1}, {Dir: "x", FsyncDelay: -1}} {
		if _, err := Open(context.Background(), o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}
