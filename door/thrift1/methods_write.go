package thrift1

import (
	"errors"
	"slices"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/door"
	"github.com/cellardb/cellar/internal/wire/thrift"
	"github.com/cellardb/cellar/store"
)

// writeTime is the timestamp of the calls' cells: none, or the largest one, is
// the server's clock.
func (s *session) writeTime() int64 {
	if !s.args.timed {
		return cell.Latest
	}
	return s.args.timestamp
}

// apply writes a batch, if there is something in it.
func (s *session) apply(batch []cell.Mutation) error {
	if len(batch) == 0 {
		return nil
	}
	s.actions = len(batch)
	_, err := s.h.store.Apply(s.ctx, s.args.table, batch)
	return err
}

// applyOne writes one row; an error is not that of a batch.
func (s *session) applyOne(m *cell.Mutation) error {
	_, err := store.MutateRow(s.ctx, s.h.store, s.args.table, m)
	return err
}

// mutateRow is mutateRow and mutateRowTs: the deletes of the call as one Delete,
// then its puts as one Put. Each is atomic, both together are not.
func (s *session) mutateRow() error {
	w := s.args.writes
	if w == nil {
		return s.void()
	}
	if w.bad != nil {
		return w.bad
	}
	w.stamp(s.args.row, s.writeTime())
	if len(w.deletes) > 0 {
		s.op = opRow
		if err := s.applyOne(&w.deletes[0]); err != nil {
			return err
		}
		s.op = opPut
	}
	if err := s.apply(w.puts); err != nil {
		return err
	}
	return s.void()
}

// mutateRows is mutateRows and mutateRowsTs: the puts of all rows as one batch,
// then the deletes of all rows. A row that cannot be is answered after the others
// are written.
func (s *session) mutateRows() error {
	w := s.args.writes
	if w == nil {
		return s.void()
	}
	w.stamp(nil, s.writeTime())
	if err := s.apply(w.puts); err != nil {
		return err
	}
	if err := s.apply(w.deletes); err != nil {
		return err
	}
	if w.bad != nil {
		return w.bad
	}
	return s.void()
}

// column takes the column argument apart. bare says that a family alone means
// its empty qualifier.
func (s *session) column(column []byte, bare bool) (family, qualifier []byte, err error) {
	if column == nil {
		return nil, nil, illegal("column is not set")
	}
	family, qualifier, whole := splitColumn(column)
	if whole && !bare {
		return nil, nil, illegal("Invalid famAndQf provided. '%s' has no qualifier", cell.Printable(column))
	}
	return family, qualifier, nil
}

// atomicIncrement answers the counter's new value.
func (s *session) atomicIncrement() error {
	a := &s.args
	family, qualifier, err := s.column(a.column, true)
	if err != nil {
		return err
	}
	sum, err := store.Increment(s.ctx, s.h.store, a.table, a.row, family, qualifier, a.number, cell.UseDefault)
	if err != nil {
		return err
	}
	if err := s.reply(thrift.I64); err != nil {
		return err
	}
	s.writer.I64(sum)
	return s.done()
}

// maxIncrements bounds what one batch of increments holds.
const maxIncrements = 1024

// increment is increment and incrementRows. Increments of one table that follow
// one another are written as one batch. The first that is refused is answered;
// those before it are done, those after it in its batch too, and no more.
func (s *session) increment() error {
	if len(s.args.increments) == 0 {
		return s.void()
	}
	w := s.borrowWrites()
	for i := range s.args.increments {
		inc := &s.args.increments[i]
		family, qualifier, bad := s.counter(inc)
		// A table's name that is not the last one, or an argument that cannot
		// be, ends the batch.
		table := s.args.table
		if bad == nil {
			table = tableName(table, inc.table)
		}
		if bad != nil || table != s.args.table || len(w.puts) == maxIncrements {
			if err := s.applyIncrements(w); err != nil {
				return err
			}
		}
		if bad != nil {
			return bad
		}
		s.args.table = table
		w.addIncrement(s.reader, inc, family, qualifier)
		if err := s.reader.Err(); err != nil {
			return err
		}
	}
	if err := s.applyIncrements(w); err != nil {
		return err
	}
	return s.void()
}

// counter is the column of an increment.
func (s *session) counter(inc *increment) (family, qualifier []byte, err error) {
	if len(inc.table) == 0 || len(inc.row) == 0 {
		return nil, nil, s.mustSupply("increment")
	}
	return s.column(inc.column, false)
}

// applyIncrements writes what is collected. A refusal comes as that of one row.
func (s *session) applyIncrements(w *writes) error {
	if len(w.puts) == 0 {
		return nil
	}
	_, err := s.h.store.Apply(s.ctx, s.args.table, w.puts)
	w.reset()
	var batch *store.BatchError
	if errors.As(err, &batch) && len(batch.Failed) > 0 {
		return batch.Failed[0].Err
	}
	return err
}

// mustSupply is an exception that no method declares.
func (s *session) mustSupply(what string) error {
	text := "Internal error processing " + s.method.name + ": Must supply a table and a row key; can't " + what
	return &fault{kind: kindApp, message: text, outcome: door.Refused}
}

// append adds to the values of columns of one row, and answers the new cells.
func (s *session) append() error {
	a := &s.args.append
	if len(a.table) == 0 || len(a.row) == 0 {
		return s.mustSupply("append")
	}
	if len(a.columns) != len(a.values) {
		return illegal("Sizes of columns and values in tappend object are not matching")
	}
	s.args.table = tableName(s.args.table, a.table)
	m := cell.NewMutation(a.row)
	for i, column := range a.columns {
		family, qualifier, err := s.column(column, false)
		if err != nil {
			return err
		}
		m.Append(family, qualifier, a.values[i])
	}
	cells, err := store.MutateRow(s.ctx, s.h.store, s.args.table, m)
	if err != nil {
		return err
	}
	slices.SortStableFunc(cells, func(a, b cell.Cell) int { return cell.CompareInRow(&a, &b) })
	if err := s.reply(thrift.List); err != nil {
		return err
	}
	if err := s.writeCells(cells); err != nil {
		return err
	}
	return s.done()
}

// checkAndPut puts one cell if another one has a value, or, without a value to
// compare with, if that one is missing.
func (s *session) checkAndPut() error {
	a := &s.args
	family, qualifier, err := s.column(a.column, false)
	if err != nil {
		return err
	}
	putFamily, putQualifier, err := s.column(a.mutation.column, false)
	if err != nil {
		return err
	}
	check := &cell.Check{Family: family, Qualifier: qualifier, Op: cell.Equal, Value: a.value}
	m := cell.NewMutation(a.row).Put(putFamily, putQualifier, cell.Latest, a.mutation.value)
	m.Durability = cell.SyncWAL
	if a.mutation.skipWAL {
		m.Durability = cell.SkipWAL
	}
	applied, _, err := s.h.store.CheckAndMutate(s.ctx, a.table, check, m)
	if err != nil {
		return err
	}
	return s.boolean(applied)
}

func (s *session) boolean(v bool) error {
	if err := s.reply(thrift.Bool); err != nil {
		return err
	}
	s.writer.Bool(v)
	return s.done()
}

// deleteAll is deleteAll and deleteAllTs: all versions of a column, or a whole
// family, up to a timestamp, that included.
func (s *session) deleteAll() error {
	a := &s.args
	if a.column == nil {
		return illegal("column is not set")
	}
	family, qualifier, whole := splitColumn(a.column)
	m := cell.NewMutation(a.row)
	if whole {
		m.DeleteFamily(family, s.writeTime())
	} else {
		m.DeleteColumn(family, qualifier, s.writeTime())
	}
	if err := s.applyOne(m); err != nil {
		return err
	}
	return s.void()
}

// deleteAllRow is deleteAllRow and deleteAllRowTs.
func (s *session) deleteAllRow() error {
	if err := s.applyOne(cell.NewMutation(s.args.row).DeleteRow(s.writeTime())); err != nil {
		return err
	}
	return s.void()
}
