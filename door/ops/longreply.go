package ops

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"
)

// DefaultStallTimeout is how long a client may take nothing of a reply.
const DefaultStallTimeout = time.Minute

// slowest is the least that a client must take of a reply, in bytes a second,
// of the time in which the server waits for it.
const slowest = 256 << 10

// ErrSlowClient ends a reply that a client does not take.
var ErrSlowClient = errors.New("the client does not take the reply")

// longReply is a reply that may take any time as long as the client takes what
// it is sent: the server's limits on a whole request do not hold for it.
//
// How long the server waited for the client, less what that time would have done
// for at the slowest speed, is how far the client is behind; the timeout bounds
// it. So one that takes nothing is cut off after the timeout, one that takes
// half of the slowest speed after twice the timeout, and one that is as fast as
// that never. The time in which the server has nothing to send does not count.
type longReply struct {
	w       http.ResponseWriter
	c       *http.ResponseController
	timeout time.Duration
	behind  time.Duration
}

func (u *upkeep) newLongReply(w http.ResponseWriter) *longReply {
	l := &longReply{w: w, c: http.NewResponseController(w), timeout: u.Upkeep.StallTimeout}
	// The request was read whole. Without this the server would take the end of
	// its time to read for the end of the connection.
	_ = l.c.SetReadDeadline(time.Time{})
	return l
}

func (l *longReply) Write(p []byte) (n int, err error) {
	err = l.waited(len(p), func() error {
		n, err = l.w.Write(p)
		return err
	})
	return n, err
}

// flush sends what was written.
func (l *longReply) flush() error {
	return l.waited(0, func() error {
		if err := l.c.Flush(); !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		return nil // then it is sent as it comes
	})
}

// waited does what waits for the client, n bytes of it.
func (l *longReply) waited(n int, do func() error) error {
	allowed := func(n int) time.Duration { return time.Duration(n) * time.Second / slowest }
	began := time.Now()
	// Where the writer has no deadline, there is nothing to put off.
	_ = l.c.SetWriteDeadline(began.Add(l.timeout - l.behind + allowed(n)))
	err := do()
	l.behind = max(0, l.behind+time.Since(began)-allowed(n))
	if errors.Is(err, os.ErrDeadlineExceeded) || err == nil && l.behind >= l.timeout {
		return fmt.Errorf("%w: it is %v behind a speed of %d KiB a second", ErrSlowClient, l.timeout, slowest>>10)
	}
	return err
}
