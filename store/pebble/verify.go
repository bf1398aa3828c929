package pebble

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/store"
)

// verifier looks at one store. It reads every byte twice: once as files, whose
// blocks and records have sums, and once as keys and values through Pebble, as
// a reader would. A fault that it finds does not end it.
//
// A store that is open is looked at where it lies: sstables do not change, and
// are held as long as the list that names them is the current one; of a log or
// a manifest that is written to meanwhile, an end that is not whole is looked at
// again after a sync. What is in the making, and what is not needed any more, is
// not looked at.
type verifier struct {
	ctx  context.Context // of the one call that made the verifier
	fs   vfs.FS
	dir  string
	live *Store // nil: the store is closed
	o    store.VerifyOptions

	report      store.VerifyReport
	done, total int64
	told        int64
	catalog     *catalog  // nil: it cannot be read
	lost        []keySpan // keys that cannot be read because of faults that were told
	// astray: some block's handle leads out of its file. Pebble would make room
	// for as much as the handle says, so keys are not read through it.
	astray bool
	// newest is the number of the newest log, and needed that of the first which
	// a start reads.
	newest, needed uint32
}

// keySpan is a range of keys, both inclusive.
type keySpan struct{ first, last []byte }

func (v *verifier) path(name string) string { return v.fs.PathJoin(v.dir, name) }

func (v *verifier) found(f store.Fault) {
	v.report.Count(f.Kind)
	if v.o.Found != nil {
		v.o.Found(f)
	}
}

// damage tells of a fault of a file; an empty name: of none in particular.
func (v *verifier) damage(name string, offset int64, format string, args ...any) {
	f := store.Fault{Kind: store.FaultDamage, Offset: offset, What: fmt.Sprintf(format, args...)}
	if name != "" {
		f.File = v.path(name)
	}
	v.found(f)
}

func (v *verifier) note(name, format string, args ...any) {
	v.found(store.Fault{Kind: store.FaultNote, File: v.path(name), Offset: -1, What: fmt.Sprintf(format, args...)})
}

// tellEvery is how many bytes pass between two calls of Progress.
const tellEvery = 1 << 20

// advance counts bytes that were read.
func (v *verifier) advance(n int64) error {
	v.report.Bytes += n
	return v.step(n)
}

func (v *verifier) step(n int64) error {
	v.done += n
	if v.done-v.told < tellEvery {
		return nil
	}
	v.told = v.done
	if err := v.ctx.Err(); err != nil {
		return err
	}
	if v.o.Progress == nil {
		return nil
	}
	return v.o.Progress(min(v.done, v.total), v.total)
}

// pause gives a writer time.
func (v *verifier) pause() error {
	t := time.NewTimer(20 * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-v.ctx.Done():
		return v.ctx.Err()
	}
}

// Verify implements store.Verifier: it looks at the store while it is used.
func (s *Store) Verify(ctx context.Context, o store.VerifyOptions) (store.VerifyReport, error) {
	if err := s.enter(ctx); err != nil {
		return store.VerifyReport{}, err
	}
	defer s.gate.RUnlock()
	v := &verifier{ctx: ctx, fs: s.fs, dir: s.opts.Dir, live: s, o: o}
	err := v.run()
	return v.report, err
}

var _ store.Verifier = (*Store)(nil)

// Verify looks at the store in the folder that the options name, which nobody
// has open; it changes nothing in it but for the lock that it takes.
func Verify(ctx context.Context, opts Options, o store.VerifyOptions) (report store.VerifyReport, err error) {
	d, err := opts.withDefaults()
	if err != nil {
		return report, err
	}
	if _, err := d.FS.Stat(d.Dir); err != nil {
		return report, fmt.Errorf("look at the store: %w", err)
	}
	v := &verifier{ctx: ctx, fs: d.FS, dir: d.Dir, o: o}
	if !o.ReadOnly {
		lock, err := lockFolder(d.FS, d.Dir)
		if err != nil {
			return report, err
		}
		defer func() { err = closeWith(lock, err) }()
	}
	err = v.run()
	return v.report, err
}

// run does all the steps.
func (v *verifier) run() error {
	names, err := v.fs.List(v.dir)
	if err != nil {
		return fmt.Errorf("list the store's folder: %w", err)
	}
	slices.Sort(names)
	names, strange := onlyFiles(v.fs, v.dir, names)
	for _, what := range strange {
		v.damage(what.name, -1, "it is %s and no regular file, and was not opened", what.kind)
	}
	if err := v.weigh(names); err != nil {
		return err
	}
	for _, check := range []func([]string) error{v.checkOwn, v.checkOptions, v.checkMarkers, v.checkLogs, v.checkOthers} {
		if err := check(names); err != nil {
			return err
		}
	}
	switch {
	case len(strange) > 0:
		v.damage("", -1, "only the files of the store were looked at, since to open it would open what is no file, too")
		return v.runOn(nil, names)
	case v.live != nil:
		return v.runOn(v.live.db, names)
	}
	db, err := v.openWithout()
	if err != nil {
		v.damage("", -1, "the store cannot be opened, so only its files were looked at: %v", err)
		return v.runOn(nil, names)
	}
	return closeWith(db, v.runOn(db, names))
}

// stranger is something that has the name of a file of the store and is none.
type stranger struct{ name, kind string }

// onlyFiles sorts out what has the name of a file of the store and is no regular
// one: to open a pipe would wait for somebody to write to it.
func onlyFiles(fs vfs.FS, dir string, names []string) (files []string, strange []stranger) {
	for _, name := range names {
		info, err := fs.Stat(fs.PathJoin(dir, name))
		if err != nil || !isStoreFile(name) || info.Mode().IsRegular() {
			files = append(files, name) // what cannot be looked at is told of by who reads it
			continue
		}
		kind := "a device"
		switch info.Mode().Type() {
		case os.ModeDir:
			kind = "a folder"
		case os.ModeNamedPipe:
			kind = "a named pipe"
		case os.ModeSocket:
			kind = "a socket"
		}
		strange = append(strange, stranger{name, kind})
	}
	return files, strange
}

// openWithout opens the store also where sstables are missing: Pebble lists the
// tables only if it believes that all are there.
func (v *verifier) openWithout() (*pebbledb.DB, error) {
	var ghosts []string
	for {
		db, err := v.openReadOnly(ghosts)
		if err != nil {
			return nil, err
		}
		_, err = db.SSTables()
		if err == nil {
			return db, nil
		}
		if err := db.Close(); err != nil {
			return nil, err
		}
		m := unknownTable.FindStringSubmatch(err.Error())
		if m == nil || slices.Contains(ghosts, m[1]+".sst") {
			return nil, err
		}
		ghosts = append(ghosts, m[1]+".sst")
	}
}

// unknownTable is what Pebble says of a table that is not there; there is no
// value for it.
var unknownTable = regexp.MustCompile(`^file (\d+) \(type sstable\) unknown`)

// runOn looks at tables and keys. Without a database it looks at the tables
// that are in the folder.
func (v *verifier) runOn(db *pebbledb.DB, names []string) error {
	if db != nil {
		v.loadCatalog(db)
	}
	if err := v.checkTables(db, names); err != nil {
		return err
	}
	switch {
	case db == nil:
	case v.astray:
		v.damage("", -1, "keys and values were not read, since a block's handle leads out of its file")
	default:
		if err := v.scan(db); err != nil {
			return err
		}
	}
	if v.o.Progress == nil {
		return v.ctx.Err()
	}
	// What was read in the end is the whole of it.
	return v.o.Progress(v.done, v.done)
}

// weigh adds up the files, which are read twice.
func (v *verifier) weigh(names []string) error {
	for _, name := range names {
		if !isStoreFile(name) {
			continue
		}
		info, err := v.fs.Stat(v.path(name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		v.total += info.Size()
		if strings.HasSuffix(name, ".sst") {
			v.total += info.Size()
		}
	}
	return nil
}

// loadCatalog reads the names, so that faults of tables can be told by them.
func (v *verifier) loadCatalog(from iterators) {
	base, err := from.NewIter(&pebbledb.IterOptions{})
	if err != nil {
		v.damage("", -1, "the catalog cannot be read: %v", err)
		return
	}
	view := baseView{base}
	if v.catalog, err = loadCatalog(view); err == nil {
		v.report.Tables = len(v.catalog.tables)
		err = v.checkCatalog(view, v.catalog)
	}
	if err = closeWith(base, err); err != nil {
		v.damage("", -1, "the catalog cannot be read: %v", err)
		v.catalog = nil
	}
}

// baseView reads as of the moment at which an iterator was opened.
type baseView struct{ it *pebbledb.Iterator }

// NewIter implements iterators.
func (b baseView) NewIter(o *pebbledb.IterOptions) (*pebbledb.Iterator, error) {
	return b.it.Clone(pebbledb.CloneOptions{IterOptions: o})
}

// openReadOnly opens the store without changing anything in it. Files that are
// missing or have another size are told of elsewhere.
func (v *verifier) openReadOnly(ghosts []string) (db *pebbledb.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			db, err = nil, fmt.Errorf("%w: %v", store.ErrCorrupt, r)
		}
	}()
	db, err = pebbledb.Open(v.dir, &pebbledb.Options{
		FS: unlockedFS{v.fs, ghosts}, ReadOnly: true, DisableConsistencyCheck: true,
		Comparer: comparer, KeySchema: keySchema.Name, KeySchemas: keySchemas(),
		Logger: silent{}, CacheSize: 8 << 20, DisableTableStats: true,
		// Without a listener Pebble ends the process at damage.
		EventListener: &pebbledb.EventListener{DataCorruption: func(pebbledb.DataCorruptionInfo) {}},
	})
	return db, openError(err)
}

// unlockedFS takes no locks: whoever opens a store by it has it locked already,
// or must not leave a lock file. It lists files that are not there, too.
type unlockedFS struct {
	vfs.FS
	ghosts []string
}

// List implements vfs.FS.
func (fs unlockedFS) List(dir string) ([]string, error) {
	names, err := fs.FS.List(dir)
	return append(names, fs.ghosts...), err
}

// Lock implements vfs.FS.
func (unlockedFS) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

// Unwrap implements vfs.FS.
func (fs unlockedFS) Unwrap() vfs.FS { return fs.FS }

type silent struct{}

func (silent) Infof(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...))
}

// checkMarkers looks at Pebble's markers, which are empty files: all they say is
// in their names.
func (v *verifier) checkMarkers(names []string) error {
	for _, kind := range []string{"marker.manifest.", "marker.format-version."} {
		n := 0
		for _, name := range names {
			if strings.HasPrefix(name, kind) {
				n++
				if err := v.checkMarker(name); err != nil {
					return err
				}
			}
		}
		if n == 0 {
			v.damage("", -1, "there is no marker file %s*", kind)
		}
	}
	desc, err := pebbledb.Peek(v.dir, v.fs)
	if err != nil {
		v.damage("", -1, "the marker files cannot be read: %v", err)
		return nil
	}
	if desc.Exists && !slices.Contains(names, v.fs.PathBase(desc.ManifestFilename)) && v.live == nil {
		v.damage(v.fs.PathBase(desc.ManifestFilename), -1, "it is missing: it is the manifest that the marker names")
	}
	return nil
}

func (v *verifier) checkMarker(name string) error {
	parts := strings.Split(name, ".")
	if len(parts) != 4 || !isNumber(parts[2]) {
		v.damage(name, -1, "its name is not one of a marker")
	}
	data, err := v.read(name)
	if err == nil && len(data) > 0 {
		v.damage(name, 0, "a marker file is empty, and this one has %d bytes", len(data))
	}
	return err
}

// checkLogs looks at the manifests and the logs.
func (v *verifier) checkLogs(names []string) error {
	v.findLogs(names)
	for _, name := range names {
		var err error
		number, isManifest := strings.CutPrefix(name, "MANIFEST-")
		if log, ok := logNumber(name); ok {
			err = v.checkRecordFile(name, logFormat(log))
		} else if isManifest && isNumber(number) {
			err = v.checkRecordFile(name, manifestFormat)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isStoreFile says whether a file of the folder is part of the store.
func isStoreFile(name string) bool {
	_, isLog := logNumber(name)
	return isLog || name == formatFile || name == sumsFile || strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob") ||
		strings.HasPrefix(name, "marker.") || strings.HasPrefix(name, "MANIFEST-") || strings.HasPrefix(name, "OPTIONS-")
}

// checkOthers names what is in the folder and is no part of the store. Of the
// lock and the ballast nothing is read, ever; what is being made in an open
// store is not named.
func (v *verifier) checkOthers(names []string) error {
	for _, name := range names {
		making := strings.HasSuffix(name, ".dbtmp") || strings.HasSuffix(name, ".new")
		if isStoreFile(name) || name == "LOCK" || name == ballastName || v.live != nil && making {
			continue
		}
		v.note(name, "it is no file of a store and was not looked at")
	}
	return nil
}

// nameOf gives the name of a table by the key of one of its cells.
func (v *verifier) nameOf(key []byte) string {
	if len(key) < familyPrefixLen || key[0] == 0 || v.catalog == nil {
		return ""
	}
	if t := v.catalog.byID(binary.BigEndian.Uint32(key)); t != nil {
		return t.name
	}
	return ""
}

// place says in a fault whose cells lie between two keys.
func (v *verifier) place(f *store.Fault, first, last []byte) {
	f.Table = v.nameOf(first)
	if to := v.nameOf(last); to != f.Table {
		// From the catalog, or from the end of one table, to another.
		f.What += fmt.Sprintf("; affected are all keys from table %q to table %q", f.Table, to)
		if f.Table == "" {
			f.Table = to
		}
		return
	}
	if f.Table != "" {
		f.SetRows(rowIn(first), rowIn(last))
	}
}

// rowIn gives the row of a cell's key, or of a bound of one.
func rowIn(key []byte) []byte {
	if len(key) <= familyPrefixLen {
		return nil
	}
	prefix := key[:splitKey(key)]
	if n := len(prefix); n >= familyPrefixLen+2 && prefix[n-2] == escByte && prefix[n-1] == escEnd {
		prefix = prefix[:n-2]
	}
	return unescape(nil, prefix[familyPrefixLen:])
}
