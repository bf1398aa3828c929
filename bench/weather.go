package bench

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// DefaultWeatherTable is the table that the weather readings go into.
const DefaultWeatherTable = "weather"

const (
	weatherFamily = "w"
	weatherAbsent = "NA"
)

// weatherMeasures are the measures of a reading, in the order of the file.
var weatherMeasures = []string{"temp", "dewp", "humid", "wind_dir", "wind_speed", "wind_gust", "precip", "pressure", "visib"}

// Weather is the readings of examples/weather.csv.gz, which its README explains:
// hourly ones of three airports, real data for a first look.
type Weather struct {
	readings []reading // sorted by key
	absent   int       // measures that are not there
}

// reading is a row: airport/hour in UTC, and its columns sorted by name.
type reading struct {
	key     string
	columns []weatherColumn
}

type weatherColumn struct{ name, value string }

// ParseWeather reads the file, compressed as it is.
func ParseWeather(r io.Reader) (*Weather, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("read the weather file: %w", err)
	}
	lines := csv.NewReader(z)
	lines.ReuseRecord = true
	head, err := lines.Read()
	if err != nil {
		return nil, fmt.Errorf("read the weather file: %w", err)
	}
	at := make(map[string]int)
	for i, name := range head {
		at[name] = i
	}
	for _, name := range append([]string{"origin", "year", "month", "day", "hour", "time_hour"}, weatherMeasures...) {
		if _, ok := at[name]; !ok {
			return nil, fmt.Errorf("read the weather file: it has no column %s", name)
		}
	}
	w := new(Weather)
	for {
		f, err := lines.Read()
		if err == io.EOF {
			return w, w.sort()
		}
		if err != nil {
			return nil, fmt.Errorf("read the weather file: %w", err)
		}
		if err := w.add(f, at); err != nil {
			line, _ := lines.FieldPos(0)
			return nil, fmt.Errorf("read the weather file: line %d: %w", line, err)
		}
	}
}

// add takes a line of the file.
func (w *Weather) add(f []string, at map[string]int) error {
	hour, ok := strings.CutSuffix(f[at["time_hour"]], ":00:00Z")
	if !ok {
		return fmt.Errorf("time_hour is %q, no full hour in UTC", f[at["time_hour"]])
	}
	local := make([]int, 4)
	for i, name := range []string{"year", "month", "day", "hour"} {
		n, err := strconv.Atoi(f[at[name]])
		if err != nil {
			return fmt.Errorf("%s is %q, no number", name, f[at[name]])
		}
		local[i] = n
	}
	r := reading{key: f[at["origin"]] + "/" + hour}
	r.columns = append(r.columns, weatherColumn{weatherFamily + ":local", fmt.Sprintf("%04d-%02d-%02dT%02d", local[0], local[1], local[2], local[3])})
	for _, m := range weatherMeasures {
		v := f[at[m]]
		if v == weatherAbsent {
			w.absent++
			continue
		}
		if _, err := strconv.ParseFloat(v, 64); err != nil {
			return fmt.Errorf("%s is %q, no number", m, v)
		}
		r.columns = append(r.columns, weatherColumn{weatherFamily + ":" + m, strings.Clone(v)})
	}
	slices.SortFunc(r.columns, func(a, b weatherColumn) int { return cmp.Compare(a.name, b.name) })
	w.readings = append(w.readings, r)
	return nil
}

func (w *Weather) sort() error {
	slices.SortFunc(w.readings, func(a, b reading) int { return cmp.Compare(a.key, b.key) })
	for i := 1; i < len(w.readings); i++ {
		if w.readings[i].key == w.readings[i-1].key {
			return fmt.Errorf("read the weather file: %s is there twice", w.readings[i].key)
		}
	}
	return nil
}

// Readings is the number of readings, each of which is a row.
func (w *Weather) Readings() int { return len(w.readings) }

// Cells is the number of cells that they make.
func (w *Weather) Cells() int {
	n := 0
	for i := range w.readings {
		n += len(w.readings[i].columns)
	}
	return n
}

// Absent is the number of measures that the file does not have.
func (w *Weather) Absent() int { return w.absent }

// difference says how a row as it was read differs from the reading; "" if it
// does not. Columns come in the order of their names.
func (r *reading) difference(key []byte, columns func(i int) (name, value []byte), n int) string {
	if string(key) != r.key {
		return fmt.Sprintf("the row is %q", key)
	}
	if n != len(r.columns) {
		return fmt.Sprintf("it has %d columns, want %d", n, len(r.columns))
	}
	for i, want := range r.columns {
		name, value := columns(i)
		if !bytes.Equal(name, []byte(want.name)) || !bytes.Equal(value, []byte(want.value)) {
			return fmt.Sprintf("column %q is %q, want %q, %q", name, value, want.name, want.value)
		}
	}
	return ""
}
