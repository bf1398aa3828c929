package door

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestReasonsOfTheEnd(t *testing.T) {
	n := 0
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, "client"}, {io.EOF, "client"}, {io.ErrUnexpectedEOF, "client"}, {net.ErrClosed, "client"},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, "client"}, {&net.OpError{Op: "write", Err: syscall.EPIPE}, "client"},
		{fmt.Errorf("x: %w", ErrBadBytes), "bad_bytes"}, {ErrTooLarge, "too_large"}, {ErrOverBudget, "too_large"},
		{ErrTimeout, "timeout"}, {ErrStalled, "timeout"}, {ErrShutdown, "shutdown"}, {ErrNoMemory, "error"}, {errors.New("x"), "error"},
	} {
		if got := reasonOf(c.err).String(); got != c.want {
			t.Errorf("%v: %s, want %s", c.err, got, c.want)
		}
		n++
	}
	if n != 14 {
		t.Errorf("%d errors were tried", n)
	}
}

func TestMetrics(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	m, err := NewMetrics(reg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewMetrics(reg); err == nil {
		t.Error("the metrics were registered twice")
	}
	d := open(t, Options{Metrics: m, MaxConnections: 1}, newLines())
	method := m.Method("lines", "say")
	method.Observe(OK, 2*time.Millisecond)
	method.Observe(OK, 20*time.Millisecond)
	method.Observe(Broken, time.Second)
	if m.Method("lines", "say") != method || method.Count(OK) != 2 {
		t.Error("a method's counters are not the same each time")
	}
	c := dial(t, d)
	c.send("bad\n")
	c.expect("what?")
	c.expectEnd()
	until(t, "closed", func() bool { return d.Figures().Open == 0 })
	c = dial(t, d)
	c.send("x\n")
	c.expect("x")
	dial(t, d).expectEnd()
	until(t, "refused", func() bool { f := d.Figures(); return f.Refused == 1 && f.Sent == 8 })

	want := `
# HELP cellar_door_accept_errors_total Failures to accept a connection.
# TYPE cellar_door_accept_errors_total counter
cellar_door_accept_errors_total{door="lines"} 0
# HELP cellar_door_connections_closed_total Connections that ended, by reason.
# TYPE cellar_door_connections_closed_total counter
cellar_door_connections_closed_total{door="lines",reason="bad_bytes"} 1
# HELP cellar_door_connections_open Connections that are open.
# TYPE cellar_door_connections_open gauge
cellar_door_connections_open{door="lines"} 1
# HELP cellar_door_connections_refused_total Connections that were closed at once: too many were open.
# TYPE cellar_door_connections_refused_total counter
cellar_door_connections_refused_total{door="lines"} 1
# HELP cellar_door_connections_total Connections that were accepted.
# TYPE cellar_door_connections_total counter
cellar_door_connections_total{door="lines"} 2
# HELP cellar_door_in_flight_bytes Bytes of the budget for requests and replies in use, over all doors that share it.
# TYPE cellar_door_in_flight_bytes gauge
cellar_door_in_flight_bytes{door="lines"} 0
# HELP cellar_door_received_bytes_total Bytes that clients sent.
# TYPE cellar_door_received_bytes_total counter
cellar_door_received_bytes_total{door="lines"} 6
# HELP cellar_door_requests_total Requests that were answered, by method and outcome.
# TYPE cellar_door_requests_total counter
cellar_door_requests_total{door="lines",method="say",outcome="broken"} 1
cellar_door_requests_total{door="lines",method="say",outcome="ok"} 2
# HELP cellar_door_sent_bytes_total Bytes that clients were sent.
# TYPE cellar_door_sent_bytes_total counter
cellar_door_sent_bytes_total{door="lines"} 8
`
	var names []string
	for _, line := range strings.Split(want, "\n") {
		if f := strings.Fields(line); len(f) > 2 && f[1] == "TYPE" {
			names = append(names, f[2])
		}
	}
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
	if n, err := testutil.GatherAndCount(reg, "cellar_door_request_seconds"); n != 1 || err != nil {
		t.Errorf("%d histograms, %v", n, err)
	}
	if len(names) != 9 {
		t.Errorf("%d metrics are compared", len(names))
	}
}
