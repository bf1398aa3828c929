package door

import (
	"fmt"
	"log/slog"
	"net"
	"time"
)

// Defaults of Options.
const (
	DefaultMaxConnections = 1024
	DefaultMaxRequest     = 64 << 20
	DefaultRequestTimeout = 30 * time.Second
	DefaultWriteTimeout   = 30 * time.Second
)

// Options says where a door listens and what it allows.
type Options struct {
	// Name stands in logs, metrics and errors, for example "thrift1". It must
	// not be empty.
	Name string
	// Addr is host:port. Port 0 takes a free one; Door.Addr tells which. An
	// empty host is every interface of the machine.
	Addr string
	// MaxConnections that are open at a time; one more is closed at once and
	// counted as refused. 0: DefaultMaxConnections.
	MaxConnections int
	// MaxRequest in bytes; a longer one ends its connection. 0:
	// DefaultMaxRequest.
	MaxRequest int
	// InFlight is the memory for requests and replies, shared by doors. Nil: a
	// budget of this door's own, of twice MaxRequest.
	InFlight *Budget
	// RequestTimeout is how long a request may take to arrive, from its first
	// byte to its last; the time that the door itself does not read, for want of
	// memory, is not counted. 0: DefaultRequestTimeout.
	RequestTimeout time.Duration
	// FirstByteTimeout is how long a new connection may stay silent. 0: for
	// ever.
	FirstByteTimeout time.Duration
	// WriteTimeout is how long a client may take to make room for a reply; up
	// to half as long again may pass before it is noticed. 0:
	// DefaultWriteTimeout.
	WriteTimeout time.Duration
	// IdleTimeout is how long a connection may be silent between requests. 0:
	// for ever; TCP keep-alive finds peers that are gone.
	IdleTimeout time.Duration
	// Logger; nil: silent.
	Logger *slog.Logger
	// Metrics; nil: counted, but shown nowhere but in Door.Figures.
	Metrics *Metrics
}

// Validate names the field and the value that cannot be.
func (o *Options) Validate() error {
	if o.Name == "" {
		return fmt.Errorf("door: Name must not be empty")
	}
	if _, _, err := net.SplitHostPort(o.Addr); err != nil {
		return fmt.Errorf("door %s: Addr %q is not host:port: %w", o.Name, o.Addr, err)
	}
	for _, f := range []struct {
		name  string
		value int
	}{{"MaxConnections", o.MaxConnections}, {"MaxRequest", o.MaxRequest}} {
		if f.value < 0 {
			return fmt.Errorf("door %s: %s %d must not be negative", o.Name, f.name, f.value)
		}
	}
	for _, f := range []struct {
		name  string
		value time.Duration
	}{
		{"RequestTimeout", o.RequestTimeout}, {"FirstByteTimeout", o.FirstByteTimeout},
		{"WriteTimeout", o.WriteTimeout}, {"IdleTimeout", o.IdleTimeout},
	} {
		if f.value < 0 {
			return fmt.Errorf("door %s: %s %s must not be negative", o.Name, f.name, f.value)
		}
	}
	return nil
}

// withDefaults fills in what zero means. The options are valid.
func (o Options) withDefaults() Options {
	if o.MaxConnections == 0 {
		o.MaxConnections = DefaultMaxConnections
	}
	if o.MaxRequest == 0 {
		o.MaxRequest = DefaultMaxRequest
	}
	if o.InFlight == nil {
		o.InFlight = NewBudget(2 * int64(o.MaxRequest))
	}
	if o.RequestTimeout == 0 {
		o.RequestTimeout = DefaultRequestTimeout
	}
	if o.WriteTimeout == 0 {
		o.WriteTimeout = DefaultWriteTimeout
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Metrics == nil {
		o.Metrics = newMetrics()
	}
	o.Logger = o.Logger.With("door", o.Name)
	return o
}
