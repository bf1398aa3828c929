package pebble

import (
	"bytes"
	"encoding/binary"
	"fmt"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// Bounds of one stretch of a scan: while one lasts, what is read is held, in
// memory too.
const (
	scanCells = 1 << 20
	scanBytes = 64 << 20
)

// scan reads every key and value as a reader would, what is in memory and in
// the log too, and holds cells against the catalog of the same moment.
func (v *verifier) scan(db *pebbledb.DB) error {
	var next []byte
	for {
		base, err := db.NewIter(&pebbledb.IterOptions{})
		if err != nil {
			return storeError(err)
		}
		more, err := v.stretch(baseView{base}, next)
		if err = closeWith(base, err); err != nil || more == nil {
			return err
		}
		next = more
	}
}

// stretch reads some of the keys from next on, and says where to go on; nil:
// nowhere.
func (v *verifier) stretch(from iterators, next []byte) (more []byte, err error) {
	known, err := v.families(from)
	if err != nil {
		return nil, nil // told of by loadCatalog; without a catalog there is nothing to hold against
	}
	it, err := from.NewIter(&pebbledb.IterOptions{LowerBound: next})
	if err != nil {
		return nil, storeError(err)
	}
	cells, size := 0, int64(0)
	for ok := it.First(); ok; ok = it.Next() {
		key := it.Key()
		value, err := it.ValueAndErr()
		if err != nil {
			break // and so is the iterator's
		}
		v.checkCell(known, key, value)
		cells++
		n := int64(len(key) + len(value))
		size += n
		if err := v.step(n); err != nil {
			return nil, closeWith(it, err)
		}
		if cells >= scanCells || size >= scanBytes {
			more = append(bytes.Clone(key), 0)
			break
		}
		next = append(append(next[:0:0], key...), 0)
	}
	err = it.Error()
	_ = it.Close() // its error is the same
	if err == nil {
		return more, nil
	}
	return v.beyond(next, err), nil
}

// beyond finds where to go on after a read failed at a key: behind what is known
// to be lost there. What was not told of yet is, and ends the scan.
func (v *verifier) beyond(at []byte, err error) []byte {
	var over []byte
	for _, s := range v.lost {
		if bytes.Compare(s.last, at) >= 0 && (over == nil || bytes.Compare(s.first, over) < 0) {
			over = s.first
		}
	}
	for i := 0; over != nil && i < len(v.lost); i++ {
		// Behind all that overlap, from the first one on.
		if s := v.lost[i]; bytes.Compare(s.first, over) <= 0 && bytes.Compare(s.last, over) >= 0 {
			if end := append(bytes.Clone(s.last), 0); bytes.Compare(end, over) > 0 {
				over, i = end, -1
			}
		}
	}
	if over == nil || bytes.Compare(over, at) <= 0 {
		f := store.Fault{Kind: store.FaultDamage, Offset: -1, What: fmt.Sprintf("keys cannot be read: %v", err)}
		v.place(&f, at, at)
		v.found(f)
		return nil
	}
	return over
}

// knownFamilies are the families whose cells may be there. A table that was
// dropped, and whose cells may not be gone yet, stands there with family 0.
type knownFamilies map[familyKey]bool

func (v *verifier) families(from iterators) (knownFamilies, error) {
	c, err := loadCatalog(from)
	if err != nil {
		return nil, err
	}
	known := knownFamilies{}
	for _, t := range c.tables {
		for _, f := range t.layout.families {
			known[familyKey{t.id, f.id}] = true
		}
	}
	err = eachMeta(from, metaDropped, nil, func(rest, _ []byte) error {
		switch len(rest) {
		case 4:
			known[familyKey{binary.BigEndian.Uint32(rest), 0}] = true
		case 6:
			known[familyKey{binary.BigEndian.Uint32(rest), binary.BigEndian.Uint16(rest[4:])}] = true
		}
		return nil
	})
	return known, err
}

// checkCell looks at one entry that a reader sees.
func (v *verifier) checkCell(known knownFamilies, key, value []byte) {
	err := checkEntry(key, value)
	if err == nil && key[0] != 0 {
		v.report.Cells++
		id := familyKey{binary.BigEndian.Uint32(key), binary.BigEndian.Uint16(key[4:])}
		if !known[id] && !known[familyKey{id.table, 0}] {
			err = fmt.Errorf("%w: there is a cell of family %d of table %#x, and no such family", store.ErrCorrupt, id.family, id.table)
		}
	}
	if err == nil {
		return
	}
	f := store.Fault{Kind: store.FaultDamage, Offset: -1, What: err.Error()}
	if table := v.nameOf(key); table != "" {
		f.Table = table
		f.First = cell.Printable(rowIn(key))
		f.Last = f.First
	}
	v.found(f)
}
