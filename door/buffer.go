package door

import (
	"context"
	"math/bits"
	"sync"
	"time"
)

// FreeBytes of a connection's memory, for requests and replies together, are not
// charged to the budget.
const FreeBytes = 64 << 10

const (
	// smallBuffer is the output buffer that a connection keeps when it is idle.
	smallBuffer = 8 << 10
	// maxHint bounds the buffer that is taken at once because an earlier reply
	// of the connection needed as much.
	maxHint = 1 << 20
	// maxPooled bounds the buffers that are kept for the next user.
	maxPooled = 8 << 20
)

// pools keeps buffers above smallBuffer for the next user, by powers of two.
type pools struct{ class [32]sync.Pool }

// chunk is a buffer with its place in the pools.
type chunk struct{ b []byte }

func (p *pools) get(size int) *chunk {
	if pooled(size) {
		if c, _ := p.class[bits.Len(uint(size-1))].Get().(*chunk); c != nil {
			return c
		}
	}
	return &chunk{make([]byte, size)}
}

func (p *pools) put(c *chunk) {
	if c != nil && pooled(len(c.b)) {
		p.class[bits.Len(uint(len(c.b)-1))].Put(c)
	}
}

func pooled(size int) bool {
	return size > smallBuffer && size <= maxPooled && size&(size-1) == 0
}

// Grow takes n bytes of memory for the connection's requests, or gives -n back.
// Beyond FreeBytes it takes them from the budget, and waits for them if need be;
// that time, RequestTimeout at most, does not count as the client's. It is made for readers that take
// memory as bytes arrive. To give back cannot fail.
func (c *Conn) Grow(n int) error {
	if n < 0 {
		c.discharge(-n)
		return nil
	}
	_, err := c.charge(n, true)
	return err
}

// charge takes memory from the budget when the memory of the connection grows by
// n bytes. must says to wait for it.
func (c *Conn) charge(n int, must bool) (bool, error) {
	more := int64(max(c.memory+n-FreeBytes, 0) - max(c.memory-FreeBytes, 0))
	if more > 0 && !c.lease.TryGrow(more) {
		if !must {
			return false, nil
		}
		start := time.Now()
		ctx, cancel := context.WithTimeoutCause(c.ctx, c.door.opts.RequestTimeout, ErrNoMemory)
		err := c.lease.Grow(ctx, more)
		cancel()
		if err != nil {
			return false, c.explain(err)
		}
		// First, for the connection may have ended meanwhile: what it got in spite
		// of that is given back with the rest.
		c.memory += n
		if err := c.stopClock(time.Since(start)); err != nil {
			c.discharge(n)
			return false, err
		}
		return true, nil
	}
	c.memory += n
	return true, nil
}

// discharge gives memory back when it shrank by n bytes.
func (c *Conn) discharge(n int) {
	c.lease.Shrink(int64(max(c.memory-FreeBytes, 0) - max(c.memory-n-FreeBytes, 0)))
	c.memory -= n
}

// Output is the replies that wait to be sent.
type Output struct {
	// Buf holds them; a Handler appends to it after it made sure of the room
	// with Reserve. Appends beyond what was reserved are not charged to the
	// budget, so they must be few and small.
	Buf []byte

	c     *Conn
	small []byte
	large *chunk // the memory of Buf; nil: small, or what append made of it
	hint  int    // size of buffer that the last large reply had
}

// Reserve makes room for n more bytes, and waits for the memory if need be.
// ErrTooLarge: there will never be so much; Buf is as it was.
func (o *Output) Reserve(n int) error {
	need := len(o.Buf) + n
	if need <= cap(o.Buf) {
		return nil
	}
	if o.small == nil && need <= smallBuffer {
		o.small = make([]byte, smallBuffer)
		o.Buf = append(o.small[:0], o.Buf...)
		return nil
	}
	return o.grow(1 << bits.Len(uint(max(need, smallBuffer+1)-1)))
}

func (o *Output) grow(size int) error {
	old := 0
	if o.large != nil {
		old = len(o.large.b)
	}
	if o.hint > size {
		if ok, err := o.c.charge(o.hint-old, false); ok || err != nil {
			o.move(o.hint)
			return err
		}
	}
	if _, err := o.c.charge(size-old, true); err != nil {
		return err
	}
	o.move(size)
	o.hint = min(size, maxHint)
	return nil
}

func (o *Output) move(size int) {
	next := o.c.door.pools.get(size)
	o.Buf = append(next.b[:0], o.Buf...)
	o.c.door.pools.put(o.large)
	o.large = next
}

// Flush sends what is in Buf. Afterwards it is empty, and large memory is given
// back.
func (o *Output) Flush() error {
	if len(o.Buf) == 0 {
		return nil
	}
	err := o.c.write(o.Buf)
	o.drop()
	o.Buf = o.small[:0]
	return err
}

func (o *Output) drop() {
	if o.large == nil {
		return
	}
	o.c.door.pools.put(o.large)
	o.c.discharge(len(o.large.b))
	o.large = nil
}

func (o *Output) free() {
	o.drop()
	o.Buf, o.small = nil, nil
}
