package tabimport

import (
	"context"
	"errors"
	"fmt"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// StoreTarget writes to a store that this process has open.
type StoreTarget struct {
	// Store is the caller's, who closes it.
	Store store.Store
	// Label tells it from other stores, as the path of its folder.
	Label string
}

// Name is the label.
func (t *StoreTarget) Name() string { return t.Label }

// CarriesTTL is true.
func (t *StoreTarget) CarriesTTL() bool { return true }

// Prepare looks for the table and its families, or makes it.
func (t *StoreTarget) Prepare(ctx context.Context, table string, families []string, create bool) error {
	info, err := t.Store.Describe(ctx, table)
	if create && errors.Is(err, store.ErrTableNotFound) {
		schema := cell.TableSchema{Name: table}
		for _, f := range families {
			schema.Families = append(schema.Families, cell.NewFamily(f))
		}
		if err := t.Store.CreateTable(ctx, schema, nil); err != nil {
			return fmt.Errorf("create table %s: %w", table, err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("find table %s: %w", table, err)
	}
	for _, f := range families {
		if info.Schema.Family([]byte(f)) == nil {
			return &store.FamilyError{Table: table, Family: []byte(f)}
		}
	}
	return nil
}

// Lane writes with Apply.
func (t *StoreTarget) Lane(table string) Lane { return &storeLane{t.Store, table} }

type storeLane struct {
	store.Writer
	table string
}

func (l *storeLane) Write(ctx context.Context, rows []cell.Mutation) error {
	_, err := l.Apply(ctx, l.table, rows)
	return err
}

func (l *storeLane) Close() error { return nil }
