package remote

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/internal/shell"
	"github.com/cellardb/cellar/internal/wire/thrift"
)

// Gateway is a Thrift 1 gateway.
type Gateway struct{ conn conn }

var _ shell.Gateway = (*Gateway)(nil)

// NewGateway is a gateway at host:port. The first call connects.
func NewGateway(addr string, o Options) *Gateway { return &Gateway{conn{addr: addr, opts: o}} }

// Addr is where the gateway is.
func (g *Gateway) Addr() string { return g.conn.addr }

// Close ends the connection, if there is one.
func (g *Gateway) Close() error { return g.conn.close() }

func text(w *thrift.Writer, id int16, s string) {
	w.Field(thrift.String, id)
	w.String(s)
}

func binary(w *thrift.Writer, id int16, b []byte) {
	w.Field(thrift.String, id)
	w.Binary(b)
}

func i32(w *thrift.Writer, id int16, n int) {
	w.Field(thrift.I32, id)
	w.I32(int32(n))
}

func i64(w *thrift.Writer, id int16, n int64) {
	w.Field(thrift.I64, id)
	w.I64(n)
}

func binaries(w *thrift.Writer, id int16, list [][]byte) {
	w.Field(thrift.List, id)
	w.List(thrift.String, len(list))
	for _, b := range list {
		w.Binary(b)
	}
}

// TableNames lists the tables of users.
func (g *Gateway) TableNames(ctx context.Context) ([]string, error) {
	var names []string
	err := g.conn.call(ctx, "getTableNames", nil, func(r *thrift.Reader, t thrift.Type) bool {
		if t != thrift.List {
			return false
		}
		elem, n := r.List()
		for ; n > 0 && r.Err() == nil; n-- {
			if elem != thrift.String {
				return false
			}
			names = append(names, string(r.Binary()))
		}
		return true
	})
	return names, err
}

// Families describes a table as far as Thrift 1 can, sorted by name.
func (g *Gateway) Families(ctx context.Context, table string) ([]cell.FamilySchema, error) {
	var list []cell.FamilySchema
	err := g.conn.call(ctx, "getColumnDescriptors", onTable(table), func(r *thrift.Reader, t thrift.Type) bool {
		if t != thrift.Map {
			return false
		}
		key, value, n := r.Map()
		for ; n > 0 && r.Err() == nil; n-- {
			if key != thrift.String || value != thrift.Struct {
				return false
			}
			_ = r.Binary() // the name is in the value too
			list = append(list, readDescriptor(r))
		}
		return true
	})
	slices.SortFunc(list, func(a, b cell.FamilySchema) int { return strings.Compare(a.Name, b.Name) })
	return list, err
}

func readDescriptor(r *thrift.Reader) cell.FamilySchema {
	f := cell.NewFamily("")
	f.BlockCache = false // as a field that is left out
	r.StructBegin()
	for t, id := r.Field(); t != thrift.Stop; t, id = r.Field() {
		switch {
		case id == 1 && t == thrift.String:
			f.Name = strings.TrimSuffix(string(r.Binary()), ":")
		case id == 2 && t == thrift.I32:
			f.MaxVersions = int(r.I32())
		case id == 3 && t == thrift.String:
			f.Compression = string(r.Binary())
		case id == 4 && t == thrift.Bool:
			f.InMemory = r.Bool()
		case id == 5 && t == thrift.String:
			f.BloomFilter = string(r.Binary())
		case id == 8 && t == thrift.Bool:
			f.BlockCache = r.Bool()
		case id == 9 && t == thrift.I32:
			if n := r.I32(); n > 0 {
				f.TTL = int(n)
			}
		default:
			r.Skip(t)
		}
	}
	return f
}

// CreateTable makes a table.
func (g *Gateway) CreateTable(ctx context.Context, table string, families []cell.FamilySchema) error {
	return g.conn.call(ctx, "createTable", func(w *thrift.Writer) {
		text(w, 1, table)
		w.Field(thrift.List, 2)
		w.List(thrift.Struct, len(families))
		for i := range families {
			f := &families[i]
			w.StructBegin()
			text(w, 1, f.Name+":")
			i32(w, 2, f.MaxVersions)
			text(w, 3, f.Compression)
			w.BoolField(4, f.InMemory)
			text(w, 5, f.BloomFilter)
			w.BoolField(8, f.BlockCache)
			i32(w, 9, f.TTL)
			w.StructEnd()
		}
	}, nil)
}

func onTable(table string) func(*thrift.Writer) {
	return func(w *thrift.Writer) { text(w, 1, table) }
}

// DeleteTable removes a disabled table.
func (g *Gateway) DeleteTable(ctx context.Context, table string) error {
	return g.conn.call(ctx, "deleteTable", onTable(table), nil)
}

// EnableTable enables a disabled table.
func (g *Gateway) EnableTable(ctx context.Context, table string) error {
	return g.conn.call(ctx, "enableTable", onTable(table), nil)
}

// DisableTable disables an enabled table.
func (g *Gateway) DisableTable(ctx context.Context, table string) error {
	return g.conn.call(ctx, "disableTable", onTable(table), nil)
}

// IsEnabled says whether the table is enabled.
func (g *Gateway) IsEnabled(ctx context.Context, table string) (bool, error) {
	on := false
	err := g.conn.call(ctx, "isTableEnabled", onTable(table), func(r *thrift.Reader, t thrift.Type) bool {
		if t != thrift.Bool {
			return false
		}
		on = r.Bool()
		return true
	})
	return on, err
}

// RegionStarts lists the keys at which regions begin, sorted; none: there is no
// such table.
func (g *Gateway) RegionStarts(ctx context.Context, table string) ([][]byte, error) {
	var starts [][]byte
	err := g.conn.call(ctx, "getTableRegions", onTable(table), eachStruct(func(r *thrift.Reader) {
		start := []byte{}
		r.StructBegin()
		for t, id := r.Field(); t != thrift.Stop; t, id = r.Field() {
			if id == 1 && t == thrift.String {
				start = bytes.Clone(r.Binary())
			} else {
				r.Skip(t)
			}
		}
		starts = append(starts, start)
	}))
	slices.SortFunc(starts, bytes.Compare)
	return starts, err
}

// eachStruct reads a list of structs.
func eachStruct(read func(r *thrift.Reader)) func(*thrift.Reader, thrift.Type) bool {
	return func(r *thrift.Reader, t thrift.Type) bool {
		if t != thrift.List {
			return false
		}
		elem, n := r.List()
		for ; n > 0 && r.Err() == nil; n-- {
			if elem != thrift.Struct {
				return false
			}
			read(r)
		}
		return true
	}
}
