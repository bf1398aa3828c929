package shell

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/internal/attribute"
)

// Run writes the value.
func (c Put) Run(ctx context.Context, s *Session) error {
	return s.Gateway.Put(ctx, c.Table, c.Row, c.Column, c.Value, c.At)
}

// Run adds to the counter.
func (c Incr) Run(ctx context.Context, s *Session) error {
	n, err := s.Gateway.Increment(ctx, c.Table, c.Row, c.Column, c.Amount)
	if err == nil {
		s.printf("COUNTER VALUE = %d\n", n)
	}
	return err
}

// Run reads the counter.
func (c GetCounter) Run(ctx context.Context, s *Session) error {
	cells, err := s.Gateway.Row(ctx, c.Table, c.Row, [][]byte{c.Column}, Timestamp{})
	if err != nil {
		return err
	}
	switch {
	case len(cells) == 0:
		s.printf("No counter found at specified coordinates\n")
	case len(cells[0].Value) != 8:
		return fmt.Errorf("%s of row %s is no counter: it has %d bytes, not 8", c.Column, c.Row, len(cells[0].Value))
	default:
		s.printf("COUNTER VALUE = %d\n", int64(binary.BigEndian.Uint64(cells[0].Value)))
	}
	return nil
}

// Run adds to the value's end.
func (c Append) Run(ctx context.Context, s *Session) error {
	v, err := s.Gateway.Append(ctx, c.Table, c.Row, c.Column, c.Value)
	if err == nil {
		s.printf("CURRENT VALUE = %s\n", attribute.Escape(v))
	}
	return err
}

// Run removes one version. Thrift 1 can only remove a version together with all
// older ones: so it looks first, and refuses where older ones would go too.
func (c Delete) Run(ctx context.Context, s *Session) error {
	before := Timestamp{}
	if c.At.Set && c.At.MS < math.MaxInt64 {
		before = Timestamp{true, c.At.MS + 1}
	}
	cells, err := s.Gateway.Versions(ctx, c.Table, c.Row, c.Column, before, 2)
	if err != nil || len(cells) == 0 {
		return err
	}
	newest := cells[0].Timestamp
	if c.At.Set && c.At.MS < math.MaxInt64 && newest != c.At.MS {
		return nil // there is no such version
	}
	if len(cells) > 1 {
		return fmt.Errorf("%s of row %s has versions older than %d, and Thrift 1 can delete that one only together with them: deleteall deletes all of them",
			c.Column, c.Row, newest)
	}
	return s.Gateway.Delete(ctx, c.Table, c.Row, c.Column, Timestamp{true, newest})
}

// Run removes a row or a part of it, or rows.
func (c DeleteAll) Run(ctx context.Context, s *Session) error {
	if !c.ByPrefix {
		return s.Gateway.Delete(ctx, c.Table, c.Row, c.Column, c.UpTo)
	}
	rows := Rows{ByPrefix: true, Prefix: c.Prefix}
	n := 0
	err := s.eachRow(ctx, c.Table, rows.spec(nil, "FirstKeyOnlyFilter() AND KeyOnlyFilter()"), &rows, func(r *Row) error {
		n++
		return s.Gateway.Delete(ctx, c.Table, r.Key, nil, Timestamp{})
	})
	if err != nil {
		return fmt.Errorf("after %d deleted rows: %w", max(n-1, 0), err)
	}
	s.printf("%d row(s)\n", n)
	return nil
}

// Run prints the row's cells.
func (c Get) Run(ctx context.Context, s *Session) error {
	cells, err := c.cells(ctx, s)
	if err != nil {
		return err
	}
	s.header("COLUMN", "CELL")
	for i := range cells {
		s.row(attribute.Escape(cells[i].Column), c.cellText(&cells[i]))
	}
	rows := 1
	if len(cells) == 0 {
		rows = 0
	}
	s.printf("%d row(s)\n", rows)
	return nil
}

func (c *Get) cells(ctx context.Context, s *Session) ([]Cell, error) {
	if c.Filter != "" {
		return c.filtered(ctx, s)
	}
	newest, err := s.Gateway.Row(ctx, c.Table, c.Row, names(c.Columns), c.before())
	if err != nil {
		return nil, err
	}
	return c.versions(ctx, s, c.Table, c.Row, newest)
}

// filtered reads the row by a scan, since a get has no filter in Thrift 1.
func (c *Get) filtered(ctx context.Context, s *Session) ([]Cell, error) {
	scan := Scan{Table: c.Table, Read: c.Read}
	if err := (&args{name: "get"}).possible(&scan, Pos{}); err != nil {
		return nil, err
	}
	spec := ScanSpec{Start: c.Row, Stop: append(bytes.Clone(c.Row), 0), Columns: names(c.Columns), Before: c.before(), Filter: c.Filter}
	var cells []Cell
	err := s.eachRow(ctx, c.Table, spec, &Rows{Limit: 1}, func(r *Row) error {
		cells = c.inRange(r.Cells)
		return nil
	})
	return cells, err
}

// before is the upper bound of timestamps, the only one that Thrift 1 has.
func (r *Read) before() Timestamp {
	return Timestamp{Set: r.Max != math.MaxInt64, MS: r.Max}
}

// inRange leaves out cells below the lower bound of timestamps. The newest cell
// below the upper bound was asked for: if it is below the lower one, the column
// has none between them.
func (r *Read) inRange(cells []Cell) []Cell {
	return slices.DeleteFunc(cells, func(c Cell) bool { return c.Timestamp < r.Min })
}

// versions gives, for the newest cells of a row, as many versions as the read
// wants.
func (r *Read) versions(ctx context.Context, s *Session, table string, row []byte, newest []Cell) ([]Cell, error) {
	newest = r.inRange(newest)
	if r.Versions <= 1 {
		return newest, nil
	}
	var all []Cell
	for i := range newest {
		column := newest[i].Column
		cells, err := s.Gateway.Versions(ctx, table, row, column, r.before(), r.Versions)
		if err != nil {
			return nil, err
		}
		for _, c := range r.inRange(cells) {
			c.Column = column
			all = append(all, c)
		}
	}
	return all, nil
}

// Run prints the rows' cells.
func (c Scan) Run(ctx context.Context, s *Session) error {
	s.header("ROW", "COLUMN+CELL")
	spec := c.spec(names(c.Columns), c.Filter)
	spec.Before, spec.Batch, spec.NoCache = c.before(), c.Batch, c.NoCache
	count := int64(0)
	var last []byte
	err := s.eachRow(ctx, c.Table, spec, &c.Rows, func(r *Row) error {
		cells, err := c.versions(ctx, s, c.Table, r.Key, r.Cells)
		if err != nil || len(cells) == 0 {
			return orSkipped(err)
		}
		// With BATCH a row comes in parts.
		if count == 0 || !bytes.Equal(last, r.Key) {
			count++
			last = append(last[:0], r.Key...)
		}
		for i := range cells {
			s.row(attribute.Escape(r.Key), "column="+attribute.Escape(cells[i].Column)+", "+c.cellText(&cells[i]))
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.printf("%d row(s)\n", count)
	return nil
}

// Run counts, and prints how far it is.
func (c Count) Run(ctx context.Context, s *Session) error {
	filter := c.Filter
	if filter == "" {
		filter = "FirstKeyOnlyFilter() AND KeyOnlyFilter()"
	}
	n := int64(0)
	err := s.eachRow(ctx, c.Table, c.spec(names(c.Columns), filter), &c.Rows, func(r *Row) error {
		n++
		if n%int64(c.Interval) == 0 {
			s.printf("Current count: %d, row: %s\n", n, attribute.Escape(r.Key))
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.printf("%d row(s)\n", n)
	return nil
}

// errSkipped says of a row that it does not count towards the limit.
var errSkipped = fmt.Errorf("row without cells in the range")

func orSkipped(err error) error {
	if err == nil {
		return errSkipped
	}
	return err
}

// Rows that are fetched at a time, unless CACHE says otherwise.
const defaultCaching = 1000

// spec is the scan of the rows. A reversed scan by prefix has no lower bound
// here: Thrift 1 would leave the row out that is the prefix itself.
func (r *Rows) spec(columns [][]byte, filter string) ScanSpec {
	s := ScanSpec{Start: r.Start, Stop: r.Stop, Columns: columns, Filter: filter, Reversed: r.Reversed, Caching: r.caching()}
	if r.ByPrefix {
		lower, upper := []byte(r.Prefix), cell.AfterPrefix(r.Prefix)
		switch {
		case !r.Reversed:
			s.Start = later(s.Start, lower)
			s.Stop = earlierEnd(s.Stop, upper)
		case len(s.Start) == 0 || upper != nil && bytes.Compare(upper, s.Start) < 0:
			s.Start = upper
		}
	}
	return s
}

func (r *Rows) caching() int {
	n := cmp.Or(r.Caching, defaultCaching)
	if r.Limit > 0 && r.Limit < int64(n) {
		n = int(r.Limit)
	}
	return n
}

func later(a, b []byte) []byte {
	if bytes.Compare(a, b) > 0 {
		return a
	}
	return b
}

// earlierEnd is the lower of two ends; an empty one is open.
func earlierEnd(a, b []byte) []byte {
	if len(a) == 0 || len(b) > 0 && bytes.Compare(b, a) < 0 {
		return b
	}
	return a
}

// eachRow shows rows to visit up to the limit, and closes the scanner.
func (s *Session) eachRow(ctx context.Context, table string, spec ScanSpec, rows *Rows, visit func(*Row) error) (err error) {
	scanner, err := s.Gateway.Scan(ctx, table, spec)
	if err != nil {
		return err
	}
	defer func() {
		if e := scanner.Close(context.WithoutCancel(ctx)); err == nil {
			err = e
		}
	}()
	f := follower{rows: rows, visit: visit, parts: spec.Batch > 0}
	for {
		batch, err := scanner.Next(ctx, rows.caching())
		if err != nil || len(batch) == 0 {
			return err
		}
		for i := range batch {
			if over, err := f.take(&batch[i]); over || err != nil {
				return err
			}
			if err := s.written(); err != nil {
				return err // nobody reads the rest
			}
		}
	}
}

// follower counts the rows of a scan against its limit.
type follower struct {
	rows  *Rows
	visit func(*Row) error
	parts bool // a row may go on in the next result
	taken int64
	last  []byte
	began bool
}

// take shows one row and says whether the scan is over.
func (f *follower) take(r *Row) (over bool, err error) {
	if f.rows.ByPrefix && !prefixed(r.Key, f.rows.Prefix) {
		// Only a reversed scan sees such rows: the bound above the prefix, which
		// is passed over, and what is below it.
		return bytes.Compare(r.Key, f.rows.Prefix) < 0, nil
	}
	same := f.began && bytes.Equal(f.last, r.Key)
	if !same && f.rows.Limit > 0 && f.taken >= f.rows.Limit {
		return true, nil
	}
	switch err := f.visit(r); {
	case err == errSkipped:
		return false, nil
	case err != nil:
		return true, err
	}
	if !same {
		f.taken++
		f.began, f.last = true, append(f.last[:0], r.Key...)
	}
	// Not to be found out by the next row: with a filter there may be none for
	// the rest of a large table.
	return !f.parts && f.rows.Limit > 0 && f.taken >= f.rows.Limit, nil
}
