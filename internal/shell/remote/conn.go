package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/cellardb/cellar/internal/wire/thrift"
)

// Options say how to speak with a gateway. The zero value is what Apache's
// speaks by default: the binary protocol without frames.
type Options struct {
	Framed, Compact bool
	// DialTimeout, 0: 10 s.
	DialTimeout time.Duration
	// Dial connects to the gateway; nil: over TCP.
	Dial func(ctx context.Context, addr string) (net.Conn, error)
	// MaxReply is the largest reply in bytes; 0: 1 GiB.
	MaxReply int
}

// ErrNoReply: the gateway closed the connection in place of an answer. Apache's
// does so on requests that it cannot make sense of.
var ErrNoReply = errors.New("the gateway closed the connection without a reply")

// Refusal is an exception that a gateway answered with. Class is the Java class
// it names; empty: it names none.
type Refusal struct {
	Exception, Class, Text string
}

func (e *Refusal) Error() string {
	if e.Class == "" {
		return e.Text
	}
	return e.Class[strings.LastIndexByte(e.Class, '.')+1:] + ": " + e.Text
}

// errUnknown is added to the end of a connection on which a change was sent and
// not answered.
var errUnknown = errors.New("it is not known whether it was done: look before you do it again")

// lostError is the end of a connection in the middle of a call. sent says that the
// whole request was written: it may have been carried out. Nothing of a reply was
// read.
type lostError struct {
	sent bool
	err  error
}

func (e *lostError) Error() string { return e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// harmless says that a call changes nothing, so that it may be sent again. To take
// the next rows of a scanner is none: those that were lost would be left out.
func harmless(method string) bool {
	switch method {
	case "isTableEnabled", "scannerOpenWithScan", "scannerClose":
		return true
	}
	return strings.HasPrefix(method, "get")
}

// conn is one connection, opened when it is needed. One that was left idle may
// have been closed by the other side, or by something between; then it is opened
// again, once a call: see call.
type conn struct {
	addr string
	opts Options
	c    net.Conn
	r    *thrift.Reader
	w    thrift.Writer
	seq  int32
}

func (c *conn) protocol() thrift.Protocol {
	if c.opts.Compact {
		return thrift.Compact
	}
	return thrift.Binary
}

// open connects unless there is a connection that is good; kept says that there
// was.
func (c *conn) open(ctx context.Context) (kept bool, err error) {
	if c.c != nil {
		if !over(c.c) {
			return true, nil
		}
		_ = c.close() // the other side is gone
	}
	timeout := c.opts.DialTimeout
	if timeout == 0 {
		timeout = 10 * time.Second
	}
	dial := c.opts.Dial
	if dial == nil {
		dial = func(ctx context.Context, addr string) (net.Conn, error) {
			return (&net.Dialer{Timeout: timeout}).DialContext(ctx, "tcp", addr)
		}
	}
	nc, err := dial(ctx, c.addr)
	if err != nil {
		return false, fmt.Errorf("connect to the Thrift gateway: %w", err)
	}
	limit := c.opts.MaxReply
	if limit == 0 {
		limit = 1 << 30
	}
	c.c = nc
	c.r = thrift.NewReader(nc, thrift.Limits{MaxMessage: limit})
	return false, nil
}

func (c *conn) close() error {
	if c.c == nil {
		return nil
	}
	err := c.c.Close()
	c.c = nil
	return err
}

// call sends a request and reads its reply. write writes the arguments' fields;
// read, nil for void, the value of the result's field 0 and says whether it is
// of the type wanted.
//
// Where a connection of an earlier call turns out to be lost, the call is sent
// once more over another one, unless it may have been carried out already and is
// not harmless: then the error says that nobody knows.
func (c *conn) call(ctx context.Context, method string, write func(w *thrift.Writer), read func(r *thrift.Reader, t thrift.Type) bool) error {
	for again := false; ; again = true {
		if err := ctx.Err(); err != nil {
			return err
		}
		kept, err := c.open(ctx)
		if err != nil {
			return err
		}
		err = c.attempt(ctx, method, write, read)
		var lost *lostError
		switch {
		case err == nil || ctx.Err() != nil || !errors.As(err, &lost):
			return err
		case kept && !again && (!lost.sent || harmless(method)):
			continue
		case lost.sent && !harmless(method) && method != "scannerGetList":
			return fmt.Errorf("%w; %w", err, errUnknown)
		}
		return err
	}
}

// attempt makes a call on the connection that there is.
func (c *conn) attempt(ctx context.Context, method string, write func(w *thrift.Writer), read func(r *thrift.Reader, t thrift.Type) bool) error {
	// The end of the context ends whatever waits.
	nc := c.c
	stop := context.AfterFunc(ctx, func() { _ = nc.Close() })
	defer stop()
	err := c.exchange(method, write, read)
	var answered *Refusal
	if err != nil && !errors.As(err, &answered) {
		_ = c.close()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("thrift gateway %s: %s: %w", c.addr, method, err)
	}
	if !stop() {
		_ = c.close() // the context ended just behind the reply
	}
	return err
}

func (c *conn) exchange(method string, write func(w *thrift.Writer), read func(r *thrift.Reader, t thrift.Type) bool) error {
	c.seq++
	c.w.Reset(c.protocol(), c.opts.Framed)
	c.w.Message(method, thrift.Call, c.seq)
	c.w.StructBegin()
	if write != nil {
		write(&c.w)
	}
	c.w.StructEnd()
	c.w.MessageEnd()
	if _, err := c.c.Write(c.w.Bytes()); err != nil {
		return &lostError{err: err}
	}
	h, err := c.r.Next()
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return &lostError{sent: true, err: ErrNoReply}
	case errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.ErrClosedPipe):
		return &lostError{sent: true, err: err}
	case err != nil:
		return err
	}
	switch {
	case string(h.Name) != method || h.Seq != c.seq:
		return fmt.Errorf("the reply is of %.60q %d, not %d: is this a Thrift 1 gateway?", h.Name, h.Seq, c.seq)
	case h.Type == thrift.Exception:
		app, err := thrift.ReadAppException(c.r)
		if err != nil {
			return err
		}
		return &Refusal{Exception: "TApplicationException", Text: app.Error()}
	case h.Type != thrift.Reply:
		return fmt.Errorf("a message of type %s came in place of a reply", h.Type)
	}
	return c.result(read)
}

// result reads a result struct: field 0 is the value, others are exceptions.
func (c *conn) result(read func(r *thrift.Reader, t thrift.Type) bool) error {
	got := read == nil
	var refusal *Refusal
	c.r.StructBegin()
	for {
		t, id := c.r.Field()
		if t == thrift.Stop {
			break
		}
		switch {
		case id == 0 && read != nil:
			if got = read(c.r, t); !got {
				return fmt.Errorf("the result is a %s: is this a Thrift 1 gateway?", t)
			}
		case id >= 1 && id <= 3 && t == thrift.Struct:
			refusal = refusalOf(c.r, []string{"IOError", "IllegalArgument", "AlreadyExists"}[id-1])
		default:
			c.r.Skip(t)
		}
	}
	switch {
	case c.r.Err() != nil:
		return c.r.Err()
	case refusal != nil:
		return refusal
	case !got:
		return errors.New("the reply holds no result")
	}
	return nil
}

// refusalOf reads an exception. Its message begins with a Java class, and goes
// on with a stack trace, which is dropped.
func refusalOf(r *thrift.Reader, exception string) *Refusal {
	e := &Refusal{Exception: exception}
	r.StructBegin()
	for {
		t, id := r.Field()
		switch {
		case t == thrift.Stop:
			return e
		case id == 1 && t == thrift.String:
			e.Class, e.Text = splitMessage(string(r.Binary()))
		default:
			r.Skip(t)
		}
	}
}

// messageLimit is how much of a message is kept, in bytes.
const messageLimit = 1000

// splitMessage takes the Java class and the first line out of a message. The
// class may be there twice, as Apache's gateway does it.
func splitMessage(m string) (class, text string) {
	m, _, _ = strings.Cut(m, "\n\tat ")
	m = strings.TrimSpace(m)
	for {
		head, rest, ok := strings.Cut(m, ": ")
		if !ok || !isClass(head) {
			break
		}
		class, m = head, rest
	}
	if class == "" && isClass(m) {
		return m, ""
	}
	// HBase adds the whole schema where a family is missing.
	m, _, _ = strings.Cut(m, ", {NAME => ")
	if len(m) > messageLimit {
		m = m[:messageLimit] + "..."
	}
	return class, strings.ReplaceAll(m, "\n", " ")
}

func isClass(s string) bool {
	if !strings.HasPrefix(s, "org.") && !strings.HasPrefix(s, "java.") && !strings.HasPrefix(s, "com.") {
		return false
	}
	return !strings.ContainsAny(s, " \t\n")
}
