package thrift1

import (
	"errors"
	"io"
	"unsafe"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/internal/wire/thrift"
)

// read looks one row up, with the columns and the time that s.get says.
func (s *session) read(row []byte) error {
	s.get.Row = row
	if err := s.get.Validate(); err != nil {
		return err
	}
	err := s.h.store.Get(s.ctx, s.args.table, &s.get, &s.row)
	s.rowSize = max(s.rowSize, sizeOfRow(&s.row))
	return err
}

// sizeOfRow is about what a result's memory is.
func sizeOfRow(row *cell.Result) int {
	n := cap(row.Cells) * int(unsafe.Sizeof(cell.Cell{}))
	for i := range row.Cells {
		c := &row.Cells[i]
		n += len(c.Qualifier) + len(c.Value) + len(c.Tags)
	}
	return n
}

// getCells is get: the newest version of a column, or of each of a family's.
func (s *session) getCells() error { return s.readColumn(1, cell.TimeRange{}) }

// getVersions is getVer and getVerTs.
func (s *session) getVersions() error {
	a := &s.args
	if a.versions <= 0 {
		return ioError(classIO, "maxVersions must be positive")
	}
	return s.readColumn(int(a.versions), timeBefore(a.timestamp, a.timed))
}

func (s *session) readColumn(versions int, within cell.TimeRange) error {
	if s.args.column == nil {
		return illegal("column is not set")
	}
	one := [1][]byte{s.args.column}
	selected, err := s.columns.set(s.reader, one[:])
	if err != nil {
		return err
	}
	s.get.Read = cell.Read{Select: selected, Within: within, MaxVersions: versions}
	if err := s.read(s.args.row); err != nil {
		return err
	}
	if err := s.reply(thrift.List); err != nil {
		return err
	}
	if err := s.writeCells(s.row.Cells); err != nil {
		return err
	}
	return s.done()
}

// selectColumns sets what getRow and its kin read.
func (s *session) selectColumns() error {
	a := &s.args
	selected, err := s.columns.set(s.reader, a.columns)
	s.get.Read = cell.Read{Select: selected, Within: timeBefore(a.timestamp, a.timed)}
	return err
}

// getRow is every getRow...: a list of one row, or of none.
func (s *session) getRow() error {
	if err := s.selectColumns(); err != nil {
		return err
	}
	if err := s.read(s.args.row); err != nil {
		return err
	}
	if err := s.reply(thrift.List); err != nil {
		return err
	}
	if len(s.row.Cells) == 0 {
		s.writer.List(thrift.Struct, 0)
		return s.done()
	}
	s.writer.List(thrift.Struct, 1)
	if err := s.writeRow(&s.row, false); err != nil {
		return err
	}
	return s.done()
}

// getRows is every getRows...: the rows that there are, in the order they were
// asked for.
func (s *session) getRows() error {
	if err := s.selectColumns(); err != nil {
		return err
	}
	if err := s.reply(thrift.List); err != nil {
		return err
	}
	list, n := s.writer.OpenList(thrift.Struct), 0
	for _, row := range s.args.rows {
		if err := s.read(row); err != nil {
			return err
		}
		if len(s.row.Cells) == 0 {
			continue
		}
		if err := s.writeRow(&s.row, false); err != nil {
			return err
		}
		n++
	}
	s.writer.CloseList(list, n)
	return s.done()
}

// getRowOrBefore answers the cells that the closest row, at or before the given
// one, has in a family.
func (s *session) getRowOrBefore() (err error) {
	a := &s.args
	if err := cell.ValidateRow(a.row); err != nil {
		return err
	}
	if a.column == nil {
		return illegal("family is not set")
	}
	scan := cell.Scan{
		Range: cell.Range{Start: a.row}, Reversed: true, Limit: 1,
		Read: cell.Read{Select: []cell.FamilySelect{{Family: a.column}}},
	}
	scanner, err := s.h.store.Scan(s.ctx, a.table, &scan)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, scanner.Close()) }()
	row, err := scanner.Next(s.ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	var cells []cell.Cell
	if err == nil {
		cells = row.Cells
	}
	if err := s.reply(thrift.List); err != nil {
		return err
	}
	if err := s.writeCells(cells); err != nil {
		return err
	}
	return s.done()
}
