//go:build !linux && !darwin

package remote

import "net"

// over is not known here: what became of a connection is found out by using it.
func over(net.Conn) bool { return false }
