// Package server assembles a Cellar server: one storage engine, the doors over
// it, and the HTTP port, as a Config says. It is the only place that names
// engines and doors; each has one file here.
//
// Contract: Start brings everything up in order or leaves nothing behind;
// Shutdown takes it down in the reverse order, and what was acknowledged before
// is durable after. All ports are taken before the store is touched. A data
// folder has one server at a time.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cellardb/cellar/door"
	"github.com/cellardb/cellar/store"
)

// Options are what a server needs besides its configuration.
type Options struct {
	// Logger, nil: silent.
	Logger *slog.Logger
	// Build is shown in status and metrics. The zero value is shown as such.
	Build Build
}

// Server is one running server. It is used once: started, then shut down.
type Server struct {
	cfg   Config
	split Split
	build Build
	log   *slog.Logger
	reg   *prometheus.Registry
	began time.Time

	inFlight *door.Budget  // shared by all doors
	metrics  *door.Metrics // of all doors
	heat     heatWindow
	state    *lifecycle
	doors    []entrance // those that are bound, in the order of their opening
	folder   *folder
	store    store.Store
	address  map[string]string
	// heapLimit is the collector's limit from before the start.
	heapLimit int64
}

// New checks the configuration, defaults filled in. Nothing is started.
func New(cfg Config, o Options) (*Server, error) {
	cfg = cfg.Resolve()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		cfg: cfg, split: SplitMemory(cfg.Memory), build: o.Build, log: o.Logger,
		reg: prometheus.NewRegistry(), began: time.Now(), state: newLifecycle(),
		inFlight: door.NewBudget(int64(SplitMemory(cfg.Memory).Doors)),
	}
	s.heat.clock = time.Now
	registerProcess(s.reg, s.build, s.split)
	s.reg.MustRegister(newPressureMetrics(s))
	var err error
	if s.metrics, err = door.NewMetrics(s.reg); err != nil {
		return nil, err
	}
	return s, nil
}

// Addresses gives where the doors listen, by name, once the server is started.
func (s *Server) Addresses() map[string]string { return maps.Clone(s.address) }

// Wait returns nil when the context ends, or why the server cannot go on by
// itself: a door does not accept any more. Either way the server is still to be
// shut down.
func (s *Server) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.state.failed:
		return s.state.failure()
	}
}

// Start brings the server up: data folder and ports, HTTP, engine, doors. When
// it answers an error nothing is left running. The context is of the start
// only.
//
// Errors: a RunningError, a PortsError, or the engine's, as store.ErrLocked,
// store.ErrNewerFormat and store.ErrCorrupt.
func (s *Server) Start(ctx context.Context) error {
	if err := s.refuseSecond(); err != nil {
		return err
	}
	doors := s.entrances()
	if err := bindAll(ctx, doors); err != nil {
		return err
	}
	folder, err := openFolder(s.cfg.Data)
	if err != nil {
		return errors.Join(err, shutAll(ctx, doors))
	}
	s.folder, s.doors, s.address = folder, doors, addressesOf(doors)
	s.heapLimit = debug.SetMemoryLimit(int64(s.split.Go))
	if err := s.open(ctx); err != nil {
		s.state.set(stateDraining)
		return errors.Join(err, s.stop(context.WithoutCancel(ctx)))
	}
	return nil
}

// refuseSecond looks for a server on the data folder before the ports are
// tried, which are mostly busy for the same reason.
func (s *Server) refuseSecond() error {
	r, err := FindRunning(s.cfg.Data)
	if r != nil {
		return &RunningError{Data: r.Data, Server: r}
	}
	if errors.Is(err, ErrNotRunning) {
		return nil
	}
	return err
}

// open goes on from the ports and the folder.
func (s *Server) open(ctx context.Context) error {
	if err := s.openDoor(s.doors[0]); err != nil {
		return err
	}
	begin := time.Now()
	opened, err := s.openEngine(ctx)
	if err != nil {
		return fmt.Errorf("open the store in %s: %w", s.folder.path, err)
	}
	s.store = opened
	s.log.Info("store is open", "engine", s.cfg.Engine, "data", s.folder.path, tookKey, time.Since(begin))
	for _, d := range s.doors[1:] {
		if err := s.openDoor(d); err != nil {
			return err
		}
	}
	if err := s.folder.announce(s.running()); err != nil {
		return err
	}
	s.state.set(stateReady)
	s.log.Info("server is ready", tookKey, time.Since(s.began), "version", s.build.Version)
	return nil
}

// openDoor lets clients in, and watches the door until it ends.
func (s *Server) openDoor(d entrance) error {
	if err := d.open(s.store); err != nil {
		return fmt.Errorf("open door %s: %w", d.name(), err)
	}
	s.state.watch(d)
	return nil
}

func (s *Server) running() *Running {
	return &Running{
		PID: os.Getpid(), Version: s.build.Version, Started: s.began.Round(0), Data: s.folder.path,
		Engine: s.cfg.Engine, Addresses: s.address,
	}
}

func addressesOf(doors []entrance) map[string]string {
	addresses := make(map[string]string, len(doors))
	for _, d := range doors {
		addresses[d.name()] = d.addr().String()
	}
	return addresses
}

// Keys of log attributes.
const (
	doorKey = "door"
	addrKey = "addr"
	tookKey = "took"
)
