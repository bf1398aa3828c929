package pebble

import (
	"bytes"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"github.com/cellardb/cellar/cell"
)

// source is one family's part of a scan: an iterator, and the row it has next.
type source struct {
	it     *pebbledb.Iterator
	plan   *familyPlan
	row    []byte // escaped; nil: there is none left
	prefix []byte // of that row, with its terminator
	hint   []byte // escaped row at which a filter wants to go on; empty: none
}

// first finds the first row in the direction of the scan.
func (s *source) first(reversed bool) error {
	if s.plan.ended {
		return nil
	}
	if reversed {
		s.it.Last()
	} else {
		s.it.First()
	}
	return s.note()
}

// note takes the row from the key under the iterator.
func (s *source) note() error {
	if !s.it.Valid() {
		s.row = nil
		return storeError(s.it.Error())
	}
	key := s.it.Key()
	s.prefix = append(s.prefix[:0], key[:splitKey(key)]...)
	s.row = rowOf(s.prefix)
	return nil
}

// after finds the row that follows the current one, or the one that a filter
// hinted at.
func (s *source) after(reversed bool) error {
	if s.plan.ended {
		s.row = nil
		return nil
	}
	if err := s.step(reversed); err != nil || s.row == nil || len(s.hint) == 0 {
		return err
	}
	hint := s.hint
	s.hint = s.hint[:0]
	if c := bytes.Compare(s.row, hint); c == 0 || c > 0 != reversed {
		return nil
	}
	bound := append(append(s.prefix[:familyPrefixLen:familyPrefixLen], hint...), escByte)
	if reversed {
		s.it.SeekLT(append(bound, escBeyond))
	} else {
		s.it.SeekGE(bound)
	}
	return s.note()
}

func (s *source) step(reversed bool) error {
	if reversed {
		s.it.SeekLT(s.prefix)
		return s.note()
	}
	for range nextsBeforeSeek {
		if !s.it.Valid() || !bytes.HasPrefix(s.it.Key(), s.prefix) {
			return s.note()
		}
		s.it.Next()
	}
	if s.it.Valid() && bytes.HasPrefix(s.it.Key(), s.prefix) {
		s.prefix[len(s.prefix)-1] = escBeyond
		s.it.SeekGE(s.prefix)
	}
	return s.note()
}

// stand puts the iterator on the first key of the current row that matters.
func (s *source) stand(reversed bool) {
	p := s.plan
	if len(p.columns) > 0 && !p.family.markers.Load() {
		n := len(s.prefix)
		key := append(append(s.prefix, p.columns[0]...), escByte, escEnd)
		s.prefix = key[:n]
		s.row = rowOf(s.prefix)
		if reversed || bytes.Compare(s.it.Key(), key) < 0 {
			s.it.SeekGE(key)
		}
		return
	}
	if reversed {
		s.it.SeekGE(s.prefix)
	}
}

// rowWalk gives the cells of one row, family by family.
type rowWalk struct {
	row     []byte // escaped
	source  int
	inside  bool
	counted bool
	walk    familyWalk
	ahead   *cell.Result // a cell that peek found
}

func (w *rowWalk) begin(row []byte) {
	w.row = append(w.row[:0], row...)
	w.source, w.inside, w.counted = 0, false, false
}

// next adds the row's next cell to the result.
func (w *rowWalk) next(c *scanner, into *cell.Result) (bool, error) {
	if w.ahead != nil && len(w.ahead.Cells) > 0 {
		into.Cells = append(into.Cells, copyCell(into, &w.ahead.Cells[0]))
		w.ahead.Reset()
		return true, nil
	}
	for ; w.source < len(c.sources); w.source++ {
		src := c.sources[w.source]
		if src.row == nil || !bytes.Equal(src.row, w.row) {
			continue
		}
		if !w.inside {
			src.stand(c.reversed)
			w.walk.begin(src.it, c.plan, src.plan, src.prefix)
			w.inside = true
		}
		if w.walk.next(into) {
			return true, nil
		}
		if w.walk.err != nil {
			return false, w.walk.err
		}
		w.walk.end(c.plan.filter)
		src.plan.ended = src.plan.ended || w.walk.ended
		if w.walk.hinted {
			src.hint = append(src.hint[:0], w.walk.hintRow...)
		}
		w.inside = false
	}
	return false, nil
}

// peek says whether the row has another cell, and keeps it for next.
func (w *rowWalk) peek(c *scanner) (bool, error) {
	if w.ahead == nil {
		w.ahead = new(cell.Result)
	}
	w.ahead.Reset()
	w.ahead.Row = c.result.Row
	return w.next(c, w.ahead)
}

func copyCell(into *cell.Result, c *cell.Cell) cell.Cell {
	d := *c
	d.Row = into.Row
	d.Family = into.Copy(c.Family)
	d.Qualifier = into.Copy(c.Qualifier)
	d.Value = into.Copy(c.Value)
	if len(c.Tags) > 0 {
		d.Tags = into.Copy(c.Tags)
	}
	return d
}
