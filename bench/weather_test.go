package bench

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cellardb/cellar/bench/internal/gateway"
)

func openWeather(t *testing.T) *Weather {
	t.Helper()
	f, err := os.Open("../examples/weather.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // only read from
	w, err := ParseWeather(f)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestWeatherFile: what examples/README.md says of the file is so, and the file
// is one that compressing it again gives.
func TestWeatherFile(t *testing.T) {
	b, err := os.ReadFile("../examples/weather.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 1<<20 || b[3] != 0 || !bytes.Equal(b[4:8], make([]byte, 4)) {
		t.Errorf("%d bytes, flags and time % x: it must have no name and no time", len(b), b[3:8])
	}
	w := openWeather(t)
	if w.Readings() != 26115 || w.Absent() != 1+1+1+460+4+20778+2729 || w.Cells() != 26115*10-w.Absent() {
		t.Errorf("%d readings, %d cells, %d absent", w.Readings(), w.Cells(), w.Absent())
	}
	first := w.readings[0]
	if got, want := fmt.Sprint(first), "{EWR/2013-01-01T06 [{w:dewp 26.06} {w:humid 59.37} {w:local 2013-01-01T01} {w:precip 0} {w:pressure 1012} {w:temp 39.02} {w:visib 10} {w:wind_dir 270} {w:wind_speed 10.357019999999999}]}"; got != want {
		t.Errorf("first reading\n got %s\nwant %s", got, want)
	}
}

func TestWeatherLoadAndReadBack(t *testing.T) {
	w := openWeather(t)
	g, o := startGateway(t, gateway.Hooks{})
	var log bytes.Buffer
	wo := WeatherOptions{Addr: o.Addr, Progress: &log}
	loaded, err := w.Load(context.Background(), wo)
	if err != nil || loaded.Rows != 26115 || loaded.Cells != w.Cells() || loaded.Table != "weather" {
		t.Fatalf("%+v, %v", loaded, err)
	}
	if row := g.Row("weather", "JFK/2013-07-04T16"); row["w:temp"] == "" || row["w:local"] != "2013-07-04T12" {
		t.Errorf("a row: %v", row)
	}
	read, err := w.ReadBack(context.Background(), wo)
	if err != nil || read.Rows != 26115 || read.Cells != w.Cells() {
		t.Fatalf("%+v, %v", read, err)
	}
	var table bytes.Buffer
	if err := read.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	golden(t, "weather.golden", table.String())
	if got := strings.Count(log.String(), "26,115 in"); got != 2 {
		t.Errorf("progress: %s", log.String())
	}
}

// TestWeatherInEveryWay: transports and protocols; and loading again is no
// mistake.
func TestWeatherInEveryWay(t *testing.T) {
	w := openWeather(t)
	w.readings = w.readings[:1500]
	ran := 0
	for _, compact := range []bool{false, true} {
		for _, framed := range []bool{false, true} {
			_, o := startGateway(t, gateway.Hooks{})
			wo := WeatherOptions{Addr: o.Addr, Table: "t", Compact: compact, Framed: framed}
			for range 2 {
				if loaded, err := w.Load(context.Background(), wo); err != nil || loaded.Rows != 1500 || loaded.Table != "t" {
					t.Fatalf("%+v, %v", loaded, err)
				}
			}
			if read, err := w.ReadBack(context.Background(), wo); err != nil || read.Rows != 1500 || read.Cells != w.Cells() {
				t.Fatalf("%+v, %v", read, err)
			}
			ran++
		}
	}
	if ran != 4 {
		t.Errorf("%d ways ran", ran)
	}
}

// TestWeatherVerificationFails: whatever differs from the file is found.
func TestWeatherVerificationFails(t *testing.T) {
	w := openWeather(t)
	w.readings = w.readings[:2000:2000] // a part is enough
	f := func(name, want string, store func(row, column, v string) (string, bool)) {
		t.Helper()
		_, o := startGateway(t, gateway.Hooks{Store: store})
		wo := WeatherOptions{Addr: o.Addr, Table: "t"}
		if _, err := w.Load(context.Background(), wo); err != nil {
			t.Fatal(err)
		}
		_, err := w.ReadBack(context.Background(), wo)
		if !errors.Is(err, ErrVerify) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", name, err, want)
		}
	}
	row := w.readings[1234].key
	f("a value", "table t, row "+row+`: column "w:visib" is "11", want "w:visib", "10"`, func(r, column, v string) (string, bool) {
		if r == row && column == "w:visib" {
			return "11", true
		}
		return v, true
	})
	f("a cell", "row "+row+": it has ", func(r, column, v string) (string, bool) { return v, r != row || column != "w:temp" })
	f("a row", "row "+row+`: the row is "`+w.readings[1235].key, func(r, _, v string) (string, bool) { return v, r != row })
	last := w.readings[1999].key
	f("the last row", "ends after 1999 rows, 2000 were written; the first that is missing is "+last, func(r, _, v string) (string, bool) { return v, r != last })

	_, o := startGateway(t, gateway.Hooks{})
	wo := WeatherOptions{Addr: o.Addr}
	if _, err := w.Load(context.Background(), wo); err != nil {
		t.Fatal(err)
	}
	w.readings = w.readings[:1999]
	if _, err := w.ReadBack(context.Background(), wo); !errors.Is(err, ErrVerify) || !strings.Contains(err.Error(), `row "`+last+`" that nobody wrote`) {
		t.Errorf("one more: %v", err)
	}
}

// TestReadingDifference: rows that the fake gateway does not make.
func TestReadingDifference(t *testing.T) {
	r := reading{key: "EWR/1", columns: []weatherColumn{{"w:a", "1"}, {"w:b", "2"}}}
	f := func(key string, columns []weatherColumn, want string) {
		t.Helper()
		got := r.difference([]byte(key), func(i int) ([]byte, []byte) { return []byte(columns[i].name), []byte(columns[i].value) }, len(columns))
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	f("EWR/1", r.columns, "")
	f("EWR/2", r.columns, `the row is "EWR/2"`)
	f("EWR/1", []weatherColumn{{"w:a", "1"}, {"w:b", "2"}, {"w:c", "3"}}, "it has 3 columns, want 2")
	f("EWR/1", []weatherColumn{{"w:a", "1"}}, "it has 1 columns, want 2")
	f("EWR/1", []weatherColumn{{"w:a", "1"}, {"w:c", "2"}}, `column "w:c" is "2", want "w:b", "2"`)
	f("EWR/1", []weatherColumn{{"w:a", "1"}, {"w:b", "3"}}, `column "w:b" is "3", want "w:b", "2"`)
}

func TestWeatherFails(t *testing.T) {
	w := openWeather(t)
	g, o := startGateway(t, gateway.Hooks{Refuse: func(method string) string {
		if method == "mutateRows" {
			return "java.io.IOException: no"
		}
		return ""
	}})
	wo := WeatherOptions{Addr: o.Addr}
	if _, err := w.Load(context.Background(), wo); err == nil || !strings.Contains(err.Error(), "load weather readings into weather, after 0 rows: mutateRows: IOError: java.io.IOException: no") {
		t.Errorf("load: %v", err)
	}
	if _, err := w.ReadBack(context.Background(), WeatherOptions{Addr: o.Addr, Table: "none"}); err == nil || !strings.Contains(err.Error(), "TableNotFoundException") {
		t.Errorf("read: %v", err)
	}
	g.Close()
	if _, err := w.Load(context.Background(), wo); err == nil {
		t.Error("nobody listens")
	}
}

func TestParseWeatherRefuses(t *testing.T) {
	const head = "origin,year,month,day,hour,temp,dewp,humid,wind_dir,wind_speed,wind_gust,precip,pressure,visib,time_hour\n"
	const line = "EWR,2013,1,1,1,39.02,26.06,59.37,270,10.35,NA,0,1012,10,2013-01-01T06:00:00Z\n"
	parse := func(text string) error {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte(text)) // to memory
		_ = z.Close()
		w, err := ParseWeather(&b)
		if err == nil && w.Readings() != 1 {
			t.Errorf("%d readings", w.Readings())
		}
		return err
	}
	if err := parse(head + line); err != nil {
		t.Error(err)
	}
	f := func(text, want string) {
		t.Helper()
		if err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	f("", "EOF")
	f(strings.Replace(head, "visib", "x", 1)+line, "it has no column visib")
	f(head+line+line, "EWR/2013-01-01T06 is there twice")
	f(head+line+strings.Replace(line, "39.02", "warm", 1), `line 3: temp is "warm", no number`)
	f(head+strings.Replace(line, "2013,1", "2013,Jan", 1), `line 2: month is "Jan", no number`)
	f(head+strings.Replace(line, "06:00:00Z", "06:30:00Z", 1), `line 2: time_hour is "2013-01-01T06:30:00Z", no full hour in UTC`)
	f(head+"a,b\n", "wrong number of fields")
	if _, err := ParseWeather(strings.NewReader("origin,year")); !errors.Is(err, gzip.ErrHeader) && err == nil {
		t.Errorf("not compressed: %v", err)
	}
}
