package tabimport

import (
	"unsafe"

	"github.com/cellardb/cellar/cell"
)

// batch is rows on their way to the target, and all bytes that they are made of.
// It is used again.
type batch struct {
	// size is about what the rows are in bytes, here or on the wire: what is
	// larger of a row with few long values and one with many empty ones.
	size  int
	rows  []cell.Mutation
	edits []cell.Edit
	arena []byte
	// from says where each row comes from.
	from []origin
}

// origin is where a row stands in the input.
type origin struct {
	seq            int64 // of the record, over all files
	file           int
	line, lastLine int64

	raw []byte // the record as it stands there; nil: nobody wants it
}

// keep copies bytes into the batch's memory. What was handed out before stays
// where it is when that memory grows.
func (b *batch) keep(p []byte) []byte {
	begin := len(b.arena)
	b.arena = append(b.arena, p...)
	return b.arena[begin:len(b.arena):len(b.arena)]
}

// editSize is what an edit takes in memory, its bytes not counted; on the wire
// it is less.
const editSize = int(unsafe.Sizeof(cell.Edit{}))

// note adds the origin of the row that was added last, and the row's size.
func (b *batch) note(from origin) {
	m := &b.rows[len(b.rows)-1]
	b.size += len(m.Row) + len(from.raw)
	for i := range m.Edits {
		e := &m.Edits[i]
		b.size += editSize + len(e.Family) + len(e.Qualifier) + len(e.Value)
	}
	b.from = append(b.from, from)
}

// keptArena bounds the memory of each kind that a batch keeps for its next use,
// in bytes.
const keptArena = 4 << 20

func (b *batch) reset() {
	if cap(b.arena) > keptArena {
		b.arena = nil
	}
	if cap(b.edits)*editSize > keptArena {
		b.edits = nil
	}
	clear(b.rows)
	clear(b.edits)
	clear(b.from)
	b.size, b.rows, b.edits, b.arena, b.from = 0, b.rows[:0], b.edits[:0], b.arena[:0], b.from[:0]
}
