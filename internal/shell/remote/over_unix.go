//go:build linux || darwin

package remote

import (
	"errors"
	"net"
	"syscall"
)

// over says that the other side has ended a connection that nobody waits on, or
// has sent what nobody asked for: it is of no use any more. It looks and does not
// wait; a connection that cannot be looked at is not over.
func over(c net.Conn) bool {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return true
	}
	quiet := false
	err = raw.Control(func(fd uintptr) {
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		quiet = errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR)
	})
	return err != nil || !quiet
}
