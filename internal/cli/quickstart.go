package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/cellardb/cellar/bench"
	"github.com/cellardb/cellar/examples"
	"github.com/cellardb/cellar/server"
)

// published is how long others needed for the load: ten connections, HBase on
// four machines.
const published = 6900 * time.Millisecond

// quickstartFlags are those of quickstart that are no settings.
type quickstartFlags struct {
	file    string
	records int
}

func (a *app) quickstartCommand() *cobra.Command {
	var f quickstartFlags
	c := &cobra.Command{
		Use:   "quickstart",
		Short: "See it work: start a server, load real data, read it back",
		Long: `Starts a server in the background, unless one runs on the data folder, and does with
it what people do with an HBase Thrift gateway: loads 26,115 hourly weather
readings of New York's three airports, then 60,000 records of 1 KB, reads both
back, compares every value, and says how long it took. The server and the weather
stay. Run it again: it finds them, and loads the same once more.`,
		Example: `  cellar quickstart
  cellar quickstart --data /srv/cellar --memory 1GiB
  cellar quickstart --thrift1-addr 127.0.0.1:9191 --http-addr 127.0.0.1:8700   where ports are busy`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.quickstart(c, f) },
	}
	settingFlags(c.Flags())
	c.Flags().StringVar(&f.file, "file", "", "a weather.csv.gz to load in place of the built-in one")
	c.Flags().IntVar(&f.records, "records", bench.DefaultRecords, "records of 1 KB to load; 0: none")
	return c
}

func (a *app) quickstart(c *cobra.Command, f quickstartFlags) error {
	ctx, stop := interruptible(c.Context())
	defer stop()
	readings, err := f.weather()
	if err != nil {
		return err
	}
	s, err := a.findOrStart(ctx, c)
	if err != nil {
		return err
	}
	s.introduce(a.out)
	addr := s.Addresses[server.DoorThrift1]
	if addr == "" {
		return withHint(errors.New("that server has no Thrift door"), "stop it with %s, then set --thrift1-addr", s.stopCommand())
	}
	err = a.weather(ctx, addr, readings)
	if err == nil && f.records > 0 {
		err = a.records(ctx, s, addr, f.records)
	}
	s.farewell(a.out)
	return err
}

// weather reads the readings from the file that was named, or the built-in one.
func (f *quickstartFlags) weather() (*bench.Weather, error) {
	if f.file == "" {
		return bench.ParseWeather(examples.Weather())
	}
	file, err := os.Open(f.file)
	if err != nil {
		return nil, fmt.Errorf("open weather readings: %w", err)
	}
	defer file.Close()
	return bench.ParseWeather(file)
}

// weather loads the readings, reads them back, and shows what they say.
func (a *app) weather(ctx context.Context, addr string, w *bench.Weather) error {
	o := bench.WeatherOptions{Addr: addr, Progress: terminal(a.err)}
	fmt.Fprintf(a.out, "\n1. Weather: %s hourly readings of New York's airports, 2013\n", comma(w.Readings()))
	loaded, err := w.Load(ctx, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "   loaded     %s into table %s (mutateRows, SYNC_WAL, one connection)\n", rate(loaded.Rows, "rows", loaded.Took), loaded.Table)
	read, err := w.ReadBack(ctx, o)
	if err != nil {
		return withHint(err, "if somebody else writes to table %s, disable and delete it first", loaded.Table)
	}
	fmt.Fprintf(a.out, "   read back  %s; all %s cells are as in the file\n\n", rate(read.Rows, "rows", read.Took), comma(read.Cells))
	if err := read.WriteTable(indent(a.out)); err != nil {
		return err
	}
	m, err := askMonths(ctx, addr, loaded.Table)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "\n   asked      for one column, %s: %s\n\n", monthsColumn, rate(m.total(), "rows", m.took))
	m.plot(indent(a.out))
	return nil
}

// records runs the published workload once.
func (a *app) records(ctx context.Context, s *background, addr string, n int) error {
	fmt.Fprintf(a.out, "\n2. The published load: %s records of 1 KB, ten connections, mutateRows of %d\n", comma(n), bench.DefaultBatch)
	results, err := bench.Thrift(ctx, bench.Options{
		Addr: addr, Records: n, Repeat: 1, Ops: []string{bench.OpLoad, bench.OpScan},
		ServerPID: s.PID, NoLock: true, Progress: terminal(a.err),
	})
	if err != nil {
		return err
	}
	slices.Reverse(results) // the load is the last
	for _, r := range results {
		took := time.Duration(r.Seconds * float64(time.Second))
		switch r.Op {
		case bench.OpLoad:
			fmt.Fprintf(a.out, "   loaded     %s, %s\n", rate(int(r.Count), "records", took), r.Durability)
			if n == bench.DefaultRecords {
				fmt.Fprintf(a.out, "              published: %.1f s, over ten connections too, by HBase on four machines; this was %.1f times as fast\n",
					published.Seconds(), published.Seconds()/took.Seconds())
			}
		case bench.OpScan:
			fmt.Fprintf(a.out, "   read back  %s, every value compared\n", rate(int(r.Count), "rows", took))
		}
	}
	fmt.Fprintln(a.out, "   The records' table is dropped again. One run as short as this says little: cellar bench thrift measures.")
	return nil
}
