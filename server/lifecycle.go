package server

import (
	"errors"
	"fmt"
	"sync"
)

// States of a server, as /v1/status names them.
const (
	stateStarting = "starting"
	stateReady    = "ready"
	stateDraining = "draining"
	stateFailed   = "failed"
)

// lifecycle is the state of a server and what watches its doors.
type lifecycle struct {
	failed   chan struct{} // closed at the first failure
	watchers sync.WaitGroup
	mu       struct {
		sync.Mutex
		state string
		err   error
	}
}

func newLifecycle() *lifecycle {
	l := &lifecycle{failed: make(chan struct{})}
	l.mu.state = stateStarting
	return l
}

func (l *lifecycle) set(state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.state != stateFailed || state == stateDraining {
		l.mu.state = state
	}
}

func (l *lifecycle) get() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.state
}

func (l *lifecycle) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.err
}

// fail notes the first failure of a server that is not being shut down.
func (l *lifecycle) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.err != nil || l.mu.state == stateDraining {
		return
	}
	l.mu.state, l.mu.err = stateFailed, err
	close(l.failed)
}

// watch waits for a door to end, beside the caller. The door's shutdown ends
// the wait.
func (l *lifecycle) watch(d entrance) {
	l.watchers.Go(func() {
		<-d.ended()
		err := d.reason()
		if err == nil {
			err = errors.New("it stopped accepting")
		}
		l.fail(fmt.Errorf("door %s: %w", d.name(), err))
	})
}

// ready answers nil when clients may come, or the reason why not.
func (l *lifecycle) ready() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.mu.state {
	case stateReady:
		return nil
	case stateDraining:
		return errors.New("the server is stopping")
	case stateFailed:
		return l.mu.err
	}
	return errors.New("the store is being opened")
}
