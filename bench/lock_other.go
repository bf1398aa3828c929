//go:build !unix

package bench

import "os"

// tryLock: there is no lock on this platform; runs are not kept apart.
func tryLock(*os.File) error { return nil }

func inherited(string) bool { return false }
