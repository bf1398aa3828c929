package server

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// ErrAborted says that a shutdown was cut short: clients were dropped and the
// store was not closed. Nothing acknowledged is lost, as after a crash.
var ErrAborted = errors.New("shutdown was aborted")

// Shutdown stops accepting, waits for requests that run (DrainTimeout at
// most), and closes the store, which makes everything durable. Each step is
// logged with its time. When the context ends, it gives up waiting within
// abortGrace, whatever requests or the store do meanwhile, and answers
// ErrAborted; the process should end then, since goroutines may be left.
func (s *Server) Shutdown(ctx context.Context) error {
	s.state.set(stateDraining)
	s.log.Info("server is stopping", "drain_timeout", s.cfg.DrainTimeout)
	begin := time.Now()
	err := s.stop(ctx)
	if errors.Is(err, ErrAborted) {
		s.log.Warn("shutdown is aborted", tookKey, time.Since(begin))
		return err
	}
	s.log.Info("server is stopped", tookKey, time.Since(begin))
	return err
}

// abortGrace is how long a shutdown that is aborted waits for requests to notice.
const abortGrace = time.Second

func (s *Server) stop(ctx context.Context) error {
	drained := make(chan error, 1)
	go func() { drained <- s.drain(ctx) }()
	var errs []error
	spaceless := make(chan struct{})
	watching, unwatch := context.WithCancel(ctx)
	defer unwatch()
	go s.watchForSpace(watching, spaceless)
	select {
	case err := <-drained:
		errs = append(errs, err)
	case <-spaceless:
		return fmt.Errorf("requests wait for space on the disk: %w", ErrAborted)
	case <-ctx.Done():
		select {
		case err := <-drained:
			errs = append(errs, err)
		case <-time.After(abortGrace): // a request does not look at its context
		}
	}
	if ctx.Err() != nil {
		return errors.Join(append(errs, ErrAborted)...)
	}
	if err := s.closeStore(ctx); err != nil {
		errs = append(errs, err)
		if errors.Is(err, ErrAborted) {
			return errors.Join(errs...)
		}
	}
	errs = append(errs, s.folder.close())
	debug.SetMemoryLimit(s.heapLimit)
	return errors.Join(errs...)
}

// watchForSpace closes the channel where, the time to drain being over, the
// store waits for space on a full disk: it may do so for ever, and a process that is told to stop
// has to.
func (s *Server) watchForSpace(ctx context.Context, spaceless chan<- struct{}) {
	wait := time.NewTimer(s.cfg.DrainTimeout + abortGrace)
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wait.C:
		}
		if s.waitsForSpace() {
			close(spaceless)
			return
		}
		wait.Reset(abortGrace)
	}
}

// drain shuts the doors. All stop accepting at once; the HTTP port stays until
// the others are drained, to tell probes that the server stops.
func (s *Server) drain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.DrainTimeout)
	defer cancel()
	errs := make([]error, len(s.doors))
	var draining sync.WaitGroup
	for i, d := range s.doors[1:] {
		draining.Go(func() { errs[i+1] = s.shut(ctx, d) })
	}
	draining.Wait()
	errs[0] = s.shut(ctx, s.doors[0])
	s.state.watchers.Wait()
	return errors.Join(errs...)
}

// shut drains one door. That the drain ran out of time is said in the log; it
// is no failure of the shutdown.
func (s *Server) shut(ctx context.Context, d entrance) error {
	begin := time.Now()
	err := d.shutdown(ctx)
	switch {
	case err == nil:
		s.log.Info("door is drained", doorKey, d.name(), tookKey, time.Since(begin))
		return nil
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		s.log.Warn("door was closed with requests running", doorKey, d.name(), tookKey, time.Since(begin))
		return nil
	}
	return fmt.Errorf("shut down door %s: %w", d.name(), err)
}

// closeStore flushes and closes the engine, unless the context ends first:
// then the engine is left to the end of the process.
func (s *Server) closeStore(ctx context.Context) error {
	if s.store == nil {
		return nil
	}
	begin := time.Now()
	closed := make(chan error, 1)
	go func() { closed <- s.store.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			return fmt.Errorf("close the store: %w", err)
		}
		s.log.Info("store is closed", tookKey, time.Since(begin))
		return nil
	case <-ctx.Done():
		return ErrAborted
	}
}
