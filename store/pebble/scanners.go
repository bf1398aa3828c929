package pebble

import (
	"context"
	"sync"
	"time"
)

// member is something open that holds files: a scanner or a snapshot.
type member interface {
	idle(now int64) // frees what an unused one can do without
	shut()          // closes it
}

// scannerSet is what is open on a store.
type scannerSet struct {
	mu  sync.Mutex
	all map[member]struct{}
}

func (s *scannerSet) add(m member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[member]struct{}{}
	}
	s.all[m] = struct{}{}
}

func (s *scannerSet) remove(m member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, m)
}

func (s *scannerSet) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

// list copies the set: members are never called under its lock.
func (s *scannerSet) list() []member {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]member, 0, len(s.all))
	for m := range s.all {
		all = append(all, m)
	}
	return all
}

// closeAll closes scanners first, since they may read from snapshots.
func (s *scannerSet) closeAll() {
	for _, m := range s.list() {
		if _, ok := m.(*scanner); ok {
			m.shut()
		}
	}
	for _, m := range s.list() {
		m.shut()
	}
}

// sweeper frees the iterators of idle scanners.
func (s *Store) sweeper(ctx context.Context) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := time.Now().UnixMilli()
		for _, m := range s.scanners.list() {
			m.idle(now)
		}
	}
}
