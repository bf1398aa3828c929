package cli

import "golang.org/x/sys/unix"

// inMemory says whether a folder is on a file system without a disk.
func inMemory(dir string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(dir, &fs) == nil && (fs.Type == unix.TMPFS_MAGIC || fs.Type == unix.RAMFS_MAGIC)
}
