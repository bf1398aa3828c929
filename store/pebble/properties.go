package pebble

import (
	"bytes"
	"encoding/binary"
	"errors"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"

	"github.com/cellardb/cellar/cell"
)

// garbageProperty is the name of the property that each sstable carries: for
// each family in it, how many of its cells a major compaction of that table
// alone would let go of, when it is worth to look again because cells expire by
// the family's time to live, and what the family kept when this was judged.
// Values are not seen, so neither are their sizes nor cells' own times to live.
// The janitor looks for its work there; it is a hint, and may be missing.
//
//	version u8 = 2, then for each family: table u32, family u16, and as
//	uvarints cells, garbage cells, the time in ms at which worthwhile of the
//	cells, or all that ever do, have expired (0: none does), VERSIONS,
//	MIN_VERSIONS, TTL in s, KEEP_DELETED_CELLS (0 false, 1 true, 2 TTL).
//	VERSIONS is 0 where the family was not known
//
// Version 1 ended before VERSIONS.
const garbageProperty = "cellar.garbage"

// familyGarbage is the property's part for one family.
type familyGarbage struct {
	table  uint32
	family uint16
	cells  uint64
	waste  uint64 // those of them that can go
	expiry int64  // ms; 0: nothing expires
	rules  *rules // nil: not known
	// unknown: the family was not known when the file was written, as while a
	// store is opened, or the file has no property. How much of it can go was
	// not judged.
	unknown bool
}

// rules are what decides on what a family keeps.
type rules struct {
	versions, minVersions, ttl uint64
	keep                       uint64
}

func rulesOf(s *cell.FamilySchema) rules {
	r := rules{versions: uint64(s.MaxVersions), minVersions: uint64(s.MinVersions), ttl: uint64(s.TTL)}
	switch s.KeepDeleted {
	case cell.KeepDeletedTrue:
		r.keep = 1
	case cell.KeepDeletedTTL:
		r.keep = 2
	}
	return r
}

// worth is the number of cells of a file that are worth a visit.
func worth(cells uint64) uint64 { return uint64(worthwhile * float64(cells)) }

// tighter says whether cells can go under the rules that could not under the
// old ones.
func (r *rules) tighter(old *rules) bool {
	return r.versions < old.versions || r.minVersions < old.minVersions || r.ttl < old.ttl || r.keep != old.keep
}

func appendGarbage(dst []byte, all []familyGarbage) []byte {
	dst = append(dst, 2)
	for i := range all {
		g := &all[i]
		dst = appendFamilyPrefix(dst, g.table, g.family)
		r := g.rules
		if r == nil {
			r = &rules{}
		}
		for _, v := range []uint64{g.cells, g.waste, uint64(g.expiry), r.versions, r.minVersions, r.ttl, r.keep} {
			dst = binary.AppendUvarint(dst, v)
		}
	}
	return dst
}

var errBadProperty = errors.New("the garbage property of a table cannot be read")

func parseGarbage(b []byte) ([]familyGarbage, error) {
	if len(b) == 0 || b[0] < 1 || b[0] > 2 {
		return nil, errBadProperty
	}
	var all []familyGarbage
	version := b[0]
	for b = b[1:]; len(b) > 0; {
		if len(b) < familyPrefixLen {
			return nil, errBadProperty
		}
		g := familyGarbage{table: binary.BigEndian.Uint32(b), family: binary.BigEndian.Uint16(b[4:])}
		b = b[familyPrefixLen:]
		var expiry uint64
		var r rules
		fields := []*uint64{&g.cells, &g.waste, &expiry, &r.versions, &r.minVersions, &r.ttl, &r.keep}
		if version == 1 {
			fields = fields[:3]
		}
		for _, v := range fields {
			n := 0
			if *v, n = binary.Uvarint(b); n <= 0 {
				return nil, errBadProperty
			}
			b = b[n:]
		}
		if r.versions > 0 {
			g.rules = &r
		}
		g.unknown = version > 1 && g.rules == nil
		g.expiry = int64(expiry)
		all = append(all, g)
	}
	return all, nil
}

// surveyor makes the property of one sstable while it is written. It sees the
// cells in order, and judges them as a compaction would that had this table
// only.
type surveyor struct {
	s      *Store
	all    []familyGarbage
	judge  garbage
	family []byte // prefix of the current family
	prefix []byte // of the current row
	known  bool   // the schema of the family is known
}

func (s *Store) newSurveyor() pebbledb.BlockPropertyCollector { return &surveyor{s: s} }

// Name implements sstable.BlockPropertyCollector.
func (v *surveyor) Name() string { return garbageProperty }

// AddPointKey implements sstable.BlockPropertyCollector.
func (v *surveyor) AddPointKey(key pebbledb.InternalKey, _ []byte) error {
	k := key.UserKey
	if len(k) <= familyPrefixLen || k[0] == 0 || !isSet(key.Kind()) {
		return nil
	}
	if len(v.prefix) == 0 || !bytes.HasPrefix(k, v.prefix) {
		v.enterRow(k)
	}
	g := &v.all[len(v.all)-1]
	g.cells++
	if !v.known {
		return nil
	}
	parsed, err := parseCellKey(k, len(v.prefix))
	if err != nil {
		return nil // left to those who read it
	}
	v.judge.enter(&parsed)
	switch {
	case v.judge.drops(&parsed, 0):
		g.waste++
	case !parsed.typ.IsMarker():
		v.judge.noteExpiry(&parsed, 0)
	}
	return nil
}

func isSet(k pebbledb.InternalKeyKind) bool {
	return k == pebbledb.InternalKeyKindSet || k == pebbledb.InternalKeyKindSetWithDelete
}

func (v *surveyor) enterRow(k []byte) {
	v.prefix = append(v.prefix[:0], k[:splitKey(k)]...)
	if len(v.all) == 0 || !bytes.HasPrefix(k, v.family) {
		v.leaveFamily()
		v.family = append(v.family[:0], k[:familyPrefixLen]...)
		table, id := binary.BigEndian.Uint32(k), binary.BigEndian.Uint16(k[4:])
		g := familyGarbage{table: table, family: id}
		f := v.s.familyByID(table, id)
		v.known = f != nil
		if v.known {
			r := rulesOf(&f.schema)
			g.rules = &r
		}
		v.all = append(v.all, g)
		v.judge.family, v.judge.now = f, v.s.clock.now()
	}
	v.judge.beginRow()
}

// leaveFamily notes when cells of the last family expire.
func (v *surveyor) leaveFamily() {
	if n := len(v.all); n > 0 {
		g := &v.all[n-1]
		g.expiry = v.judge.expiries.due(worth(g.cells))
		v.judge.expiries.reset()
	}
}

// AddRangeKeys implements sstable.BlockPropertyCollector.
func (v *surveyor) AddRangeKeys(sstable.Span) error { return nil }

// AddCollectedWithSuffixReplacement implements sstable.BlockPropertyCollector.
func (v *surveyor) AddCollectedWithSuffixReplacement([]byte, []byte, []byte) error {
	return errors.New("suffixes are never replaced")
}

// SupportsSuffixReplacement implements sstable.BlockPropertyCollector.
func (v *surveyor) SupportsSuffixReplacement() bool { return false }

// FinishDataBlock implements sstable.BlockPropertyCollector: the property is of
// whole tables.
func (v *surveyor) FinishDataBlock(buf []byte) ([]byte, error) { return buf, nil }

// AddPrevDataBlockToIndexBlock implements sstable.BlockPropertyCollector.
func (v *surveyor) AddPrevDataBlockToIndexBlock() {}

// FinishIndexBlock implements sstable.BlockPropertyCollector.
func (v *surveyor) FinishIndexBlock(buf []byte) ([]byte, error) { return buf, nil }

// FinishTable implements sstable.BlockPropertyCollector.
func (v *surveyor) FinishTable(buf []byte) ([]byte, error) {
	v.leaveFamily()
	return appendGarbage(buf, v.all), nil
}

// familyKey finds a family by its ids.
type familyKey struct {
	table  uint32
	family uint16
}

// familyByID finds an open family without any lock: it is called while tables
// are written, which a writer that holds its table's lock may wait for.
func (s *Store) familyByID(table uint32, id uint16) *family {
	f, _ := s.families.Load(familyKey{table, id})
	found, _ := f.(*family)
	return found
}

// publish makes a table's families known to familyByID, and forgets those that
// are gone.
func (s *Store) publish(table uint32, now, before *layout) {
	if before != nil {
		for _, f := range before.families {
			s.families.Delete(familyKey{table, f.id})
		}
	}
	if now != nil {
		for _, f := range now.families {
			s.families.Store(familyKey{table, f.id}, f)
		}
	}
}
