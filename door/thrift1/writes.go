package thrift1

import (
	"bytes"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/internal/wire/thrift"
)

// keepEdits bounds the memory that is kept from call to call, in edits.
const keepEdits = 4096

// writes is what a mutateRow or mutateRows asks for: the puts and the deletes of
// each row, as mutations whose edits lie behind one another in one array each.
// It is built while the bytes arrive, without a list of Thrift's own structs in
// between; timestamps are filled in at the end, since they may come last.
type writes struct {
	puts, deletes         []cell.Mutation
	putEdits, deleteEdits []cell.Edit
	// bad says why the first mutation cannot be done that cannot; its row is in
	// neither list.
	bad error
}

func (w *writes) reset() {
	clear(w.puts)
	clear(w.deletes)
	clear(w.putEdits)
	clear(w.deleteEdits)
	*w = writes{puts: w.puts[:0], deletes: w.deletes[:0], putEdits: w.putEdits[:0], deleteEdits: w.deleteEdits[:0]}
	if cap(w.putEdits) > keepEdits || cap(w.puts) > keepEdits {
		w.puts, w.putEdits = nil, nil
	}
	if cap(w.deleteEdits) > keepEdits || cap(w.deletes) > keepEdits {
		w.deletes, w.deleteEdits = nil, nil
	}
}

// borrowWrites gives the session memory for one call.
func (s *session) borrowWrites() *writes {
	if s.args.writes == nil {
		s.args.writes = s.h.scratch.Get().(*writes)
	} else {
		s.args.writes.reset() // the client sent the argument twice: the last one counts
	}
	return s.args.writes
}

// readMutations reads list<Mutation> of mutateRow. The row, if it comes later, is
// filled in by stamp.
func (s *session) readMutations() {
	w := s.borrowWrites()
	b := w.begin()
	s.readRowMutations(w, &b)
	w.end(s.reader, &b, s.args.row, true)
}

// readBatches reads list<BatchMutation> of mutateRows.
func (s *session) readBatches() {
	r, w := s.reader, s.borrowWrites()
	elem, n := r.List()
	for i := 0; i < n && r.Err() == nil; i++ {
		if elem != thrift.Struct {
			r.Skip(elem)
			continue
		}
		s.readBatch(w)
	}
}

func (s *session) readBatch(w *writes) {
	r, b := s.reader, w.begin()
	var row []byte
	r.StructBegin()
	for {
		t, id := r.Field()
		switch {
		case t == thrift.Stop:
			w.end(r, &b, row, false)
			return
		case id == 1 && t == thrift.String:
			row = r.Binary()
		case id == 2 && t == thrift.List:
			s.readRowMutations(w, &b)
		default:
			r.Skip(t)
		}
	}
}

// rowWrites is the mutations of one row while they are read.
type rowWrites struct {
	firstPut, firstDelete int // in the arrays of edits
	put, delete           cell.Durability
	bare                  []byte // column of a put without a qualifier, nil: none
	unnamed               bool   // a mutation had no column
}

func (w *writes) begin() rowWrites {
	return rowWrites{firstPut: len(w.putEdits), firstDelete: len(w.deleteEdits)}
}

func (s *session) readRowMutations(w *writes, b *rowWrites) {
	r := s.reader
	elem, n := r.List()
	for i := 0; i < n && r.Err() == nil; i++ {
		if elem != thrift.Struct {
			r.Skip(elem)
			continue
		}
		m := s.readMutation()
		if r.Err() == nil {
			w.add(r, b, &m)
		}
	}
}

// add appends one mutation to the edits of its row.
func (w *writes) add(r *thrift.Reader, b *rowWrites, m *mutation) {
	if !m.hasColumn {
		b.unnamed = true
		return
	}
	family, qualifier, whole := splitColumn(m.column)
	durability := cell.SyncWAL
	if m.skipWAL {
		durability = cell.SkipWAL
	}
	switch {
	case m.isDelete && whole:
		b.delete = durability
		w.deleteEdits = push(r, w.deleteEdits, cell.Edit{Op: cell.OpDeleteFamily, Family: family})
	case m.isDelete:
		b.delete = durability
		w.deleteEdits = push(r, w.deleteEdits, cell.Edit{Op: cell.OpDeleteColumn, Family: family, Qualifier: qualifier})
	case whole:
		b.bare = m.column
	default:
		b.put = durability
		w.putEdits = push(r, w.putEdits, cell.Edit{Op: cell.OpPut, Family: family, Qualifier: qualifier, Value: m.value})
	}
}

// end makes mutations of a row's edits. single says that the call is a mutateRow,
// which leaves out puts without a qualifier; in a batch they are an error of the
// row.
func (w *writes) end(r *thrift.Reader, b *rowWrites, row []byte, single bool) {
	if b.unnamed || b.bare != nil && !single {
		w.refuse(b, row) // its edits are in no mutation
		return
	}
	if n := len(w.putEdits); n > b.firstPut {
		w.puts = push(r, w.puts, cell.Mutation{Row: row, Edits: w.putEdits[b.firstPut:n:n], Durability: b.put})
	}
	if n := len(w.deleteEdits); n > b.firstDelete {
		w.deletes = push(r, w.deletes, cell.Mutation{Row: row, Edits: w.deleteEdits[b.firstDelete:n:n], Durability: b.delete})
	}
}

// addIncrement appends a mutation of one increment.
func (w *writes) addIncrement(r *thrift.Reader, inc *increment, family, qualifier []byte) {
	w.putEdits = push(r, w.putEdits, cell.Edit{
		Op: cell.OpIncrement, Family: family, Qualifier: qualifier, Timestamp: cell.Latest, Amount: inc.amount,
	})
	if n := len(w.putEdits); r.Err() == nil {
		w.puts = push(r, w.puts, cell.Mutation{Row: inc.row, Edits: w.putEdits[n-1 : n : n]})
	}
}

// refuse remembers why a row cannot be written.
func (w *writes) refuse(b *rowWrites, row []byte) {
	if w.bad != nil {
		return
	}
	if b.unnamed {
		w.bad = illegal("Invalid famAndQf provided. A mutation of row '%s' has no column", cell.Printable(row))
		return
	}
	w.bad = illegal("Invalid famAndQf provided. A put to row '%s' needs a column family:qualifier, not '%s'", cell.Printable(row), cell.Printable(b.bare))
}

// stamp sets the row of all mutations that have none yet, and the timestamp of
// all edits.
func (w *writes) stamp(row []byte, timestamp int64) {
	for _, list := range [][]cell.Mutation{w.puts, w.deletes} {
		for i := range list {
			if row != nil {
				list[i].Row = row
			}
			for j := range list[i].Edits {
				list[i].Edits[j].Timestamp = timestamp
			}
		}
	}
}

// splitColumn cuts a column's name at its first colon. whole: there is none, so
// the name is that of a family.
func splitColumn(column []byte) (family, qualifier []byte, whole bool) {
	at := bytes.IndexByte(column, ':')
	if at < 0 {
		return column, nil, true
	}
	return column[:at:at], column[at+1:], false
}
