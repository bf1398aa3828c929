package remote

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/cellardb/cellar/internal/shell"
	"github.com/cellardb/cellar/internal/wire/thrift"
)

// Row reads the newest version of a row's columns.
func (g *Gateway) Row(ctx context.Context, table string, row []byte, columns [][]byte, before shell.Timestamp) ([]shell.Cell, error) {
	var got []shell.Row
	method := "getRowWithColumns"
	if before.Set {
		method += "Ts"
	}
	err := g.conn.call(ctx, method, func(w *thrift.Writer) {
		text(w, 1, table)
		binary(w, 2, row)
		binaries(w, 3, columns)
		if before.Set {
			i64(w, 4, before.MS)
		}
	}, readRows(&got))
	if err != nil || len(got) == 0 {
		return nil, err
	}
	return got[0].Cells, nil
}

// Versions reads the newest n versions of a column.
func (g *Gateway) Versions(ctx context.Context, table string, row, column []byte, before shell.Timestamp, n int) ([]shell.Cell, error) {
	var cells []shell.Cell
	method := "getVer"
	if before.Set {
		method = "getVerTs"
	}
	err := g.conn.call(ctx, method, func(w *thrift.Writer) {
		text(w, 1, table)
		binary(w, 2, row)
		binary(w, 3, column)
		if before.Set {
			i64(w, 4, before.MS)
			i32(w, 5, n)
		} else {
			i32(w, 4, n)
		}
	}, eachStruct(func(r *thrift.Reader) { cells = append(cells, readCell(r)) }))
	return cells, err
}

// readCell reads TCell.
func readCell(r *thrift.Reader) shell.Cell {
	var c shell.Cell
	r.StructBegin()
	for t, id := r.Field(); t != thrift.Stop; t, id = r.Field() {
		switch {
		case id == 1 && t == thrift.String:
			c.Value = bytes.Clone(r.Binary())
		case id == 2 && t == thrift.I64:
			c.Timestamp = r.I64()
		default:
			r.Skip(t)
		}
	}
	return c
}

// readRows reads list<TRowResult>, each row's cells sorted by column.
func readRows(into *[]shell.Row) func(*thrift.Reader, thrift.Type) bool {
	return eachStruct(func(r *thrift.Reader) {
		var row shell.Row
		r.StructBegin()
		for t, id := r.Field(); t != thrift.Stop; t, id = r.Field() {
			switch {
			case id == 1 && t == thrift.String:
				row.Key = bytes.Clone(r.Binary())
			case id == 2 && t == thrift.Map:
				readColumns(r, &row)
			default:
				r.Skip(t)
			}
		}
		slices.SortFunc(row.Cells, func(a, b shell.Cell) int { return compareColumns(a.Column, b.Column) })
		*into = append(*into, row)
	})
}

func readColumns(r *thrift.Reader, row *shell.Row) {
	key, value, n := r.Map()
	for ; n > 0 && r.Err() == nil; n-- {
		if key != thrift.String || value != thrift.Struct {
			r.Skip(key)
			r.Skip(value)
			continue
		}
		name := bytes.Clone(r.Binary())
		c := readCell(r)
		c.Column = name
		row.Cells = append(row.Cells, c)
	}
}

// compareColumns orders as HBase stores: by family, then by qualifier.
func compareColumns(a, b []byte) int {
	fa, qa, _ := bytes.Cut(a, []byte(":"))
	fb, qb, _ := bytes.Cut(b, []byte(":"))
	if c := bytes.Compare(fa, fb); c != 0 {
		return c
	}
	return bytes.Compare(qa, qb)
}

// Put writes one value.
func (g *Gateway) Put(ctx context.Context, table string, row, column, value []byte, at shell.Timestamp) error {
	return g.mutate(ctx, table, row, at, func(w *thrift.Writer) {
		binary(w, 2, column)
		binary(w, 3, value)
	})
}

// mutate sends one mutation of a row.
func (g *Gateway) mutate(ctx context.Context, table string, row []byte, at shell.Timestamp, mutation func(*thrift.Writer)) error {
	method := "mutateRow"
	if at.Set {
		method = "mutateRowTs"
	}
	return g.conn.call(ctx, method, func(w *thrift.Writer) {
		text(w, 1, table)
		binary(w, 2, row)
		w.Field(thrift.List, 3)
		w.List(thrift.Struct, 1)
		w.StructBegin()
		mutation(w)
		w.StructEnd()
		if at.Set {
			i64(w, 4, at.MS)
		}
	}, nil)
}

// Delete removes a column, a family or a row up to a timestamp.
func (g *Gateway) Delete(ctx context.Context, table string, row, column []byte, upTo shell.Timestamp) error {
	method, at := "deleteAll", int16(4)
	if column == nil {
		method, at = "deleteAllRow", 3
	}
	if upTo.Set {
		method += "Ts"
	}
	return g.conn.call(ctx, method, func(w *thrift.Writer) {
		text(w, 1, table)
		binary(w, 2, row)
		if column != nil {
			binary(w, 3, column)
		}
		if upTo.Set {
			i64(w, at, upTo.MS)
		}
	}, nil)
}

// Increment adds to a counter.
func (g *Gateway) Increment(ctx context.Context, table string, row, column []byte, amount int64) (int64, error) {
	var n int64
	err := g.conn.call(ctx, "atomicIncrement", func(w *thrift.Writer) {
		text(w, 1, table)
		binary(w, 2, row)
		binary(w, 3, column)
		i64(w, 4, amount)
	}, func(r *thrift.Reader, t thrift.Type) bool {
		if t != thrift.I64 {
			return false
		}
		n = r.I64()
		return true
	})
	return n, err
}

// Append adds to the end of a value.
func (g *Gateway) Append(ctx context.Context, table string, row, column, value []byte) ([]byte, error) {
	var cells []shell.Cell
	err := g.conn.call(ctx, "append", func(w *thrift.Writer) {
		w.Field(thrift.Struct, 1)
		w.StructBegin()
		text(w, 1, table)
		binary(w, 2, row)
		binaries(w, 3, [][]byte{column})
		binaries(w, 4, [][]byte{value})
		w.StructEnd()
	}, eachStruct(func(r *thrift.Reader) { cells = append(cells, readCell(r)) }))
	if err == nil && len(cells) == 0 {
		err = errors.New("the gateway answered an append without the value")
	}
	if err != nil {
		return nil, err
	}
	return cells[0].Value, nil
}

// scanner is a scanner of the gateway's.
type scanner struct {
	g  *Gateway
	id int
	// most is how many rows are asked for at a time; 0: as many as are wanted.
	most int
}

// Scan opens a scanner.
func (g *Gateway) Scan(ctx context.Context, table string, s shell.ScanSpec) (shell.Scanner, error) {
	id := 0
	err := g.conn.call(ctx, "scannerOpenWithScan", func(w *thrift.Writer) {
		text(w, 1, table)
		w.Field(thrift.Struct, 2)
		w.StructBegin()
		writeScan(w, &s)
		w.StructEnd()
	}, func(r *thrift.Reader, t thrift.Type) bool {
		if t != thrift.I32 {
			return false
		}
		id = int(r.I32())
		return true
	})
	if err != nil {
		return nil, err
	}
	return &scanner{g: g, id: id}, nil
}

func writeScan(w *thrift.Writer, s *shell.ScanSpec) {
	if len(s.Start) > 0 {
		binary(w, 1, s.Start)
	}
	if len(s.Stop) > 0 {
		binary(w, 2, s.Stop)
	}
	if s.Before.Set {
		i64(w, 3, s.Before.MS)
	}
	if s.Columns != nil {
		binaries(w, 4, s.Columns)
	}
	if s.Caching > 0 {
		i32(w, 5, s.Caching)
	}
	if s.Filter != "" {
		text(w, 6, s.Filter)
	}
	if s.Batch > 0 {
		i32(w, 7, s.Batch)
	}
	if s.Reversed {
		w.BoolField(9, true)
	}
	if s.NoCache {
		w.BoolField(10, false)
	}
}

// Next gives up to n rows. Where Cellar says that so many are more than a reply
// holds, or take longer than a reply may, fewer are asked for, from then on;
// where it has found none so far, it is asked to go on.
func (s *scanner) Next(ctx context.Context, n int) ([]shell.Row, error) {
	if s.most > 0 {
		n = min(n, s.most)
	}
	for {
		rows, err := s.fetch(ctx, n)
		var r *Refusal
		switch {
		case !errors.As(err, &r):
			return rows, err
		case n > 1 && (strings.Contains(r.Text, "ask for less at a time") || strings.Contains(r.Text, "more than all memory in flight")):
			n = max(1, n/4)
			s.most = n
		case !strings.Contains(r.Text, "goes on from there"):
			return nil, err
		}
	}
}

func (s *scanner) fetch(ctx context.Context, n int) ([]shell.Row, error) {
	var rows []shell.Row
	err := s.g.conn.call(ctx, "scannerGetList", func(w *thrift.Writer) {
		i32(w, 1, s.id)
		i32(w, 2, n)
	}, readRows(&rows))
	return rows, err
}

// closeTimeout bounds how long the end of a scan waits for the gateway.
const closeTimeout = 10 * time.Second

// Close frees the scanner, over another connection if a call was cut off: ids
// are the gateway's, not a connection's. One that is gone already is no error.
func (s *scanner) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	err := s.g.conn.call(ctx, "scannerClose", func(w *thrift.Writer) { i32(w, 1, s.id) }, nil)
	var gone *Refusal
	if errors.As(err, &gone) && gone.Exception == "IllegalArgument" {
		return nil
	}
	return err
}
