package cli

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// interrupts keeps Ctrl-C from ending the process, and passes it on to whoever
// wants it at the time.
type interrupts struct {
	signals chan os.Signal
	done    chan struct{}
	mu      struct {
		sync.Mutex
		f func()
	}
}

func newInterrupts() *interrupts {
	i := &interrupts{signals: make(chan os.Signal, 4), done: make(chan struct{})}
	signal.Notify(i.signals, syscall.SIGINT)
	go func() {
		defer close(i.done)
		for range i.signals {
			i.mu.Lock()
			f := i.mu.f
			i.mu.Unlock()
			if f != nil {
				f()
			}
		}
	}()
	return i
}

// during calls f at each Ctrl-C until stop is called.
func (i *interrupts) during(f func()) (stop func()) {
	set := func(f func()) {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.mu.f = f
	}
	set(f)
	return func() { set(nil) }
}

func (i *interrupts) close() {
	signal.Stop(i.signals)
	close(i.signals)
	<-i.done
}
