package ops

import (
	"net/http"
	"strconv"
)

// Top is what /v1/top answers: which tables are hot. Only as many tables as
// were asked for are in it, so it stays small however many there are.
type Top struct {
	// WindowSeconds is the time over which the rates are means. It ends now, or
	// less than a second ago. 0: nothing was measured before, so all rates are 0.
	WindowSeconds float64 `json:"window_seconds"`
	// TablesCounted is how many tables there are to choose from.
	TablesCounted int `json:"tables_counted"`
	// Tables, the hottest first: a table is as hot as the bytes it moves a
	// second, and 1 KiB for each row.
	Tables []HotTable `json:"tables"`
}

// HotTable is the traffic of one table.
type HotTable struct {
	Table string `json:"table"`
	// Totals since the server was started, or the table truncated.
	RowsWritten  int64 `json:"rows_written"`
	BytesWritten int64 `json:"bytes_written"`
	RowsRead     int64 `json:"rows_read"`
	BytesRead    int64 `json:"bytes_read"`
	// Rates by the second over the window.
	RowsWrittenRate  float64 `json:"rows_written_rate"`
	BytesWrittenRate float64 `json:"bytes_written_rate"`
	RowsReadRate     float64 `json:"rows_read_rate"`
	BytesReadRate    float64 `json:"bytes_read_rate"`
}

// How many tables /v1/top gives.
const (
	topTables    = 20
	maxTopTables = 1000
)

// top answers /v1/top?tables=N.
func (d *door) top(w http.ResponseWriter, r *http.Request) {
	n := topTables
	if text := r.URL.Query().Get("tables"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 1 || n > maxTopTables {
			d.reply(w, http.StatusBadRequest, map[string]string{"error": "tables: want 1 to " + strconv.Itoa(maxTopTables)})
			return
		}
	}
	t := d.Top(n)
	if t.Tables == nil {
		t.Tables = []HotTable{}
	}
	d.reply(w, http.StatusOK, t)
}
