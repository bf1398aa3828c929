package memory

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
	"github.com/cellardb/cellar/store"
)

// Options of a Store. The zero value is usable.
type Options struct {
	// Clock gives the time in ms since 1970; nil is the machine's clock. It is
	// called under the store's lock and must not call the store.
	Clock func() int64
	// Backtracking makes a matcher for regular expressions of filters that
	// cannot be matched in linear time; nil: they are refused. The matcher
	// bounds its own time, and is called under the store's lock.
	Backtracking func(pattern string) (filter.Matcher, error)
	// Logger gets a warning when the clock steps back; nil is silent.
	Logger *slog.Logger
}

// Store is an engine that keeps everything in memory. It is also a
// store.Snapshotter.
type Store struct {
	clock        func() int64
	backtracking func(pattern string) (filter.Matcher, error)
	log          *slog.Logger
	mu           struct {
		sync.Mutex
		closed     bool
		now        int64 // last time that nowLocked gave
		lastRegion int64 // last region id given
		tables     map[string]*table
		namespaces map[string]store.Namespace
	}
}

var (
	_ store.Store       = (*Store)(nil)
	_ store.Snapshotter = (*Store)(nil)
)

// New makes an empty store with the namespaces default, hbase and cellar.
func New(opts Options) *Store {
	s := &Store{clock: opts.Clock, backtracking: opts.Backtracking, log: opts.Logger}
	if s.clock == nil {
		s.clock = func() int64 { return time.Now().UnixMilli() }
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.mu.tables = map[string]*table{}
	s.mu.namespaces = map[string]store.Namespace{}
	for _, ns := range []string{cell.DefaultNamespace, cell.SystemNamespace, cell.InternalNamespace} {
		s.mu.namespaces[ns] = store.Namespace{Name: ns}
	}
	return s
}

// Capabilities names what the engine gives beyond the contract.
func (s *Store) Capabilities() store.Capabilities {
	return store.Capabilities{Snapshots: true, ShiftsTimestamps: true, DropsRanges: true}
}

// Close refuses all later calls. Running ones hold the lock, so it waits for
// them.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.closed = true
	s.mu.tables = nil
	return nil
}

// begin takes the lock for one call. The caller unlocks, unless there is an
// error.
func (s *Store) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	if s.mu.closed {
		s.mu.Unlock()
		return store.ErrClosed
	}
	return nil
}

// tableLocked finds a table by its name, with or without "default:".
func (s *Store) tableLocked(name string) (*table, error) {
	t := s.mu.tables[cell.CanonicalTableName(name)]
	if t == nil {
		return nil, fmt.Errorf("table %q: %w", name, store.ErrTableNotFound)
	}
	return t, nil
}

// readableLocked finds a table that is enabled.
func (s *Store) readableLocked(name string) (*table, error) {
	t, err := s.tableLocked(name)
	if err != nil {
		return nil, err
	}
	return t, t.usable()
}

// writableLocked finds a table that is enabled and not read only.
func (s *Store) writableLocked(name string) (*table, error) {
	t, err := s.readableLocked(name)
	if err != nil {
		return nil, err
	}
	if t.info.Schema.ReadOnly {
		return nil, fmt.Errorf("table %q: %w", name, store.ErrReadOnly)
	}
	return t, nil
}
