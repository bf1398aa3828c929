package ops

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ask(o Options, method, path string) *httptest.ResponseRecorder {
	mux := http.NewServeMux()
	Mount(mux, o)
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}

func TestPaths(t *testing.T) {
	reg := prometheus.NewRegistry()
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: "cellar_test", Help: "A test."})
	gauge.Set(42)
	reg.MustRegister(gauge)
	tables := 3
	full := Options{
		Gatherer: reg, Pprof: true,
		Status: func(context.Context) Status { return Status{State: "ready", Tables: &tables} },
	}
	full.Top = func(n int) Top { return Top{TablesCounted: n} }
	notReady := full
	notReady.Ready = func() error { return errors.New("the cellar is cold") }
	ready := full
	ready.Ready = func() error { return nil }
	noProfiles := full
	noProfiles.Pprof = false
	cases := []struct {
		name         string
		options      Options
		method, path string
		code         int
		holds        string
	}{
		{"metrics", full, "GET", "/metrics", 200, "cellar_test 42"},
		{"no metrics", Options{}, "GET", "/metrics", 404, ""},
		{"alive", full, "GET", "/healthz", 200, `"ok"`},
		{"alive though not ready", notReady, "GET", "/healthz", 200, `"ok"`},
		{"ready by default", full, "GET", "/readyz", 200, `"ready": true`},
		{"ready", ready, "GET", "/readyz", 200, `"ready": true`},
		{"not ready", notReady, "GET", "/readyz", 503, `"reason": "the cellar is cold"`},
		{"head", notReady, "HEAD", "/readyz", 503, ""},
		{"status", full, "GET", "/v1/status", 200, `"tables": 3`},
		{"status of nothing", Options{}, "GET", "/v1/status", 200, `"tables": null`},
		{"hot tables", full, "GET", "/v1/top", 200, `"tables_counted": 20`},
		{"one hot table", full, "GET", "/v1/top?tables=1", 200, `"tables_counted": 1`},
		{"no hot tables are a list", full, "GET", "/v1/top", 200, `"tables": []`},
		{"more hot tables than there may be", full, "GET", "/v1/top?tables=1001", 400, "want 1 to 1000"},
		{"as many as there may be", full, "GET", "/v1/top?tables=1000", 200, `"tables_counted": 1000`},
		{"no number of hot tables", full, "GET", "/v1/top?tables=x", 400, "want 1 to 1000"},
		{"less than one", full, "GET", "/v1/top?tables=0", 400, "want 1 to 1000"},
		{"no hot tables served", Options{}, "GET", "/v1/top", 404, ""},
		{"post changes nothing", full, "POST", "/v1/status", 405, ""},
		{"profiles", full, "GET", "/debug/pprof/", 200, "goroutine"},
		{"one profile", full, "GET", "/debug/pprof/goroutine?debug=1", 200, "goroutine profile"},
		{"command line", full, "GET", "/debug/pprof/cmdline", 200, "test"},
		{"no profiles unless asked for", noProfiles, "GET", "/debug/pprof/", 404, ""},
		{"unknown", full, "GET", "/", 404, ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			w := ask(tc.options, tc.method, tc.path)
			if w.Code != tc.code || !strings.Contains(w.Body.String(), tc.holds) {
				t.Errorf("%s %s answers %d %s; want %d %s", tc.method, tc.path, w.Code, w.Body, tc.code, tc.holds)
			}
		})
	}
	if len(cases) != 24 {
		t.Errorf("%d cases", len(cases))
	}
}

func TestRepliesAreJSONThatNobodyKeeps(t *testing.T) {
	for _, path := range []string{"/healthz", "/readyz", "/v1/status"} {
		w := ask(Options{}, "GET", path)
		var v map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if h := w.Header(); h.Get("Content-Type") != "application/json" || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s has the headers %v", path, h)
		}
	}
}

// Status asks the store, which may hang: the wait must have an end.
func TestStatusHasADeadline(t *testing.T) {
	asked := false
	ask(Options{Status: func(ctx context.Context) Status {
		_, asked = ctx.Deadline()
		return Status{}
	}}, "GET", "/v1/status")
	if !asked {
		t.Error("the store is asked without a deadline")
	}
}

// One collector that fails must not hide the figures of the others.
func TestMetricsGoOnWithoutOne(t *testing.T) {
	reg := prometheus.NewRegistry()
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: "cellar_good", Help: "A test."})
	reg.MustRegister(gauge, broken{})
	if w := ask(Options{Gatherer: reg}, "GET", "/metrics"); w.Code != 200 || !strings.Contains(w.Body.String(), "cellar_good 0") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

type broken struct{}

var brokenDesc = prometheus.NewDesc("cellar_broken", "A test.", nil, nil)

func (broken) Describe(ch chan<- *prometheus.Desc) { ch <- brokenDesc }
func (broken) Collect(ch chan<- prometheus.Metric) {
	ch <- prometheus.NewInvalidMetric(brokenDesc, errors.New("broken"))
}
