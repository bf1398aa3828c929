package archive

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ReadManifest reads the manifest of a backup in a folder.
func ReadManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, ManifestName)
	f, err := openRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s has no file %s", ErrNoBackup, dir, ManifestName)
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(text) > maxManifest {
		return nil, fmt.Errorf("%w: %s is larger than a manifest can be", ErrDamaged, path)
	}
	m, err := parseManifest(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// ReadOptions direct how a backup is read.
type ReadOptions struct {
	// Rate bounds the bytes that are read in a second; 0: unbounded.
	Rate int64
	// Progress is told how far the reading is; the total is 0 where a stream does
	// not say it.
	Progress func(done, total int64) error
}

// Check compares every file of a backup in a folder with its sum. bad is told of
// each that is not as it should be; that does not end the check, and is no error
// of it.
func Check(ctx context.Context, dir string, o ReadOptions, bad func(path, what string)) (*Manifest, error) {
	m, err := ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	pace := &Pace{Rate: o.Rate, Progress: o.Progress, Total: m.Bytes()}
	for i := range m.Files {
		f := &m.Files[i]
		path := filepath.Join(dir, StoreDir, f.Name)
		if err := checkOne(ctx, path, f, pace); err != nil {
			if pace.ended != nil {
				return m, err // not the file's fault
			}
			bad(path, err.Error())
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, StoreDir))
	if err != nil {
		return m, err
	}
	for _, e := range entries {
		if m.file(e.Name()) == nil {
			bad(filepath.Join(dir, StoreDir, e.Name()), "the manifest does not name it")
		}
	}
	return m, nil
}

func checkOne(ctx context.Context, path string, want *File, pace *Pace) error {
	f, err := openRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("it is missing")
	}
	if err != nil {
		return err
	}
	// One of another size is not read: it may be as large as it says it is.
	info, err := f.Stat()
	if err == nil && info.Size() != want.Size {
		err = want.compare(info.Size(), "")
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	n, sum, err := pace.summed(ctx, io.Discard, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return want.compare(n, sum)
}

// compare says what is wrong with a file of so many bytes and with such a sum.
func (f *File) compare(size int64, sum string) error {
	switch {
	case size != f.Size:
		return fmt.Errorf("it has %d bytes, and the manifest says %d", size, f.Size)
	case sum != f.SHA256:
		return errors.New("its SHA-256 is not the manifest's")
	}
	return nil
}

// ExtractFolder copies the files of a backup in a folder into the folder to,
// which is empty, and checks every sum. What it wrote is synced.
func ExtractFolder(ctx context.Context, dir, to string, o ReadOptions) (*Manifest, error) {
	if strings.HasSuffix(filepath.Clean(dir), partial) {
		return nil, fmt.Errorf("%w: %s is the name of one that was interrupted", ErrNoBackup, dir)
	}
	m, err := ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	pace := &Pace{Rate: o.Rate, Progress: o.Progress, Total: m.Bytes()}
	for i := range m.Files {
		f := &m.Files[i]
		path := filepath.Join(dir, StoreDir, f.Name)
		if err := extractOne(ctx, path, filepath.Join(to, f.Name), f, pace); err != nil {
			return nil, fmt.Errorf("restore %s: %w", path, err)
		}
	}
	return m, syncDir(to)
}

func extractOne(ctx context.Context, path, to string, want *File, pace *Pace) error {
	f, err := openRegular(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: it is missing", ErrDamaged)
	case errors.Is(err, ErrNotRegular):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	case err != nil:
		return err
	}
	defer f.Close()
	// No more is written than there should be.
	n, sum, err := writeFile(ctx, to, io.LimitReader(f, want.Size+1), pace)
	if err != nil {
		return err
	}
	if err := want.compare(n, sum); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}

// ExtractTar copies the files of a backup that comes as a tar stream into the
// folder to, which is empty, and checks every sum once the manifest has come.
// What it wrote is synced. After an error the files must not be used.
func ExtractTar(ctx context.Context, r io.Reader, to string, o ReadOptions) (*Manifest, error) {
	t := tar.NewReader(r)
	pace := &Pace{Rate: o.Rate, Progress: o.Progress}
	var got []File
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%w: the stream ends without the manifest %s", ErrNoBackup, ManifestName)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: read the stream after %d files: %w", ErrNoBackup, len(got), err)
		}
		if h.Name == ManifestName && h.Typeflag == tar.TypeReg {
			m, err := lastFile(t, got)
			if err != nil {
				return nil, err
			}
			return m, syncDir(to)
		}
		name, ok := strings.CutPrefix(h.Name, StoreDir+"/")
		if isSparse(h) || !ok || !plainName(name) || h.Typeflag != tar.TypeReg || len(got) == maxFiles {
			return nil, fmt.Errorf("%w: the stream has an entry %q that is no file of a backup", ErrNoBackup, h.Name)
		}
		n, sum, err := writeFile(ctx, filepath.Join(to, name), t, pace)
		if err != nil {
			return nil, fmt.Errorf("restore %s from the stream: %w", name, err)
		}
		got = append(got, File{name, n, sum})
	}
}

// isSparse says whether an entry is longer than its bytes in the stream: a few of
// them would fill a disk.
func isSparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return h.Typeflag == tar.TypeGNUSparse
}

// lastFile reads the manifest, holds what came before against it, and wants
// nothing to come after it.
func lastFile(t *tar.Reader, got []File) (*Manifest, error) {
	text, err := io.ReadAll(io.LimitReader(t, maxManifest+1))
	if err != nil {
		return nil, fmt.Errorf("%w: read the manifest: %w", ErrNoBackup, err)
	}
	if len(text) > maxManifest {
		return nil, fmt.Errorf("%w: the manifest is larger than one can be", ErrDamaged)
	}
	m, err := parseManifest(text)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(got, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	for i := range got {
		want := m.file(got[i].Name)
		if want == nil {
			return nil, fmt.Errorf("%w: %s is not in the manifest", ErrDamaged, got[i].Name)
		}
		if err := want.compare(got[i].Size, got[i].SHA256); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, got[i].Name, err)
		}
	}
	if len(got) != len(m.Files) {
		return nil, fmt.Errorf("%w: %d files came of the %d that the manifest names", ErrDamaged, len(got), len(m.Files))
	}
	if h, err := t.Next(); err == nil {
		return nil, fmt.Errorf("%w: %q comes after the manifest", ErrDamaged, h.Name)
	} else if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: read the end of the stream: %w", ErrNoBackup, err)
	}
	return m, nil
}
