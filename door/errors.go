package door

import (
	"errors"
	"fmt"
	"syscall"
)

// How a session ends. A Handler returns one of these, wrapped with what it
// knows, so that the end is counted under its reason.
var (
	// ErrBadBytes: what came is not of the protocol.
	ErrBadBytes = errors.New("bytes are not of the protocol")
	// ErrTooLarge: a request is above MaxRequest, or above what the budget can
	// ever give.
	ErrTooLarge = errors.New("request is too large")
	// ErrTimeout: a request did not arrive whole in time, a reply was not taken
	// in time, or the connection was idle for longer than the options allow.
	ErrTimeout = errors.New("client took too long")
	// ErrStalled: the connection was ended since it held memory that others
	// waited for while its client sent or took nothing. It is a kind of
	// ErrTimeout.
	ErrStalled = fmt.Errorf("connection stalled while others waited for memory: %w", ErrTimeout)
	// ErrNoMemory: the budget had no room for the request or its reply within
	// RequestTimeout.
	ErrNoMemory = errors.New("no memory in flight became free in time")
	// ErrShutdown: the door is shutting down. No answer is owed for a request
	// that had not begun.
	ErrShutdown = errors.New("door is shutting down")
)

// ErrAddrInUse is matched by the error of Listen when another process has the
// port.
var ErrAddrInUse = errors.New("address is in use")

// ListenError says which door could not listen, where, and why.
type ListenError struct {
	Door, Addr string
	Err        error
}

func (e *ListenError) Error() string {
	if e.Is(ErrAddrInUse) {
		return fmt.Sprintf("door %s: address %s is in use: stop the process that listens there, or give this door another address", e.Door, e.Addr)
	}
	return fmt.Sprintf("door %s: cannot listen on %s: %v", e.Door, e.Addr, e.Err)
}

// Unwrap gives the system's error.
func (e *ListenError) Unwrap() error { return e.Err }

// Is makes errors.Is(err, ErrAddrInUse) true for a busy port.
func (e *ListenError) Is(target error) bool {
	return target == ErrAddrInUse && errors.Is(e.Err, syscall.EADDRINUSE)
}
