package pebble

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// noBallast is a file system on which the ballast cannot be made for a while.
type noBallast struct {
	vfs.FS
	fail  atomic.Bool
	tries atomic.Int64
}

func (fs *noBallast) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasSuffix(name, ballastName) {
		if fs.tries.Add(1); fs.fail.Load() {
			return nil, errors.New("no such luck")
		}
	}
	return fs.FS.Create(name, c)
}

// A ballast that could not be made is tried again, ever more rarely, and the log
// is told twice: that there is none, and that there is one.
func TestBallastIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		fs := &noBallast{FS: newSmallDisk(vfs.NewMem(), testRoom)}
		fs.fail.Store(true)
		if err := fs.MkdirAll("data", 0o755); err != nil {
			t.Fatal(err)
		}
		w := newDiskWatch(fs, "data", testReserve, slog.New(slog.NewTextHandler(&log, nil)))
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() { w.run(ctx); close(ended) }()
		after := func(d time.Duration) int { time.Sleep(d); synctest.Wait(); return int(fs.tries.Load()) }
		// At 0, 1, 3, 7, 15, 31 s, and so on.
		if first, minute := after(500*time.Millisecond), after(time.Minute); first != 1 || minute != 6 {
			t.Errorf("tried %d times in half a second, %d in a minute", first, minute)
		}
		hour := after(time.Hour)
		if later := after(time.Hour) - hour; later != int(time.Hour/lastBallastPause) {
			t.Errorf("tried %d times in an hour", later)
		}
		fs.fail.Store(false)
		if there := after(lastBallastPause) - int(fs.tries.Load()); there != 0 || w.ballastPause != 0 {
			t.Errorf("it is not made: next try after %v", w.ballastPause)
		}
		if _, err := fs.Stat("data/" + ballastName); err != nil {
			t.Error(err)
		}
		if text := log.String(); strings.Count(text, "there is no ballast") != 1 || strings.Count(text, "there is a ballast again") != 1 {
			t.Errorf("the log says %s", text)
		}
		// One that was given up and cannot be made again is tried at once.
		if !w.ballast.giveUp() {
			t.Error("there was no ballast")
		}
		fs.fail.Store(true)
		if before := int(fs.tries.Load()); after(time.Second) == before {
			t.Error("it is not tried again")
		}
		stop()
		<-ended
	})
}

// When the store closes nobody looks at the disk any more: whether space is short
// is found out then.
func TestShortLooksForItself(t *testing.T) {
	for free, want := range map[int64]bool{0: true, testReserve: false} {
		disk := newSmallDisk(vfs.NewMem(), testRoom)
		w := newDiskWatch(disk, "data", testReserve, discard)
		w.space.brim.Store(true)
		disk.fill(free)
		if got := w.space.short(); got != want {
			t.Errorf("with %d bytes free it is short: %v", free, got)
		}
	}
}

// Close of a store whose disk has room again does not call it full, however long
// it takes.
func TestCloseOfADiskThatHasRoomAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newSmallDisk(vfs.NewMem(), testRoom)
		s := openSmall(t, disk)
		createTables(t, s, "t")
		// Something goes on for a minute; Close waits for it.
		s.done.Go(func() { time.Sleep(time.Minute) })
		closed := make(chan error)
		go func() { closed <- s.Close() }()
		synctest.Wait()
		s.disk.space.brim.Store(true) // as the last look left it
		if err := <-closed; err != nil {
			t.Errorf("it closes with %v", err)
		}
	})
}

// Space is scarce where less than half of the reserve is left, or what the store
// itself writes finds none.
func TestScarce(t *testing.T) {
	for _, c := range []struct {
		name   string
		free   int64
		set    func(w *diskWatch)
		scarce bool
	}{
		{"room", testRoom / 2, nil, false},
		{"writes are refused", testReserve - 1, nil, false},
		{"half of the reserve", testReserve / 2, nil, false},
		{"less than that", testReserve/2 - 1, nil, true},
		{"at the brim", testRoom / 2, func(w *diskWatch) { w.space.brim.Store(true) }, true},
		{"the log waits", testRoom / 2, func(w *diskWatch) { w.space.enter("data/000001.log") }, true},
	} {
		disk := newSmallDisk(vfs.NewMem(), testRoom)
		w := newDiskWatch(disk, "data", testReserve, discard)
		disk.fill(c.free)
		w.look()
		if c.set != nil {
			c.set(w)
		}
		if got := w.scarce(); got != c.scarce {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	w := newDiskWatch(vfs.NewMem(), "data", testReserve, discard)
	if w.look(); w.scarce() {
		t.Error("a disk of which nothing is known is scarce")
	}
	if w.noSpace(); !w.scarce() {
		t.Error("a disk of which only is known that a write failed is not scarce")
	}
}

// The janitor's deletes are writes: while space is scarce it makes none, neither
// anew nor in the middle of a visit; then it goes on.
func TestJanitorRestsWhileSpaceIsScarce(t *testing.T) {
	s := openJanitor(t, &testClock{1_000_000}, versionsFamily(1))
	for ts := range 10 {
		mustApply(t, s, "t", *cell.NewMutation([]byte("r")).Put([]byte("f"), []byte("q"), int64(ts+1), nil))
	}
	settle(t, s)
	table, err := s.catalog.find("t")
	if err != nil {
		t.Fatal(err)
	}
	lower, upper := familyBounds(table.id, 1)
	write := s.disk.space
	write.enter("data/000001.log") // the watch of the disk leaves that alone
	round(t, s)
	c := collection{s: s, t: table, family: table.layout.families[0], enough: func() bool { return false }}
	if done, err := c.run(context.Background(), lower, upper); done || err != nil {
		t.Errorf("a visit goes on: %v, %v", done, err)
	}
	if n := countKeys(t, s, lower, upper); n != 10 {
		t.Errorf("%d cells of 10 are left while space is scarce", n)
	}
	write.leave("data/000001.log", time.Now())
	round(t, s)
	if n := countKeys(t, s, lower, upper); n != 1 {
		t.Errorf("%d cells are left", n)
	}
}

// A table that is being disabled waits for a write, which waits for space, and
// keeps all others from the table: they are counted all the same.
func TestCountTablesDoesNotWait(t *testing.T) {
	s := openSmall(t, vfs.NewMem())
	createTables(t, s, "a", "b")
	table, err := s.catalog.find("a")
	if err != nil {
		t.Fatal(err)
	}
	table.mu.RLock() // a write
	disabled := make(chan error)
	go func() { disabled <- s.DisableTable(context.Background(), "a") }()
	for table.mu.TryRLock() {
		table.mu.RUnlock() // not there yet
		runtime.Gosched()
	}
	if n, open := s.CountTables(); n != 2 || !open {
		t.Errorf("%d tables, open: %v", n, open)
	}
	table.mu.RUnlock()
	if err := <-disabled; err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, open := s.CountTables(); open {
		t.Error("a store that is closed counts its tables")
	}
}

// Pebble that does not answer keeps nobody for longer than a moment, and one
// caller only.
func TestFiguresAreThoseOfBeforeWherePebbleDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openSmall(t, vfs.NewMem())
		let := make(chan struct{})
		s.figures.last.Store(&Figures{MemtableBytes: 42})
		s.figures.read = func() Figures { <-let; return Figures{MemtableBytes: 43} }
		for i, want := range []time.Duration{figuresPatience, 0, 0} {
			began := time.Now()
			f, open := s.FiguresIfOpen()
			if took := time.Since(began); !open || f.MemtableBytes != 42 || took != want {
				t.Errorf("call %d: %d, open: %v, after %v", i, f.MemtableBytes, open, took)
			}
		}
		close(let)
		synctest.Wait()
		if f, open := s.FiguresIfOpen(); !open || f.MemtableBytes != 43 {
			t.Errorf("then %d, open: %v", f.MemtableBytes, open)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// One file whose properties cannot be read keeps the janitor from that file, and
// from no other; the log is told once.
func TestJanitorGoesOnBesideADamagedFile(t *testing.T) {
	ctx := context.Background()
	fs := vfs.NewMem()
	clock := &testClock{1_000_000}
	var log bytes.Buffer
	open := func() *Store {
		s, err := Open(ctx, Options{Dir: "data", FS: fs, Clock: clock.now, NoJanitor: true, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError}))})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	for _, name := range []string{"a", "b", "c"} {
		if err := s.CreateTable(ctx, cell.TableSchema{Name: name, Families: []cell.FamilySchema{versionsFamily(1)}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Flush(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	files := map[string]string{} // of each table
	note := func(table string) {
		for _, n := range names(t, fs) {
			if strings.HasSuffix(n, ".sst") && !there[n] {
				there[n], files[table] = true, n
			}
		}
	}
	note("")
	for _, name := range []string{"a", "b", "c"} {
		for ts := range 10 {
			mustApply(t, s, name, *cell.NewMutation([]byte("r")).Put([]byte("f"), []byte("q"), int64(ts+1), nil))
		}
		if err := s.Flush(ctx, name); err != nil {
			t.Fatal(err)
		}
		note(name)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole := content(t, fs, files["b"])
	bad := bytes.Clone(whole)
	clear(bad[len(bad)-60:])
	save(t, fs, files["b"], bad)
	s = open()
	s.janitor.unpaced = true
	for range 10 { // each ends after a second, wherever it is
		jobs, err := s.janitor.survey()
		if err != nil {
			t.Fatalf("a survey ends with %v", err)
		}
		if known := len(s.janitor.singly.known); known < 2 {
			t.Errorf("what was read of %d files is kept", known)
		}
		if err := s.janitor.work(ctx, jobs); err != nil {
			t.Errorf("the work ends with %v", err)
		}
	}
	for _, name := range []string{"a", "c"} {
		table, err := s.catalog.find(name)
		if err != nil {
			t.Fatal(err)
		}
		lower, upper := familyBounds(table.id, 1)
		if n := countKeys(t, s, lower, upper); n != 1 {
			t.Errorf("%d cells of table %s are left", n, name)
		}
	}
	if err := s.Close(); err != nil && !errors.Is(err, store.ErrCorrupt) {
		t.Error(err)
	}
	if text := log.String(); strings.Count(text, "properties cannot be read") != 1 || !strings.Contains(text, files["b"]) {
		t.Errorf("the log says %s", text)
	}
}

// What is known of single files goes with the files, and with the need for it.
func TestSinglyForgets(t *testing.T) {
	r := singly{known: map[uint64][]byte{1: nil, 2: nil}, told: map[uint64]bool{3: true, 4: true}}
	r.forget(map[uint64]bool{1: true, 3: true}, true)
	if fmt.Sprint(r.known, r.told) != "map[1:[]] map[3:true]" {
		t.Errorf("%v %v", r.known, r.told)
	}
	if r.forget(map[uint64]bool{1: true}, false); len(r.known) > 0 {
		t.Errorf("%v", r.known)
	}
}
