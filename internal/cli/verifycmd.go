package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/cellardb/cellar/door/ops"
	"github.com/cellardb/cellar/server"
	"github.com/cellardb/cellar/store"
)

func (a *app) verifyCommand() *cobra.Command {
	var u upkeepFlags
	var backup string
	var asJSON bool
	c := &cobra.Command{
		Use:   "verify",
		Short: "Check a whole store, or a backup, for damage",
		Long: `Reads everything that a store holds and names every file that is damaged: where
in it, what is wrong, and which rows of which table are affected. It goes on
after the first. The exit status is 1 if anything is wrong.

If a server runs on the data folder it does the work, beside its clients; else
the store is looked at as it lies. Nothing is repaired and nothing changed: what
is damaged comes back from a backup.`,
		Example: `  cellar verify
  cellar verify --data /srv/cellar
  cellar verify --addr 10.0.0.7:8600 --rate 200MiB
  cellar verify --backup /backup/monday        its sums, and the store in it
  cellar verify --json | jq '.faults[].file'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			v := &verifying{a: a, json: asJSON, faults: []store.Fault{}, meter: newMeter(a.err, "verify")}
			rate, err := u.bytes(c.Flags())
			if err != nil {
				return err
			}
			begin := time.Now()
			report, err := v.run(c, &u, backup, rate)
			v.meter.clear()
			if err != nil {
				return err
			}
			return v.end(report, time.Since(begin))
		},
	}
	u.add(c.Flags())
	c.Flags().StringVar(&backup, "backup", "", "look at a backup in this folder, in place of a store")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// verifying is one run of the command.
type verifying struct {
	a      *app
	json   bool
	faults []store.Fault
	meter  *meter
}

func (v *verifying) found(f store.Fault) {
	v.meter.clear()
	if v.json {
		v.faults = append(v.faults, f)
		return
	}
	fmt.Fprintln(v.a.out, f.String())
}

func (v *verifying) run(c *cobra.Command, u *upkeepFlags, backup string, rate int64) (store.VerifyReport, error) {
	ctx := c.Context()
	o := store.VerifyOptions{Found: v.found, Progress: v.paced(ctx, rate)}
	if backup != "" {
		if u.addr != "" || c.Flags().Changed("data") {
			return store.VerifyReport{}, &usageError{errors.New("--backup is looked at by itself: leave --addr and --data out")}
		}
		return server.VerifyBackup(ctx, backup, o)
	}
	at, err := u.find(v.a, c)
	if err != nil {
		return store.VerifyReport{}, err
	}
	if at.addr == "" {
		return server.VerifyStore(ctx, at.config, o)
	}
	e, err := follow(ctx, at.addr, "/v1/admin/verify", ops.VerifyRequest{Rate: rate}, func(e ops.Event) {
		switch {
		case e.Fault != nil:
			v.found(*e.Fault)
		case e.Progress != nil:
			_ = v.meter.at(e.Progress.Done, e.Progress.Total) // a bar that cannot be drawn is not worth an error
		}
	})
	if err != nil {
		return store.VerifyReport{}, err
	}
	if e.Report == nil {
		return store.VerifyReport{}, errors.New("the server's reply has no report")
	}
	return *e.Report, nil
}

// paced draws the bar and, where a rate is given, waits.
func (v *verifying) paced(ctx context.Context, rate int64) func(done, total int64) error {
	begin := time.Now()
	return func(done, total int64) error {
		if rate > 0 {
			due := time.Duration(float64(done) / float64(rate) * float64(time.Second))
			select {
			case <-ctx.Done():
			case <-time.After(due - time.Since(begin)):
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		return v.meter.at(done, total)
	}
}

// end prints the report. That something is wrong is the command's failure.
func (v *verifying) end(r store.VerifyReport, took time.Duration) error {
	if v.json {
		if err := printJSON(v.a.out, struct {
			Sound  bool               `json:"sound"`
			Faults []store.Fault      `json:"faults"`
			Report store.VerifyReport `json:"report"`
		}{r.Sound(), v.faults, r}); err != nil {
			return err
		}
	} else {
		printReport(v.a.out, &r, took)
	}
	if r.Sound() {
		return nil
	}
	return withHint(fmt.Errorf("the store is not sound: %d damaged, %d unfinished", r.Damaged, r.Unfinished), "cellar restore brings a backup back")
}

func printReport(w io.Writer, r *store.VerifyReport, took time.Duration) {
	state := "sound"
	if !r.Sound() {
		state = "NOT sound"
	}
	fmt.Fprintf(w, "%s: %d files of %s, %d tables, %s cells, in %s\n", state, r.Files, human(r.Bytes), r.Tables, comma(int(r.Cells)), took.Round(time.Millisecond))
}
