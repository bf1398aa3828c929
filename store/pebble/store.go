package pebble

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// Store is the engine, open. It implements store.Store and store.Snapshotter.
//
// Lock order: admin, then a table's mu, then row stripes, then the catalog's
// mu. docs/internals/locks.md has the whole list.
type Store struct {
	opts    Options
	log     *slog.Logger
	fs      *watchedFS
	lock    *pebbledb.Lock
	db      *pebbledb.DB
	clock   *clock
	rows    *stripes
	catalog *catalog
	// families are those of all open tables, by familyKey.
	families sync.Map
	admin    sync.Mutex // one change of tables, families or namespaces at a time
	// dropping is held while cells of dropped tables are removed and their marks
	// go, and while the store is copied: a copy has both or neither.
	dropping sync.Mutex

	closing  sync.Mutex   // held through Close: a second one waits for the first
	gate     sync.RWMutex // every call holds it shared; Close takes it
	closed   bool
	unsynced atomic.Bool   // something was written and not synced
	removals atomic.Uint64 // how often rows were removed as a range
	removing atomic.Int64  // how many of those calls go on
	// forgotten is the bucket of nonces up to which they were deleted.
	forgotten atomic.Int64
	scanners  scannerSet
	metrics   *collector
	janitor   *janitor
	damage    *damageWatch
	gauge     gauge
	figures   lastFigures
	// closePatience bounds Close on a full disk.
	closePatience time.Duration
	closeOnce     sync.Once
	closedAll     chan struct{} // closed when the store is
	closeError    error         // valid then
	admission     *admission
	disk          *diskWatch

	ending context.Context // ends when Close begins
	stop   context.CancelFunc
	done   sync.WaitGroup
}

var (
	_ store.Store       = (*Store)(nil)
	_ store.Snapshotter = (*Store)(nil)
	_ store.Pressured   = (*Store)(nil)
)

// Open opens the store in a folder, or makes one there.
//
// Errors match store.ErrLocked when another process has it open,
// store.ErrNewerFormat and store.ErrCorrupt; they name the folder or the file.
func Open(ctx context.Context, opts Options) (*Store, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Store{opts: o, log: o.Logger, rows: &stripes{}, clock: newClock(o.Clock, o.Logger), closePatience: closePatience, closedAll: make(chan struct{})}
	s.janitor, s.damage = newJanitor(s), newDamageWatch(o.Logger)
	s.disk = newDiskWatch(o.FS, o.Dir, uint64(o.DiskReserve), o.Logger)
	s.fs = &watchedFS{FS: s.disk.space, dir: o.Dir, delay: o.FsyncDelay, lazyWAL: o.WALSync == WALSyncOS}
	s.admission = newAdmission(time.Now)
	if err := s.open(ctx); err != nil {
		if s.db != nil {
			err = errors.Join(err, s.db.Close())
		}
		if s.lock != nil {
			err = errors.Join(err, s.lock.Close())
		}
		return nil, fmt.Errorf("open the store in %s: %w", o.Dir, err)
	}
	background, stop := context.WithCancel(context.Background())
	s.ending, s.stop = background, stop
	s.done.Go(func() { s.flusher(background) })
	s.done.Go(func() { s.disk.run(background) })
	s.done.Go(func() { s.watcher(background) })
	s.done.Go(func() { s.sweeper(background) })
	if !o.NoJanitor {
		s.done.Go(func() { s.janitor.run(background) })
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	if err := s.fs.MkdirAll(s.opts.Dir, 0o755); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	lock, err := lockFolder(s.fs, s.opts.Dir)
	if err != nil {
		return err
	}
	s.lock = lock
	fresh, err := syncNewFolder(s.fs, s.opts.Dir)
	if err != nil {
		return err
	}
	if err := checkFormat(s.fs, s.opts.Dir); err != nil {
		return err
	}
	if err := checkFiles(s.fs, s.opts.Dir); err != nil {
		return err
	}
	if err := checkCurrent(s.fs, s.opts.Dir); err != nil {
		return err
	}
	if s.db, err = openPebble(s); err != nil {
		s.db = nil
		return err
	}
	if err := writeSums(s.fs, s.opts.Dir); err != nil {
		return err
	}
	if s.catalog, err = loadCatalog(s.db); err != nil {
		return storeError(err)
	}
	if fresh {
		// Pebble begins its first log in an older form, in which damage cannot be
		// told from the end: what users write goes into the next one.
		if err := s.db.Flush(); err != nil {
			return storeError(err)
		}
	}
	for _, t := range s.catalog.tables {
		s.publish(t.id, t.layout, nil)
	}
	if err := s.clearDropped(ctx); err != nil {
		return fmt.Errorf("clear dropped tables: %w", err)
	}
	s.disk.space.opening.Store(false)
	s.disk.look()
	if s.metrics, err = newCollector(s); err != nil {
		return fmt.Errorf("register the store's metrics: %w", err)
	}
	return nil
}

// lockFolder takes the lock that lets one process have the store open.
func lockFolder(fs vfs.FS, dir string) (*pebbledb.Lock, error) {
	lock, err := pebbledb.LockDirectory(dir, fs)
	var path *os.PathError
	if errors.As(err, &path) {
		return nil, fmt.Errorf("make the lock file: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: the lock file %s is held (%v): stop that process or choose another folder",
			store.ErrLocked, fs.PathJoin(dir, "LOCK"), err)
	}
	return lock, nil
}

// openPebble opens Pebble. It panics on some damaged files; that is an error
// like any other here.
func openPebble(s *Store) (db *pebbledb.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", store.ErrCorrupt, r)
		}
	}()
	db, err = pebbledb.Open(s.opts.Dir, s.pebbleOptions())
	return db, openError(err)
}

// enter begins a call. The caller leaves with s.gate.RUnlock.
func (s *Store) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.gate.RLock()
	if s.closed {
		s.gate.RUnlock()
		return store.ErrClosed
	}
	return nil
}

// Capabilities implements store.Store.
func (s *Store) Capabilities() store.Capabilities {
	return store.Capabilities{AtomicBatch: true, Snapshots: true, ShiftsTimestamps: true, DropsRanges: true}
}

// closePatience is how long Close waits for a disk that has no space.
const closePatience = 5 * time.Second

// Close implements store.Store. While the disk has no space for the log it gives up
// after closePatience, with an error that matches store.ErrDiskFull: the store
// stays open until there is space or the process ends, and loses nothing that
// was acknowledged, as after a crash.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		go func() {
			s.closeError = s.close()
			close(s.closedAll)
		}()
	})
	tick := time.NewTicker(spaceRetry)
	defer tick.Stop()
	began := time.Now()
	for {
		select {
		case <-s.closedAll:
			return s.closeError
		case now := <-tick.C:
			if now.Sub(began) >= s.closePatience && s.disk.space.short() {
				return fmt.Errorf("close the store in %s: %w: what was acknowledged is in the log, and the next start reads it", s.opts.Dir, store.ErrDiskFull)
			}
		}
	}
}

func (s *Store) close() error {
	s.closing.Lock()
	defer s.closing.Unlock()
	// The janitor may be inside a call: it ends before the gate is closed.
	s.stop()
	s.admission.close()
	s.done.Wait()
	s.gate.Lock()
	s.closed = true
	s.gate.Unlock()
	s.metrics.unregister()
	s.scanners.closeAll()
	// What was acknowledged without a sync is durable after this, and the next
	// start has no log to replay.
	err := s.db.Flush()
	err = errors.Join(err, s.db.Close(), s.fs.syncLogs(), s.lock.Close())
	if err != nil {
		return fmt.Errorf("close the store in %s: %w", s.opts.Dir, err)
	}
	return nil
}

// flushEvery is how long a write without a sync may stay unsynced.
const flushEvery = 500 * time.Millisecond

// flusher syncs what was written without a sync.
func (s *Store) flusher(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if s.unsynced.Swap(false) {
			if err := s.db.LogData(nil, pebbledb.Sync); err != nil {
				s.unsynced.Store(true)
				s.log.Error("sync the log", "error", err)
			}
		}
		if err := s.fs.syncLogs(); err != nil {
			s.log.Error("sync the log", "error", err)
		}
		if err := s.forgetNonces(); err != nil {
			s.log.Error("forget old nonces", "error", err)
		}
	}
}

// storeError maps an error of Pebble to one of the contract.
func storeError(err error) error {
	if err == nil || errors.Is(err, store.ErrCorrupt) {
		return err
	}
	if pebbledb.IsCorruptionError(err) {
		return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	return err
}

// durable says whether a mutation of a table is synced before it is
// acknowledged.
func durable(m *cell.Mutation, l *layout) bool {
	return m.Durability.Resolve(l.schema.Durability).Synced()
}
