package server

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Setting is one field of Config as a user meets it: a key of the
// configuration file, from which the flag and the environment variable are
// named. The list of them is what the command line and the documentation are
// made from.
type Setting struct {
	// Key is the path in the file: "thrift1.addr".
	Key string
	// Usage is one line of help; Default says what holds when it is not set.
	Usage, Default string
	// Hidden settings are left out of help and documentation.
	Hidden bool
	// field points to the setting's place in a Config.
	field func(*Config) any
}

// Settings lists every setting, in the order in which they are explained.
func Settings() []Setting {
	return []Setting{
		{Key: "data", Usage: "folder that holds everything the server keeps", Default: "cellar-data",
			field: func(c *Config) any { return &c.Data }},
		{Key: "engine", Usage: "storage engine: pebble, or memory (nothing is kept)", Default: EnginePebble,
			field: func(c *Config) any { return &c.Engine }},
		{Key: "memory", Usage: "budget for caches, memtables and requests in flight", Default: "a quarter of RAM or cgroup limit, 512MiB to 4GiB",
			field: func(c *Config) any { return &c.Memory }},
		{Key: "drain_timeout", Usage: "how long a stopping server waits for running requests", Default: "30s",
			field: func(c *Config) any { return &c.DrainTimeout }},

		{Key: "thrift1.addr", Usage: "address of the HBase Thrift 1 door; off closes it, port 0 takes a free one", Default: "127.0.0.1:9090",
			field: func(c *Config) any { return &c.Thrift1.Addr }},
		{Key: "thrift1.max_connections", Usage: "Thrift connections held at one time", Default: "4096",
			field: func(c *Config) any { return &c.Thrift1.MaxConnections }},
		{Key: "thrift1.max_frame", Usage: "largest Thrift message that is accepted", Default: "64MiB, or a tenth of memory if that is less",
			field: func(c *Config) any { return &c.Thrift1.MaxFrame }},
		{Key: "thrift1.idle_timeout", Usage: "close a Thrift connection that is idle for so long; 0: never", Default: "0s",
			field: func(c *Config) any { return &c.Thrift1.IdleTimeout }},
		{Key: "thrift1.scanner_timeout", Usage: "free a scanner that is idle for so long", Default: "10m",
			field: func(c *Config) any { return &c.Thrift1.ScannerTimeout }},
		{Key: "thrift1.fetch_timeout", Usage: "how long one fetch of a scanner may search; then it says how far it came", Default: "1m",
			field: func(c *Config) any { return &c.Thrift1.FetchTimeout }},
		{Key: "thrift1.transport", Usage: "transport that Thrift clients must use: auto, buffered or framed", Default: "auto",
			field: func(c *Config) any { return &c.Thrift1.Transport }},
		{Key: "thrift1.protocol", Usage: "protocol that Thrift clients must use: auto, binary or compact", Default: "auto",
			field: func(c *Config) any { return &c.Thrift1.Protocol }},

		{Key: "http.addr", Usage: "address of the HTTP port: metrics, health, status; port 0 takes a free one", Default: "127.0.0.1:8600",
			field: func(c *Config) any { return &c.HTTP.Addr }},
		{Key: "http.max_connections", Usage: "HTTP connections held at one time", Default: "1024",
			field: func(c *Config) any { return &c.HTTP.MaxConnections }},
		{Key: "http.stall_timeout", Usage: "cut off a client that takes nothing of a backup or verify for so long", Default: "1m",
			field: func(c *Config) any { return &c.HTTP.StallTimeout }},
		{Key: "http.pprof", Usage: "serve Go profiles below /debug/pprof/", Default: "false",
			field: func(c *Config) any { return &c.HTTP.Pprof }},

		{Key: "wal.sync", Usage: "what SYNC_WAL waits for: fsync (the disk) or os (lost with the power)", Default: "fsync",
			field: func(c *Config) any { return &c.WAL.Sync }},

		{Key: "disk.reserve", Usage: "refuse writes while less than this is free on the disk; 0: as the default says", Default: "two memtables and what two compactions write, at least 512MiB",
			field: func(c *Config) any { return &c.Disk.Reserve }},

		{Key: "log.level", Usage: "lowest level that is logged: debug, info, warn or error", Default: "info",
			field: func(c *Config) any { return &c.Log.Level }},
		{Key: "log.format", Usage: "form of the log: text or json", Default: "text",
			field: func(c *Config) any { return &c.Log.Format }},

		{Key: "fault.fsync_delay", Usage: "added to every fsync of the log, to measure what it costs", Default: "0s", Hidden: true,
			field: func(c *Config) any { return &c.Fault.FsyncDelay }},
	}
}

// Flag is the command line flag of the setting: "thrift1-addr".
func (s *Setting) Flag() string { return strings.NewReplacer(".", "-", "_", "-").Replace(s.Key) }

// Env is the environment variable of the setting: "CELLAR_THRIFT1_ADDR".
func (s *Setting) Env() string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(s.Key, ".", "_"))
}

// EnvPrefix begins the names of all environment variables.
const EnvPrefix = "CELLAR_"

// IsSwitch says whether the setting is a yes or no.
func (s *Setting) IsSwitch() bool {
	_, ok := s.field(&Config{}).(*bool)
	return ok
}

// Get gives the setting's value as text that Set reads back.
func (s *Setting) Get(c *Config) string {
	switch v := s.field(c).(type) {
	case *string:
		return *v
	case *bool:
		return strconv.FormatBool(*v)
	case *int:
		return strconv.Itoa(*v)
	case *Bytes:
		return v.String()
	case *time.Duration:
		return v.String()
	default:
		panic(fmt.Sprintf("setting %s: no text form for %T", s.Key, v))
	}
}

// Plain gives the setting's value as a file format's own kind: a bool or an int
// where it is one, else text.
func (s *Setting) Plain(c *Config) any {
	switch v := s.field(c).(type) {
	case *bool:
		return *v
	case *int:
		return *v
	}
	return s.Get(c)
}

// Set reads the setting's value from text. The error is a SettingError.
func (s *Setting) Set(c *Config, text string) error {
	var err error
	var want string
	switch v := s.field(c).(type) {
	case *string:
		*v = text
	case *bool:
		want = "true or false"
		*v, err = strconv.ParseBool(text)
	case *int:
		want = "a whole number"
		*v, err = strconv.Atoi(text)
	case *Bytes:
		want = "a size, as 512MiB, 1GiB or a number of bytes"
		err = v.UnmarshalText([]byte(text))
	case *time.Duration:
		want = "a duration, as 500ms, 30s or 10m"
		*v, err = time.ParseDuration(text)
	default:
		panic(fmt.Sprintf("setting %s: no text form for %T", s.Key, v))
	}
	if err != nil {
		return &SettingError{Key: s.Key, Value: text, Want: want}
	}
	return nil
}

// SettingError says which setting has which bad value, and what would be
// right.
type SettingError struct{ Key, Value, Want string }

func (e *SettingError) Error() string {
	return fmt.Sprintf("%s: %q is not right: want %s", e.Key, e.Value, e.Want)
}
