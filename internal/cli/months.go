package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/guptarohit/asciigraph"

	"github.com/cellardb/cellar/bench/thriftclient"
)

// months is the mean temperature by month, as one asks a table for it: by a
// scan that reads a single column.
type months struct {
	sum   [12]float64 // °F
	count [12]int
	took  time.Duration
}

// monthsColumn is the column that is asked for.
const monthsColumn = "w:temp"

// askMonths scans the table of the weather readings.
func askMonths(ctx context.Context, addr, table string) (*months, error) {
	c, err := thriftclient.Dial(ctx, addr, thriftclient.Options{})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	m := &months{}
	begin := time.Now()
	id, err := c.ScannerOpen(table, thriftclient.Scan{Columns: [][]byte{[]byte(monthsColumn)}})
	if err != nil {
		return nil, fmt.Errorf("scan %s: %w", table, err)
	}
	for {
		n, err := c.ScannerGetList(id, 1000, m.add)
		if err != nil {
			return nil, fmt.Errorf("scan %s: %w", table, err)
		}
		if n == 0 {
			break
		}
	}
	m.took = time.Since(begin)
	return m, c.ScannerClose(id)
}

// add takes a row: its key ends with the hour, its one column is the
// temperature.
func (m *months) add(r *thriftclient.Row) error {
	const hour = "2006-01-02T15"
	if len(r.Key) < len(hour) || len(r.Columns) != 1 {
		return fmt.Errorf("row %q is no weather reading", r.Key)
	}
	at, errKey := time.Parse(hour, string(r.Key[len(r.Key)-len(hour):]))
	temp, errValue := strconv.ParseFloat(string(r.Columns[0].Value), 64)
	if err := errors.Join(errKey, errValue); err != nil {
		return fmt.Errorf("row %q is no weather reading: %w", r.Key, err)
	}
	i := at.Month() - time.January
	m.sum[i] += temp
	m.count[i]++
	return nil
}

// total is the number of readings that had a temperature.
func (m *months) total() int {
	n := 0
	for _, c := range m.count {
		n += c
	}
	return n
}

// plot draws the year in °C.
func (m *months) plot(w io.Writer) {
	var points []float64
	for i, n := range m.count {
		if n > 0 {
			points = append(points, (m.sum[i]/float64(n)-32)/1.8)
		}
	}
	if len(points) < len(m.count) {
		return // a file of the user's own, of less than a year
	}
	fmt.Fprintln(w, asciigraph.Plot(points,
		asciigraph.Height(7), asciigraph.Width(4*len(points)), asciigraph.Precision(0),
		asciigraph.XAxisRange(1, 12), asciigraph.XAxisTickCount(12),
		asciigraph.Caption("mean temperature by month, °C")))
}
