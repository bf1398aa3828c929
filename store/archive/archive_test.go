package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var info = Info{Cellar: "v9", Engine: "pebble", Format: 1, Taken: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}

// contents are the files that are backed up here.
func contents() map[string]string {
	return map[string]string{"000001.sst": strings.Repeat("table", 1000), "000002.log": "log", "CELLAR": "{}", "marker.manifest.000001.MANIFEST-000001": ""}
}

func source(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range contents() {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "backup")
	if _, err := WriteFolder(context.Background(), source(t), dir, WriteOptions{Info: info}); err != nil {
		t.Fatal(err)
	}
	return dir
}

func stream(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := WriteTar(context.Background(), source(t), &b, WriteOptions{Info: info}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func extracted(t *testing.T, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[e.Name()] = string(text)
	}
	return got
}

func TestBackupComesBack(t *testing.T) {
	for name, extract := range map[string]func(to string) (*Manifest, error){
		"folder": func(to string) (*Manifest, error) {
			return ExtractFolder(context.Background(), folder(t), to, ReadOptions{})
		},
		"tar": func(to string) (*Manifest, error) {
			return ExtractTar(context.Background(), bytes.NewReader(stream(t)), to, ReadOptions{})
		},
	} {
		to := t.TempDir()
		m, err := extract(to)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := extracted(t, to); fmt.Sprint(got) != fmt.Sprint(contents()) {
			t.Errorf("%s: %v", name, got)
		}
		if m.Info != info || m.Backup != Version || len(m.Files) != 4 || m.Bytes() != 5005 {
			t.Errorf("%s: manifest %+v", name, m)
		}
	}
}

// What is linked takes no place; what an earlier backup has is linked to it
// where the source cannot be.
func TestBackupLinks(t *testing.T) {
	ctx := context.Background()
	from, dir := source(t), t.TempDir()
	first, second := filepath.Join(dir, "1"), filepath.Join(dir, "2")
	r, err := WriteFolder(ctx, from, first, WriteOptions{Info: info})
	if err != nil || r.Linked != 5005 || r.Copied != 0 || r.Files != 4 || r.Bytes != 5005 {
		t.Fatalf("%+v, %v", r, err)
	}
	r, err = WriteFolder(ctx, from, second, WriteOptions{Info: info, Base: first})
	if err != nil || r.Linked != 5005 {
		t.Fatalf("%+v, %v", r, err)
	}
	same(t, filepath.Join(from, "000001.sst"), filepath.Join(second, StoreDir, "000001.sst"), true)
}

func same(t *testing.T, a, b string, want bool) {
	t.Helper()
	x, err := os.Stat(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := os.Stat(b)
	if err != nil {
		t.Fatal(err)
	}
	if os.SameFile(x, y) != want {
		t.Errorf("%s and %s are one file: %v", a, b, !want)
	}
}

// A file of the same name and size is another one if its bytes are: it is not
// taken from the earlier backup. /dev/shm is another file system than the
// temporary folder's, so nothing can be linked to the source.
func TestBaseIsTakenByItsBytes(t *testing.T) {
	ctx := context.Background()
	other, err := os.MkdirTemp("/dev/shm", "cellar-test-")
	if err != nil {
		t.Skip("no second file system here: ", err)
	}
	t.Cleanup(func() { os.RemoveAll(other) })
	from := source(t)
	if err := os.Link(filepath.Join(from, "CELLAR"), filepath.Join(other, "probe")); err == nil {
		t.Skip("/dev/shm is the temporary folder's file system")
	}
	first, second := filepath.Join(other, "1"), filepath.Join(other, "2")
	r, err := WriteFolder(ctx, from, first, WriteOptions{Info: info})
	if err != nil || r.Copied != 5005 || r.Linked != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := os.WriteFile(filepath.Join(from, "000002.log"), []byte("gol"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err = WriteFolder(ctx, from, second, WriteOptions{Info: info, Base: first})
	if err != nil || r.Copied != 3 || r.Linked != 5002 {
		t.Fatalf("%+v, %v", r, err)
	}
	same(t, filepath.Join(first, StoreDir, "000001.sst"), filepath.Join(second, StoreDir, "000001.sst"), true)
	same(t, filepath.Join(first, StoreDir, "000002.log"), filepath.Join(second, StoreDir, "000002.log"), false)
	if _, err := Check(ctx, second, ReadOptions{}, func(path, what string) { t.Errorf("%s: %s", path, what) }); err != nil {
		t.Error(err)
	}
}

// No byte of a folder is changed without being told.
func TestChangedFolderIsRefused(t *testing.T) {
	tried := 0
	dir := folder(t)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		// The source's own files are linked: it is replaced, not written into.
		put := func(data []byte) {
			if err := errors.Join(os.Remove(path), os.WriteFile(path, data, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		step := max(1, len(whole)/60)
		for at := 0; at < len(whole); at += step {
			bad := bytes.Clone(whole)
			bad[at] ^= 1 << (at % 8)
			put(bad)
			named := []string{}
			_, err := Check(context.Background(), dir, ReadOptions{}, func(p, _ string) { named = append(named, p) })
			if !(errors.Is(err, ErrDamaged) && strings.Contains(err.Error(), filepath.Base(path))) && !slices.Contains(named, path) {
				t.Errorf("%s at %d: %v, %v", path, at, named, err)
			}
			if tried++; tried%5 != 0 {
				continue // what is restored is synced, which takes its time
			}
			if _, err := ExtractFolder(context.Background(), dir, t.TempDir(), ReadOptions{}); !errors.Is(err, ErrDamaged) {
				t.Errorf("%s at %d is restored: %v", path, at, err)
			}
		}
		put(whole)
		return nil
	})
	if err != nil || tried < 120 {
		t.Errorf("%d bytes were tried: %v", tried, err)
	}
}

func TestMissingAndForeignFilesAreTold(t *testing.T) {
	check := func(dir string) (named []string, err error) {
		_, err = Check(context.Background(), dir, ReadOptions{}, func(p, what string) { named = append(named, filepath.Base(p)+": "+what) })
		return named, err
	}
	dir := folder(t)
	if err := os.Remove(filepath.Join(dir, StoreDir, "000001.sst")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, StoreDir, "x.sst"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	named, err := check(dir)
	if err != nil || fmt.Sprint(named) != "[000001.sst: it is missing x.sst: the manifest does not name it]" {
		t.Errorf("%v, %v", named, err)
	}
	if _, err := ExtractFolder(context.Background(), dir, t.TempDir(), ReadOptions{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("restored: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, ManifestName)); err != nil {
		t.Fatal(err)
	}
	if _, err := check(dir); !errors.Is(err, ErrNoBackup) {
		t.Errorf("without a manifest: %v", err)
	}
}

// Every cut of a stream is refused, and every flipped bit: those between the
// files of a tar do no harm only if what comes out is right.
func TestDamagedStreamIsRefused(t *testing.T) {
	whole := stream(t)
	cuts, flips, passed := 0, 0, 0
	// A tar ends with filling up to a block of 512 bytes and two blocks of zeros.
	for n := 0; n < len(whole)-3*512; n += 397 {
		if _, err := ExtractTar(context.Background(), bytes.NewReader(whole[:n]), t.TempDir(), ReadOptions{}); err == nil {
			t.Errorf("cut at %d of %d is restored", n, len(whole))
		}
		cuts++
	}
	for at := 0; at < len(whole); at += 127 {
		bad := bytes.Clone(whole)
		bad[at] ^= 1 << (at % 8)
		to := t.TempDir()
		_, err := ExtractTar(context.Background(), bytes.NewReader(bad), to, ReadOptions{})
		if err == nil {
			passed++
			if got := extracted(t, to); fmt.Sprint(got) != fmt.Sprint(contents()) {
				t.Errorf("flipped at %d: restored %v", at, got)
			}
		}
		flips++
	}
	if cuts < 20 || flips < 80 || passed == flips {
		t.Errorf("%d cuts, %d flips, of which %d passed", cuts, flips, passed)
	}
}

// A stream of somebody who means harm.
func TestHostileStreamIsRefused(t *testing.T) {
	make := func(headers ...tar.Header) []byte {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, h := range headers {
			h.Mode = 0o600
			if err := w.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(bytes.Repeat([]byte("x"), int(h.Size))); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	cases := map[string][]byte{
		"empty":            nil,
		"no tar":           []byte(strings.Repeat("no tar", 1000)),
		"up and away":      make(tar.Header{Name: "store/../../x", Size: 1}),
		"absolute":         make(tar.Header{Name: "/store/x", Size: 1}),
		"deep":             make(tar.Header{Name: "store/a/b", Size: 1}),
		"hidden":           make(tar.Header{Name: "store/.x", Size: 1}),
		"elsewhere":        make(tar.Header{Name: "x", Size: 1}),
		"symbolic link":    make(tar.Header{Name: "store/x", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}),
		"hard link":        make(tar.Header{Name: "store/x", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}),
		"folder":           make(tar.Header{Name: "store/", Typeflag: tar.TypeDir}),
		"device":           make(tar.Header{Name: "store/x", Typeflag: tar.TypeChar}),
		"twice":            make(tar.Header{Name: "store/x", Size: 1}, tar.Header{Name: "store/x", Size: 1}),
		"no manifest":      make(tar.Header{Name: "store/x", Size: 1}),
		"nonsense in it":   make(tar.Header{Name: ManifestName, Size: 100}),
		"two backups":      append(bytes.Clone(stream(t)[:len(stream(t))-1024]), stream(t)...),
		"manifest is link": make(tar.Header{Name: ManifestName, Typeflag: tar.TypeSymlink, Linkname: "x"}),
	}
	for name, data := range cases {
		root := t.TempDir()
		to := filepath.Join(root, "a", "b")
		if err := os.MkdirAll(to, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := ExtractTar(context.Background(), bytes.NewReader(data), to, ReadOptions{}); err == nil {
			t.Errorf("%s: restored", name)
		}
		outside := 0
		filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Dir(path) != to {
				outside++
			}
			return nil
		})
		if outside > 0 {
			t.Errorf("%s: %d files were written outside", name, outside)
		}
	}
	if len(cases) != 16 {
		t.Errorf("%d cases", len(cases))
	}
}

func FuzzExtractTar(f *testing.F) {
	var b bytes.Buffer
	from := f.TempDir()
	if err := os.WriteFile(filepath.Join(from, "a"), []byte("b"), 0o600); err != nil {
		f.Fatal(err)
	}
	if _, err := WriteTar(context.Background(), from, &b, WriteOptions{Info: info}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		to := t.TempDir()
		m, err := ExtractTar(context.Background(), bytes.NewReader(data), to, ReadOptions{})
		if err == nil && len(extracted(t, to)) != len(m.Files) {
			t.Errorf("%d files for %d", len(extracted(t, to)), len(m.Files))
		}
	})
}

func TestManifestsThatCannotBe(t *testing.T) {
	encode := func(m Manifest) []byte {
		text, err := m.encode()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	sum := strings.Repeat("0", 64)
	signed := func(text string) []byte { return []byte(text + sumPrefix + sumOf([]byte(text)) + "\n") }
	cases := map[string]struct {
		text []byte
		want error
	}{
		"empty":           {nil, ErrDamaged},
		"sum alone":       {signed(""), ErrDamaged},
		"no JSON":         {signed("hello\n"), ErrDamaged},
		"newer":           {signed(`{"backup": 2, "files": "of another shape"}`), ErrNewer},
		"no version":      {encode(Manifest{Files: []File{{"a", 1, sum}}}), ErrDamaged},
		"no files":        {encode(Manifest{Backup: 1}), ErrDamaged},
		"bad name":        {encode(Manifest{Backup: 1, Files: []File{{"../a", 1, sum}}}), ErrDamaged},
		"long name":       {encode(Manifest{Backup: 1, Files: []File{{strings.Repeat("a", 256), 1, sum}}}), ErrDamaged},
		"negative size":   {encode(Manifest{Backup: 1, Files: []File{{"a", -1, sum}}}), ErrDamaged},
		"short sum":       {encode(Manifest{Backup: 1, Files: []File{{"a", 1, "0"}}}), ErrDamaged},
		"a file twice":    {encode(Manifest{Backup: 1, Files: []File{{"a", 1, sum}, {"a", 1, sum}}}), ErrDamaged},
		"bytes behind it": {append(encode(Manifest{Backup: 1, Files: []File{{"a", 1, sum}}}), '\n'), ErrDamaged},
		"right":           {encode(Manifest{Backup: 1, Files: []File{{"a", 1, sum}}}), nil},
	}
	for name, c := range cases {
		if _, err := parseManifest(c.text); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(cases) != 13 {
		t.Errorf("%d cases", len(cases))
	}
}

// A backup is there whole or not at all, and nothing of somebody else's is
// removed.
func TestInterruptedBackup(t *testing.T) {
	ctx := context.Background()
	from, dir := source(t), filepath.Join(t.TempDir(), "b")
	stop := errors.New("stop")
	if _, err := WriteFolder(ctx, from, dir, WriteOptions{Info: info, Progress: func(int64, int64) error { return stop }}); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(dir + "*"); len(left) > 0 {
		t.Errorf("an error leaves %v", left)
	}
	// What the end of the process leaves.
	if err := os.MkdirAll(filepath.Join(dir+partial, StoreDir), 0o700); err != nil {
		t.Fatal(err)
	}
	var p *PartialError
	if _, err := WriteFolder(ctx, from, dir, WriteOptions{Info: info}); !errors.As(err, &p) || p.Path != dir+partial || !errors.Is(err, ErrExists) {
		t.Errorf("beside what is left: %v", err)
	}
	if _, err := WriteFolder(ctx, from, dir, WriteOptions{Info: info, Discard: true}); err == nil {
		t.Error("a folder without the mark of a backup was removed")
	}
	if err := os.WriteFile(filepath.Join(dir+partial, markerName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteFolder(ctx, from, dir, WriteOptions{Info: info, Discard: true}); err != nil {
		t.Error(err)
	}
	if _, err := WriteFolder(ctx, from, dir, WriteOptions{Info: info, Discard: true}); !errors.Is(err, ErrExists) {
		t.Errorf("over a backup: %v", err)
	}
	// A whole one under a name of an interrupted one is refused all the same.
	if err := os.Rename(dir, dir+partial); err != nil {
		t.Fatal(err)
	}
	if _, err := ExtractFolder(ctx, dir+partial, t.TempDir(), ReadOptions{}); !errors.Is(err, ErrNoBackup) {
		t.Errorf("%v", err)
	}
}

func TestPace(t *testing.T) {
	var told []int64
	p := Pace{Total: 3 << 20, Progress: func(done, _ int64) error { told = append(told, done); return nil }}
	for range 12 {
		if err := p.Pass(context.Background(), 256<<10); err != nil {
			t.Fatal(err)
		}
	}
	if fmt.Sprint(told) != "[1048576 2097152 3145728]" {
		t.Errorf("told %v", told)
	}
	// At one byte a second the second pass waits, until the context ends.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	slow := Pace{Rate: 1}
	if err := slow.Pass(ctx, 1<<30); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if n, err := (&Pace{}).copy(context.Background(), io.Discard, strings.NewReader("abc")); n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
