package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellardb/cellar/bench/internal/gateway"
	"github.com/cellardb/cellar/bench/thriftclient"
	"github.com/cellardb/cellar/cell"
)

// restarts is the restart of a server to which nothing happens.
func restarts(addr string, kills *[]bool) func(context.Context, bool) (Restarted, error) {
	return func(_ context.Context, kill bool) (Restarted, error) {
		*kills = append(*kills, kill)
		return Restarted{Took: time.Duration(len(*kills)) * 100 * time.Millisecond, Addr: addr}, nil
	}
}

func byOp(results []Result) map[string]*Result {
	m := map[string]*Result{}
	for i := range results {
		m[results[i].Op] = &results[i]
	}
	return m
}

func names(results []Result) string {
	var all []string
	for i := range results {
		all = append(all, results[i].Op)
	}
	return strings.Join(all, " ")
}

// TestOperationsThatAreAskedFor: what each does, and what it reports.
func TestOperationsThatAreAskedFor(t *testing.T) {
	ran := 0
	f := func(reported string, change func(o *Options), check func(g *gateway.Gateway, r map[string]*Result)) {
		t.Helper()
		ran++
		var kills []bool
		g, o := startGateway(t, gateway.Hooks{})
		o.Restart = restarts(g.Addr(), &kills)
		change(&o)
		run := newThriftRun(o.withDefaults(), nil)
		run.settle = func(context.Context) error { return nil }
		results, err := run.run(context.Background())
		if err != nil || names(results) != reported || len(g.Tables()) != 0 {
			t.Errorf("%q, want %q; %v; tables %v", names(results), reported, err, g.Tables())
			return
		}
		for _, r := range results {
			if r.Errors != 0 || r.Seconds <= 0 || r.Count == 0 || r.P50 == nil {
				t.Errorf("%+v", r)
			}
		}
		check(g, byOp(results))
	}
	f("filter", func(o *Options) { o.Ops = []string{OpFilter} }, func(g *gateway.Gateway, r map[string]*Result) {
		if r[OpFilter].Count != 1000 || r[OpFilter].Unit != "rows" || g.Calls("scannerOpenWithScan") != 2 {
			t.Errorf("filter: %+v", r[OpFilter])
		}
	})
	f("scan-clean scan-overwritten scan-compacted", func(o *Options) { o.Ops, o.StatsURL = []string{OpRescan}, "http://127.0.0.1:1/" }, func(g *gateway.Gateway, r map[string]*Result) {
		if g.Calls("mutateRows") != 15*(1+rewritesOfRescan) || g.Calls("majorCompact") != 1 || r[OpScanCompacted].Count != 1000 {
			t.Errorf("rescan: %d batches, %d compactions, %+v", g.Calls("mutateRows"), g.Calls("majorCompact"), r[OpScanCompacted])
		}
	})
	f("start start-killed", func(o *Options) { o.Ops, o.Repeat = []string{OpStart}, 2 }, func(g *gateway.Gateway, r map[string]*Result) {
		start, killed := r[OpStart], r[OpStartKilled]
		if start.Count != 2 || math.Abs(start.Seconds-0.6) > 1e-9 || killed.Count != 2 || math.Abs(killed.Seconds-0.4) > 1e-9 || math.Abs(*killed.P99-300) > 5 {
			t.Errorf("start: %+v, %+v", start, killed)
		}
		// Two loads; 490 records overwritten twice, others each time.
		if g.Calls("mutateRows") != 15+2*7 {
			t.Errorf("start: %d batches", g.Calls("mutateRows"))
		}
	})
	if ran != 3 {
		t.Errorf("%d ran", ran)
	}
}

// TestOperationsAreVerified: whatever is lost or changed while they run fails the
// run, and the table is kept.
func TestOperationsAreVerified(t *testing.T) {
	f := func(name, want string, change func(o *Options), store func(n int, v string) (string, bool)) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			n := 0
			var kills []bool
			g, run := pipe(t, gateway.Hooks{Store: func(_, column, v string) (string, bool) {
				if column != "f1:2" {
					return v, true
				}
				n++
				return store(n, v)
			}}, change)
			run.Restart = restarts("pipe", &kills)
			run.settle = func(context.Context) error { return nil }
			_, err := run.run(context.Background())
			if !errors.Is(err, ErrVerify) || !strings.Contains(err.Error(), want) || len(g.Tables()) != 1 {
				t.Errorf("%s: error %v, want %s; tables %v", name, err, want, g.Tables())
			}
		})
	}
	// lost loses one of what is written after the load of 1000.
	lost := func(n int, v string) (string, bool) { return v, n != 1100 }
	flipped := func(n int, v string) (string, bool) {
		if n == 1100 {
			v = v[:100] + string(v[100]^1) + v[101:]
		}
		return v, true
	}
	// once overwrites the first batch and none of it again.
	once := func(o *Options) {
		o.Ops, o.Duration, o.Rate, o.Connections, o.Batch = []string{OpOverwrite}, time.Second, 200, 1, 200
	}
	f("a lost write", "0 missing, 1 with wrong values", once, lost)
	f("a flipped bit", "at byte 100 there is", once, flipped)
	f("a write lost by a kill", "0 missing, 1 with wrong values", func(o *Options) { o.Ops = []string{OpStart} }, lost)
	f("a write lost before a scan", "1 with wrong values", func(o *Options) { o.Ops, o.StatsURL = []string{OpRescan}, "http://127.0.0.1:1/" },
		func(n int, v string) (string, bool) { return v, n != 11000 })
}

// TestFilterIsVerified: a filter that keeps what it should drop, or drops what it
// should keep.
func TestFilterIsVerified(t *testing.T) {
	f := func(filter, want string) {
		t.Helper()
		_, o := startGateway(t, gateway.Hooks{})
		run := newThriftRun(o.withDefaults(), nil)
		if err := run.loads(context.Background()); err != nil {
			t.Fatal(err)
		}
		err := run.scanTable(context.Background(), &run.filter, OpFilter, filter)
		if want == "" && err != nil || want != "" && (!errors.Is(err, ErrVerify) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", filter, err, want)
		}
	}
	f(rowFilter, "")
	f("RowFilter(=, 'regexstring:0$')", "1 rows written, 100 read: 0 missing, 99 with wrong values")
	f("RowFilter(=, 'regexstring:x$')", "1 rows written, 0 read: 1 missing")
}

// TestReadsBesideALoad: a row that was acknowledged must be there, as it was
// written; others are not asked for. The readers end with the last writer.
func TestReadsBesideALoad(t *testing.T) {
	const reads = 50
	f := func(name, want string, change func(l *ledger)) {
		t.Helper()
		var b *beside
		left := reads
		_, o := startGateway(t, gateway.Hooks{HangUp: func(method string) bool {
			if method == "getRow" {
				if left--; left == 0 {
					b.writerEnds()
				}
			}
			return false
		}})
		o.Producers = 1
		run := newThriftRun(o.withDefaults(), nil)
		if err := run.loads(context.Background()); err != nil {
			t.Fatal(err)
		}
		run.Readers = 1
		change(run.ledger)
		b = newBeside(run, o.Records)
		// Of 15 batches.
		b.acknowledge(taken{70, 140, 1})
		b.acknowledge(taken{910, 980, 13})
		b.begin()
		c, done, err := run.connect(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		err = b.read(context.Background(), c, 0)
		if err == nil {
			err = b.end()
		}
		if want == "" && err != nil || want != "" && (!errors.Is(err, ErrVerify) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		if n := run.read.series.total(); n != reads {
			t.Errorf("%s: %d reads, want %d", name, n, reads)
		}
	}
	f("all is well", "", func(*ledger) {})
	f("rows that were not acknowledged", "", func(l *ledger) {
		for i := range l.sums {
			if (i < 70 || i >= 140) && (i < 910 || i >= 980) {
				l.sums[i]++
			}
		}
	})
	f("other values", "0 missing, 50 with wrong values", func(l *ledger) { clear(l.sums) })
	f("another seed", "50 missing, 0 with wrong values", func(l *ledger) { l.records.seed++ })
}

// TestLoadWithReaders: they read while there are writers. The last batches are
// answered once something was read.
func TestLoadWithReaders(t *testing.T) {
	var batches atomic.Int64
	var once sync.Once
	read := make(chan struct{})
	g, o := startGateway(t, gateway.Hooks{Before: func(method string) {
		switch {
		case method == "getRow":
			once.Do(func() { close(read) })
		case method == "mutateRows" && batches.Add(1) > 10:
			select {
			case <-read:
			case <-time.After(time.Minute):
			}
		}
	}})
	o.Ops, o.Readers, o.Repeat = []string{OpLoad}, 2, 3
	results, err := Thrift(context.Background(), o)
	if err != nil || names(results) != "read load" {
		t.Fatalf("%s, %v", names(results), err)
	}
	r := byOp(results)
	if x := r[OpRead]; x.Unit != "gets" || x.Count == 0 || x.Count != int64(g.Calls("getRow")) || x.Seconds < r[OpLoad].Seconds/2 || r[OpLoad].Count != 3000 {
		t.Errorf("read: %+v, load: %+v", x, r[OpLoad])
	}
}

// TestDiskOverLive is the most disk that was seen.
func TestDiskOverLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := pipeRun(t, gateway.Hooks{}, func(o *Options) { o.Ops, o.Rate, o.Duration = []string{OpOverwrite}, 500, time.Second })
		for _, v := range []float64{1, 3, 2} {
			run.overwrite.samples = samples{sampleDisk: append(run.overwrite.samples[sampleDisk], &v), sampleTables: {&v}}
		}
		results, err := run.run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		f := results[0].Figures
		if got := f[figureDiskOverLive] * f[figureLive]; math.Abs(got-3) > 1e-9 || f[figureLive] < 0.9 {
			t.Errorf("%v", f)
		}
	})
}

// TestRestartedServerIsAnother: its address, process and metrics.
func TestRestartedServerIsAnother(t *testing.T) {
	run := newThriftRun(Options{Addr: "old:1"}.withDefaults(), nil)
	run.Restart = func(context.Context, bool) (Restarted, error) {
		return Restarted{Took: time.Second, Addr: "new:2", PID: 4711, StatsURL: "http://new/"}, nil
	}
	if err := run.restart(context.Background(), &run.start, false); err != nil {
		t.Fatal(err)
	}
	if run.Addr != "new:2" || run.load.server.proc != "/proc/4711" || run.load.server.stats != "http://new/" {
		t.Errorf("%s, %+v", run.Addr, run.load.server)
	}
}

// TestPace: with a fake clock, a rate and a duration are kept to the batch.
func TestPace(t *testing.T) {
	f := func(name, want string, call time.Duration, change func(o *Options)) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			run := pipeRun(t, gateway.Hooks{Before: func(method string) {
				if method == "mutateRows" {
					time.Sleep(call)
				}
			}}, func(o *Options) {
				o.Batch, o.Connections, o.Ops = 100, 2, []string{OpLoad}
				change(o)
			})
			results, err := run.run(context.Background())
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			r := results[len(results)-1]
			got := fmt.Sprintf("%s %d in %.2f s, %v", r.Op, r.Count, r.Seconds, r.Series)
			if kept, ok := r.Figures[figureRateKept]; ok {
				got += fmt.Sprintf(", kept %.2f of %.2f MiB", kept, r.Figures[figureLive])
			}
			if got != want {
				t.Errorf("%s:\n got %s\nwant %s", name, got, want)
			}
		})
	}
	ms := time.Millisecond
	f("a rate", "load 1000 in 1.81 s, [500 500]", 10*ms, func(o *Options) { o.Rate = 500 })
	f("a rate, pipelined", "load 1000 in 1.81 s, [500 500]", 10*ms, func(o *Options) { o.Rate, o.Pipeline, o.NoVerify = 500, 4, true })
	f("a rate, shared", "load 1000 in 1.81 s, [500 500]", 10*ms, func(o *Options) { o.Rate, o.Mode = 500, ModeShared })
	f("a rate that is too high", "load 1000 in 5.02 s, [0 200 200 200 200 200]", 1000*ms, func(o *Options) { o.Rate = 5000 })
	f("a time", "load 5000 in 2.50 s, [1800 2000 1200]", 100*ms, func(o *Options) { o.Records, o.Duration = 0, 2500*ms })
	f("a time that cuts a call", "load 5200 in 2.60 s, [1800 2000 1400]", 100*ms, func(o *Options) { o.Records, o.Duration = 0, 2501*ms })
	f("records before the time is over", "load 1000 in 0.50 s, [1000]", 100*ms, func(o *Options) { o.Duration = time.Minute })
	f("overwriting", "overwrite 2000 in 3.81 s, [500 500 500 500], kept 1.05 of 1.00 MiB", 10*ms, func(o *Options) { o.Ops, o.Rate, o.Duration = []string{OpOverwrite}, 500, 4*time.Second })
	f("overwriting that does not keep up", "overwrite 800 in 4.20 s, [0 200 200 200 200], kept 0.38 of 1.00 MiB", 1000*ms, func(o *Options) { o.Ops, o.Rate, o.Duration = []string{OpOverwrite}, 500, 4*time.Second })
}

// TestFirstCallIsNeverLate.
func TestFirstCallIsNeverLate(t *testing.T) {
	p := pace{clock: time.Now, until: time.Now().Add(-time.Hour)}
	if p.over(0) || !p.over(1) || p.early(5) != 0 {
		t.Error(p.over(0), p.over(1), p.early(5))
	}
}

// TestErrorKinds: refusals are counted by the exception's name.
func TestErrorKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		texts := []string{"org.apache.hadoop.hbase.RegionTooBusyException: later\n\tat x", "org.apache.hadoop.hbase.CallQueueTooBigException: x", "", "busy now: x", "org.apache.hadoop.hbase.RegionTooBusyException: again"}
		run := pipeRun(t, gateway.Hooks{Refuse: func(method string) string {
			if method != "mutateRows" || len(texts) == 0 {
				return ""
			}
			text := texts[0]
			texts = texts[1:]
			return text
		}}, func(o *Options) { o.Ops = []string{OpLoad} })
		results, err := run.run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		r := results[0]
		if fmt.Sprint(r.ErrorKinds) != "map[CallQueueTooBigException:1 IOError:1 RegionTooBusyException:2]" || r.Errors != 4 || r.Count != 1000 {
			t.Errorf("%+v", r)
		}
	})
	if kind := errorKind(&thriftclient.Exception{Kind: thriftclient.IllegalArgument, Message: "a: b"}); kind != "IllegalArgument" {
		t.Error(kind)
	}
}

// TestEachWriterHasItsOwnBatches: no record is written by two writers, all are
// written in each pass, and a pass is over before the next begins.
func TestEachWriterHasItsOwnBatches(t *testing.T) {
	ran := 0
	for _, c := range []struct{ from, to, batch, writers, passes int }{
		{0, 1000, 70, 3, 3}, {0, 1000, 70, 1, 2}, {70, 140, 70, 3, 2}, {140, 150, 70, 2, 1}, {0, 1000, 1000, 4, 2}, {0, 90, 30, 3, 5},
	} {
		l := &ledger{sums: make([]uint64, 1000), versions: make([]uint32, 1000)}
		owner := map[int]int{}
		for w := range c.writers {
			own := &rewriter{rewriting: rewriting{from: c.from, to: c.to, passes: c.passes}, ledger: l, pace: &pace{clock: time.Now}, batch: c.batch, writer: w, writers: c.writers}
			for b, ok := own.take(); ok; b, ok = own.take() {
				if other, there := owner[b.from]; there && other != w || b.sequence%c.writers != w {
					t.Errorf("%+v: batch %+v of writer %d is also of %d", c, b, w, other)
				}
				owner[b.from] = w
				for i := b.from + 1; i < b.to; i++ {
					if l.versions[i] != l.versions[b.from] {
						t.Errorf("%+v: record %d has version %d, record %d %d", c, i, l.versions[i], b.from, l.versions[b.from])
					}
				}
			}
		}
		for i, v := range l.versions {
			if inside := i >= c.from && i < c.to; inside != (v > 0) || inside && int(v) != c.passes {
				t.Fatalf("%+v: record %d was overwritten %d times", c, i, v)
			}
		}
		ran++
	}
	if ran != 6 {
		t.Errorf("%d cases ran", ran)
	}
}

// TestVersionsHaveOtherValues, and the same key.
func TestVersionsHaveOtherValues(t *testing.T) {
	seen := map[string]bool{}
	for version := range uint64(50) {
		g := records{seed: 1, epoch: 1000, version: version}
		v := make([]byte, g.valueLen(3, 1))
		g.value(v, 3, 1)
		seen[string(v)] = true
		if string(g.key(nil, 3)) != string(records{seed: 1, epoch: 1000}.key(nil, 3)) {
			t.Error("another key")
		}
	}
	if len(seen) != 50 {
		t.Errorf("%d values in 50 versions", len(seen))
	}
}

func TestOperationsThatCannotBe(t *testing.T) {
	f := func(want string, change func(o *Options)) {
		t.Helper()
		o := Options{Addr: "h:1", StatsURL: "x", Restart: func(context.Context, bool) (Restarted, error) { return Restarted{}, nil }}
		change(&o)
		if err := o.Validate(); err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	f("", func(o *Options) { o.Ops = []string{OpStart, OpRescan, OpOverwrite, OpFilter} })
	f("--op is backup: only a server of bench's own", func(o *Options) { o.Ops = []string{OpBackup} })
	f("--op is start: only a server of bench's own", func(o *Options) { o.Ops, o.Restart = []string{OpStart}, nil })
	f("--op is rescan: the end of a compaction is seen in Cellar's metrics", func(o *Options) { o.Ops, o.StatsURL = []string{OpRescan}, "" })
	f("--pipeline is 2: to overwrite", func(o *Options) { o.Ops, o.Pipeline = []string{OpOverwrite}, 2 })
	f("--mode is shared: to overwrite", func(o *Options) { o.Ops, o.Mode = []string{OpOverwrite}, ModeShared })
	f("--durability is SKIP_WAL: what is not in the log", func(o *Options) { o.Ops, o.Durability = []string{OpStart}, cell.SkipWAL })
	f("--read-rate is 5: it is of --readers", func(o *Options) { o.ReadRate = 5 })
	f("--duration is -1s", func(o *Options) { o.Duration = -time.Second })
	f("--rate is -1", func(o *Options) { o.Rate = -1 })
	f("--readers is -1", func(o *Options) { o.Readers = -1 })
}

// TestBackups: backups go on beside the middle load of three, and one after
// another; all is compared; the ratio is told.
func TestBackups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := atomic.Bool{}
		g, run := pipe(t, gateway.Hooks{Before: func(method string) {
			if method == "mutateRows" {
				time.Sleep(10 * time.Millisecond)
				if slow.Load() {
					time.Sleep(10 * time.Millisecond)
				}
			}
		}}, func(o *Options) {
			o.Ops, o.Duration, o.Connections, o.Batch = []string{OpBackup}, 2*time.Second, 1, 100
		})
		backups := 0
		run.Backup = func(context.Context) (int64, error) {
			backups++
			slow.Store(true)
			defer slow.Store(false)
			time.Sleep(700 * time.Millisecond)
			return 5 << 20, nil
		}
		results, err := run.run(context.Background())
		r := byOp(results)
		if err != nil || names(results) != "backup ingest ingest-backup" || backups != 3 || len(g.Tables()) != 0 {
			t.Fatalf("%s, %d backups, tables %v, %v", names(results), backups, g.Tables(), err)
		}
		got := fmt.Sprintf("%d %s of %v MiB in %.1f s; %d, %d", r[OpBackup].Count, r[OpBackup].Unit, r[OpBackup].Figures[figureBackup], r[OpBackup].Seconds, r[OpIngest].Count, r[OpIngestBackup].Count)
		if kept := r[OpIngestBackup].Figures[figureKeptBeside]; got != "3 backups of 5 MiB in 2.1 s; 40000, 10000" || math.Abs(kept-0.5) > 0.01 {
			t.Errorf("%s, kept %v", got, kept)
		}
	})
}

// TestBackupsFail: a backup that fails fails the run, and so does what is lost
// beside it.
func TestBackupsFail(t *testing.T) {
	f := func(name string, h gateway.Hooks, backup, want error) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			_, run := pipe(t, h, func(o *Options) {
				o.Ops, o.Duration, o.Connections, o.Rate = []string{OpBackup}, time.Second, 1, 1000
			})
			run.Backup = func(context.Context) (int64, error) { time.Sleep(time.Second); return 1, backup }
			if _, err := run.run(context.Background()); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
		})
	}
	broken := errors.New("broken")
	f("a backup that fails", gateway.Hooks{}, broken, broken)
	n := 0
	f("a lost write", gateway.Hooks{Store: func(_, column, v string) (string, bool) {
		if column == "f1:2" {
			n++
		}
		return v, n != 2500 || column != "f1:2"
	}}, nil, ErrVerify)
}

// TestFailedRestartFailsTheRun.
func TestFailedRestartFailsTheRun(t *testing.T) {
	broken := errors.New("broken")
	for _, kill := range []bool{true, false} {
		run := pipeRun(t, gateway.Hooks{}, func(o *Options) { o.Ops = []string{OpStart} })
		run.Restart = func(_ context.Context, k bool) (Restarted, error) {
			if k == kill {
				return Restarted{}, broken
			}
			return Restarted{Addr: "pipe"}, nil
		}
		if _, err := run.run(context.Background()); !errors.Is(err, broken) {
			t.Errorf("kill %v: %v", kill, err)
		}
	}
}

// TestStartsOverwriteOtherRecordsEachTime: else what one kill loses the next round
// hides.
func TestStartsOverwriteOtherRecordsEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := pipeRun(t, gateway.Hooks{}, func(o *Options) { o.Ops, o.Repeat = []string{OpStart}, 3 })
		var kills []bool
		run.Restart = restarts("pipe", &kills)
		if _, err := run.run(context.Background()); err != nil {
			t.Fatal(err)
		}
		times := map[uint32]int{}
		for _, v := range run.ledger.versions {
			times[v]++
		}
		// 280 are four batches of 70, as many as a third of 1000 has.
		if fmt.Sprint(times, kills) != "map[0:160 1:840] [true false true false true false]" {
			t.Error(times, kills)
		}
	})
}
