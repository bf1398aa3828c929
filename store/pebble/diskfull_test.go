package pebble

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

var discard = slog.New(slog.DiscardHandler)

const (
	testReserve = 8 << 20
	testRoom    = 32 << 20
)

func openSmall(t *testing.T, disk vfs.FS) *Store {
	t.Helper()
	s, err := Open(context.Background(), Options{
		Dir: "data", FS: disk, MemtableBytes: 4 << 20, CacheBytes: 4 << 20, DiskReserve: testReserve, NoJanitor: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.disk.space.tablePause = 50 * time.Millisecond
	return s
}

func createTables(t *testing.T, s *Store, names ...string) {
	t.Helper()
	for _, name := range names {
		schema := cell.TableSchema{Name: name, Families: []cell.FamilySchema{cell.NewFamily("f"), cell.NewFamily("g")}}
		if err := s.CreateTable(context.Background(), schema, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// bigBatch makes rows of 10 KB that do not compress, about 100 KB in all.
func bigBatch(r *rand.Rand, n int) []cell.Mutation {
	batch := make([]cell.Mutation, 10)
	for i := range batch {
		value := make([]byte, 10_000)
		for k := 0; k < len(value); k += 8 {
			binary.LittleEndian.PutUint64(value[k:], r.Uint64())
		}
		batch[i] = *cell.NewMutation(fmt.Appendf(nil, "row-%06d-%d", n, i)).Put([]byte("f"), []byte("q"), cell.Latest, value)
	}
	return batch
}

// fillTo writes until writes are refused, and gives the number of batches that
// were applied.
func fillTo(t *testing.T, s *Store, table string) (n int) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	for ; n < 10_000; n++ {
		_, err := s.Apply(context.Background(), table, bigBatch(r, n))
		if errors.Is(err, store.ErrDiskFull) {
			return n
		}
		if err != nil {
			t.Fatalf("batch %d: %v", n, err)
		}
		if n%10 == 9 {
			time.Sleep(diskEvery) // of the bubble's clock
		}
	}
	t.Fatal("a disk of 32 MB took a gigabyte")
	return n
}

// Below the reserve writes are refused; reading goes on, and so does what frees
// space; and then writing does, without a restart.
func TestFullDiskRefusesWritesUntilThereIsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		disk := newSmallDisk(vfs.NewMem(), testRoom)
		s := openSmall(t, disk)
		defer s.Close()
		createTables(t, s, "big", "small")
		put := cell.NewMutation([]byte("row")).Put([]byte("f"), []byte("q"), cell.Latest, []byte("kept"))
		if _, err := s.Apply(ctx, "small", []cell.Mutation{*put}); err != nil {
			t.Fatal(err)
		}
		n := fillTo(t, s, "big")
		if waits := s.disk.space.waits.Load(); n < 50 || waits != 0 {
			t.Errorf("refused after %d batches; the log waited for space %d times", n, waits)
		}
		if p := s.Pressure(); p.Disk != 1 || p.Value != 1 {
			t.Errorf("the pressure is %+v", p)
		}
		del := cell.NewMutation([]byte("row")).DeleteRow(cell.Latest)
		check := &cell.Check{Family: []byte("f"), Qualifier: []byte("q"), Op: cell.Equal, Value: []byte("kept")}
		for what, call := range map[string]func() error{
			"a put":    func() error { _, err := s.Apply(ctx, "small", []cell.Mutation{*put}); return err },
			"a delete": func() error { _, err := s.Apply(ctx, "small", []cell.Mutation{*del}); return err },
			"a check":  func() error { _, _, err := s.CheckAndMutate(ctx, "small", check, put); return err },
		} {
			if err := call(); !errors.Is(err, store.ErrDiskFull) {
				t.Errorf("%s is answered with %v", what, err)
			}
		}
		got := &cell.Result{}
		if err := s.Get(ctx, "small", &cell.Get{Row: []byte("row")}, got); err != nil || len(got.Cells) != 1 {
			t.Errorf("a read finds %d cells: %v", len(got.Cells), err)
		}
		if err := s.DisableTable(ctx, "big"); err != nil {
			t.Fatal(err)
		}
		if err := s.DropTable(ctx, "big"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if _, err := s.Apply(ctx, "small", []cell.Mutation{*del}); err != nil {
			t.Errorf("with %d bytes free, a write is answered with %v", disk.free(), err)
		}
		f, open := s.FiguresIfOpen()
		if !open || f.DiskFull || f.DiskRefused < 4 || f.DiskFree == 0 {
			t.Errorf("the figures are %+v", f)
		}
	})
}

// A store that flutters between full and not would be of no use: a quarter of
// the reserve lies between.
func TestFullDiskAdmitsOnlyWithRoomToSpare(t *testing.T) {
	for _, c := range []struct {
		free int64
		was  bool
		full bool
	}{
		{testReserve - 1, false, true}, {testReserve, false, false},
		{testReserve, true, true}, {testReserve*5/4 - 1, true, true}, {testReserve * 5 / 4, true, false},
	} {
		disk := newSmallDisk(vfs.NewMem(), testRoom)
		w := newDiskWatch(disk, "data", testReserve, discard)
		w.full.Store(c.was)
		disk.fill(c.free)
		w.look()
		if got := w.full.Load(); got != c.full {
			t.Errorf("with %d bytes free, full being %v: full is %v", c.free, c.was, got)
		}
	}
}

// Somebody else fills the disk to the last byte while writers are at work.
// Nothing fails but by refusal; reads and status go on; nothing acknowledged is
// lost, be it that space is freed or that the process is killed.
func TestBrimFullDiskIsWaitedOut(t *testing.T) {
	ctx := context.Background()
	mem := vfs.NewCrashableMem()
	disk := newSmallDisk(mem, testRoom)
	s := openSmall(t, disk)
	createTables(t, s, "t")
	load := startWriters(t, s)
	load.waitFor(500)
	disk.fill(0)
	waitForLog(t, disk, s)

	got := &cell.Result{}
	for row := range load.acked.copy() {
		if err := s.Get(ctx, "t", &cell.Get{Row: []byte(row)}, got); err != nil || len(got.Cells) != len(crashColumns) {
			t.Errorf("a read finds %d cells: %v", len(got.Cells), err)
		}
		break
	}
	if f, open := s.FiguresIfOpen(); !open || !f.DiskFull || !f.DiskWaiting || f.DiskWaits == 0 || f.Pressure.Value != 1 {
		t.Errorf("the figures are %+v", f)
	}
	if _, err := s.Apply(ctx, "t", bigBatch(rand.New(rand.NewPCG(1, 1)), 1)); !errors.Is(err, store.ErrDiskFull) {
		t.Errorf("a write is answered with %v", err)
	}

	acked := load.acked.copy()
	killed := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 0})
	checkCrashed(t, killed, acked)

	disk.clear()
	load.waitFor(load.acked.count() + 500)
	load.stop()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	checkCrashed(t, disk, load.acked.copy())
}

// writers write until they are stopped; a refusal for want of space is no end.
type fillers struct {
	acked  *acks
	stop   func()
	update chan struct{} // holds one after each acknowledgement
	t      *testing.T
	end    atomic.Bool // writers may find the store closed
}

func startWriters(t *testing.T, s *Store) *fillers {
	ctx, cancel := context.WithCancel(context.Background())
	l := &fillers{acked: &acks{rows: map[string]string{}}, update: make(chan struct{}, 1), t: t}
	var all sync.WaitGroup
	for id := range 4 {
		all.Go(func() { l.write(ctx, s, id) })
	}
	l.stop = func() { cancel(); all.Wait() }
	return l
}

func (l *fillers) write(ctx context.Context, s *Store, id int) {
	filler := bytes.Repeat([]byte{'x'}, 400)
	for n := 0; ctx.Err() == nil; n++ {
		m := cell.NewMutation(fmt.Appendf(nil, "w%d-%06d", id, n))
		value := fmt.Sprintf("%s-%s", m.Row, filler)
		for _, c := range crashColumns {
			m.Put([]byte(c[0]), []byte(c[1]), cell.Latest, []byte(value))
		}
		_, err := s.Apply(context.Background(), "t", []cell.Mutation{*m})
		switch {
		case errors.Is(err, store.ErrDiskFull):
			_ = sleep(ctx, time.Millisecond)
			continue
		case errors.Is(err, store.ErrClosed) && l.end.Load():
			return
		case err != nil:
			l.t.Errorf("writer %d: %v", id, err)
			return
		}
		l.acked.add(string(m.Row), value)
		select {
		case l.update <- struct{}{}:
		default:
		}
	}
}

// waitFor waits until so many rows were acknowledged.
func (l *fillers) waitFor(rows int) {
	hang := time.After(time.Minute)
	for l.acked.count() < rows {
		select {
		case <-l.update:
		case <-hang:
			l.t.Fatalf("%d rows were acknowledged in a minute, want %d", l.acked.count(), rows)
		}
	}
}

// waitForLog waits until the store waits for space. What is left of the disk,
// the ballast too, is taken away each time that it finds some.
func waitForLog(t *testing.T, disk *smallDisk, s *Store) {
	t.Helper()
	hang := time.After(time.Minute)
	for s.disk.space.Waiting().IsZero() {
		select {
		case <-disk.met:
			disk.fill(0)
		case <-time.After(spaceRetry):
			disk.fill(0)
			if s.disk.full.Load() {
				// Nobody writes any more: the store's own log entries do.
				s.unsynced.Store(true)
			}
		case <-hang:
			t.Fatal("the store does not wait for space")
		}
	}
}

// A store that is told to close on a full disk does not wait for ever, and
// loses nothing.
func TestCloseOnAFullDiskGivesUp(t *testing.T) {
	disk := newSmallDisk(vfs.NewCrashableMem(), testRoom)
	s := openSmall(t, disk)
	s.closePatience = time.Millisecond
	createTables(t, s, "t")
	load := startWriters(t, s)
	load.waitFor(200)
	disk.fill(0)
	waitForLog(t, disk, s)
	load.end.Store(true)
	if err := s.Close(); !errors.Is(err, store.ErrDiskFull) {
		t.Errorf("it closes with %v", err)
	}
	disk.clear()
	load.stop()
	s.closePatience = time.Hour
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	checkCrashed(t, disk, load.acked.copy())
}

func TestWaitingFS(t *testing.T) {
	content := func(fs vfs.FS, name string) string {
		f, err := fs.Open(name)
		if err != nil {
			return err.Error()
		}
		defer f.Close()
		b, _ := io.ReadAll(f)
		return string(b)
	}
	type outcome struct {
		err  error
		text string
	}
	cases := []struct {
		name     string
		file     string
		opening  bool
		brim     bool
		category vfs.DiskWriteCategory
		ballasts int64
		waits    bool
		want     error // where it does not wait
		has      string
	}{
		{name: "a log waits, and no byte is written twice", file: "data/000001.log", waits: true},
		{name: "the manifest waits", file: "data/MANIFEST-000001", waits: true},
		{name: "a compaction fails, to be begun anew", file: "data/000001.sst", want: syscall.ENOSPC, has: "0123"},
		{name: "a flush does, after it had the ballast", file: "data/000001.sst", category: flushCategory, want: syscall.ENOSPC, has: "0123", ballasts: 1},
		{name: "a flush waits while the store is opened", file: "data/000001.sst", category: flushCategory, opening: true, waits: true},
		{name: "a compaction fails then too", file: "data/000001.sst", opening: true, want: syscall.ENOSPC, has: "0123"},
		{name: "no compaction is begun where space is that short", file: "data/000001.sst", brim: true, want: syscall.ENOSPC},
		{name: "a copy elsewhere fails", file: "backup/000001.log", want: syscall.ENOSPC, has: "0123"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				disk := newSmallDisk(vfs.NewMem(), 4)
				var full, ballasts atomic.Int64
				fs := &waitingFS{
					FS: disk, dir: "data", log: discard, tablePause: tablePause,
					full:    func() { full.Add(1) },
					ballast: func() bool { return ballasts.Add(1) < 0 },
				}
				fs.opening.Store(c.opening)
				for _, dir := range []string{"data", "backup"} {
					if err := fs.MkdirAll(dir, 0o755); err != nil {
						t.Fatal(err)
					}
				}
				f, err := fs.Create(c.file, c.category)
				if err != nil {
					t.Fatal(err)
				}
				fs.brim.Store(c.brim)
				ended := make(chan outcome, 1)
				go func() {
					_, err := f.Write([]byte("0123456789"))
					ended <- outcome{err, ""}
				}()
				time.Sleep(time.Minute)
				if waiting := !fs.Waiting().IsZero(); waiting != c.waits {
					t.Fatalf("it waits: %v, want %v", waiting, c.waits)
				}
				if c.waits {
					disk.grow(4)
					time.Sleep(time.Second)
					disk.grow(100)
				}
				got := <-ended
				if !errors.Is(got.err, c.want) {
					t.Errorf("the write ends with %v, want %v", got.err, c.want)
				}
				want := c.has
				if !c.waits && ballasts.Load() != c.ballasts {
					t.Errorf("asked for the ballast %d times, want %d", ballasts.Load(), c.ballasts)
				}
				if c.waits {
					want = "0123456789"
					if full.Load() == 0 || ballasts.Load() != 1 || fs.waits.Load() != 1 || !fs.Waiting().IsZero() {
						t.Errorf("told %d times, asked for the ballast %d times, waited %d times", full.Load(), ballasts.Load(), fs.waits.Load())
					}
				}
				if brim := fs.brim.Load(); brim == (c.name == "a copy elsewhere fails") {
					t.Errorf("compactions are kept from beginning: %v", brim)
				}
				if text := content(disk, c.file); text != want {
					t.Errorf("the file has %q, want %q", text, want)
				}
				f.Close()
			})
		})
	}
}

// The ballast makes room for a table to be dropped on a disk without any.
func TestBallastLetsATableBeDropped(t *testing.T) {
	ctx := context.Background()
	disk := newSmallDisk(vfs.NewMem(), testRoom)
	s := openSmall(t, disk)
	defer s.Close()
	createTables(t, s, "t")
	if err := s.disk.ballast.make(); err != nil {
		t.Fatal(err)
	}
	if err := s.Flush(ctx, "t"); err != nil {
		t.Fatal(err)
	}
	if err := s.DisableTable(ctx, "t"); err != nil {
		t.Fatal(err)
	}
	disk.fill(0)
	if err := s.DropTable(ctx, "t"); err != nil {
		t.Fatal(err)
	}
	if _, err := disk.Stat("data/" + ballastName); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the ballast is still there: %v", err)
	}
	disk.clear()
}

// Compactions begin again once there is more free than the ballast is meant to
// keep, and not before.
func TestBrimEndsWithRoom(t *testing.T) {
	ballast := int64(testReserve / 8)
	for _, c := range []struct {
		free int64
		brim bool
	}{{0, true}, {2*ballast - 1, true}, {2 * ballast, false}} {
		disk := newSmallDisk(vfs.NewMem(), testRoom)
		w := newDiskWatch(disk, "data", testReserve, discard)
		w.space.brim.Store(true)
		disk.fill(c.free)
		w.look()
		if got := w.space.brim.Load(); got != c.brim {
			t.Errorf("with %d bytes free: at the brim: %v", c.free, got)
		}
	}
	// A file system that cannot say how much is free is tried again.
	w := newDiskWatch(vfs.NewMem(), "data", testReserve, discard)
	w.noSpace()
	w.space.brim.Store(true)
	w.look()
	if w.full.Load() || w.space.brim.Load() {
		t.Error("a file system of which nothing is known is full for ever")
	}
}

// While the store waits for space, Pebble may not answer: the figures are those
// of before then, but for what is known without it.
func TestFiguresDoNotAskPebbleOnAFullDisk(t *testing.T) {
	s := openSmall(t, vfs.NewMem())
	defer s.Close()
	if _, open := s.FiguresIfOpen(); !open {
		t.Fatal("the store is not open")
	}
	s.figures.last.Store(&Figures{MemtableBytes: 42})
	s.disk.space.enter("data/000001.log")
	defer s.disk.space.leave("data/000001.log", time.Now())
	f, open := s.FiguresIfOpen()
	if !open || f.MemtableBytes != 42 || !f.DiskWaiting || f.DiskWaits != 1 {
		t.Errorf("open: %v, figures %+v", open, f)
	}
}
