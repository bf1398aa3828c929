package pebble

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// everyKind fills a store with all that one can hold: tables of several
// families, markers, tags, times to live, counters with nonces, range
// deletions, regions, namespaces, virtual sstables, dropped tables, and entries
// that are in the log only.
func everyKind(t *testing.T, s *Store) {
	t.Helper()
	ctx := context.Background()
	if err := s.CreateNamespace(ctx, store.Namespace{Name: "ns", Properties: map[string]string{"a": "b"}}); err != nil {
		t.Fatal(err)
	}
	schema := cell.TableSchema{Name: "ns:t", Families: []cell.FamilySchema{cell.NewFamily("f"), cell.NewFamily("g")}}
	if err := s.CreateTable(ctx, schema, [][]byte{[]byte("row-0030"), []byte("row-0060")}); err != nil {
		t.Fatal(err)
	}
	mustCreate(t, s, "gone", "f")
	fill := func(table string, from, to int) {
		var batch []cell.Mutation
		for i := from; i < to; i++ {
			m := cell.NewMutation(fmt.Appendf(nil, "row-%04d", i))
			m.Put([]byte("f"), []byte("q\x00x"), int64(i+1), fmt.Appendf(nil, "value %d %d", i, i*i))
			if i%7 == 0 {
				m.TTL = 1 << 50
				m.Put([]byte("f"), []byte("tags"), 1, []byte("v"))
				m.Edits[len(m.Edits)-1].Tags = []byte{0, 2, 1, 9}
			}
			if table == "ns:t" {
				m.Put([]byte("g"), []byte("n"), 1, bytes.Repeat([]byte{byte(i)}, 40))
				if i%11 == 0 {
					m.DeleteRow(3)
				}
			}
			batch = append(batch, *m)
			if len(batch) == 10 || i == to-1 {
				mustApply(t, s, table, batch...)
				batch = nil
			}
		}
	}
	fill("ns:t", 0, 90)
	fill("gone", 0, 30)
	flush := func() {
		t.Helper()
		if err := s.Flush(ctx, "ns:t"); err != nil {
			t.Fatal(err)
		}
	}
	flush()
	m := cell.NewMutation([]byte("row-0001")).Increment([]byte("f"), []byte("count"), 5)
	m.Nonce = cell.Nonce{Group: 7, Value: 9}
	mustApply(t, s, "ns:t", *m)
	if err := s.DeleteRows(ctx, "ns:t", cell.Range{Start: []byte("row-0050"), Stop: []byte("row-0060")}); err != nil {
		t.Fatal(err)
	}
	flush()
	// The excise leaves virtual tables over files that hold both tables.
	if err := s.DisableTable(ctx, "gone"); err != nil {
		t.Fatal(err)
	}
	if err := s.DropTable(ctx, "gone"); err != nil {
		t.Fatal(err)
	}
	fill("ns:t", 90, 120)
}

// closedStore makes a store of every kind that was closed in order, and
// killedStore one whose process was killed.
func closedStore(t *testing.T) *vfs.MemFS {
	t.Helper()
	fs := vfs.NewMem()
	s, err := Open(context.Background(), Options{Dir: "data", FS: fs, NoJanitor: true})
	if err != nil {
		t.Fatal(err)
	}
	everyKind(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return fs
}

func killedStore(t *testing.T) *vfs.MemFS {
	t.Helper()
	fs := vfs.NewCrashableMem()
	s := mustOpen(t, Options{Dir: "data", FS: fs, NoJanitor: true})
	everyKind(t, s)
	return fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
}

// look verifies a closed store.
func look(t *testing.T, fs vfs.FS) ([]store.Fault, store.VerifyReport) {
	t.Helper()
	var faults []store.Fault
	report, err := Verify(context.Background(), Options{Dir: "data", FS: fs}, store.VerifyOptions{
		Found: func(f store.Fault) { faults = append(faults, f) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return faults, report
}

func names(t *testing.T, fs vfs.FS) []string {
	t.Helper()
	all, err := fs.List("data")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

func content(t *testing.T, fs vfs.FS, name string) []byte {
	t.Helper()
	data, err := readFile(fs, "data/"+name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func save(t *testing.T, fs vfs.FS, name string, data []byte) {
	t.Helper()
	f, err := fs.Create("data/"+name, vfs.WriteCategoryUnspecified)
	if err == nil {
		_, err = f.Write(bytes.Clone(data)) // a file in memory spoils what it was given, under invariants
		err = closeWith(f, err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestSoundStoresHaveNoFaults(t *testing.T) {
	for name, make := range map[string]func(*testing.T) *vfs.MemFS{"closed": closedStore, "killed": killedStore} {
		t.Run(name, func(t *testing.T) {
			fs := make(t)
			faults, report := look(t, fs)
			for _, f := range faults {
				if f.Kind != store.FaultNote || name == "closed" {
					t.Error(f.String())
				}
			}
			if !report.Sound() || report.Cells < 200 || report.Tables != 1 || report.Files < 6 || report.Bytes < 5_000 {
				t.Errorf("report %+v", report)
			}
		})
	}
}

// A table that holds range deletions and nothing else has an empty index.
func TestTableOfRangeDeletionsIsSound(t *testing.T) {
	fs := vfs.NewMem()
	s, err := Open(context.Background(), Options{Dir: "data", FS: fs, NoJanitor: true})
	if err != nil {
		t.Fatal(err)
	}
	mustCreate(t, s, "t", "f")
	if err := s.Flush(context.Background(), "t"); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteRows(context.Background(), "t", cell.Range{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if faults, report := look(t, fs); !report.Sound() || len(faults) > 0 {
		t.Errorf("faults %v", faults)
	}
}

func TestOpenStoreIsVerified(t *testing.T) {
	s := mustOpen(t, Options{Dir: "data", FS: vfs.NewMem()})
	everyKind(t, s)
	var told []int64
	report, err := s.Verify(context.Background(), store.VerifyOptions{
		Found:    func(f store.Fault) { t.Error(f.String()) },
		Progress: func(done, total int64) error { told = append(told, done, total); return nil },
	})
	if err != nil || !report.Sound() || report.Cells < 200 {
		t.Errorf("%+v, %v", report, err)
	}
	if n := len(told); n < 2 || told[n-1] != told[n-2] {
		t.Errorf("progress ends at %v", told)
	}
}

// What is damaged under a store that is open is named too, in every kind of
// file; its log is looked at again after a sync before that.
func TestDamageOfOpenStoreIsNamed(t *testing.T) {
	fs := vfs.NewMem()
	s := mustOpen(t, Options{Dir: "data", FS: fs, NoJanitor: true})
	everyKind(t, s)
	if err := s.Compact(context.Background(), "ns:t", cell.Range{}, true); err != nil {
		t.Fatal(err)
	}
	mustApply(t, s, "ns:t", *cell.NewMutation([]byte("z")).Put([]byte("f"), nil, 1, []byte("v")))
	verify := func() (faults []store.Fault, report store.VerifyReport) {
		t.Helper()
		report, err := s.Verify(context.Background(), store.VerifyOptions{Found: func(f store.Fault) { faults = append(faults, f) }})
		if err != nil {
			t.Fatal(err)
		}
		return faults, report
	}
	tables, err := listed(s.db)
	if err != nil {
		t.Fatal(err)
	}
	// Of what goes in the background nothing is touched: tables and logs that are
	// not needed any more.
	newest := ""
	for _, file := range names(t, fs) {
		if _, ok := logNumber(file); ok && newer(file, newest) {
			newest = file
		}
	}
	kinds := map[string]int{}
	for _, file := range names(t, fs) {
		_, isLog := logNumber(file)
		if isLog && file != newest || strings.HasSuffix(file, ".sst") && tables[file] == nil {
			continue
		}
		whole := content(t, fs, file)
		if len(whole) == 0 {
			continue
		}
		damaged := bytes.Clone(whole)
		damaged[min(9, len(damaged)-1)] ^= 2
		save(t, fs, file, damaged)
		faults, report := verify()
		if report.Sound() || !slices.ContainsFunc(faults, func(f store.Fault) bool { return f.File == "data/"+file && f.Kind != store.FaultNote }) {
			t.Errorf("%s is damaged and not named: %v", file, faults)
		}
		save(t, fs, file, whole)
		kinds[strings.Trim(file, "0123456789-")]++
	}
	if _, report := verify(); !report.Sound() || len(kinds) != 6 {
		t.Errorf("report %+v, kinds %v", report, kinds)
	}
}

// flips gives the offsets of a file that are tried: all of a small one, and of
// others the first, the last and a sample, in a soak every one.
func flips(size int) []int {
	all := func(from, to int) (list []int) {
		for i := from; i < to; i++ {
			list = append(list, i)
		}
		return list
	}
	if size <= 200 || os.Getenv("CELLAR_SOAK") == "1" {
		return all(0, size)
	}
	head, tail, between := 25, 60, 30
	if testing.Short() {
		head, tail, between = 12, 20, 10
	}
	list := append(all(0, head), all(size-tail, size)...)
	rng := rand.New(rand.NewPCG(uint64(size), 5))
	for range between {
		list = append(list, head+rng.IntN(size-head-tail))
	}
	return list
}

// meaningless says which bytes of a file verify does not answer for: those
// behind the end of a log, which are no part of it.
func meaningless(t *testing.T, fs vfs.FS, name string) (from int) {
	t.Helper()
	size := len(content(t, fs, name))
	number, ok := logNumber(name)
	if !ok {
		return size
	}
	format, err := formatOf(fs, "data/"+name, number)
	if err != nil {
		t.Fatal(err)
	}
	w := &recordWalk{format: format}
	if _, err := walkFile(fs, "data/"+name, w); err != nil {
		t.Fatal(err)
	}
	return size - int(w.rest)
}

// No bit of any file is flipped without verify naming that file.
func TestFlippedBitIsNamed(t *testing.T) {
	kinds, left, tail := map[string]int{}, 0, 0
	for name, make := range map[string]func(*testing.T) *vfs.MemFS{"closed": closedStore, "killed": killedStore} {
		fs := make(t)
		before, _ := look(t, fs)
		for _, file := range names(t, fs) {
			kind := strings.Trim(file, "0123456789-")
			whole := content(t, fs, file)
			if isLeftOver(before, file) {
				left++
				continue // verify says of the whole file that it is no part of the store
			}
			end := meaningless(t, fs, file)
			tail += checkTail(t, fs, file, whole, end)
			rng := rand.New(rand.NewPCG(uint64(len(whole)), 3))
			for _, at := range flips(end) {
				damaged := bytes.Clone(whole)
				damaged[at] ^= 1 << rng.IntN(8)
				save(t, fs, file, damaged)
				faults, report := look(t, fs)
				if report.Sound() || !slices.ContainsFunc(faults, func(f store.Fault) bool {
					return f.File == "data/"+file && f.Kind != store.FaultNote
				}) {
					t.Errorf("%s store: a bit of %s at %d of %d was flipped and is not named: %v", name, file, at, len(whole), faults)
				}
				kinds[kind]++
			}
			save(t, fs, file, whole)
		}
		if faults, _ := look(t, fs); len(faults) != len(before) {
			t.Fatalf("the files were not put back: %v", faults)
		}
	}
	for _, kind := range []string{"CELLAR", "CELLAR.sums", "OPTIONS", "MANIFEST", ".sst", ".log"} {
		if kinds[kind] < 10 {
			t.Errorf("%d bits of files %s were flipped", kinds[kind], kind)
		}
	}
	if tail == 0 {
		t.Error("no log has anything behind its end: what is said of that was not tried")
	}
	// Each store may have a table that was being deleted when it was left.
	if left > 2 {
		t.Errorf("%d files are left out", left)
	}
	t.Logf("flipped: %v", kinds)
}

// checkTail damages what lies behind the end of a log, all of it: that changes
// nothing in what the store holds.
func checkTail(t *testing.T, fs *vfs.MemFS, file string, whole []byte, end int) int {
	t.Helper()
	if end == len(whole) {
		return 0
	}
	_, before := look(t, fs)
	damaged := bytes.Clone(whole)
	for i := end; i < len(damaged); i++ {
		damaged[i] ^= 0xa5
	}
	save(t, fs, file, damaged)
	faults, after := look(t, fs)
	if after != before {
		t.Errorf("behind the end of %s: %+v, before %+v: %v", file, after, before, faults)
	}
	save(t, fs, file, whole)
	return len(whole) - end
}

func isLeftOver(faults []store.Fault, file string) bool {
	return slices.ContainsFunc(faults, func(f store.Fault) bool { return f.File == "data/"+file && f.Kind == store.FaultNote })
}

// What a fault says about where cells are lost.
func TestDamagedBlockNamesTableAndRows(t *testing.T) {
	fs := vfs.NewMem()
	s, err := Open(context.Background(), Options{Dir: "data", FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	mustCreate(t, s, "t", "f")
	batch := make([]cell.Mutation, 3000)
	rng := rand.New(rand.NewPCG(4, 4))
	for i := range batch {
		value := make([]byte, 100)
		for k := range value {
			value[k] = byte(rng.Uint32())
		}
		batch[i].Row = fmt.Appendf(nil, "r%04d", i)
		batch[i].Put([]byte("f"), []byte("q"), 1, value)
	}
	mustApply(t, s, "t", batch...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(names(t, fs), func(n string) bool { return strings.HasSuffix(n, ".sst") })
	file := names(t, fs)[i]
	data := content(t, fs, file)
	data[len(data)/2] ^= 4
	save(t, fs, file, data)
	faults, report := look(t, fs)
	if len(faults) != 1 || report.Damaged != 1 {
		t.Fatalf("faults %v", faults)
	}
	f := faults[0]
	if f.File != "data/"+file || f.Table != "t" || f.First <= "r0000" || f.Last >= "r2999" || f.First >= f.Last || !strings.Contains(f.What, "data block") {
		t.Errorf("fault %+v", f)
	}
	if f.Offset <= 0 || f.Offset > int64(len(data)/2) {
		t.Errorf("the block is at %d, the bit at %d", f.Offset, len(data)/2)
	}
	// What is beside the damage was read all the same.
	if report.Cells < 2000 || report.Cells >= 3000 {
		t.Errorf("%d cells were seen of 3000", report.Cells)
	}
}

// Several files that are damaged are all named.
func TestEveryDamagedFileIsNamed(t *testing.T) {
	fs := closedStore(t)
	var want []string
	for _, name := range names(t, fs) {
		if strings.HasSuffix(name, ".sst") || strings.HasPrefix(name, "OPTIONS") || strings.HasSuffix(name, ".log") && len(content(t, fs, name)) > 0 {
			data := content(t, fs, name)
			data[len(data)/3] ^= 0x20
			if strings.HasSuffix(name, ".log") {
				data[2] ^= 1
			}
			save(t, fs, name, data)
			want = append(want, "data/"+name)
		}
	}
	faults, _ := look(t, fs)
	for _, file := range want {
		if !slices.ContainsFunc(faults, func(f store.Fault) bool { return f.File == file }) {
			t.Errorf("%s is not named: %v", file, faults)
		}
	}
	if len(want) < 4 {
		t.Errorf("%d files were damaged", len(want))
	}
}

// Files that are missing, cut, or of another store.
func TestMissingAndForeignFilesAreNamed(t *testing.T) {
	first := func(t *testing.T, fs vfs.FS, suffix string) string {
		for _, n := range names(t, fs) {
			if strings.HasSuffix(n, suffix) || strings.HasPrefix(n, suffix) {
				return n
			}
		}
		t.Fatalf("no %s", suffix)
		return ""
	}
	cases := []struct {
		name, file string
		damage     func(t *testing.T, fs vfs.FS, name string)
		kind       store.FaultKind
		says       string
	}{
		{"table missing", ".sst", func(t *testing.T, fs vfs.FS, n string) { fs.Remove("data/" + n) }, store.FaultDamage, "missing"},
		{"table longer", ".sst", func(t *testing.T, fs vfs.FS, n string) { save(t, fs, n, append(content(t, fs, n), 0)) }, store.FaultDamage, ""},
		{"table cut", ".sst", func(t *testing.T, fs vfs.FS, n string) { d := content(t, fs, n); save(t, fs, n, d[:len(d)/2]) }, store.FaultDamage, ""},
		{"format file missing", formatFile, func(t *testing.T, fs vfs.FS, n string) { fs.Remove("data/" + n) }, store.FaultDamage, "missing"},
		{"marker with content", "marker.manifest", func(t *testing.T, fs vfs.FS, n string) { save(t, fs, n, []byte{0}) }, store.FaultDamage, "empty"},
		{"sums missing", sumsFile, func(t *testing.T, fs vfs.FS, n string) { fs.Remove("data/" + n) }, store.FaultNote, "only its form"},
		{"manifest cut", "MANIFEST-", func(t *testing.T, fs vfs.FS, n string) { d := content(t, fs, n); save(t, fs, n, d[:len(d)-3]) }, store.FaultUnfinished, "not whole"},
		{"a file of nobody", "OPTIONS-", func(t *testing.T, fs vfs.FS, n string) { save(t, fs, "holiday.jpg", []byte("x")) }, store.FaultNote, "no file of a store"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			fs := closedStore(t)
			c.damage(t, fs, first(t, fs, c.file))
			faults, _ := look(t, fs)
			if !slices.ContainsFunc(faults, func(f store.Fault) bool { return f.Kind == c.kind && strings.Contains(f.What, c.says) }) {
				t.Errorf("faults %v", faults)
			}
		})
	}
	if len(cases) != 8 {
		t.Errorf("%d cases", len(cases))
	}
}

// What no sum covers: entries that are written soundly and mean nothing here.
func TestEntriesThatCannotBeAreNamed(t *testing.T) {
	put := func(key, value string) func(*testing.T, *pebbledb.DB) {
		return func(t *testing.T, db *pebbledb.DB) {
			if err := db.Set([]byte(key), []byte(value), pebbledb.Sync); err != nil {
				t.Fatal(err)
			}
		}
	}
	family := string(appendFamilyPrefix(nil, firstTableID, 1))
	row := family + "r\x00\x01q\x00\x01"
	tail := string(appendTail(nil, 5, cell.TypePut))
	cases := []struct {
		name string
		do   func(*testing.T, *pebbledb.DB)
		says string
	}{
		{"no such table", put(string(appendFamilyPrefix(nil, firstTableID+77, 1))+"r\x00\x01q\x00\x01"+tail, "\x00v"), "no such family"},
		{"no such family", put(string(appendFamilyPrefix(nil, firstTableID, 9))+"r\x00\x01q\x00\x01"+tail, "\x00v"), "no such family"},
		{"bad flags", put(row+tail, "\x80v"), "flags"},
		{"ends inside its tags", put(row+tail, "\x02\x00\x00\x00\x09"), "inside its tags"},
		{"bad type", put(row+string(appendTail(nil, 5, 77)), "\x00v"), "type 77"},
		{"no row", put(family+"\x00\x01q\x00\x01"+tail, "\x00v"), "row or qualifier"},
		{"bad escape", put(family+"r\x00\x01q\x00\x07\x00\x01"+tail, "\x00v"), "row or qualifier"},
		{"family marker with qualifier", put(row+string(appendTail(nil, 5, cell.TypeDeleteFamily)), "\x00"), "family marker"},
		{"low table id", put("\x00\x77\x01", "v"), "of no kind"},
		{"unknown meta key", put("\x00z", "v"), "of no kind"},
		{"table that is no JSON", put("\x00tbroken", "{"), "cannot be read"},
		{"nonce that ends early", put(string(nonceKey(4, firstTableID, cell.Nonce{Group: 1, Value: 2})), "\x00"), "ends early"},
		{"region of no table", put("\x00r\x01\x00\x99\x00", `{"id":5}`), "no such table"},
		{"mark of odd length", put("\x00x\x01\x02\x03", ""), "of no kind"},
		{"id that was not given out", func(t *testing.T, db *pebbledb.DB) {
			put("\x00i", string(u32(firstTableID-1)))(t, db)
		}, "never given out"},
		{"regions that begin late", func(t *testing.T, db *pebbledb.DB) {
			if err := db.Delete(metaKey(metaRegion, u32(firstTableID)), pebbledb.Sync); err != nil {
				t.Fatal(err)
			}
		}, "do not begin at the first key"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			fs := vfs.NewMem()
			s, err := Open(context.Background(), Options{Dir: "data", FS: fs, NoJanitor: true})
			if err != nil {
				t.Fatal(err)
			}
			mustCreate(t, s, "t", "f")
			mustApply(t, s, "t", *cell.NewMutation([]byte("a")).Put([]byte("f"), nil, 1, []byte("v")))
			c.do(t, s.db)
			// Seen in the log alone, and after a flush in a table.
			for _, where := range []string{"open", "closed"} {
				var faults []store.Fault
				if where == "open" {
					_, err = s.Verify(context.Background(), store.VerifyOptions{Found: func(f store.Fault) { faults = append(faults, f) }})
				} else {
					err = s.Close()
				}
				if err != nil {
					t.Fatal(err)
				}
				if where == "closed" {
					faults, _ = look(t, fs)
				}
				if !slices.ContainsFunc(faults, func(f store.Fault) bool {
					return f.Kind == store.FaultDamage && strings.Contains(f.What, c.says)
				}) {
					t.Errorf("%s: faults %v", where, faults)
				}
			}
		})
	}
	if len(cases) != 16 {
		t.Errorf("%d cases", len(cases))
	}
}

func TestVerifyEndsWithItsContext(t *testing.T) {
	fs := closedStore(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Verify(ctx, Options{Dir: "data", FS: fs}, store.VerifyOptions{}); err != context.Canceled {
		t.Errorf("%v", err)
	}
	if _, err := Verify(context.Background(), Options{Dir: "data", FS: fs}, store.VerifyOptions{
		Progress: func(int64, int64) error { return io.ErrClosedPipe },
	}); err != io.ErrClosedPipe {
		t.Errorf("%v", err)
	}
}
