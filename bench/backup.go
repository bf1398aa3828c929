package bench

import (
	"context"
	"fmt"
)

// backups is OpBackup: records are loaded into a table of their own for
// Duration, then into another while the store is backed up, again and again, then
// into a third: what comes before and after is what the middle one is compared
// with.
func (t *thriftRun) backups(ctx context.Context) error {
	base := t.ledger
	for i, beside := range []bool{false, true, false} {
		m := &t.ingest
		if beside {
			m = &t.ingestBackup
		}
		table := t.tableName("ingest", i)
		if err := t.create(ctx, table); err != nil {
			return err
		}
		end := func() error { return nil }
		if beside {
			end = t.keepBackingUp(ctx)
		}
		err := t.loadInto(ctx, m, table, 0, t.Duration)
		if backupErr := end(); err == nil {
			err = backupErr
		}
		if err != nil {
			return err
		}
		if !t.NoVerify {
			if err := t.scanAll(ctx); err != nil {
				return err
			}
		}
		if err := t.drop(ctx, table); err != nil {
			return err
		}
	}
	t.ledger, t.table = base, base.table
	alone, beside := t.ingest.rate(), t.ingestBackup.rate()
	if alone > 0 {
		t.ingestBackup.figure(figureKeptBeside, beside/alone)
	}
	return nil
}

// keepBackingUp backs the store up until end is called: once at least, and the
// one that is under way then is the last.
func (t *thriftRun) keepBackingUp(ctx context.Context) (end func() error) {
	enough, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- func() error {
			for {
				if err := t.backUp(ctx); err != nil {
					return err
				}
				select {
				case <-enough:
					return nil
				default:
				}
			}
		}()
	}()
	return func() error {
		close(enough)
		return <-done
	}
}

func (t *thriftRun) backUp(ctx context.Context) error {
	started := t.clock()
	n, err := t.Backup(ctx)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	took := t.clock().Sub(started)
	t.progress.Say("backup of %.0f MiB in %.2f s", float64(n)/mib, took.Seconds())
	t.backup.once(took)
	t.backup.figure(figureBackup, float64(n)/mib)
	return nil
}

// rate is units a second, so far.
func (m *measure) rate() float64 {
	if m.took <= 0 {
		return 0
	}
	return float64(m.series.total()) / m.took.Seconds()
}
