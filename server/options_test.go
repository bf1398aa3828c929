package server

import (
	"net"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/cellardb/cellar/store/pebble"
)

// Every setting reaches the part that it is of.
func TestOptions_comeFromTheConfiguration(t *testing.T) {
	cfg := Config{
		Memory: 1 * GiB,
		Thrift1: Thrift1Config{
			Addr: "127.0.0.1:1234", MaxConnections: 7, MaxFrame: 5 * MiB, IdleTimeout: 3 * time.Second,
			ScannerTimeout: 4 * time.Second, FetchTimeout: 5 * time.Second, Transport: "framed", Protocol: "compact",
		},
		WAL:   WALConfig{Sync: "os"},
		Fault: FaultConfig{FsyncDelay: 6 * time.Millisecond},
	}
	s, err := New(cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.folder = &folder{path: "/data"}

	d := s.thrift1Door()
	if d.Name != "thrift1" || d.Addr != "127.0.0.1:1234" || d.MaxConnections != 7 || d.MaxRequest != 5<<20 ||
		d.IdleTimeout != 3*time.Second || d.InFlight != s.inFlight || d.Metrics != s.metrics || d.Logger == nil {
		t.Errorf("door %+v", d)
	}
	if s.inFlight.Size() != int64(1*GiB)/10 {
		t.Errorf("%d bytes in flight", s.inFlight.Size())
	}
	h := s.thrift1Handler(nil, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1234})
	if h.Name != "thrift1" || h.ScannerTimeout != 4*time.Second || h.FetchTimeout != 5*time.Second || h.Transport != "framed" || h.Protocol != "compact" ||
		h.MaxReply != 64<<20 || h.Host != "127.0.0.1" || h.Port != 1234 || h.Metrics != s.metrics || h.Logger == nil {
		t.Errorf("handler %+v", h)
	}
	p := s.pebbleOptions()
	if p.Dir != filepath.Join("/data", "store") || p.CacheBytes != int64(1*GiB)*35/100 || p.MemtableBytes != int64(1*GiB)/10 ||
		p.WALSync != pebble.WALSyncOS || p.FsyncDelay != 6*time.Millisecond || p.Registerer != s.reg || p.Logger == nil {
		t.Errorf("engine %+v", p)
	}
}

func TestOptions_autoIsNoDemand(t *testing.T) {
	s, err := New(Config{Memory: MinMemory}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := s.thrift1Handler(nil, &net.TCPAddr{})
	if h.Transport != "" || h.Protocol != "" {
		t.Errorf("transport %q, protocol %q", h.Transport, h.Protocol)
	}
	// A reply must fit into what all requests and replies share.
	if h.MaxReply != int(MinMemory/10) {
		t.Errorf("largest reply %d", h.MaxReply)
	}
}

// A server on every interface cannot be reached at 0.0.0.0.
func TestAdvertised(t *testing.T) {
	if host, port := advertised(&net.TCPAddr{IP: net.IPv4zero, Port: 9}); net.ParseIP(host) != nil || host == "" || port != 9 {
		t.Errorf("%s:%d", host, port)
	}
	if host, _ := advertised(&net.TCPAddr{IP: net.IPv6loopback, Port: 9}); host != "::1" {
		t.Errorf("host %s", host)
	}
	if host, _ := advertised(&net.UnixAddr{}); host != "localhost" {
		t.Errorf("host %s", host)
	}
}

// The collector's limit is the server's as long as it runs.
func TestServer_setsTheMemoryLimit(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	s := start(t, testConfig(t), nil)
	if limit := debug.SetMemoryLimit(-1); limit != int64(SplitMemory(MinMemory).Go) {
		t.Errorf("limit %d", limit)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if limit := debug.SetMemoryLimit(-1); limit != before {
		t.Errorf("limit %d after the stop, %d before", limit, before)
	}
}

// An engine's figures are among the server's.
func TestServer_hasTheEnginesMetrics(t *testing.T) {
	cfg := testConfig(t)
	cfg.Engine = EnginePebble
	s := start(t, cfg, nil)
	if _, body := get(t, s, "/metrics", nil); !strings.Contains(body, "cellar_store_wal_fsyncs_total ") {
		t.Errorf("no metrics of the store in\n%s", body)
	}
}

// A server whose store did not open answers questions until its HTTP port is
// shut.
func TestStatus_withoutAStore(t *testing.T) {
	s, err := New(Config{Memory: MinMemory}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.folder = &folder{path: "/data"}
	s.state.set(stateDraining)
	if st := s.status(t.Context()); st.State != "draining" || st.Tables != nil {
		t.Errorf("status %+v", st)
	}
}
