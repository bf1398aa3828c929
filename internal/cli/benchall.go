package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cellardb/cellar/bench"
	"github.com/cellardb/cellar/server"
)

// benchAll is what "cellar bench all" is asked for.
type benchAll struct {
	scale  float64
	runs   int
	only   []string
	folder string // "": no files
	name   string
	title  string
	from   string // "": measure
	temp   string
	list   bool
}

func (a *app) benchAllCommand() *cobra.Command {
	var f benchAll
	c := &cobra.Command{
		Use:   "all",
		Short: "Do every experiment and write one report",
		Long: `Does every experiment, each on a server of its own that is removed at the end, and
writes one report: Markdown to standard output, with --report also files of
Markdown, SVG and JSON. Scale 1 is the sizes that were published, and needs about
twenty minutes and 30 GB of disk; 0.01 is a try.

An experiment that fails does not keep the others from being done; the report
names it, and the exit status is 1.`,
		Example: `  cellar bench all --scale 0.01
  cellar bench all --list
  cellar bench all --report bench/results --runs 3
  cellar bench all --only sustained,overload --temp /mnt/disk
  cellar bench all --from bench/results/2026-12-01-all.json --report bench/results`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := interruptible(c.Context())
			defer stop()
			return a.benchAll(ctx, &f)
		},
	}
	flags := c.Flags()
	flags.Float64Var(&f.scale, "scale", 1, "share of the published sizes")
	flags.IntVar(&f.runs, "runs", 1, "runs of each experiment; the report shows the median")
	flags.StringSliceVar(&f.only, "only", nil, "experiments to do, with commas (all)")
	flags.StringVar(&f.folder, "report", "", "folder to write the report into, as NAME.md, NAME.svg and NAME.json")
	flags.StringVar(&f.name, "name", "", "NAME of the report (DATE-all)")
	flags.StringVar(&f.title, "title", "Every experiment", "title of the report")
	flags.StringVar(&f.from, "from", "", "NAME.json of an earlier run, to write its report again")
	flags.StringVar(&f.temp, "temp", "", "folder in which the servers' own folders are made (the system's)")
	flags.BoolVar(&f.list, "list", false, "list the experiments with their commands, and do nothing")
	return c
}

// chosen are the experiments to be done, at their scale.
func (f *benchAll) chosen() ([]bench.Experiment, error) {
	if err := bench.CheckScale(f.scale); err != nil {
		return nil, err
	}
	if f.runs < 1 || f.runs > 100 {
		return nil, fmt.Errorf("--runs is %d: choose 1 to 100", f.runs)
	}
	var all []bench.Experiment
	var known []string
	for _, e := range bench.Experiments() {
		known = append(known, e.Name)
		if f.only == nil || slices.Contains(f.only, e.Name) {
			all = append(all, e.Scaled(f.scale))
		}
	}
	for _, name := range f.only {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("--only is %s: choose of %s", name, strings.Join(known, ", "))
		}
	}
	return all, nil
}

func (a *app) benchAll(ctx context.Context, f *benchAll) error {
	chosen, err := f.chosen()
	if err != nil {
		return &usageError{err}
	}
	if f.list {
		for _, e := range chosen {
			fmt.Fprintf(a.out, "%s: %s\n  %s\n", e.Name, e.Title, e.Command())
		}
		return nil
	}
	if f.folder != "" {
		// Before hours of work, not after.
		if st, err := os.Stat(f.folder); err != nil || !st.IsDir() {
			return &usageError{fmt.Errorf("--report is %s: there is no such folder", f.folder)}
		}
	}
	now := time.Now()
	d := bench.Document{Title: f.title, Date: now, Machine: bench.Machine(), Commit: commit(), Command: f.command()}
	if f.from != "" {
		err = d.ReadFile(f.from)
	} else {
		err = a.experiments(ctx, f, chosen, &d)
	}
	if len(d.Results) == 0 {
		return err
	}
	if f.name == "" {
		f.name = d.Date.Format(time.DateOnly) + "-all"
	}
	return errors.Join(err, f.write(a.out, &d))
}

// experiments does them all, again and again. Rounds, not repetitions of each:
// what disturbs a machine for some minutes then disturbs one run of several.
func (a *app) experiments(ctx context.Context, f *benchAll, chosen []bench.Experiment, d *bench.Document) error {
	var errs []error
	for round := range f.runs {
		for i, e := range chosen {
			fmt.Fprintf(a.err, "%d of %d: %s\n", round*len(chosen)+i+1, f.runs*len(chosen), e.Name)
			results, err := a.experiment(ctx, f, e)
			e.Mark(results, f.scale)
			d.Results = append(d.Results, results...)
			if ctx.Err() != nil {
				return errors.Join(append(errs, err)...)
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", e.Name, err)
				fmt.Fprintln(a.err, err)
				d.Failures = append(d.Failures, message(err))
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

func (a *app) experiment(ctx context.Context, f *benchAll, e bench.Experiment) ([]bench.Result, error) {
	c, measure := a.benchThriftRun()
	args := e.Args
	if f.temp != "" {
		args = append(slices.Clone(args), "--temp="+f.temp)
	}
	if err := c.ParseFlags(args); err != nil {
		return nil, err
	}
	return measure(ctx)
}

// command is the command line that does it again.
func (f *benchAll) command() string {
	text := "cellar bench all --scale " + strconv.FormatFloat(f.scale, 'g', -1, 64) + " --runs " + strconv.Itoa(f.runs)
	if f.only != nil {
		text += " --only " + strings.Join(f.only, ",")
	}
	return text
}

// write writes the report to out and, if there is a folder, into files there.
func (f *benchAll) write(out io.Writer, d *bench.Document) error {
	if f.folder == "" {
		return d.WriteMarkdown(out, "")
	}
	return errors.Join(d.WriteMarkdown(out, f.name+".svg"), d.WriteFiles(f.folder, f.name))
}

// commit is that of this build.
func commit() string {
	b := server.ReadBuild()
	if b.Modified {
		return b.Commit + ", modified"
	}
	return b.Commit
}
