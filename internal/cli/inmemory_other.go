//go:build !linux

package cli

// inMemory says whether a folder is on a file system without a disk; elsewhere
// than on Linux it is not known.
func inMemory(string) bool { return false }
