package server

import (
	"errors"
	"net"
	"testing"
)

func TestLimitListener(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := limitListener(inner, 2)
	accepted := make(chan net.Conn)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	var clients []net.Conn
	for range 3 {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		clients = append(clients, c)
	}
	first, second := <-accepted, <-accepted
	if slots := l.(*limitedListener).slots; len(slots) != 2 || cap(slots) != 2 {
		t.Errorf("two connections hold %d of %d slots", len(slots), cap(slots))
	}
	select {
	case <-accepted:
		t.Error("a third connection was accepted")
	default:
	}
	first.Close()
	first.Close() // gives its slot back once
	third := <-accepted
	select {
	case l.(*limitedListener).slots <- struct{}{}:
		t.Error("a connection that was closed twice gave two slots back")
	default:
	}
	// Close ends the wait for a slot.
	l.Close()
	<-done
	second.Close()
	third.Close()
	if len(clients) != 3 {
		t.Errorf("%d clients", len(clients))
	}
}

// An accept that fails, for example for want of descriptors, takes no slot.
func TestLimitListener_failsWithoutTakingASlot(t *testing.T) {
	l := limitListener(failing{}, 1)
	for range 3 {
		if _, err := l.Accept(); err == nil {
			t.Error("no error")
		}
		if n := len(l.(*limitedListener).slots); n != 0 {
			t.Fatalf("%d slots are taken", n)
		}
	}
}

type failing struct{ net.Listener }

func (failing) Accept() (net.Conn, error) { return nil, errors.New("no descriptors") }
