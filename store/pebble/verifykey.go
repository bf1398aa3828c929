package pebble

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// checkKey says whether a key is one that this format has.
func checkKey(key []byte) error {
	if len(key) > 0 && key[0] == 0 {
		return checkMetaKey(key)
	}
	if len(key) < familyPrefixLen || binary.BigEndian.Uint32(key) < firstTableID {
		return fmt.Errorf("%w: key %x is of no table", store.ErrCorrupt, key)
	}
	k, err := parseCellKey(key, 0)
	if err != nil {
		return err
	}
	row := rowOf(k.prefix)
	if len(row) == 0 || !soundEscape(row) || !soundEscape(k.qualifier) {
		return fmt.Errorf("%w: key %x has a row or qualifier that is not written as one", store.ErrCorrupt, key)
	}
	if k.typ.IsFamilyMarker() && len(k.qualifier) > 0 {
		return fmt.Errorf("%w: key %x is a family marker with a qualifier", store.ErrCorrupt, key)
	}
	return nil
}

// soundEscape says whether each 00 of an escaped string is followed by FF.
func soundEscape(s []byte) bool {
	for {
		i := bytes.IndexByte(s, escByte)
		if i < 0 {
			return true
		}
		if i+1 >= len(s) || s[i+1] != escZero {
			return false
		}
		s = s[i+2:]
	}
}

func checkMetaKey(key []byte) error {
	bad := fmt.Errorf("%w: meta key %x is of no kind that this format has", store.ErrCorrupt, key)
	if len(key) < 2 {
		return bad
	}
	n := len(key) - 2
	switch key[1] {
	case metaLastID:
		if n == 0 {
			return nil
		}
	case metaNamespace, metaTable:
		if n > 0 {
			return nil
		}
	case metaRegion:
		if n >= 4 {
			return nil
		}
	case metaDropped:
		if n == 4 || n == 6 {
			return nil
		}
	case metaNonce:
		if n == 8+4+8+8 {
			return nil
		}
	}
	return bad
}

// checkEntry says whether a key and its value are written as this format wants
// them.
func checkEntry(key, value []byte) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if key[0] != 0 {
		_, ttl, _, err := parseValue(value)
		if err == nil && ttl < 0 {
			err = fmt.Errorf("%w: a cell lives %d ms", store.ErrCorrupt, ttl)
		}
		return err
	}
	switch key[1] {
	case metaLastID:
		if len(value) != 4 {
			return fmt.Errorf("%w: the last table id has %d bytes", store.ErrCorrupt, len(value))
		}
	case metaNamespace:
		return decodeMeta("namespace", key[2:], value, new(store.Namespace))
	case metaTable:
		var r tableRecord
		if err := decodeMeta("table", key[2:], value, &r); err != nil {
			return err
		}
		_, err := r.layout(string(key[2:]))
		return err
	case metaRegion:
		return decodeMeta("region", key[6:], value, new(regionRecord))
	case metaDropped:
		if len(value) != 0 {
			return fmt.Errorf("%w: the mark of a dropped table has a value", store.ErrCorrupt)
		}
	case metaNonce:
		_, _, err := decodeAnswer(value, nil)
		return err
	}
	return nil
}

// checkCatalog looks at what the records of the catalog say together. Each
// alone was read already.
func (v *verifier) checkCatalog(from iterators, c *catalog) error {
	byID := map[uint32]string{}
	for name, t := range c.tables {
		fault := func(format string, args ...any) {
			v.found(store.Fault{Kind: store.FaultDamage, Offset: -1, Table: name, What: fmt.Sprintf(format, args...)})
		}
		if other, twice := byID[t.id]; twice {
			fault("it has the id %#x, which table %s has too", t.id, other)
		}
		byID[t.id] = name
		if t.id < firstTableID || t.id > c.lastID {
			fault("its id %#x was never given out: the last one is %#x", t.id, c.lastID)
		}
		ns, _ := cell.SplitTableName(name)
		if _, ok := c.namespaces[ns]; !ok {
			fault("its namespace %s is not there", ns)
		}
		if err := cell.ValidateTableName(name); err != nil {
			fault("its name cannot be one: %v", err)
		}
		families := map[uint16]bool{}
		for _, f := range t.layout.families {
			if f.id == 0 || f.id > t.layout.lastFamily || families[f.id] {
				fault("its family %s has the id %d: ids are single and go up to %d", f.schema.Name, f.id, t.layout.lastFamily)
			}
			families[f.id] = true
		}
		for i := range t.regions {
			if r := &t.regions[i]; r.ID <= 0 {
				fault("its region from %q has the id %d", cell.Printable(r.Start), r.ID)
			}
		}
	}
	return v.checkRegionRecords(from, byID)
}

// checkRegionRecords finds regions of tables that are not there. That those of
// a table leave no gap and do not overlap follows from their form: each ends
// where the next begins, and the first begins at the first key.
func (v *verifier) checkRegionRecords(from iterators, tables map[uint32]string) error {
	err := eachMeta(from, metaRegion, nil, func(rest, value []byte) error {
		if len(rest) < 4 {
			return nil // named where keys are looked at
		}
		id := binary.BigEndian.Uint32(rest)
		if _, ok := tables[id]; !ok {
			v.damage("", -1, "there is a region from %q of table id %#x, and no such table", cell.Printable(rest[4:]), id)
		}
		var r regionRecord
		return json.Unmarshal(value, &r)
	})
	return err
}
