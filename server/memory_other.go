//go:build !linux && !darwin

package server

// physicalMemory is the machine's memory; zero: not known.
func physicalMemory() Bytes { return 0 }
