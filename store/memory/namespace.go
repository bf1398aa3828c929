package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// CreateNamespace makes an empty namespace.
func (s *Store) CreateNamespace(ctx context.Context, ns store.Namespace) error {
	if err := cell.ValidateNamespaceName(ns.Name); err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if _, ok := s.mu.namespaces[ns.Name]; ok {
		return fmt.Errorf("create namespace %q: %w", ns.Name, store.ErrNamespaceExists)
	}
	s.mu.namespaces[ns.Name] = cloneNamespace(ns)
	return nil
}

// AlterNamespace replaces the properties of a namespace.
func (s *Store) AlterNamespace(ctx context.Context, ns store.Namespace) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if _, ok := s.mu.namespaces[ns.Name]; !ok {
		return fmt.Errorf("alter namespace %q: %w", ns.Name, store.ErrNamespaceNotFound)
	}
	s.mu.namespaces[ns.Name] = cloneNamespace(ns)
	return nil
}

// DropNamespace removes an empty namespace that is none of the three that a
// store begins with.
func (s *Store) DropNamespace(ctx context.Context, name string) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	switch name {
	case cell.DefaultNamespace, cell.SystemNamespace, cell.InternalNamespace:
		return &cell.ArgumentError{Text: fmt.Sprintf("Reserved namespace %s cannot be removed.", name)}
	}
	if _, ok := s.mu.namespaces[name]; !ok {
		return fmt.Errorf("drop namespace %q: %w", name, store.ErrNamespaceNotFound)
	}
	for table := range s.mu.tables {
		if ns, _ := cell.SplitTableName(table); ns == name {
			return fmt.Errorf("drop namespace %q: it has table %q: %w", name, table, store.ErrNamespaceNotEmpty)
		}
	}
	delete(s.mu.namespaces, name)
	return nil
}

// Namespaces lists all but Cellar's own.
func (s *Store) Namespaces(ctx context.Context) ([]store.Namespace, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var list []store.Namespace
	for name, ns := range s.mu.namespaces {
		if name != cell.InternalNamespace {
			list = append(list, cloneNamespace(ns))
		}
	}
	slices.SortFunc(list, func(a, b store.Namespace) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}
