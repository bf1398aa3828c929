package storetest

import (
	"context"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// What follows is the inner engine's, unless the weak one is down.

// CreateTable is the inner engine's.
func (w *WeakStore) CreateTable(ctx context.Context, schema cell.TableSchema, splits [][]byte) error {
	if err := w.up(); err != nil {
		return err
	}
	return w.inner.CreateTable(ctx, schema, splits)
}

// AlterTable is the inner engine's.
func (w *WeakStore) AlterTable(ctx context.Context, schema cell.TableSchema) error {
	if err := w.up(); err != nil {
		return err
	}
	return w.inner.AlterTable(ctx, schema)
}

// DropTable is the inner engine's.
func (w *WeakStore) DropTable(ctx context.Context, table string) error {
	if err := w.up(); err != nil {
		return err
	}
	return w.inner.DropTable(ctx, table)
}

// TruncateTable is the inner engine's.
func (w *WeakStore) TruncateTable(ctx context.Context, table string, keepSplits bool) error {
	if err := w.up(); err != nil {
		return err
	}
	return w.inner.TruncateTable(ctx, table, keepSplits)
}

// EnableTable is the inner engine's.
func (w *WeakStore) EnableTable(ctx context.Context, table string) error {
	if err := w.up(); err != nil {
		return err
	}
	return w.inner.EnableTable(ctx, table)
}

// DisableTable is the inner engine's.
func (w *WeakStore) DisableTable(ctx context.Context, table string) error {
	if err := w.up(); err != nil {
		return err
	}
	return w.inner.DisableTable(ctx, table)
}

// CreateNamespace is the inner engine's.
func (w *WeakStore) CreateNamespace(ctx context.Context, ns store.Namespace) error {
	if err := w.up(); err != nil {
		return err
	}
	return w.inner.CreateNamespace(ctx, ns)
}

// AlterNamespace is the inner engine's.
func (w *WeakStore) AlterNamespace(ctx context.Context, ns store.Namespace) error {
	if err := w.up(); err != nil {
		return err
	}
	return w.inner.AlterNamespace(ctx, ns)
}

// DropNamespace is the inner engine's.
func (w *WeakStore) DropNamespace(ctx context.Context, name string) error {
	if err := w.up(); err != nil {
		return err
	}
	return w.inner.DropNamespace(ctx, name)
}

// SplitRegion is the inner engine's.
func (w *WeakStore) SplitRegion(ctx context.Context, table string, region *store.Region, at []byte) error {
	if err := w.up(); err != nil {
		return err
	}
	return w.inner.SplitRegion(ctx, table, region, at)
}

// Compact is the inner engine's.
func (w *WeakStore) Compact(ctx context.Context, table string, r cell.Range, major bool) error {
	if err := w.up(); err != nil {
		return err
	}
	return w.inner.Compact(ctx, table, r, major)
}

// Flush is the inner engine's.
func (w *WeakStore) Flush(ctx context.Context, table string) error {
	if err := w.up(); err != nil {
		return err
	}
	return w.inner.Flush(ctx, table)
}

// Describe is the inner engine's.
func (w *WeakStore) Describe(ctx context.Context, table string) (store.TableInfo, error) {
	if err := w.up(); err != nil {
		return store.TableInfo{}, err
	}
	return w.inner.Describe(ctx, table)
}

// Tables is the inner engine's.
func (w *WeakStore) Tables(ctx context.Context) ([]store.TableInfo, error) {
	if err := w.up(); err != nil {
		return nil, err
	}
	return w.inner.Tables(ctx)
}

// Namespaces is the inner engine's.
func (w *WeakStore) Namespaces(ctx context.Context) ([]store.Namespace, error) {
	if err := w.up(); err != nil {
		return nil, err
	}
	return w.inner.Namespaces(ctx)
}

// Regions is the inner engine's.
func (w *WeakStore) Regions(ctx context.Context, table string) ([]store.Region, error) {
	if err := w.up(); err != nil {
		return nil, err
	}
	return w.inner.Regions(ctx, table)
}

// Partitions is the inner engine's.
func (w *WeakStore) Partitions(ctx context.Context, table string, r cell.Range, n int) ([]cell.Range, error) {
	if err := w.up(); err != nil {
		return nil, err
	}
	return w.inner.Partitions(ctx, table, r, n)
}
