package pebble

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/store"
)

// checkFiles looks for damage that Pebble would pass over when it opens a store,
// and lose data by it: a manifest or newest log with a bad record in its middle,
// which Pebble may take for its end; a manifest marker that is gone, which Pebble takes for a new
// store. It also names the options file, which Pebble does not.
func checkFiles(fs vfs.FS, dir string) error {
	desc, err := pebbledb.Peek(dir, fs)
	if err != nil {
		return openError(err)
	}
	if !desc.Exists {
		return checkEmpty(fs, dir)
	}
	if err := checkRecords(fs, desc.ManifestFilename, manifestFormat); err != nil {
		return err
	}
	if err := checkLog(fs, dir); err != nil {
		return err
	}
	if desc.OptionsFilename == "" {
		return nil
	}
	text, err := readFile(fs, desc.OptionsFilename)
	if err != nil {
		return err
	}
	if err := parseOptions(text); err != nil {
		return fmt.Errorf("%w: the options file %s cannot be read: %w", store.ErrCorrupt, desc.OptionsFilename, err)
	}
	return nil
}

// checkEmpty refuses a folder that has data but no manifest.
func checkEmpty(fs vfs.FS, dir string) error {
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".log") || strings.HasPrefix(name, "MANIFEST-") {
			return fmt.Errorf("%w: %s holds %s but no marker file that names the manifest (marker.manifest.*)", store.ErrCorrupt, dir, name)
		}
	}
	return nil
}

func readFile(fs vfs.FS, path string) ([]byte, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, openError(err)
	}
	data, err := io.ReadAll(f)
	if err = closeWith(f, err); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}

// Pebble's records: blocks of 32 KiB that hold chunks of CRC (4 bytes), length
// (2), type (1) and bytes. Chunks of the log have between type and bytes the
// log's number (4) and an offset (8) up to which the log was synced when the
// chunk was written.
const recordBlock = 32 << 10

// recordFormat is one of the two kinds of chunks.
type recordFormat struct {
	header           int
	lowType, topType byte
	log              uint32
}

var manifestFormat = recordFormat{header: 7, lowType: 1, topType: 4}

func logFormat(log uint32) recordFormat {
	return recordFormat{header: 19, lowType: 9, topType: 12, log: log}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// chunkAt gives the length of the chunk at an offset of a block, with its
// header; 0: there is no sound chunk.
func (f *recordFormat) chunkAt(block []byte, at int) int {
	if at+f.header > len(block) {
		return 0
	}
	head := block[at:]
	n := f.header + int(binary.LittleEndian.Uint16(head[4:]))
	if typ := head[6]; typ < f.lowType || typ > f.topType || at+n > len(block) {
		return 0
	}
	if f.log != 0 && binary.LittleEndian.Uint32(head[7:]) != f.log {
		return 0 // left over from the log that had the file before
	}
	sum := crc32.Checksum(head[6:n], castagnoli)
	if binary.LittleEndian.Uint32(head) != (sum>>15|sum<<17)+0xa282ead8 {
		return 0
	}
	return n
}

// promises says whether a sound chunk proves that what lies at an offset before
// it was written whole. The manifest is synced after each record, so there a
// chunk that begins one (type 1 or 2) does; a chunk of the log says how far the
// log was synced.
func (f *recordFormat) promises(chunk []byte, offset int64) bool {
	if f.log == 0 {
		return chunk[6] <= 2
	}
	// The first log of a store does not say it.
	return f.header > 11 && int64(binary.LittleEndian.Uint64(chunk[11:])) > offset
}

// damaged finds a bad chunk that is not the end that a crash leaves: one with a
// sound chunk after it that proves it. bad is -1 where there is none.
func (f *recordFormat) damaged(r io.Reader) (bad, sound int64, err error) {
	bad = -1
	buf := make([]byte, recordBlock)
	for from := int64(0); ; from += recordBlock {
		n, err := io.ReadFull(r, buf)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return 0, 0, err
		}
		block := buf[:n]
		for at := 0; at+f.header <= len(block); {
			n := f.chunkAt(block, at)
			switch {
			case n > 0 && bad >= 0 && f.promises(block[at:], bad):
				return bad, from + int64(at), nil
			case n > 0:
				at += n
				continue
			case bad < 0:
				bad = from + int64(at)
			}
			// The bad chunk's length cannot be trusted: look at every byte.
			at++
		}
		if n < recordBlock {
			return -1, 0, nil
		}
	}
}

// checkRecords refuses a manifest or log that is damaged before its end.
func checkRecords(fs vfs.FS, path string, format recordFormat) error {
	f, err := fs.Open(path, vfs.SequentialReadsOption)
	if err != nil {
		return openError(err)
	}
	bad, sound, err := format.damaged(f)
	if err = closeWith(f, err); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if bad >= 0 {
		return fmt.Errorf("%w: %s has a bad record at offset %d and a sound one after it, at %d", store.ErrCorrupt, path, bad, sound)
	}
	return nil
}

// checkLog looks at the newest log. Pebble itself looks for damage in the older
// ones, and in this one only in other blocks than the bad one.
func checkLog(fs vfs.FS, dir string) error {
	names, err := fs.List(dir)
	if err != nil {
		return fmt.Errorf("list the data folder: %w", err)
	}
	newest, name := uint64(0), ""
	for _, n := range names {
		number, ok := strings.CutSuffix(n, ".log")
		if !ok {
			continue
		}
		if v, err := strconv.ParseUint(number, 10, 32); err == nil && v > newest {
			newest, name = v, n
		}
	}
	if name == "" {
		return nil
	}
	path := fs.PathJoin(dir, name)
	format, err := formatOf(fs, path, uint32(newest))
	if err != nil {
		return openError(err)
	}
	return checkRecords(fs, path, format)
}
