package thriftclient

import (
	"errors"
	"fmt"

	"github.com/cellardb/cellar/internal/wire/thrift"
)

// Faults of a conversation. After the first three the connection is of no use.
var (
	// ErrNoReply: the gateway closed the connection in place of an answer.
	// Apache's does so on requests that it cannot make sense of.
	ErrNoReply = errors.New("the gateway closed the connection without a reply")
	// ErrCrossed: the reply is not the one that is due.
	ErrCrossed = errors.New("replies are out of step with requests")
	// ErrNoRequest: a reply was to be received that was not asked for.
	ErrNoRequest = errors.New("no such request is pending")
	// ErrNoResult: the reply holds neither a result nor an exception.
	ErrNoResult = errors.New("the reply holds no result")
)

// Kind is one of the exceptions that the gateway's methods declare. The numbers
// are those of the exceptions' fields in results.
type Kind int16

// The declared exceptions.
const (
	IOError         Kind = 1 // the store failed or refused
	IllegalArgument Kind = 2 // the request makes no sense
	AlreadyExists   Kind = 3 // createTable only
)

// String is the exception's name.
func (k Kind) String() string {
	switch k {
	case IOError:
		return "IOError"
	case IllegalArgument:
		return "IllegalArgument"
	case AlreadyExists:
		return "AlreadyExists"
	}
	return fmt.Sprintf("exception %d", int16(k))
}

// Exception is a declared exception that a call was answered with; the
// connection lives on. Message of an IOError begins with the name of a Java
// class; Apache's gateway adds a stack trace.
type Exception struct {
	Kind    Kind
	Message string
}

// messageLimit is how much of a message Error shows.
const messageLimit = 300

func (e *Exception) Error() string {
	m := e.Message
	if len(m) > messageLimit {
		m = m[:messageLimit] + "..."
	}
	return fmt.Sprintf("%s: %s", e.Kind, m)
}

func (c *Client) exception(k Kind) *Exception {
	e := &Exception{Kind: k}
	c.r.StructBegin()
	for {
		t, id := c.r.Field()
		switch {
		case t == thrift.Stop:
			return e
		case id == 1 && t == thrift.String:
			e.Message = string(c.r.Binary())
		default:
			c.r.Skip(t)
		}
	}
}
