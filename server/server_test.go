package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/door/ops"
	"github.com/cellardb/cellar/store"
)

// testConfig is a server on free ports that keeps nothing.
func testConfig(t *testing.T) Config {
	return Config{
		Data: filepath.Join(t.TempDir(), "data"), Engine: EngineMemory, Memory: MinMemory,
		Thrift1: Thrift1Config{Addr: "127.0.0.1:0"}, HTTP: HTTPConfig{Addr: "127.0.0.1:0"},
	}
}

// start runs a server and shuts it down at the end of the test, if the test has
// not.
func start(t *testing.T, cfg Config, log io.Writer) *Server {
	t.Helper()
	o := Options{Build: Build{Version: "v9.9.9"}}
	if log != nil {
		o.Logger = slog.New(slog.NewTextHandler(log, nil))
	}
	s, err := New(cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.state.get() == stateDraining {
			return
		}
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// get asks the HTTP port, and decodes the answer if into is not nil.
func get(t *testing.T, s *Server, path string, into any) (code int, body string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + s.Addresses()[DoorHTTP] + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatalf("%s answers %s: %v", path, text, err)
		}
	}
	return resp.StatusCode, string(text)
}

func TestServer_tellsWhatItIs(t *testing.T) {
	s := start(t, testConfig(t), nil)
	if code, body := get(t, s, "/readyz", nil); code != http.StatusOK {
		t.Errorf("readyz: %d %s", code, body)
	}
	schema := cell.TableSchema{Name: "t", Families: []cell.FamilySchema{cell.NewFamily("f")}}
	if err := s.store.CreateTable(t.Context(), schema, nil); err != nil {
		t.Fatal(err)
	}
	var st ops.Status
	get(t, s, "/v1/status", &st)
	if st.State != "ready" || st.Version != "v9.9.9" || st.PID != os.Getpid() || st.Engine != "memory" ||
		st.Data != s.cfg.Data || st.MemoryBytes != int64(MinMemory) {
		t.Errorf("status %+v", st)
	}
	if st.Tables == nil || *st.Tables != 1 {
		t.Errorf("status has not the one table: %+v", st)
	}
	r, err := FindRunning(s.cfg.Data)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Addresses) != 2 || r.Addresses["http"] != st.Addresses["http"] || r.Addresses["thrift1"] != st.Addresses["thrift1"] {
		t.Errorf("cellar.run has the addresses %v, status %v", r.Addresses, st.Addresses)
	}
	if r.PID != os.Getpid() || r.Version != "v9.9.9" || !r.Started.Equal(st.Started) {
		t.Errorf("cellar.run %+v", r)
	}
	for _, metric := range []string{
		`cellar_build_info{commit="",go="",version="v9.9.9"} 1`,
		`cellar_memory_budget_bytes{part="block_cache"} 1.87904819e+08`,
		`cellar_door_connections_open{door="thrift1"} 0`,
		`cellar_http_requests_total{code="200",path="GET /v1/status"} 1`,
		"go_goroutines ", "process_open_fds ",
	} {
		if _, body := get(t, s, "/metrics", nil); !strings.Contains(body, metric) {
			t.Errorf("no metric %s", metric)
		}
	}
}

// Labels must not grow with what clients ask for.
func TestServer_boundsTheLabelsOfHTTPMetrics(t *testing.T) {
	s := start(t, testConfig(t), nil)
	for i := range 20 {
		if code, _ := get(t, s, fmt.Sprintf("/nothing/%d", i), nil); code != http.StatusNotFound {
			t.Errorf("code %d", code)
		}
	}
	if _, body := get(t, s, "/metrics", nil); !strings.Contains(body, `cellar_http_requests_total{code="404",path="none"} 20`) {
		t.Errorf("unknown paths are not counted as one")
	}
}

func TestServer_namesAllBusyPorts(t *testing.T) {
	cfg := testConfig(t)
	busy := make([]net.Listener, 2)
	for i := range busy {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		busy[i] = l
	}
	cfg.Thrift1.Addr, cfg.HTTP.Addr = busy[0].Addr().String(), busy[1].Addr().String()
	s, err := New(cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Start(t.Context())
	var ports *PortsError
	if !errors.As(err, &ports) || len(ports.Ports) != 2 {
		t.Fatalf("error %v, want two ports", err)
	}
	for _, part := range []string{cfg.Thrift1.Addr, "--thrift1-addr", cfg.HTTP.Addr, "--http-addr", "address already in use"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not name %s", err, part)
		}
	}
	if _, err := os.Stat(cfg.Data); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the data folder was touched: %v", err)
	}
}

// One busy port: the other one must be given back.
func TestServer_takesAllPortsOrNone(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	for _, door := range []string{DoorThrift1, DoorHTTP} {
		cfg := testConfig(t)
		if door == DoorThrift1 {
			cfg.Thrift1.Addr = busy.Addr().String()
		} else {
			cfg.HTTP.Addr = busy.Addr().String()
		}
		s, err := New(cfg, Options{})
		if err != nil {
			t.Fatal(err)
		}
		doors := s.entrances()
		var ports *PortsError
		if err := bindAll(t.Context(), doors); !errors.As(err, &ports) || len(ports.Ports) != 1 || ports.Ports[0].Door != door {
			t.Errorf("error %v, want one of %s", err, door)
		}
		// A port that was given back may be anybody's by now: what listened on
		// it is asked, not the port.
		for _, d := range doors {
			switch d := d.(type) {
			case *httpDoor:
				if door == DoorHTTP {
					continue
				}
				if _, err := d.listener.Accept(); !errors.Is(err, net.ErrClosed) {
					t.Errorf("the HTTP port was not given back: %v", err)
				}
			case *protocolDoor:
				if door == d.name() {
					continue
				}
				if err := d.door.Serve(); err != nil {
					t.Errorf("the door's port was not given back: %v", err)
				}
			}
		}
	}
}

func TestServer_refusesASecondOnItsFolder(t *testing.T) {
	s := start(t, testConfig(t), nil)
	// It wants the same ports too; that they are busy is not the news.
	cfg := s.cfg
	cfg.Thrift1.Addr, cfg.HTTP.Addr = s.Addresses()[DoorThrift1], s.Addresses()[DoorHTTP]
	second, err := New(cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = second.Start(t.Context())
	var running *RunningError
	if !errors.As(err, &running) || running.Server == nil || running.Server.PID != os.Getpid() {
		t.Errorf("error %v", err)
	}
	// The first is not disturbed.
	if code, _ := get(t, s, "/readyz", nil); code != http.StatusOK {
		t.Errorf("readyz of the first: %d", code)
	}
}

func TestServer_leavesNothingWhenTheStoreDoesNotOpen(t *testing.T) {
	cfg := testConfig(t)
	cfg.Engine = EnginePebble
	if err := os.MkdirAll(cfg.Data, 0o750); err != nil {
		t.Fatal(err)
	}
	// A file where the engine wants its folder.
	if err := os.WriteFile(filepath.Join(cfg.Data, storeDir), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := New(cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err == nil || !strings.Contains(err.Error(), cfg.Data) {
		t.Fatalf("error %v, want one that names %s", err, cfg.Data)
	}
	if _, err := FindRunning(cfg.Data); !errors.Is(err, ErrNotRunning) {
		t.Errorf("the folder was not given up: %v", err)
	}
	for name, addr := range s.Addresses() {
		if l, err := net.Listen("tcp", addr); err != nil {
			t.Errorf("port of %s was not given back: %v", name, err)
		} else {
			l.Close()
		}
	}
}

// fakeDoor is an entrance under the test's control.
type fakeDoor struct {
	label string
	done  chan struct{}
	err   error
	shut  func(ctx context.Context) error
	once  sync.Once
}

func newFakeDoor(label string, shut func(context.Context) error) *fakeDoor {
	return &fakeDoor{label: label, done: make(chan struct{}), shut: shut}
}

func (f *fakeDoor) name() string                { return f.label }
func (f *fakeDoor) setting() (key, addr string) { return f.label + ".addr", "" }
func (f *fakeDoor) bind(context.Context) error  { return nil }
func (f *fakeDoor) addr() net.Addr              { return &net.TCPAddr{} }
func (f *fakeDoor) open(store.Store) error      { return nil }
func (f *fakeDoor) ended() <-chan struct{}      { return f.done }
func (f *fakeDoor) reason() error               { return f.err }
func (f *fakeDoor) end(err error)               { f.once.Do(func() { f.err = err; close(f.done) }) }
func (f *fakeDoor) shutdown(ctx context.Context) error {
	defer f.end(nil)
	return f.shut(ctx)
}

// fakeStore watches its end.
type fakeStore struct {
	store.Store
	close func() error
}

func (f *fakeStore) Close() error { return errors.Join(f.close(), f.Store.Close()) }

// add opens one more door at a server.
func add(t *testing.T, s *Server, d entrance) {
	t.Helper()
	s.doors = append(s.doors, d)
	if err := s.openDoor(d); err != nil {
		t.Fatal(err)
	}
}

func TestShutdown_goesInOrder(t *testing.T) {
	var log bytes.Buffer
	s := start(t, testConfig(t), &log)
	var both sync.WaitGroup // the doors are drained at the same time
	both.Add(2)
	meet := func(context.Context) error { both.Done(); both.Wait(); return nil }
	add(t, s, newFakeDoor("one", meet))
	add(t, s, newFakeDoor("two", meet))
	var code int
	var body string
	add(t, s, newFakeDoor("observer", func(context.Context) error {
		// The HTTP port outlives all other doors, and tells load balancers to
		// stay away.
		code, body = get(t, s, "/readyz", nil)
		return nil
	}))
	s.store = &fakeStore{s.store, func() error {
		for _, d := range s.doors {
			select {
			case <-d.ended():
			default:
				t.Errorf("the store is closed before door %s", d.name())
			}
		}
		return nil
	}}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if code != http.StatusServiceUnavailable || !strings.Contains(body, "stopping") {
		t.Errorf("readyz while draining: %d %s", code, body)
	}
	for _, door := range []string{"one", "two", "thrift1"} {
		if !strings.Contains(log.String(), "door="+door+" took=") {
			t.Errorf("log has no time for door %s:\n%s", door, log.String())
		}
	}
	steps := []string{"server is stopping", "door=thrift1 took=", "door=http took=", "store is closed", "server is stopped"}
	at := 0
	for _, step := range steps {
		i := strings.Index(log.String()[at:], step)
		if i < 0 {
			t.Fatalf("log has no %q after its place:\n%s", step, log.String())
		}
		at += i
	}
	if _, err := FindRunning(s.cfg.Data); !errors.Is(err, ErrNotRunning) {
		t.Errorf("the folder was not given up: %v", err)
	}
}

// A request that runs is finished, and its client gets the answer.
func TestShutdown_finishesARequest(t *testing.T) {
	s := start(t, testConfig(t), nil)
	inside, leave := make(chan struct{}), make(chan struct{})
	s.store = &slowStore{s.store, inside, leave}
	answer := make(chan int, 1)
	go func() {
		code, _ := get(t, s, "/v1/status", nil)
		answer <- code
	}()
	<-inside
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown(context.Background()) }()
	for s.state.get() != stateDraining {
		time.Sleep(time.Millisecond)
	}
	select {
	case <-stopped:
		t.Fatal("the server stopped while a request ran")
	default:
	}
	close(leave)
	if code := <-answer; code != http.StatusOK {
		t.Errorf("the request that ran got %d", code)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// slowStore holds a listing of tables up.
type slowStore struct {
	store.Store
	inside, leave chan struct{}
}

func (s *slowStore) Tables(ctx context.Context) ([]store.TableInfo, error) {
	close(s.inside)
	<-s.leave
	return s.Store.Tables(ctx)
}

func TestShutdown_drainHasAnEnd(t *testing.T) {
	cfg := testConfig(t)
	cfg.DrainTimeout = 10 * time.Millisecond
	var log bytes.Buffer
	s := start(t, cfg, &log)
	add(t, s, newFakeDoor("stuck", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }))
	closed := false
	s.store = &fakeStore{s.store, func() error { closed = true; return nil }}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Errorf("running out of time is no failure: %v", err)
	}
	if !closed {
		t.Error("the store was not closed")
	}
	if !strings.Contains(log.String(), "closed with requests running") {
		t.Errorf("the log does not say so:\n%s", log.String())
	}
}

func TestShutdown_aborts(t *testing.T) {
	t.Run("while it drains", func(t *testing.T) {
		s := start(t, testConfig(t), nil)
		ctx, abort := context.WithCancel(t.Context())
		add(t, s, newFakeDoor("stuck", func(ctx context.Context) error { abort(); <-ctx.Done(); return ctx.Err() }))
		closed := false
		s.store = &fakeStore{s.store, func() error { closed = true; return nil }}
		if err := s.Shutdown(ctx); !errors.Is(err, ErrAborted) {
			t.Errorf("error %v", err)
		}
		if closed {
			t.Error("the store was closed, which may take long")
		}
	})
	t.Run("while the store closes", func(t *testing.T) {
		s := start(t, testConfig(t), nil)
		ctx, abort := context.WithCancel(t.Context())
		release := make(chan struct{})
		defer close(release)
		s.store = &fakeStore{s.store, func() error { abort(); <-release; return nil }}
		if err := s.Shutdown(ctx); !errors.Is(err, ErrAborted) {
			t.Errorf("error %v", err)
		}
	})
}

func TestShutdown_saysWhatFailed(t *testing.T) {
	s := start(t, testConfig(t), nil)
	add(t, s, newFakeDoor("bad", func(context.Context) error { return errors.New("no luck") }))
	s.store = &fakeStore{s.store, func() error { return errors.New("disk gone") }}
	err := s.Shutdown(t.Context())
	if err == nil || !strings.Contains(err.Error(), "door bad: no luck") || !strings.Contains(err.Error(), "disk gone") {
		t.Errorf("error %v", err)
	}
}

func TestServer_failsWithADoor(t *testing.T) {
	s := start(t, testConfig(t), nil)
	d := newFakeDoor("frail", func(context.Context) error { return nil })
	add(t, s, d)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Wait(over); err != nil {
		t.Errorf("before the door fails: %v", err)
	}
	d.end(errors.New("out of luck"))
	if err := s.Wait(t.Context()); err == nil || err.Error() != "door frail: out of luck" {
		t.Errorf("error %v", err)
	}
	if code, body := get(t, s, "/readyz", nil); code != http.StatusServiceUnavailable || !strings.Contains(body, "out of luck") {
		t.Errorf("readyz: %d %s", code, body)
	}
}

// A load balancer must see the server before the store is open, and a reason.
func TestLifecycle_readyOnlyWhenReady(t *testing.T) {
	l := newLifecycle()
	if err := l.ready(); err == nil || !strings.Contains(err.Error(), "being opened") {
		t.Errorf("while starting: %v", err)
	}
	l.set(stateReady)
	if err := l.ready(); err != nil {
		t.Errorf("when ready: %v", err)
	}
	l.set(stateDraining)
	l.fail(errors.New("late"))
	if err := l.ready(); err == nil || l.failure() != nil {
		t.Errorf("a door that ends while draining is no failure: %v, %v", err, l.failure())
	}
}

func TestServer_thriftDoorCanBeOff(t *testing.T) {
	cfg := testConfig(t)
	cfg.Thrift1.Addr = Off
	s := start(t, cfg, nil)
	if a := s.Addresses(); len(a) != 1 || a[DoorHTTP] == "" {
		t.Errorf("addresses %v", a)
	}
}
