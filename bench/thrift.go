package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cellardb/cellar/bench/thriftclient"
	"github.com/cellardb/cellar/cell"
)

// TablePrefix begins the names of the tables that the Thrift workload creates
// and drops.
const TablePrefix = "cellar_bench_thrift_"

// Thrift runs the Thrift workload: it loads records by mutateRows, scans all of
// them back by scannerGetList, and reads random ones by getRow. Each operation
// is repeated as Options.Repeat says, the load on a fresh table each time.
//
// The results are in the order increment, scan, get, load: the main figure comes
// last.
// They are returned as far as they are complete also along with an error, which
// matches ErrVerify where what was read is not what was written; the table is
// kept then, and dropped otherwise, also when ctx has ended.
func Thrift(ctx context.Context, o Options) ([]Result, error) {
	o = o.withDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	p := NewProgress(o.Progress)
	if !o.NoLock {
		release, err := lock(ctx, o.Lock, func() { p.Say("waiting for %s: another benchmark runs", o.Lock) })
		if err != nil {
			return nil, err
		}
		defer release()
	}
	return newThriftRun(o, p).run(ctx)
}

// thriftRun is one run of the workload.
type thriftRun struct {
	Options
	progress *Progress
	config   map[string]any
	clock    func() time.Time
	dial     func(ctx context.Context) (*thriftclient.Client, error)

	load, scan, get, increment, filter, overwrite, read measure
	clean, overwritten, compacted, start, killed        measure

	backup, ingest, ingestBackup measure

	server *server
	settle func(ctx context.Context) error // waits until a compaction has ended
	ledger *ledger                         // of the table that was loaded last
	// id tells the tables of this run from those of another on the same
	// server, which must not be touched.
	id    string
	table string // that was created and not dropped yet; "": none
}

func newThriftRun(o Options, p *Progress) *thriftRun {
	server := newServer(o.ServerPID, o.StatsURL)
	t := &thriftRun{Options: o, progress: p, config: machine(o.config()), clock: time.Now}
	t.server, t.settle = server, t.rest
	t.id = fmt.Sprintf("%d_%d", os.Getpid(), t.clock().UnixNano())
	for _, op := range t.reported() {
		op.m.clock, op.m.server = t.clock, server
	}
	t.dial = func(ctx context.Context) (*thriftclient.Client, error) {
		return thriftclient.Dial(ctx, t.Addr, o.client())
	}
	return t
}

// run does the whole workload. The last table is dropped at the end, unless
// something in it is wrong.
func (t *thriftRun) run(ctx context.Context) ([]Result, error) {
	err := t.operations(ctx)
	for _, op := range t.reported() {
		op.m.abandon()
	}
	if err == nil && t.table != "" {
		err = t.drop(ctx, t.table)
	}
	if err != nil && ctx.Err() != nil {
		// Connections that were closed are not why.
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	if t.table != "" && !errors.Is(err, ErrVerify) {
		err = errors.Join(err, t.clear(ctx))
	}
	return t.results(), err
}

func (t *thriftRun) operations(ctx context.Context) error {
	if t.wants(OpIncrement) {
		for !t.increment.enough(t.Repeat) {
			if err := t.increments(ctx); err != nil {
				return err
			}
		}
	}
	if len(t.Ops) == 1 && t.wants(OpIncrement) {
		return nil
	}
	if err := t.loads(ctx); err != nil {
		return err
	}
	for t.wants(OpScan) && !t.scan.enough(t.Repeat) {
		if err := t.scanAll(ctx); err != nil {
			return err
		}
	}
	for t.wants(OpGet) && !t.get.enough(t.Repeat) {
		if err := t.gets(ctx); err != nil {
			return err
		}
	}
	for _, op := range []struct {
		name string
		do   func(context.Context) error
	}{{OpFilter, t.filters}, {OpStart, t.starts}, {OpBackup, t.backups}, {OpRescan, t.rescans}, {OpOverwrite, t.overwrites}} {
		if t.wants(op.name) {
			if err := op.do(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// clearTimeout bounds the removal of the table of a run that failed or was
// interrupted.
const clearTimeout = 10 * time.Second

// clear drops the table that is left, whether or not ctx has ended.
func (t *thriftRun) clear(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), clearTimeout)
	defer cancel()
	return t.drop(ctx, t.table)
}

// tableName names a table of this run.
func (t *thriftRun) tableName(what string, round int) string {
	return fmt.Sprintf("%s%s_%s_%d", TablePrefix, t.id, what, round)
}

// loads repeats the load. All tables but the last are dropped.
func (t *thriftRun) loads(ctx context.Context) error {
	for {
		table := t.tableName("load", t.load.rounds)
		if err := t.create(ctx, table); err != nil {
			return err
		}
		if err := t.loadTable(ctx, table); err != nil {
			return err
		}
		if !t.NoVerify {
			if err := t.scanAll(ctx); err != nil {
				return err
			}
		}
		if !t.wants(OpLoad) || t.load.enough(t.Repeat) {
			return nil
		}
		if err := t.drop(ctx, table); err != nil {
			return err
		}
	}
}

// reportedOp is an operation that may have a result.
type reportedOp struct {
	name, unit, durability string
	m                      *measure
}

// reported are all operations, in the order of the results.
func (t *thriftRun) reported() []reportedOp {
	d := t.Durability.String()
	return []reportedOp{
		// The Thrift interface has no increments without the log.
		{OpIncrement, "increments", cell.SyncWAL.String(), &t.increment},
		{OpScan, "rows", d, &t.scan}, {OpGet, "gets", d, &t.get}, {OpFilter, "rows", d, &t.filter},
		{OpScanClean, "rows", d, &t.clean}, {OpScanOverwritten, "rows", d, &t.overwritten}, {OpScanCompacted, "rows", d, &t.compacted},
		{OpStart, unitStarts, d, &t.start}, {OpStartKilled, unitStarts, d, &t.killed},
		{OpBackup, unitBackups, d, &t.backup}, {OpIngest, "records", d, &t.ingest}, {OpIngestBackup, "records", d, &t.ingestBackup},
		{OpRead, "gets", d, &t.read}, {OpOverwrite, "records", d, &t.overwrite}, {OpLoad, "records", d, &t.load},
	}
}

// results are those of the operations that were done and asked for; others ask
// for a load and a scan too.
func (t *thriftRun) results() []Result {
	var all []Result
	t.load.noteGrowth()
	t.overwrite.noteGrowth()
	for _, op := range t.reported() {
		if op.m.rounds > 0 && (t.wants(op.name) || op.name != OpLoad && op.name != OpScan) {
			all = append(all, op.m.result("thrift", op.name, op.unit, op.durability, t.config))
		}
	}
	return all
}

// connect opens a connection that ends with ctx; the caller calls done.
func (t *thriftRun) connect(ctx context.Context) (c *thriftclient.Client, done func(), err error) {
	c, err = t.dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	unhook := context.AfterFunc(ctx, func() { _ = c.Close() })
	return c, func() { unhook(); _ = c.Close() }, nil
}

// create makes an empty table.
func (t *thriftRun) create(ctx context.Context, table string) error {
	c, done, err := t.connect(ctx)
	if err != nil {
		return err
	}
	defer done()
	// Noted before: a table is there also where only the reply was lost.
	t.table = table
	if err := c.CreateTable(table, thriftclient.Family{Name: recordFamily, MaxVersions: 1}); err != nil {
		return fmt.Errorf("create table %s: %w", table, err)
	}
	return nil
}

func (t *thriftRun) drop(ctx context.Context, table string) error {
	c, done, err := t.connect(ctx)
	if err != nil {
		return fmt.Errorf("drop table %s: %w", table, err)
	}
	defer done()
	if err := c.DropTable(table); err != nil {
		return fmt.Errorf("drop table %s: %w", table, err)
	}
	t.table = ""
	return nil
}

// gets does one repetition of random reads over all connections.
func (t *thriftRun) gets(ctx context.Context) error {
	phase := t.progress.Begin("get", t.Gets)
	defer phase.End()
	clients, done, err := t.connectAll(ctx, t.Connections)
	if err != nil {
		return err
	}
	defer done()
	var left atomic.Int64
	left.Store(int64(t.Gets))
	var faults getFaults
	recs := make([]*recorder, len(clients))
	t.get.begin()
	err = together(clients, len(clients), func(i int) error {
		recs[i] = t.get.recorder()
		w := &getter{run: t, c: clients[i], rec: recs[i], left: &left, faults: &faults, phase: phase, random: mix(t.Seed ^ uint64(i)<<32 ^ uint64(t.get.rounds))}
		return w.work(ctx)
	})
	if err != nil {
		return fmt.Errorf("get: %w", err)
	}
	t.get.end(recs)
	return faults.end(t.ledger, t.Gets)
}

// connectAll opens n connections that end with ctx.
func (t *thriftRun) connectAll(ctx context.Context, n int) (clients []*thriftclient.Client, done func(), err error) {
	var dones []func()
	done = func() {
		for _, d := range dones {
			d()
		}
	}
	for range n {
		c, d, err := t.connect(ctx)
		if err != nil {
			done()
			return nil, nil, fmt.Errorf("connection %d of %d: %w", len(dones)+1, n, err)
		}
		clients, dones = append(clients, c), append(dones, d)
	}
	return clients, done, nil
}

// together runs n workers and waits for all. The first that fails closes the
// connections, which ends the others; its error is returned.
func together(clients []*thriftclient.Client, n int, work func(i int) error) error {
	var wg sync.WaitGroup
	var once sync.Once
	var first error
	for i := range n {
		wg.Go(func() {
			err := work(i)
			if err == nil {
				return
			}
			once.Do(func() {
				first = err
				for _, c := range clients {
					_ = c.Close()
				}
			})
		})
	}
	wg.Wait()
	return first
}
