package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cellardb/cellar/door/ops"
	"github.com/cellardb/cellar/server"
)

// upkeepFlags are those of the commands that work on a store as a whole, of a
// server that runs or without one.
type upkeepFlags struct{ addr string }

func (u *upkeepFlags) add(flags *pflag.FlagSet) {
	someSettingFlags(flags, "data")
	flags.StringVar(&u.addr, "addr", "", "HTTP address of the server, in place of its data folder")
	flags.Var(&textValue{kind: "SIZE"}, "rate", "bytes to read in a second, as 100MiB; \"off\" for as fast as it goes\n(64MiB through a running server, off without one)")
}

// bytes reads --rate: 0 is the default, below 0 is unbounded.
func (u *upkeepFlags) bytes(flags *pflag.FlagSet) (int64, error) {
	text := flags.Lookup("rate").Value.String()
	switch text {
	case "":
		return 0, nil
	case "off":
		return -1, nil
	}
	var b server.Bytes
	if err := b.UnmarshalText([]byte(text)); err != nil || b <= 0 {
		return 0, &usageError{fmt.Errorf("--rate %q is no size: want as 100MiB, or off", text)}
	}
	return int64(b), nil
}

// place is where the store is: behind a server, or, if addr is empty, closed in
// the data folder of the settings.
type place struct {
	addr   string
	config server.Config
}

// find looks for the server; that there is none is no error.
func (u *upkeepFlags) find(a *app, c *cobra.Command) (place, error) {
	if u.addr != "" {
		if c.Flags().Changed("data") {
			return place{}, &usageError{errors.New("--addr and --data name two places: give one")}
		}
		return place{addr: u.addr}, nil
	}
	e, err := a.load(c)
	if err != nil {
		return place{}, err
	}
	r, err := server.FindRunning(e.config.Data)
	switch {
	case errors.Is(err, server.ErrNotRunning):
		return place{config: e.config}, nil
	case errors.Is(err, server.ErrRunning):
		return place{}, withHint(err, "try again in a moment")
	case err != nil:
		return place{}, err
	case r.Tool != "":
		return place{}, withHint(&server.RunningError{Data: r.Data, Server: r}, "wait for its end")
	case r.Addresses[server.DoorHTTP] == "":
		return place{}, fmt.Errorf("the server with process id %d on %s has no HTTP port, by which this goes: stop it first", r.PID, r.Data)
	}
	return place{addr: r.Addresses[server.DoorHTTP]}, nil
}

// post asks a server for a work that takes its time. The reply's body is the
// caller's to close.
func post(ctx context.Context, addr, path string, body any) (io.ReadCloser, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+path, bytes.NewReader(text))
	if err != nil {
		return nil, &usageError{fmt.Errorf("%q is no address: want host:port", addr)}
	}
	req.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the server: %w", err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	var f ops.Failure
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&f); err != nil || f.Error == "" {
		return nil, fmt.Errorf("ask the server: %s answers %s", addr, resp.Status)
	}
	return nil, errors.New(f.Error)
}

// follow reads the events of a work until its outcome, which it returns.
func follow(ctx context.Context, addr, path string, body any, each func(ops.Event)) (ops.Event, error) {
	r, err := post(ctx, addr, path, body)
	if err != nil {
		return ops.Event{}, err
	}
	defer r.Close()
	d := json.NewDecoder(r)
	for {
		var e ops.Event
		if err := d.Decode(&e); err != nil {
			if ctx.Err() != nil {
				return e, ctx.Err()
			}
			return e, fmt.Errorf("the server's reply ended before the work did: %w", err)
		}
		switch {
		case e.Failure != nil:
			return e, errors.New(e.Failure.Error)
		case e.Report != nil, e.Backup != nil:
			return e, nil
		}
		each(e)
	}
}

// meter draws a bar for somebody who watches, and is silent elsewhere.
type meter struct {
	mu   sync.Mutex
	w    io.Writer
	what string
	bar  *progressbar.ProgressBar
}

func newMeter(w io.Writer, what string) *meter { return &meter{w: terminal(w), what: what} }

// at says how far things are; a total of 0 is not known.
func (m *meter) at(done, total int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.w == nil {
		return nil
	}
	if m.bar == nil {
		if total == 0 {
			total = -1
		}
		m.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(m.w), progressbar.OptionSetDescription(m.what),
			progressbar.OptionShowBytes(true), progressbar.OptionThrottle(150*time.Millisecond),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30))
	}
	_ = m.bar.Set64(done) // a bar that cannot be drawn is not worth an error
	return nil
}

// clear takes the bar away.
func (m *meter) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bar != nil {
		_ = m.bar.Clear() // as above
	}
}

func human(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }
