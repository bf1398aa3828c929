package crash

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cellardb/cellar/test/child"
	"github.com/cellardb/cellar/test/plainthrift"
)

// writers is how many write at a time.
const writers = 10

// TestC31_KilledUnderWriters kills the server, as kill -9 does, at a random moment
// between 0.2 s and 2 s after ten writers have begun, starts it again on the
// same folder and looks at the whole table; round after round on that folder.
func TestC31_KilledUnderWriters(t *testing.T) {
	if testing.Short() {
		t.Skip("not one of the quick tests")
	}
	data, logs := t.TempDir(), t.TempDir()
	// A small budget, so that memtables fill and files are written meanwhile.
	server := child.Start(t, data, "--memory", "512MiB")
	createTable(t, server.Thrift1)
	all := newWriters(t, logs)
	acknowledged, done := 0, 0
	for round := range rounds() {
		after := 200*time.Millisecond + time.Duration(rand.Int64N(int64(1800*time.Millisecond)))
		killUnder(t, server, all, after)
		begin := time.Now()
		server = child.Start(t, data, "--memory", "512MiB")
		started := time.Since(begin)
		e, err := expect(all)
		if err != nil {
			t.Fatal(err)
		}
		rows := e.verify(t, server.Thrift1)
		t.Logf("round %d: killed after %s, started again in %s; %d rows were written and acknowledged so far, %d are there",
			round, after.Round(time.Millisecond), started.Round(time.Millisecond), len(e.acknowledged), rows)
		if len(e.acknowledged) <= acknowledged {
			t.Errorf("round %d: nothing was acknowledged before the kill", round)
		}
		acknowledged = len(e.acknowledged)
		settle(all, server.Thrift1, t)
		if t.Failed() {
			t.FailNow()
		}
		done++
	}
	if done != rounds() {
		t.Errorf("%d rounds, want %d", done, rounds())
	}
	if err := server.Stop(); err != nil {
		t.Errorf("the server ends with %v", err)
	}
}

func createTable(t *testing.T, addr string) {
	t.Helper()
	c, err := plainthrift.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.CreateTable(tableName, "f1", "f2"); err != nil {
		t.Fatal(err)
	}
}

// killUnder lets the writers write for so long, kills the server and waits for
// them to notice.
func killUnder(t *testing.T, server *child.Server, all []*writer, after time.Duration) {
	t.Helper()
	var running sync.WaitGroup
	for _, w := range all {
		running.Go(func() {
			err := w.run(server.Thrift1)
			var refused *plainthrift.Refused
			if errors.As(err, &refused) {
				t.Errorf("writer %d was refused before the kill: %v", w.id, err)
			}
		})
	}
	time.Sleep(after) // the moment of the kill is what is random here
	server.Kill()
	running.Wait()
}

// settle does the calls again that were not answered, and reads the counters, so
// that the next round begins with what is known.
func settle(all []*writer, addr string, t *testing.T) {
	t.Helper()
	c, err := plainthrift.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, w := range all {
		if len(w.pending.rows) > 0 {
			if err := w.do(c, w.pending); err != nil {
				t.Fatalf("do the call of writer %d again: %v", w.id, err)
			}
			if err := w.acknowledge(w.pending); err != nil {
				t.Fatal(err)
			}
			w.pending = op{}
		}
		if err := w.count(c); err != nil {
			t.Fatalf("count for writer %d: %v", w.id, err)
		}
	}
}

// What verify looks for is found: were it to take anything, this would tell.
func TestNumberOfFindsFaults(t *testing.T) {
	whole := func(number int) map[string]string {
		m := map[string]string{}
		for _, column := range columns {
			m[column] = valueOf("k", column, number)
		}
		return m
	}
	half := whole(3)
	delete(half, "f2:a")
	mixed := whole(3)
	mixed["f2:c"] = valueOf("k", "f2:c", 4)
	torn := whole(3)
	torn["f1:b"] = torn["f1:b"][:100]
	for name, c := range map[string]struct {
		row map[string]string
		ok  bool
	}{"whole": {whole(3), true}, "half": {half, false}, "mixed": {mixed, false}, "torn": {torn, false}} {
		number, err := numberOf("k", c.row)
		if (err == nil) != c.ok || c.ok && number != 3 {
			t.Errorf("%s: %d, %v", name, number, err)
		}
	}
}

func TestCompareFindsFaults(t *testing.T) {
	e := &expectation{
		acknowledged: map[string]int{"a": 1, "b": 2, "gone": deleted, "p": 1},
		pending:      map[string]int{"p": 5, "new": 6},
	}
	cases := map[string]struct {
		found  map[string]int
		faults int
	}{
		"as acknowledged":    {map[string]int{"a": 1, "b": 2, "p": 1}, 0},
		"pending was done":   {map[string]int{"a": 1, "b": 2, "p": 5, "new": 6}, 0},
		"one lost":           {map[string]int{"a": 1, "p": 1}, 1},
		"one is older":       {map[string]int{"a": 1, "b": 1, "p": 1}, 1},
		"one is back":        {map[string]int{"a": 1, "b": 2, "gone": 1, "p": 1}, 1},
		"one of nobody":      {map[string]int{"a": 1, "b": 2, "p": 1, "x": 1}, 1},
		"pending, but other": {map[string]int{"a": 1, "b": 2, "p": 4, "new": 7}, 2},
	}
	for name, c := range cases {
		n := 0
		e.compare(c.found, func(string, ...any) error { n++; return nil })
		if n != c.faults {
			t.Errorf("%s: %d faults, want %d", name, n, c.faults)
		}
	}
	if len(cases) != 7 {
		t.Errorf("%d cases, want 7", len(cases))
	}
}
