//go:build unix

package archive

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// strangers are what may lie in a folder and is no file. Each is made in place
// of the file at a path.
func strangers(t *testing.T) map[string]func(t *testing.T, path string) {
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.WriteFile(elsewhere, []byte("log"), 0o600); err != nil {
		t.Fatal(err)
	}
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	return map[string]func(t *testing.T, path string){
		"a named pipe":    func(t *testing.T, path string) { must(t, syscall.Mkfifo(path, 0o600)) },
		"a symbolic link": func(t *testing.T, path string) { must(t, os.Symlink(elsewhere, path)) },
		"a folder":        func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) },
		"a socket": func(t *testing.T, path string) {
			// Its path must be short, so it is made elsewhere and moved.
			dir, err := os.MkdirTemp("", "s")
			must(t, err)
			t.Cleanup(func() { os.RemoveAll(dir) })
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "s")})
			must(t, err)
			l.SetUnlinkOnClose(false)
			must(t, l.Close())
			must(t, os.Rename(filepath.Join(dir, "s"), path))
		},
	}
}

// What is no regular file is named, and never opened: a pipe would be waited for.
func TestWhatIsNoFileIsRefusedByName(t *testing.T) {
	ctx := context.Background()
	replace := func(t *testing.T, path string, with func(*testing.T, string)) {
		t.Helper()
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		with(t, path)
	}
	const file = "000002.log"
	cases := map[string]func(t *testing.T, with func(*testing.T, string)) error{
		"a folder that is backed up": func(t *testing.T, with func(*testing.T, string)) error {
			from := source(t)
			replace(t, filepath.Join(from, file), with)
			_, err := WriteFolder(ctx, from, filepath.Join(t.TempDir(), "b"), WriteOptions{Info: info})
			return err
		},
		"a folder that is streamed": func(t *testing.T, with func(*testing.T, string)) error {
			from := source(t)
			replace(t, filepath.Join(from, file), with)
			_, err := WriteTar(ctx, from, &bytes.Buffer{}, WriteOptions{Info: info})
			return err
		},
		"one that came after the list was made": func(t *testing.T, with func(*testing.T, string)) error {
			from := source(t)
			replace(t, filepath.Join(from, file), with)
			w := folderWriter{from: from, temp: t.TempDir(), o: &WriteOptions{}}
			_, err := w.sum(ctx, filepath.Join(from, file))
			return err
		},
		"a backup that is restored": func(t *testing.T, with func(*testing.T, string)) error {
			dir := folder(t)
			replace(t, filepath.Join(dir, StoreDir, file), with)
			_, err := ExtractFolder(ctx, dir, t.TempDir(), ReadOptions{})
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("it counts as no damage: %v", err)
			}
			return err
		},
		"a backup that is checked": func(t *testing.T, with func(*testing.T, string)) error {
			dir := folder(t)
			replace(t, filepath.Join(dir, StoreDir, file), with)
			var named error
			_, err := Check(ctx, dir, ReadOptions{}, func(path, what string) {
				named = errors.Join(named, ErrNotRegular, errors.New(path+": "+what))
			})
			return errors.Join(err, named)
		},
		"a manifest": func(t *testing.T, with func(*testing.T, string)) error {
			dir := folder(t)
			replace(t, filepath.Join(dir, ManifestName), with)
			_, err := ReadManifest(dir)
			if err != nil {
				err = errors.Join(err, errors.New(file)) // of which this is not
			}
			return err
		},
	}
	tried := 0
	for name, do := range cases {
		for kind, with := range strangers(t) {
			err := do(t, with)
			if !errors.Is(err, ErrNotRegular) || !strings.Contains(err.Error(), kind) || !strings.Contains(err.Error(), file) {
				t.Errorf("%s with %s: %v", name, kind, err)
			}
			tried++
		}
	}
	if tried != 24 {
		t.Errorf("%d cases", tried)
	}
}

// A file of an earlier backup that is no file any more is not linked to.
func TestBaseWithAPipe(t *testing.T) {
	ctx := context.Background()
	from, dir := source(t), t.TempDir()
	first, second := filepath.Join(dir, "1"), filepath.Join(dir, "2")
	if _, err := WriteFolder(ctx, from, first, WriteOptions{Info: info}); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(first, StoreDir, "000002.log")
	if err := errors.Join(os.Remove(pipe), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	w := folderWriter{from: from, temp: dir, o: &WriteOptions{Base: first}}
	if w.same("000002.log", nil) {
		t.Error("a pipe is taken for the file")
	}
	if _, err := w.sum(ctx, pipe); !errors.Is(err, ErrNotRegular) {
		t.Errorf("it is read: %v", err)
	}
	if _, err := WriteFolder(ctx, from, second, WriteOptions{Info: info, Base: first}); err != nil {
		t.Fatal(err)
	}
	if _, err := Check(ctx, second, ReadOptions{}, func(path, what string) { t.Errorf("%s: %s", path, what) }); err != nil {
		t.Error(err)
	}
}

// A check that is ended says so, and blames no file.
func TestCheckThatIsEndedBlamesNoFile(t *testing.T) {
	stop := errors.New("stop")
	_, err := Check(context.Background(), folder(t), ReadOptions{Progress: func(int64, int64) error { return stop }}, func(path, what string) {
		t.Errorf("%s: %s", path, what)
	})
	if !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
}

// A file that is larger than it should be is not read to its end, which may be
// far away.
func TestCheckOfAFileWithoutEnd(t *testing.T) {
	dir := folder(t)
	path := filepath.Join(dir, StoreDir, "000002.log")
	if err := errors.Join(os.Remove(path), os.WriteFile(path, []byte("log"), 0o600), os.Truncate(path, 1<<42)); err != nil {
		t.Skip("this file system has no sparse files: ", err)
	}
	var named []string
	if _, err := Check(context.Background(), dir, ReadOptions{}, func(p, what string) { named = append(named, filepath.Base(p)+": "+what) }); err != nil {
		t.Fatal(err)
	}
	if len(named) != 1 || named[0] != "000002.log: it has 4398046511104 bytes, and the manifest says 3" {
		t.Errorf("%q", named)
	}
}
