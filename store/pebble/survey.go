package pebble

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"time"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"

	"github.com/cellardb/cellar/store"
)

// part is what one file has of one family.
type part struct {
	file   uint64
	family familyKey
}

// job is a part that is worth a visit.
type job struct {
	part
	lower, upper []byte // of the file, both inclusive
	waste        uint64 // bytes that may go, as far as is known
	rules        rules  // of the family now
}

// survey is one look at the properties of all files.
type survey struct {
	j           *janitor
	now         int64
	jobs        []job
	total       uint64 // bytes of files
	waste, owed uint64 // bytes to be deleted, and deleted but still there
	seen        map[uint64]bool
	// singly: the files come without their properties.
	singly bool
}

// survey finds the parts that are worth a visit, and sets the pace. While space
// is scarce none is: to delete takes some, too.
func (j *janitor) survey() ([]job, error) {
	start := time.Now()
	v := survey{j: j, now: j.s.clock.now(), seen: map[uint64]bool{}}
	levels, err := j.s.db.SSTables(pebbledb.WithProperties())
	if err != nil {
		// It fails for all where it does for one.
		v.singly = true
		levels, err = j.s.db.SSTables()
	}
	if err != nil {
		return nil, storeError(err)
	}
	for _, files := range levels {
		for i := range files {
			v.file(&files[i])
		}
	}
	for p := range j.visited {
		if !v.seen[p.file] {
			delete(j.visited, p)
		}
	}
	for file := range j.owed {
		if !v.seen[file] {
			delete(j.owed, file)
		}
	}
	j.singly.forget(v.seen, v.singly)
	v.set()
	j.surveyed = time.Since(start)
	if j.s.disk.scarce() {
		return nil, nil
	}
	return v.jobs, nil
}

// set makes the figures of the survey those of the janitor.
func (v *survey) set() {
	j := v.j
	live := v.total - min(v.total, v.waste+v.owed)
	ratio := float64(v.waste) / max(float64(live), 1)
	j.ratio.Store(math.Float64bits(ratio))
	j.much.Store(ratio > slowAbove && v.waste >= slowFrom)
	j.meter.read(j.s.fs.logBytes.Load(), time.Now())
	j.pace = paceFor(ratio, j.meter.rate)
}

// Garbage is the ratio of garbage to live data that the last survey found: what
// the janitor has to delete yet.
func (j *janitor) Garbage() float64 { return math.Float64frombits(j.ratio.Load()) }

// file looks at one file.
func (v *survey) file(f *pebbledb.SSTableInfo) {
	v.seen[uint64(f.FileNum)] = true
	v.total += f.Size
	text, readable := property(f), true
	if v.singly {
		text, readable = v.j.singly.property(v.j.s, f)
	}
	if !readable {
		return // and neither are its cells
	}
	parts, err := parseGarbage(text)
	if err != nil {
		// A file that was cut has lost its property; of one that another
		// version wrote nothing is known either.
		parts = v.j.unknown(f)
	}
	var cells uint64
	for i := range parts {
		cells += parts[i].cells
	}
	for i := range parts {
		v.part(f, &parts[i], cells)
	}
}

// part looks at what the file has of one family.
func (v *survey) part(f *pebbledb.SSTableInfo, g *familyGarbage, cells uint64) {
	key := familyKey{g.table, g.family}
	family := v.j.s.familyByID(g.table, g.family)
	if family == nil {
		return // dropped
	}
	w := job{
		part:  part{uint64(f.FileNum), key},
		lower: f.Smallest.UserKey, upper: f.Largest.UserKey,
		rules: rulesOf(&family.schema),
	}
	waste := float64(g.waste) / float64(max(cells, 1))
	// What is not counted is taken for the least that is worth a visit.
	least := worthwhile * float64(g.cells) / float64(max(cells, 1))
	known, visited := v.j.visited[w.part]
	before, due := &known.rules, known.again
	if !visited {
		before, due = g.rules, g.expiry
	}
	expired := due > 0 && due < v.now
	tightened := before != nil && w.rules.tighter(before)
	worth := expired || tightened || !visited && (waste > least || family.ownTTL.Load() || g.unknown)
	switch {
	case worth:
		w.waste = uint64(float64(f.Size) * max(waste, least))
		if visited && !tightened {
			w.waste = uint64(float64(f.Size) * least)
		}
		v.waste += w.waste
		v.jobs = append(v.jobs, w)
	case visited:
		v.owed += uint64(float64(f.Size) * waste)
	default:
		v.waste += uint64(float64(f.Size) * waste)
	}
}

// unknown gives the families that a file may have cells of.
func (j *janitor) unknown(f *pebbledb.SSTableInfo) []familyGarbage {
	var all []familyGarbage
	j.s.families.Range(func(k, _ any) bool {
		key := k.(familyKey)
		lower, upper := familyBounds(key.table, key.family)
		if bytes.Compare(f.Smallest.UserKey, upper) < 0 && bytes.Compare(f.Largest.UserKey, lower) >= 0 {
			all = append(all, familyGarbage{table: key.table, family: key.family, cells: 1, unknown: true})
		}
		return true
	})
	return all
}

// property gives the garbage property of a file; nil: it has none.
func property(f *pebbledb.SSTableInfo) []byte {
	if f.Properties == nil {
		return nil
	}
	return ownProperty(f.Properties.UserProperties)
}

func ownProperty(user map[string]string) []byte {
	// The first byte is Pebble's own id of the property.
	if p := user[garbageProperty]; len(p) > 1 {
		return []byte(p[1:])
	}
	return nil
}

// singly reads the garbage properties of files one by one, since Pebble gives
// those of all files or of none. What was read is kept as long as that lasts:
// files do not change.
type singly struct {
	known map[uint64][]byte
	told  map[uint64]bool // files that cannot be read, which the log was told
}

// property gives the garbage property of a file, nil if it has none; not
// readable: its properties cannot be read, or it is gone.
func (r *singly) property(s *Store, f *pebbledb.SSTableInfo) (text []byte, readable bool) {
	file := uint64(f.FileNum)
	if f.Virtual {
		return nil, true // what was cut has lost it
	}
	if text, ok := r.known[file]; ok {
		return text, true
	}
	name := f.BackingSSTNum.String() + ".sst"
	text, err := readProperty(s, s.fs.PathJoin(s.opts.Dir, name))
	switch {
	case err == nil:
		if r.known == nil {
			r.known = map[uint64][]byte{}
		}
		r.known[file] = text
	case !errors.Is(err, os.ErrNotExist) && !r.told[file]:
		if r.told == nil {
			r.told = map[uint64]bool{}
		}
		r.told[file] = true
		s.log.Error("a file's properties cannot be read: its garbage is not collected", "file", name, "error", err)
	}
	return text, err == nil
}

// forget keeps what is known of files that are there; without need, nothing.
func (r *singly) forget(there map[uint64]bool, needed bool) {
	if !needed {
		r.known = nil
	}
	maps.DeleteFunc(r.known, func(file uint64, _ []byte) bool { return !there[file] })
	maps.DeleteFunc(r.told, func(file uint64, _ bool) bool { return !there[file] })
}

// readProperty reads the garbage property of an sstable.
func readProperty(s *Store, path string) (text []byte, err error) {
	defer func() {
		// Pebble panics on some damage that its sums do not cover.
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", store.ErrCorrupt, r)
		}
	}()
	f, err := s.fs.Open(path)
	if err != nil {
		return nil, err
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return nil, closeWith(f, err)
	}
	r, err := sstable.NewReader(s.ending, readable, sstable.ReaderOptions{Comparer: comparer, KeySchemas: keySchemas()})
	if err != nil {
		return nil, closeWith(readable, err)
	}
	p, err := r.ReadPropertiesBlock(s.ending, nil)
	if err = closeWith(r, err); err != nil {
		return nil, err
	}
	return ownProperty(p.UserProperties), nil
}
