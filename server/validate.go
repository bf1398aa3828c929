package server

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of the largest message: a length on the wire has 31 bits.
const (
	minFrame = 64 * KiB
	maxFrame = 1 * GiB
)

// Validate says everything that is wrong with a resolved configuration; each
// part of the error is a SettingError.
func (c *Config) Validate() error {
	v := validation{}
	v.check("data", c.Data, c.Data != "", "a folder")
	v.oneOf("engine", c.Engine, EnginePebble, EngineMemory)
	v.check("memory", c.Memory.String(), c.Memory >= MinMemory, "at least "+MinMemory.String())
	v.positive("drain_timeout", c.DrainTimeout)

	if !c.Thrift1.Off() {
		v.addr("thrift1.addr", c.Thrift1.Addr, `, or "off"`)
	}
	v.connections("thrift1.max_connections", c.Thrift1.MaxConnections)
	v.frame("thrift1.max_frame", c.Thrift1.MaxFrame, SplitMemory(c.Memory).Doors)
	v.check("thrift1.idle_timeout", c.Thrift1.IdleTimeout.String(), c.Thrift1.IdleTimeout >= 0, "a duration, or 0 for never")
	v.positive("thrift1.scanner_timeout", c.Thrift1.ScannerTimeout)
	v.positive("thrift1.fetch_timeout", c.Thrift1.FetchTimeout)
	v.oneOf("thrift1.transport", c.Thrift1.Transport, "auto", "buffered", "framed")
	v.oneOf("thrift1.protocol", c.Thrift1.Protocol, "auto", "binary", "compact")

	v.addr("http.addr", c.HTTP.Addr, "")
	v.connections("http.max_connections", c.HTTP.MaxConnections)
	v.positive("http.stall_timeout", c.HTTP.StallTimeout)
	v.oneOf("wal.sync", c.WAL.Sync, "fsync", "os")
	v.check("disk.reserve", c.Disk.Reserve.String(), c.Disk.Reserve >= 0, "a size, as 1GiB, or 0 for the default")
	v.oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	v.oneOf("log.format", c.Log.Format, "text", "json")
	v.check("fault.fsync_delay", c.Fault.FsyncDelay.String(),
		c.Fault.FsyncDelay >= 0 && c.Fault.FsyncDelay <= time.Minute, "0s to 1m")
	return errors.Join(v...)
}

// validation collects what is wrong.
type validation []error

func (v *validation) check(key, value string, ok bool, want string) {
	if !ok {
		*v = append(*v, &SettingError{Key: key, Value: value, Want: want})
	}
}

func (v *validation) oneOf(key, value string, choices ...string) {
	v.check(key, value, slices.Contains(choices, value), strings.Join(choices[:len(choices)-1], ", ")+" or "+choices[len(choices)-1])
}

func (v *validation) positive(key string, d time.Duration) {
	v.check(key, d.String(), d > 0, "a duration above 0, as 30s or 10m")
}

func (v *validation) connections(key string, n int) {
	v.check(key, strconv.Itoa(n), n > 0 && n <= 1<<20, "1 to 1048576")
}

// frame checks a message size against the budget that all messages share: one
// that is larger could never be read.
func (v *validation) frame(key string, size, share Bytes) {
	limit := max(min(maxFrame, share), minFrame)
	v.check(key, size.String(), size >= minFrame && size <= limit,
		fmt.Sprintf("64KiB to %s (the requests' share of the memory), or a larger memory", limit.Human()))
}

func (v *validation) addr(key, value, orElse string) {
	host, port, err := net.SplitHostPort(value)
	n, portErr := strconv.ParseUint(port, 10, 16)
	ok := err == nil && portErr == nil && n <= 65535 && !strings.ContainsAny(host, " /")
	v.check(key, value, ok, "host:port, as 127.0.0.1:9090, or :9090 for every interface"+orElse)
}
