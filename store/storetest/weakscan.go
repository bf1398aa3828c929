package storetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// Get is the inner engine's, late at times.
func (w *WeakStore) Get(ctx context.Context, table string, get *cell.Get, into *cell.Result) error {
	if err := w.up(); err != nil {
		into.Reset()
		return err
	}
	if err := w.inner.Get(ctx, table, get, into); err != nil {
		return err
	}
	return w.late(ctx)
}

// Scan opens a scanner that opens itself anew between rows.
func (w *WeakStore) Scan(ctx context.Context, table string, scan *cell.Scan) (store.Scanner, error) {
	if err := w.up(); err != nil {
		return nil, err
	}
	sc, err := w.inner.Scan(ctx, table, scan)
	if err != nil {
		return nil, err
	}
	return &weakScanner{of: w, table: table, scan: cloneScan(scan), inner: sc, left: scan.Limit}, nil
}

// weakScanner reads on in new scanners.
type weakScanner struct {
	of    *WeakStore
	table string
	scan  *cell.Scan // what is left of it
	inner store.Scanner
	left  int          // rows until the limit, if there is one
	part  bool         // the last result is followed by more of its row
	last  []byte       // row
	given *cell.Result // what the caller holds
	end   error
}

// Next gives a copy of the inner scanner's result.
func (c *weakScanner) Next(ctx context.Context) (*cell.Result, error) {
	c.scribble()
	if err := c.of.up(); err != nil {
		return nil, err
	}
	if c.end != nil {
		return nil, c.end
	}
	// Late before the row is taken: a call that is given up must not lose it.
	if err := c.of.late(ctx); err != nil {
		return nil, err
	}
	// A filter's state is of one scan: its rows may depend on those before.
	if c.last != nil && !c.part && c.scan.Filter == nil && c.of.chance(c.of.opts.Reopen, func(n *WeakCounts) { n.Reopened++ }) {
		if err := c.reopen(ctx); err != nil {
			return nil, err
		}
	}
	r, err := c.inner.Next(ctx)
	if err != nil {
		return nil, err
	}
	if c.scan.Limit > 0 && !c.part {
		c.left--
	}
	c.part = r.Partial
	c.last = bytes.Clone(r.Row)
	c.given = r.Clone()
	return c.given, nil
}

// reopen goes on behind the last row. The old scanner is asked once more before
// it goes: only it knows that its table was dropped and made anew meanwhile.
func (c *weakScanner) reopen(ctx context.Context) error {
	if c.scan.Limit > 0 && c.left == 0 {
		c.end = io.EOF
		return io.EOF
	}
	c.scan.Start, c.scan.StartExclusive = c.last, true
	c.scan.Limit = c.left
	fresh, openErr := c.of.inner.Scan(ctx, c.table, c.scan)
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), closeScanner(fresh))
	}
	// From here on the context must not matter: the old scanner loses a row.
	if _, err := c.inner.Next(context.WithoutCancel(ctx)); err != nil && !errors.Is(err, io.EOF) {
		c.end = err
		return errors.Join(err, closeScanner(fresh))
	}
	if openErr != nil {
		c.end = openErr
		return openErr
	}
	old := c.inner
	c.inner = fresh
	return old.Close()
}

func closeScanner(sc store.Scanner) error {
	if sc == nil {
		return nil
	}
	return sc.Close()
}

// scribble overwrites what the caller holds of the last result.
func (c *weakScanner) scribble() {
	if c.given == nil || !c.of.opts.Scribble {
		return
	}
	scribbleResult(c.given)
	c.given = nil
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.of.mu.counts.Scribbled++
}

func scribbleResult(r *cell.Result) {
	fill := func(b []byte) {
		for i := range b {
			b[i] = 0xdb
		}
	}
	fill(r.Row)
	for i := range r.Cells {
		c := &r.Cells[i]
		for _, b := range [][]byte{c.Row, c.Family, c.Qualifier, c.Value, c.Tags} {
			fill(b)
		}
		c.Timestamp = -1
	}
}

// Close closes the scanner that is open.
func (c *weakScanner) Close() error {
	c.scribble()
	return c.inner.Close()
}

// cloneScan copies a scan and all that it points to but its filter.
func cloneScan(scan *cell.Scan) *cell.Scan {
	c := *scan
	c.Start, c.Stop = bytes.Clone(scan.Start), bytes.Clone(scan.Stop)
	c.Select = slices.Clone(scan.Select)
	for i := range c.Select {
		sel := &c.Select[i]
		sel.Family = bytes.Clone(sel.Family)
		sel.Qualifiers = slices.Clone(sel.Qualifiers)
		for j, q := range sel.Qualifiers {
			sel.Qualifiers[j] = bytes.Clone(q)
		}
		if sel.Within != nil {
			within := *sel.Within
			sel.Within = &within
		}
	}
	return &c
}
