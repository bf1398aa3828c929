package shell

import (
	"context"

	"github.com/cellardb/cellar/cell"
)

// Cell is one version of a column.
type Cell struct {
	Column    []byte // family:qualifier
	Timestamp int64  // ms
	Value     []byte
}

// Row is a row, or a part of one, that a scanner gave. Its cells are in the
// order of their columns.
type Row struct {
	Key   []byte
	Cells []Cell
}

// Timestamp is a timestamp in ms that may be left out.
type Timestamp struct {
	Set bool
	MS  int64
}

// ScanSpec is a scan as Thrift 1 can ask for it. The zero value is the newest
// version of every column of the table.
type ScanSpec struct {
	Start, Stop []byte   // inclusive, exclusive; empty: open
	Columns     [][]byte // family or family:qualifier; nil: all
	Before      Timestamp
	Filter      string // in the filter language; empty: none
	Reversed    bool
	Caching     int // rows that the gateway fetches at a time; 0: its default
	Batch       int // cells of a result at most; 0: rows come whole
	NoCache     bool
}

// Scanner gives the rows of a scan in batches.
type Scanner interface {
	// Next gives up to n rows; none at the end.
	Next(ctx context.Context, n int) ([]Row, error)
	Close(ctx context.Context) error
}

// Gateway is what the commands ask of a Thrift 1 gateway, Apache's or Cellar's.
// Columns are written family:qualifier; without a colon they are a family.
// "Before" is an exclusive bound on timestamps. Calls end when their context
// does.
type Gateway interface {
	// Addr is where it is, for messages.
	Addr() string

	TableNames(ctx context.Context) ([]string, error)
	// Families describes a table as far as Thrift 1 can.
	Families(ctx context.Context, table string) ([]cell.FamilySchema, error)
	CreateTable(ctx context.Context, table string, families []cell.FamilySchema) error
	DeleteTable(ctx context.Context, table string) error
	EnableTable(ctx context.Context, table string) error
	DisableTable(ctx context.Context, table string) error
	IsEnabled(ctx context.Context, table string) (bool, error)
	// RegionStarts lists the keys at which regions begin, the first, empty,
	// included.
	RegionStarts(ctx context.Context, table string) ([][]byte, error)

	// Row reads the newest version of a row's columns; nil columns: all.
	Row(ctx context.Context, table string, row []byte, columns [][]byte, before Timestamp) ([]Cell, error)
	// Versions reads the newest n versions of one column, newest first. The
	// cells name no column.
	Versions(ctx context.Context, table string, row, column []byte, before Timestamp, n int) ([]Cell, error)
	Scan(ctx context.Context, table string, s ScanSpec) (Scanner, error)

	Put(ctx context.Context, table string, row, column, value []byte, at Timestamp) error
	// Delete removes all versions of a column, a family, or (nil column) a row,
	// up to a timestamp, which is included.
	Delete(ctx context.Context, table string, row, column []byte, upTo Timestamp) error
	Increment(ctx context.Context, table string, row, column []byte, amount int64) (int64, error)
	// Append gives the new value.
	Append(ctx context.Context, table string, row, column, value []byte) ([]byte, error)
}

// TableInfo is a table as its server knows it.
type TableInfo struct {
	Schema  cell.TableSchema
	Enabled bool
	Splits  [][]byte
}

// FamilyChange adds a family, or changes what Set names, by HBase's names.
type FamilyChange struct {
	Name string
	Set  []Setting
}

// Setting is an attribute and its value as text.
type Setting struct{ Name, Value string }

// Alteration is a change of a table's schema.
type Alteration struct {
	Families []FamilyChange
	Drop     []string // families
	Set      []Setting
	Unset    []string
}

// Admin is what Cellar's HTTP port can and Thrift 1 cannot.
type Admin interface {
	// Addr is where it is, for messages.
	Addr() string

	Describe(ctx context.Context, table string) (*TableInfo, error)
	Create(ctx context.Context, table string, families []FamilyChange, settings []Setting, splits [][]byte) error
	Alter(ctx context.Context, table string, a Alteration) error
	Truncate(ctx context.Context, table string, keepSplits bool) error
	// Status describes the server in a few lines.
	Status(ctx context.Context) (string, error)
	// Version of the server.
	Version(ctx context.Context) (string, error)
}
