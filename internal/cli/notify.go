package cli

import (
	"fmt"
	"net"
)

// notifySocket is the variable in which systemd names the socket of a service
// of Type=notify; see sd_notify(3).
const notifySocket = "NOTIFY_SOCKET"

// notifier tells systemd how the server is. The zero value tells nobody.
type notifier struct {
	socket string // a path, or @ and a name
}

// States that systemd is told of.
const (
	notifyReady    = "READY=1"
	notifyStopping = "STOPPING=1"
)

// tell sends a state. A datagram is there or not; nothing waits.
func (n notifier) tell(state string) error {
	if n.socket == "" {
		return nil
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: n.socket, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("tell systemd: %w", err)
	}
	defer c.Close()
	if _, err := c.Write([]byte(state)); err != nil {
		return fmt.Errorf("tell systemd: %w", err)
	}
	return nil
}
