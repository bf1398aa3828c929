package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/cellardb/cellar/bench/thriftclient"
)

// rowFilter keeps the rows whose keys end in three zeros. Keys end in
// consecutive numbers, so that is one in filterKeeps.
const (
	rowFilter   = "RowFilter(=, 'regexstring:000$')"
	filterKeeps = 1000
)

// kept says whether rowFilter keeps record i.
func (g records) kept(i int) bool { return (g.epoch+int64(i))%filterKeeps == 0 }

// scanAll reads the table back on one connection and, unless NoVerify, compares
// every row.
func (t *thriftRun) scanAll(ctx context.Context) error { return t.scanTable(ctx, &t.scan, OpScan, "") }

// scanTable does one repetition of a scan. It keeps Pipeline requests under way.
// With a filter its units are the rows that the server looks at, not the few
// that come.
func (t *thriftRun) scanTable(ctx context.Context, m *measure, what, filter string) error {
	c, done, err := t.connect(ctx)
	if err != nil {
		return err
	}
	defer done()
	all := len(t.ledger.sums)
	phase := t.progress.Begin(what, all)
	defer phase.End()

	audit := t.ledger.audit()
	if filter != "" {
		audit.expected = t.ledger.kept
	}
	m.begin()
	rec := m.recorder()
	err = t.scanRows(ctx, c, filter, audit, func(sent time.Time, n int) {
		if filter != "" {
			n = 0
		}
		rec.done(sent, n)
		phase.Add(n)
	})
	if err != nil {
		return fmt.Errorf("%s after %d rows: %w", what, audit.found.Read, err)
	}
	if filter != "" {
		rec.series.add(rec.offset+m.clock().Sub(m.started), int64(all))
		phase.Add(all)
	}
	m.end([]*recorder{rec})
	if t.NoVerify {
		return nil
	}
	return audit.end()
}

// scanRows scans the table and gives every row to audit, and for each reply the
// time at which it was asked for and how many rows it had to done.
func (t *thriftRun) scanRows(ctx context.Context, c *thriftclient.Client, filter string, audit *audit, done func(sent time.Time, n int)) error {
	visit := func(row *thriftclient.Row) error {
		if t.NoVerify {
			audit.found.Read++
		} else {
			audit.row(row)
		}
		return nil
	}
	id, err := c.ScannerOpen(t.ledger.table, thriftclient.Scan{Caching: t.ScanRows, Filter: filter})
	if err != nil {
		return err
	}
	sent := make(chan time.Time, t.Pipeline)
	for more := true; more || len(sent) > 0; {
		for more && len(sent) < t.Pipeline {
			sent <- t.clock()
			if err := c.SendScannerGetList(id, t.ScanRows); err != nil {
				return err
			}
		}
		n, err := c.ReceiveScannerGetList(visit)
		if err != nil {
			return err
		}
		done(<-sent, n)
		more = more && n > 0
	}
	return c.ScannerClose(id)
}

// scans repeats a scan until it makes a figure.
func (t *thriftRun) scans(ctx context.Context, m *measure, what, filter string) error {
	for !m.enough(t.Repeat) {
		if err := t.scanTable(ctx, m, what, filter); err != nil {
			return err
		}
	}
	return nil
}

// filters is OpFilter.
func (t *thriftRun) filters(ctx context.Context) error {
	return t.scans(ctx, &t.filter, OpFilter, rowFilter)
}
