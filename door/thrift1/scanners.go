package thrift1

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/door"
	"github.com/cellardb/cellar/store"
)

// scanners is the open scanners of a door. Their ids count up from 0; any
// connection may use any of them. One that nobody used for the timeout is closed,
// and its id is invalid from then on: looked up late, it is found expired at that
// moment; not looked up, a goroutine finds it.
type scanners struct {
	store   store.Reader
	timeout time.Duration
	limit   int
	quit    chan struct{}
	sweeper sync.WaitGroup
	mu      struct {
		sync.Mutex
		open   map[int32]*scanner
		bytes  int // that they keep
		next   int32
		closed bool
	}
}

// maxScannerBytes bounds what the open scanners keep of what clients asked for.
const maxScannerBytes = 64 << 20

// sweepsPerTimeout is how often, in a timeout, expired scanners are looked for.
const sweepsPerTimeout = 4

func newScanners(o Options) *scanners {
	t := &scanners{store: o.Store, timeout: o.ScannerTimeout, limit: o.MaxScanners, quit: make(chan struct{})}
	t.mu.open = map[int32]*scanner{}
	t.sweeper.Go(t.sweep)
	return t
}

var (
	errTooManyScanners = errors.New("too many open scanners")
	errInvalidScanner  = &fault{kind: kindIA, message: "scanner ID is invalid", outcome: door.Refused}
)

// add gives a scan an id. Nothing is read, and nothing is looked up, before the
// first fetch: that is when a missing table is noticed.
func (t *scanners) add(table string, scan *cell.Scan, sorted bool) (int32, error) {
	s := &scanner{store: t.store, table: table, scan: *scan, sorted: sorted, size: sizeOf(scan)}
	s.touch(time.Now())
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.closed {
		return 0, store.ErrClosed
	}
	if len(t.mu.open) >= t.limit || t.mu.bytes+s.size > maxScannerBytes {
		return 0, errTooManyScanners
	}
	t.mu.bytes += s.size
	for t.mu.open[t.mu.next] != nil {
		t.advanceLocked()
	}
	id := t.mu.next
	t.advanceLocked()
	t.mu.open[id] = s
	return id, nil
}

func (t *scanners) forgetLocked(id int32, s *scanner) {
	delete(t.mu.open, id)
	t.mu.bytes -= s.size
}

// sizeOf is about what a scan keeps.
func sizeOf(scan *cell.Scan) int {
	const each = 64
	n := each + len(scan.Start) + len(scan.Stop)
	for i := range scan.Select {
		n += each + len(scan.Select[i].Family)
		for _, q := range scan.Select[i].Qualifiers {
			n += each + len(q)
		}
	}
	if scan.Filter != nil {
		// Parsed, it is some times its text.
		n += 8 * len(scan.Filter.String())
	}
	return n
}

func (t *scanners) advanceLocked() {
	if t.mu.next == math.MaxInt32 {
		t.mu.next = 0
	} else {
		t.mu.next++
	}
}

// use gives the scanner to one caller at a time, until done.
func (t *scanners) use(id int32) (*scanner, error) {
	t.mu.Lock()
	s := t.mu.open[id]
	t.mu.Unlock()
	if s == nil {
		return nil, errInvalidScanner
	}
	s.mu.Lock()
	if s.gone || s.idle(time.Now()) > t.timeout {
		s.mu.Unlock()
		return nil, errors.Join(errInvalidScanner, t.remove(id, s))
	}
	return s, nil
}

// done ends use.
func (t *scanners) done(s *scanner) {
	s.touch(time.Now())
	s.mu.Unlock()
}

// drop closes a scanner for good.
func (t *scanners) drop(id int32) error {
	s, err := t.use(id)
	if err != nil {
		return err
	}
	t.done(s)
	return t.remove(id, s)
}

func (t *scanners) remove(id int32, s *scanner) error {
	t.mu.Lock()
	if t.mu.open[id] == s {
		t.forgetLocked(id, s)
	}
	t.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	return s.close()
}

func (t *scanners) sweep() {
	tick := time.NewTicker(max(t.timeout/sweepsPerTimeout, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			t.expire(now)
		case <-t.quit:
			return
		}
	}
}

// expire closes the scanners that are not in use and have not been for the
// timeout.
func (t *scanners) expire(now time.Time) {
	var expired []*scanner
	t.mu.Lock()
	for id, s := range t.mu.open {
		if s.idle(now) > t.timeout && s.mu.TryLock() {
			t.forgetLocked(id, s)
			s.gone = true
			expired = append(expired, s)
		}
	}
	t.mu.Unlock()
	for _, s := range expired {
		_ = s.close() // nobody is left to be told
		s.mu.Unlock()
	}
}

// close closes all scanners. A second call does nothing.
func (t *scanners) close() error {
	t.mu.Lock()
	first := !t.mu.closed
	t.mu.closed = true
	open := t.mu.open
	t.mu.open = map[int32]*scanner{}
	t.mu.Unlock()
	if first {
		close(t.quit)
	}
	t.sweeper.Wait()
	var errs []error
	for _, s := range open {
		s.mu.Lock()
		s.gone = true
		errs = append(errs, s.close())
		s.mu.Unlock()
	}
	return errors.Join(errs...)
}

// scanner is one open scan. Who holds mu uses it.
type scanner struct {
	store  store.Reader
	table  string
	scan   cell.Scan // its bytes are the scanner's own
	sorted bool
	size   int          // bytes that it keeps
	used   atomic.Int64 // when it was used last, ns

	mu     sync.Mutex
	gone   bool
	rows   store.Scanner // nil: not open
	ended  bool
	failed error // ended the scan
	last   place // of the result given last
	// After going back: the row to go on with, nil: any, and how many parts of
	// it to leave out.
	resume []byte
	skip   int
}

// place is a result of a scan: a row, and how many parts of it there were up to
// this one, where the scan cuts rows into parts.
type place struct {
	row   []byte
	parts int
}

// next moves on to a result.
func (p *place) next(row []byte) {
	if p.parts > 0 && bytes.Equal(p.row, row) {
		p.parts++
		return
	}
	p.row, p.parts = append(p.row[:0], row...), 1
}

func (s *scanner) touch(now time.Time) { s.used.Store(now.UnixNano()) }

func (s *scanner) idle(now time.Time) time.Duration {
	return time.Duration(now.UnixNano() - s.used.Load())
}

func (s *scanner) close() error {
	if s.rows == nil {
		return nil
	}
	rows := s.rows
	s.rows = nil
	return rows.Close()
}

// errHalfway is what a scanner says after a fetch that was not finished by a
// fault of ours: nobody knows what it left out.
var errHalfway = errors.New("an earlier fetch of this scanner broke off: open another")

// fetch gives up to n results to each, which must be done with them when it
// returns. Fewer are given at the end of the scan only. If each fails, or the
// context ends, the scanner stands again where it stood before.
func (s *scanner) fetch(ctx context.Context, n int, each func(*cell.Result) error) (err error) {
	switch {
	case s.failed != nil:
		return s.failed
	case s.ended || n == 0:
		return nil
	}
	if s.rows == nil {
		if s.rows, err = s.store.Scan(ctx, s.table, &s.scan); err != nil {
			s.rows = nil
			return err
		}
	}
	s.failed = errHalfway
	var first place
	for i := 0; i < n && err == nil && !s.ended; i++ {
		var row *cell.Result
		if row, err = s.step(ctx); row == nil {
			break
		}
		if i == 0 {
			first = place{bytes.Clone(s.last.row), s.last.parts}
		}
		err = each(row)
	}
	switch {
	case s.failed == errHalfway:
		s.failed = nil
	case err != nil:
		return err // of the scan itself: it stays
	}
	if err != nil && first.row != nil {
		return errors.Join(err, s.goBack(first))
	}
	return err
}

// step gives the next result; nil at the end, or with an error. One that ends the
// scan is kept in failed.
func (s *scanner) step(ctx context.Context) (*cell.Result, error) {
	for {
		row, err := s.rows.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			s.ended = true
			return nil, s.close()
		case err != nil && ctx.Err() == nil:
			s.failed = err
			return nil, errors.Join(err, s.close())
		case err != nil:
			return nil, err
		}
		s.last.next(row.Row)
		if !s.isLeftOut(row.Row) {
			s.resume, s.skip = nil, 0
			return row, nil
		}
	}
}

// isLeftOut says whether a result was given before the scanner went back.
func (s *scanner) isLeftOut(row []byte) bool {
	if s.resume == nil {
		return false
	}
	c := bytes.Compare(row, s.resume)
	if s.scan.Reversed {
		c = -c
	}
	if c == 0 && s.skip > 0 {
		s.skip--
		return true
	}
	return c < 0
}

// goBack makes the result at p the next one, by a new scan from its row on. A
// filter may count, or wait for something, so its scan begins at its beginning
// anew, and what comes before p is left out.
func (s *scanner) goBack(p place) error {
	if s.scan.Filter == nil {
		s.scan.Start, s.scan.StartExclusive = p.row, false
	}
	s.resume, s.skip, s.last = p.row, p.parts-1, place{}
	return s.close()
}
