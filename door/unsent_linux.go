package door

import (
	"net"
	"syscall"
	"unsafe"
)

// unsent is how many bytes of what was written the other side's system has not
// taken yet.
func unsent(nc net.Conn) int {
	s, ok := nc.(syscall.Conn)
	if !ok {
		return 0
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return 0
	}
	var n int32
	var errno syscall.Errno
	err = raw.Control(func(fd uintptr) {
		_, _, errno = syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCOUTQ, uintptr(unsafe.Pointer(&n)))
	})
	if err != nil || errno != 0 {
		return 0
	}
	return int(n)
}
