package pebble

import (
	"sync/atomic"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// heat counts what a table is read and written. It is shared by all views of
// the table: a snapshot's reads are reads of it.
//
// Writers add once a batch, scanners once in heatEvery rows, so that a table
// that every core works on does not pay for the count with its cache lines.
type heat struct {
	rowsWritten, bytesWritten, rowsRead, bytesRead atomic.Int64
}

// wrote counts a batch that was applied: its mutations but the refused ones.
func (h *heat) wrote(rows int, bytes int) {
	h.rowsWritten.Add(int64(rows))
	h.bytesWritten.Add(int64(bytes))
}

// got counts one row that was asked for.
func (h *heat) got(r *cell.Result) {
	bytes := 0
	for i := range r.Cells {
		bytes += r.Cells[i].Size()
	}
	h.rowsRead.Add(1)
	h.bytesRead.Add(int64(bytes))
}

// heatEvery is how many rows a scanner walks over before it adds them.
const heatEvery = 128

// walked is what a scanner has read and not added yet. It is under the
// scanner's lock.
type walked struct{ rows, bytes int64 }

func (w *walked) row(h *heat) {
	if w.rows++; w.rows >= heatEvery {
		w.add(h)
	}
}

// add hands the count over; a scanner that pauses does it too.
func (w *walked) add(h *heat) {
	if w.rows > 0 || w.bytes > 0 {
		h.rowsRead.Add(w.rows)
		h.bytesRead.Add(w.bytes)
		*w = walked{}
	}
}

// Heat gives the counts of all tables of users; store.HeatOf asks for it.
func (s *Store) Heat() ([]store.Heat, error) {
	s.gate.RLock()
	defer s.gate.RUnlock()
	if s.closed {
		return nil, store.ErrClosed
	}
	tables := s.catalog.list()
	all := make([]store.Heat, len(tables))
	for i, t := range tables {
		h := t.heat
		all[i] = store.Heat{
			Table:       t.name,
			RowsWritten: h.rowsWritten.Load(), BytesWritten: h.bytesWritten.Load(),
			RowsRead: h.rowsRead.Load(), BytesRead: h.bytesRead.Load(),
		}
	}
	return all, nil
}
