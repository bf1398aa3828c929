package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cellardb/cellar/bench/thriftclient"
	"github.com/cellardb/cellar/cell"
)

// Operations of the Thrift workload.
const (
	OpLoad = "load" // mutateRows
	OpScan = "scan" // scannerGetList until everything was read
	OpGet  = "get"  // getRow of random rows

	// Those that follow are done only where they are asked for.

	OpIncrement = "increment" // incrementRows, on tables of its own
	OpFilter    = "filter"    // a scan with a filter that keeps one row in 1,000
	OpOverwrite = "overwrite" // mutateRows of rows that are there, again and again
	// OpRescan is a scan of what was loaded, of the same after every record was
	// overwritten ten times, and after a major compaction.
	OpRescan = "rescan"
	// OpStart starts the server again on the loaded folder, after a stop in
	// order and after a kill; Restart does it.
	OpStart = "start"
	// OpBackup backs the store up beside a load, and loads as much without.
	OpBackup = "backup"
)

// Operations that are not asked for by their own names.
const (
	// OpRead is getRow beside a load: Readers.
	OpRead = "read"
	// Those of OpRescan.
	OpScanClean       = "scan-clean"
	OpScanOverwritten = "scan-overwritten"
	OpScanCompacted   = "scan-compacted"
	// OpStartKilled is the part of OpStart after a kill.
	OpStartKilled = "start-killed"
	// The loads of OpBackup, without backups and beside them.
	OpIngest       = "ingest"
	OpIngestBackup = "ingest-backup"
)

// asked are the operations that Options.Ops may name.
var askedOps = []string{OpLoad, OpScan, OpGet, OpIncrement, OpFilter, OpOverwrite, OpRescan, OpStart, OpBackup}

// Modes of the load.
const (
	ModePrivate = "private" // a connection for each writer
	ModeShared  = "shared"  // one connection, passed around under a lock
)

// FigureSeconds is how long an operation must have run to give a figure;
// shorter ones are repeated.
const FigureSeconds = 5

// Defaults of Options.
const (
	DefaultRecords     = 60000
	DefaultConnections = 10
	DefaultBatch       = 300
	DefaultScanRows    = 1000
	DefaultGets        = 20000
	DefaultIncrements  = 1000000
	// DefaultDuration of OpOverwrite and of each load of OpBackup.
	DefaultDuration = 30 * time.Second
)

// maxRepeat bounds repetitions, whatever their number is chosen by.
const maxRepeat = 1000

// Options of the Thrift workload. The zero value of each field but Addr is the
// default that it names.
type Options struct {
	// Addr is the Thrift server's host:port.
	Addr string
	// Records to load into a table; 0: 60,000, or as many as Duration allows.
	Records int
	// Connections, and as many goroutines; 0: 10.
	Connections int
	// Producers is the number of goroutines that load, each with a connection
	// unless they share one (Mode); 0: as many as Connections.
	Producers int
	// Mode of the load, ModePrivate or ModeShared; "": private.
	Mode string
	// Durability of the load: SyncWAL or SkipWAL, as the Thrift interface knows
	// no other; UseDefault: SyncWAL.
	Durability cell.Durability
	// Repeat is how often each operation is done, the load on a fresh table
	// each time; 0: until it took FigureSeconds altogether.
	Repeat int
	// Seed of the generator; 0: 1.
	Seed uint64
	// NoVerify leaves out the comparison of what is read with what was written.
	NoVerify bool
	// Ops to report; nil: OpLoad, OpScan, OpGet. A load is done for any but
	// OpIncrement, and, unless NoVerify, a scan.
	Ops []string
	// Duration of OpOverwrite and of each load of OpBackup, where 0 is 30 s, if one
	// of them is asked for; else of the load, which ends then or with Records, whichever is first, where 0 is
	// without an end.
	Duration time.Duration
	// Rate in records a second that load and overwrite do not exceed; 0: as fast
	// as they can.
	Rate int
	// Readers that getRow random rows beside the load, each on a connection of
	// its own. 0: none. More report OpRead.
	Readers int
	// ReadRate in rows a second that all Readers together do not exceed; 0: as
	// fast as they can.
	ReadRate int
	// Batch is the number of records in a mutateRows, and of increments in an
	// incrementRows; 0: 300.
	Batch int
	// ScanRows is the number of rows asked of a scannerGetList; 0: 1000.
	ScanRows int
	// Gets is the number of getRow in one repetition; 0: 20,000.
	Gets int
	// Increments is the number of increments in one repetition; 0: 1,000,000.
	Increments int
	// Pipeline is how many requests a connection has under way; 0: 1, as
	// ordinary clients. More need ModePrivate.
	Pipeline int
	// Framed and Compact choose transport and protocol; false: buffered, binary.
	Framed, Compact bool
	// Timeout of a single call; 0: two minutes.
	Timeout time.Duration

	// ServerPID is the server's process on this machine, for its CPU seconds,
	// memory and disk traffic; 0: not known, and null in the results.
	ServerPID int
	// StatsURL is the address of the server's Prometheus metrics, for its
	// fsyncs and, without a ServerPID, what else they hold; "": none.
	StatsURL string

	// Restart ends the server, in order or by kill -9, and starts it again on the
	// same folder. Nil: it is not ours, and OpStart cannot be done.
	Restart func(ctx context.Context, kill bool) (Restarted, error)

	// Backup backs the server's store up and returns the size of the backup in
	// bytes. Nil: it is not ours, and OpBackup cannot be done.
	Backup func(ctx context.Context) (int64, error)

	// Lock is the path of the lock file; "": LockPath without an environment.
	Lock string
	// NoLock measures without the lock.
	NoLock bool
	// Progress is told what goes on: a bar if it is a terminal, else lines;
	// nil: nothing.
	Progress io.Writer
}

// Restarted is a server that was started again.
type Restarted struct {
	// Took is the time from the start of the process until it was ready.
	Took time.Duration
	// Addr, PID and StatsURL are the new Options.Addr, ServerPID and StatsURL.
	Addr     string
	PID      int
	StatsURL string
}

// LockPath is where the lock file of benchmarks is: $BENCH_LOCK, or
// cellar-bench.lock in the temporary folder. A nil getenv is an empty
// environment.
func LockPath(getenv func(string) string) string {
	if getenv != nil {
		if path := getenv("BENCH_LOCK"); path != "" {
			return path
		}
	}
	return filepath.Join(os.TempDir(), "cellar-bench.lock")
}

// withDefaults fills zero fields.
func (o Options) withDefaults() Options {
	orInt := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	if len(o.Ops) == 0 {
		o.Ops = []string{OpLoad, OpScan, OpGet}
	}
	if o.Duration == 0 && o.lasts() {
		o.Duration = DefaultDuration
	}
	if o.Duration == 0 || o.lasts() {
		orInt(&o.Records, DefaultRecords)
	}
	orInt(&o.Connections, DefaultConnections)
	orInt(&o.Producers, o.Connections)
	orInt(&o.Batch, DefaultBatch)
	orInt(&o.ScanRows, DefaultScanRows)
	orInt(&o.Gets, DefaultGets)
	orInt(&o.Increments, DefaultIncrements)
	orInt(&o.Pipeline, 1)
	if o.Timeout == 0 {
		o.Timeout = 2 * time.Minute
	}
	if o.Mode == "" {
		o.Mode = ModePrivate
	}
	if o.Durability == cell.UseDefault {
		o.Durability = cell.SyncWAL
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	if o.Lock == "" {
		o.Lock = LockPath(nil)
	}
	return o
}

// Validate says which field has a value that cannot be, by the name of its
// flag.
func (o Options) Validate() error {
	o = o.withDefaults()
	var errs []error
	bad := func(flag string, value any, want string) {
		errs = append(errs, fmt.Errorf("--%s is %v: %s", flag, value, want))
	}
	if o.Addr == "" {
		bad("addr", `""`, "give the host:port of a Thrift server")
	}
	for _, f := range []struct {
		flag     string
		v        int
		min, max int
	}{
		{"records", o.Records, 0, 1 << 30},
		{"connections", o.Connections, 1, 10000},
		{"producers", o.Producers, 1, 10000},
		{"repeat", o.Repeat, 0, maxRepeat},
		{"batch", o.Batch, 1, 50000},
		{"scan-rows", o.ScanRows, 1, 1 << 20},
		{"gets", o.Gets, 1, 1 << 30},
		{"increments", o.Increments, 1, 1 << 30},
		{"pipeline", o.Pipeline, 1, 1000},
		{"rate", o.Rate, 0, 1 << 30},
		{"readers", o.Readers, 0, 10000},
		{"read-rate", o.ReadRate, 0, 1 << 30},
	} {
		if f.v < f.min || f.v > f.max {
			bad(f.flag, f.v, fmt.Sprintf("choose %d to %d", f.min, f.max))
		}
	}
	if o.Mode != ModePrivate && o.Mode != ModeShared {
		bad("mode", o.Mode, "choose private or shared")
	}
	if o.Durability != cell.SyncWAL && o.Durability != cell.SkipWAL {
		bad("durability", o.Durability, "the Thrift interface knows SYNC_WAL and SKIP_WAL")
	}
	if o.Mode == ModeShared && o.Pipeline > 1 {
		bad("pipeline", o.Pipeline, "a shared connection is locked for each call; use --mode private")
	}
	for _, op := range o.Ops {
		if !slices.Contains(askedOps, op) {
			bad("op", op, "choose "+strings.Join(askedOps[:len(askedOps)-1], ", ")+" or "+askedOps[len(askedOps)-1])
		}
	}
	return errors.Join(append(errs, o.validateNew()...)...)
}

// validateNew is Validate for what belongs to some operations alone.
func (o *Options) validateNew() (errs []error) {
	bad := func(flag string, value any, want string) {
		errs = append(errs, fmt.Errorf("--%s is %v: %s", flag, value, want))
	}
	if o.Duration < 0 || o.Duration > maxDuration {
		bad("duration", o.Duration, fmt.Sprintf("choose up to %v", maxDuration))
	}
	if o.ReadRate > 0 && o.Readers == 0 {
		bad("read-rate", o.ReadRate, "it is of --readers, and there are none")
	}
	if o.wants(OpStart) && o.Restart == nil {
		bad("op", OpStart, "only a server of bench's own can be started again: leave out --addr")
	}
	if o.wants(OpBackup) && o.Backup == nil {
		bad("op", OpBackup, "only a server of bench's own is backed up: leave out --addr")
	}
	if o.wants(OpRescan) && o.StatsURL == "" {
		bad("op", OpRescan, "the end of a compaction is seen in Cellar's metrics: leave out --addr")
	}
	if o.rewrites() && o.Mode == ModeShared {
		bad("mode", o.Mode, "to overwrite, each writer needs a connection of its own: choose private")
	}
	if o.rewrites() && o.Pipeline > 1 {
		bad("pipeline", o.Pipeline, "to overwrite, a write must be done before the next of the same record: choose 1")
	}
	if o.wants(OpStart) && !o.Durability.Synced() {
		bad("durability", o.Durability, "what is not in the log does not live through a kill; --op start needs SYNC_WAL")
	}
	return errs
}

// maxDuration bounds Duration.
const maxDuration = 24 * time.Hour

// lasts says whether there is an operation, not the load, that goes on for
// Duration.
func (o *Options) lasts() bool { return o.wants(OpOverwrite) || o.wants(OpBackup) }

// rewrites says whether some operation overwrites what is loaded.
func (o *Options) rewrites() bool {
	return o.wants(OpOverwrite) || o.wants(OpRescan) || o.wants(OpStart)
}

func (o *Options) wants(op string) bool { return slices.Contains(o.Ops, op) }

func (o *Options) client() thriftclient.Options {
	return thriftclient.Options{Framed: o.Framed, Compact: o.Compact, Timeout: o.Timeout}
}

// config is the options as they are reported, by the names of their flags.
func (o *Options) config() map[string]any {
	return map[string]any{
		"addr": o.Addr, "records": o.Records, "connections": o.Connections, "producers": o.Producers, "mode": o.Mode,
		"durability": o.Durability.String(), "repeat": o.Repeat, "seed": o.Seed, "no-verify": o.NoVerify,
		"op": strings.Join(o.Ops, ","), "batch": o.Batch, "scan-rows": o.ScanRows, "gets": o.Gets, "increments": o.Increments,
		"pipeline": o.Pipeline, "framed": o.Framed, "compact": o.Compact, "timeout": o.Timeout.String(),
		"duration": o.Duration.String(), "rate": o.Rate, "readers": o.Readers, "read-rate": o.ReadRate,
	}
}
