package pebble

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// change runs one change of the catalog: under the admin lock, in one synced
// batch. do fills the batch; done makes the change visible in memory, after the
// batch is durable.
func (s *Store) change(ctx context.Context, do func(b *pebbledb.Batch) (done func(), err error)) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.gate.RUnlock()
	s.admin.Lock()
	defer s.admin.Unlock()
	b := s.db.NewBatch()
	done, err := do(b)
	if err == nil {
		err = storeError(s.db.Apply(b, pebbledb.Sync))
	}
	err = closeWith(b, err)
	if err == nil && done != nil {
		done()
	}
	return err
}

// CreateTable implements store.Admin.
func (s *Store) CreateTable(ctx context.Context, schema cell.TableSchema, splits [][]byte) error {
	schema = schema.Clone()
	schema.Name = cell.CanonicalTableName(schema.Name)
	if err := schema.Validate(); err != nil {
		return err
	}
	splits, err := cell.ValidateSplits(splits)
	if err != nil {
		return err
	}
	return s.change(ctx, func(b *pebbledb.Batch) (func(), error) {
		if err := s.catalog.namespaceOf(schema.Name); err != nil {
			return nil, err
		}
		if _, err := s.catalog.find(schema.Name); err == nil {
			return nil, fmt.Errorf("%w: %s", store.ErrTableExists, schema.Name)
		}
		l := &layout{created: s.clock.now(), schema: schema}
		for i := range schema.Families {
			if err := l.add(schema.Families[i]); err != nil {
				return nil, err
			}
		}
		l.seal()
		t := &table{name: schema.Name, enabled: true, layout: l, heat: new(heat)}
		return s.putNewTable(b, t, store.CutRegions(schema.Name, splits, s.catalog.newRegionID(l.created)))
	})
}

// putNewTable gives a table an id and writes it with its regions.
func (s *Store) putNewTable(b *pebbledb.Batch, t *table, regions []store.Region) (func(), error) {
	c := s.catalog
	if c.lastID == 0xfffffffe {
		return nil, fmt.Errorf("no table ids are left: this store has made four billion tables")
	}
	t.id, t.regions = c.lastID+1, regions
	if err := b.Set(metaKey(metaLastID), u32(t.id), nil); err != nil {
		return nil, err
	}
	if err := setJSON(b, metaKey(metaTable, []byte(t.name)), t.layout.record(t.id, t.enabled)); err != nil {
		return nil, err
	}
	for i := range regions {
		if err := setJSON(b, metaKey(metaRegion, u32(t.id), regions[i].Start), regionRecord{ID: regions[i].ID}); err != nil {
			return nil, err
		}
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.lastID = t.id
		c.tables[t.name] = t
		s.publish(t.id, t.layout, nil)
	}, nil
}

// add gives a family an id. seal puts it into the schema.
func (l *layout) add(f cell.FamilySchema) error {
	if l.lastFamily == math.MaxUint16 {
		return &cell.ArgumentError{Text: fmt.Sprintf("table %s has had %d families: no ids are left for %s", l.schema.Name, l.lastFamily, f.Name)}
	}
	l.lastFamily++
	l.families = append(l.families, &family{id: l.lastFamily, name: []byte(f.Name), schema: f, markers: new(atomic.Bool), ownTTL: new(atomic.Bool)})
	return nil
}

// AlterTable implements store.Admin.
func (s *Store) AlterTable(ctx context.Context, schema cell.TableSchema) error {
	schema = schema.Clone()
	schema.Name = cell.CanonicalTableName(schema.Name)
	if err := schema.Validate(); err != nil {
		return err
	}
	var gone []*family
	var t *table
	err := s.change(ctx, func(b *pebbledb.Batch) (func(), error) {
		var err error
		if t, err = s.catalog.find(schema.Name); err != nil {
			return nil, err
		}
		var l *layout
		if l, gone, err = t.layout.altered(schema); err != nil {
			return nil, err
		}
		for _, f := range gone {
			if err := b.Set(metaKey(metaDropped, u32(t.id), u16(f.id)), nil, nil); err != nil {
				return nil, err
			}
		}
		if err := setJSON(b, metaKey(metaTable, []byte(t.name)), l.record(t.id, t.enabled)); err != nil {
			return nil, err
		}
		return func() {
			// Calls that still use the old schema end first.
			t.mu.Lock()
			s.publish(t.id, l, t.layout)
			t.layout = l
			t.mu.Unlock()
		}, nil
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	return s.giveBack(context.WithoutCancel(ctx))
}

// altered gives the layout after an alter, and the families that it drops.
func (l *layout) altered(schema cell.TableSchema) (next *layout, gone []*family, err error) {
	next = &layout{schema: schema, lastFamily: l.lastFamily, created: l.created}
	for _, old := range l.families {
		fs := schema.Family(old.name)
		if fs == nil {
			gone = append(gone, old)
			continue
		}
		next.families = append(next.families, &family{id: old.id, name: old.name, schema: *fs, markers: old.markers, ownTTL: old.ownTTL})
	}
	for i := range schema.Families {
		if l.family([]byte(schema.Families[i].Name)) == nil {
			if err := next.add(schema.Families[i]); err != nil {
				return nil, nil, err
			}
		}
	}
	next.seal()
	return next, gone, nil
}

// raise sets, durably, the bits that say that a family has markers, or cells
// with their own time to live. It comes before the first of them, so a reader
// that finds the markers' bit unset after it opened its iterator will not miss
// one.
func (s *Store) raise(ctx context.Context, need *unraised) error {
	return s.change(ctx, func(b *pebbledb.Batch) (func(), error) {
		t, err := s.catalog.find(need.table)
		if err != nil {
			return nil, err
		}
		l := t.layout
		r := l.record(t.id, t.enabled)
		for i := range r.Families {
			f := &r.Families[i]
			f.Markers = f.Markers || slices.Contains(need.markers, f.Name)
			f.CellTTL = f.CellTTL || slices.Contains(need.ownTTL, f.Name)
		}
		return func() {
			for _, f := range l.families {
				if slices.Contains(need.markers, f.schema.Name) {
					f.markers.Store(true)
				}
				if slices.Contains(need.ownTTL, f.schema.Name) {
					f.ownTTL.Store(true)
				}
			}
		}, setJSON(b, metaKey(metaTable, []byte(t.name)), r)
	})
}

// EnableTable implements store.Admin.
func (s *Store) EnableTable(ctx context.Context, name string) error {
	return s.setEnabled(ctx, name, true)
}

// DisableTable implements store.Admin. It waits for calls on the table.
func (s *Store) DisableTable(ctx context.Context, name string) error {
	return s.setEnabled(ctx, name, false)
}

func (s *Store) setEnabled(ctx context.Context, name string, on bool) error {
	return s.change(ctx, func(b *pebbledb.Batch) (func(), error) {
		t, err := s.catalog.find(name)
		if err != nil {
			return nil, err
		}
		if t.enabled == on {
			kind := store.ErrTableNotDisabled
			if !on {
				kind = store.ErrTableDisabled
			}
			return nil, fmt.Errorf("%w: %s", kind, t.name)
		}
		return func() {
			t.mu.Lock()
			t.enabled = on
			t.mu.Unlock()
		}, setJSON(b, metaKey(metaTable, []byte(t.name)), t.layout.record(t.id, on))
	})
}

// DropTable implements store.Admin.
func (s *Store) DropTable(ctx context.Context, name string) error {
	err := s.change(ctx, func(b *pebbledb.Batch) (func(), error) {
		t, err := s.disabled(name)
		if err != nil {
			return nil, err
		}
		if err := removeTable(b, t); err != nil {
			return nil, err
		}
		return func() {
			t.drop()
			s.publish(t.id, nil, t.layout)
			s.catalog.mu.Lock()
			delete(s.catalog.tables, t.name)
			s.catalog.mu.Unlock()
		}, nil
	})
	if err != nil {
		return err
	}
	return s.giveBack(context.WithoutCancel(ctx))
}

// disabled finds a table that has to be disabled.
func (s *Store) disabled(name string) (*table, error) {
	t, err := s.catalog.find(name)
	if err == nil && t.enabled {
		err = fmt.Errorf("%w: %s", store.ErrTableNotDisabled, t.name)
	}
	return t, err
}

// removeTable takes a table's records away and marks its id as dropped.
func removeTable(b *pebbledb.Batch, t *table) error {
	regions := metaKey(metaRegion, u32(t.id))
	if err := b.DeleteRange(regions, cell.AfterPrefix(regions), nil); err != nil {
		return err
	}
	if err := b.Delete(metaKey(metaTable, []byte(t.name)), nil); err != nil {
		return err
	}
	return b.Set(metaKey(metaDropped, u32(t.id)), nil, nil)
}

// drop makes every call on the table, and every open scanner, end.
func (t *table) drop() {
	t.mu.Lock()
	t.dropped = true
	t.mu.Unlock()
}

// TruncateTable implements store.Admin: the table goes on under a new id, and
// the old one is dropped.
func (s *Store) TruncateTable(ctx context.Context, name string, keepSplits bool) error {
	err := s.change(ctx, func(b *pebbledb.Batch) (func(), error) {
		old, err := s.disabled(name)
		if err != nil {
			return nil, err
		}
		if err := removeTable(b, old); err != nil {
			return nil, err
		}
		var splits [][]byte
		if keepSplits {
			for i := range old.regions[1:] {
				splits = append(splits, old.regions[i+1].Start)
			}
		}
		l := &layout{schema: old.layout.schema.Clone(), created: old.layout.created}
		for _, f := range old.layout.families {
			if err := l.add(f.schema); err != nil {
				return nil, err
			}
		}
		l.seal()
		t := &table{name: old.name, enabled: true, layout: l, heat: new(heat)}
		done, err := s.putNewTable(b, t, store.CutRegions(old.name, splits, s.catalog.newRegionID(s.clock.now())))
		return func() {
			old.drop()
			s.publish(old.id, nil, old.layout)
			done()
		}, err
	})
	if err != nil {
		return err
	}
	return s.giveBack(context.WithoutCancel(ctx))
}

// Describe implements store.Admin.
func (s *Store) Describe(ctx context.Context, name string) (store.TableInfo, error) {
	if err := s.enter(ctx); err != nil {
		return store.TableInfo{}, err
	}
	defer s.gate.RUnlock()
	t, err := s.catalog.find(name)
	if err != nil {
		return store.TableInfo{}, err
	}
	return t.info(), nil
}

func (t *table) info() store.TableInfo {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return store.TableInfo{Schema: t.layout.schema.Clone(), Enabled: t.enabled, Created: t.layout.created}
}

// Tables implements store.Admin.
func (s *Store) Tables(ctx context.Context) ([]store.TableInfo, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.RUnlock()
	all := []store.TableInfo{}
	for _, t := range s.catalog.list() {
		all = append(all, t.info())
	}
	return all, nil
}
