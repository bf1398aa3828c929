package thriftclient

import "github.com/cellardb/cellar/internal/wire/thrift"

// Batch is one mutateRows request that is encoded while it is put together:
// Begin, then Row followed by its Puts and Deletes, again and again, then
// Client.Mutate. It is independent of any Client, so that several goroutines
// may prepare batches for one connection. Its memory is used again by Begin.
type Batch struct {
	w         thrift.Writer
	opts      Options
	method    string
	seq       int32
	wal       bool
	inRow     bool
	rows      thrift.ListMark
	mutations thrift.ListMark
	nRows     int
	nEdits    int  // of the row that is being written
	inEdit    bool // the edit's struct is open: its value may not be filled in
	ended     bool
}

// NewBatch makes a Batch for Clients with these options.
func NewBatch(opts Options) *Batch { return &Batch{opts: opts} }

// Begin begins a request anew. Without wal its mutations may be lost when the
// server ends (SKIP_WAL).
func (b *Batch) Begin(table string, wal bool, seq int32) {
	b.w.Reset(b.opts.protocol(), b.opts.Framed)
	b.seq, b.wal, b.inRow, b.inEdit, b.nRows, b.ended = seq, wal, false, false, 0, false
	b.method = "mutateRows"
	b.w.Message(b.method, thrift.Call, seq)
	b.w.StructBegin()
	b.open(table)
}

// BeginAt is Begin with a timestamp in ms for all that the batch writes
// (mutateRowsTs).
func (b *Batch) BeginAt(table string, wal bool, timestamp int64, seq int32) {
	b.w.Reset(b.opts.protocol(), b.opts.Framed)
	b.seq, b.wal, b.inRow, b.inEdit, b.nRows, b.ended = seq, wal, false, false, 0, false
	b.method = "mutateRowsTs"
	b.w.Message(b.method, thrift.Call, seq)
	b.w.StructBegin()
	b.w.Field(thrift.I64, 3) // before the rows: fields may be in any order
	b.w.I64(timestamp)
	b.open(table)
}

func (b *Batch) open(table string) {
	b.w.Field(thrift.String, 1)
	b.w.String(table)
	b.w.Field(thrift.List, 2)
	b.rows = b.w.OpenList(thrift.Struct)
}

// Row begins the mutations of a row.
func (b *Batch) Row(key []byte) {
	b.endRow()
	b.inRow, b.nEdits = true, 0
	b.nRows++
	b.w.StructBegin()
	b.w.Field(thrift.String, 1)
	b.w.Binary(key)
	b.w.Field(thrift.List, 2)
	b.mutations = b.w.OpenList(thrift.Struct)
}

func (b *Batch) endRow() {
	b.endEdit()
	if b.inRow {
		b.w.CloseList(b.mutations, b.nEdits)
		b.w.StructEnd()
		b.inRow = false
	}
}

// Put adds a value of a column (family:qualifier) of the row.
func (b *Batch) Put(column, value []byte) { copy(b.PutN(column, len(value)), value) }

// PutN adds a value of n bytes and returns the place where they are, to be
// filled before the next call.
func (b *Batch) PutN(column []byte, n int) []byte {
	b.edit(column, false)
	b.w.Field(thrift.String, 3)
	return b.w.BinaryN(n)
}

// Delete adds the deletion of all versions of a column (family:qualifier), or
// of a family, of the row.
func (b *Batch) Delete(column []byte) { b.edit(column, true) }

// edit begins a mutation; what follows ends it.
func (b *Batch) edit(column []byte, isDelete bool) {
	b.endEdit()
	b.inEdit = true
	b.nEdits++
	b.w.StructBegin()
	if isDelete {
		b.w.BoolField(1, true)
	}
	b.w.Field(thrift.String, 2)
	b.w.Binary(column)
	if !b.wal {
		// Before the value, which comes last: fields may be in any order.
		b.w.BoolField(4, false)
	}
}

func (b *Batch) endEdit() {
	if b.inEdit {
		b.w.StructEnd()
		b.inEdit = false
	}
}

// Rows is the number of rows so far.
func (b *Batch) Rows() int { return b.nRows }

// Len is the size in bytes of the request so far.
func (b *Batch) Len() int { return b.w.Len() }

// End ends the request; Mutate does it if need be. A goroutine that prepares a
// batch for a connection that others use calls it before it locks.
func (b *Batch) End() {
	if b.ended {
		return
	}
	b.endRow()
	b.w.CloseList(b.rows, b.nRows)
	b.w.StructEnd()
	b.w.MessageEnd()
	b.ended = true
}

// Mutate sends a batch and waits until the gateway acknowledges it. The batch
// may be sent again.
func (c *Client) Mutate(b *Batch) error {
	if err := c.SendMutate(b); err != nil {
		return err
	}
	return c.ReceiveMutate()
}

// SendMutate sends a batch without waiting for the reply.
func (c *Client) SendMutate(b *Batch) error {
	b.End()
	if err := c.Flush(); err != nil {
		return err
	}
	c.pending = append(c.pending, call{b.method, b.seq})
	c.write(b.w.Bytes())
	return c.err
}

// ReceiveMutate waits for the reply of a batch.
func (c *Client) ReceiveMutate() error {
	method := "mutateRows"
	if len(c.pending) > 0 && c.pending[0].method == "mutateRowsTs" {
		method = c.pending[0].method
	}
	return c.receive(method, void, nil)
}
