package thrift1

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/door"
	"github.com/cellardb/cellar/internal/wire/thrift"
)

// flushAt is how many bytes of replies may wait for one another while more
// requests have already arrived.
const flushAt = 64 << 10

// session is one connection's conversation. It handles one call at a time; what
// it needs for that is kept from call to call.
type session struct {
	h      *Handler
	conn   *door.Conn
	reader *thrift.Reader
	writer thrift.Writer
	ctx    context.Context
	form   thrift.Header // of the first call: protocol and transport

	// Of the call that is being handled.
	method *boundMethod
	seq    int32
	op     op // method.op, but where a call has parts of another kind
	args   args
	// actions is how many mutations the batch had that failed as a whole.
	actions int
	start   int // where its reply begins in the writer's buffer

	get     cell.Get
	row     cell.Result
	rowSize int  // of the largest that the call read, in bytes
	failed  bool // the call did, or is not done yet
	columns selection
}

func newSession(h *Handler, c *door.Conn) *session {
	s := &session{h: h, conn: c}
	s.reader = thrift.NewReader(c, thrift.Limits{MaxMessage: c.MaxRequest(), Grow: c.Grow, Pool: &h.pieces})
	return s
}

// run handles calls until the conversation ends.
func (s *session) run(ctx context.Context) error {
	s.ctx = ctx
	for first := true; ; first = false {
		header, err := s.reader.Next()
		if err != nil {
			return err
		}
		if first {
			if err := s.checkForm(header); err != nil {
				return err
			}
			s.form = header
			s.writer.Reset(header.Protocol, header.Framed)
		}
		if err := s.handle(header); err != nil {
			return err
		}
		if len(s.conn.Out.Buf) >= flushAt {
			if err := s.conn.Out.Flush(); err != nil {
				return err
			}
		}
		if err := s.conn.EndRequest(s.reader.Buffered() > 0); err != nil {
			return err
		}
	}
}

// checkForm refuses a client that speaks a form that the options exclude.
func (s *session) checkForm(header thrift.Header) error {
	transport := "buffered"
	if header.Framed {
		transport = "framed"
	}
	o := &s.h.opts
	if (o.Transport == "" || o.Transport == transport) && (o.Protocol == "" || o.Protocol == header.Protocol.String()) {
		return nil
	}
	expected := either(o.Transport, "buffered or framed") + " " + either(o.Protocol, "binary or compact")
	got := transport + " " + header.Protocol.String()
	o.Logger.Warn("client speaks another form of Thrift than this door", "expected", expected, "got", got, "remote", s.conn.RemoteAddr().String())
	return fmt.Errorf("expected %s, got %s: %w", expected, got, door.ErrBadBytes)
}

func either(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// handle reads a call's arguments, does it, and leaves the reply in the
// connection's output. An error ends the connection.
func (s *session) handle(header thrift.Header) error {
	s.seq = header.Seq
	s.method = s.h.methods[string(header.Name)]
	switch {
	case header.Type != thrift.Call && header.Type != thrift.Oneway:
		return s.refuse(string(header.Name), appInvalidMessageType, fmt.Sprintf("Invalid message type: %s", header.Type))
	case s.method == nil:
		return s.refuse(string(header.Name), thrift.AppUnknownMethod, fmt.Sprintf("Invalid method name: '%s'", header.Name))
	}
	began := time.Now()
	outcome, err := s.perform()
	s.method.count.Observe(outcome, time.Since(began))
	return err
}

// appInvalidMessageType is Thrift's code for a message that is no call.
const appInvalidMessageType int32 = 2

// refuse answers a call that is none of ours.
func (s *session) refuse(name string, code int32, text string) error {
	s.reader.Skip(thrift.Struct)
	if err := s.reader.Err(); err != nil {
		s.lastWords(name, err)
		return err
	}
	s.h.unknown.Observe(door.Unknown, 0)
	s.writer.Use(s.conn.Out.Buf)
	(&thrift.AppException{Code: code, Message: text}).Write(&s.writer, name, s.seq)
	s.conn.Out.Buf = s.writer.Bytes()
	return nil
}

// lastWords tells a client why its connection ends, if it was what it sent.
func (s *session) lastWords(name string, err error) {
	for _, theirs := range []error{thrift.ErrProtocol, thrift.ErrTooLarge, thrift.ErrDepth, door.ErrTooLarge, door.ErrNoMemory} {
		if errors.Is(err, theirs) {
			s.writer.Use(s.conn.Out.Buf)
			(&thrift.AppException{Code: thrift.AppProtocolError, Message: err.Error()}).Write(&s.writer, name, s.seq)
			s.conn.Out.Buf = s.writer.Bytes()
			return
		}
	}
}

// perform reads the arguments, calls the method and answers, whatever happens.
func (s *session) perform() (outcome door.Outcome, err error) {
	read := false
	defer func() {
		if p := recover(); p != nil {
			s.h.opts.Logger.Error("call panicked", "method", s.method.name, "panic", p, "stack", string(debug.Stack()))
			s.rewind(read)
			s.answer(&fault{kind: kindApp, message: "Internal error processing " + s.method.name})
			if outcome = door.Broken; !read {
				err = fmt.Errorf("arguments of %s: panic: %v", s.method.name, p)
			}
		}
	}()
	s.op, s.start, s.failed = s.method.op, len(s.conn.Out.Buf), true
	defer s.forget()
	if err := s.readArgs(); err != nil {
		s.lastWords(s.method.name, err)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return door.Failed, err
		}
		return door.Refused, err
	}
	s.writer.Use(s.conn.Out.Buf)
	s.start = len(s.conn.Out.Buf)
	read = true
	mark := s.writer.Mark()
	if err := s.method.call(s); err != nil {
		f := s.faultOf(err)
		s.writer.Truncate(mark)
		s.answer(f)
		return f.outcome, nil
	}
	s.conn.Out.Buf = s.writer.Bytes()
	s.failed = false
	return door.OK, nil
}

// rewind takes back what a call has written that panicked.
func (s *session) rewind(begun bool) {
	before := s.conn.Out.Buf
	if begun {
		before = before[:s.start]
	}
	s.writer.Reset(s.form.Protocol, s.form.Framed)
	s.writer.Use(before)
}

// small is the room that is made sure of for what a reply has besides values.
const small = 256

// reply begins a successful reply, whose result is of type t.
func (s *session) reply(t thrift.Type) error {
	if err := s.reserve(small); err != nil {
		return err
	}
	s.writer.Message(s.method.name, thrift.Reply, s.seq)
	s.writer.StructBegin()
	s.writer.Field(t, 0)
	return nil
}

// done ends a reply.
func (s *session) done() error {
	s.writer.StructEnd()
	s.writer.MessageEnd()
	return nil
}

// void is the whole reply of a method that returns nothing.
func (s *session) void() error {
	s.writer.Message(s.method.name, thrift.Reply, s.seq)
	s.writer.StructBegin()
	return s.done()
}

// answer writes an exception as the reply.
func (s *session) answer(f *fault) {
	defer func() { s.conn.Out.Buf = s.writer.Bytes() }()
	id := f.field(s.method.throws)
	if id == 0 {
		(&thrift.AppException{Code: thrift.AppInternalError, Message: f.message}).Write(&s.writer, s.method.name, s.seq)
		return
	}
	w := &s.writer
	w.Message(s.method.name, thrift.Reply, s.seq)
	w.StructBegin()
	w.Field(thrift.Struct, id)
	w.StructBegin()
	w.Field(thrift.String, 1)
	w.String(f.message)
	if id == fieldIO {
		w.BoolField(2, f.retry)
	}
	w.StructEnd()
	_ = s.done()
}

// reserve makes room for n more bytes of the reply, within the budget and
// MaxReply.
func (s *session) reserve(n int) error {
	size := s.writer.Len() - s.start + n
	if size > s.h.opts.MaxReply {
		return &replyError{Limit: s.h.opts.MaxReply}
	}
	if s.writer.Room() >= n {
		return nil
	}
	s.conn.Out.Buf = s.writer.Bytes()
	if err := s.conn.Out.Reserve(n); err != nil {
		return err
	}
	s.writer.Use(s.conn.Out.Buf)
	return nil
}
