package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellardb/cellar/store"
)

// stuckDoor has a request in a call of the store that does not look at its
// context.
type stuckDoor struct{ call chan struct{} }

func (d *stuckDoor) name() string               { return "stuck" }
func (d *stuckDoor) setting() (string, string)  { return "stuck.addr", "" }
func (d *stuckDoor) bind(context.Context) error { return nil }
func (d *stuckDoor) addr() net.Addr             { return nil }
func (d *stuckDoor) open(store.Store) error     { return nil }
func (d *stuckDoor) ended() <-chan struct{}     { return d.call }
func (d *stuckDoor) reason() error              { return nil }

func (d *stuckDoor) shutdown(context.Context) error {
	<-d.call
	return nil
}

// A shutdown that is aborted ends although a request does not; until then it
// waits, also beyond the time to drain, since a store in use is not closed.
func TestShutdown_abortedWithAStuckRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &stuckDoor{call: make(chan struct{})}
		s := &Server{
			cfg: Config{DrainTimeout: time.Minute}, log: slog.New(slog.DiscardHandler), state: newLifecycle(),
			doors: []entrance{d, d},
		}
		ctx, abort := context.WithCancel(t.Context())
		stopped := make(chan error, 1)
		go func() { stopped <- s.Shutdown(ctx) }()
		time.Sleep(time.Hour)
		select {
		case err := <-stopped:
			t.Fatalf("it ends with a request in the store: %v", err)
		default:
		}
		abort()
		time.Sleep(abortGrace)
		synctest.Wait()
		select {
		case err := <-stopped:
			if !errors.Is(err, ErrAborted) {
				t.Errorf("aborted: %v", err)
			}
		default:
			t.Errorf("it hangs %v after it was aborted", abortGrace)
		}
		close(d.call)
	})
}
