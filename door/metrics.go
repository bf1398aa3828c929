package door

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Reason is why a connection ended.
type Reason uint8

// Reasons.
const (
	ReasonClient   Reason = iota // the client closed, or its side broke
	ReasonError                  // something failed here
	ReasonBadBytes               // what came is not of the protocol
	ReasonTimeout                // the client took too long
	ReasonTooLarge               // a request was too large
	ReasonShutdown               // the door shut down
	reasons
)

// String is the value of the metrics' label reason.
func (r Reason) String() string {
	switch r {
	case ReasonClient:
		return "client"
	case ReasonBadBytes:
		return "bad_bytes"
	case ReasonTimeout:
		return "timeout"
	case ReasonTooLarge:
		return "too_large"
	case ReasonShutdown:
		return "shutdown"
	}
	return "error"
}

// reasonOf finds the reason in what a session returned.
func reasonOf(err error) Reason {
	for _, r := range []struct {
		err    error
		reason Reason
	}{
		{ErrShutdown, ReasonShutdown}, {ErrTimeout, ReasonTimeout}, {ErrTooLarge, ReasonTooLarge}, {ErrBadBytes, ReasonBadBytes},
		{io.EOF, ReasonClient}, {io.ErrUnexpectedEOF, ReasonClient}, {net.ErrClosed, ReasonClient}, {io.ErrClosedPipe, ReasonClient},
		{syscall.ECONNRESET, ReasonClient}, {syscall.EPIPE, ReasonClient}, {syscall.ETIMEDOUT, ReasonClient},
	} {
		if errors.Is(err, r.err) {
			return r.reason
		}
	}
	if err == nil {
		return ReasonClient
	}
	return ReasonError
}

// Outcome is how a request ended, in the terms of no protocol.
type Outcome uint8

// Outcomes.
const (
	OK      Outcome = iota // done
	Refused                // the request cannot be: unknown table, bad argument
	Failed                 // the store could not do it
	Unknown                // no such method
	Broken                 // a fault of ours: the handler panicked
	outcomes
)

// String is the value of the metrics' label outcome.
func (o Outcome) String() string {
	switch o {
	case OK:
		return "ok"
	case Refused:
		return "refused"
	case Failed:
		return "failed"
	case Unknown:
		return "unknown"
	}
	return "broken"
}

// Metrics are the figures of all doors of a process:
//
//	cellar_door_connections_open{door}
//	cellar_door_connections_total{door}
//	cellar_door_connections_refused_total{door}
//	cellar_door_connections_closed_total{door,reason}
//	cellar_door_accept_errors_total{door}
//	cellar_door_received_bytes_total{door}
//	cellar_door_sent_bytes_total{door}
//	cellar_door_requests_total{door,method,outcome}
//	cellar_door_request_seconds{door,method}     histogram
//	cellar_door_in_flight_bytes{door}            of the budget, which doors share
//
// Labels are bounded: doors, methods, outcomes and reasons are fixed by the
// program, never by clients.
type Metrics struct {
	seconds *prometheus.HistogramVec
	mu      struct {
		sync.Mutex
		doors map[string]*figures
	}
}

var buckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

func newMetrics() *Metrics {
	m := &Metrics{seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "cellar_door_request_seconds", Help: "Time from a request being read to its reply being ready.", Buckets: buckets,
	}, []string{"door", "method"})}
	m.mu.doors = map[string]*figures{}
	return m
}

// NewMetrics makes the figures and registers them.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	m := newMetrics()
	if err := reg.Register(m); err != nil {
		return nil, fmt.Errorf("register metrics of doors: %w", err)
	}
	return m, nil
}

// of gives the figures of a door.
func (m *Metrics) of(door string) *figures {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.mu.doors[door]
	if f == nil {
		f = &figures{methods: map[string]*Method{}}
		m.mu.doors[door] = f
	}
	return f
}

// Method gives the counters of one method of a door; a Handler asks for those of
// all its methods when it is made. m may be nil: the counters are shown nowhere.
func (m *Metrics) Method(door, method string) *Method {
	if m == nil {
		m = newMetrics()
	}
	f := m.of(door)
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.methods[method]
	if x == nil {
		x = &Method{seconds: m.seconds.WithLabelValues(door, method)}
		f.methods[method] = x
	}
	return x
}

// Method counts the requests of one method.
type Method struct {
	outcomes [outcomes]atomic.Int64
	seconds  prometheus.Observer
}

// Observe counts a request and the time it took.
func (m *Method) Observe(o Outcome, took time.Duration) {
	m.outcomes[o].Add(1)
	m.seconds.Observe(took.Seconds())
}

// Count is the number of requests that ended so.
func (m *Method) Count(o Outcome) int64 { return m.outcomes[o].Load() }

// figures are the counters of one door.
type figures struct {
	open, accepted, refused, acceptErrors, bytesIn, bytesOut atomic.Int64
	closed                                                   [reasons]atomic.Int64
	budget                                                   atomic.Pointer[Budget]

	mu      sync.Mutex
	methods map[string]*Method
}

func (f *figures) watch(b *Budget) *figures {
	f.budget.Store(b)
	return f
}

// Figures is what Metrics show of one door.
type Figures struct {
	Open, Accepted, Refused, AcceptErrors int64
	Received, Sent                        int64            // bytes
	Closed                                map[string]int64 // by reason; those that occurred
	Requests                              map[string]map[string]int64
	InFlight                              int64 // bytes of the budget, over all doors that share it
}

func (f *figures) read() Figures {
	r := Figures{
		Open: f.open.Load(), Accepted: f.accepted.Load(), Refused: f.refused.Load(), AcceptErrors: f.acceptErrors.Load(),
		Received: f.bytesIn.Load(), Sent: f.bytesOut.Load(),
		Closed: map[string]int64{}, Requests: map[string]map[string]int64{},
	}
	for i := range f.closed {
		if n := f.closed[i].Load(); n != 0 {
			r.Closed[Reason(i).String()] = n
		}
	}
	if b := f.budget.Load(); b != nil {
		r.InFlight = b.Used()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, m := range f.methods {
		by := map[string]int64{}
		for o := range m.outcomes {
			if n := m.outcomes[o].Load(); n != 0 {
				by[Outcome(o).String()] = n
			}
		}
		if len(by) > 0 {
			r.Requests[name] = by
		}
	}
	return r
}

// desc describes one of the metrics that are read from figures.
func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("cellar_door_"+name, help, append([]string{"door"}, labels...), nil)
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	m.seconds.Describe(ch)
	for _, p := range plainMetrics {
		ch <- desc(p.name, p.help)
	}
	ch <- closedDesc()
	ch <- requestsDesc()
}

func closedDesc() *prometheus.Desc {
	return desc("connections_closed_total", "Connections that ended, by reason.", "reason")
}

func requestsDesc() *prometheus.Desc {
	return desc("requests_total", "Requests that were answered, by method and outcome.", "method", "outcome")
}

// plainMetrics are those with no label but the door.
var plainMetrics = []struct {
	name, help string
	kind       prometheus.ValueType
	value      func(*Figures) int64
}{
	{"connections_open", "Connections that are open.", prometheus.GaugeValue, func(f *Figures) int64 { return f.Open }},
	{"connections_total", "Connections that were accepted.", prometheus.CounterValue, func(f *Figures) int64 { return f.Accepted }},
	{"connections_refused_total", "Connections that were closed at once: too many were open.", prometheus.CounterValue, func(f *Figures) int64 { return f.Refused }},
	{"accept_errors_total", "Failures to accept a connection.", prometheus.CounterValue, func(f *Figures) int64 { return f.AcceptErrors }},
	{"received_bytes_total", "Bytes that clients sent.", prometheus.CounterValue, func(f *Figures) int64 { return f.Received }},
	{"sent_bytes_total", "Bytes that clients were sent.", prometheus.CounterValue, func(f *Figures) int64 { return f.Sent }},
	{"in_flight_bytes", "Bytes of the budget for requests and replies in use, over all doors that share it.", prometheus.GaugeValue, func(f *Figures) int64 { return f.InFlight }},
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	m.seconds.Collect(ch)
	m.mu.Lock()
	doors := maps.Clone(m.mu.doors)
	m.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(doors)) {
		f := doors[name].read()
		for _, p := range plainMetrics {
			ch <- prometheus.MustNewConstMetric(desc(p.name, p.help), p.kind, float64(p.value(&f)), name)
		}
		for reason, n := range f.Closed {
			ch <- prometheus.MustNewConstMetric(closedDesc(), prometheus.CounterValue, float64(n), name, reason)
		}
		for method, by := range f.Requests {
			for outcome, n := range by {
				ch <- prometheus.MustNewConstMetric(requestsDesc(), prometheus.CounterValue, float64(n), name, method, outcome)
			}
		}
	}
}
