package pebble

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// CreateNamespace implements store.Admin.
func (s *Store) CreateNamespace(ctx context.Context, ns store.Namespace) error {
	return s.putNamespace(ctx, ns, false)
}

// AlterNamespace implements store.Admin.
func (s *Store) AlterNamespace(ctx context.Context, ns store.Namespace) error {
	return s.putNamespace(ctx, ns, true)
}

func (s *Store) putNamespace(ctx context.Context, ns store.Namespace, exists bool) error {
	if err := cell.ValidateNamespaceName(ns.Name); err != nil {
		return err
	}
	ns.Properties = maps.Clone(ns.Properties)
	return s.change(ctx, func(b *pebbledb.Batch) (func(), error) {
		c := s.catalog
		if _, ok := c.namespaces[ns.Name]; ok != exists {
			if exists {
				return nil, fmt.Errorf("%w: %s", store.ErrNamespaceNotFound, ns.Name)
			}
			return nil, fmt.Errorf("%w: %s", store.ErrNamespaceExists, ns.Name)
		}
		return func() {
			c.mu.Lock()
			c.namespaces[ns.Name] = ns
			c.mu.Unlock()
		}, setJSON(b, metaKey(metaNamespace, []byte(ns.Name)), ns)
	})
}

// DropNamespace implements store.Admin.
func (s *Store) DropNamespace(ctx context.Context, name string) error {
	return s.change(ctx, func(b *pebbledb.Batch) (func(), error) {
		c := s.catalog
		if _, ok := c.namespaces[name]; !ok {
			return nil, fmt.Errorf("%w: %s", store.ErrNamespaceNotFound, name)
		}
		switch name {
		case cell.DefaultNamespace, cell.SystemNamespace, cell.InternalNamespace:
			return nil, &cell.ArgumentError{Text: "Reserved namespace " + name + " cannot be removed."}
		}
		for table := range c.tables {
			if ns, _ := cell.SplitTableName(table); ns == name {
				return nil, fmt.Errorf("%w: %s holds table %s", store.ErrNamespaceNotEmpty, name, table)
			}
		}
		return func() {
			c.mu.Lock()
			delete(c.namespaces, name)
			c.mu.Unlock()
		}, b.Delete(metaKey(metaNamespace, []byte(name)), nil)
	})
}

// Namespaces implements store.Admin.
func (s *Store) Namespaces(ctx context.Context) ([]store.Namespace, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.RUnlock()
	c := s.catalog
	c.mu.RLock()
	defer c.mu.RUnlock()
	var all []store.Namespace
	for _, ns := range c.namespaces {
		if ns.Name != cell.InternalNamespace {
			ns.Properties = maps.Clone(ns.Properties)
			all = append(all, ns)
		}
	}
	slices.SortFunc(all, func(a, b store.Namespace) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}
