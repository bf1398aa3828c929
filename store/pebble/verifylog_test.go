package pebble

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/store"
)

// chunkOf writes a chunk. Types count from 0: whole, first, middle, last.
func chunkOf(f recordFormat, typ byte, payload string) []byte {
	b := make([]byte, f.header, f.header+len(payload))
	binary.LittleEndian.PutUint16(b[4:], uint16(len(payload)))
	b[6] = f.lowType + typ
	if f.log != 0 {
		binary.LittleEndian.PutUint32(b[7:], f.log)
	}
	b = append(b, payload...)
	sum := crc32.Checksum(b[6:], castagnoli)
	binary.LittleEndian.PutUint32(b, (sum>>15|sum<<17)+0xa282ead8)
	return b
}

// Each byte of a manifest or log is accounted for: what is a fault, what the
// end is, and what lies behind it.
func TestRecordWalk(t *testing.T) {
	log, first, manifest := logFormat(7), firstLogFormat(7), manifestFormat
	older := chunkOf(logFormat(5), 0, "of an earlier log")
	mark := log.endMark()
	a, b := chunkOf(log, 0, "one"), chunkOf(log, 0, "two")
	flip := func(c []byte, at int) []byte { c = bytes.Clone(c); c[at] ^= 0x10; return c }
	join := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	// A block that is filled but for ten bytes, and what comes after it.
	nearly := chunkOf(log, 0, strings.Repeat("x", recordBlock-19-10))
	promise := chunkOf(log, 0, "later")
	binary.LittleEndian.PutUint64(promise[11:], 1000)
	sum := crc32.Checksum(promise[6:], castagnoli)
	binary.LittleEndian.PutUint32(promise, (sum>>15|sum<<17)+0xa282ead8)

	cases := []struct {
		name    string
		format  recordFormat
		data    []byte
		records int
		faults  string // kind and offset of each
		rest    int64
	}{
		{"empty", log, nil, 0, "", 0},
		{"whole", log, join(a, b), 2, "", 0},
		{"closed", log, join(a, mark), 1, "", 0},
		{"closed, and used before", log, join(a, mark, older), 1, "", int64(len(older))},
		{"not closed, and used before", log, join(a, older), 1, "", int64(len(older))},
		{"nothing but an earlier log", log, join(older, older), 0, "", int64(2 * len(older))},
		{"zeros behind it", log, join(a, make([]byte, 40)), 1, "", 40},
		{"mark with a wrong byte", log, join(a, flip(mark, 3)), 1, "damage 22", 0},
		{"mark with a wrong number", log, join(a, flip(mark, 7)), 1, "damage 22", 0},
		{"bad sum", log, join(a, flip(b, 0)), 1, "unfinished 22", 0},
		{"bad length", log, join(a, flip(b, 5)), 1, "unfinished 22", 0},
		{"bad type", log, join(a, flip(b, 6)), 1, "unfinished 22", 0},
		{"bad number", log, join(a, flip(b, 7)), 1, "unfinished 22", 0},
		{"bad high byte of the number", log, join(a, flip(b, 10)), 1, "unfinished 22", 0},
		{"bad offset", log, join(a, flip(b, 12)), 1, "unfinished 22", 0},
		{"bad byte", log, join(a, flip(b, 20)), 1, "unfinished 22", 0},
		{"bad number of the first", log, join(flip(a, 7)), 0, "unfinished 0", 0},
		{"cut in its bytes", log, join(a, b[:21]), 1, "unfinished 22", 0},
		{"cut in its header", log, join(a, b[:5]), 1, "unfinished 22", 0},
		{"bad, and a later one proves that it was synced", log, join(a, flip(b, 20), promise), 1, "damage 22", 0},
		{"bad, and a later one does not", log, join(a, flip(b, 20), b), 1, "unfinished 22", 0},
		{"record in parts", log, join(chunkOf(log, 1, "a"), chunkOf(log, 2, "b"), chunkOf(log, 3, "c")), 1, "", 0},
		{"ends inside a record", log, join(a, chunkOf(log, 1, "a")), 1, "unfinished 22", 0},
		{"closed inside a record", log, join(a, chunkOf(log, 1, "a"), mark), 1, "damage 22", 0},
		{"used before, ends inside a record", log, join(a, chunkOf(log, 1, "a"), older), 1, "unfinished 22", int64(len(older))},
		{"parts without a first", log, join(chunkOf(log, 3, "c"), a), 2, "damage 0", 0},
		{"a first upon a first", log, join(chunkOf(log, 1, "c"), a), 1, "damage 20", 0},
		{"filled", log, join(nearly, make([]byte, 10), a), 2, "", 0},
		{"filling that is not zero", log, join(nearly, make([]byte, 9), []byte{1}, a), 2, "damage 32758", 0},
		{"first log", first, join(chunkOf(first, 0, "x"), mark), 1, "", 0},
		{"first log, bad", first, join(chunkOf(first, 0, "x"), flip(chunkOf(first, 0, "y"), 11)), 1, "unfinished 12", 0},
		{"first log, bad number", first, join(chunkOf(first, 0, "x"), flip(chunkOf(first, 0, "y"), 8)), 1, "unfinished 12", 0},
		{"manifest", manifest, join(chunkOf(manifest, 0, "x"), chunkOf(manifest, 0, "y")), 2, "", 0},
		{"manifest, last one bad", manifest, join(chunkOf(manifest, 0, "x"), flip(chunkOf(manifest, 0, "y"), 7)), 1, "unfinished 8", 0},
		{"manifest, not the last", manifest, join(flip(chunkOf(manifest, 0, "x"), 7), chunkOf(manifest, 0, "y")), 0, "damage 0", 0},
		{"manifest with zeros behind it", manifest, join(chunkOf(manifest, 0, "x"), make([]byte, 9)), 1, "unfinished 8", 0},
	}
	for _, c := range cases {
		records := 0
		w := &recordWalk{format: c.format, each: func(int64, []byte) { records++ }}
		err := w.run(int64(len(c.data)), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(c.data)), nil })
		var faults []string
		for _, f := range w.faults {
			faults = append(faults, fmt.Sprintf("%s %d", f.kind, f.offset))
		}
		if got := strings.Join(faults, ", "); err != nil || records != c.records || got != c.faults || w.rest != c.rest {
			t.Errorf("%s: %d records, faults %q, %d bytes behind it, %v; want %d, %q, %d", c.name, records, got, w.rest, err, c.records, c.faults, c.rest)
		}
	}
	if len(cases) != 36 {
		t.Errorf("%d cases", len(cases))
	}
}

// heldFS says when something is created below the copy.
type heldFS struct {
	vfs.FS
	created func()
}

func (fs heldFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasPrefix(name, "copy/") {
		fs.created()
	}
	return fs.FS.Create(name, c)
}

// While a store is copied no dropped table is cleared: from the list of sstables
// to the copies of the logs.
func TestNothingIsClearedDuringCheckpoint(t *testing.T) {
	var s *Store
	files, free := 0, 0
	s = mustOpen(t, Options{Dir: "data", FS: heldFS{vfs.NewMem(), func() {
		files++
		if s.dropping.TryLock() {
			free++
			s.dropping.Unlock()
		}
	}}})
	everyKind(t, s)
	if err := s.Checkpoint(context.Background(), "copy"); err != nil {
		t.Fatal(err)
	}
	if files < 3 || free > 0 {
		t.Errorf("%d files were made, %d of them while tables might be cleared", files, free)
	}
	var _ store.Checkpointer = s
}
