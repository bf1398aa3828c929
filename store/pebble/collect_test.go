package pebble

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// What the family keeps may become less after the files were written and gone
// through, also across a restart: the janitor sees it.
func TestJanitorSeesTightenedFamilies(t *testing.T) {
	loose := cell.NewFamily("f")
	loose.MaxVersions, loose.MinVersions, loose.TTL = 5, 2, 100
	cases := []struct {
		name    string
		tighten func(*cell.FamilySchema)
		want    string
	}{
		{"fewer versions", func(f *cell.FamilySchema) { f.MaxVersions, f.TTL = 2, cell.Forever }, "r:@999003 r:@999002 "},
		{"a shorter time to live", func(f *cell.FamilySchema) { f.TTL = 1 }, "r:@999003 r:@999002 "},
		{"fewer versions that stay", func(f *cell.FamilySchema) { f.TTL, f.MinVersions = 1, 1 }, "r:@999003 "},
	}
	for _, c := range cases {
		for _, reopen := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, restart %v", c.name, reopen), func(t *testing.T) {
				clock := &testClock{1_000_000}
				fs := vfs.NewMem()
				o := Options{Dir: "data", FS: fs, Clock: clock.now, NoJanitor: true}
				s := mustOpen(t, o)
				if err := s.CreateTable(context.Background(), cell.TableSchema{Name: "t", Families: []cell.FamilySchema{loose}}, nil); err != nil {
					t.Fatal(err)
				}
				m := cell.NewMutation([]byte("r"))
				for ts := range int64(4) {
					m.Put([]byte("f"), nil, 999_000+ts, nil)
				}
				mustApply(t, s, "t", *m)
				settle(t, s)
				clock.ms += 3000
				round(t, s)
				if got := stored(t, s); got != "r:@999003 r:@999002 r:@999001 r:@999000 " {
					t.Fatalf("before the alter: %s", got)
				}
				f := loose
				c.tighten(&f)
				if err := s.AlterTable(context.Background(), cell.TableSchema{Name: "t", Families: []cell.FamilySchema{f}}); err != nil {
					t.Fatal(err)
				}
				if reopen {
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
					s = mustOpen(t, o)
				}
				round(t, s)
				if got := stored(t, s); got != c.want {
					t.Errorf("after the alter: %s, want %s", got, c.want)
				}
			})
		}
	}
	if len(cases) != 3 {
		t.Errorf("%d cases", len(cases))
	}
}

// A write that comes while a collection looks is noticed, from the moment on at
// which its iterator was opened.
func TestWritesDuringALookAreNoticed(t *testing.T) {
	now, armed := int64(1_000_000), false
	var s *Store
	row := []byte("r")
	clock := func() int64 {
		if armed {
			// A look asks for the time once it has its iterator.
			armed = false
			mustApply(t, s, "t", *cell.NewMutation(row).Delete([]byte("f"), nil, 2))
			mustApply(t, s, "t", *cell.NewMutation(row).Put([]byte("f"), nil, 1, []byte("acknowledged")))
		}
		return now
	}
	s = mustOpen(t, Options{Dir: "data", FS: vfs.NewMem(), Clock: clock, NoJanitor: true})
	if err := s.CreateTable(context.Background(), cell.TableSchema{Name: "t", Families: []cell.FamilySchema{versionsFamily(1)}}, nil); err != nil {
		t.Fatal(err)
	}
	mustApply(t, s, "t", *cell.NewMutation(row).Put([]byte("f"), nil, 1, []byte("old")).Put([]byte("f"), nil, 2, []byte("new")))
	table, err := s.catalog.find("t")
	if err != nil {
		t.Fatal(err)
	}
	c := collection{s: s, t: table, family: table.layout.families[0], decided: func() {
		if armed {
			t.Error("nothing was written during the look")
		}
	}}
	lower, upper := familyBounds(table.id, 1)
	armed = true
	if _, err := c.run(context.Background(), lower, upper); err != nil {
		t.Fatal(err)
	}
	var r cell.Result
	if err := s.Get(context.Background(), "t", &cell.Get{Row: row}, &r); err != nil || len(r.Cells) != 1 || string(r.Cells[0].Value) != "acknowledged" {
		t.Errorf("the row has %v (%v), want the acknowledged put", r.Cells, err)
	}
}

// A family that keeps more by the time of the act than at the decision keeps it,
// though nobody has written to the row.
func TestLoosenedFamilyIsDecidedAgain(t *testing.T) {
	s := openJanitor(t, &testClock{1_000_000}, versionsFamily(1))
	mustApply(t, s, "t", *cell.NewMutation([]byte("r")).Put([]byte("f"), nil, 1, nil).Put([]byte("f"), nil, 2, nil))
	runCollection(t, s, func() {
		if err := s.AlterTable(context.Background(), cell.TableSchema{Name: "t", Families: []cell.FamilySchema{versionsFamily(5)}}); err != nil {
			t.Fatal(err)
		}
	})
	if got := stored(t, s); got != "r:@2 r:@1 " {
		t.Errorf("stored: %s", got)
	}
}

// A file that lost its property, since a neighbour of its table was cut out of
// it, is gone through all the same.
func TestJanitorVisitsFilesThatWereCut(t *testing.T) {
	s := openJanitor(t, &testClock{1_000_000}, versionsFamily(1))
	mustCreate(t, s, "u", "f")
	m := cell.NewMutation([]byte("r")).Put([]byte("f"), nil, 1, nil).Put([]byte("f"), nil, 2, nil)
	mustApply(t, s, "t", *m)
	mustApply(t, s, "u", *m)
	if err := s.Flush(context.Background(), "t"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.DisableTable(context.Background(), "u"), s.DropTable(context.Background(), "u")); err != nil {
		t.Fatal(err)
	}
	levels, err := s.db.SSTables()
	if err != nil {
		t.Fatal(err)
	}
	cut := 0
	for _, files := range levels {
		for i := range files {
			if files[i].Virtual {
				cut++
			}
		}
	}
	if cut == 0 {
		t.Fatal("no file was cut: the test shows nothing")
	}
	round(t, s)
	if got := stored(t, s); got != "r:@2 " {
		t.Errorf("stored: %s", got)
	}
}

// A file of cells that expire one after the other is not read again for each.
func TestVisitsForExpiryAreWorthIt(t *testing.T) {
	clock := &testClock{1_000_000}
	f := versionsFamily(1)
	f.TTL = 10
	s := openJanitor(t, clock, f)
	const rows = 200
	for i := range rows {
		mustApply(t, s, "t", *cell.NewMutation(fmt.Appendf(nil, "%03d", i)).Put([]byte("f"), nil, 1_000_000+int64(i)*1000, randomBytes(100)))
	}
	settle(t, s)
	lower, upper := tableBounds(firstTableID)
	most := 0
	for range rows + 20 {
		clock.ms += 1000
		round(t, s)
		if left, live := countKeys(t, s, lower, upper), max(0, rows-int(clock.ms-1_010_000)/1000); left > live {
			most = max(most, left-live)
		}
	}
	if n := countKeys(t, s, lower, upper); n != 0 {
		t.Errorf("%d cells are left after all have expired", n)
	}
	if most > rows/3 {
		t.Errorf("%d expired cells of %d were there at one time", most, rows)
	}
	if read, all := s.janitor.bytes.Load(), int64(rows*125); read > 6*all {
		t.Errorf("%d bytes were read to remove %d", read, all)
	}
}

// Between two parts of a large row a put that the family's marker masks may be
// written: it stays masked.
func TestPutsBetweenPartsStayMasked(t *testing.T) {
	for _, at := range []string{"000000", "034000"} {
		s := openJanitor(t, &testClock{1_000_000}, versionsFamily(1))
		table, err := s.catalog.find("t")
		if err != nil {
			t.Fatal(err)
		}
		row := []byte("r")
		m := cell.NewMutation(row).Put([]byte("f"), []byte("z"), 9, nil).DeleteFamily([]byte("f"), 5)
		for i := range 35_000 {
			m.Put([]byte("f"), fmt.Appendf(nil, "%06d", i), 1, nil)
		}
		mustApply(t, s, "t", *m)
		shown := func() (text string) {
			var r cell.Result
			if err := s.Get(context.Background(), "t", &cell.Get{Row: row}, &r); err != nil {
				t.Fatal(err)
			}
			for i := range r.Cells {
				text += string(r.Cells[i].Qualifier) + " "
			}
			return text
		}
		parts := 0
		c := collection{s: s, t: table, family: table.layout.families[0], pause: func(context.Context) error {
			if parts++; parts <= 4 {
				mustApply(t, s, "t", *cell.NewMutation(row).Put([]byte("f"), []byte(at), 3, nil))
			}
			if got := shown(); got != "z " {
				t.Errorf("part %d: a read shows %s", parts, got)
			}
			return nil
		}}
		lower, upper := familyBounds(table.id, 1)
		if _, err := c.run(context.Background(), lower, upper); err != nil {
			t.Fatal(err)
		}
		if got := shown(); got != "z " || parts < 5 {
			t.Errorf("after %d parts a read shows %s, want z", parts, got)
		}
		if n := countKeys(t, s, lower, upper); n != 1 {
			t.Errorf("%d cells are left, want one", n)
		}
	}
}

// A row that is written to between the decision and the act is read again under
// its lock, in parts that are bounded in what they read and what they delete.
func TestMovedRowsAreReadInBoundedParts(t *testing.T) {
	cases := []struct {
		name        string
		columns     int // each of one version that stays
		versions    int // of the last column
		keep        int
		parts, left int
	}{
		{"many columns", 35_000, 2, 1, 4, 35_001},
		{"many versions in one column", 10, 55_000, 1, 3, 11},
		{"too many that stay in one column", 10, 25_000, 24_000, 1, 25_010},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := openJanitor(t, &testClock{1_000_000}, versionsFamily(c.keep))
			table, err := s.catalog.find("t")
			if err != nil {
				t.Fatal(err)
			}
			row := []byte("r")
			m := cell.NewMutation(row)
			for i := range c.columns {
				m.Put([]byte("f"), fmt.Appendf(nil, "%06d", i), 1, nil)
			}
			for ts := range c.versions {
				m.Put([]byte("f"), []byte("z"), int64(ts), nil)
			}
			mustApply(t, s, "t", *m)
			acts := 0
			w := collection{s: s, t: table, family: table.layout.families[0]}
			w.decided = func() {
				// The row moves, but nothing of it changes.
				mustApply(t, s, "t", *cell.NewMutation(row).Put([]byte("f"), []byte("z"), int64(c.versions-1), nil))
			}
			read := int64(0)
			w.pause = func(context.Context) error {
				acts++
				// A cell here is some thirty bytes.
				if n := w.bytes - read; w.rows != nil && acts > 1 && n > 2*collectCells*40 {
					t.Errorf("%d bytes were read under the lock", n)
				}
				read = w.bytes
				return nil
			}
			lower, upper := familyBounds(table.id, 1)
			if done, err := w.run(context.Background(), lower, upper); err != nil || !done {
				t.Fatal(done, err)
			}
			if n := countKeys(t, s, lower, upper); n != c.left {
				t.Errorf("%d cells are left, want %d", n, c.left)
			}
			if acts-1 < c.parts {
				t.Errorf("%d parts, want %d at least", acts-1, c.parts)
			}
			if stuck := c.left > c.keep+c.columns; w.left != stuck {
				t.Errorf("the collection says that it left something: %v", w.left)
			}
		})
	}
}

// A row without garbage that is larger than one look reads is looked at in parts,
// with a pause after each; what goes in it, and the markers of its family, do.
func TestHugeRowIsLookedAtInParts(t *testing.T) {
	const columns, each = 400, 10_000
	for _, marked := range []bool{false, true} {
		s := openJanitor(t, &testClock{1_000_000}, versionsFamily(1))
		table, err := s.catalog.find("t")
		if err != nil {
			t.Fatal(err)
		}
		m := cell.NewMutation([]byte("r"))
		for i := range columns {
			m.Put([]byte("f"), fmt.Appendf(nil, "%06d", i), 10, make([]byte, each))
		}
		m.Put([]byte("f"), []byte("z"), 9, nil).Put([]byte("f"), []byte("z"), 8, nil)
		if marked {
			m.DeleteFamily([]byte("f"), 5)
		}
		mustApply(t, s, "t", *m)
		mustApply(t, s, "t", *cell.NewMutation([]byte("s")).Put([]byte("f"), nil, 2, nil).Put([]byte("f"), nil, 1, nil))
		pauses, last := 0, int64(0)
		c := collection{s: s, t: table, family: table.layout.families[0]}
		c.pause = func(context.Context) error {
			pauses++
			if n := c.bytes - last; n > lookBytes+2*each && !c.whole && !(marked && n > columns*each) {
				t.Errorf("%d bytes were read in one look", n)
			}
			last = c.bytes
			return nil
		}
		lower, upper := familyBounds(table.id, 1)
		if done, err := c.run(context.Background(), lower, upper); err != nil || !done {
			t.Fatal(done, err)
		}
		if n := countKeys(t, s, lower, upper); n != columns+2 {
			t.Errorf("%d cells are left, want %d", n, columns+2)
		}
		if pauses < columns*each/(lookBytes+each) {
			t.Errorf("%d pauses", pauses)
		}
		if times := c.bytes / (columns * each); !marked && times > 1 || times > 2 {
			t.Errorf("the row was read %d times", times)
		}
	}
}

// A huge row that does not keep still is read again part by part: each part up
// to where it ended, not up to the row's end.
func TestHugeRowThatMovesIsReadTwice(t *testing.T) {
	const columns, each = 800, 10_000
	s := openJanitor(t, &testClock{1_000_000}, versionsFamily(1))
	table, err := s.catalog.find("t")
	if err != nil {
		t.Fatal(err)
	}
	row := []byte("r")
	m := cell.NewMutation(row)
	for i := range columns {
		m.Put([]byte("f"), fmt.Appendf(nil, "%06d", i), 10, make([]byte, each)).Put([]byte("f"), fmt.Appendf(nil, "%06d", i), 9, nil)
	}
	mustApply(t, s, "t", *m)
	c := collection{s: s, t: table, family: table.layout.families[0]}
	c.decided = func() {
		mustApply(t, s, "t", *cell.NewMutation(row).Put([]byte("f"), []byte("000000"), 10, make([]byte, each)))
	}
	lower, upper := familyBounds(table.id, 1)
	if done, err := c.run(context.Background(), lower, upper); err != nil || !done {
		t.Fatal(done, err)
	}
	if n := countKeys(t, s, lower, upper); n != columns {
		t.Errorf("%d cells are left, want %d", n, columns)
	}
	if times := float64(c.bytes) / (columns * each); times > 5 {
		t.Errorf("the row was read %.1f times", times)
	}
}

// Writers who delete the newest version and put an older one, all the time,
// beside collections: an acknowledged put is there.
func TestAcknowledgedPutsSurviveCollections(t *testing.T) {
	s := openJanitor(t, &testClock{1_000_000}, versionsFamily(1))
	table, err := s.catalog.find("t")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var collecting, writing sync.WaitGroup
	for range 2 {
		collecting.Go(func() {
			lower, upper := familyBounds(table.id, 1)
			for ctx.Err() == nil {
				c := collection{s: s, t: table, family: table.layout.families[0]}
				if _, err := c.run(context.Background(), lower, upper); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	f, q := []byte("f"), []byte("q")
	for w := range 4 {
		writing.Go(func() {
			var r cell.Result
			for n := range int64(300) {
				row := fmt.Appendf(nil, "w%d_%d", w, n%7)
				value := fmt.Appendf(nil, "%d", n)
				mustApply(t, s, "t", *cell.NewMutation(row).Put(f, q, 10*n+1, []byte("old")).Put(f, q, 10*n+5, []byte("new")))
				mustApply(t, s, "t", *cell.NewMutation(row).Delete(f, q, 10*n+5))
				mustApply(t, s, "t", *cell.NewMutation(row).Put(f, q, 10*n+1, value))
				if err := s.Get(context.Background(), "t", &cell.Get{Row: row}, &r); err != nil || len(r.Cells) != 1 || !bytes.Equal(r.Cells[0].Value, value) {
					t.Errorf("row %s has %v (%v), want %s", row, r.Cells, err, value)
					return
				}
			}
		})
	}
	writing.Wait()
	stop()
	collecting.Wait()
}

// While nothing is written what the janitor deleted is compacted away.
func TestJanitorSettlesWhatItDeleted(t *testing.T) {
	s := openJanitor(t, &testClock{1_000_000}, versionsFamily(1))
	for i := range 500 {
		m := cell.NewMutation(fmt.Appendf(nil, "%04d", i))
		for ts := range int64(5) {
			m.Put([]byte("f"), nil, ts, randomBytes(500))
		}
		mustApply(t, s, "t", *m)
	}
	settle(t, s)
	before := tableBytes(s)
	// What the janitor itself logged, and what was before, is not counted.
	s.janitor.meter = meter{}
	round(t, s)
	s.janitor.meter = meter{}
	round(t, s)
	if after := tableBytes(s); after > before/3 || before < 30_000 {
		t.Errorf("tables take %d bytes, they took %d", after, before)
	}
	if len(s.janitor.owed) != 0 {
		t.Errorf("%d files are still owed", len(s.janitor.owed))
	}
}

// doneHook calls do when its Done is asked for: by Compact, once it is inside.
type doneHook struct {
	context.Context
	do func()
}

func (c doneHook) Done() <-chan struct{} {
	c.do()
	return c.Context.Done()
}

// A compaction does not hold Close up: it ends with store.ErrClosed.
func TestCloseEndsCompaction(t *testing.T) {
	s := openJanitor(t, &testClock{1_000_000}, versionsFamily(1))
	mustApply(t, s, "t", *cell.NewMutation([]byte("r")).Put([]byte("f"), nil, 1, nil))
	closed := make(chan error, 1)
	var once sync.Once
	parent, cancel := context.WithCancel(context.Background())
	defer cancel()
	ctx := doneHook{parent, func() {
		once.Do(func() {
			go func() { closed <- s.Close() }()
			<-s.ending.Done()
		})
	}}
	if err := s.Compact(ctx, "t", cell.Range{}, true); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Compact says %v", err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// Version 1 of the property, which does not say what the family kept, is read.
func TestGarbagePropertyVersion1(t *testing.T) {
	b := append([]byte{1}, appendFamilyPrefix(nil, firstTableID, 3)...)
	all, err := parseGarbage(append(b, 10, 4, 0))
	if err != nil || len(all) != 1 || all[0].cells != 10 || all[0].waste != 4 || all[0].rules != nil {
		t.Errorf("%+v, %v", all, err)
	}
}

// A visit that ends early, for another survey, goes on where it was left.
func TestVisitsGoOnWhereTheyWereLeft(t *testing.T) {
	s := openJanitor(t, &testClock{1_000_000}, versionsFamily(1))
	const rows, size = 1000, 2000
	for i := range rows {
		m := cell.NewMutation(fmt.Appendf(nil, "%05d", i))
		mustApply(t, s, "t", *m.Put([]byte("f"), nil, 1, randomBytes(size)).Put([]byte("f"), nil, 2, randomBytes(size)))
	}
	settle(t, s)
	s.janitor.unpaced = true
	jobs, err := s.janitor.survey()
	if err != nil || len(jobs) == 0 {
		t.Fatal(len(jobs), err)
	}
	visits := 0
	for _, job := range jobs {
		for {
			looks := 0
			err := s.janitor.visit(context.Background(), job, func() bool { looks++; return looks > 1 })
			if err != nil {
				t.Fatal(err)
			}
			visits++
			if s.janitor.open == nil || visits > 1000 {
				break
			}
		}
	}
	if read, all := s.janitor.bytes.Load(), int64(rows*2*(size+50)); read > all || visits < 4 {
		t.Errorf("%d bytes of %d were read in %d visits", read, all, visits)
	}
	if n := s.janitor.removed.Load(); n != rows {
		t.Errorf("%d cells were removed, want %d", n, rows)
	}
}

// A file that is written before its family is known says so, and is visited.
func TestFilesOfUnknownFamiliesAreVisited(t *testing.T) {
	s := openJanitor(t, &testClock{1_000_000}, versionsFamily(1))
	table, err := s.catalog.find("t")
	if err != nil {
		t.Fatal(err)
	}
	s.publish(table.id, nil, table.layout) // as while the store is opened
	m := cell.NewMutation([]byte("r")).Put([]byte("f"), nil, 1, nil).Put([]byte("f"), nil, 2, nil)
	mustApply(t, s, "t", *m)
	settle(t, s)
	s.publish(table.id, table.layout, nil)
	round(t, s)
	if got := stored(t, s); got != "r:@2 " {
		t.Errorf("stored: %s", got)
	}
}
