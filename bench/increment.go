package bench

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/cellardb/cellar/bench/thriftclient"
	"github.com/cellardb/cellar/cell"
)

// CounterRows is the number of rows that increments are spread over, one counter
// each.
const CounterRows = 1000

var counterColumn = []byte(recordFamily + ":n")

// counters are the counters of one table. Increment i adds 1 to a row that
// depends on i and the seed alone, so that each row's sum is known exactly.
type counters struct {
	seed  uint64
	table string
}

func (c counters) row(i int) int { return int(mix(mix(c.seed)+uint64(i)) % CounterRows) }

func counterKey(row int) []byte { return fmt.Appendf(nil, "counter_%04d", row) }

// increments does one repetition, on a fresh table: increments of 1 by
// incrementRows of Batch over all connections, and then, unless NoVerify, a
// scan that compares every counter.
func (t *thriftRun) increments(ctx context.Context) error {
	c := counters{seed: t.Seed, table: t.tableName("increment", t.increment.rounds)}
	if err := t.create(ctx, c.table); err != nil {
		return err
	}
	phase := t.progress.Begin("increment", t.Increments)
	defer phase.End()
	clients, done, err := t.connectAll(ctx, t.Connections)
	if err != nil {
		return err
	}
	defer done()
	keys := make([][]byte, CounterRows)
	for i := range keys {
		keys[i] = counterKey(i)
	}
	var next atomic.Int64
	recs := make([]*recorder, len(clients))
	t.increment.begin()
	err = together(clients, len(clients), func(i int) error {
		recs[i] = t.increment.recorder()
		batch := make([]thriftclient.Increment, 0, t.Batch)
		for {
			to := int(next.Add(int64(t.Batch)))
			from := to - t.Batch
			if from >= t.Increments {
				return ctx.Err()
			}
			batch = batch[:0]
			for n := from; n < min(to, t.Increments); n++ {
				batch = append(batch, thriftclient.Increment{Row: keys[c.row(n)], Column: counterColumn, Amount: 1})
			}
			sent := t.clock()
			// Not sent again when it is refused: it may have counted in part.
			if err := clients[i].IncrementRows(c.table, batch); err != nil {
				return err
			}
			recs[i].done(sent, len(batch))
			phase.Add(len(batch))
		}
	})
	if err != nil {
		return fmt.Errorf("increment: %w", err)
	}
	t.increment.end(recs)
	if !t.NoVerify {
		if err := t.verifyCounters(ctx, c); err != nil {
			return err
		}
	}
	return t.drop(ctx, c.table)
}

// verifyCounters reads all counters back and compares each with its exact sum.
func (t *thriftRun) verifyCounters(ctx context.Context, c counters) error {
	client, done, err := t.connect(ctx)
	if err != nil {
		return err
	}
	defer done()
	got := map[string]string{}
	id, err := client.ScannerOpen(c.table, thriftclient.Scan{Caching: t.ScanRows})
	if err != nil {
		return fmt.Errorf("read counters: %w", err)
	}
	for more := true; more; {
		n, err := client.ScannerGetList(id, t.ScanRows, func(row *thriftclient.Row) error {
			got[string(row.Key)] = counterText(row)
			return nil
		})
		if err != nil {
			return fmt.Errorf("read counters: %w", err)
		}
		more = n > 0
	}
	if err := client.ScannerClose(id); err != nil {
		return fmt.Errorf("read counters: %w", err)
	}
	return c.compare(t.Increments, got)
}

// counterText is what a row's counter holds, in decimal; if it is no counter, what
// it is instead.
func counterText(row *thriftclient.Row) string {
	if len(row.Columns) != 1 || string(row.Columns[0].Name) != string(counterColumn) {
		return fmt.Sprintf("%d columns, not %s alone", len(row.Columns), counterColumn)
	}
	v := row.Columns[0].Value
	if len(v) != 8 {
		return fmt.Sprintf("%d bytes, not 8", len(v))
	}
	return strconv.FormatInt(int64(binary.BigEndian.Uint64(v)), 10)
}

// compare says what is wrong with the rows that were read after n increments;
// nil: every counter has its exact sum, and no others are there.
func (c counters) compare(n int, got map[string]string) error {
	want := make([]int, CounterRows)
	for i := range n {
		want[c.row(i)]++
	}
	e := VerifyError{Table: c.table, Read: len(got)}
	note := func(counter *int, key, what string) {
		*counter++
		if e.First == "" {
			e.First = fmt.Sprintf("row %s: %s", cell.Printable([]byte(key)), what)
		}
	}
	for row, sum := range want {
		if sum == 0 {
			continue
		}
		e.Written++
		key := string(counterKey(row))
		text, there := got[key]
		delete(got, key)
		switch {
		case !there:
			note(&e.Missing, key, fmt.Sprintf("there is no counter, want %d", sum))
		case text != strconv.Itoa(sum):
			note(&e.Wrong, key, fmt.Sprintf("the counter is %s, want %d", text, sum))
		}
	}
	for key := range got {
		note(&e.Foreign, key, "nobody wrote it")
	}
	if e.Missing+e.Wrong+e.Foreign == 0 {
		return nil
	}
	return &e
}
