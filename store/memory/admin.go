package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// CreateTable makes an enabled table.
func (s *Store) CreateTable(ctx context.Context, schema cell.TableSchema, splits [][]byte) error {
	schema = ownSchema(schema)
	if err := schema.Validate(); err != nil {
		return err
	}
	splits, err := cell.ValidateSplits(splits)
	if err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	ns, _ := cell.SplitTableName(schema.Name)
	if _, ok := s.mu.namespaces[ns]; !ok {
		return fmt.Errorf("create table %q: namespace %q: %w", schema.Name, ns, store.ErrNamespaceNotFound)
	}
	if s.mu.tables[schema.Name] != nil {
		return fmt.Errorf("create table %q: %w", schema.Name, store.ErrTableExists)
	}
	info := store.TableInfo{Schema: schema, Enabled: true, Created: s.nowLocked()}
	s.mu.tables[schema.Name] = newTable(info, splits, s.regionIDLocked())
	return nil
}

// ownSchema copies a caller's schema and puts it in the form that is kept.
func ownSchema(schema cell.TableSchema) cell.TableSchema {
	schema = schema.Clone()
	schema.Name = cell.CanonicalTableName(schema.Name)
	schema.Sort()
	return schema
}

// AlterTable replaces a schema. Cells of families that it lacks are gone for
// good, also if such a family is added again.
func (s *Store) AlterTable(ctx context.Context, schema cell.TableSchema) error {
	schema = ownSchema(schema)
	if err := schema.Validate(); err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	t, err := s.tableLocked(schema.Name)
	if err != nil {
		return err
	}
	t.info.Schema = schema
	t.rewrite(cell.Range{}, func(cells []cell.Cell) []cell.Cell {
		return slices.DeleteFunc(slices.Clone(cells), func(c cell.Cell) bool { return schema.Family(c.Family) == nil })
	})
	return nil
}

// rewrite replaces the cells of the rows of a range by what f makes of them.
func (t *table) rewrite(r cell.Range, f func([]cell.Cell) []cell.Cell) {
	for _, row := range t.within(r) {
		t.set(row.key, f(row.cells))
	}
}

// DropTable removes a disabled table.
func (s *Store) DropTable(ctx context.Context, table string) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	t, err := s.disabledLocked(table)
	if err != nil {
		return err
	}
	t.gone = true
	delete(s.mu.tables, t.info.Schema.Name)
	return nil
}

// TruncateTable puts an empty, enabled table in the place of a disabled one.
func (s *Store) TruncateTable(ctx context.Context, table string, keepSplits bool) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	t, err := s.disabledLocked(table)
	if err != nil {
		return err
	}
	var splits [][]byte
	if keepSplits {
		for _, region := range t.regions[1:] {
			splits = append(splits, region.Start)
		}
	}
	info := cloneInfo(t.info)
	info.Enabled = true
	t.gone = true
	s.mu.tables[info.Schema.Name] = newTable(info, splits, s.regionIDLocked())
	return nil
}

// disabledLocked finds a table that must be disabled.
func (s *Store) disabledLocked(name string) (*table, error) {
	t, err := s.tableLocked(name)
	if err != nil {
		return nil, err
	}
	if t.info.Enabled {
		return nil, fmt.Errorf("table %q: %w", name, store.ErrTableNotDisabled)
	}
	return t, nil
}

// EnableTable enables a disabled table.
func (s *Store) EnableTable(ctx context.Context, table string) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	t, err := s.disabledLocked(table)
	if err != nil {
		return err
	}
	t.info.Enabled = true
	return nil
}

// DisableTable disables an enabled table.
func (s *Store) DisableTable(ctx context.Context, table string) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	t, err := s.readableLocked(table)
	if err != nil {
		return err
	}
	t.info.Enabled = false
	return nil
}

// Describe gives one table.
func (s *Store) Describe(ctx context.Context, table string) (store.TableInfo, error) {
	if err := s.begin(ctx); err != nil {
		return store.TableInfo{}, err
	}
	defer s.mu.Unlock()
	t, err := s.tableLocked(table)
	if err != nil {
		return store.TableInfo{}, err
	}
	return cloneInfo(t.info), nil
}

// Tables lists the users' tables.
func (s *Store) Tables(ctx context.Context) ([]store.TableInfo, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var infos []store.TableInfo
	for name, t := range s.mu.tables {
		if !cell.IsInternal(name) {
			infos = append(infos, cloneInfo(t.info))
		}
	}
	slices.SortFunc(infos, func(a, b store.TableInfo) int { return strings.Compare(a.Schema.Name, b.Schema.Name) })
	return infos, nil
}

// Flush has nothing to do.
func (s *Store) Flush(ctx context.Context, table string) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	_, err := s.readableLocked(table)
	return err
}
