//go:build !unix

package bench

// ownCPU is not known on this platform.
func ownCPU() *float64 { return nil }
