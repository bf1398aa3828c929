package pebble

import (
	"bytes"
	"errors"
	"slices"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"github.com/cellardb/cellar/cell"
)

// A batch of increments and nothing else is the common load of counters. It is
// read with one iterator in the order of keys, in place of one for each, and
// needs no index: what an earlier mutation of the batch makes of a counter is
// remembered beside it.

// counter is one increment of such a batch.
type counter struct {
	mutation       int
	family         *family
	row, qualifier []byte
}

// onlyCounters says whether the batch, as far as it is not refused, is of that
// kind: single increments without a nonce.
func (w *writer) onlyCounters(batch []cell.Mutation) bool {
	for i := range batch {
		m := &batch[i]
		if w.rows[i].refused {
			continue
		}
		if len(m.Edits) != 1 || m.Edits[0].Op != cell.OpIncrement || m.Nonce != (cell.Nonce{}) || !m.Within.IsAll() {
			return false
		}
	}
	return true
}

// errMaskedCounter: a marker ahead of the clock may hide what the batch makes of
// a counter, so that the next increment of it does not see it. That is for the
// general way to find out.
var errMaskedCounter = errors.New("a counter of the batch is masked")

// writeCounters adds all increments of a batch.
func (w *writer) writeCounters(s *Store, batch []cell.Mutation) error {
	w.counters = w.counters[:0]
	for i := range batch {
		if !w.rows[i].refused {
			w.counters = append(w.counters, counter{
				mutation: i, family: w.families[w.rows[i].edits], row: batch[i].Row, qualifier: batch[i].Edits[0].Qualifier,
			})
		}
	}
	// Stable: increments of one counter stay in the order of the batch.
	slices.SortStableFunc(w.counters, compareCounters)
	reader := counterReader{s: s}
	var last *counter
	var err error
	for i := range w.counters {
		c := &w.counters[i]
		same := last != nil && compareCounters(*last, *c) == 0
		if err = w.count(&reader, c, &batch[c.mutation], same); err != nil {
			break
		}
		last = c
	}
	return storeError(reader.close(err))
}

// counterReader opens an iterator for a batch when a counter has to be read.
type counterReader struct {
	s  *Store
	it *pebbledb.Iterator
}

func (r *counterReader) iterator() (*pebbledb.Iterator, error) {
	if r.it == nil {
		it, err := r.s.db.NewIter(&pebbledb.IterOptions{})
		if err != nil {
			return nil, err
		}
		r.it = it
	}
	return r.it, nil
}

func (r *counterReader) close(err error) error {
	if r.it == nil {
		return err
	}
	return closeWith(r.it, err)
}

func compareCounters(a, b counter) int {
	if a.family != b.family {
		return int(a.family.id) - int(b.family.id)
	}
	if c := bytes.Compare(a.row, b.row); c != 0 {
		return c
	}
	return bytes.Compare(a.qualifier, b.qualifier)
}

// count adds one increment. w.old holds the counter's newest cell already where
// the increment before was of the same one.
func (w *writer) count(reader *counterReader, c *counter, m *cell.Mutation, same bool) error {
	if same && w.oldMasked {
		return errMaskedCounter
	}
	if !same && !w.recall(c) {
		if err := w.readNewest(reader, c); err != nil {
			return err
		}
	}
	var old *cell.Cell
	if len(w.old.Cells) > 0 {
		old = &w.old.Cells[0]
	}
	e := &m.Edits[0]
	stripe := w.rows[c.mutation].stripe
	ts := w.held.all.locks[stripe].serverTime(m, w.now)
	v, err := w.nextOf(m, e, old, ts)
	if err != nil {
		w.refuse(c.mutation, err)
		return nil
	}
	w.prefixed = nil
	w.set(m, c.family, e.Qualifier, v.timestamp, cell.TypePut, v.value, v.ttl, v.tags)
	w.values = append(w.values[:0], v)
	w.rememberPuts(stripe, ts)
	w.noteHot(c, stripe, &v)
	if w.results != nil && m.ReturnResults {
		w.results[c.mutation] = w.newCells(m)
	}
	w.old.Cells = append(w.old.Cells[:0], cell.Cell{Timestamp: v.timestamp, Type: cell.TypePut, Value: v.value, TTL: v.ttl, Tags: v.tags})
	if outlived(v.timestamp, v.ttl, w.now) {
		w.old.Cells = w.old.Cells[:0]
	}
	w.oldMasked = v.timestamp <= w.oldMark
	return nil
}

// readNewest reads the newest visible cell of a counter into w.old.
func (w *writer) readNewest(reader *counterReader, c *counter) error {
	it, err := reader.iterator()
	if err != nil {
		return err
	}
	r := rowReaders.Get().(*rowReader)
	defer rowReaders.Put(r)
	w.column = appendEscaped(w.column[:0], c.qualifier)
	w.columns[0] = w.column
	plan := readPlan{now: w.now, families: w.onePlan[:]}
	plan.families[0] = planFamily(c.family, nil, &cell.Read{}, false, w.now)
	plan.families[0].columns = w.columns[:]
	w.old.Reset()
	w.old.Row = c.row
	err = r.family(it, w.t, &plan, &plan.families[0], c.row, &w.old)
	w.oldMark = r.walk.newestMark
	r.walk.it = nil
	return err
}
