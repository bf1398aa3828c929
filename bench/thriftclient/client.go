// Package thriftclient is a client of an HBase Thrift 1 gateway, Apache's or
// Cellar's, made to put load on it at little cost of its own: requests are
// encoded straight into one buffer, replies are taken apart while they arrive
// and handed out without a copy.
//
// A [Client] is one connection and not for concurrent use. Calls may be
// pipelined: each method X that a load consists of exists also as SendX, which
// only queues the request, and ReceiveX, which waits for the reply; replies
// come in the order of the requests. Calls take no context: Close, from any
// goroutine, ends the one that waits; Options.Timeout bounds each.
package thriftclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/cellardb/cellar/internal/wire/thrift"
)

// flushAt is the size in bytes of queued requests from which they are sent
// without waiting for Flush.
const flushAt = 64 << 10

// Options says how to speak with a gateway. The zero value is what Apache's
// speaks by default: the binary protocol without frames.
type Options struct {
	Framed, Compact bool
	// Timeout bounds dialing and, to a hundredth, every wait for a reply; 0 is
	// two minutes.
	Timeout time.Duration
	// MaxReply is the largest reply in bytes; 0 is 1 GiB.
	MaxReply int
}

func (o Options) protocol() thrift.Protocol {
	if o.Compact {
		return thrift.Compact
	}
	return thrift.Binary
}

// Client is one connection to a gateway.
type Client struct {
	conn    net.Conn
	opts    Options
	r       *thrift.Reader
	w       thrift.Writer
	seq     int32
	pending []call // sent, reply not read; in order
	row     Row
	err     error     // the connection is of no use any more
	since   time.Time // when the deadline was set

	// What the reply that was read last held, by kind of result.
	gotBool bool
	gotInt  int32
	gotText [][]byte
	gotRows int
}

// call is a request whose reply has not come.
type call struct {
	method string
	seq    int32
}

// Dial connects to a gateway at host:port. The context bounds dialing only.
func Dial(ctx context.Context, addr string, opts Options) (*Client, error) {
	if opts.Timeout == 0 {
		opts.Timeout = 2 * time.Minute
	}
	d := net.Dialer{Timeout: opts.Timeout}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("connect to the Thrift gateway: %w", err)
	}
	return New(conn, opts), nil
}

// New speaks over a connection that exists; the Client closes it.
func New(conn net.Conn, opts Options) *Client {
	if opts.Timeout == 0 {
		opts.Timeout = 2 * time.Minute
	}
	if opts.MaxReply == 0 {
		opts.MaxReply = 1 << 30
	}
	c := &Client{conn: conn, opts: opts}
	c.r = thrift.NewReader(conn, thrift.Limits{MaxMessage: opts.MaxReply, Pool: new(thrift.Pool)})
	c.w.Reset(opts.protocol(), opts.Framed)
	return c
}

// Close ends the connection. It is safe to call at any time and twice.
func (c *Client) Close() error {
	err := c.conn.Close()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// begin queues the beginning of a request.
func (c *Client) begin(method string) *thrift.Writer {
	c.seq++
	c.pending = append(c.pending, call{method, c.seq})
	c.w.Message(method, thrift.Call, c.seq)
	c.w.StructBegin()
	return &c.w
}

func (c *Client) end() error {
	c.w.StructEnd()
	c.w.MessageEnd()
	if c.w.Len() >= flushAt {
		return c.Flush()
	}
	return c.err
}

// Flush sends what is queued.
func (c *Client) Flush() error {
	if c.err == nil && c.w.Len() > 0 {
		c.write(c.w.Bytes())
	}
	c.w.Reset(c.opts.protocol(), c.opts.Framed)
	return c.err
}

func (c *Client) write(b []byte) {
	// A deadline costs as much as some whole calls: it is moved a hundred times
	// within a timeout at most.
	if now := time.Now(); now.Sub(c.since) > c.opts.Timeout/100 {
		if err := c.conn.SetDeadline(now.Add(c.opts.Timeout)); err != nil {
			c.fail("send", err)
			return
		}
		c.since = now
	}
	if _, err := c.conn.Write(b); err != nil {
		c.fail("send", err)
	}
}

func (c *Client) fail(doing string, err error) {
	if c.err == nil {
		c.err = fmt.Errorf("thrift gateway %s: %s: %w", c.conn.RemoteAddr(), doing, err)
	}
}

// Pending is the number of requests whose replies were not received.
func (c *Client) Pending() int { return len(c.pending) }

// kind is the type of a method's result.
type kind uint8

const (
	void kind = iota
	boolean
	number
	texts
	rows
)

// receive reads the reply to the oldest pending request, which must be one of
// the method. Rows are shown to visit.
func (c *Client) receive(method string, k kind, visit func(*Row) error) error {
	if len(c.pending) == 0 || c.pending[0].method != method {
		return fmt.Errorf("receive the reply of %s: %w", method, ErrNoRequest)
	}
	want := c.pending[0]
	c.pending = append(c.pending[:0], c.pending[1:]...)
	if err := c.Flush(); err != nil {
		return err
	}
	h, err := c.r.Next()
	if err != nil {
		if err == io.EOF {
			err = ErrNoReply
		}
		c.fail("wait for the reply of "+method, err)
		return c.err
	}
	if string(h.Name) != want.method || h.Seq != want.seq || h.Type != thrift.Reply && h.Type != thrift.Exception {
		c.fail("read a reply", fmt.Errorf("%w: %s %q %d, want the reply of %q %d", ErrCrossed, h.Type, h.Name, h.Seq, want.method, want.seq))
		return c.err
	}
	if h.Type == thrift.Exception {
		app, err := thrift.ReadAppException(c.r)
		if err != nil {
			c.fail("read the exception of "+method, err)
			return c.err
		}
		return fmt.Errorf("%s: %w", method, app)
	}
	return c.result(method, k, visit)
}

// result reads a result struct: field 0 is the success, others are exceptions.
func (c *Client) result(method string, k kind, visit func(*Row) error) error {
	got := k == void
	var failure error
	c.r.StructBegin()
	for {
		t, id := c.r.Field()
		switch {
		case t == thrift.Stop:
			if err := c.r.Err(); err != nil {
				c.fail("read the result of "+method, err)
				return c.err
			}
			if failure == nil && !got {
				failure = ErrNoResult
			}
			if failure != nil {
				return fmt.Errorf("%s: %w", method, failure)
			}
			return nil
		case id == 0 && k != void:
			got = true
			if err := c.success(k, t, visit); err != nil {
				failure = err
			}
		case id >= 1 && id <= 3 && t == thrift.Struct:
			failure = c.exception(Kind(id))
		default:
			c.r.Skip(t)
		}
	}
}

func (c *Client) success(k kind, t thrift.Type, visit func(*Row) error) error {
	switch {
	case k == boolean && t == thrift.Bool:
		c.gotBool = c.r.Bool()
	case k == number && t == thrift.I32:
		c.gotInt = c.r.I32()
	case k == texts && t == thrift.List:
		c.gotText = c.gotText[:0]
		for _, n := c.r.List(); n > 0 && c.r.Err() == nil; n-- {
			c.gotText = append(c.gotText, c.r.Binary())
		}
	case k == rows && t == thrift.List:
		return c.readRows(visit)
	default:
		c.r.Skip(t)
		return fmt.Errorf("%w: it is a %s", ErrNoResult, t)
	}
	return nil
}
