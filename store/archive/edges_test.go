package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A file that is larger than the manifest says is not written out to its end.
func TestNoMoreIsRestoredThanThereShouldBe(t *testing.T) {
	dir, to := folder(t), t.TempDir()
	path := filepath.Join(dir, StoreDir, "000002.log")
	if err := errors.Join(os.Remove(path), os.WriteFile(path, make([]byte, 1<<20), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := ExtractFolder(context.Background(), dir, to, ReadOptions{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("%v", err)
	}
	if info, err := os.Stat(filepath.Join(to, "000002.log")); err != nil || info.Size() > 4 {
		t.Errorf("%v, %v", info, err)
	}
}

// sparseTar has an entry of a byte that says it is a sparse file.
func sparseTar(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	record := func(k, v string) string {
		text := " " + k + "=" + v + "\n"
		return fmt.Sprintf("%d%s", len(text)+2, text)
	}
	extra := record("GNU.sparse.major", "1") + record("GNU.sparse.minor", "0") + record("GNU.sparse.name", "store/x") + record("GNU.sparse.realsize", "1")
	data := append([]byte("1\n0\n1\n"), make([]byte, 512-6+1)...)
	for _, e := range []struct {
		name string
		data []byte
	}{{"x", []byte(extra)}, {"store/x", data}} {
		if err := w.WriteHeader(&tar.Header{Name: e.name, Mode: 0o600, Size: int64(len(e.data)), Format: tar.FormatUSTAR}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(e.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	// The first entry is made one of extended headers; its sum is over its bytes
	// with the sum itself as blanks.
	head := b.Bytes()[:512]
	head[156] = 'x'
	copy(head[148:156], "        ")
	sum := 0
	for _, c := range head {
		sum += int(c)
	}
	copy(head[148:156], fmt.Sprintf("%06o\x00 ", sum))
	return b.Bytes()
}

// A few bytes of a stream must not fill a disk.
func TestSparseEntryIsRefused(t *testing.T) {
	data := sparseTar(t)
	h, err := tar.NewReader(bytes.NewReader(data)).Next()
	if err != nil || !isSparse(h) || h.Name != "store/x" {
		t.Fatalf("the test's own entry is %+v: %v", h, err)
	}
	if _, err := ExtractTar(context.Background(), bytes.NewReader(data), t.TempDir(), ReadOptions{}); err == nil || !strings.Contains(err.Error(), "no file of a backup") {
		t.Errorf("%v", err)
	}
	if !isSparse(&tar.Header{Typeflag: tar.TypeGNUSparse}) || isSparse(&tar.Header{Typeflag: tar.TypeReg}) {
		t.Error("an entry of the old form is taken for a plain one, or the other way round")
	}
}

// A stream that lacks a file that its manifest names, at its end, is not whole.
func TestStreamWithoutItsLastFile(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	m := Manifest{Backup: Version, Info: info, Files: []File{{"a", 1, sumOf([]byte("x"))}, {"b", 1, sumOf([]byte("y"))}}}
	text, err := m.encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range [][2]string{{StoreDir + "/a", "x"}, {ManifestName, string(text)}} {
		if err := w.WriteHeader(tarHeader(e[0], int64(len(e[1])), info.Taken)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ExtractTar(context.Background(), &b, t.TempDir(), ReadOptions{}); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "1 files came of the 2") {
		t.Errorf("%v", err)
	}
}

// A sum is taken from an earlier backup only where the file is the same one, and
// a file is linked to it only where its bytes are still right.
func TestEarlierBackupIsNotBelieved(t *testing.T) {
	ctx := context.Background()
	elsewhere, err := os.MkdirTemp("/dev/shm", "cellar-test-")
	if err != nil {
		t.Skip("no second file system here: ", err)
	}
	t.Cleanup(func() { os.RemoveAll(elsewhere) })
	for name, dir := range map[string]string{"links can be": t.TempDir(), "links cannot be": elsewhere} {
		from := source(t)
		first, second := filepath.Join(dir, "1"), filepath.Join(dir, "2")
		if _, err := WriteFolder(ctx, from, first, WriteOptions{Info: info}); err != nil {
			t.Fatal(err)
		}
		// One file is another one by now, of the same size; of another the earlier
		// backup's bytes went bad.
		for path, text := range map[string]string{filepath.Join(from, "000002.log"): "gol", filepath.Join(first, StoreDir, "CELLAR"): "}{"} {
			if err := errors.Join(os.Remove(path), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		most, total := int64(0), int64(0)
		_, err := WriteFolder(ctx, from, second, WriteOptions{Info: info, Base: first, Progress: func(d, of int64) error {
			most, total = max(most, d), max(total, of)
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if most > total {
			t.Errorf("%s: %d bytes of %d are done", name, most, total)
		}
		if _, err := Check(ctx, second, ReadOptions{}, func(path, what string) { t.Errorf("%s: %s: %s", name, path, what) }); err != nil {
			t.Error(err)
		}
		if got := extracted(t, filepath.Join(second, StoreDir)); got["000002.log"] != "gol" || got["CELLAR"] != "{}" {
			t.Errorf("%s: the backup has %q and %q", name, got["000002.log"], got["CELLAR"])
		}
	}
}

// A file that changes its size while it is copied is none of a store that stands
// still.
func TestFileThatShrinksIsRefused(t *testing.T) {
	w := folderWriter{o: &WriteOptions{}}
	from := source(t)
	if _, err := w.copy(context.Background(), filepath.Join(from, "000002.log"), filepath.Join(t.TempDir(), "x"), 4); err == nil || !strings.Contains(err.Error(), "had 4 bytes, and now has 3") {
		t.Errorf("%v", err)
	}
}

func TestManifestOfTooManyFiles(t *testing.T) {
	m := Manifest{Files: make([]File, maxFiles+1)}
	if err := m.validate(); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), fmt.Sprint(maxFiles+1)+" files") {
		t.Errorf("%v", err)
	}
}

// A rate is held over all that passes.
func TestPaceHoldsTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		p := Pace{Rate: 1 << 20}
		for range 40 {
			if err := p.Pass(context.Background(), 256<<10); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("10 MiB at 1 MiB a second take %v", took)
		}
	})
}
