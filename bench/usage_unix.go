//go:build unix

package bench

import "golang.org/x/sys/unix"

// ownCPU is the CPU time that this process has used, in seconds.
func ownCPU() *float64 {
	var ru unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &ru) != nil {
		return nil
	}
	seconds := func(t unix.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return ptr(seconds(ru.Utime) + seconds(ru.Stime))
}
