package server

import (
	"time"
)

// Config composes the settings of a server. Resolve fills zero fields with the
// defaults that each field names; Validate says what is wrong with the rest.
type Config struct {
	// Data is the folder that holds everything the server keeps. It is created
	// if it is missing. Empty: ./cellar-data.
	Data string
	// Engine names the storage engine: "pebble" keeps data in Data, "memory"
	// keeps nothing after the process ends. Empty: pebble.
	Engine string
	// Memory is the budget in bytes that caches, memtables and requests in
	// flight share; Split says how. Zero: DefaultMemory. At least MinMemory.
	Memory Bytes
	// DrainTimeout bounds how long a stopping server waits for requests that
	// run. Zero: 30 s.
	DrainTimeout time.Duration

	Thrift1 Thrift1Config
	HTTP    HTTPConfig
	WAL     WALConfig
	Disk    DiskConfig
	Log     LogConfig
	Fault   FaultConfig
}

// Thrift1Config configures the HBase Thrift 1 door.
type Thrift1Config struct {
	// Addr is where the door listens; "off" closes it; port 0 takes a free
	// one. Empty: 127.0.0.1:9090.
	Addr string
	// MaxConnections held at one time; a further one is closed at once. Zero:
	// 4096.
	MaxConnections int
	// MaxFrame is the largest message in bytes that a client may send, at most
	// the doors' share of the memory. Zero: 64 MiB, or that share if it is less.
	MaxFrame Bytes
	// IdleTimeout closes a connection on which nothing came for so long. Zero:
	// never; pooled clients stay idle for hours.
	IdleTimeout time.Duration
	// ScannerTimeout frees a scanner that was not used for so long. Zero: 10
	// minutes, as the HBase gateway.
	ScannerTimeout time.Duration
	// FetchTimeout bounds one fetch of a scanner: beyond it the client is told
	// where the scanner stands, and may go on. Less than its own time-out is of
	// use. Zero: a minute.
	FetchTimeout time.Duration
	// Transport that clients must use: "auto", "buffered" or "framed". Empty:
	// auto, told from the first bytes of each connection.
	Transport string
	// Protocol that clients must use: "auto", "binary" or "compact". Empty:
	// auto.
	Protocol string
}

// Off says whether the door stays closed.
func (c *Thrift1Config) Off() bool { return c.Addr == Off }

// HTTPConfig configures the HTTP port.
type HTTPConfig struct {
	// Addr is where it listens; port 0 takes a free one. Empty: 127.0.0.1:8600.
	Addr string
	// MaxConnections held at one time; further ones wait in the accept queue
	// of the kernel. Zero: 1024.
	MaxConnections int
	// StallTimeout bounds how long the reply of a backup or verify may wait for
	// its client, beyond what a client of 256 KiB a second takes: one that takes
	// nothing is cut off after it. Zero: one minute.
	StallTimeout time.Duration
	// Pprof serves Go's profiles below /debug/pprof/. Profiles show row keys
	// and slow the server down, so the zero value keeps them shut.
	Pprof bool
}

// WALConfig configures the write-ahead log.
type WALConfig struct {
	// Sync is what SYNC_WAL waits for: "fsync", the disk; "os", the operating
	// system, which loses acknowledged writes with the machine's power but not
	// with the process. Empty: fsync. FSYNC_WAL waits for the disk always.
	Sync string
}

// DiskConfig says how a disk that fills up is met.
type DiskConfig struct {
	// Reserve is how much must be free on the disk for writes to be admitted.
	// Zero: two memtables and what two compactions write, at least 512 MiB.
	Reserve Bytes
}

// LogConfig configures the server's log.
type LogConfig struct {
	// Level is the lowest that is written: "debug", "info", "warn", "error".
	// Empty: info.
	Level string
	// Format is "text" or "json". Empty: text.
	Format string
}

// FaultConfig injects faults, to measure what they cost. It is no setting for
// daily use and has no place in the help.
type FaultConfig struct {
	// FsyncDelay is added to every fsync of the write-ahead log. Zero: none.
	FsyncDelay time.Duration
}

// Off as an address keeps a door closed.
const Off = "off"

// Names of the engines.
const (
	EnginePebble = "pebble"
	EngineMemory = "memory"
)

// Resolve gives the configuration with every zero field that stands for a
// default set to it.
func (c Config) Resolve() Config {
	setDefault(&c.Data, "cellar-data")
	setDefault(&c.Engine, EnginePebble)
	setDefault(&c.DrainTimeout, 30*time.Second)
	setDefault(&c.Thrift1.Addr, "127.0.0.1:9090")
	setDefault(&c.Thrift1.MaxConnections, 4096)
	setDefault(&c.Thrift1.ScannerTimeout, 10*time.Minute)
	setDefault(&c.Thrift1.FetchTimeout, time.Minute)
	setDefault(&c.Thrift1.Transport, "auto")
	setDefault(&c.Thrift1.Protocol, "auto")
	setDefault(&c.HTTP.Addr, "127.0.0.1:8600")
	setDefault(&c.HTTP.MaxConnections, 1024)
	setDefault(&c.HTTP.StallTimeout, time.Minute)
	setDefault(&c.WAL.Sync, "fsync")
	setDefault(&c.Log.Level, "info")
	setDefault(&c.Log.Format, "text")
	if c.Memory == 0 {
		c.Memory = DefaultMemory()
	}
	setDefault(&c.Thrift1.MaxFrame, min(64*MiB, SplitMemory(c.Memory).Doors/MiB*MiB))
	return c
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
