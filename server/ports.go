package server

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
)

// PortError is an address that cannot be listened on.
type PortError struct {
	Door string
	Addr string
	// Setting is the key that changes the address.
	Setting string
	Err     error
}

func (e *PortError) Error() string {
	s := Setting{Key: e.Setting}
	return fmt.Sprintf("%s cannot listen on %s: %s (another address: --%s)", e.Door, e.Addr, bareReason(e.Err), s.Flag())
}

func (e *PortError) Unwrap() error { return e.Err }

// bareReason is the end of a network error, without the call and the address
// that PortError names already.
func bareReason(err error) string {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number.Error()
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err.Error()
	}
	return err.Error()
}

// PortsError lists every address that cannot be listened on.
type PortsError struct{ Ports []*PortError }

func (e *PortsError) Error() string {
	texts := make([]string, len(e.Ports))
	for i, p := range e.Ports {
		texts[i] = p.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap gives the errors of the ports.
func (e *PortsError) Unwrap() []error {
	errs := make([]error, len(e.Ports))
	for i, p := range e.Ports {
		errs[i] = p
	}
	return errs
}
