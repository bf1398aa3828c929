package pebble

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/cell"
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
		{"zeros behind it", log, join(a, make([]byte, 40)), 1, "unfinished 22", 0},
		{"few zeros behind it", log, join(a, make([]byte, 3)), 1, "unfinished 22", 0},
		{"blocks of zeros behind it", log, join(a, make([]byte, 3*recordBlock)), 1, "unfinished 22", 0},
		{"nothing but zeros", log, make([]byte, 40), 0, "unfinished 0", 0},
		{"zeros in place of its mark, and used before", log, join(a, make([]byte, 40), older), 1, "unfinished 22", 0},
		{"zeros in place of a record", log, join(a, make([]byte, 40), b), 1, "unfinished 22", 0},
		{"zeros, and a later one proves that there was something", log, join(a, make([]byte, 40), promise), 1, "damage 22", 0},
		{"zeros inside a record", log, join(a, chunkOf(log, 1, "a"), make([]byte, 40)), 1, "unfinished 22", 0},
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
	if len(cases) != 43 {
		t.Errorf("%d cases", len(cases))
	}
}

// How a log must end that is not the newest of a closed store.
func TestEndsOfLogs(t *testing.T) {
	log := logFormat(7)
	older := chunkOf(logFormat(5), 0, "of an earlier log")
	mark := log.endMark()
	a := chunkOf(log, 0, "one")
	begun := chunkOf(log, 1, "a")
	zeros := make([]byte, 40)
	closed, unread := logRole{closed: true}, logRole{unread: true}
	upTo := func(n int) logRole { return logRole{live: true, written: int64(n)} }
	cases := []struct {
		name   string
		role   logRole
		data   [][]byte
		faults string
		rest   int64
	}{
		{"closed", closed, [][]byte{a, mark, older}, "", int64(len(older))},
		{"closed, zeros behind its mark", closed, [][]byte{a, mark, zeros}, "", 40},
		{"ends with the file, as one that was never written to", closed, nil, "", 0},
		{"a record without a mark, as one that a start went through", closed, [][]byte{a}, "", 0},
		{"zeros in place of its mark", closed, [][]byte{a, zeros}, "damage 22", 0},
		{"an earlier log in place of its mark", closed, [][]byte{a, older}, "damage 22", 0},
		{"a bad record at its end", closed, [][]byte{a, a[:21]}, "damage 22", 0},
		{"cut inside a record", closed, [][]byte{a, begun}, "damage 22", 0},
		{"nothing but zeros", closed, [][]byte{zeros}, "damage 0", 0},
		{"not read any more: zeros", unread, [][]byte{a, zeros}, "", 40},
		{"not read any more: cut", unread, [][]byte{a, a[:21]}, "unfinished 22", 0},
		{"written to now: zeros where nothing was written yet", upTo(len(a)), [][]byte{a, zeros}, "", 40},
		{"written to now: zeros where something was", upTo(len(a) + 1), [][]byte{a, zeros}, "damage 22", 0},
	}
	for _, c := range cases {
		data := slices.Concat(c.data...)
		w := &recordWalk{format: log, end: c.role}
		err := w.run(int64(len(data)), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil })
		var faults []string
		for _, f := range w.faults {
			faults = append(faults, fmt.Sprintf("%s %d", f.kind, f.offset))
		}
		if got := strings.Join(faults, ", "); err != nil || got != c.faults || w.rest != c.rest {
			t.Errorf("%s: faults %q, %d bytes behind it, %v; want %q, %d", c.name, got, w.rest, err, c.faults, c.rest)
		}
	}
	if len(cases) != 13 {
		t.Errorf("%d cases", len(cases))
	}
}

// Which logs a start reads is what the manifest says.
func TestNeededLog(t *testing.T) {
	name := append([]byte{1, byte(len(comparer.Name))}, comparer.Name...)
	cases := []struct {
		name   string
		record []byte
		want   uint64
	}{
		{"nothing", nil, 0},
		{"a log", []byte{2, 7}, 7},
		{"a large one", []byte{2, 0x80, 0x01}, 128},
		{"behind the comparer", append(slices.Clone(name), 2, 7, 3, 9), 7},
		{"comparer alone", name, 0},
		{"comparer that is longer than the record", []byte{1, 200, 1, 2, 7}, 0},
		{"another thing", []byte{3, 7, 2, 9}, 0},
		{"cut", []byte{2}, 0},
	}
	for _, c := range cases {
		if got := neededLog(c.record); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if len(cases) != 8 {
		t.Errorf("%d cases", len(cases))
	}
}

// heldTables lets no table be made while it is on.
type heldTables struct {
	vfs.FS
	on  atomic.Bool
	let chan struct{}
}

func (fs *heldTables) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if fs.on.Load() && strings.HasSuffix(name, ".sst") {
		<-fs.let
	}
	return fs.FS.Create(name, c)
}

// The logs of a store, zeroed from their middle on: verify names each, and calls
// damage what a start refuses.
func TestZeroedTailOfALogIsNamed(t *testing.T) {
	ctx := context.Background()
	mem := vfs.NewCrashableMem()
	held := &heldTables{FS: mem, let: make(chan struct{})}
	s := mustOpen(t, Options{Dir: "data", FS: held, MemtableBytes: 1 << 20, NoJanitor: true})
	mustCreate(t, s, "t", "f")
	// Memtables that are not flushed yet keep their logs.
	held.on.Store(true)
	defer close(held.let)
	var kept []string
	for n := 0; len(kept) < 2; n++ {
		if n == 60 {
			t.Fatal("there is never more than one log")
		}
		mustApply(t, s, "t", *cell.NewMutation(fmt.Appendf(nil, "r%06d", n)).Put([]byte("f"), nil, 1, make([]byte, 60_000)))
		killed := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 0})
		kept = kept[:0]
		v := &verifier{ctx: ctx, fs: killed, dir: "data"}
		all := names(t, killed)
		v.findLogs(all)
		for _, name := range all {
			if log, ok := logNumber(name); ok && log >= v.needed {
				kept = append(kept, name)
			}
		}
		if len(kept) >= 2 {
			mem = killed
		}
	}
	for i, name := range kept {
		whole := content(t, mem, name)
		format := logFormat(0)
		format.log, _ = logNumber(name)
		w := &recordWalk{format: format}
		if _, err := walkFile(mem, "data/"+name, w); err != nil || w.whole < 100 {
			t.Fatalf("%s has records up to %d: %v", name, w.whole, err)
		}
		bad := bytes.Clone(whole)
		clear(bad[w.whole/2:])
		save(t, mem, name, bad)
		faults, report := look(t, mem)
		want := store.FaultDamage
		if i == len(kept)-1 {
			want = store.FaultUnfinished
		}
		if report.Sound() || !slices.ContainsFunc(faults, func(f store.Fault) bool { return f.File == "data/"+name && f.Kind == want }) {
			t.Errorf("%s, log %d of %d: %v, want %s", name, i+1, len(kept), faults, want)
		}
		again, err := Open(ctx, Options{Dir: "data", FS: mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))}), NoJanitor: true})
		if err == nil {
			err = again.Close()
		}
		if (want == store.FaultDamage) == (err == nil) {
			t.Errorf("%s is called %s, and a start says %v", name, want, err)
		}
		save(t, mem, name, whole)
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
