package cli

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cellardb/cellar/bench/thriftclient"
	"github.com/cellardb/cellar/server"
)

// A write that is on its way when the server is told to stop is finished,
// acknowledged, and there after the next start; an idle connection ends at
// once; a new one is refused.
func TestDrain_finishesAWrite(t *testing.T) {
	t.Cleanup(func() { goleak.VerifyNone(t) }) // after the clients are closed
	cfg := server.Config{
		Data: filepath.Join(t.TempDir(), "data"), Memory: server.MinMemory,
		Thrift1: server.Thrift1Config{Addr: "127.0.0.1:0"}, HTTP: server.HTTPConfig{Addr: "127.0.0.1:0"},
	}
	s := startServer(t, cfg)
	if err := dialThrift(t, s).CreateTable("t", thriftclient.Family{Name: "f", MaxVersions: 1}); err != nil {
		t.Fatal(err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}

	cfg.Fault.FsyncDelay = 300 * time.Millisecond // a slow disk holds the write up
	s = startServer(t, cfg)
	idle, writer := dialThrift(t, s), dialThrift(t, s)
	if _, err := idle.TableNames(); err != nil {
		t.Fatal(err)
	}
	before := receivedBytes(t, s)
	b := thriftclient.NewBatch(thriftclient.Options{})
	b.Begin("t", true, 1)
	b.Row([]byte("row"))
	b.Put([]byte("f:q"), []byte("value"))
	if err := writer.SendMutate(b); err != nil {
		t.Fatal(err)
	}
	for receivedBytes(t, s) == before {
		time.Sleep(time.Millisecond)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown(context.Background()) }()
	if err := writer.ReceiveMutate(); err != nil {
		t.Errorf("the write that ran: %v", err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if _, err := idle.TableNames(); err == nil {
		t.Error("an idle connection outlives the server")
	}
	if _, err := thriftclient.Dial(t.Context(), s.Addresses()[server.DoorThrift1], thriftclient.Options{}); err == nil {
		t.Error("a stopped server accepts")
	}

	cfg.Fault.FsyncDelay = 0
	s = startServer(t, cfg)
	found, err := dialThrift(t, s).GetRow("t", []byte("row"), func(r *thriftclient.Row) error {
		if len(r.Columns) != 1 || string(r.Columns[0].Value) != "value" {
			t.Errorf("the row holds %v", r.Columns)
		}
		return nil
	})
	if err != nil || !found {
		t.Errorf("the row after the next start: %v, %v", found, err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// C11: with a strict transport or protocol, clients that use another are closed.
func TestC11_strictTransportAndProtocol(t *testing.T) {
	defer goleak.VerifyNone(t)
	cases := []struct {
		transport, protocol string
		framed, compact, ok bool
	}{
		{"auto", "auto", false, false, true},
		{"auto", "auto", true, false, true},
		{"auto", "auto", false, true, true},
		{"auto", "auto", true, true, true},
		{"framed", "auto", true, false, true},
		{"framed", "auto", false, false, false},
		{"buffered", "auto", false, true, true},
		{"buffered", "auto", true, false, false},
		{"auto", "compact", true, true, true},
		{"auto", "compact", true, false, false},
		{"auto", "binary", false, false, true},
		{"auto", "binary", false, true, false},
	}
	for _, tc := range cases {
		cfg := server.Config{
			Data: filepath.Join(t.TempDir(), "data"), Engine: server.EngineMemory, Memory: server.MinMemory,
			Thrift1: server.Thrift1Config{Addr: "127.0.0.1:0", Transport: tc.transport, Protocol: tc.protocol},
			HTTP:    server.HTTPConfig{Addr: "127.0.0.1:0"},
		}
		s := startServer(t, cfg)
		c, err := thriftclient.Dial(t.Context(), s.Addresses()[server.DoorThrift1], thriftclient.Options{Framed: tc.framed, Compact: tc.compact})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.TableNames(); (err == nil) != tc.ok {
			t.Errorf("%+v: %v", tc, err)
		}
		c.Close()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func startServer(t *testing.T, cfg server.Config) *server.Server {
	t.Helper()
	s, err := server.New(cfg, server.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func dialThrift(t *testing.T, s *server.Server) *thriftclient.Client {
	t.Helper()
	c, err := thriftclient.Dial(t.Context(), s.Addresses()[server.DoorThrift1], thriftclient.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// docs/operations.md explains every metric of ours.
func TestDocs_listEveryMetric(t *testing.T) {
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	s := startServer(t, server.Config{
		Data: filepath.Join(t.TempDir(), "data"), Memory: server.MinMemory,
		Thrift1: server.Thrift1Config{Addr: "127.0.0.1:0"}, HTTP: server.HTTPConfig{Addr: "127.0.0.1:0"},
	})
	c := dialThrift(t, s)
	if _, err := c.TableNames(); err != nil {
		t.Fatal(err)
	}
	c.Close()
	metrics(t, s) // a request to count
	checked := 0
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (cellar_\S+) `).FindAllSubmatch(metrics(t, s), -1) {
		checked++
		if !strings.Contains(string(page), string(m[1])) {
			t.Errorf("docs/operations.md does not have %s", m[1])
		}
	}
	if checked < 25 {
		t.Errorf("%d metrics checked", checked)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

var received = regexp.MustCompile(`cellar_door_received_bytes_total\{door="thrift1"\} (\S+)`)

// receivedBytes is what the Thrift door has read, as /metrics writes it.
func receivedBytes(t *testing.T, s *server.Server) string {
	t.Helper()
	m := received.FindSubmatch(metrics(t, s))
	if m == nil {
		t.Fatal("there is no such metric")
	}
	return string(m[1])
}

func metrics(t *testing.T, s *server.Server) []byte {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + s.Addresses()[server.DoorHTTP] + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
