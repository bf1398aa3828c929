package server

import "golang.org/x/sys/unix"

// physicalMemory is the machine's memory; zero: not known.
func physicalMemory() Bytes {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return Bytes(uint64(info.Totalram) * uint64(info.Unit))
}
