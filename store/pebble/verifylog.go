package pebble

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/store"
)

// recordFault is what is wrong with a manifest or a log.
type recordFault struct {
	kind   store.FaultKind
	offset int64
	what   string
}

// recordWalk reads a manifest or a log whole, and accounts for each of its
// bytes: it belongs to a record with a sum that is right, is filling that must
// be zero, is the mark with which a log is closed, or lies behind the end of the
// log, where what an earlier log left in the file is of no meaning.
type recordWalk struct {
	format recordFormat
	end    logRole // of a log
	// each, if set, gets every whole record; the bytes are valid during the
	// call.
	each func(offset int64, record []byte)

	whole  int64 // end of the last whole record
	rest   int64 // bytes behind the end of the log
	faults []recordFault

	inside bool // a record has begun
	began  int64
	record []byte
}

// logRole says how the records of a log must end.
type logRole struct {
	// closed: a start reads the log, and a newer one follows. Pebble closes a log
	// before it begins the next, so it ends with its mark (or, if it never had a
	// record, with the file): a start refuses the store where it does not.
	closed bool
	// unread: no start reads it any more, whatever is in it.
	unread bool
	// live: the store is open, and the log was written up to written; what is
	// behind has no meaning.
	live    bool
	written int64
}

func (w *recordWalk) fault(kind store.FaultKind, offset int64, format string, args ...any) {
	w.faults = append(w.faults, recordFault{kind, offset, fmt.Sprintf(format, args...)})
}

// run walks over a file of a size. open opens it anew.
func (w *recordWalk) run(size int64, open func() (io.ReadCloser, error)) error {
	f, err := open()
	if err != nil {
		return err
	}
	bad, head, err := w.chunks(f)
	if err = closeWith(f, err); err != nil {
		return err
	}
	if bad < 0 {
		switch {
		case w.inside && w.end.closed:
			w.fault(store.FaultDamage, w.began, "the file ends inside the record that begins here, and a newer log follows: it was closed, and is cut")
		case w.inside:
			w.fault(store.FaultUnfinished, w.began, "the file ends inside the record that begins here")
		}
		return nil
	}
	if f, err = open(); err != nil {
		return err
	}
	again, sound, err := w.format.damaged(f)
	if err = closeWith(f, err); err != nil {
		return err
	}
	if again >= 0 {
		w.fault(store.FaultDamage, again, "a bad record, with a sound one after it, at %d", sound)
		return nil
	}
	w.judgeEnd(bad, size, head)
	return nil
}

// chunks reads sound chunks up to the first bad one; bad is -1 where there is
// none. head is what the file has from there on, up to the end of the block.
func (w *recordWalk) chunks(r io.Reader) (bad int64, head []byte, err error) {
	buf := make([]byte, recordBlock)
	for from := int64(0); ; from += recordBlock {
		n, err := io.ReadFull(r, buf)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return 0, nil, err
		}
		b, at := buf[:n], 0
		for at+w.format.header <= n {
			size := w.format.chunkAt(b, at)
			if size == 0 {
				return from + int64(at), slices.Clone(b[at:]), nil
			}
			w.take(from+int64(at), b[at:at+size])
			at += size
		}
		switch {
		case n == recordBlock && !allZero(b[at:]):
			w.fault(store.FaultDamage, from+int64(at), "the filling at the end of a block is not zero")
		case n < recordBlock && at < n:
			return from + int64(at), slices.Clone(b[at:]), nil
		}
		if n < recordBlock {
			return -1, nil, nil
		}
	}
}

// take adds a chunk to its record. Types count from 0: whole, first, middle,
// last.
func (w *recordWalk) take(offset int64, chunk []byte) {
	typ := chunk[6] - w.format.lowType
	if w.inside != (typ >= 2) {
		w.fault(store.FaultDamage, offset, "the parts of a record are not in order")
	}
	if typ <= 1 {
		w.began, w.record = offset, w.record[:0]
	}
	w.inside = typ == 1 || typ == 2
	if w.each != nil {
		w.record = append(w.record, chunk[w.format.header:]...)
	}
	if w.inside {
		return
	}
	w.whole = offset + int64(len(chunk))
	if w.each != nil {
		w.each(w.began, w.record)
	}
}

func allZero(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }

// judgeEnd says what the bytes are that begin at an offset with no sound chunk,
// and have none after them that proves that something is lost.
func (w *recordWalk) judgeEnd(at, size int64, head []byte) {
	mark := w.format.endMark()
	switch {
	case w.format.log == 0:
		w.fault(store.FaultUnfinished, at, "the last record is not whole: a crash leaves that, and damage does")
	case bytes.HasPrefix(head, mark):
		if w.inside {
			w.fault(store.FaultDamage, w.began, "the log was closed inside the record that begins here")
		}
		w.rest = size - at - int64(len(mark))
		return
	case differAt(head, mark) == 1:
		w.fault(store.FaultDamage, at, "the mark of the log's end has a wrong byte")
		return
	case w.end.closed:
		w.fault(store.FaultDamage, at, "here is neither a whole record nor the mark of the log's end, and a newer log follows: it was closed, and what it had here is lost")
		return
	case allZero(head[:min(len(head), w.format.header)]) && !w.end.unread && !(w.end.live && at >= w.end.written):
		w.zeros(at)
		return
	case w.format.ours(head):
		w.fault(store.FaultUnfinished, at, "a record of this log is not whole: a crash leaves that at the end of a log, and damage does")
		return
	default:
		w.rest = size - at
	}
	if w.format.log != 0 && w.inside {
		w.fault(store.FaultUnfinished, w.began, "the log ends inside the record that begins here: a crash leaves that, and damage does")
	}
}

// zeros tells of zeros behind the last whole record of a log that was not closed.
func (w *recordWalk) zeros(at int64) {
	switch {
	case w.end.live:
		w.fault(store.FaultDamage, at, "here are zeros, and the log was written up to %d", w.end.written)
	case w.inside:
		w.fault(store.FaultUnfinished, w.began, "zeros follow inside the record that begins here: a crash leaves that at the end of a log, and damage does")
	default:
		w.fault(store.FaultUnfinished, at, "zeros follow the last whole record: a crash leaves that at the end of a log, and damage of what was there does")
	}
}

// endMark is what closes a log: the header of a chunk of the next one.
func (f *recordFormat) endMark() []byte {
	mark := make([]byte, 11)
	mark[6] = 5
	binary.LittleEndian.PutUint32(mark[7:], f.log+1)
	return mark
}

// differAt counts the bytes in which b differs from want, as far as want goes.
func differAt(b, want []byte) int {
	if len(b) < len(want) {
		return len(want)
	}
	n := 0
	for i := range want {
		if b[i] != want[i] {
			n++
		}
	}
	return n
}

// ours says whether a bad chunk was one of this log: it has its number, or
// would be sound with it.
func (f *recordFormat) ours(head []byte) bool {
	if len(head) < f.header {
		// Too short for a header: whatever was cut here, it ended with the file.
		return len(head) < 11 || binary.LittleEndian.Uint32(head[7:]) == f.log
	}
	if binary.LittleEndian.Uint32(head[7:]) == f.log {
		return true
	}
	for _, format := range []recordFormat{logFormat(f.log), firstLogFormat(f.log)} {
		n := format.header + int(binary.LittleEndian.Uint16(head[4:]))
		if n > len(head) {
			continue
		}
		chunk := slices.Clone(head[:n])
		binary.LittleEndian.PutUint32(chunk[7:], f.log)
		if format.chunkAt(chunk, 0) == n {
			return true
		}
	}
	return false
}

// firstLogFormat is that of the chunks of the log with which a store was made.
// Pebble begins it before it raises its own format to ours: its headers lack the
// offset up to which the log was synced.
func firstLogFormat(log uint32) recordFormat {
	return recordFormat{header: 11, lowType: 5, topType: 8, log: log}
}

// formatOf tells which of the two formats a log has: that of its first chunk.
func formatOf(fs vfs.FS, path string, log uint32) (recordFormat, error) {
	f, err := fs.Open(path, vfs.SequentialReadsOption)
	if err != nil {
		return recordFormat{}, err
	}
	buf := make([]byte, recordBlock)
	n, err := io.ReadFull(f, buf)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	if err = closeWith(f, err); err != nil {
		return recordFormat{}, err
	}
	if first := firstLogFormat(log); first.chunkAt(buf[:n], 0) > 0 {
		return first, nil
	}
	return logFormat(log), nil
}

// logNumber gives the number of a log by its name.
func logNumber(name string) (uint32, bool) {
	number, ok := strings.CutSuffix(name, ".log")
	if !ok || !isNumber(number) {
		return 0, false
	}
	n, err := strconv.ParseUint(number, 10, 32)
	return uint32(n), err == nil
}

// walkFile walks over one file of records.
func walkFile(fs vfs.FS, path string, w *recordWalk) (size int64, err error) {
	info, err := fs.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), w.run(info.Size(), func() (io.ReadCloser, error) { return fs.Open(path, vfs.SequentialReadsOption) })
}

// liveLooks is how often a bad end of a file that is being written is looked at
// before it counts: a writer may be in the middle of it.
const liveLooks = 5

// findLogs notes which log is the newest, and which a start reads.
func (v *verifier) findLogs(names []string) {
	v.newest, v.needed = 0, math.MaxUint32
	for _, name := range names {
		if n, ok := logNumber(name); ok {
			v.newest = max(v.newest, n)
		}
	}
	desc, err := pebbledb.Peek(v.dir, v.fs)
	if err != nil || !desc.Exists || !slices.Contains(names, v.fs.PathBase(desc.ManifestFilename)) {
		return // told of by checkMarkers; then no log is held to have been closed
	}
	needed := uint64(0)
	w := &recordWalk{format: manifestFormat, each: func(_ int64, record []byte) { needed = max(needed, neededLog(record)) }}
	if _, err := walkFile(v.fs, desc.ManifestFilename, w); err == nil && needed <= math.MaxUint32 {
		v.needed = uint32(needed)
	}
}

// neededLog gives the number of the first log that a start reads, if a record of
// the manifest says it; else 0. It is the first thing that a record says, but
// for the name of the comparer.
func neededLog(record []byte) uint64 {
	const tagComparer, tagLog = 1, 2
	tag, n := binary.Uvarint(record)
	if n > 0 && tag == tagComparer {
		size, k := binary.Uvarint(record[n:])
		if k <= 0 || size > uint64(len(record)-n-k) {
			return 0
		}
		record = record[n+k+int(size):]
		tag, n = binary.Uvarint(record)
	}
	if n <= 0 || tag != tagLog {
		return 0
	}
	log, _ := binary.Uvarint(record[n:])
	return log
}

// role says how a log must end.
func (v *verifier) role(name string, log uint32) logRole {
	r := logRole{closed: log >= v.needed && log < v.newest, unread: log < v.needed && log < v.newest}
	if v.live != nil {
		if newest, written := v.live.fs.logEnd(); newest == name {
			r.live, r.written = true, written
		}
	}
	return r
}

// checkRecordFile looks at a manifest or a log.
func (v *verifier) checkRecordFile(name string, format recordFormat) error {
	var w *recordWalk
	var size int64
	for look := 1; ; look++ {
		if format.log != 0 {
			var err error
			if format, err = formatOf(v.fs, v.path(name), format.log); errors.Is(err, os.ErrNotExist) && v.live != nil {
				return nil
			} else if err != nil {
				v.damage(name, -1, "%v", openError(err))
				return nil
			}
		}
		w = &recordWalk{format: format, end: v.role(name, format.log)}
		if format.log != 0 {
			w.each = func(offset int64, record []byte) { v.checkBatch(w, offset, record) }
		}
		var err error
		if size, err = walkFile(v.fs, v.path(name), w); errors.Is(err, os.ErrNotExist) && v.live != nil {
			return nil // not needed any more
		}
		if err != nil {
			v.damage(name, -1, "%v", openError(err))
			return nil
		}
		if v.live == nil || len(w.faults) == 0 || look == liveLooks {
			break
		}
		// What was being written is whole after a sync.
		if err := v.live.db.LogData(nil, pebbledb.Sync); err != nil {
			return storeError(err)
		}
		if err := v.pause(); err != nil {
			return err
		}
	}
	for _, f := range w.faults {
		v.found(store.Fault{Kind: f.kind, File: v.path(name), Offset: f.offset, What: f.what})
	}
	v.report.Files++
	return v.advance(size)
}

// checkBatch looks at one record of a log.
func (v *verifier) checkBatch(w *recordWalk, offset int64, record []byte) {
	if len(record) == 0 {
		return
	}
	if len(record) < 12 {
		w.fault(store.FaultDamage, offset, "a record of %d bytes is no batch", len(record))
		return
	}
	header, _ := batchrepr.ReadHeader(record) // it is long enough for one
	reader := batchrepr.Read(record)
	n := uint32(0)
	for {
		kind, key, value, ok, err := reader.Next()
		if err != nil {
			w.fault(store.FaultDamage, offset, "a batch cannot be read: %v", err)
			return
		}
		if !ok {
			break
		}
		if kind == pebbledb.InternalKeyKindLogData {
			continue
		}
		n++
		if isSet(kind) {
			err = checkEntry(key, value)
		} else if kind == pebbledb.InternalKeyKindDelete {
			err = checkKey(key)
		}
		if err != nil {
			w.fault(store.FaultDamage, offset, "entry %d of a batch: %v", n, err)
		}
	}
	if n != header.Count {
		w.fault(store.FaultDamage, offset, "a batch of %d entries has %d", header.Count, n)
	}
}
