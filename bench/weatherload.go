package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cellardb/cellar/bench/thriftclient"
)

// WeatherOptions says where the readings go. The zero value of each field but
// Addr is the default that it names.
type WeatherOptions struct {
	// Addr is the Thrift server's host:port.
	Addr string
	// Table that is written to; it is created if it is not there, and nothing
	// else in it is touched. "": weather.
	Table string
	// Framed and Compact choose transport and protocol; false: buffered, binary.
	Framed, Compact bool
	// Progress is told what goes on; nil: nothing.
	Progress io.Writer
}

// Sizes of requests, in rows.
const (
	weatherBatch = 500
	weatherFetch = 1000
)

// WeatherLoaded is what Load did.
type WeatherLoaded struct {
	Table       string
	Rows, Cells int
	Took        time.Duration
}

// connect opens a connection that ends with ctx; the caller calls done.
func (o *WeatherOptions) connect(ctx context.Context) (c *thriftclient.Client, done func(), err error) {
	if o.Table == "" {
		o.Table = DefaultWeatherTable
	}
	c, err = thriftclient.Dial(ctx, o.Addr, o.client())
	if err != nil {
		return nil, nil, err
	}
	unhook := context.AfterFunc(ctx, func() { _ = c.Close() })
	return c, func() { unhook(); _ = c.Close() }, nil
}

func (o *WeatherOptions) client() thriftclient.Options {
	return thriftclient.Options{Framed: o.Framed, Compact: o.Compact}
}

// Load writes a row for each reading by mutateRows. Loading again writes the
// same once more.
func (w *Weather) Load(ctx context.Context, o WeatherOptions) (WeatherLoaded, error) {
	c, done, err := o.connect(ctx)
	if err != nil {
		return WeatherLoaded{}, err
	}
	defer done()
	var there *thriftclient.Exception
	err = c.CreateTable(o.Table, thriftclient.Family{Name: weatherFamily, MaxVersions: 1})
	if err != nil && (!errors.As(err, &there) || there.Kind != thriftclient.AlreadyExists) {
		return WeatherLoaded{}, fmt.Errorf("create table %s: %w", o.Table, err)
	}
	phase := NewProgress(o.Progress).Begin("load weather readings", len(w.readings))
	defer phase.End()
	loaded := WeatherLoaded{Table: o.Table}
	started := time.Now()
	b := thriftclient.NewBatch(o.client())
	for rows := range slices.Chunk(w.readings, weatherBatch) {
		b.Begin(o.Table, true, int32(loaded.Rows))
		for i := range rows {
			b.Row([]byte(rows[i].key))
			for _, column := range rows[i].columns {
				b.Put([]byte(column.name), []byte(column.value))
			}
			loaded.Cells += len(rows[i].columns)
		}
		if err := c.Mutate(b); err != nil {
			return loaded, fmt.Errorf("load weather readings into %s, after %d rows: %w", o.Table, loaded.Rows, err)
		}
		loaded.Rows += len(rows)
		phase.Add(len(rows))
	}
	loaded.Took = time.Since(started)
	return loaded, nil
}

// WeatherRead is what ReadBack found, computed from what it read.
type WeatherRead struct {
	Table       string
	Rows, Cells int
	Took        time.Duration
	Airports    []AirportWeather // by name
}

// AirportWeather sums up the readings of an airport.
type AirportWeather struct {
	Airport  string
	Readings int
	// Temperatures in °F, and the hours (UTC) of the extremes.
	MeanTemp, MinTemp, MaxTemp float64
	MinAt, MaxAt               string
	// WindiestAt is the hour (UTC) of the highest mean wind speed, in mph.
	WindiestAt string
	Wind       float64
	// Doubtful is the number of wind speeds that no instrument has ever seen
	// and that Wind leaves out.
	Doubtful int

	temps int
	sum   float64
}

// doubtfulWind is in mph; not even a gust was ever measured to be faster (Barrow
// Island, 1996).
const doubtfulWind = 253

// ReadBack scans the table and compares every cell with the file. The error
// matches ErrVerify where they differ.
func (w *Weather) ReadBack(ctx context.Context, o WeatherOptions) (WeatherRead, error) {
	c, done, err := o.connect(ctx)
	if err != nil {
		return WeatherRead{}, err
	}
	defer done()
	phase := NewProgress(o.Progress).Begin("read weather readings back", len(w.readings))
	defer phase.End()
	read := WeatherRead{Table: o.Table}
	visit := func(row *thriftclient.Row) error {
		if err := w.check(&read, row); err != nil {
			return err
		}
		return read.take(row)
	}
	started := time.Now()
	id, err := c.ScannerOpen(o.Table, thriftclient.Scan{Caching: weatherFetch})
	if err != nil {
		return read, fmt.Errorf("scan %s: %w", o.Table, err)
	}
	for {
		n, err := c.ScannerGetList(id, weatherFetch, visit)
		if err != nil {
			return read, fmt.Errorf("scan %s: %w", o.Table, err)
		}
		if n == 0 {
			break
		}
		phase.Add(n)
	}
	if err := c.ScannerClose(id); err != nil {
		return read, fmt.Errorf("scan %s: %w", o.Table, err)
	}
	read.Took = time.Since(started)
	if read.Rows != len(w.readings) {
		return read, fmt.Errorf("%w: table %s ends after %d rows, %d were written; the first that is missing is %s",
			ErrVerify, o.Table, read.Rows, len(w.readings), w.readings[read.Rows].key)
	}
	for i := range read.Airports {
		a := &read.Airports[i]
		if a.temps > 0 {
			a.MeanTemp = a.sum / float64(a.temps)
		}
	}
	return read, nil
}

// check compares the next row with the reading whose turn it is.
func (w *Weather) check(read *WeatherRead, row *thriftclient.Row) error {
	if read.Rows == len(w.readings) {
		return fmt.Errorf("%w: table %s has a row %q that nobody wrote", ErrVerify, read.Table, row.Key)
	}
	slices.SortFunc(row.Columns, func(a, b thriftclient.Column) int { return bytes.Compare(a.Name, b.Name) })
	want := &w.readings[read.Rows]
	diff := want.difference(row.Key, func(i int) ([]byte, []byte) { return row.Columns[i].Name, row.Columns[i].Value }, len(row.Columns))
	if diff != "" {
		return fmt.Errorf("%w: table %s, row %s: %s", ErrVerify, read.Table, want.key, diff)
	}
	return nil
}

// take adds a row to the sums of its airport. Rows come sorted by airport.
func (read *WeatherRead) take(row *thriftclient.Row) error {
	read.Rows++
	read.Cells += len(row.Columns)
	airport, hour, _ := strings.Cut(string(row.Key), "/")
	if n := len(read.Airports); n == 0 || read.Airports[n-1].Airport != airport {
		read.Airports = append(read.Airports, AirportWeather{Airport: airport})
	}
	a := &read.Airports[len(read.Airports)-1]
	a.Readings++
	for _, c := range row.Columns {
		name := string(c.Name)
		if name != weatherFamily+":temp" && name != weatherFamily+":wind_speed" {
			continue
		}
		v, err := strconv.ParseFloat(string(c.Value), 64)
		if err != nil {
			return fmt.Errorf("%w: row %q, column %s is %q, no number", ErrVerify, row.Key, name, c.Value)
		}
		if name == weatherFamily+":temp" {
			a.temperature(v, hour)
		} else {
			a.wind(v, hour)
		}
	}
	return nil
}

func (a *AirportWeather) temperature(v float64, hour string) {
	if a.temps == 0 || v < a.MinTemp {
		a.MinTemp, a.MinAt = v, hour
	}
	if a.temps == 0 || v > a.MaxTemp {
		a.MaxTemp, a.MaxAt = v, hour
	}
	a.temps++
	a.sum += v
}

func (a *AirportWeather) wind(v float64, hour string) {
	switch {
	case v > doubtfulWind:
		a.Doubtful++
	case a.WindiestAt == "" || v > a.Wind:
		a.Wind, a.WindiestAt = v, hour
	}
}

// WriteTable writes what was found, an airport a line.
func (read *WeatherRead) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	var b strings.Builder
	b.WriteString("airport\treadings\tmean\tcoldest hour (UTC)\thottest hour (UTC)\twindiest hour (UTC)\n")
	doubtful := 0
	for i := range read.Airports {
		a := &read.Airports[i]
		fmt.Fprintf(&b, "%s\t%d\t%s\t%s  %s\t%s  %s\t%.0f mph  %s\n", a.Airport, a.Readings, degrees(a.MeanTemp),
			degrees(a.MinTemp), a.MinAt, degrees(a.MaxTemp), a.MaxAt, a.Wind, a.WindiestAt)
		doubtful += a.Doubtful
	}
	if _, err := io.WriteString(t, b.String()); err != nil {
		return err
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if doubtful > 0 {
		_, err := fmt.Fprintf(w, "%d wind speed above %d mph, which cannot be, left out of the windiest hour\n", doubtful, doubtfulWind)
		return err
	}
	return nil
}

func degrees(f float64) string { return fmt.Sprintf("%.1f °F (%.1f °C)", f, (f-32)/1.8) }
