package pebble

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/store"
)

// sumsFile holds the sum of the one file of a store that has none of its own:
// Pebble's options, which are plain text. It is written whenever the store is
// opened, after Pebble has written its file. A crash between the two leaves the
// sum of an older options file, which then says nothing.
//
//	cellar sums 1
//	<SHA-256, 64 hexadecimal digits>  OPTIONS-000003
//	<SHA-256 of the two lines above>  .
const sumsFile = "CELLAR.sums"

const sumsHead = "cellar sums 1\n"

func sumLine(data []byte, name string) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]) + "  " + name + "\n"
}

// formatSums gives the file for an options file with a name.
func formatSums(name string, options []byte) []byte {
	text := sumsHead + sumLine(options, name)
	return []byte(text + sumLine([]byte(text), "."))
}

// parseSums gives which file a sum is of. ok is false where the file was not
// written as it is.
func parseSums(data []byte) (name, sum string, ok bool) {
	lines := strings.SplitAfter(string(data), "\n")
	if len(lines) != 4 || lines[0] != sumsHead || lines[3] != "" || lines[2] != sumLine([]byte(lines[0]+lines[1]), ".") {
		return "", "", false
	}
	sum, name, ok = strings.Cut(strings.TrimSuffix(lines[1], "\n"), "  ")
	return name, sum, ok
}

// newestOptions reads the options file that counts.
func newestOptions(fs vfs.FS, dir string) (name string, data []byte, err error) {
	names, err := fs.List(dir)
	if err != nil {
		return "", nil, err
	}
	for _, n := range names {
		if number, ok := strings.CutPrefix(n, "OPTIONS-"); ok && isNumber(number) && newer(n, name) {
			name = n
		}
	}
	if name == "" {
		return "", nil, nil
	}
	data, err = readFile(fs, fs.PathJoin(dir, name))
	return name, data, err
}

// newer compares names of files that end with a number: more digits are more.
func newer(a, b string) bool { return len(a) > len(b) || len(a) == len(b) && a > b }

func isNumber(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

// writeSums notes the sum of the options of the store in dir.
func writeSums(fs vfs.FS, dir string) error {
	name, options, err := newestOptions(fs, dir)
	if err != nil || name == "" {
		return err
	}
	want := formatSums(name, options)
	path := fs.PathJoin(dir, sumsFile)
	if old, err := readFile(fs, path); err == nil && bytes.Equal(old, want) {
		return nil
	}
	return writeWhole(fs, dir, path, want)
}

// writeWhole writes a file so that there is the old one or the whole new one
// whatever happens.
func writeWhole(fs vfs.FS, dir, path string, data []byte) error {
	tmp := path + ".new"
	f, err := fs.Create(tmp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if err = closeWith(f, err); err == nil {
		err = fs.Rename(tmp, path)
	}
	if err == nil {
		err = syncDir(fs, dir)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// checkOptions looks at the options files and at the sum of the newest.
func (v *verifier) checkOptions(names []string) error {
	newest := ""
	for _, n := range names {
		if number, ok := strings.CutPrefix(n, "OPTIONS-"); ok && isNumber(number) && newer(n, newest) {
			newest = n
		}
	}
	if newest == "" {
		v.damage("", -1, "there is no options file (OPTIONS-*)")
		return nil
	}
	data, err := v.read(newest)
	if err != nil || data == nil {
		return err
	}
	if err := parseOptions(data); err != nil {
		v.damage(newest, -1, "the options cannot be read: %v", err)
	}
	if !slices.Contains(names, sumsFile) {
		v.note(newest, "there is no %s with its sum, so only its form was checked: this store was last opened by an older version", sumsFile)
		return nil
	}
	sums, err := v.read(sumsFile)
	if err != nil || sums == nil {
		return err
	}
	switch name, sum, ok := parseSums(sums); {
	case !ok:
		v.damage(sumsFile, -1, "it is not as it was written: its own sum does not match")
	case name != newest:
		v.note(sumsFile, "it has the sum of %s, and the options are %s, of which only the form was checked: the process ended while the store was opened", name, newest)
	case !strings.HasPrefix(sumLine(data, newest), sum+" "):
		v.damage(newest, -1, "its SHA-256 is not the one that %s has", sumsFile)
	}
	return nil
}

// parseOptions says whether the text of an options file can be read. Pebble
// panics at some that cannot.
func parseOptions(text []byte) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	var o pebbledb.Options
	return o.Parse(string(text), &pebbledb.ParseHooks{
		NewComparer:  func(string) (*pebbledb.Comparer, error) { return comparer, nil },
		SkipUnknown:  func(string, string) bool { return true },
		NewKeySchema: func(string) (pebbledb.KeySchema, error) { return keySchema, nil },
	})
}

// read reads a small file. What cannot be read is a fault, and nil.
func (v *verifier) read(name string) ([]byte, error) {
	data, err := readFile(v.fs, v.path(name))
	if errors.Is(err, os.ErrNotExist) && v.live != nil {
		return nil, nil // replaced meanwhile
	}
	if err != nil {
		v.damage(name, -1, "%v", err)
		return nil, nil
	}
	if data == nil {
		data = []byte{}
	}
	v.report.Files++
	return data, v.advance(int64(len(data)))
}

// checkOwn looks at the file that names the format.
func (v *verifier) checkOwn(names []string) error {
	if !slices.Contains(names, formatFile) {
		v.damage(formatFile, -1, "it is missing: it names the format of the store")
		return nil
	}
	data, err := v.read(formatFile)
	if err != nil || data == nil {
		return err
	}
	if _, err := parseFormat(v.path(formatFile), data); errors.Is(err, store.ErrNewerFormat) {
		v.damage(formatFile, -1, "it names another format than this program reads: %q", data)
		return nil
	} else if err != nil {
		v.damage(formatFile, -1, "it does not name a format: %q", data)
		return nil
	}
	if !slices.ContainsFunc(knownFormats(), func(want []byte) bool { return bytes.Equal(want, data) }) {
		v.damage(formatFile, -1, "it is not as it was written: %q", data)
	}
	return nil
}
