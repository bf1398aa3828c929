package pebble

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// table is an open table. Every call on its cells holds mu shared while it
// looks at or changes them; what changes the table itself holds it alone.
type table struct {
	id   uint32 // never changes: a truncated table is another one
	name string

	mu       sync.RWMutex
	enabled  bool
	dropped  bool
	layout   *layout
	regions  []store.Region
	scanners atomic.Int64 // open ones, for the metric
	heat     *heat
}

// catalog is the names of a store. Lookups share mu; the changes are made under
// the store's admin lock besides, so that only one is under way.
type catalog struct {
	mu         sync.RWMutex
	tables     map[string]*table
	namespaces map[string]store.Namespace
	lastID     uint32
	lastRegion int64 // under the store's admin lock
}

// find looks a table up.
func (c *catalog) find(name string) (*table, error) {
	c.mu.RLock()
	t := c.tables[name]
	c.mu.RUnlock()
	if t == nil && strings.HasPrefix(name, cell.DefaultNamespace+":") {
		return c.find(cell.CanonicalTableName(name))
	}
	if t == nil {
		return nil, fmt.Errorf("%w: %s", store.ErrTableNotFound, name)
	}
	return t, nil
}

// byID finds the open table with an id; nil: there is none.
func (c *catalog) byID(id uint32) *table {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, t := range c.tables {
		if t.id == id {
			return t
		}
	}
	return nil
}

// usable locks the table shared and says whether cells may be read and written.
// The caller unlocks it when the error is nil.
func (t *table) usable() error {
	t.mu.RLock()
	var err error
	switch {
	case t.dropped:
		err = fmt.Errorf("%w: %s", store.ErrTableNotFound, t.name)
	case !t.enabled:
		err = fmt.Errorf("%w: %s", store.ErrTableDisabled, t.name)
	}
	if err != nil {
		t.mu.RUnlock()
	}
	return err
}

// loadCatalog reads all names, and makes those of a new store.
func loadCatalog(db iterators) (*catalog, error) {
	c := &catalog{tables: map[string]*table{}, namespaces: map[string]store.Namespace{}, lastID: firstTableID - 1}
	if err := c.loadLastID(db); err != nil {
		return nil, err
	}
	err := eachMeta(db, metaNamespace, nil, func(name, value []byte) error {
		var ns store.Namespace
		if err := decodeMeta("namespace", name, value, &ns); err != nil {
			return err
		}
		c.namespaces[string(name)] = ns
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = eachMeta(db, metaTable, nil, func(name, value []byte) error {
		var r tableRecord
		if err := decodeMeta("table", name, value, &r); err != nil {
			return err
		}
		l, err := r.layout(string(name))
		if err != nil {
			return fmt.Errorf("%w: table %q: %v", store.ErrCorrupt, name, err)
		}
		c.tables[string(name)] = &table{id: r.ID, name: string(name), enabled: r.Enabled, layout: l, heat: new(heat)}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, t := range c.tables {
		if t.regions, err = loadRegions(db, t.id, t.name); err != nil {
			return nil, err
		}
		for i := range t.regions {
			c.lastRegion = max(c.lastRegion, t.regions[i].ID)
		}
	}
	for _, name := range []string{cell.DefaultNamespace, cell.SystemNamespace, cell.InternalNamespace} {
		if _, ok := c.namespaces[name]; !ok {
			c.namespaces[name] = store.Namespace{Name: name}
		}
	}
	return c, nil
}

func (c *catalog) loadLastID(db iterators) error {
	return eachMeta(db, metaLastID, nil, func(rest, v []byte) error {
		if len(rest) != 0 || len(v) != 4 {
			return fmt.Errorf("%w: the last table id has %d bytes", store.ErrCorrupt, len(v))
		}
		c.lastID = binary.BigEndian.Uint32(v)
		return nil
	})
}

func loadRegions(db iterators, id uint32, name string) ([]store.Region, error) {
	var regions []store.Region
	err := eachMeta(db, metaRegion, u32(id), func(start, value []byte) error {
		var r regionRecord
		if err := decodeMeta("region", start, value, &r); err != nil {
			return err
		}
		start = bytes.Clone(start)
		if n := len(regions); n > 0 {
			regions[n-1].Stop = start
		}
		regions = append(regions, store.Region{Table: name, Start: start, ID: r.ID})
		return nil
	})
	if err == nil && (len(regions) == 0 || len(regions[0].Start) > 0) {
		err = fmt.Errorf("%w: the regions of table %s do not begin at the first key", store.ErrCorrupt, name)
	}
	return regions, err
}

// list gives the tables that users see, by name.
func (c *catalog) list() []*table {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var all []*table
	for name, t := range c.tables {
		if !cell.IsInternal(name) {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b *table) int { return strings.Compare(a.name, b.name) })
	return all
}

func (c *catalog) namespaceOf(table string) error {
	ns, _ := cell.SplitTableName(table)
	c.mu.RLock()
	defer c.mu.RUnlock()
	if _, ok := c.namespaces[ns]; !ok {
		return fmt.Errorf("%w: %s", store.ErrNamespaceNotFound, ns)
	}
	return nil
}
