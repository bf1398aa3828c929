package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/cellardb/cellar/internal/top"
	"github.com/cellardb/cellar/server"
)

// plainColumns is how wide a line is in a file or a pipe.
const plainColumns = 120

// topOptions are the flags of top.
type topOptions struct {
	addr     string
	once     bool
	batch    int
	interval time.Duration
	tables   int
}

func (a *app) topCommand() *cobra.Command {
	var o topOptions
	c := &cobra.Command{
		Use:   "top",
		Short: "Watch a running server",
		Long: `Watches the server that runs on a data folder of this machine, or at an HTTP
address: pressure, memory, disk, requests by method with their latencies, and
the tables that are read and written most.

In the view: q leaves, p pauses, ? explains it; h, w, W, r, R and n sort the
tables. Where the output is no terminal, and with --once or --batch, it is plain
text. A server that is stopped is shown as such, and again when it is back.`,
		Example: `  cellar top
  cellar top --data /srv/cellar --interval 5s
  cellar top --addr 10.0.0.7:8600
  cellar top --once                      one view as text
  cellar top --batch 60 > minute.txt     sixty of them, a second apart`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(c); err != nil {
				return err
			}
			return a.top(c, &o)
		},
	}
	someSettingFlags(c.Flags(), "data")
	f := c.Flags()
	f.StringVar(&o.addr, "addr", "", "HTTP address of the server, in place of its data folder")
	f.BoolVar(&o.once, "once", false, "write one view as plain text and end")
	f.IntVar(&o.batch, "batch", 0, "write so many views as plain text and end")
	f.DurationVar(&o.interval, "interval", time.Second, "time between two looks at the server, 100ms to 1h")
	f.IntVar(&o.tables, "tables", 50, "how many of the hottest tables are shown, 1 to 1000")
	return c
}

func (o *topOptions) check(c *cobra.Command) error {
	switch {
	case o.interval < 100*time.Millisecond || o.interval > time.Hour:
		return &usageError{fmt.Errorf("--interval %s is not right: want 100ms to 1h", o.interval)}
	case o.tables < 1 || o.tables > 1000:
		return &usageError{fmt.Errorf("--tables %d is not right: want 1 to 1000", o.tables)}
	case c.Flags().Changed("batch") && o.batch < 1:
		return &usageError{fmt.Errorf("--batch %d is not right: want 1 or more", o.batch)}
	case o.once && c.Flags().Changed("batch"):
		return &usageError{errors.New("--once and --batch exclude each other")}
	}
	return nil
}

func (a *app) top(c *cobra.Command, o *topOptions) error {
	ask, err := a.topSource(c, o)
	if err != nil {
		return err
	}
	// A signal ends the view as q does: the terminal is given back.
	ctx, stop := interruptible(c.Context())
	defer stop()
	if o.once || o.batch == 0 && !isTerminal(a.out) {
		o.batch = 1
	}
	if o.batch > 0 {
		columns := width(a.out)
		if columns == 0 {
			columns = plainColumns
		}
		return top.Batch(ctx, ask.Sample, a.out, o.batch, o.interval, columns)
	}
	screen, err := tcell.NewScreen()
	if err != nil {
		return withHint(fmt.Errorf("open the terminal: %w", err), "cellar top --once writes plain text")
	}
	return top.Live(ctx, ask.Sample, screen, o.interval)
}

// isTerminal says whether w leads to one; its size may not be known.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// topSource finds the server. It has to be there at first; later it may come
// and go, and have another address.
func (a *app) topSource(c *cobra.Command, o *topOptions) (*top.Source, error) {
	if o.addr != "" {
		return &top.Source{Locate: func() (string, error) { return o.addr, nil }, Tables: o.tables}, nil
	}
	r, err := a.findRunning(c)
	if err != nil {
		return nil, err
	}
	data := r.Data
	return &top.Source{Tables: o.tables, Locate: func() (string, error) {
		r, err := server.FindRunning(data)
		if err != nil {
			return "", err
		}
		return r.Addresses[server.DoorHTTP], nil
	}}, nil
}
