package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cellardb/cellar/bench"
	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/server"
)

func (a *app) benchCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure a server, this one or another",
		Long: `Runs a workload that others published against a server, verifies what it wrote,
and shows the figures beside theirs. Without --addr it starts a server of its own,
in a process and a temporary folder that it removes at the end.`,
		Example: `  cellar bench thrift
  cellar bench all --scale 0.01`,
		Args: noCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.benchThriftCommand(), a.benchAllCommand())
	return c
}

// benchServerSettings are the settings that the bench's own server may be given.
var benchServerSettings = []string{"engine", "memory", "wal.sync", "fault.fsync_delay"}

// benchFlags are the flags of every workload.
type benchFlags struct {
	durability string
	ops        string
	asJSON     bool
	spec       bool
	temp       string
}

func (a *app) benchThriftCommand() *cobra.Command {
	c, _ := a.benchThriftRun()
	return c
}

// benchThriftRun makes the command, and what measures by its flags once they are
// parsed.
func (a *app) benchThriftRun() (c *cobra.Command, measure func(ctx context.Context) ([]bench.Result, error)) {
	var o bench.Options
	var f benchFlags
	measure = func(ctx context.Context) ([]bench.Result, error) {
		if err := f.into(&o); err != nil {
			return nil, &usageError{err}
		}
		return a.benchThrift(ctx, c, o, f)
	}
	c = &cobra.Command{
		Use:   "thrift",
		Short: "Load, scan and get records, or count, through the HBase Thrift 1 interface",
		Long: `Loads records of about 1 KB by mutateRows, scans all of them back and reads random
ones, through the HBase Thrift 1 interface: Cellar's, or that of Apache's gateway.
Short loads are repeated on fresh tables until 5 seconds are measured.

Operations that --op names beside load, scan and get:
  increment   adds to 1,000 counters by incrementRows, and compares the exact sums
  filter      scans with a filter that keeps one row in 1,000
  overwrite   overwrites what was loaded, in turn, at --rate for --duration
  rescan      scans what was loaded, the same overwritten ten times, and compacted
  start       kills the server and stops it, and measures until it is ready again
  backup      backs the store up (cellar backup -) beside a load, and compares with
              loads before and after

The tables are called cellar_bench_thrift_..., with this process's number and the
time in their names, and are dropped at the end unless something in them is wrong.`,
		Example: `  cellar bench thrift                              a server of its own, 60,000 records, ten connections
  cellar bench thrift --records 600000 --memory 1GiB
  cellar bench thrift --mode shared                one connection for all ten writers
  cellar bench thrift --durability SKIP_WAL
  cellar bench thrift --op increment               1,000,000 increments over 1,000 rows
  cellar bench thrift --op load --records 6000000 --readers 2 --read-rate 200
                                                   6 GB, and random reads beside the load
  cellar bench thrift --op load --connections 100 --duration 2m
                                                   more producers than the store can take
  cellar bench thrift --op overwrite --records 1000000 --rate 30000 --duration 3m
  cellar bench thrift --fault-fsync-delay 5ms      on a slow disk
  cellar bench thrift --addr gateway.example:9090  somebody else's server
  cellar bench thrift --op load --json | jq .rate`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.spec {
				return bench.WriteSpec(a.out)
			}
			ctx, stop := interruptible(c.Context())
			defer stop()
			results, err := measure(ctx)
			return errors.Join(err, a.report(results, f.asJSON))
		},
	}
	f.workload(c.Flags(), &o)
	f.common(c.Flags(), &o)
	return c, measure
}

// workload adds the flags of the Thrift workload alone.
func (f *benchFlags) workload(flags *pflag.FlagSet, o *bench.Options) {
	flags.StringVar(&o.Mode, "mode", bench.ModePrivate, "private: a connection for each writer; shared: one under a lock for all")
	flags.IntVar(&o.Records, "records", 0, "records to load (60000, or as many as --duration allows)")
	flags.DurationVar(&o.Duration, "duration", 0, "of --op overwrite, and of each load of --op backup (30s); without those, when the load ends at the latest")
	flags.IntVar(&o.Rate, "rate", 0, "records a second that load and overwrite do not exceed (no limit)")
	flags.IntVar(&o.Readers, "readers", 0, "connections that getRow random rows beside the load")
	flags.IntVar(&o.ReadRate, "read-rate", 0, "rows a second that all --readers together do not exceed (no limit)")
	flags.IntVar(&o.Batch, "batch", bench.DefaultBatch, "records in a mutateRows, increments in an incrementRows")
	flags.IntVar(&o.ScanRows, "scan-rows", bench.DefaultScanRows, "rows asked of a scannerGetList")
	flags.IntVar(&o.Gets, "gets", bench.DefaultGets, "random getRow in a repetition")
	flags.IntVar(&o.Increments, "increments", bench.DefaultIncrements, "increments in a repetition of --op increment")
	flags.IntVar(&o.Pipeline, "pipeline", 1, "requests that a connection has under way; other clients have 1")
	flags.BoolVar(&o.Framed, "framed", false, "framed transport in place of buffered")
	flags.BoolVar(&o.Compact, "compact", false, "compact protocol in place of binary")
	flags.DurationVar(&o.Timeout, "timeout", 0, "of a single call (2m)")
}

// common adds the flags that every workload has.
func (f *benchFlags) common(flags *pflag.FlagSet, o *bench.Options) {
	flags.StringVar(&o.Addr, "addr", "", "HOST:PORT of the server; without it one is started")
	flags.IntVar(&o.Connections, "connections", bench.DefaultConnections, "connections, and as many readers")
	flags.IntVar(&o.Producers, "producers", 0, "writers that load (as many as --connections)")
	flags.StringVar(&f.durability, "durability", cell.SyncWAL.String(), "of the load: SYNC_WAL or SKIP_WAL")
	flags.StringVar(&f.ops, "op", "", "operations to report, with commas: load, scan, get, increment, filter, overwrite, rescan, start, backup (the first three)")
	flags.IntVar(&o.Repeat, "repeat", 0, "repetitions of each operation (until it took 5 s)")
	flags.Uint64Var(&o.Seed, "seed", 1, "of the generator")
	flags.BoolVar(&o.NoVerify, "no-verify", false, "do not compare what is read with what was written")
	flags.BoolVar(&f.asJSON, "json", false, "print an object a line for each operation, the main one last")
	flags.BoolVar(&f.spec, "spec", false, "print how the data is generated, and do nothing")
	flags.StringVar(&f.temp, "temp", "", "folder in which the server's own folder is made (the system's)")
	someSettingFlags(flags, benchServerSettings...)
}

// into puts flags that need reading into the options.
func (f *benchFlags) into(o *bench.Options) error {
	d, err := cell.ParseDurability(f.durability)
	if err != nil {
		return err
	}
	o.Durability = d
	if f.ops != "" {
		o.Ops = strings.Split(f.ops, ",")
	}
	return nil
}

// benchThrift runs the workload, with a server of its own if none was named.
func (a *app) benchThrift(ctx context.Context, c *cobra.Command, o bench.Options, f benchFlags) (results []bench.Result, err error) {
	o.Lock = bench.LockPath(a.environment)
	o.Progress = a.err
	serverFlags := changedFlags(c, benchServerSettings)
	if o.Addr != "" && len(serverFlags) > 0 {
		return nil, &usageError{fmt.Errorf("%s is of the server that bench starts, and --addr names another", serverFlags[0])}
	}
	var settings map[string]any // of the server, by flag, if it is ours
	if o.Addr == "" {
		check := o
		// These stand for those to come.
		check.Addr, check.StatsURL = "127.0.0.1:9090", "http://127.0.0.1:8600/metrics"
		check.Backup = func(context.Context) (int64, error) { return 0, nil }
		check.Restart = func(context.Context, bool) (bench.Restarted, error) { return bench.Restarted{}, nil }
		if err := check.Validate(); err != nil {
			return nil, &usageError{err}
		}
		e, err := a.load(c)
		if err != nil {
			return nil, err
		}
		settings = effectiveSettings(e.config, benchServerSettings)
		own, err := a.startTemporary(ctx, f.temp, serverFlags)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, own.remove()) }()
		where := own.where()
		o.Addr, o.ServerPID, o.StatsURL = where.Addr, where.PID, where.StatsURL
		o.Restart, o.Backup = own.restart, own.backup
	} else if err := o.Validate(); err != nil {
		return nil, &usageError{err}
	}
	results, err = bench.Thrift(ctx, o)
	for i := range results {
		addFlags(results[i].Config, c.Flags())
		maps.Copy(results[i].Config, settings)
	}
	return results, err
}

func (a *app) report(results []bench.Result, asJSON bool) error {
	if asJSON {
		return bench.WriteJSON(a.out, results)
	}
	return bench.Report(a.out, results, width(a.out))
}

// interruptible ends a context at the signals to stop, so that what was started
// is taken away again.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, stopSignals()...)
}

// stopSignals are those that ask this process to end: Ctrl-C, SIGTERM, and the
// end of its terminal unless it was told not to mind (nohup).
func stopSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// changedFlags gives the flags of settings that a command line has, as another
// command takes them.
func changedFlags(c *cobra.Command, keys []string) []string {
	var args []string
	for _, s := range server.Settings() {
		f := c.Flags().Lookup(s.Flag())
		if f == nil || !f.Changed {
			continue
		}
		for _, key := range keys {
			if key == s.Key {
				args = append(args, "--"+s.Flag()+"="+f.Value.String())
			}
		}
	}
	if f := c.Flags().Lookup("config"); f != nil && f.Changed {
		args = append(args, "--config="+f.Value.String())
	}
	return args
}

// addFlags notes every flag of a command by its name, but those that are there
// already, with the value that the workload took, and those of the settings of
// a server.
func addFlags(config map[string]any, flags *pflag.FlagSet) {
	settings := map[string]bool{"help": true, "config": true}
	for _, s := range server.Settings() {
		settings[s.Flag()] = true
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if _, there := config[f.Name]; there || settings[f.Name] {
			return
		}
		config[f.Name] = f.Value.String()
		if f.Value.Type() == "bool" {
			config[f.Name] = f.Value.String() == "true"
		}
	})
	if f := flags.Lookup("config"); f != nil && f.Changed {
		config["config"] = f.Value.String()
	}
}

// effectiveSettings are the values that a server works with, by the names of
// their flags, wherever they come from.
func effectiveSettings(cfg server.Config, keys []string) map[string]any {
	values := map[string]any{}
	for _, s := range server.Settings() {
		if slices.Contains(keys, s.Key) {
			values[s.Flag()] = s.Plain(&cfg)
		}
	}
	return values
}
