package pebble

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/cell"
)

// testClock is a clock that tests move.
type testClock struct{ ms int64 }

func (c *testClock) now() int64 { return c.ms }

// openJanitor opens a store in memory whose janitor only works when it is told.
func openJanitor(t *testing.T, clock *testClock, f cell.FamilySchema) *Store {
	t.Helper()
	s := mustOpen(t, Options{Dir: "data", FS: vfs.NewMem(), Clock: clock.now, NoJanitor: true})
	if err := s.CreateTable(context.Background(), cell.TableSchema{Name: "t", Families: []cell.FamilySchema{f}}, nil); err != nil {
		t.Fatal(err)
	}
	return s
}

func versionsFamily(versions int) cell.FamilySchema {
	f := cell.NewFamily("f")
	f.MaxVersions = versions
	return f
}

// stored is every cell of table t, as a raw scan shows it.
func stored(t *testing.T, s *Store) string {
	t.Helper()
	sc, err := s.Scan(context.Background(), "t", &cell.Scan{Raw: true, Read: cell.Read{MaxVersions: 1 << 30}})
	if err != nil {
		t.Fatal(err)
	}
	defer sc.Close()
	text := ""
	for {
		r, err := sc.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return text
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Cells {
			c := &r.Cells[i]
			text += fmt.Sprintf("%s:%s@%d", c.Row, c.Qualifier, c.Timestamp)
			if c.Type.IsMarker() {
				text += "!" + c.Type.String()
			}
			text += " "
		}
	}
}

// settle puts everything into one file a family, so that versions meet.
func settle(t *testing.T, s *Store) {
	t.Helper()
	if err := errors.Join(s.Flush(context.Background(), "t"), s.Compact(context.Background(), "t", cell.Range{}, false)); err != nil {
		t.Fatal(err)
	}
}

func round(t *testing.T, s *Store) {
	t.Helper()
	s.janitor.unpaced = true
	if err := s.janitor.round(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func TestJanitorFindsGarbage(t *testing.T) {
	put := func(q string, ts int64) func(*cell.Mutation) {
		return func(m *cell.Mutation) { m.Put([]byte("f"), []byte(q), ts, []byte("v")) }
	}
	ttl := func(seconds int) cell.FamilySchema {
		f := versionsFamily(1)
		f.TTL = seconds
		return f
	}
	least := ttl(10)
	least.MaxVersions, least.MinVersions = 5, 1
	kept := versionsFamily(2)
	kept.KeepDeleted = cell.KeepDeletedTrue
	cases := []struct {
		name   string
		family cell.FamilySchema
		edits  []func(*cell.Mutation)
		later  int64 // ms that pass before the round
		want   string
	}{
		{"surplus versions", versionsFamily(2), []func(*cell.Mutation){put("a", 1), put("a", 2), put("a", 3), put("b", 1)}, 0, "r:a@3 r:a@2 r:b@1 "},
		{"masked cells and their marker", versionsFamily(3), []func(*cell.Mutation){put("a", 1), put("a", 2), put("a", 3), func(m *cell.Mutation) { m.DeleteColumn([]byte("f"), []byte("a"), 2) }}, 0, "r:a@3 "},
		{"a family marker after what it masks", versionsFamily(3), []func(*cell.Mutation){put("a", 1), put("b", 2), put("c", 9), func(m *cell.Mutation) { m.DeleteFamily([]byte("f"), 5) }}, 0, "r:c@9 "},
		{"expired cells", ttl(10), []func(*cell.Mutation){put("a", 1_000_000), put("b", 1_005_000)}, 12_000, "r:b@1005000 "},
		{"not yet expired", ttl(10), []func(*cell.Mutation){put("a", 995_000), put("b", 1_005_000)}, 5_000, "r:a@995000 r:b@1005000 "},
		{"expired cells above MIN_VERSIONS", least, []func(*cell.Mutation){put("a", 1_000_000), put("a", 1_000_001), put("a", 1_000_002)}, 12_000, "r:a@1000002 "},
		{"own time to live", versionsFamily(1), []func(*cell.Mutation){put("a", 1_000_000), func(m *cell.Mutation) { m.TTL = 5_000 }}, 5_001, ""},
		{"kept deleted cells stay", kept, []func(*cell.Mutation){put("a", 1), put("a", 2), func(m *cell.Mutation) { m.DeleteColumn([]byte("f"), []byte("a"), 1) }}, 0, "r:a@2 r:a@1!DeleteColumn r:a@1 "},
		{"nothing to do", versionsFamily(1), []func(*cell.Mutation){put("a", 1), put("b", 2)}, 0, "r:a@1 r:b@2 "},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			clock := &testClock{1_000_000}
			s := openJanitor(t, clock, c.family)
			m := cell.NewMutation([]byte("r"))
			for _, e := range c.edits {
				e(m)
			}
			mustApply(t, s, "t", *m)
			settle(t, s)
			clock.ms += c.later
			round(t, s)
			if got := stored(t, s); got != c.want {
				t.Errorf("stored: %q, want %q", got, c.want)
			}
		})
	}
	if len(cases) != 9 {
		t.Errorf("%d cases", len(cases))
	}
}

// A file is visited once, and again when something that stayed in it expires.
func TestJanitorComesBackForWhatExpires(t *testing.T) {
	clock := &testClock{1_000_000}
	s := openJanitor(t, clock, versionsFamily(1))
	for i, ttl := range []int64{5_000, 50_000, 0} {
		m := cell.NewMutation([]byte{byte('a' + i)}).Put([]byte("f"), nil, 1_000_000, []byte("v"))
		m.TTL = ttl
		mustApply(t, s, "t", *m)
	}
	settle(t, s)
	steps := []struct {
		passes int64
		want   string
	}{
		{0, "a:@1000000 b:@1000000 c:@1000000 "},
		{5_001, "b:@1000000 c:@1000000 "},
		{10_000, "b:@1000000 c:@1000000 "},
		{40_000, "c:@1000000 "},
	}
	for _, st := range steps {
		clock.ms += st.passes
		round(t, s)
		if n := countKeys(t, s, []byte{1}, []byte{2}); n != bytes.Count([]byte(st.want), []byte("@")) {
			t.Errorf("%d ms later %d cells are stored, want %q", st.passes, n, st.want)
		}
	}
}

// The race: between the decision and the act the newest version is deleted and
// an older one written, so that what was surplus is what a read shows. An
// acknowledged put is never removed.
func TestJanitorNeverRemovesWhatBecameVisible(t *testing.T) {
	clock := &testClock{1_000_000}
	s := openJanitor(t, clock, versionsFamily(1))
	table, err := s.catalog.find("t")
	if err != nil {
		t.Fatal(err)
	}
	row := []byte("r")
	mustApply(t, s, "t", *cell.NewMutation(row).Put([]byte("f"), []byte("q"), 1, []byte("old")).Put([]byte("f"), []byte("q"), 2, []byte("new")))
	raced := 0
	c := collection{s: s, t: table, family: table.layout.families[0], decided: func() {
		raced++
		mustApply(t, s, "t", *cell.NewMutation(row).Delete([]byte("f"), []byte("q"), 2))
		mustApply(t, s, "t", *cell.NewMutation(row).Put([]byte("f"), []byte("q"), 1, []byte("acknowledged")))
	}}
	lower, upper := familyBounds(table.id, 1)
	if _, err := c.run(context.Background(), lower, upper); err != nil {
		t.Fatal(err)
	}
	// Between the second decision and the act no one can write to the row.
	mustApply(t, s, "t", *cell.NewMutation(row).Put([]byte("f"), []byte("q"), 0, []byte("surplus")))
	held := 0
	c = collection{s: s, t: table, family: table.layout.families[0], judged: func() {
		held++
		if s.rows.locks[s.rows.of(table.id, row)].TryRLock() {
			t.Error("the row is not locked")
		}
		if table.mu.TryLock() {
			t.Error("the table is not held")
		}
	}}
	if _, err := c.run(context.Background(), lower, upper); err != nil || held != 1 {
		t.Fatalf("acted %d times: %v", held, err)
	}
	var r cell.Result
	if err := s.Get(context.Background(), "t", &cell.Get{Row: row}, &r); err != nil || len(r.Cells) != 1 || string(r.Cells[0].Value) != "acknowledged" {
		t.Errorf("after the race the row has %v (%v), want the acknowledged put", r.Cells, err)
	}
	if raced != 1 {
		t.Errorf("the race was run %d times", raced)
	}
}

// A row with more garbage than one act takes goes in parts; what masks it goes
// last, so that nothing comes back in between.
func TestJanitorTakesLargeRowsInParts(t *testing.T) {
	cases := []struct {
		name  string
		fill  func(m *cell.Mutation)
		acts  int
		shown int
	}{
		{"many columns under a family marker", func(m *cell.Mutation) {
			for i := range 35_000 {
				m.Put([]byte("f"), fmt.Appendf(nil, "%06d", i), 1, nil)
			}
			m.Put([]byte("f"), []byte("live"), 9, nil)
			m.DeleteFamily([]byte("f"), 5)
		}, 4, 1},
		{"one column with many versions under a column marker", func(m *cell.Mutation) {
			for i := range 125_000 {
				m.Put([]byte("f"), []byte("q"), int64(i), nil)
			}
			m.DeleteColumn([]byte("f"), []byte("q"), 200_000)
			m.Put([]byte("f"), []byte("z"), 9, nil)
		}, 2, 1},
		{"one column with many versions, the newest shown", func(m *cell.Mutation) {
			for i := range 125_000 {
				m.Put([]byte("f"), []byte("q"), int64(i), nil)
			}
		}, 2, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := openJanitor(t, &testClock{1_000_000}, versionsFamily(1))
			table, err := s.catalog.find("t")
			if err != nil {
				t.Fatal(err)
			}
			m := cell.NewMutation([]byte("r"))
			c.fill(m)
			mustApply(t, s, "t", *m)
			shown := func() int {
				var r cell.Result
				if err := s.Get(context.Background(), "t", &cell.Get{Row: []byte("r")}, &r); err != nil {
					t.Fatal(err)
				}
				return len(r.Cells)
			}
			acts := 0
			w := collection{s: s, t: table, family: table.layout.families[0], pause: func(context.Context) error {
				acts++
				if n := shown(); n != c.shown {
					t.Fatalf("after part %d a read shows %d cells, want %d", acts, n, c.shown)
				}
				return nil
			}}
			lower, upper := familyBounds(table.id, 1)
			if _, err := w.run(context.Background(), lower, upper); err != nil {
				t.Fatal(err)
			}
			if acts < c.acts {
				t.Errorf("the row went in %d parts, want %d at least", acts, c.acts)
			}
			if n := countKeys(t, s, lower, upper); n != c.shown {
				t.Errorf("%d cells are left, want %d", n, c.shown)
			}
		})
	}
}

// The property of a file is what the judge says of its keys.
func TestGarbageProperty(t *testing.T) {
	clock := &testClock{1_000_000}
	f := versionsFamily(2)
	f.TTL = 600
	s := openJanitor(t, clock, f)
	for i := range 100 {
		m := cell.NewMutation(fmt.Appendf(nil, "r%02d", i))
		for v := range 5 {
			m.Put([]byte("f"), []byte("q"), 900_000+int64(v), nil)
		}
		mustApply(t, s, "t", *m)
	}
	settle(t, s)
	jobs, err := s.janitor.survey()
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	levels, err := s.db.SSTables()
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, l := range levels {
		files += len(l)
	}
	if got := s.janitor.Garbage(); got < 1.2 || got > 1.8 {
		t.Errorf("garbage is %.2f of the live data in %d files, want 300 cells over 200", got, files)
	}
	b := appendGarbage(nil, []familyGarbage{{table: 1 << 24, family: 7, cells: 5, waste: 3, expiry: 1 << 40}, {table: 1<<24 + 1, family: 1}})
	all, err := parseGarbage(b)
	if err != nil || len(all) != 2 || all[0].expiry != 1<<40 || all[0].waste != 3 || all[1].table != 1<<24+1 {
		t.Errorf("the property comes back as %+v, %v", all, err)
	}
	for n := range b {
		if part, err := parseGarbage(b[:n]); err == nil && len(part) != min(n-1, 1) {
			t.Errorf("%d bytes of the property are read as %+v", n, part)
		}
	}
}

// In the background, at its own pace, beside writers who overwrite all the time:
// what is stored stays a small multiple of what is live.
func TestJanitorKeepsUpInBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		s, err := Open(ctx, Options{Dir: "data", FS: vfs.NewMem(), MemtableBytes: 4 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		mustCreate(t, s, "t", "f") // VERSIONS 3
		const rows, rounds = 500, 60
		for n := range rounds {
			batch := make([]cell.Mutation, rows)
			for i := range batch {
				batch[i].Row = fmt.Appendf(nil, "row%04d", i)
				batch[i].Durability = cell.SkipWAL
				batch[i].Put([]byte("f"), []byte("q"), int64(n), []byte("a value of some length"))
			}
			mustApply(t, s, "t", batch...)
			if n%5 == 4 {
				if err := s.Flush(ctx, "t"); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(2 * time.Second) // of the bubble's clock
		}
		if s.janitor.removed.Load() == 0 {
			t.Fatal("the janitor removed nothing")
		}
		if n := countKeys(t, s, []byte{1}, []byte{2}); n > 4*3*rows {
			t.Errorf("%d cells are stored, %d are live", n, 3*rows)
		}
		all, err := readAll(s, "t")
		if err != nil || len(all) != rows {
			t.Errorf("%d rows are read, want %d: %v", len(all), rows, err)
		}
	})
}

// runCollection goes through table t once.
func runCollection(t *testing.T, s *Store, decided func()) {
	t.Helper()
	table, err := s.catalog.find("t")
	if err != nil {
		t.Fatal(err)
	}
	c := collection{s: s, t: table, family: table.layout.families[0], decided: decided}
	lower, upper := familyBounds(table.id, table.layout.families[0].id)
	if _, err := c.run(context.Background(), lower, upper); err != nil {
		t.Fatal(err)
	}
}

// A part that begins in the middle of a row knows too little to let a marker of
// the family go that still masks something before it.
func TestJanitorKeepsFamilyMarkersThatMaskEarlierParts(t *testing.T) {
	f := versionsFamily(1)
	f.KeepDeleted = cell.KeepDeletedTrue
	s := openJanitor(t, &testClock{1_000_000}, f)
	m := cell.NewMutation([]byte("r")).Put([]byte("f"), []byte("a"), 50, nil).DeleteFamily([]byte("f"), 100)
	for v := range collectCells + 5 {
		m.Put([]byte("f"), []byte("b"), 1000+int64(v), nil)
	}
	m.Put([]byte("f"), []byte("z"), 200, nil)
	mustApply(t, s, "t", *m)
	shown := func() string {
		var r cell.Result
		if err := s.Get(context.Background(), "t", &cell.Get{Row: []byte("r")}, &r); err != nil {
			t.Fatal(err)
		}
		text := ""
		for i := range r.Cells {
			text += string(r.Cells[i].Qualifier)
		}
		return text
	}
	if got := shown(); got != "bz" {
		t.Fatalf("before: %s", got)
	}
	runCollection(t, s, nil)
	if got := shown(); got != "bz" {
		t.Errorf("after the collection a read shows %s, want bz", got)
	}
}

// A collection that is under way when the family is altered judges by what the
// family keeps now.
func TestJanitorSeesAlteredFamilies(t *testing.T) {
	s := openJanitor(t, &testClock{1_000_000}, versionsFamily(1))
	row := []byte("r")
	mustApply(t, s, "t", *cell.NewMutation(row).Put([]byte("f"), nil, 1, nil).Put([]byte("f"), nil, 2, nil))
	runCollection(t, s, func() {
		if err := s.AlterTable(context.Background(), cell.TableSchema{Name: "t", Families: []cell.FamilySchema{versionsFamily(5)}}); err != nil {
			t.Fatal(err)
		}
		mustApply(t, s, "t", *cell.NewMutation(row).Put([]byte("f"), nil, 3, nil).Put([]byte("f"), nil, 4, nil))
	})
	if got := stored(t, s); got != "r:@4 r:@3 r:@2 r:@1 " {
		t.Errorf("stored: %s", got)
	}
}

// Two families of one file are two visits: what the one says of its next visit
// does not count for the other.
func TestJanitorVisitsEachFamilyOfAFile(t *testing.T) {
	clock := &testClock{1_000_000}
	s := mustOpen(t, Options{Dir: "data", FS: vfs.NewMem(), Clock: clock.now, NoJanitor: true})
	short, other := versionsFamily(1), versionsFamily(1)
	short.Name, short.TTL, other.Name = "a", 10, "b"
	if err := s.CreateTable(context.Background(), cell.TableSchema{Name: "t", Families: []cell.FamilySchema{short, other}}, nil); err != nil {
		t.Fatal(err)
	}
	m := cell.NewMutation([]byte("r")).Put([]byte("a"), nil, 1_000_000, nil)
	for v := range 10 {
		m.Put([]byte("b"), nil, int64(v), nil)
	}
	mustApply(t, s, "t", *m)
	settle(t, s)
	round(t, s) // visits b
	clock.ms += 20_000
	round(t, s)
	if got := stored(t, s); got != "r:@9 " {
		t.Errorf("stored: %s", got)
	}
}
