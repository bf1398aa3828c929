package pebble

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
)

// Settings of Options.WALSync.
const (
	// WALSyncDisk acknowledges SYNC_WAL after the log is on stable storage.
	WALSyncDisk = "fsync"
	// WALSyncOS acknowledges SYNC_WAL once the operating system has the log: it
	// survives the end of the process, and all but the last second survives
	// the loss of power.
	WALSyncOS = "os"
)

// Options of a store. Only Dir is needed.
type Options struct {
	// Dir is the folder of the store; it is made if it is not there.
	Dir string
	// FS is the file system; nil: the machine's.
	FS vfs.FS
	// Clock gives the time in ms since 1970; nil: the machine's.
	Clock func() int64
	// CacheBytes is the size of the block cache; 0: 128 MiB.
	CacheBytes int64
	// MemtableBytes bounds what all memtables hold together; 0: 128 MiB.
	MemtableBytes int64
	// DiskReserve is how many bytes must be free on the disk for writes to be
	// admitted; 0: two memtables and what two compactions write, at least 512
	// MiB.
	DiskReserve int64
	// WALSync is WALSyncDisk or WALSyncOS; empty: WALSyncDisk.
	WALSync string
	// FsyncDelay is added to every sync of a file: a slow disk, for tests and
	// measurements. 0: none.
	FsyncDelay time.Duration
	// MaxCell is the largest cell in bytes, compared with cell.Cell.Size; 0:
	// cell.MaxCell.
	MaxCell int
	// NoJanitor leaves garbage where it is until a major compaction is asked
	// for.
	NoJanitor bool
	// Backtracking makes a matcher for regular expressions of filters that
	// cannot be matched in linear time; nil: they are refused. Its matcher
	// bounds its own time.
	Backtracking func(pattern string) (filter.Matcher, error)
	// Logger; nil: silent.
	Logger *slog.Logger
	// Registerer takes the store's metrics; nil: there are none.
	Registerer prometheus.Registerer
}

func (o *Options) withDefaults() (Options, error) {
	d := *o
	if d.Dir == "" {
		return d, fmt.Errorf("pebble: no data folder given")
	}
	d.Dir = filepath.Clean(d.Dir) // as Pebble's names of the files in it are
	if d.FS == nil {
		d.FS = vfs.Default
	}
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	if d.CacheBytes == 0 {
		d.CacheBytes = 128 << 20
	}
	if d.MemtableBytes == 0 {
		d.MemtableBytes = 128 << 20
	}
	if d.MaxCell == 0 {
		d.MaxCell = cell.MaxCell
	}
	switch d.WALSync {
	case "":
		d.WALSync = WALSyncDisk
	case WALSyncDisk, WALSyncOS:
	default:
		return d, fmt.Errorf("pebble: wal sync is %q: use %q or %q", d.WALSync, WALSyncDisk, WALSyncOS)
	}
	if d.CacheBytes < 0 || d.MemtableBytes < 0 || d.DiskReserve < 0 || d.MaxCell < 0 || d.FsyncDelay < 0 {
		return d, fmt.Errorf("pebble: sizes and delays must not be negative")
	}
	if d.DiskReserve == 0 {
		d.DiskReserve = int64(defaultReserve(d.memtableBytes()))
	}
	return d, nil
}

// memtableBytes is the size of one memtable.
func (o *Options) memtableBytes() uint64 { return uint64(max(o.MemtableBytes/memtables, 1<<20)) }

// memtables is how many memtables share MemtableBytes. A flush of one goes on
// while the next are filled, so that writers do not wait for it.
const memtables = 4

func (s *Store) pebbleOptions() *pebbledb.Options {
	o, log := &s.opts, pebbleLog{s.log}
	p := &pebbledb.Options{
		FS:                 s.fs,
		Lock:               s.lock,
		Logger:             log,
		Comparer:           comparer,
		KeySchema:          keySchema.Name,
		KeySchemas:         keySchemas(),
		FormatMajorVersion: pebbleFormat,
		// Pebble takes the memory of its memtables out of the cache's: with their
		// share on top, the blocks have theirs.
		CacheSize:                   o.CacheBytes + o.MemtableBytes,
		MemTableSize:                o.memtableBytes(),
		MemTableStopWritesThreshold: memtables,
		// Level 0 is merged from eight sublevels on (Pebble counts each twice): a
		// load of random keys goes over the whole base level each time, so fewer
		// and larger merges write less. With 2 and a base level of 64 MiB steady
		// overwriting wrote a quarter more, and twice as much garbage waited for
		// its deletes to come down.
		L0CompactionThreshold: 16,
		// Writers are slowed before L0 is this deep (admission.go); Pebble's own
		// stop is a cliff.
		L0StopWritesThreshold: 1000,
		BytesPerSync:          1 << 20,
		LBaseMaxBytes:         256 << 20,
		MaxOpenFiles:          4096,
	}
	events := pebbledb.TeeEventListener(*s.damage.listener(), *s.gauge.listener())
	p.EventListener = &events
	p.BlockPropertyCollectors = []func() pebbledb.BlockPropertyCollector{s.newSurveyor}
	// Reading a row prefix wants no other block than the row's own, and values
	// are not versions of each other: nothing is moved to value blocks.
	p.Experimental.SpanPolicyFunc = func([]byte) (pebbledb.SpanPolicy, []byte, error) {
		return pebbledb.SpanPolicy{
			DisableValueSeparationBySuffix: true,
			ValueStoragePolicy:             pebbledb.ValueStorageLowReadLatency,
		}, nil, nil
	}
	// With one more than there are cores, a long merge further down does not keep
	// level 0 waiting, and all of them get their part of the cores beside the
	// writers: then it is the cores that pace a load, and not the pressure.
	p.CompactionConcurrencyRange = func() (int, int) { return 2, 3 }
	for i := range p.Levels {
		l := &p.Levels[i]
		l.BlockSize = 32 << 10
		l.IndexBlockSize = 256 << 10
		l.FilterPolicy = bloom.FilterPolicy(10)
		l.FilterType = pebbledb.TableFilter
		l.Compression = func() *block.CompressionProfile { return block.FastestCompression }
	}
	// Flushes are cut at such files' bounds, and merges of level 0 go by them:
	// larger ones make merges so large that writers are held up for seconds,
	// smaller ones cost more CPU.
	p.TargetFileSizes[0] = 4 << 20
	return p
}
