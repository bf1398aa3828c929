package pebble

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// Apply implements store.Writer. The mutations that are not refused go into one
// Pebble batch, hence one log record.
func (s *Store) Apply(ctx context.Context, name string, batch []cell.Mutation) ([][]cell.Cell, error) {
	cost, err := s.admitWrite(ctx, batch)
	if err != nil {
		return nil, err
	}
	defer s.admission.leave(cost)
	w := writers.Get().(*writer)
	defer w.release()
	for {
		results, retry, err := s.apply(ctx, w, name, batch)
		if retry == nil {
			return results, err
		}
		if err := s.raise(ctx, retry); err != nil {
			return nil, err
		}
	}
}

// apply is Apply, but where a family's marker bit has to be set first it does
// nothing and names the families: that takes the admin lock, which comes before
// the locks held here.
func (s *Store) apply(ctx context.Context, w *writer, name string, batch []cell.Mutation) ([][]cell.Cell, *unraised, error) {
	t, err := s.enterWrite(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	defer s.gate.RUnlock()
	unlock := sync.OnceFunc(func() {
		w.held.unlock()
		t.mu.RUnlock()
	})
	defer unlock()
	w.begin(s, t, batch)
	for i := range batch {
		if err := w.prepare(&batch[i]); err != nil {
			w.refuse(i, err)
		}
	}
	if retry := w.lacking(); retry != nil {
		return nil, retry, nil
	}
	w.held.lock()
	w.now = s.clock.now()
	w.removals = s.removals.Load()
	w.forgetful = s.removing.Load() > 0
	counters := w.reads && w.onlyCounters(batch)
	w.open(s, w.reads && !counters)
	if counters {
		if err = w.writeCounters(s, batch); errors.Is(err, errMaskedCounter) {
			err, counters = closeWith(w.batch, nil), false
			w.hot = w.hot[:0]
			w.open(s, true)
		}
	}
	if !counters {
		w.held.written()
		w.writeAll(batch)
	}
	if err != nil {
		return nil, nil, closeWith(w.batch, err)
	}
	if err := w.commit(s, unlock); err != nil {
		return nil, nil, err
	}
	if w.failed != nil {
		// Refusals come from two passes.
		slices.SortFunc(w.failed.Failed, func(a, b store.MutationError) int { return a.Index - b.Index })
		return w.results, nil, w.failed
	}
	return w.results, nil, nil
}

// enterWrite begins a write: the caller leaves the gate and the table's mu.
func (s *Store) enterWrite(ctx context.Context, name string) (*table, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	t, err := s.catalog.find(name)
	if err == nil {
		err = t.usable()
	}
	if err == nil && t.layout.schema.ReadOnly {
		t.mu.RUnlock()
		err = fmt.Errorf("%w: %s", store.ErrReadOnly, t.name)
	}
	if err != nil {
		s.gate.RUnlock()
		return nil, err
	}
	return t, nil
}

// writer turns mutations into one Pebble batch. Writers are pooled: what they
// keep is memory only.
type writer struct {
	t        *table
	maxCell  int
	batch    *pebbledb.Batch
	held     held
	rows     []writerRow
	families []*family // one an edit, in order
	size     int       // bytes that the batch will need, about
	// Families that need a bit set first.
	unmarked, newTTL []string
	reads            bool // some mutation reads before it writes
	sync             bool
	repeated         bool // a mutation was answered from its first try
	now              int64
	failed           *store.BatchError
	results          [][]cell.Cell
	total            int

	prefix    []byte // row prefix of prefixed
	prefixed  *family
	tail      []byte
	values    []newValue
	old       cell.Result
	counters  []counter
	hot       []written
	removals  uint64 // Store.removals when the rows were locked
	forgetful bool   // rows were being removed then: no counter is kept
	column    []byte
	columns   [1][]byte
	onePlan   [1]familyPlan
	oldMark   int64 // newest marker met when w.old was read
	oldMasked bool
}

type writerRow struct {
	stripe  uint16
	refused bool
	edits   int // index of the mutation's first edit in families
}

var writers = sync.Pool{New: func() any { return new(writer) }}

// release gives the writer back, unless one giant batch made it large.
func (w *writer) release() {
	if cap(w.families) > 1<<16 || cap(w.old.Cells) > 1<<12 {
		return
	}
	clear(w.families)
	clear(w.hot)
	w.t, w.batch, w.failed, w.results, w.prefixed = nil, nil, nil, nil, nil
	writers.Put(w)
}

func (w *writer) begin(s *Store, t *table, batch []cell.Mutation) {
	w.t, w.maxCell, w.held.all = t, s.opts.MaxCell, s.rows
	w.rows = slices.Grow(w.rows[:0], len(batch))
	w.families, w.unmarked, w.newTTL = w.families[:0], w.unmarked[:0], w.newTTL[:0]
	w.size, w.reads, w.sync = 0, false, false
	w.failed, w.results, w.total, w.repeated = nil, nil, len(batch), false
	w.hot = w.hot[:0]
	for i := range batch {
		if batch[i].ReturnResults {
			w.results = make([][]cell.Cell, len(batch))
			break
		}
	}
}

func (w *writer) refuse(i int, err error) {
	w.rows[i].refused = true
	w.failed = w.failed.Add(i, w.total, err)
}

// prepare checks a mutation, looks its families up and notes its lock.
func (w *writer) prepare(m *cell.Mutation) error {
	w.rows = append(w.rows, writerRow{edits: len(w.families)})
	if err := m.Validate(); err != nil {
		return err
	}
	r := &w.rows[len(w.rows)-1]
	r.stripe = w.held.all.of(w.t.id, m.Row)
	exclusive := false
	for i := range m.Edits {
		e := &m.Edits[i]
		f, err := w.family(e)
		if err != nil {
			return err
		}
		w.families = append(w.families, f)
		w.noteBits(m, e, f)
		if err := w.checkSize(m, e, len(e.Value)); err != nil {
			return err
		}
		exclusive = exclusive || e.Op.ReadsFirst() || e.Op == cell.OpDelete && e.Timestamp == cell.Latest
		w.size += 64 + len(m.Row) + len(e.Qualifier) + len(e.Value) + len(e.Tags)
	}
	w.held.add(r.stripe, exclusive)
	w.reads = w.reads || exclusive
	w.sync = w.sync || durable(m, w.t.layout)
	return nil
}

// family finds an edit's family: nil for the delete of the whole row. Edits of
// one mutation mostly share one, so the last is tried first.
func (w *writer) family(e *cell.Edit) (*family, error) {
	if n := len(w.families); n > 0 && w.families[n-1] != nil && bytes.Equal(w.families[n-1].name, e.Family) {
		return w.families[n-1], nil
	}
	if e.Family == nil && e.Op == cell.OpDeleteFamily {
		return nil, nil
	}
	if f := w.t.layout.family(e.Family); f != nil {
		return f, nil
	}
	return nil, &store.FamilyError{Table: w.t.name, Family: bytes.Clone(e.Family)}
}

func (w *writer) checkSize(m *cell.Mutation, e *cell.Edit, value int) error {
	c := cell.Cell{Row: m.Row, Family: e.Family, Qualifier: e.Qualifier}
	if size := c.Size() + value; size > w.maxCell {
		return &store.CellSizeError{
			Row: bytes.Clone(m.Row), Family: bytes.Clone(e.Family), Qualifier: bytes.Clone(e.Qualifier),
			Size: size, Limit: w.maxCell,
		}
	}
	return nil
}

// open begins the Pebble batch. One that reads is indexed, so that a later
// mutation of the same row in it sees the earlier.
func (w *writer) open(s *Store, indexed bool) {
	if indexed {
		w.batch = s.db.NewIndexedBatchWithSize(w.size)
	} else {
		w.batch = s.db.NewBatchWithSize(w.size)
	}
}

// writeAll adds the mutations of the batch one by one.
func (w *writer) writeAll(batch []cell.Mutation) {
	for i := range batch {
		if w.rows[i].refused {
			continue
		}
		if err := w.write(i, &batch[i]); err != nil {
			w.refuse(i, err)
		}
	}
}

// write adds one mutation to the batch. What it has to read it reads first, so
// that a refused mutation leaves nothing in the batch.
func (w *writer) write(i int, m *cell.Mutation) error {
	row := &w.rows[i]
	families := w.families[row.edits : row.edits+len(m.Edits)]
	if cells, retried, err := w.answered(m); err != nil || retried {
		if w.results != nil && m.ReturnResults {
			w.results[i] = cells
		}
		return err
	}
	w.prefixed = nil
	ts := w.held.all.locks[row.stripe].serverTime(m, w.now)
	w.values = w.values[:0]
	if w.reads {
		if err := w.readOld(m, families, ts); err != nil {
			return err
		}
	}
	for k := range m.Edits {
		e := &m.Edits[k]
		at := e.Timestamp
		if at == cell.Latest {
			at = ts
		}
		if len(w.values) > 0 && w.values[k].read {
			v := &w.values[k]
			w.set(m, families[k], e.Qualifier, v.timestamp, e.Op.Stores(), v.value, v.ttl, v.tags)
			continue
		}
		w.edit(m, e, families[k], at)
	}
	if len(w.values) > 0 {
		w.rememberPuts(row.stripe, ts)
		cells := w.newCells(m)
		if w.results != nil && m.ReturnResults {
			w.results[i] = cells
		}
		return w.remember(m, cells)
	}
	return nil
}

// rememberPuts notes the timestamps that increments and appends took, which may
// be above the server's: a delete that follows has to hide them. A cell above
// one that its writer dated ahead of the clock is not remembered: it must not
// take the whole row along.
func (w *writer) rememberPuts(stripe uint16, ts int64) {
	lock := &w.held.all.locks[stripe]
	for k := range w.values {
		v := &w.values[k]
		if v.read && v.timestamp > ts && v.above <= max(ts, lock.lastPut.Load()) {
			remember(&lock.lastPut, v.timestamp, w.now)
		}
	}
}

// edit adds a put or a marker.
func (w *writer) edit(m *cell.Mutation, e *cell.Edit, f *family, at int64) {
	switch {
	case f == nil:
		for _, each := range w.t.layout.families {
			w.set(m, each, nil, at, cell.TypeDeleteFamily, nil, 0, nil)
		}
	case e.Op == cell.OpPut:
		w.set(m, f, e.Qualifier, at, cell.TypePut, e.Value, m.TTL, e.Tags)
	case e.Op.Stores().IsFamilyMarker():
		w.set(m, f, nil, at, e.Op.Stores(), nil, 0, e.Tags)
	default:
		w.set(m, f, e.Qualifier, at, e.Op.Stores(), nil, 0, e.Tags)
	}
}

// set adds one cell, encoded straight into the batch.
func (w *writer) set(m *cell.Mutation, f *family, qualifier []byte, ts int64, typ cell.Type, value []byte, ttl int64, tags []byte) {
	if w.prefixed != f {
		w.prefix = appendRowPrefix(w.prefix[:0], w.t.id, f.id, m.Row)
		w.prefixed = f
	}
	w.tail = appendTail(appendString(w.tail[:0], qualifier), ts, typ)
	op := w.batch.SetDeferred(len(w.prefix)+len(w.tail), valueLen(value, ttl, tags))
	copy(op.Key[copy(op.Key, w.prefix):], w.tail)
	putValue(op.Value, value, ttl, tags)
	// Finish fails only where the batch is indexed and the key is there twice
	// with one sequence number, which cannot be.
	_ = op.Finish()
}

// commit makes the batch visible, lets go of the locks, and then waits until it
// is durable.
func (w *writer) commit(s *Store, unlock func()) error {
	b := w.batch
	bytes := b.Len() // for the table's heat
	var err error
	if b.Empty() {
		unlock()
		if w.repeated && w.sync {
			// The first try may be visible and not yet durable.
			err = s.db.LogData(nil, pebbledb.Sync)
		}
		return storeError(closeWith(b, err))
	}
	if w.sync {
		if err = s.db.ApplyNoSyncWait(b, pebbledb.Sync); err == nil {
			w.keepHot()
		}
		unlock()
		if err == nil {
			err = b.SyncWait()
		}
	} else {
		if err = s.db.Apply(b, pebbledb.NoSync); err == nil {
			w.keepHot()
		}
		s.unsynced.Store(true)
		unlock()
	}
	if err == nil {
		w.t.heat.wrote(w.applied(), bytes)
	}
	return storeError(closeWith(b, err))
}

// applied is how many mutations of the batch were not refused.
func (w *writer) applied() int {
	if w.failed == nil {
		return len(w.rows)
	}
	return len(w.rows) - len(w.failed.Failed)
}

// unraised names families of a table with bits that have to be set first.
type unraised struct {
	table   string
	markers []string
	ownTTL  []string
}

// lacking names the families whose bits have to be set before the batch.
func (w *writer) lacking() *unraised {
	if len(w.unmarked) == 0 && len(w.newTTL) == 0 {
		return nil
	}
	return &unraised{table: w.t.name, markers: slices.Clone(w.unmarked), ownTTL: slices.Clone(w.newTTL)}
}

// noteBits collects the families of an edit whose bits are not set and have to
// be.
func (w *writer) noteBits(m *cell.Mutation, e *cell.Edit, f *family) {
	if m.TTL > 0 && f != nil && !f.ownTTL.Load() {
		w.newTTL = append(w.newTTL, f.schema.Name)
	}
	if !e.Op.Stores().IsFamilyMarker() {
		return
	}
	families := w.t.layout.families
	if f != nil {
		families = []*family{f}
	}
	for _, f := range families {
		if !f.markers.Load() {
			w.unmarked = append(w.unmarked, f.schema.Name)
		}
	}
}
