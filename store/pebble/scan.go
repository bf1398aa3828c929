package pebble

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// Scan implements store.Reader.
func (s *Store) Scan(ctx context.Context, name string, scan *cell.Scan) (store.Scanner, error) {
	return s.scanFrom(ctx, live{s}, name, scan)
}

func (s *Store) scanFrom(ctx context.Context, from view, name string, scan *cell.Scan) (store.Scanner, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.RUnlock()
	t, err := from.find(name)
	if err != nil {
		return nil, err
	}
	if err := t.usable(); err != nil {
		return nil, err
	}
	defer t.mu.RUnlock()
	if err := scan.Validate(); err != nil {
		return nil, err
	}
	plan, err := planRead(t, &scan.Read, scan.Raw, s.clock.now())
	if err != nil {
		return nil, err
	}
	if plan.filter, err = s.newFiltering(scan.Filter, scan.Reversed, scan.Batch > 0 || scan.MaxBytes > 0); err != nil {
		return nil, err
	}
	sc := &scanner{
		s: s, t: t, from: from, plan: plan,
		reversed: scan.Reversed, limit: scan.Limit, batch: scan.Batch, maxBytes: scan.MaxBytes,
		rest: cloneRange(scan.Ascending()), breath: breathEvery,
	}
	s.scanners.add(sc)
	t.scanners.Add(1)
	return sc, nil
}

func cloneRange(r cell.Range) cell.Range {
	r.Start, r.Stop = bytes.Clone(r.Start), bytes.Clone(r.Stop)
	return r
}

// scanner gives the rows of a scan.
//
// It holds Pebble iterators, which pin files, only while it is used: after a
// second without a call between two rows they are closed, and opened anew at
// the next row. Inside a row they are held up to rowHold, since the rest of the
// row has to be of the same moment; then the scan ends with an error.
type scanner struct {
	s        *Store
	t        *table
	from     iterators
	plan     *readPlan
	reversed bool
	limit    int
	batch    int
	maxBytes int

	mu      sync.Mutex
	rest    cell.Range // rows not given yet, lower bound first
	sources []*source  // nil: no iterators are open
	rows    int
	row     rowWalk
	inRow   bool
	result  cell.Result
	walked  walked // for the table's heat
	end     error  // io.EOF or what ended the scan
	closed  bool
	used    int64 // unix ms by the machine's clock, of the last call

	locked   bool      // the running call holds t.mu
	resumed  time.Time // since when
	breath   time.Duration
	breathed func() // tests look in while it does not; nil otherwise
}

const (
	scanIdle = int64(time.Second / time.Millisecond)
	rowHold  = 60 * scanIdle
)

var errRowExpired = errors.New("the scan paused for over a minute inside a row; open it again at that row")

// Next implements store.Scanner.
func (c *scanner) Next(ctx context.Context) (*cell.Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, store.ErrClosed
	}
	if err := c.s.enter(ctx); err != nil {
		return nil, err
	}
	defer c.s.gate.RUnlock()
	c.used = time.Now().UnixMilli()
	if c.end != nil {
		return nil, c.end
	}
	if err := c.t.usable(); err != nil {
		return nil, c.finish(err)
	}
	c.locked, c.resumed = true, time.Now()
	defer func() {
		if c.locked {
			c.locked = false
			c.t.mu.RUnlock()
		}
	}()
	res, err := c.next(ctx)
	if err != nil && !(ctx.Err() != nil && errors.Is(err, ctx.Err())) {
		return nil, c.finish(err)
	}
	return res, err
}

// finish ends the scan and frees the iterators.
func (c *scanner) finish(err error) error {
	c.end = err
	c.inRow = false
	if cerr := c.release(); cerr != nil && err == io.EOF {
		c.end = cerr
	}
	return c.end
}

func (c *scanner) next(ctx context.Context) (*cell.Result, error) {
	if c.sources == nil {
		if err := c.open(); err != nil {
			return nil, err
		}
	}
	for n := 0; ; n++ {
		// Rows that show nothing may be many, and a filter may be slow.
		if n%256 == 255 || n > 0 && c.plan.filter != nil {
			if err := c.breathe(ctx); err != nil {
				return nil, err
			}
		}
		if !c.inRow {
			if c.limit > 0 && c.rows >= c.limit || c.plan.filter.over() {
				return nil, io.EOF
			}
			ok, err := c.enterRow()
			if err != nil {
				return nil, err
			}
			if !ok {
				return nil, io.EOF
			}
		}
		if err := c.fill(); err != nil {
			return nil, err
		}
		if len(c.result.Cells) > 0 {
			return &c.result, nil
		}
	}
}

// breathEvery is how long a call goes on before it lets others have the table.
const breathEvery = 20 * time.Millisecond

// breathe looks at the context and, now and then, lets go of the table for a
// moment: whoever alters or drops it waits for that, and everybody else waits
// behind. It is called between two rows, where a call could end too.
func (c *scanner) breathe(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.inRow || time.Since(c.resumed) < c.breath {
		return nil
	}
	c.locked = false
	c.t.mu.RUnlock()
	if c.breathed != nil {
		c.breathed()
	}
	if err := c.t.usable(); err != nil {
		return err
	}
	c.locked, c.resumed = true, time.Now()
	return nil
}

// enterRow finds the next row in the direction of the scan.
func (c *scanner) enterRow() (bool, error) {
	var row []byte
	for _, src := range c.sources {
		if src.row == nil {
			continue
		}
		if row == nil {
			row = src.row
		} else if cmp := bytes.Compare(src.row, row); cmp != 0 && cmp < 0 != c.reversed {
			row = src.row
		}
	}
	if row == nil {
		return false, nil
	}
	c.row.begin(row)
	c.inRow = true
	return true, nil
}

// fill reads the row, or the next part of it, into the result.
func (c *scanner) fill() error {
	r := &c.result
	r.Reset()
	r.Row = copyUnescaped(r, c.row.row)
	size, more := 0, false
	for {
		if c.batch > 0 && len(r.Cells) == c.batch || c.maxBytes > 0 && size > c.maxBytes {
			more = true
			break
		}
		n := len(r.Cells)
		ok, err := c.row.next(c, r)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		size += r.Cells[n].Size()
	}
	if more {
		var err error
		if more, err = c.row.peek(c); err != nil {
			return err
		}
	}
	c.walked.bytes += int64(size)
	r.Partial = more
	if !more {
		c.plan.filter.endRow(r)
	}
	if !c.row.counted && len(r.Cells) > 0 {
		c.row.counted = true
		c.rows++
	}
	if more {
		return nil
	}
	c.inRow = false
	return c.leaveRow()
}

// leaveRow moves the sources behind the row and remembers where the scan is.
func (c *scanner) leaveRow() error {
	c.walked.row(c.t.heat)
	row := c.row.row
	for _, src := range c.sources {
		if src.row != nil && bytes.Equal(src.row, row) {
			if err := src.after(c.reversed); err != nil {
				return err
			}
		}
	}
	if c.reversed {
		c.rest.Stop, c.rest.StopInclusive = append(c.rest.Stop[:0], c.result.Row...), false
	} else {
		c.rest.Start, c.rest.StartExclusive = append(c.rest.Start[:0], c.result.Row...), true
	}
	return nil
}

// open opens the iterators at the rest of the scan: clones of one, so that all
// families are of one moment.
func (c *scanner) open() error {
	c.sources = make([]*source, 0, len(c.plan.families))
	for i := range c.plan.families {
		p := &c.plan.families[i]
		lower, upper := rowBounds(c.t.id, p.family.id, c.rest)
		if bytes.Compare(lower, upper) > 0 {
			upper = lower
		}
		o := &pebbledb.IterOptions{LowerBound: lower, UpperBound: upper}
		var it *pebbledb.Iterator
		var err error
		if i == 0 {
			it, err = c.from.NewIter(o)
		} else {
			it, err = c.sources[0].it.Clone(pebbledb.CloneOptions{IterOptions: o})
		}
		if err != nil {
			return storeError(err)
		}
		src := &source{it: it, plan: p}
		c.sources = append(c.sources, src)
		if err := src.first(c.reversed); err != nil {
			return err
		}
	}
	return nil
}

// release closes the iterators.
func (c *scanner) release() error {
	c.walked.add(c.t.heat)
	var err error
	for _, src := range c.sources {
		if cerr := src.it.Close(); err == nil {
			err = storeError(cerr)
		}
	}
	c.sources = nil
	return err
}

// Close implements store.Scanner.
func (c *scanner) Close() error {
	c.s.scanners.remove(c)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	c.t.scanners.Add(-1)
	return c.release()
}

// idle implements member: it frees the iterators of a scanner that nobody uses.
func (c *scanner) idle(now int64) {
	if !c.mu.TryLock() {
		return
	}
	defer c.mu.Unlock()
	switch unused := now - c.used; {
	case c.sources == nil || unused < scanIdle:
		return
	case c.inRow && unused < rowHold:
		return
	case c.inRow:
		c.finish(errRowExpired)
		return
	}
	if err := c.release(); err != nil {
		c.end = err
	}
}

// shut implements member.
func (c *scanner) shut() {
	if err := c.Close(); err != nil {
		c.s.log.Error("close a scanner", "error", err)
	}
}
