package top

import (
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/cellardb/cellar/door/ops"
)

// Sample is what a server said of itself at one time.
type Sample struct {
	At     time.Time
	Addr   string // the HTTP address that was asked
	Status ops.Status
	// Top has no tables where the server, or its engine, does not count them.
	Top ops.Top
	// Metrics by name. What a server does not have is not shown.
	Metrics map[string]*dto.MetricFamily
}

// sameServer says whether counters of the two can be compared: a server that
// was started anew begins at 0.
func (s *Sample) sameServer(o *Sample) bool {
	return o != nil && s.Status.PID == o.Status.PID && s.Status.Started.Equal(o.Status.Started)
}

// value gives a metric without labels; false: it is not there.
func (s *Sample) value(name string) (float64, bool) {
	f := s.Metrics[name]
	if f == nil || len(f.Metric) == 0 {
		return 0, false
	}
	return number(f.Metric[0]), true
}

// total adds up a metric over all its labels.
func (s *Sample) total(name string) float64 {
	var sum float64
	if f := s.Metrics[name]; f != nil {
		for _, m := range f.Metric {
			sum += number(m)
		}
	}
	return sum
}

// number is the value of a counter or gauge, or of what has no type.
func number(m *dto.Metric) float64 {
	switch {
	case m.Counter != nil:
		return m.Counter.GetValue()
	case m.Gauge != nil:
		return m.Gauge.GetValue()
	}
	return m.Untyped.GetValue()
}

func label(m *dto.Metric, name string) string {
	for _, l := range m.Label {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// method names what clients call: a door and its method.
type method struct{ door, name string }

// calls are the requests to one method, counted since the server's start.
type calls struct {
	requests, failures float64
	// buckets counts requests by their time, as histograms do: bound to the
	// number that took at most so long.
	buckets []bucket
}

type bucket struct {
	seconds float64 // upper bound; the last one is infinite
	count   float64 // of all up to it
}

// ours are the paths that this view asks for itself.
var ours = map[string]bool{"GET /metrics": true, "GET /v1/status": true, "GET /v1/top": true}

// methods gives the calls by method, of all doors and of the HTTP port.
func (s *Sample) methods() map[method]*calls {
	all := map[method]*calls{}
	of := func(door, name string) *calls {
		k := method{door, name}
		if all[k] == nil {
			all[k] = &calls{}
		}
		return all[k]
	}
	s.each("cellar_door_requests_total", func(m *dto.Metric) {
		of(label(m, "door"), label(m, "method")).count(number(m), label(m, "outcome") == "ok")
	})
	s.each("cellar_door_request_seconds", func(m *dto.Metric) {
		of(label(m, "door"), label(m, "method")).time(m.Histogram)
	})
	s.each("cellar_http_requests_total", func(m *dto.Metric) {
		if path := label(m, "path"); !ours[path] {
			of("http", path).count(number(m), label(m, "code") < "400")
		}
	})
	s.each("cellar_http_request_seconds", func(m *dto.Metric) {
		if path := label(m, "path"); !ours[path] {
			of("http", path).time(m.Histogram)
		}
	})
	return all
}

func (s *Sample) each(name string, do func(*dto.Metric)) {
	if f := s.Metrics[name]; f != nil {
		for _, m := range f.Metric {
			do(m)
		}
	}
}

func (c *calls) count(n float64, ok bool) {
	c.requests += n
	if !ok {
		c.failures += n
	}
}

func (c *calls) time(h *dto.Histogram) {
	for _, b := range h.GetBucket() {
		c.buckets = append(c.buckets, bucket{b.GetUpperBound(), float64(b.GetCumulativeCount())})
	}
}
