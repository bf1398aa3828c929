package server

import "golang.org/x/sys/unix"

// physicalMemory is the machine's memory; zero: not known.
func physicalMemory() Bytes {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return Bytes(n)
}
