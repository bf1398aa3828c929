package pebble

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/store"
)

// FormatVersion is the newest format that this engine reads and writes:
// docs/internals/format/store.md. A store of a newer one is refused.
const FormatVersion = 1

// pebbleFormat is Pebble's own format of a store of FormatVersion. It is raised
// by an upgrade only.
const pebbleFormat = pebbledb.FormatValueSeparation

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
	_, err = parseFormat(path, data)
	return err
}

// parseFormat reads the text of the format file at path.
func parseFormat(path string, data []byte) (formatRecord, error) {
	var r formatRecord
	if err := json.Unmarshal(data, &r); err != nil || r.Format < 1 {
		return r, fmt.Errorf("%w: %s does not say which format the store has: %q", store.ErrCorrupt, path, data)
	}
	if r.Format > FormatVersion || r.Engine != "pebble" {
		return r, fmt.Errorf("%w: %s says format %d of engine %q; this program reads formats up to %d of engine \"pebble\": use a newer one",
			store.ErrNewerFormat, path, r.Format, r.Engine, FormatVersion)
	}
	return r, nil
}

// formatText is the content of the format file of a store.
func formatText(format int) []byte {
	// The record has a number and a name, which always encode.
	data, _ := json.Marshal(formatRecord{Format: format, Engine: "pebble"})
	return append(data, '\n')
}

// knownFormats are the contents that a format file of this program may have.
func knownFormats() [][]byte {
	var all [][]byte
	for format := 1; format <= FormatVersion; format++ {
		all = append(all, formatText(format))
	}
	return all
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
	return writeWhole(fs, dir, path, formatText(FormatVersion))
}

func syncDir(fs vfs.FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	return closeWith(d, d.Sync())
}
