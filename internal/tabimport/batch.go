package tabimport

import "github.com/cellardb/cellar/cell"

// batch is rows on their way to the target, and all bytes that they are made of.
// It is used again.
type batch struct {
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

// keptArena bounds the memory that a batch keeps for its next use, in bytes.
const keptArena = 4 << 20

func (b *batch) reset() {
	if cap(b.arena) > keptArena {
		b.arena = nil
	}
	clear(b.from)
	b.rows, b.edits, b.arena, b.from = b.rows[:0], b.edits[:0], b.arena[:0], b.from[:0]
}
