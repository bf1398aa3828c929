package door

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Handler speaks a protocol.
type Handler interface {
	// Serve holds one conversation, from its first byte to its end. It returns
	// the reason of the end: nil or io.EOF when the client was done, one of this
	// package's errors, or what failed. The Door sends what is left in c.Out and
	// closes. The context ends when the door gives up waiting for it.
	Serve(ctx context.Context, c *Conn) error
}

// Closer is a Handler that has to put something away after its last session:
// Shutdown calls Close then, once, and waits for it.
type Closer interface {
	Close(ctx context.Context) error
}

// Door listens on one address and serves its connections.
type Door struct {
	opts     Options
	handler  Handler
	listener net.Listener
	figures  *figures
	pools    pools
	// lifetime is the sessions' context; giveUp ends it.
	lifetime context.Context
	giveUp   context.CancelFunc
	draining atomic.Bool
	gone     chan struct{} // closed by the first Shutdown when all is over
	result   error         // of that Shutdown; read after gone is closed

	sessions sync.WaitGroup
	mu       struct {
		sync.Mutex
		conns   map[*Conn]struct{}
		stopped bool // no session starts any more
	}
}

// Listen binds the address and makes a door of it; Serve then accepts. Values
// of the context, but not its end, go to the sessions.
func Listen(ctx context.Context, opts Options, handler Handler) (*Door, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", opts.Addr)
	if err != nil {
		return nil, &ListenError{Door: opts.Name, Addr: opts.Addr, Err: err}
	}
	return newDoor(ctx, opts, handler, listener), nil
}

// On is Listen with a listener that is there already; it becomes the door's.
func On(ctx context.Context, listener net.Listener, opts Options, handler Handler) (*Door, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	return newDoor(ctx, opts, handler, listener), nil
}

func newDoor(ctx context.Context, opts Options, handler Handler, listener net.Listener) *Door {
	d := &Door{opts: opts.withDefaults(), handler: handler, listener: listener, gone: make(chan struct{})}
	d.lifetime, d.giveUp = context.WithCancel(context.WithoutCancel(ctx))
	d.figures = d.opts.Metrics.of(d.opts.Name).watch(d.opts.InFlight)
	d.mu.conns = map[*Conn]struct{}{}
	return d
}

// Addr is the address that the door listens on.
func (d *Door) Addr() net.Addr { return d.listener.Addr() }

// Figures counts what happened at this door, and at earlier ones of its name
// with the same Metrics.
func (d *Door) Figures() Figures { return d.figures.read() }

// Serve accepts connections until Shutdown, then returns nil. It is called once.
func (d *Door) Serve() error {
	d.opts.Logger.Info("door is open", "addr", d.Addr().String())
	for {
		nc, err := d.accept()
		if err != nil {
			if d.draining.Load() {
				return nil
			}
			return fmt.Errorf("door %s: accept on %s: %w", d.opts.Name, d.Addr(), err)
		}
		d.start(nc)
	}
}

// Waits after a failed accept, for example for want of file descriptors.
const (
	firstAcceptWait = 5 * time.Millisecond
	lastAcceptWait  = time.Second
)

// accept waits for a connection. What passes by itself is waited out.
func (d *Door) accept() (net.Conn, error) {
	for wait := firstAcceptWait; ; wait = min(2*wait, lastAcceptWait) {
		nc, err := d.listener.Accept()
		if err == nil || !passing(err) || d.draining.Load() {
			return nc, err
		}
		if wait == firstAcceptWait {
			d.opts.Logger.Warn("cannot accept connections, trying on", "error", err)
		}
		d.figures.acceptErrors.Add(1)
		select {
		case <-time.After(wait):
		case <-d.lifetime.Done():
		}
	}
}

// passing says whether accepting may work a little later.
func passing(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EINTR} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// start begins a session, unless there are too many.
func (d *Door) start(nc net.Conn) {
	c := d.newConn(d.lifetime, nc)
	d.mu.Lock()
	if d.mu.stopped || len(d.mu.conns) >= d.opts.MaxConnections {
		full := !d.mu.stopped
		d.mu.Unlock()
		if full {
			d.figures.refused.Add(1) // before the client can see it
		}
		nc.Close()
		if full {
			d.opts.Logger.Debug("connection refused: too many", "remote", nc.RemoteAddr().String(), "limit", d.opts.MaxConnections)
		}
		return
	}
	d.mu.conns[c] = struct{}{}
	d.sessions.Add(1)
	d.mu.Unlock()
	d.figures.accepted.Add(1)
	d.figures.open.Add(1)
	go d.session(c)
}

func (d *Door) session(c *Conn) {
	defer d.sessions.Done()
	err := d.converse(c)
	if e := c.Out.Flush(); err == nil || errors.Is(err, io.EOF) {
		err = e
	}
	reason := reasonOf(c.explain(err))
	c.close()
	d.mu.Lock()
	delete(d.mu.conns, c)
	d.mu.Unlock()
	d.figures.closed[reason].Add(1)
	d.figures.open.Add(-1)
	level := slog.LevelDebug
	if reason == ReasonError {
		level = slog.LevelWarn
	}
	d.opts.Logger.Log(c.ctx, level, "connection closed", "remote", c.RemoteAddr().String(),
		"reason", reason.String(), "error", err, "received", c.received, "sent", c.sent)
}

// converse runs the handler. A panic there is a fault of ours, and ends this
// connection only.
func (d *Door) converse(c *Conn) (err error) {
	defer func() {
		if p := recover(); p != nil {
			d.opts.Logger.Error("session panicked", "panic", p, "stack", string(debug.Stack()))
			c.Out.Buf = c.Out.Buf[:0] // perhaps half a reply
			err = fmt.Errorf("session panicked: %v", p)
		}
	}()
	return d.handler.Serve(d.lifetime, c)
}

// Shutdown stops accepting, ends the connections that are idle, lets the others
// finish the request they are at, and closes the handler. When the context ends,
// what is left is closed where it stands. It returns after the last goroutine of
// the door is gone, with the context's error if it had to cut anything off. A
// second call waits for the first.
func (d *Door) Shutdown(ctx context.Context) error {
	if d.draining.Swap(true) {
		<-d.gone
		return d.result
	}
	defer close(d.gone)
	defer d.giveUp()
	d.listener.Close()
	d.mu.Lock()
	d.mu.stopped = true
	for c := range d.mu.conns {
		c.endIfIdle()
	}
	d.mu.Unlock()
	d.result = d.drain(ctx)
	if closer, ok := d.handler.(Closer); ok {
		d.result = errors.Join(d.result, closer.Close(ctx))
	}
	d.opts.Logger.Info("door is closed", "error", d.result)
	return d.result
}

// drain waits for the sessions, until the context ends; then it cuts them off
// and waits again.
func (d *Door) drain(ctx context.Context) error {
	drained := make(chan struct{})
	go func() {
		d.sessions.Wait()
		close(drained)
	}()
	select {
	case <-drained:
		return nil
	case <-ctx.Done():
	}
	d.mu.Lock()
	cut := len(d.mu.conns)
	for c := range d.mu.conns {
		c.end(ErrShutdown)
	}
	d.mu.Unlock()
	d.giveUp()
	<-drained
	if cut == 0 {
		return nil
	}
	return fmt.Errorf("door %s: %d connections cut off: %w", d.opts.Name, cut, context.Cause(ctx))
}
