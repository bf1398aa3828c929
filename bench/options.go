package bench

import (
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
	// OpIncrement is incrementRows, on tables of its own. It is done only where
	// it is asked for.
	OpIncrement = "increment"
)

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
)

// maxRepeat bounds repetitions, whatever their number is chosen by.
const maxRepeat = 1000

// Options of the Thrift workload. The zero value of each field but Addr is the
// default that it names.
type Options struct {
	// Addr is the Thrift server's host:port.
	Addr string
	// Records to load into a table; 0: 60,000.
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
	// Ops to report, of OpLoad, OpScan, OpGet and OpIncrement; nil: the first
	// three. A load is done for any of those, and, unless NoVerify, a scan.
	Ops []string
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

	// Lock is the path of the lock file; "": LockPath without an environment.
	Lock string
	// NoLock measures without the lock.
	NoLock bool
	// Progress is told what goes on: a bar if it is a terminal, else lines;
	// nil: nothing.
	Progress io.Writer
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
	orInt(&o.Records, DefaultRecords)
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
	if len(o.Ops) == 0 {
		o.Ops = []string{OpLoad, OpScan, OpGet}
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
		{"records", o.Records, 1, 1 << 30},
		{"connections", o.Connections, 1, 10000},
		{"producers", o.Producers, 1, 10000},
		{"repeat", o.Repeat, 0, maxRepeat},
		{"batch", o.Batch, 1, 50000},
		{"scan-rows", o.ScanRows, 1, 1 << 20},
		{"gets", o.Gets, 1, 1 << 30},
		{"increments", o.Increments, 1, 1 << 30},
		{"pipeline", o.Pipeline, 1, 1000},
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
		if op != OpLoad && op != OpScan && op != OpGet && op != OpIncrement {
			bad("op", op, "choose load, scan, get or increment")
		}
	}
	return errors.Join(errs...)
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
	}
}
