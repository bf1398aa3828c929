package pebble

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/store"
)

// FormatVersion is the newest format that this engine reads and writes:
// docs/internals/format/store.md. A store of a newer one is refused.
const FormatVersion = 1

// formatFile names the format of a store. It is written before anything else is
// in the folder, and read before anything else is opened, so that a store of a
// newer format is refused by name whatever else is new about it.
const formatFile = "CELLAR"

type formatRecord struct {
	Format int    `json:"format"`
	Engine string `json:"engine"`
}

// checkFormat reads the format of the store in dir, or writes it for a new one.
func checkFormat(fs vfs.FS, dir string) error {
	path := fs.PathJoin(dir, formatFile)
	f, err := fs.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return newFormat(fs, dir, path)
	}
	if err != nil {
		return fmt.Errorf("open the format file: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, 4096))
	if err = closeWith(f, err); err != nil {
		return fmt.Errorf("read the format file %s: %w", path, err)
	}
	var r formatRecord
	if err := json.Unmarshal(data, &r); err != nil || r.Format < 1 {
		return fmt.Errorf("%w: %s does not say which format the store has: %q", store.ErrCorrupt, path, data)
	}
	if r.Format > FormatVersion || r.Engine != "pebble" {
		return fmt.Errorf("%w: %s says format %d of engine %q; this program reads formats up to %d of engine \"pebble\": use a newer one",
			store.ErrNewerFormat, path, r.Format, r.Engine, FormatVersion)
	}
	return nil
}

// newFormat writes the format file of a new store. A folder that holds a
// database without one is refused: it is not ours, or it is damaged.
func newFormat(fs vfs.FS, dir, path string) error {
	names, err := fs.List(dir)
	if err != nil {
		return fmt.Errorf("list the data folder: %w", err)
	}
	for _, name := range names {
		if name == "CURRENT" || len(name) > 9 && name[:9] == "MANIFEST-" {
			return fmt.Errorf("%w: %s holds a database but no file %s", store.ErrCorrupt, dir, formatFile)
		}
	}
	data, err := json.Marshal(formatRecord{Format: FormatVersion, Engine: "pebble"})
	if err != nil {
		return err
	}
	// A whole file or none: written beside, synced, then moved.
	tmp := path + ".new"
	f, err := fs.Create(tmp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("create the format file: %w", err)
	}
	if _, err = f.Write(append(data, '\n')); err == nil {
		err = f.Sync()
	}
	if err = closeWith(f, err); err == nil {
		err = fs.Rename(tmp, path)
	}
	if err == nil {
		err = syncDir(fs, dir)
	}
	if err != nil {
		return fmt.Errorf("write the format file %s: %w", path, err)
	}
	return nil
}

func syncDir(fs vfs.FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	return closeWith(d, d.Sync())
}
