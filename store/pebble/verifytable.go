package pebble

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/blob"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/store"
)

// listedTable is what the manifest says of a file of cells. Several virtual
// tables may lie in one file; then only their bounds are known.
type listedTable struct {
	size        int64 // 0: not known
	first, last []byte
}

// listed gives the files that the manifest names, by their names.
func listed(db *pebbledb.DB) (map[string]*listedTable, error) {
	levels, err := db.SSTables()
	if err != nil {
		return nil, err
	}
	all := map[string]*listedTable{}
	for _, level := range levels {
		for i := range level {
			t := &level[i]
			name := t.BackingSSTNum.String() + ".sst"
			l := all[name]
			if l == nil {
				l = &listedTable{first: t.Smallest.UserKey, last: t.Largest.UserKey}
				all[name] = l
			}
			if bytes.Compare(t.Smallest.UserKey, l.first) < 0 {
				l.first = t.Smallest.UserKey
			}
			if bytes.Compare(t.Largest.UserKey, l.last) > 0 {
				l.last = t.Largest.UserKey
			}
			if !t.Virtual {
				l.size = int64(t.Size)
			}
		}
	}
	return all, nil
}

// checkTables looks at every sstable that the manifest names; where that cannot
// be read, at every one that is in the folder.
func (v *verifier) checkTables(db *pebbledb.DB, names []string) error {
	want := map[string]*listedTable{}
	if db != nil {
		var err error
		if want, err = listed(db); err != nil {
			return storeError(err)
		}
	}
	var files []string
	for name := range want {
		files = append(files, name)
	}
	for _, name := range names {
		switch {
		case strings.HasSuffix(name, ".sst") && db == nil:
			files = append(files, name)
		case strings.HasSuffix(name, ".sst") && want[name] == nil && v.live == nil:
			v.note(name, "the manifest does not name it: a process that ended left it, it holds nothing of the store, and was not looked at")
		case strings.HasSuffix(name, ".blob"):
			if err := v.checkBlob(name); err != nil {
				return err
			}
		}
	}
	slices.Sort(files)
	for _, name := range files {
		if err := v.checkTable(db, name, want[name]); err != nil {
			return err
		}
	}
	return nil
}

// checkTable looks at one sstable: its size, the sum of every block, that
// blocks leave no byte between them, and its entries.
func (v *verifier) checkTable(db *pebbledb.DB, name string, want *listedTable) error {
	f, err := v.fs.Open(v.path(name), vfs.SequentialReadsOption)
	if errors.Is(err, os.ErrNotExist) && v.live != nil {
		if now, lerr := listed(db); lerr != nil || now[name] == nil {
			return storeError(lerr) // compacted away meanwhile
		}
	}
	t := &tableCheck{v: v, name: name, want: want}
	if err != nil {
		t.fault(-1, "%v", openError(err))
		return nil
	}
	v.report.Files++
	return t.run(f)
}

// tableCheck is the look at one sstable.
type tableCheck struct {
	v    *verifier
	name string
	want *listedTable // nil: the manifest does not name it

	r           *sstable.Reader
	bad         bool   // some data or index block is bad
	led         bool   // a handle leads out of the file
	first, last []byte // between them cells are lost
	entries     uint64
	deletions   uint64
	cells       map[familyKey]uint64
}

// fault tells of damage. All cells between the file's bounds count as affected.
func (t *tableCheck) fault(offset int64, format string, args ...any) {
	f := store.Fault{Kind: store.FaultDamage, File: t.v.path(t.name), Offset: offset, What: fmt.Sprintf(format, args...)}
	first, last := t.first, t.last
	if t.want != nil && first == nil {
		first, last = t.want.first, t.want.last
	}
	if first != nil {
		t.v.place(&f, first, last)
	}
	t.v.found(f)
}

// lose notes that keys cannot be read.
func (t *tableCheck) lose() {
	if t.want == nil {
		return
	}
	first, last := t.first, t.last
	if first == nil {
		first, last = t.want.first, t.want.last
	}
	t.v.lost = append(t.v.lost, keySpan{bytes.Clone(first), bytes.Clone(last)})
}

func (t *tableCheck) run(f vfs.File) (err error) {
	defer func() {
		// Pebble panics on some damage that its sums do not cover.
		if r := recover(); r != nil {
			t.fault(-1, "it cannot be read: %v", r)
			t.lose()
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return closeWith(f, err)
	}
	if t.want != nil && t.want.size > 0 && info.Size() != t.want.size {
		t.fault(-1, "it has %d bytes, and the manifest says %d", info.Size(), t.want.size)
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return closeWith(f, err)
	}
	t.r, err = sstable.NewReader(t.v.ctx, readable, sstable.ReaderOptions{Comparer: comparer, KeySchemas: keySchemas()})
	if err != nil {
		t.fault(-1, "its footer, properties or meta index cannot be read: %v", err)
		t.lose()
		return closeWith(readable, t.v.advance(info.Size()))
	}
	if err := t.blocks(f, info.Size()); err != nil {
		return closeWith(t.r, err)
	}
	return closeWith(t.r, t.inspect())
}

// namedBlock is a block of an sstable.
type namedBlock struct {
	block.Handle
	name string
}

// blocks checks the sum of each block, and that they cover the file.
func (t *tableCheck) blocks(f vfs.File, size int64) error {
	all, footer, err := t.layout()
	if err != nil {
		t.fault(-1, "its index cannot be read: %v", err)
		t.bad = true
		t.lose()
		return t.v.advance(size)
	}
	at, faults, err := t.sums(f, size, all)
	if err != nil {
		return err
	}
	if at != footer.Offset || int64(footer.Offset+footer.Length) != size {
		t.fault(int64(at), "the last block ends here, the footer is at %d to %d, and the file has %d bytes", footer.Offset, footer.Offset+footer.Length, size)
	}
	if t.bad {
		if t.led {
			t.v.astray = true
		} else {
			t.narrow()
		}
		t.lose()
	}
	for _, tell := range faults {
		tell()
	}
	return t.v.advance(int64(footer.Length))
}

// sums checks the sums of the blocks, and that each begins where the one before
// ends. at is the end of the last; faults are those of which the keys that they
// are about are to be found first.
func (t *tableCheck) sums(f vfs.File, size int64, all []namedBlock) (at uint64, faults []func(), err error) {
	buf := make([]byte, 0, 64<<10)
	var sum block.Checksummer
	sum.Init(t.r.BlockReader().ChecksumType())
	for _, b := range all {
		if b.Offset != at {
			t.fault(int64(at), "%d bytes between two blocks belong to none", int64(b.Offset)-int64(at))
		}
		if !within(b.Handle, size) {
			// What a handle says is not believed before it was held against the file.
			t.fault(int64(at), "the handle of the %s block says %d bytes at %d, in a file of %d", b.name, b.Length, b.Offset, size)
			t.bad, t.led = true, true
			continue
		}
		at = b.Offset + b.Length + block.TrailerLen
		buf = slices.Grow(buf[:0], int(b.Length)+block.TrailerLen)[:int(b.Length)+block.TrailerLen]
		if _, err := f.ReadAt(buf, int64(b.Offset)); err != nil {
			t.fault(int64(b.Offset), "the %s block cannot be read: %v", b.name, err)
			t.bad = true
			continue
		}
		if sum.Checksum(buf[:b.Length], buf[b.Length]) != binary.LittleEndian.Uint32(buf[b.Length+1:]) {
			t.bad = true
			faults = append(faults, func() {
				t.fault(int64(b.Offset), "the sum of the %s block of %d bytes is wrong", b.name, b.Length)
			})
		}
		if err := t.v.advance(int64(len(buf))); err != nil {
			return 0, nil, err
		}
	}
	return at, faults, nil
}

// within says whether a block, with its trailer, lies in a file of a size.
func within(b block.Handle, size int64) bool {
	n := uint64(size)
	return n >= block.TrailerLen && b.Offset <= n-block.TrailerLen && b.Length <= n-block.TrailerLen-b.Offset
}

// layout lists the blocks in the order of the file.
func (t *tableCheck) layout() (all []namedBlock, footer block.Handle, err error) {
	l, err := t.r.Layout()
	if err != nil {
		return nil, footer, err
	}
	add := func(name string, h block.Handle) {
		if h.Length > 0 {
			all = append(all, namedBlock{h, name})
		}
	}
	for i := range l.Data {
		add("data", l.Data[i].Handle)
	}
	for _, h := range l.Index {
		add("index", h)
	}
	for _, h := range l.Filter {
		// That of a table of range deletions alone is empty, with a sum.
		all = append(all, namedBlock{h.Handle, "filter"})
	}
	for _, h := range l.ValueBlock {
		add("value", h)
	}
	add("top index", l.TopIndex)
	add("range deletion", l.RangeDel)
	add("range key", l.RangeKey)
	add("value index", l.ValueIndex)
	add("properties", l.Properties)
	add("meta index", l.MetaIndex)
	add("blob reference", l.BlobReferenceIndex)
	slices.SortFunc(all, func(a, b namedBlock) int { return cmp.Compare(a.Offset, b.Offset) })
	return all, l.Footer, nil
}

// narrow finds the keys between which cells are lost: it reads from both ends
// up to the first bad block.
func (t *tableCheck) narrow() {
	if t.want == nil {
		return
	}
	first, last := bytes.Clone(t.want.first), bytes.Clone(t.want.last)
	it, err := t.r.NewIter(sstable.NoTransforms, nil, nil, sstable.AssertNoBlobHandles)
	if err != nil {
		return
	}
	for kv := it.First(); kv != nil; kv = it.Next() {
		first = append(first[:0], kv.K.UserKey...)
	}
	for kv := it.Last(); kv != nil; kv = it.Prev() {
		last = append(last[:0], kv.K.UserKey...)
	}
	_ = it.Close() // what it met is what this is about
	if bytes.Compare(first, last) <= 0 {
		t.first, t.last = first, last
	}
}

// inspect looks at the entries and compares them with the properties.
func (t *tableCheck) inspect() error {
	if t.bad {
		return nil // told of
	}
	t.cells = map[familyKey]uint64{}
	if err := t.points(); err != nil {
		return err
	}
	t.deletedRanges()
	p, err := t.r.ReadPropertiesBlock(t.v.ctx, nil)
	if err != nil {
		t.fault(-1, "its properties cannot be read: %v", err)
		return nil
	}
	if p.NumEntries != t.entries || p.NumDeletions != t.deletions {
		t.fault(-1, "its properties say %d entries, %d of them deletions; there are %d and %d", p.NumEntries, p.NumDeletions, t.entries, t.deletions)
	}
	t.garbage(p.UserProperties[garbageProperty])
	return nil
}

func (t *tableCheck) points() error {
	it, err := t.r.NewIter(sstable.NoTransforms, nil, nil, sstable.AssertNoBlobHandles)
	if err != nil {
		t.fault(-1, "its entries cannot be read: %v", err)
		return nil
	}
	var key []byte
	var trailer pebbledb.InternalKeyTrailer
	var buf []byte
	for kv := it.First(); kv != nil; kv = it.Next() {
		t.entries++
		k := kv.K.UserKey
		if c := bytes.Compare(k, key); t.entries > 1 && (c < 0 || c == 0 && kv.K.Trailer >= trailer) {
			t.fault(-1, "key %x is not in order: it follows %x", k, key)
		}
		key, trailer = append(key[:0], k...), kv.K.Trailer
		err := checkKey(k)
		switch kind := kv.K.Kind(); {
		case isSet(kind):
			if err == nil && k[0] != 0 {
				t.cells[familyKey{binary.BigEndian.Uint32(k), binary.BigEndian.Uint16(k[4:])}]++
			}
			value, _, verr := kv.Value(buf)
			if verr != nil {
				t.fault(-1, "the value of key %x cannot be read: %v", k, verr)
			} else if err == nil {
				err = checkEntry(k, value)
			}
		case kind == pebbledb.InternalKeyKindDelete, kind == pebbledb.InternalKeyKindSingleDelete, kind == pebbledb.InternalKeyKindDeleteSized:
			t.deletions++
		default:
			t.fault(-1, "key %x has the kind %s, which this engine does not write", k, kind)
		}
		if err != nil {
			t.fault(-1, "%v", err)
		}
		if t.entries%4096 == 0 {
			if err := t.v.ctx.Err(); err != nil {
				return closeWith(it, err)
			}
		}
	}
	if err := closeWith(it, it.Error()); err != nil {
		t.fault(-1, "its entries cannot be read: %v", err)
	}
	return nil
}

// deletedRanges counts the range deletions, of which each counts as an entry.
func (t *tableCheck) deletedRanges() {
	it, err := t.r.NewRawRangeDelIter(t.v.ctx, sstable.NoFragmentTransforms, sstable.NoReadEnv)
	if err != nil {
		t.fault(-1, "its range deletions cannot be read: %v", err)
		return
	}
	if it == nil {
		return
	}
	defer it.Close()
	s, err := it.First()
	for ; s != nil && err == nil; s, err = it.Next() {
		n := uint64(len(s.Keys))
		t.entries, t.deletions = t.entries+n, t.deletions+n
		if bytes.Compare(s.Start, s.End) >= 0 {
			t.fault(-1, "a range deletion goes from %x to %x", s.Start, s.End)
		}
	}
	if err != nil {
		t.fault(-1, "its range deletions cannot be read: %v", err)
	}
}

// garbage compares our own property with the entries. It may be missing.
func (t *tableCheck) garbage(p string) {
	if len(p) < 2 {
		return
	}
	all, err := parseGarbage([]byte(p[1:])) // behind a byte of Pebble's
	if err != nil {
		t.fault(-1, "%v", err)
		return
	}
	for _, g := range all {
		if n := t.cells[familyKey{g.table, g.family}]; n != g.cells || g.waste > g.cells {
			t.fault(-1, "its property %s says %d cells of family %d of table %#x, %d of them garbage; there are %d", garbageProperty, g.cells, g.family, g.table, g.waste, n)
		}
	}
}

// checkBlob looks at a file of values. This engine writes none, but can read
// them.
func (v *verifier) checkBlob(name string) error {
	f, err := v.fs.Open(v.path(name), vfs.SequentialReadsOption)
	if errors.Is(err, os.ErrNotExist) {
		return nil // nothing names it: values that are missing are told of where they are read
	}
	if err != nil {
		v.damage(name, -1, "%v", err)
		return nil
	}
	v.report.Files++
	info, err := f.Stat()
	if err != nil {
		return closeWith(f, err)
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return closeWith(f, err)
	}
	r, err := blob.NewFileReader(v.ctx, readable, blob.FileReaderOptions{})
	if err != nil {
		v.damage(name, -1, "it cannot be read: %v", err)
		return closeWith(readable, v.advance(info.Size()))
	}
	v.note(name, "it holds values apart from their keys, which this engine does not write: only its footer was checked, and its values as far as keys lead to them")
	return closeWith(r, v.advance(info.Size()))
}
