package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellardb/cellar/bench/internal/gateway"
	"github.com/cellardb/cellar/bench/thriftclient"
	"github.com/cellardb/cellar/cell"
)

// startGateway starts a gateway and gives options of a small run against it.
func startGateway(t *testing.T, h gateway.Hooks) (*gateway.Gateway, Options) {
	t.Helper()
	g, err := gateway.Start(h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g, Options{Addr: g.Addr(), Records: 1000, Connections: 3, Batch: 70, ScanRows: 64, Gets: 200, Repeat: 1,
		Lock: filepath.Join(t.TempDir(), "lock")}
}

func TestThriftWorkload(t *testing.T) {
	ran := 0
	for name, change := range map[string]func(o *Options){
		"private":          func(*Options) {},
		"shared":           func(o *Options) { o.Mode = ModeShared },
		"skip wal":         func(o *Options) { o.Durability = cell.SkipWAL },
		"framed":           func(o *Options) { o.Framed = true },
		"compact":          func(o *Options) { o.Compact = true },
		"compact framed":   func(o *Options) { o.Compact, o.Framed = true, true },
		"pipelined":        func(o *Options) { o.Pipeline = 4 },
		"one connection":   func(o *Options) { o.Connections = 1 },
		"repeated":         func(o *Options) { o.Repeat = 3 },
		"more than enough": func(o *Options) { o.Batch, o.ScanRows = 5000, 5000 },
	} {
		g, o := startGateway(t, gateway.Hooks{})
		change(&o)
		results, err := Thrift(context.Background(), o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		rounds := int64(max(o.Repeat, 1))
		want := []string{fmt.Sprint("scan rows ", 1000*rounds), fmt.Sprint("get gets ", 200*rounds), fmt.Sprint("load records ", 1000*rounds)}
		var got []string
		for _, r := range results {
			got = append(got, fmt.Sprint(r.Op, " ", r.Unit, " ", r.Count))
			if r.Errors != 0 || r.Rate <= 0 || r.P50 == nil || *r.P99 < *r.P50 || r.WorstSecond != nil {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if strings.Join(got, ", ") != strings.Join(want, ", ") {
			t.Errorf("%s:\n got %v\nwant %v", name, got, want)
		}
		if tables := g.Tables(); len(tables) != 0 {
			t.Errorf("%s: left tables %v", name, tables)
		}
		wantUnlogged := 0
		if o.Durability == cell.SkipWAL {
			wantUnlogged = 3000
		}
		if n := g.Unlogged(); n != wantUnlogged {
			t.Errorf("%s: %d mutations without WAL, want %d", name, n, wantUnlogged)
		}
		ran++
	}
	if ran != 10 {
		t.Errorf("%d cases ran", ran)
	}
}

// TestVerificationFails: whatever a server does to the data, the run says so, by
// row, and keeps the table.
func TestVerificationFails(t *testing.T) {
	f := func(name string, h gateway.Hooks, change func(o *Options), want string) {
		t.Helper()
		g, o := startGateway(t, h)
		if change != nil {
			change(&o)
		}
		results, err := Thrift(context.Background(), o)
		var v *VerifyError
		if !errors.Is(err, ErrVerify) || !errors.As(err, &v) {
			t.Errorf("%s: error %v", name, err)
			return
		}
		if got := fmt.Sprintf("read %d missing %d wrong %d foreign %d twice %d unsorted %d", v.Read, v.Missing, v.Wrong, v.Foreign, v.Twice, v.Unsorted); got != want {
			t.Errorf("%s:\n got %s\nwant %s\n%v", name, got, want, err)
		}
		if v.First == "" || !strings.Contains(err.Error(), v.First) || !strings.Contains(v.First, "RK_") {
			t.Errorf("%s: the first fault is not named: %v", name, err)
		}
		if len(g.Tables()) != 1 || len(results) == 0 {
			t.Errorf("%s: tables %v, %d results", name, g.Tables(), len(results))
		}
	}
	// once changes the first value that is stored in a column.
	once := func(change func(v string) (string, bool)) gateway.Hooks {
		done := false
		return gateway.Hooks{Store: func(_, column, v string) (string, bool) {
			if done || column != "f1:2" {
				return v, true
			}
			done = true
			return change(v)
		}}
	}
	f("a byte is flipped", once(func(v string) (string, bool) { return v[:100] + string(v[100]^1) + v[101:], true }), nil,
		"read 1000 missing 0 wrong 1 foreign 0 twice 0 unsorted 0")
	f("a value is cut", once(func(v string) (string, bool) { return v[:len(v)-1], true }), nil,
		"read 1000 missing 0 wrong 1 foreign 0 twice 0 unsorted 0")
	f("a column is lost", once(func(string) (string, bool) { return "", false }), nil,
		"read 1000 missing 0 wrong 1 foreign 0 twice 0 unsorted 0")
	first := ""
	lose := gateway.Hooks{Store: func(row, _, v string) (string, bool) {
		if first == "" {
			first = row
		}
		return v, row != first
	}}
	f("a row is lost", lose, nil, "read 999 missing 1 wrong 0 foreign 0 twice 0 unsorted 0")
	first = ""
	f("a row is lost, in the shared mode", lose, func(o *Options) { o.Mode = ModeShared }, "read 999 missing 1 wrong 0 foreign 0 twice 0 unsorted 0")
	f("all is lost", gateway.Hooks{Store: func(_, _, v string) (string, bool) { return v, false }}, func(o *Options) { o.Ops = []string{OpScan} },
		"read 0 missing 1000 wrong 0 foreign 0 twice 0 unsorted 0")
}

// TestAudit: faults of a scan that the fake gateway does not make.
func TestAudit(t *testing.T) {
	g := records{seed: 1, epoch: 1000}
	l := newLedger(g, "t", 3)
	rows := make([]thriftclient.Row, 3)
	for i := range rows {
		rows[i].Key = g.key(nil, i)
		for c, name := range recordColumns {
			v := make([]byte, g.valueLen(i, c))
			g.value(v, i, c)
			rows[i].Columns = append(rows[i].Columns, thriftclient.Column{Name: name, Value: v})
		}
		l.sums[i] = l.of(&rows[i])
	}
	slices.SortFunc(rows, func(a, b thriftclient.Row) int { return bytes.Compare(a.Key, b.Key) })
	f := func(name, want string, rows ...thriftclient.Row) {
		t.Helper()
		a := l.audit()
		for i := range rows {
			a.row(&rows[i])
		}
		err := a.end()
		if err == nil {
			err = errors.New("nothing")
		}
		if !strings.Contains(err.Error(), want) || (want != "nothing") != errors.Is(err, ErrVerify) {
			t.Errorf("%s:\n got %v\nwant %s", name, err, want)
		}
	}
	swapped := rows[1]
	swapped.Columns = []thriftclient.Column{rows[1].Columns[2], rows[1].Columns[0], rows[1].Columns[1]}
	renamed := rows[1]
	renamed.Columns = slices.Clone(rows[1].Columns)
	renamed.Columns[0].Name = []byte("f1:9")
	exchanged := rows[1]
	exchanged.Columns = slices.Clone(rows[1].Columns)
	exchanged.Columns[0].Value, exchanged.Columns[1].Value = exchanged.Columns[1].Value, exchanged.Columns[0].Value
	more := rows[1]
	more.Columns = append(slices.Clone(rows[1].Columns), rows[1].Columns[0])
	forged := rows[1]
	forged.Key = []byte("RK_18_1002") // as if of rows[1]
	f("all is well", "nothing", rows...)
	f("columns in another order", "nothing", rows[0], swapped, rows[2])
	f("twice", "0 missing, 0 with wrong values, 0 unknown, 1 twice, 1 out of order; first: row RK_", rows[0], rows[1], rows[1], rows[2])
	f("out of order", "0 missing, 0 with wrong values, 0 unknown, 0 twice, 1 out of order; first: row RK_", rows[0], rows[2], rows[1])
	f("unknown", "0 missing, 0 with wrong values, 1 unknown, 0 twice, 0 out of order; first: row a: nobody wrote it", rows[0], rows[1], rows[2], thriftclient.Row{Key: []byte("a")})
	f("another column's name", "1 with wrong values", rows[0], renamed, rows[2])
	f("columns exchanged", "1 with wrong values, 0 unknown, 0 twice, 0 out of order; first: row "+string(rows[1].Key)+": column f1:1: 3", rows[0], exchanged, rows[2])
	f("a column twice", "1 with wrong values, 0 unknown, 0 twice, 0 out of order; first: row "+string(rows[1].Key)+": 4 columns, want 3", rows[0], more, rows[2])
	f("a forged key", "1 with wrong values, 0 unknown, 0 twice, 0 out of order; first: row RK_18_1002: the key of record 2, row RK_", rows[0], forged, rows[2])
	f("one less", "1 missing, 0 with wrong values, 0 unknown, 0 twice, 0 out of order; first: record ", rows[0], rows[2])
}

func TestDifference(t *testing.T) {
	for _, c := range [][3]string{
		{"abcdef", "abXdef", "6 bytes, want 6; at byte 2 there is cdef, want Xdef"},
		{"abc", "abcd", "3 bytes, want 4; at byte 3 there is its end, want d"},
		{"", "abcdefghijklmnopqrstuvwxyz", "0 bytes, want 26; at byte 0 there is its end, want abcdefghijklmnop"},
		{"a\x00", "a", "2 bytes, want 1; at byte 1 there is \\x00, want its end"},
	} {
		if got := difference([]byte(c[0]), []byte(c[1])); got != c[2] {
			t.Errorf("%q %q:\n got %s\nwant %s", c[0], c[1], got, c[2])
		}
	}
}

// TestGetsAreVerified: a row that a get does not find, or finds otherwise.
func TestGetsAreVerified(t *testing.T) {
	f := func(name, want string, change func(l *ledger)) {
		t.Helper()
		_, o := startGateway(t, gateway.Hooks{})
		run := newThriftRun(o.withDefaults(), nil)
		if err := run.loads(context.Background()); err != nil {
			t.Fatal(err)
		}
		change(run.ledger)
		err := run.gets(context.Background())
		if !errors.Is(err, ErrVerify) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", name, err, want)
		}
	}
	f("other values", "0 missing, 200 with wrong values", func(l *ledger) { clear(l.sums) })
	f("another seed", "200 missing, 0 with wrong values", func(l *ledger) { l.records.seed++ })
}

// TestGetOfAnotherRow: a reply may be right and not the one that was asked for.
func TestGetOfAnotherRow(t *testing.T) {
	g := records{seed: 1, epoch: 1000}
	l := newLedger(g, "t", 2)
	row := thriftclient.Row{Key: g.key(nil, 1)}
	l.sums[1] = l.of(&row)
	var faults getFaults
	w := &getter{run: &thriftRun{ledger: l}, faults: &faults}
	if w.check(1, &row); faults.end(l, 1) != nil {
		t.Error(faults.end(l, 1))
	}
	w.check(0, &row)
	if err := faults.end(l, 2); !errors.Is(err, ErrVerify) || !strings.Contains(err.Error(), "1 with wrong values") || !strings.Contains(err.Error(), "the reply is row RK_") {
		t.Errorf("error %v", err)
	}
}

// spy is a connection that notes how many requests were under way, besides the
// one that is waited for, when its client read.
type spy struct {
	net.Conn
	c    *thriftclient.Client
	most *atomic.Int64
}

func (s *spy) Read(b []byte) (int, error) {
	for n := int64(s.c.Pending()); ; {
		if old := s.most.Load(); n <= old || s.most.CompareAndSwap(old, n) {
			return s.Conn.Read(b)
		}
	}
}

// TestConnections: how many there are, and how many requests are under way on
// each.
func TestConnections(t *testing.T) {
	f := func(change func(o *Options), dials, mutations, under int64) {
		t.Helper()
		g, o := startGateway(t, gateway.Hooks{})
		o.Batch = 100
		change(&o)
		var most, dialed atomic.Int64
		run := newThriftRun(o.withDefaults(), nil)
		run.dial = func(ctx context.Context) (*thriftclient.Client, error) {
			dialed.Add(1)
			conn, err := net.Dial("tcp", g.Addr())
			if err != nil {
				return nil, err
			}
			s := &spy{Conn: conn, most: &most}
			s.c = thriftclient.New(s, run.client())
			return s.c, nil
		}
		check := func(phase string, err error, wantDials, wantUnder int64) {
			t.Helper()
			if err != nil || dialed.Load() != wantDials || most.Load() != wantUnder {
				t.Errorf("%s: %v, %d connections, want %d; %d under way, want %d", phase, err, dialed.Load(), wantDials, most.Load(), wantUnder)
			}
			dialed.Store(0)
			most.Store(0)
		}
		ctx := context.Background()
		check("create", run.create(ctx, "t"), 1, 0)
		check("load", run.loadTable(ctx, "t"), dials, under)
		check("scan", run.scanAll(ctx), 1, under)
		check("gets", run.gets(ctx), int64(o.Connections), under)
		check("drop", run.drop(ctx, "t"), 1, 0)
		if n := int64(g.Calls("mutateRows")); n != mutations {
			t.Errorf("%d batches, want %d", n, mutations)
		}
	}
	f(func(*Options) {}, 3, 10, 0)
	f(func(o *Options) { o.Mode = ModeShared }, 1, 10, 0)
	f(func(o *Options) { o.Producers = 5 }, 5, 10, 0)
	f(func(o *Options) { o.Producers = 5; o.Mode = ModeShared }, 1, 10, 0)
	f(func(o *Options) { o.Pipeline = 3; o.Connections = 2; o.Records = 950 }, 2, 10, 2)
}

// TestOneFailureEndsAll: the others are not waited for, even if they are never
// answered.
func TestOneFailureEndsAll(t *testing.T) {
	for _, method := range []string{"mutateRows", "getRow"} {
		var calls atomic.Int64
		over := make(chan struct{})
		first := make(chan struct{})
		_, o := startGateway(t, gateway.Hooks{
			Before: func(m string) {
				switch n := calls.Add(1); {
				case m != method:
					calls.Add(-1)
				case n == 1:
					<-first // until the others hang
				default:
					if n == 3 {
						close(first)
					}
					<-over
				}
			},
			HangUp: func(m string) bool { return m == method },
		})
		_, err := Thrift(context.Background(), o)
		if close(over); !errors.Is(err, thriftclient.ErrNoReply) {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// TestBusyGateway: an exception is an error that is counted, and the batch is
// sent again; one that stays ends the run.
func TestBusyGateway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refusals := 0
		refuse := func(method string) string {
			if method == "mutateRows" && refusals < 3 {
				refusals++
				return "org.apache.hadoop.hbase.RegionTooBusyException: later"
			}
			return ""
		}
		run := pipeRun(t, gateway.Hooks{Refuse: refuse}, func(*Options) {})
		results, err := run.run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if r := results[2]; r.Op != OpLoad || r.Errors != 3 || r.Count != 1000 {
			t.Errorf("%+v", r)
		}
		run = pipeRun(t, gateway.Hooks{Refuse: func(method string) string {
			if method == "mutateRows" {
				return "org.apache.hadoop.hbase.RegionTooBusyException: never"
			}
			return ""
		}}, func(o *Options) { o.Mode = ModeShared })
		_, err = run.run(context.Background())
		var e *thriftclient.Exception
		if !errors.As(err, &e) || e.Kind != thriftclient.IOError || !strings.Contains(err.Error(), "after 6 attempts") {
			t.Errorf("error %v", err)
		}
	})
}

// TestGatewayThatGetsBusy: attempts are counted for each batch.
func TestGatewayThatGetsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		run := pipeRun(t, gateway.Hooks{Refuse: func(method string) string {
			if method != "mutateRows" {
				return ""
			}
			if calls++; calls <= 10 {
				return ""
			}
			return "org.apache.hadoop.hbase.RegionTooBusyException: from now on"
		}}, func(o *Options) { o.Connections = 1 })
		start := time.Now()
		_, err := run.run(context.Background())
		if took := time.Since(start); err == nil || !strings.Contains(err.Error(), "after 6 attempts") || calls != 16 || took != (2+4+8+16+32)*loadBackoff {
			t.Errorf("%d calls in %v: %v", calls, took, err)
		}
	})
}

// TestOneLoadIsEnough where no load is to be reported.
func TestOneLoadIsEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loads := 0
		run := pipeRun(t, gateway.Hooks{Before: func(method string) {
			if method == "createTable" {
				loads++
			}
			time.Sleep(10 * time.Millisecond)
		}}, func(o *Options) { o.Repeat = 0; o.Ops = []string{OpScan} })
		results, err := run.run(context.Background())
		if err != nil || loads != 1 || len(results) != 1 || results[0].Seconds < 5 || results[0].Seconds > 6 {
			t.Errorf("%d loads, %+v, %v", loads, results, err)
		}
	})
}

// TestBusyGatewayPipelined: other batches are under way when one is refused.
func TestBusyGatewayPipelined(t *testing.T) {
	refused := false
	_, o := startGateway(t, gateway.Hooks{Refuse: func(method string) string {
		if method == "mutateRows" && !refused {
			refused = true
			return "org.apache.hadoop.hbase.RegionTooBusyException: later"
		}
		return ""
	}})
	o.Pipeline = 4
	results, err := Thrift(context.Background(), o)
	if err != nil || results[2].Errors != 1 || results[2].Count != 1000 {
		t.Errorf("%+v, %v", results, err)
	}
}

// pipeRun is a run whose connections are pipes, so that time may be a fake one.
func pipeRun(t *testing.T, h gateway.Hooks, change func(o *Options)) *thriftRun {
	t.Helper()
	_, run := pipe(t, h, change)
	return run
}

// pipe is pipeRun and its gateway.
func pipe(t *testing.T, h gateway.Hooks, change func(o *Options)) (*gateway.Gateway, *thriftRun) {
	t.Helper()
	g := gateway.New(h)
	t.Cleanup(g.Close)
	o := Options{Addr: "pipe", Records: 1000, Connections: 3, Batch: 70, ScanRows: 64, Gets: 200, Repeat: 1}
	change(&o)
	run := newThriftRun(o.withDefaults(), nil)
	run.dial = func(context.Context) (*thriftclient.Client, error) {
		here, there := net.Pipe()
		g.Serve(there)
		return thriftclient.New(here, run.client()), nil
	}
	return g, run
}

// TestRepeatsUntilFiveSeconds: with a fake clock, each call takes 10 ms.
func TestRepeatsUntilFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(string) { time.Sleep(10 * time.Millisecond) }
		run := pipeRun(t, gateway.Hooks{Before: slow}, func(o *Options) { o.Repeat = 0; o.Connections = 1; o.Gets = 30 })
		results, err := run.run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range results {
			sum := int64(0)
			for _, n := range r.Series {
				sum += n
			}
			if sum != r.Count || len(r.Series) < 5 || r.WorstSecond == nil || math.Abs(*r.WorstSecond-1) > 0.2 || *r.P50 < 9.9 || *r.P50 > 10.2 {
				t.Errorf("%s: %+v", r.Op, r)
			}
			got = append(got, fmt.Sprintf("%s %d in %.2f s", r.Op, r.Count, r.Seconds))
		}
		// A load is 15 calls, a scan 17 and one more at each end, 30 gets are 30.
		want := "scan 34000 in 6.46 s, get 510 in 5.10 s, load 34000 in 5.10 s"
		if strings.Join(got, ", ") != want {
			t.Errorf("\n got %s\nwant %s", strings.Join(got, ", "), want)
		}
	})
}

// TestGatewayHangsUp: a connection that ends is the run's end, at once, in every
// operation and mode.
func TestGatewayHangsUp(t *testing.T) {
	ran := 0
	for _, method := range []string{"getTableNames", "createTable", "mutateRows", "scannerOpenWithScan", "scannerGetList", "scannerClose", "getRow", "deleteTable"} {
		for _, mode := range []string{ModePrivate, ModeShared} {
			calls := 0
			_, o := startGateway(t, gateway.Hooks{HangUp: func(m string) bool {
				if m == method {
					calls++
				}
				return m == method && (calls == 3 || method != "mutateRows" && method != "scannerGetList" && method != "getRow")
			}})
			o.Mode = mode
			if _, err := Thrift(context.Background(), o); !errors.Is(err, thriftclient.ErrNoReply) {
				t.Errorf("%s, %s: %v", method, mode, err)
			}
			ran++
		}
	}
	if ran != 16 {
		t.Errorf("%d cases ran", ran)
	}
}

func TestInterrupted(t *testing.T) {
	why := errors.New("enough")
	for _, method := range []string{"mutateRows", "scannerGetList", "getRow"} {
		ctx, cancel := context.WithCancelCause(context.Background())
		_, o := startGateway(t, gateway.Hooks{HangUp: func(m string) bool {
			if m == method {
				cancel(why)
			}
			return false
		}})
		if _, err := Thrift(ctx, o); !errors.Is(err, why) {
			t.Errorf("%s: %v", method, err)
		}
		cancel(nil)
	}
}

func TestNobodyListens(t *testing.T) {
	g, o := startGateway(t, gateway.Hooks{})
	g.Close()
	if _, err := Thrift(context.Background(), o); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("error %v", err)
	}
}

// TestTablesOfOthersAreLeftAlone: also those of another run on the same server.
func TestTablesOfOthersAreLeftAlone(t *testing.T) {
	g, o := startGateway(t, gateway.Hooks{})
	c, err := thriftclient.Dial(context.Background(), o.Addr, thriftclient.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	for _, table := range []string{TablePrefix + "0", "other"} {
		if err := c.CreateTable(table, thriftclient.Family{Name: "f"}); err != nil {
			t.Fatal(err)
		}
		b := thriftclient.NewBatch(thriftclient.Options{})
		b.Begin(table, true, 1)
		b.Row([]byte("row"))
		b.Put([]byte("f:q"), []byte("v"))
		if err := c.Mutate(b); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Thrift(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if got := g.Tables(); !slices.Equal(got, []string{TablePrefix + "0", "other"}) || g.Row(TablePrefix+"0", "row")["f:q"] != "v" || g.Row("other", "row")["f:q"] != "v" {
		t.Errorf("tables %v", got)
	}
}

// TestOps: what is not asked for is not reported, and not done unless something
// else needs it.
func TestOps(t *testing.T) {
	f := func(change func(o *Options), reported string, scans, gets bool) {
		t.Helper()
		g, o := startGateway(t, gateway.Hooks{})
		change(&o)
		results, err := Thrift(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range results {
			got = append(got, r.Op)
		}
		if strings.Join(got, " ") != reported || scans != (g.Calls("scannerOpenWithScan") > 0) || gets != (g.Calls("getRow") > 0) {
			t.Errorf("reported %v, want %s; scans %d, gets %d", got, reported, g.Calls("scannerOpenWithScan"), g.Calls("getRow"))
		}
	}
	f(func(o *Options) {}, "scan get load", true, true)
	f(func(o *Options) { o.Ops = []string{OpLoad} }, "load", true, false)
	f(func(o *Options) { o.Ops = []string{OpLoad}; o.NoVerify = true }, "load", false, false)
	f(func(o *Options) { o.Ops = []string{OpGet, OpScan} }, "scan get", true, true)
	f(func(o *Options) { o.Ops = []string{OpGet}; o.NoVerify = true }, "get", false, true)
}

func TestNoVerifyDoesNotCompare(t *testing.T) {
	_, o := startGateway(t, gateway.Hooks{Store: func(_, _, v string) (string, bool) { return v + "x", true }})
	o.NoVerify = true
	if results, err := Thrift(context.Background(), o); err != nil || len(results) != 3 {
		t.Errorf("%d results, %v", len(results), err)
	}
}

func TestOptionsAreValidated(t *testing.T) {
	f := func(change func(o *Options), want string) {
		t.Helper()
		o := Options{Addr: "h:1"}
		change(&o)
		err := o.Validate()
		if want == "" && err == nil {
			return
		}
		if err == nil || !strings.Contains(err.Error(), want) || want == "" {
			t.Errorf("error %v, want %s", err, want)
		}
		if _, runErr := Thrift(context.Background(), o); fmt.Sprint(runErr) != fmt.Sprint(err) {
			t.Errorf("run: %v", runErr)
		}
	}
	f(func(o *Options) {}, "")
	f(func(o *Options) { o.Mode = ModeShared; o.Durability = cell.SkipWAL; o.Ops = []string{OpGet} }, "")
	f(func(o *Options) { o.Addr = "" }, `--addr is "": give the host:port of a Thrift server`)
	f(func(o *Options) { o.Records = -1 }, "--records is -1: choose 0 to 1073741824")
	f(func(o *Options) { o.Connections = 20000 }, "--connections is 20000: choose 1 to 10000")
	f(func(o *Options) { o.Repeat = -1 }, "--repeat is -1: choose 0 to 1000")
	f(func(o *Options) { o.Batch = -5 }, "--batch is -5")
	f(func(o *Options) { o.ScanRows = -5 }, "--scan-rows is -5")
	f(func(o *Options) { o.Gets = -5 }, "--gets is -5")
	f(func(o *Options) { o.Pipeline = -5 }, "--pipeline is -5")
	f(func(o *Options) { o.Mode = "both" }, "--mode is both: choose private or shared")
	f(func(o *Options) { o.Mode = ModeShared; o.Pipeline = 2 }, "--pipeline is 2: a shared connection is locked for each call")
	f(func(o *Options) { o.Durability = cell.AsyncWAL }, "--durability is ASYNC_WAL: the Thrift interface knows SYNC_WAL and SKIP_WAL")
	f(func(o *Options) { o.Ops = []string{OpLoad, "put"} }, "--op is put: choose load, scan, get, increment, filter, overwrite, rescan, start or backup")
	f(func(o *Options) { o.Producers = -5 }, "--producers is -5")
	f(func(o *Options) { o.Increments = -5 }, "--increments is -5")
}
