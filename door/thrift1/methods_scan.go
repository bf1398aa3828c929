package thrift1

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
	"github.com/cellardb/cellar/door"
	"github.com/cellardb/cellar/internal/wire/thrift"
)

// open registers a scan of the columns and answers its id. All bytes of the scan
// are copied.
func (s *session) open(scan *cell.Scan, columns [][]byte, sorted bool) error {
	selected, err := s.columns.set(s.reader, columns)
	if err != nil {
		return err
	}
	scan.Select = cloneSelect(selected)
	scan.Start, scan.Stop = bytes.Clone(scan.Start), bytes.Clone(scan.Stop)
	if err := scan.Validate(); err != nil {
		return err
	}
	id, err := s.h.scanners.add(s.args.table, scan, sorted)
	if err != nil {
		return err
	}
	if err := s.reply(thrift.I32); err != nil {
		return errors.Join(err, s.h.scanners.drop(id))
	}
	s.writer.I32(id)
	return s.done()
}

// scannerOpen is scannerOpen and its forms with a stop row or a timestamp.
func (s *session) scannerOpen() error {
	a := &s.args
	return s.open(&cell.Scan{
		Range: cell.Range{Start: a.start, Stop: a.stop},
		Read:  cell.Read{Within: timeBefore(a.timestamp, a.timed)},
	}, a.columns, false)
}

func (s *session) scannerOpenWithPrefix() error {
	a := &s.args
	return s.open(&cell.Scan{Range: cell.PrefixRange(a.start)}, a.columns, false)
}

func (s *session) scannerOpenWithScan() error {
	a := &s.args.scan
	passes, err := parseFilter(a.filter)
	if err != nil {
		return err
	}
	return s.open(&cell.Scan{
		Range:    cell.Range{Start: a.start, Stop: a.stop},
		Reversed: a.reversed,
		Batch:    int(max(a.batch, 0)),
		Read:     cell.Read{Within: timeBefore(a.timestamp, a.timed), SkipCache: a.skipCache, Filter: passes},
	}, a.columns, a.sorted)
}

// parseFilter reads a filter string; none is no filter. The filter keeps none of
// the request's bytes.
func parseFilter(text []byte) (cell.Filter, error) {
	if len(text) == 0 {
		return nil, nil
	}
	f, err := filter.Parse(bytes.Clone(text))
	if err != nil {
		return nil, err
	}
	// What is wrong with its arguments is said now, not by the first fetch.
	// Whether the engine can backtrack is the engine's to say.
	_, err = filter.New(f, filter.Options{Backtracking: func(string) (filter.Matcher, error) { return nil, nil }})
	return f, err
}

func (s *session) scannerGet() error { return s.fetch(1) }

func (s *session) scannerGetList() error {
	n := s.args.count
	if n < 0 {
		return illegal("nbRows must not be negative: %d", n)
	}
	return s.fetch(int(n))
}

// fetch answers the next n rows, or parts of rows. Fewer are the end of the scan,
// and none is what comes after it.
func (s *session) fetch(n int) error {
	id := s.args.id
	scanner, err := s.h.scanners.use(id)
	if err != nil {
		return err
	}
	defer s.h.scanners.done(scanner)
	s.args.table = scanner.table // for the words of errors
	if err := s.reply(thrift.List); err != nil {
		return err
	}
	list, rows := s.writer.OpenList(thrift.Struct), 0
	ctx, cancel := context.WithTimeout(s.ctx, s.h.opts.FetchTimeout)
	defer cancel()
	err = scanner.fetch(ctx, n, func(row *cell.Result) error {
		if err := s.writeRow(row, scanner.sorted); err != nil {
			return err
		}
		rows++
		return nil
	})
	if err != nil && s.ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return s.tooSlow(id, rows)
	}
	var large *replyError
	if errors.As(err, &large) {
		large.hint = fmt.Sprintf(" (%d rows fit); scanner %d stands where it stood", rows, id)
		if rows == 0 {
			large.hint = fmt.Sprintf(", with batchSize in the scan; scanner %d stands where it stood", id)
		}
	}
	if err != nil {
		return err
	}
	s.writer.CloseList(list, rows)
	return s.done()
}

// tooSlow is the answer to a fetch that took too long.
func (s *session) tooSlow(id int32, rows int) error {
	text := fmt.Sprintf("no row was found within %s: scanner %d goes on from there, or scan a smaller range", s.h.opts.FetchTimeout, id)
	if rows > 0 {
		text = fmt.Sprintf("%d rows were found within %s: ask for less at a time; scanner %d stands where it stood", rows, s.h.opts.FetchTimeout, id)
	}
	return &fault{kind: kindIO, message: classInterrupted + ": " + text, retry: true, outcome: door.Failed}
}

func (s *session) scannerClose() error {
	return s.after(s.h.scanners.drop(s.args.id))
}
