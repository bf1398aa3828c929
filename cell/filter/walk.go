package filter

import (
	"bytes"
	"fmt"

	"github.com/cellardb/cellar/cell"
)

// Walker takes rows that are in memory through a filter, with all the steps of
// HBase's region scanner. An engine that reads ahead on iterators has the same
// steps in its own loop and may seek where a walker passes cells over; the
// answers must be the same.
type Walker struct {
	filter   *Evaluator
	read     *cell.Read
	families []familyWalk
	done     bool
}

// familyWalk is where the walk is in one family.
type familyWalk struct {
	family []byte
	ended  bool   // nothing of it is read any more
	whole  bool   // the read does not name columns of it
	resume []byte // the row to go on at, if ahead: see Hint
}

// NewWalker makes a walker for one scan. Of the read it takes MaxVersions,
// StoreLimit, StoreOffset, and which families are selected by columns; it keeps
// the read, which must not be changed.
func NewWalker(e *Evaluator, read *cell.Read) *Walker {
	return &Walker{filter: e, read: read}
}

// Done says that no further row can be kept.
func (w *Walker) Done() bool { return w.done }

// Row takes the next row of the scan through the filter. The cells are those
// that the read shows without a filter, its own MaxVersions, StoreLimit and
// StoreOffset not yet counted; there is at least one, and they are of one row.
// The kept ones are returned in a slice of their own, Value and Tags changed
// where the filter wants it; nothing kept: the row is dropped. After an error the
// walk is over.
func (w *Walker) Row(cells []cell.Cell) (kept []cell.Cell, err error) {
	if w.done {
		return nil, nil
	}
	if cells = w.unread(cells); len(cells) == 0 {
		return nil, nil
	}
	drop, err := w.filter.FilterRowKey(cells[0].Row)
	if err == nil && drop && w.filter.FilterAllRemaining() {
		w.done = true
		return nil, nil
	}
	if err == nil {
		kept, err = w.cells(cells)
	}
	if err != nil {
		w.done = true
		return nil, err
	}
	if drop || w.dropsRow(&kept) {
		kept = nil
	}
	w.filter.Reset()
	w.done = w.filter.FilterAllRemaining()
	return kept, nil
}

// dropsRow asks the filter about the whole row.
func (w *Walker) dropsRow(kept *[]cell.Cell) bool {
	if w.filter.HasFilterRow() {
		*kept = w.filter.FilterRowCells(*kept)
	}
	return len(*kept) == 0 || w.filter.FilterRow()
}

// unread leaves out the cells of families that the filter leads past this row.
func (w *Walker) unread(cells []cell.Cell) []cell.Cell {
	rest := cells[:0:0]
	for begin := 0; begin < len(cells); {
		end := familyEnd(cells, begin)
		if f := w.family(cells[begin].Family); !f.ended && !w.isAhead(f.resume, cells[begin].Row) {
			rest = append(rest, cells[begin:end]...)
		}
		begin = end
	}
	return rest
}

func (w *Walker) isAhead(row, current []byte) bool {
	if row == nil {
		return false
	}
	order := bytes.Compare(row, current)
	return order > 0 && !w.filter.reversed || order < 0 && w.filter.reversed
}

func familyEnd(cells []cell.Cell, begin int) int {
	end := begin + 1
	for end < len(cells) && bytes.Equal(cells[end].Family, cells[begin].Family) {
		end++
	}
	return end
}

func (w *Walker) family(name []byte) *familyWalk {
	for i := range w.families {
		if bytes.Equal(w.families[i].family, name) {
			return &w.families[i]
		}
	}
	sel, _ := w.read.Selected(name)
	w.families = append(w.families, familyWalk{family: bytes.Clone(name), whole: sel == nil || len(sel.Qualifiers) == 0})
	return &w.families[len(w.families)-1]
}

// cells takes all families of a row through the filter.
func (w *Walker) cells(cells []cell.Cell) ([]cell.Cell, error) {
	kept := make([]cell.Cell, 0, len(cells))
	for begin := 0; begin < len(cells); {
		end := familyEnd(cells, begin)
		walk := storeWalk{Walker: w, family: w.family(cells[begin].Family), cells: cells[begin:end], kept: kept}
		if err := walk.run(); err != nil {
			return nil, err
		}
		kept, begin = walk.kept, end
	}
	return kept, nil
}

// storeWalk is the walk through one family of one row: HBase's store scanner.
type storeWalk struct {
	*Walker
	family *familyWalk
	cells  []cell.Cell
	kept   []cell.Cell
	at     int // the next cell

	column  int // the cell whose column is counted
	version int // versions of it that the filter included
	counted int // cells that were kept, those of the offset included
}

func (s *storeWalk) run() error {
	s.column = -1
	for s.at < len(s.cells) {
		if s.filter.FilterAllRemaining() {
			s.family.ended = true
			return nil
		}
		c := s.cells[s.at]
		code, err := s.filter.FilterCell(&c)
		if err != nil {
			return err
		}
		if code.Includes() && s.isSurplus(&c) {
			code = dropping(code)
			if code == Skip {
				code = NextCol
			}
		}
		if code.Includes() && s.keep(c) {
			return nil
		}
		s.move(code, &c)
	}
	// The store scanner looks at the first cell of its next row here, and asks.
	s.family.ended = s.filter.FilterAllRemaining()
	return nil
}

// isSurplus counts the versions that the filter includes.
func (s *storeWalk) isSurplus(c *cell.Cell) bool {
	if s.column < 0 || !bytes.Equal(s.cells[s.column].Qualifier, c.Qualifier) {
		s.column, s.version = s.at, 0
	}
	s.version++
	return s.version > s.read.Versions()
}

// keep takes a cell into the result. full says that the store's limit is
// reached.
func (s *storeWalk) keep(c cell.Cell) (full bool) {
	s.filter.Transform(&c)
	s.counted++
	if s.counted <= s.read.StoreOffset {
		return false
	}
	s.kept = append(s.kept, c)
	return s.read.StoreLimit > 0 && s.counted-s.read.StoreOffset >= s.read.StoreLimit
}

// move goes on where the answer to a cell says. HBase does not seek past the
// column with the empty qualifier, where markers of the whole family may be,
// unless the read names columns: there the next version is the next column.
func (s *storeWalk) move(code Code, c *cell.Cell) {
	switch code {
	case Include, Skip:
		s.at++
	case IncludeAndNextCol, NextCol:
		s.at++
		if s.family.whole && len(c.Qualifier) == 0 {
			return
		}
		for s.at < len(s.cells) && bytes.Equal(s.cells[s.at].Qualifier, c.Qualifier) {
			s.at++
		}
	case IncludeAndSeekNextRow, NextRow:
		s.at = len(s.cells)
	case SeekNextUsingHint:
		s.seek(c)
	}
}

func (s *storeWalk) seek(c *cell.Cell) {
	s.at++
	hint, ok := s.filter.NextHint(c)
	switch {
	case !ok:
	case !hint.InRow:
		s.family.resume = append(s.family.resume[:0:0], hint.Row...)
		s.at = len(s.cells)
	default:
		for s.at < len(s.cells) && hint.isBehind(&s.cells[s.at]) {
			s.at++
		}
	}
}

// isBehind says whether a cell of the hint's row and family is before the hint.
func (h *Hint) isBehind(c *cell.Cell) bool {
	order := bytes.Compare(c.Qualifier, h.Qualifier)
	return order < 0 || order == 0 && c.Timestamp > h.Timestamp
}

// CheckBatch refuses a scan that cuts rows into batches with a filter that
// judges whole rows.
func (e *Evaluator) CheckBatch(batch int) error {
	if batch > 0 && e.HasFilterRow() {
		return fmt.Errorf("batch %d: %w", batch, ErrIncompatible)
	}
	return nil
}
