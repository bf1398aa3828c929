// Package thrift1 is the door for clients of HBase's first Thrift gateway: the
// service Hbase, as happybase, PHP, C++ and Go clients speak it.
//
// Its contract:
//
//   - Binary and compact protocol, buffered and framed transport, all on one
//     port: a connection's first bytes tell them apart.
//   - Replies come in the order of the requests and bear their sequence ids and
//     method names, so a client may send ahead.
//   - It answers what Apache's gateway answers. Where that one closes the
//     connection without a word (an empty row key, a column without a colon, a
//     bad table name), this one says what was wrong, as the method's
//     IllegalArgument or IOError, and the connection lives on. Only bytes that
//     cannot be taken apart end a connection.
//   - Messages of errors begin with the name of the Java class that HBase would
//     have thrown, then a colon and a space: clients look for those.
//   - Requests are decoded into mutations that point into the bytes that came,
//     and replies are encoded from cells that point into the store's memory.
//
// The package translates only. It must not know an engine, keep data, or decide
// what a store decides.
package thrift1

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/cellardb/cellar/door"
	"github.com/cellardb/cellar/internal/wire/thrift"
	"github.com/cellardb/cellar/store"
)

// Defaults of Options.
const (
	DefaultName           = "thrift1"
	DefaultScannerTimeout = 10 * time.Minute
	DefaultMaxScanners    = 10_000
	DefaultFetchTimeout   = 60 * time.Second
	DefaultMaxReply       = 64 << 20
)

// Options says what stands behind the door and what it allows.
type Options struct {
	// Store is what is served. It must not be nil.
	Store store.Store
	// Name of the door in metrics; empty: DefaultName.
	Name string
	// ScannerTimeout is how long a scanner may be unused before it is closed.
	// 0: DefaultScannerTimeout.
	ScannerTimeout time.Duration
	// FetchTimeout is how long one fetch of a scanner may take. Beyond it, it is
	// answered with an IOError that says so; the scanner then stands where it
	// stood, or, if no row was found, where the search broke off. 0:
	// DefaultFetchTimeout.
	FetchTimeout time.Duration
	// MaxScanners that are open at a time, over all connections. 0:
	// DefaultMaxScanners.
	MaxScanners int
	// MaxReply in bytes. A call that would answer more is answered with an
	// IOError that says so; a scanner then stands where it stood. 0:
	// DefaultMaxReply.
	MaxReply int
	// Transport is "buffered" or "framed", Protocol "binary" or "compact": any
	// other closes the connection. Empty: all are served.
	Transport, Protocol string
	// Host and Port are where clients are told that regions are. Empty:
	// "localhost"; 0 is told as it is.
	Host string
	Port int
	// ClusterID is what getClusterId answers.
	ClusterID string
	// Logger; nil: silent.
	Logger *slog.Logger
	// Metrics; nil: requests are counted nowhere.
	Metrics *door.Metrics
}

// Validate names the field and the value that cannot be.
func (o *Options) Validate() error {
	switch {
	case o.Store == nil:
		return errors.New("thrift1: Store must not be nil")
	case o.ScannerTimeout < 0:
		return fmt.Errorf("thrift1: ScannerTimeout %s must not be negative", o.ScannerTimeout)
	case o.FetchTimeout < 0:
		return fmt.Errorf("thrift1: FetchTimeout %s must not be negative", o.FetchTimeout)
	case o.MaxScanners < 0:
		return fmt.Errorf("thrift1: MaxScanners %d must not be negative", o.MaxScanners)
	case o.MaxReply < 0:
		return fmt.Errorf("thrift1: MaxReply %d must not be negative", o.MaxReply)
	case o.Port < 0 || o.Port > 65535:
		return fmt.Errorf("thrift1: Port %d must be in 0..65535", o.Port)
	}
	switch o.Transport {
	case "", "buffered", "framed":
	default:
		return fmt.Errorf("thrift1: Transport %q must be buffered, framed or empty", o.Transport)
	}
	switch o.Protocol {
	case "", "binary", "compact":
	default:
		return fmt.Errorf("thrift1: Protocol %q must be binary, compact or empty", o.Protocol)
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.Name == "" {
		o.Name = DefaultName
	}
	if o.ScannerTimeout == 0 {
		o.ScannerTimeout = DefaultScannerTimeout
	}
	if o.FetchTimeout == 0 {
		o.FetchTimeout = DefaultFetchTimeout
	}
	if o.MaxScanners == 0 {
		o.MaxScanners = DefaultMaxScanners
	}
	if o.MaxReply == 0 {
		o.MaxReply = DefaultMaxReply
	}
	if o.Host == "" {
		o.Host = "localhost"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Logger = o.Logger.With("door", o.Name)
	return o
}

// Handler serves the connections of one door. Scanners belong to it, not to the
// connections that opened them.
type Handler struct {
	opts        Options
	store       store.Store
	methods     map[string]*boundMethod
	rules       []rule
	unknown     *door.Method // counts calls of methods that there are not
	scanners    *scanners
	compactions *compactions
	pieces      thrift.Pool
	scratch     sync.Pool // of *writes
}

// boundMethod is a method with its counters.
type boundMethod struct {
	method
	count *door.Method
}

// New makes a handler. It owns goroutines that Close ends: Door.Shutdown calls
// it.
func New(opts Options) (*Handler, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	h := &Handler{
		opts: opts, store: opts.Store,
		methods:     map[string]*boundMethod{},
		rules:       rules(),
		unknown:     opts.Metrics.Method(opts.Name, "unknown"),
		scanners:    newScanners(opts),
		compactions: newCompactions(opts),
	}
	for _, m := range methods() {
		h.methods[m.name] = &boundMethod{m, opts.Metrics.Method(opts.Name, m.name)}
	}
	h.scratch.New = func() any { return new(writes) }
	return h, nil
}

// Serve holds one conversation.
func (h *Handler) Serve(ctx context.Context, c *door.Conn) error {
	s := newSession(h, c)
	defer s.reader.Release()
	err := s.run(ctx)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, door.ErrTimeout) || errors.Is(err, door.ErrShutdown):
		return err
	case errors.Is(err, thrift.ErrTooLarge):
		return fmt.Errorf("%w: %w", door.ErrTooLarge, err)
	case errors.Is(err, thrift.ErrProtocol), errors.Is(err, thrift.ErrDepth):
		return fmt.Errorf("%w: %w", door.ErrBadBytes, err)
	}
	return err
}

// Close ends what is left when no session is: open scanners and running
// compactions.
func (h *Handler) Close(context.Context) error {
	h.compactions.close()
	return h.scanners.close()
}
