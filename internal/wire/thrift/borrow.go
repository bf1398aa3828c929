package thrift

// Use makes the Writer append to buf in place of its own buffer: a caller that
// accounts for memory hands it in, with room, and takes it back with Bytes. What
// buf holds is kept. A Mark or ListMark taken before stays good if buf begins with
// what was written up to then.
func (w *Writer) Use(buf []byte) { w.buf = buf }

// Room is how many bytes fit before the Writer allocates memory by itself.
func (w *Writer) Room() int { return cap(w.buf) - len(w.buf) }
