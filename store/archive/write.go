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
	"strings"
	"time"
)

// PartialError says that a backup was interrupted. It matches ErrExists.
type PartialError struct {
	// Path of what is left of it.
	Path string
}

func (e *PartialError) Error() string {
	return fmt.Sprintf("%s is left of a backup that was interrupted, or is one that is being made", e.Path)
}

// Is makes errors.Is(err, ErrExists) true.
func (e *PartialError) Is(target error) bool { return target == ErrExists }

// WriteOptions direct how a backup is written.
type WriteOptions struct {
	Info
	// Base is an earlier backup: files that it has are linked, not copied, where
	// links from the store are not possible. Empty: none.
	Base string
	// Discard removes first what an interrupted backup of the same name left.
	Discard bool
	// Rate bounds the bytes that are read and written in a second; 0: unbounded.
	Rate int64
	// Progress is told how far the backup is. Its error ends it.
	Progress func(done, total int64) error
}

// Result says what a backup holds, and what it cost.
type Result struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
	// Linked bytes share their place on the disk with the store or with an
	// earlier backup; Copied ones were written.
	Linked int64 `json:"linked_bytes"`
	Copied int64 `json:"copied_bytes"`
}

// CheckTarget says whether a backup can be made in a folder dir: it does not
// exist, and nothing of an earlier try is there, unless that may be discarded.
func CheckTarget(dir string, discard bool) error {
	if strings.HasSuffix(dir, partial) {
		return fmt.Errorf("%s: a name that ends in %s is one of a backup that was not finished: choose another", dir, partial)
	}
	if _, err := os.Lstat(dir); err == nil {
		return fmt.Errorf("%s %w: a backup makes its folder", dir, ErrExists)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Lstat(dir + partial); err == nil && !discard {
		return &PartialError{dir + partial}
	}
	return nil
}

// WriteFolder makes a backup in the folder dir, which must not exist, of the
// files in the folder from, which do not change meanwhile. It is made beside,
// under a name with ".partial", synced, and moved into place; an error leaves
// nothing, the end of the process the part that was made.
func WriteFolder(ctx context.Context, from, dir string, o WriteOptions) (Result, error) {
	if err := CheckTarget(dir, o.Discard); err != nil {
		return Result{}, err
	}
	temp := dir + partial
	if o.Discard {
		if err := discard(temp); err != nil {
			return Result{}, err
		}
	}
	// Fails where another backup makes it at the same moment.
	if err := os.Mkdir(temp, 0o750); err != nil {
		return Result{}, err
	}
	w := &folderWriter{from: from, temp: temp, o: &o}
	err := w.write(ctx)
	if err == nil {
		err = os.Rename(temp, dir)
	}
	if err == nil {
		err = syncDir(filepath.Dir(dir))
	}
	if err != nil {
		return w.result, errors.Join(fmt.Errorf("back up to %s: %w", dir, err), os.RemoveAll(temp))
	}
	return w.result, nil
}

// markerName is in a backup that is being made, and in nothing else that has
// such a name: nothing is removed without it.
const markerName = "PARTIAL"

func discard(temp string) error {
	_, err := os.Lstat(filepath.Join(temp, markerName))
	if err == nil {
		return os.RemoveAll(temp)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = os.Remove(temp) // empty, if it is one that had just begun
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is no interrupted backup, so it is not removed: %w", temp, err)
	}
	return nil
}

type folderWriter struct {
	from, temp string
	o          *WriteOptions
	base       *Manifest
	pace       Pace
	result     Result
}

func (w *folderWriter) write(ctx context.Context) error {
	if err := os.WriteFile(filepath.Join(w.temp, markerName), []byte("a backup is being made here, or was interrupted\n"), 0o640); err != nil {
		return err
	}
	if w.o.Base != "" {
		var err error
		if w.base, err = ReadManifest(w.o.Base); err != nil {
			return fmt.Errorf("read the earlier backup: %w", err)
		}
	}
	names, total, err := list(w.from)
	if err != nil {
		return err
	}
	w.pace = Pace{Rate: w.o.Rate, Progress: w.o.Progress, Total: total}
	store := filepath.Join(w.temp, StoreDir)
	if err := os.Mkdir(store, 0o750); err != nil {
		return err
	}
	m := &Manifest{Backup: Version, Info: w.o.Info}
	for _, name := range names {
		f, err := w.add(ctx, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		m.Files = append(m.Files, f)
	}
	w.result.Files, w.result.Bytes = len(m.Files), m.Bytes()
	if err := syncDir(store); err != nil {
		return err
	}
	text, err := m.encode()
	if err != nil {
		return err
	}
	if err := writeSynced(filepath.Join(w.temp, ManifestName), text); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(w.temp, markerName)); err != nil {
		return err
	}
	return syncDir(w.temp)
}

// list gives the files of a folder, by name, and their size.
func list(dir string) (names []string, total int64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, 0, err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return nil, 0, err
		}
		path := filepath.Join(dir, e.Name())
		if err := wantRegular(path, info.Mode()); err != nil {
			return nil, 0, err
		}
		if !plainName(e.Name()) {
			return nil, 0, fmt.Errorf("%s is no file of a store", path)
		}
		names = append(names, e.Name())
		total += info.Size()
	}
	return names, total, nil
}

// add brings one file into the backup: as a link to the store's, else as a link
// to an earlier backup's that has the same bytes, else as a copy.
func (w *folderWriter) add(ctx context.Context, name string) (File, error) {
	from, to := filepath.Join(w.from, name), filepath.Join(w.temp, StoreDir, name)
	info, err := os.Lstat(from)
	if err != nil {
		return File{}, err
	}
	f := File{Name: name, Size: info.Size()}
	old := w.known(name, info)
	if err := os.Link(from, to); err == nil {
		w.result.Linked += f.Size
		if old != nil && w.same(name, info) {
			f.SHA256 = old.SHA256
			return f, w.pace.Pass(ctx, f.Size)
		}
		f.SHA256, err = w.sum(ctx, to)
		return f, err
	}
	if old != nil {
		if f.SHA256, err = w.sum(ctx, from); err != nil {
			return f, err
		}
		// The earlier backup's own file may have been damaged since.
		base := filepath.Join(w.o.Base, StoreDir, name)
		w.pace.Total += f.Size
		if sum, err := w.sum(ctx, base); err == nil && sum == old.SHA256 && f.SHA256 == sum && os.Link(base, to) == nil {
			w.result.Linked += f.Size
			return f, nil
		}
		w.pace.Total += f.Size // it is read once more
	}
	w.result.Copied += f.Size
	f.SHA256, err = w.copy(ctx, from, to, f.Size)
	return f, err
}

// known finds a file in the earlier backup that may have the same bytes.
func (w *folderWriter) known(name string, info os.FileInfo) *File {
	if w.base == nil {
		return nil
	}
	if f := w.base.file(name); f != nil && f.Size == info.Size() {
		return f
	}
	return nil
}

// same says whether the earlier backup's file is a link to the same bytes, whose
// sum is known then.
func (w *folderWriter) same(name string, info os.FileInfo) bool {
	old, err := os.Lstat(filepath.Join(w.o.Base, StoreDir, name))
	return err == nil && os.SameFile(old, info)
}

func (w *folderWriter) sum(ctx context.Context, path string) (string, error) {
	f, err := openRegular(path)
	if err != nil {
		return "", err
	}
	_, sum, err := w.pace.summed(ctx, io.Discard, f)
	return sum, errors.Join(err, f.Close())
}

func (w *folderWriter) copy(ctx context.Context, from, to string, size int64) (string, error) {
	src, err := openRegular(from)
	if err != nil {
		return "", err
	}
	defer src.Close()
	n, sum, err := writeFile(ctx, to, src, &w.pace)
	if err == nil && n != size {
		err = fmt.Errorf("it had %d bytes, and now has %d", size, n)
	}
	return sum, err
}

// writeFile makes a file of what a reader gives, synced.
func writeFile(ctx context.Context, path string, r io.Reader, p *Pace) (n int64, sum string, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return 0, "", err
	}
	n, sum, err = p.summed(ctx, f, r)
	if err == nil {
		err = f.Sync()
	}
	return n, sum, errors.Join(err, f.Close())
}

func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// WriteTar writes a backup of the files in the folder from, which do not change
// meanwhile, as a tar stream. The manifest is its last file, so a stream that was
// cut has none.
func WriteTar(ctx context.Context, from string, out io.Writer, o WriteOptions) (Result, error) {
	names, total, err := list(from)
	if err != nil {
		return Result{}, err
	}
	pace := &Pace{Rate: o.Rate, Progress: o.Progress, Total: total}
	t := tar.NewWriter(out)
	m := &Manifest{Backup: Version, Info: o.Info}
	for _, name := range names {
		f, err := tarFile(ctx, t, from, name, o.Taken, pace)
		if err != nil {
			return Result{}, fmt.Errorf("back up %s: %w", name, err)
		}
		m.Files = append(m.Files, f)
	}
	text, err := m.encode()
	if err != nil {
		return Result{}, err
	}
	err = t.WriteHeader(tarHeader(ManifestName, int64(len(text)), o.Taken))
	if err == nil {
		_, err = t.Write(text)
	}
	if err == nil {
		err = t.Close()
	}
	if err != nil {
		return Result{}, fmt.Errorf("back up: %w", err)
	}
	return Result{Files: len(m.Files), Bytes: m.Bytes(), Copied: m.Bytes()}, nil
}

func tarHeader(name string, size int64, at time.Time) *tar.Header {
	return &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o640, ModTime: at.Truncate(time.Second), Format: tar.FormatPAX}
}

func tarFile(ctx context.Context, t *tar.Writer, from, name string, at time.Time, pace *Pace) (File, error) {
	src, err := openRegular(filepath.Join(from, name))
	if err != nil {
		return File{}, err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return File{}, err
	}
	f := File{Name: name, Size: info.Size()}
	if err := t.WriteHeader(tarHeader(StoreDir+"/"+name, f.Size, at)); err != nil {
		return f, err
	}
	n, sum, err := pace.summed(ctx, t, src)
	if err == nil && n != f.Size {
		err = fmt.Errorf("it had %d bytes, and now has %d", f.Size, n)
	}
	f.SHA256 = sum
	return f, err
}
