package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/cellardb/cellar/door/ops"
	"github.com/cellardb/cellar/server"
)

// askTimeout bounds one question to a running server.
const askTimeout = 5 * time.Second

func (a *app) statusCommand() *cobra.Command {
	var addr string
	var asJSON bool
	c := &cobra.Command{
		Use:   "status",
		Short: "Show the server that runs on a data folder",
		Long:  "Shows the server that runs on a data folder of this machine, or at an HTTP address.\nThe exit status is 1 when there is none.",
		Example: `  cellar status
  cellar status --data /srv/cellar
  cellar status --addr 10.0.0.7:8600 --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if addr == "" {
				r, err := a.findRunning(c)
				if err != nil {
					return err
				}
				addr = r.Addresses[server.DoorHTTP]
			}
			st, err := askStatus(c.Context(), addr)
			if err != nil {
				return withHint(err, "is there a Cellar's HTTP port?")
			}
			if asJSON {
				return printJSON(a.out, st)
			}
			return printStatus(a.out, st)
		},
	}
	someSettingFlags(c.Flags(), "data")
	c.Flags().StringVar(&addr, "addr", "", "HTTP address of the server, in place of its data folder")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// findRunning finds the server on the data folder that the settings name.
func (a *app) findRunning(c *cobra.Command) (*server.Running, error) {
	e, err := a.load(c)
	if err != nil {
		return nil, err
	}
	r, err := server.FindRunning(e.config.Data)
	switch {
	case errors.Is(err, server.ErrNotRunning):
		return nil, withHint(err, "start one with cellar serve --data %s", e.config.Data)
	case errors.Is(err, server.ErrRunning):
		return nil, withHint(err, "try again in a moment")
	case err == nil && r.Tool != "":
		return nil, withHint(&server.RunningError{Data: r.Data, Server: r}, "try again when it is done")
	}
	return r, err
}

// askStatus asks a server over HTTP what it is.
func askStatus(ctx context.Context, addr string) (*ops.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/v1/status", nil)
	if err != nil {
		return nil, &usageError{fmt.Errorf("%q is no address: want host:port", addr)}
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask for status: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask for status: %s answers %s", addr, resp.Status)
	}
	st := &ops.Status{}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(st); err != nil || st.State == "" {
		return nil, fmt.Errorf("ask for status: %s does not answer as Cellar does", addr)
	}
	return st, nil
}

func printStatus(w io.Writer, st *ops.Status) error {
	uptime := time.Duration(st.UptimeSeconds * float64(time.Second)).Round(time.Second)
	fmt.Fprintf(w, "cellar %s is %s (process id %d, up %s)\n", st.Version, st.State, st.PID, uptime)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "  data\t%s (%s)\n", st.Data, st.Engine)
	for _, name := range slices.Sorted(maps.Keys(st.Addresses)) {
		fmt.Fprintf(t, "  %s\t%s\n", name, st.Addresses[name])
	}
	if st.Tables != nil {
		fmt.Fprintf(t, "  tables\t%d\n", *st.Tables)
	}
	fmt.Fprintf(t, "  memory\t%s%s\n", server.Bytes(st.MemoryBytes).Human(), memoryUse(st))
	if p := st.Pressure; p != nil {
		fmt.Fprintf(t, "  pressure\t%.2f (memtables %.2f, l0 %.2f, garbage %.2f, disk %.2f, in flight %.2f)\n",
			p.Value, p.Memtables, p.L0, p.Garbage, p.Disk, p.InFlight)
	}
	if d := st.Disk; d != nil {
		fmt.Fprintf(t, "  disk\t%s\n", diskUse(d))
	}
	return t.Flush()
}

// memoryUse lists the parts of the memory that are in use.
func memoryUse(st *ops.Status) string {
	var parts []string
	for _, p := range st.Memory {
		if p.UsedBytes > 0 {
			parts = append(parts, fmt.Sprintf("%s %s of %s", strings.ReplaceAll(p.Part, "_", " "),
				server.Bytes(p.UsedBytes).Human(), server.Bytes(p.BudgetBytes).Human()))
		}
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func diskUse(d *ops.Disk) string {
	text := server.Bytes(d.StoreBytes).Human() + " used"
	if d.SizeBytes > 0 {
		text += fmt.Sprintf(", %s of %s free, reserve %s", server.Bytes(d.FreeBytes).Human(),
			server.Bytes(d.SizeBytes).Human(), server.Bytes(d.ReserveBytes).Human())
	}
	switch {
	case d.Waiting:
		text += "; FULL: the store waits for space"
	case d.Full:
		text += "; FULL: writes are refused until there is room"
	}
	return text
}
