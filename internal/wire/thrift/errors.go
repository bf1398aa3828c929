package thrift

import (
	"errors"
	"fmt"
)

// What can be wrong with what a peer sent. After any of these the connection
// cannot be used further. An end of the stream is io.EOF between two messages
// and io.ErrUnexpectedEOF inside one; errors of the source and of Limits.Grow
// are passed on as they are.
var (
	// ErrTooLarge: a message, or something announced in it, exceeds
	// Limits.MaxMessage.
	ErrTooLarge = errors.New("thrift: message too large")
	// ErrProtocol: the bytes are no Thrift message, or not of the protocol
	// that the connection began with.
	ErrProtocol = errors.New("thrift: malformed message")
	// ErrDepth: values are nested deeper than Limits.MaxDepth.
	ErrDepth = errors.New("thrift: values nested too deeply")
)

// SizeError says what was larger than allowed; it matches ErrTooLarge.
type SizeError struct {
	What  string // "frame", "message", "string", ...
	Size  int64  // what was announced or needed, in bytes (or elements)
	Limit int64  // what could still come
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("thrift: %s of %d exceeds the limit: %d are left", e.What, e.Size, e.Limit)
}

// Is makes errors.Is(err, ErrTooLarge) true.
func (e *SizeError) Is(target error) bool { return target == ErrTooLarge }

// MalformedError says what was expected and what came; it matches ErrProtocol.
type MalformedError struct{ Expected, Got string }

func (e *MalformedError) Error() string {
	return "thrift: expected " + e.Expected + ", got " + e.Got
}

// Is makes errors.Is(err, ErrProtocol) true.
func (e *MalformedError) Is(target error) bool { return target == ErrProtocol }

// Codes of application exceptions, as far as a server of ours or a client sees
// them.
const (
	AppUnknown       int32 = 0
	AppUnknownMethod int32 = 1
	AppWrongName     int32 = 3
	AppBadSequence   int32 = 4
	AppMissingResult int32 = 5
	AppInternalError int32 = 6
	AppProtocolError int32 = 7
)

// AppException is Thrift's own exception, the content of a message of type
// Exception: the server could not do the call at all.
type AppException struct {
	Code    int32
	Message string
}

func (e *AppException) Error() string {
	return fmt.Sprintf("thrift application exception %d: %s", e.Code, e.Message)
}

// Write appends the exception as a whole message, the answer to a call.
func (e *AppException) Write(w *Writer, method string, seq int32) {
	w.Message(method, Exception, seq)
	w.StructBegin()
	w.Field(String, 1)
	w.String(e.Message)
	w.Field(I32, 2)
	w.I32(e.Code)
	w.StructEnd()
	w.MessageEnd()
}

// ReadAppException reads the content of a message of type Exception.
func ReadAppException(r *Reader) (*AppException, error) {
	e := new(AppException)
	r.StructBegin()
	for {
		t, id := r.Field()
		switch {
		case t == Stop:
			return e, r.Err()
		case id == 1 && t == String:
			e.Message = string(r.Binary())
		case id == 2 && t == I32:
			e.Code = r.I32()
		default:
			r.Skip(t)
		}
	}
}
