//go:build !linux

package door

import "net"

// unsent is how many bytes of what was written the other side's system has not
// taken yet. Here nobody tells: some.
func unsent(net.Conn) int { return 1 }
