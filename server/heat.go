package server

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cellardb/cellar/door/ops"
	"github.com/cellardb/cellar/store"
)

// heatWindow turns what an engine counts by table into rates. It measures when
// it is asked, and not oftener than heatPause, so it costs nothing while nobody
// looks, and several who look see the same figures.
//
// A window is as long as the time between two measurements: the first rates
// after a time when nobody looked are means over that time.
type heatWindow struct {
	clock func() time.Time

	mu     sync.Mutex
	at     time.Time // of the last measurement; zero: there was none
	last   map[string]store.Heat
	tables []ops.HotTable // hottest first
	window time.Duration
}

// heatPause is below the interval of those who look once a second, whose calls
// are not quite a second apart.
const heatPause = 500 * time.Millisecond

// rowWeight is what a row counts for in bytes, when tables are compared.
const rowWeight = 1024

// top answers with the n hottest tables. Where the engine does not count, there
// are none.
func (w *heatWindow) top(st store.Store, n int) ops.Top {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := w.clock(); w.at.IsZero() || now.Sub(w.at) >= heatPause {
		heat, counts, err := store.HeatOf(st)
		if !counts || err != nil { // the only error is that the store is closed
			return ops.Top{}
		}
		w.measure(heat, now)
	}
	return ops.Top{
		WindowSeconds: w.window.Seconds(), TablesCounted: len(w.tables),
		Tables: slices.Clone(w.tables[:min(n, len(w.tables))]),
	}
}

func (w *heatWindow) measure(heat []store.Heat, now time.Time) {
	if !w.at.IsZero() {
		w.window = now.Sub(w.at)
	}
	last := make(map[string]store.Heat, len(heat))
	tables := make([]ops.HotTable, len(heat))
	for i, h := range heat {
		last[h.Table] = h
		tables[i] = w.table(h)
	}
	slices.SortStableFunc(tables, func(a, b ops.HotTable) int {
		return cmp.Or(cmp.Compare(hotness(&b), hotness(&a)), cmp.Compare(moved(&b), moved(&a)), strings.Compare(a.Table, b.Table))
	})
	w.at, w.last, w.tables = now, last, tables
}

func (w *heatWindow) table(h store.Heat) ops.HotTable {
	old := w.last[h.Table]
	rate := func(now, before int64) float64 {
		if w.window <= 0 {
			return 0
		}
		if now < before {
			before = 0 // the table was truncated, or made anew
		}
		return float64(now-before) / w.window.Seconds()
	}
	return ops.HotTable{
		Table:       h.Table,
		RowsWritten: h.RowsWritten, BytesWritten: h.BytesWritten, RowsRead: h.RowsRead, BytesRead: h.BytesRead,
		RowsWrittenRate: rate(h.RowsWritten, old.RowsWritten), BytesWrittenRate: rate(h.BytesWritten, old.BytesWritten),
		RowsReadRate: rate(h.RowsRead, old.RowsRead), BytesReadRate: rate(h.BytesRead, old.BytesRead),
	}
}

func hotness(t *ops.HotTable) float64 {
	return t.BytesWrittenRate + t.BytesReadRate + rowWeight*(t.RowsWrittenRate+t.RowsReadRate)
}

// moved decides between tables that are as hot: mostly those that rest.
func moved(t *ops.HotTable) int64 {
	return t.BytesWritten + t.BytesRead + rowWeight*(t.RowsWritten+t.RowsRead)
}

// top answers with the hottest tables; there are none before the store is open.
func (s *Server) top(n int) ops.Top {
	if s.state.get() == stateStarting || s.store == nil {
		return ops.Top{}
	}
	return s.heat.top(s.store, n)
}
