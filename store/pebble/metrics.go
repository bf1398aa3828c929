package pebble

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cellardb/cellar/store"
)

// Figures are the store's state in numbers, as the metrics have them.
type Figures struct {
	MemtableBytes  uint64
	UnflushedBytes uint64 // of the log: a start after a crash reads them again
	L0Files        int64
	L0Sublevels    int32
	DiskBytes      uint64 // sstables, blobs and logs
	TableBytes     int64  // sstables that reads look at
	Compactions    int64
	CompactionDebt uint64 // bytes
	LogSyncs       int64
	FileSyncs      int64
	LogBytes       int64
	BytesRead      int64
	BytesWritten   int64
	CacheBytes     int64
	CacheHits      int64
	CacheMisses    int64
	OpenIterators  int64
	OpenScanners   int
	ClockSteps     int64
	DamagedFiles   int
	Garbage        float64 // garbage / live data
	Collected      int64   // cells that the janitor removed

	Pressure store.Pressure
	// Stalls are the times that the engine below stopped writers by itself.
	Stalls       int64
	PacedBytes   float64       // a second that are admitted; 0: not limited
	PacedWaiting int           // writes that wait to be admitted
	PacedWaits   int64         // writes that waited
	PacedWaited  time.Duration // how long, together
	DiskFree     uint64        // bytes; 0 with DiskSize 0: not known
	DiskSize     uint64
	DiskReserve  uint64
	DiskFull     bool  // writes are refused
	DiskRefused  int64 // writes that were refused
	DiskWaiting  bool  // the log waits for space
	DiskWaits    int64 // writes of files that waited for space
}

// lastFigures are the figures as they were read last. One goroutine at a time
// reads them anew: while the store waits for space on the disk, Pebble may not
// answer, and then one waits and no more.
type lastFigures struct {
	reading sync.Mutex
	last    atomic.Pointer[Figures]
	// read, if set, is read in place of the store. Tests set it.
	read func() Figures
}

// figuresPatience is how long it is waited for Pebble to give its figures.
const figuresPatience = time.Second

// FiguresIfOpen is Figures of a store that another goroutine may close. It waits
// for figuresPatience at most: where the figures are not there by then, where
// another call reads them, or the store waits for space, it gives those of
// before.
func (s *Store) FiguresIfOpen() (f Figures, open bool) {
	if !s.gate.TryRLock() {
		return f, false
	}
	if s.closed {
		s.gate.RUnlock()
		return f, false
	}
	if s.disk.space.Waiting().IsZero() && s.figures.reading.TryLock() {
		if s.readFigures() {
			return *s.figures.last.Load(), true
		}
	} else {
		defer s.gate.RUnlock()
	}
	if last := s.figures.last.Load(); last != nil {
		f = *last
	}
	s.steering(&f)
	return f, true
}

// readFigures reads the figures anew, and says whether they came in time. It is
// called with the gate held, and figures.reading, and gives both up once Pebble
// answers; so Close waits for it.
func (s *Store) readFigures() bool {
	done := make(chan struct{})
	go func() {
		defer s.gate.RUnlock()
		defer s.figures.reading.Unlock()
		read := s.figures.read
		if read == nil {
			read = s.Figures
		}
		f := read()
		s.figures.last.Store(&f)
		close(done)
	}()
	late := time.NewTimer(figuresPatience)
	defer late.Stop()
	select {
	case <-done:
		return true
	case <-late.C:
		return false
	}
}

// Disk is the disk that the store is on. It does not wait.
func (s *Store) Disk() (free, reserve uint64, full, waiting bool) {
	d := s.disk.state()
	return d.free, d.reserve, d.full, d.waiting
}

// Figures reads the store's state. The store must be open.
func (s *Store) Figures() Figures {
	m := s.db.Metrics()
	f := Figures{
		MemtableBytes: m.MemTable.Size,
		L0Files:       m.Levels[0].TablesCount,
		L0Sublevels:   m.Levels[0].Sublevels,
		DiskBytes:     m.DiskSpaceUsage(),
		TableBytes:    m.Total().TablesSize,
		Compactions:   m.Compact.Count, CompactionDebt: m.Compact.EstimatedDebt,
		LogSyncs: s.fs.logSyncs.Load(), FileSyncs: s.fs.fileSyncs.Load(), LogBytes: s.fs.logBytes.Load(),
		BytesRead: s.fs.bytesRead.Load(), BytesWritten: s.fs.bytesWritten.Load(),
		CacheBytes: m.BlockCache.Size, CacheHits: m.BlockCache.Hits, CacheMisses: m.BlockCache.Misses,
		OpenIterators: m.TableIters, OpenScanners: s.scanners.count(), ClockSteps: s.clock.steps.Load(),
		DamagedFiles: s.damage.Files(),
		Garbage:      s.janitor.Garbage(), Collected: s.janitor.removed.Load(),
	}
	f.UnflushedBytes = m.WAL.Size
	s.steering(&f)
	return f
}

// steering fills in what does not come from Pebble.
func (s *Store) steering(f *Figures) {
	f.Pressure, f.Stalls = s.Pressure(), s.gauge.stalls.Load()
	p, d := s.admission.figures(), s.disk.state()
	f.PacedBytes, f.PacedWaiting, f.PacedWaits, f.PacedWaited = p.rate, p.waiting, p.waits, p.waited
	f.DiskFree, f.DiskSize, f.DiskReserve, f.DiskFull = d.free, d.size, d.reserve, d.full
	f.DiskWaiting, f.DiskWaits = d.waiting, s.disk.space.waits.Load()
	f.DiskRefused = s.disk.refused.Load()
}

// collector gives the figures to Prometheus.
type collector struct {
	s   *Store
	reg prometheus.Registerer
	all []figure
}

type figure struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(*Figures) float64
}

func newCollector(s *Store) (*collector, error) {
	c := &collector{s: s, reg: s.opts.Registerer}
	gauge, counter := prometheus.GaugeValue, prometheus.CounterValue
	add := func(name, help string, kind prometheus.ValueType, read func(*Figures) float64) {
		c.all = append(c.all, figure{prometheus.NewDesc("cellar_store_"+name, help, nil, nil), kind, read})
	}
	add("memtable_bytes", "Bytes in memtables.", gauge, func(f *Figures) float64 { return float64(f.MemtableBytes) })
	add("wal_unflushed_bytes", "Bytes of log whose memtables are not in files yet: a start after a crash reads them again.", gauge, func(f *Figures) float64 { return float64(f.UnflushedBytes) })
	add("write_stalls_total", "Times that the engine stopped writers by itself. They are slowed before, so there should be none.", counter, func(f *Figures) float64 { return float64(f.Stalls) })
	add("admission_rate_bytes", "Bytes a second that are admitted; 0: not limited.", gauge, func(f *Figures) float64 { return f.PacedBytes })
	add("admission_waiting", "Writes that wait to be admitted.", gauge, func(f *Figures) float64 { return float64(f.PacedWaiting) })
	add("admission_waits_total", "Writes that waited to be admitted.", counter, func(f *Figures) float64 { return float64(f.PacedWaits) })
	add("admission_wait_seconds_total", "Time that writes waited to be admitted.", counter, func(f *Figures) float64 { return f.PacedWaited.Seconds() })
	add("disk_free_bytes", "Bytes that are free on the disk; 0 where the file system cannot say.", gauge, func(f *Figures) float64 { return float64(f.DiskFree) })
	add("disk_size_bytes", "Size of the disk; 0 where the file system cannot say.", gauge, func(f *Figures) float64 { return float64(f.DiskSize) })
	add("disk_reserve_bytes", "Bytes that must be free for writes to be admitted.", gauge, func(f *Figures) float64 { return float64(f.DiskReserve) })
	add("disk_full", "1 while writes are refused for want of space.", gauge, func(f *Figures) float64 { return indicator(f.DiskFull) })
	add("disk_waiting", "1 while the log or the manifest cannot be written for want of space: the store waits.", gauge, func(f *Figures) float64 { return indicator(f.DiskWaiting) })
	add("disk_waits_total", "Writes of files that waited for space.", counter, func(f *Figures) float64 { return float64(f.DiskWaits) })
	add("disk_full_refusals_total", "Writes that were refused for want of space.", counter, func(f *Figures) float64 { return float64(f.DiskRefused) })
	add("l0_files", "Files in level 0.", gauge, func(f *Figures) float64 { return float64(f.L0Files) })
	add("l0_sublevels", "Sublevels of level 0: how many files a read of a new row looks at.", gauge, func(f *Figures) float64 { return float64(f.L0Sublevels) })
	add("disk_bytes", "Bytes on disk: tables and logs.", gauge, func(f *Figures) float64 { return float64(f.DiskBytes) })
	add("table_bytes", "Bytes in the tables that reads look at: without logs, and without files that are about to be deleted.", gauge, func(f *Figures) float64 { return float64(f.TableBytes) })
	add("compaction_debt_bytes", "Bytes that compactions have yet to move.", gauge, func(f *Figures) float64 { return float64(f.CompactionDebt) })
	add("compactions_total", "Compactions done.", counter, func(f *Figures) float64 { return float64(f.Compactions) })
	add("wal_fsyncs_total", "Syncs of the log.", counter, func(f *Figures) float64 { return float64(f.LogSyncs) })
	add("file_fsyncs_total", "Syncs of all other files and of folders.", counter, func(f *Figures) float64 { return float64(f.FileSyncs) })
	add("wal_written_bytes_total", "Bytes written to the log.", counter, func(f *Figures) float64 { return float64(f.LogBytes) })
	add("disk_read_bytes_total", "Bytes read from files.", counter, func(f *Figures) float64 { return float64(f.BytesRead) })
	add("disk_written_bytes_total", "Bytes written to files, the log's too.", counter, func(f *Figures) float64 { return float64(f.BytesWritten) })
	add("cache_bytes", "Bytes in the block cache.", gauge, func(f *Figures) float64 { return float64(f.CacheBytes) })
	add("cache_hits_total", "Blocks found in the block cache.", counter, func(f *Figures) float64 { return float64(f.CacheHits) })
	add("cache_misses_total", "Blocks read from files.", counter, func(f *Figures) float64 { return float64(f.CacheMisses) })
	add("open_iterators", "Open iterators over tables.", gauge, func(f *Figures) float64 { return float64(f.OpenIterators) })
	add("open_scanners", "Open scanners and snapshots.", gauge, func(f *Figures) float64 { return float64(f.OpenScanners) })
	add("clock_steps_total", "Steps back of the clock of over a minute, which the store followed.", counter, func(f *Figures) float64 { return float64(f.ClockSteps) })
	add("damaged_files", "Files that were found damaged since the start.", gauge, func(f *Figures) float64 { return float64(f.DamagedFiles) })
	add("garbage_ratio", "Bytes that no read can see any more, over the bytes of live data, as the janitor last saw it.", gauge, func(f *Figures) float64 { return f.Garbage })
	add("collected_cells_total", "Cells that the janitor removed.", counter, func(f *Figures) float64 { return float64(f.Collected) })
	if c.reg == nil {
		return c, nil
	}
	return c, c.reg.Register(c)
}

func indicator(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// unregister takes the metrics back; a store may be opened again under the same
// registry.
func (c *collector) unregister() {
	if c.reg != nil {
		c.reg.Unregister(c)
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, f := range c.all {
		ch <- f.desc
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	figures, open := c.s.FiguresIfOpen()
	if !open {
		return
	}
	for _, f := range c.all {
		ch <- prometheus.MustNewConstMetric(f.desc, f.kind, f.read(&figures))
	}
}

var _ prometheus.Collector = (*collector)(nil)
