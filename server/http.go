package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cellardb/cellar/door/ops"
	"github.com/cellardb/cellar/store"
)

// Limits of the HTTP port. A request is read within httpReadTimeout; a reply
// may take longer, since profiles and large answers do.
const (
	httpHeaderTimeout = 10 * time.Second
	httpReadTimeout   = time.Minute
	httpWriteTimeout  = 5 * time.Minute
	httpIdleTimeout   = 2 * time.Minute
	httpMaxHeader     = 64 << 10
)

// httpDoor is the one HTTP listener. Doors that speak HTTP mount their paths on
// its mux.
type httpDoor struct {
	s        *Server
	server   *http.Server
	listener net.Listener
	done     chan struct{} // closed when nothing is accepted any more; nil: never was
	err      error         // why; valid once done is closed
}

func (d *httpDoor) name() string                { return DoorHTTP }
func (d *httpDoor) setting() (key, addr string) { return "http.addr", d.s.cfg.HTTP.Addr }
func (d *httpDoor) addr() net.Addr              { return d.listener.Addr() }
func (d *httpDoor) ended() <-chan struct{}      { return d.done }
func (d *httpDoor) reason() error               { return d.err }

func (d *httpDoor) bind(ctx context.Context) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", d.s.cfg.HTTP.Addr)
	if err != nil {
		return err
	}
	d.listener = limitListener(l, d.s.cfg.HTTP.MaxConnections)
	return nil
}

// open begins to answer. The store may be nil: the paths ask the server for it.
func (d *httpDoor) open(store.Store) error {
	log := d.s.log.With(doorKey, DoorHTTP)
	mux := http.NewServeMux()
	ops.Mount(mux, ops.Options{
		Gatherer: d.s.reg, Ready: d.s.ready, Status: d.s.status, Admin: d.s.admin, Top: d.s.top, Upkeep: d.s.upkeep(), Pprof: d.s.cfg.HTTP.Pprof, Logger: log,
	})
	d.server = &http.Server{
		Handler:           newHTTPMetrics(d.s.reg).count(mux),
		ReadHeaderTimeout: httpHeaderTimeout,
		ReadTimeout:       httpReadTimeout,
		WriteTimeout:      httpWriteTimeout,
		IdleTimeout:       httpIdleTimeout,
		MaxHeaderBytes:    httpMaxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	d.done = make(chan struct{})
	go func() {
		defer close(d.done)
		if err := d.server.Serve(d.listener); !errors.Is(err, http.ErrServerClosed) {
			d.err = err
		}
	}()
	log.Info("door is open", addrKey, d.addr().String())
	return nil
}

// shutdown waits for requests that run, and closes what is left when the
// context ends. Only handlers that ignore their request's context outlive it.
func (d *httpDoor) shutdown(ctx context.Context) error {
	if d.server == nil {
		return d.listener.Close()
	}
	err := d.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, d.server.Close())
	}
	<-d.done
	return err
}

type httpMetrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	inFlight prometheus.Gauge
}

func newHTTPMetrics(reg prometheus.Registerer) *httpMetrics {
	m := &httpMetrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cellar_http_requests_total", Help: "HTTP requests answered, by path and status code.",
		}, []string{"path", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "cellar_http_request_seconds", Help: "Time to answer an HTTP request, by path.",
			Buckets: []float64{0.001, 0.01, 0.1, 1, 10},
		}, []string{"path"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "cellar_http_requests_in_flight", Help: "HTTP requests being answered.",
		}),
	}
	reg.MustRegister(m.requests, m.seconds, m.inFlight)
	return m
}

// count measures a handler. The path is the mux's pattern, so its values are
// bounded whatever clients ask for.
func (m *httpMetrics) count(next *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.inFlight.Inc()
		defer m.inFlight.Dec()
		begin := time.Now()
		s := &statusRecorder{ResponseWriter: w, code: http.StatusOK}
		next.ServeHTTP(s, r)
		path := r.Pattern
		if path == "" {
			path = "none"
		}
		m.requests.WithLabelValues(path, strconv.Itoa(s.code)).Inc()
		m.seconds.WithLabelValues(path).Observe(time.Since(begin).Seconds())
	})
}

// statusRecorder remembers the status code of a reply.
type statusRecorder struct {
	http.ResponseWriter
	code int
}

func (s *statusRecorder) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

// Unwrap lets http.ResponseController reach the real writer.
func (s *statusRecorder) Unwrap() http.ResponseWriter { return s.ResponseWriter }
