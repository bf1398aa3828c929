package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cellardb/cellar/bench/internal/gateway"
	"github.com/cellardb/cellar/bench/thriftclient"
	"github.com/cellardb/cellar/cell"
)

// TestIncrements: alone, or before the others; every increment is acknowledged
// and counted once, in batches, over all connections.
func TestIncrements(t *testing.T) {
	f := func(reported string, calls int, change func(o *Options)) {
		t.Helper()
		g, o := startGateway(t, gateway.Hooks{})
		o.Increments = 5000
		change(&o)
		results, err := Thrift(context.Background(), o)
		if err != nil {
			t.Error(err)
			return
		}
		var got []string
		for _, r := range results {
			got = append(got, r.Op)
		}
		r := results[0]
		if strings.Join(got, " ") != reported || g.Calls("incrementRows") != calls || len(g.Tables()) != 0 {
			t.Errorf("reported %v, want %s; %d calls, want %d; tables %v", got, reported, g.Calls("incrementRows"), calls, g.Tables())
		}
		if r.Op == OpIncrement && (r.Unit != "increments" || r.Count != int64(5000*o.Repeat) || r.Errors != 0 || r.Durability != "SYNC_WAL") {
			t.Errorf("%+v", r)
		}
		if alone := reported == OpIncrement; alone != (g.Calls("mutateRows") == 0) {
			t.Errorf("%s: %d loads", reported, g.Calls("mutateRows"))
		}
	}
	f("increment", 72, func(o *Options) { o.Ops = []string{OpIncrement} }) // 5000 in 70s
	f("increment", 51, func(o *Options) { o.Ops = []string{OpIncrement}; o.Batch = 300; o.Repeat = 3; o.Compact = true })
	f("increment get", 72, func(o *Options) { o.Ops = []string{OpGet, OpIncrement}; o.Durability = cell.SkipWAL })
	f("increment", 72, func(o *Options) { o.Ops = []string{OpIncrement}; o.NoVerify = true })
	f("scan get load", 0, func(*Options) {})
}

// TestIncrementsAreVerified: a counter that is one off fails the run, and so does
// one that is lost; the table is kept.
func TestIncrementsAreVerified(t *testing.T) {
	f := func(want string, store func(row string, n int, v string) (string, bool)) {
		t.Helper()
		n := 0
		g, o := startGateway(t, gateway.Hooks{Store: func(row, _, v string) (string, bool) {
			n++
			return store(row, n, v)
		}})
		o.Ops, o.Increments = []string{OpIncrement}, 5000
		_, err := Thrift(context.Background(), o)
		if !errors.Is(err, ErrVerify) || !strings.Contains(err.Error(), want) || len(g.Tables()) != 1 {
			t.Errorf("error %v, want %s; tables %v", err, want, g.Tables())
		}
	}
	f("0 missing, 1 with wrong values, 0 unknown", func(_ string, n int, v string) (string, bool) { return v, n != 4999 }) // one is lost
	f("1 missing, 0 with wrong values", func(row string, _ int, v string) (string, bool) { return v, row != "counter_0007" })
	f("bytes, not 8", func(row string, _ int, v string) (string, bool) {
		if row == "counter_0007" {
			return v + "x", true
		}
		return v, true
	})
	c := counters{seed: 1, table: "t"}
	err := c.compare(1, map[string]string{string(counterKey(c.row(0))): "1", "x": "1"})
	if !errors.Is(err, ErrVerify) || !strings.Contains(err.Error(), "1 unknown") {
		t.Errorf("a row that nobody wrote: %v", err)
	}
}

// TestRefusedIncrementIsNotRepeated: it might count twice.
func TestRefusedIncrementIsNotRepeated(t *testing.T) {
	g, o := startGateway(t, gateway.Hooks{Refuse: func(m string) string {
		if m == "incrementRows" {
			return "busy"
		}
		return ""
	}})
	o.Ops, o.Increments, o.Connections = []string{OpIncrement}, 5000, 1
	var e *thriftclient.Exception
	if _, err := Thrift(context.Background(), o); !errors.As(err, &e) || g.Calls("incrementRows") != 1 || len(g.Tables()) != 0 {
		t.Errorf("%v after %d calls; tables %v", err, g.Calls("incrementRows"), g.Tables())
	}
}

// TestTableIsDroppedAfterAnError, whatever it is, and after an interruption.
func TestTableIsDroppedAfterAnError(t *testing.T) {
	ran := 0
	for _, method := range []string{"mutateRows", "scannerGetList", "getRow", "incrementRows"} {
		for _, interrupt := range []bool{false, true} {
			ctx, cancel := context.WithCancel(context.Background())
			var once atomic.Bool
			g, o := startGateway(t, gateway.Hooks{HangUp: func(m string) bool {
				if m != method {
					return false
				}
				if interrupt {
					cancel()
					return false
				}
				return once.CompareAndSwap(false, true)
			}})
			o.Ops, o.Increments = []string{OpLoad, OpScan, OpGet, OpIncrement}, 5000
			_, err := Thrift(ctx, o)
			if err == nil || len(g.Tables()) != 0 {
				t.Errorf("%s, interrupted %v: %v; left tables %v", method, interrupt, err, g.Tables())
			}
			cancel()
			ran++
		}
	}
	if ran != 8 {
		t.Errorf("%d cases ran", ran)
	}
}

// TestRunsHaveTablesOfTheirOwn: two runs at one server do not meet.
func TestRunsHaveTablesOfTheirOwn(t *testing.T) {
	names := map[string]bool{}
	for range 3 {
		run := newThriftRun(Options{Addr: "h:1"}.withDefaults(), nil)
		for _, what := range []string{"load", "increment"} {
			name := run.tableName(what, 0)
			if names[name] || !strings.HasPrefix(name, TablePrefix) {
				t.Error(fmt.Sprint("name ", name))
			}
			names[name] = true
		}
	}
}
