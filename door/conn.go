package door

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// States of a connection. Shutdown may end an idle one at any moment; a busy one
// ends itself.
const (
	stateIdle int32 = iota
	stateBusy
	stateEnded
)

// Conn is a connection as a Handler sees it: a stream of requests, and what is to
// be sent. It belongs to the session's goroutine.
//
// A session is a loop: read a request, work on it, append the reply to Out, and
// EndRequest. Read sends what is in Out before it waits for bytes, so replies to
// requests that came together leave together, and none is held back.
//
// Between EndRequest and the next byte the connection is idle: no clock runs, and
// Shutdown ends it at once.
type Conn struct {
	// Out collects replies.
	Out Output

	door  *Door
	net   net.Conn
	ctx   context.Context
	lease *Lease
	// memory is what was charged, in bytes, those that are free included.
	memory int
	state  atomic.Int32
	// forced is why another goroutine ended the connection.
	forced atomic.Pointer[error]

	unsendable bool // a write failed

	silent   bool      // nothing came yet
	between  bool      // no byte of the next request came yet
	clocked  bool      // deadline is that of the request
	deadline time.Time // of reading, as it is set; zero: none
	sendBy   time.Time // of writing, as it is set
	received int64
	sent     int64
}

// newConn wraps an accepted connection.
func (d *Door) newConn(ctx context.Context, nc net.Conn) *Conn {
	c := &Conn{door: d, net: nc, ctx: ctx, silent: true, between: true}
	c.lease = d.opts.InFlight.lease(func() { c.end(ErrStalled) })
	c.Out.c = c
	return c
}

// RemoteAddr is the client's address.
func (c *Conn) RemoteAddr() net.Addr { return c.net.RemoteAddr() }

// Received and Sent count bytes on the wire.
func (c *Conn) Received() int64 { return c.received }

// Sent counts the bytes that the client's side of the connection took.
func (c *Conn) Sent() int64 { return c.sent }

// MaxRequest is the most bytes that a request may have.
func (c *Conn) MaxRequest() int { return c.door.opts.MaxRequest }

// Read sends what is in Out, then waits for bytes.
//
// Errors: io.EOF when the client closed, ErrTimeout, ErrStalled, ErrShutdown, or
// the network's.
func (c *Conn) Read(p []byte) (int, error) {
	if err := c.Out.Flush(); err != nil {
		return 0, err
	}
	var err error
	if c.between {
		err = c.beIdle()
	} else {
		err = c.startClock()
	}
	if err != nil {
		return 0, err
	}
	c.lease.stand()
	n, err := c.net.Read(p)
	c.lease.walk()
	c.received += int64(n)
	c.door.figures.bytesIn.Add(int64(n))
	if n > 0 {
		return n, c.begin()
	}
	return n, c.explain(err)
}

// beIdle lets Shutdown end the connection, and takes off the request's deadline.
func (c *Conn) beIdle() error {
	c.state.CompareAndSwap(stateBusy, stateIdle)
	if c.door.draining.Load() {
		return ErrShutdown
	}
	limit := c.door.opts.IdleTimeout
	if first := c.door.opts.FirstByteTimeout; c.silent && first > 0 {
		limit = first
	}
	c.clocked = false
	if limit > 0 {
		return c.setDeadline(time.Now().Add(limit))
	}
	if !c.deadline.IsZero() {
		return c.setDeadline(time.Time{})
	}
	return nil
}

// startClock sets the deadline of a request that did not arrive in one piece.
func (c *Conn) startClock() error {
	if c.clocked {
		return nil
	}
	c.clocked = true
	return c.setDeadline(time.Now().Add(c.door.opts.RequestTimeout))
}

// stopClock gives the request the time back that it had to wait for memory.
func (c *Conn) stopClock(waited time.Duration) error {
	if !c.clocked {
		return nil
	}
	return c.setDeadline(c.deadline.Add(waited))
}

func (c *Conn) setDeadline(t time.Time) error {
	c.deadline = t
	if err := c.net.SetReadDeadline(t); err != nil {
		return c.explain(err)
	}
	return nil
}

// begin notes that bytes of a request are there.
func (c *Conn) begin() error {
	c.silent, c.between = false, false
	if c.state.Load() == stateBusy || c.state.CompareAndSwap(stateIdle, stateBusy) {
		return nil
	}
	return c.explain(net.ErrClosed)
}

// EndRequest says that a request is answered: its reply is in Out. more says that
// bytes of the next one have been read already; its clock starts anew. After
// ErrShutdown the session returns; what is in Out is sent.
func (c *Conn) EndRequest(more bool) error {
	c.clocked, c.between = false, !more
	if c.door.draining.Load() {
		return ErrShutdown
	}
	return nil
}

// writePiece is the most that is written under one deadline: a client that takes
// a large reply slowly, but takes it, is not cut off.
const writePiece = 512 << 10

func (c *Conn) write(p []byte) error {
	for len(p) > 0 {
		if err := c.armWrite(); err != nil {
			return err
		}
		c.lease.stand()
		n, err := c.net.Write(p[:min(len(p), writePiece)])
		c.lease.walk()
		c.sent += int64(n)
		c.door.figures.bytesOut.Add(int64(n))
		if err != nil {
			c.unsendable = true
			return c.explain(err)
		}
		p = p[n:]
	}
	return nil
}

// armWrite sets the deadline of writes, but not at each of them: one that has at
// least WriteTimeout to go is left as it is.
func (c *Conn) armWrite() error {
	now, limit := time.Now(), c.door.opts.WriteTimeout
	if c.sendBy.Sub(now) >= limit {
		return nil
	}
	c.sendBy = now.Add(limit + limit/2)
	if err := c.net.SetWriteDeadline(c.sendBy); err != nil {
		return c.explain(err)
	}
	return nil
}

// explain puts the reason of a forced end in place of the error it caused.
func (c *Conn) explain(err error) error {
	if err == nil {
		return nil
	}
	if forced := c.forced.Load(); forced != nil {
		return *forced
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%w: %w", ErrTimeout, err)
	}
	return err
}

// end closes the connection from outside; the session notices at its next read
// or write.
func (c *Conn) end(why error) {
	c.forced.CompareAndSwap(nil, &why)
	c.state.Store(stateEnded)
	c.net.Close()
}

// endIfIdle ends the connection unless a request has begun.
func (c *Conn) endIfIdle() {
	if c.state.CompareAndSwap(stateIdle, stateEnded) {
		c.end(ErrShutdown)
	}
}

// Bounds of lingering, see close.
const (
	lingerTime  = 200 * time.Millisecond // without a byte either way
	lingerStill = 5 * time.Second        // while the client takes nothing of the rest
	lingerMost  = 30 * time.Second
)

// close ends the session's side. To close a socket with unread bytes resets the
// connection, and then what the system has not sent yet of the replies is lost.
// So, unless the client is gone, close ends its own direction only, and reads on
// until the client ends the other, or has all replies and is silent. Another
// goroutine may cut it short by end.
func (c *Conn) close() {
	defer c.net.Close()
	c.state.Store(stateEnded)
	c.Out.free()
	c.discharge(c.memory)
	half, ok := c.net.(interface{ CloseWrite() error })
	if !ok || c.sent == 0 || c.unsendable || half.CloseWrite() != nil {
		return
	}
	c.linger()
}

func (c *Conn) linger() {
	scratch := make([]byte, 4<<10)
	room := c.door.opts.MaxRequest // for what the client goes on sending
	rest, taken := math.MaxInt, time.Now()
	for end := taken.Add(lingerMost); room > 0; {
		now := time.Now()
		if now.After(end) || c.net.SetReadDeadline(now.Add(lingerTime)) != nil {
			return
		}
		n, err := c.net.Read(scratch)
		room -= n
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
		if n > 0 {
			continue
		}
		switch left := unsent(c.net); {
		case left == 0:
			return
		case left < rest:
			rest, taken = left, now
		case now.Sub(taken) > lingerStill:
			return
		}
	}
}
