package top

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// answering is a server with an answer for each path; others are not found.
func answering(t *testing.T, answers map[string]string) *Source {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := answers[r.URL.RequestURI()]
		switch {
		case !ok:
			http.NotFound(w, r)
		case text == "500":
			w.WriteHeader(http.StatusInternalServerError)
		default:
			w.Write([]byte(text))
		}
	}))
	t.Cleanup(s.Close)
	return &Source{Locate: func() (string, error) { return s.Listener.Addr().String(), nil }, Tables: 3}
}

const (
	goodStatus = `{"state": "ready", "version": "v1", "pid": 7, "pressure": {"value": 0.5}}`
	goodTop    = `{"window_seconds": 1, "tables_counted": 2, "tables": [{"table": "t", "rows_written": 5, "rows_written_rate": 2.5}]}`
)

func TestSource(t *testing.T) {
	metrics, err := os.ReadFile("testdata/before.prom")
	if err != nil {
		t.Fatal(err)
	}
	c := answering(t, map[string]string{"/v1/status": goodStatus, "/v1/top?tables=3": goodTop, "/metrics": string(metrics)})
	s, err := c.Sample(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.Status.PID != 7 || s.Status.Pressure.Value != 0.5 || len(s.Top.Tables) != 1 || s.Top.Tables[0].RowsWrittenRate != 2.5 {
		t.Errorf("sample %+v %+v", s.Status, s.Top)
	}
	if v, ok := s.value("cellar_store_l0_files"); !ok || v != 4 {
		t.Errorf("l0 files %v, %v", v, ok)
	}
	if _, ok := s.value("cellar_nothing"); ok {
		t.Error("a metric that is not there has a value")
	}
	if n := totalRequests(s); n != 1000+50+2+1+3 {
		t.Errorf("%v requests", n)
	}
}

// A server without hot tables is a server all the same.
func TestSource_withoutTop(t *testing.T) {
	s, err := answering(t, map[string]string{"/v1/status": goodStatus, "/metrics": "cellar_x 1\n"}).Sample(t.Context())
	if err != nil || s.Top.Tables != nil {
		t.Errorf("%+v, %v", s, err)
	}
	if v, ok := s.value("cellar_x"); !ok || v != 1 {
		t.Errorf("a metric without a type: %v, %v", v, ok)
	}
}

func TestSource_refuses(t *testing.T) {
	cases := []struct {
		name    string
		answers map[string]string
		want    string
	}{
		{"nothing there", nil, "/v1/status: no such path"},
		{"no JSON", map[string]string{"/v1/status": "<html>"}, "/v1/status does not answer as Cellar does"},
		{"other JSON", map[string]string{"/v1/status": "{}"}, "does not answer as Cellar does"},
		{"a failing top", map[string]string{"/v1/status": goodStatus, "/v1/top?tables=3": "500"}, "answers 500"},
		{"no metrics", map[string]string{"/v1/status": goodStatus, "/v1/top?tables=3": goodTop}, "/metrics: no such path"},
		{"metrics that are none", map[string]string{"/v1/status": goodStatus, "/metrics": "<html>\n"}, "/metrics does not answer as Cellar does"},
	}
	for _, tc := range cases {
		_, err := answering(t, tc.answers).Sample(t.Context())
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
	gone := errors.New("no server")
	if _, err := (&Source{Locate: func() (string, error) { return "", gone }}).Sample(t.Context()); !errors.Is(err, gone) {
		t.Errorf("not located: %v", err)
	}
	if _, err := (&Source{Locate: func() (string, error) { return "no address", nil }}).Sample(t.Context()); err == nil {
		t.Error("no address: no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := answering(t, nil).Sample(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("context ended: %v", err)
	}
}

// Whatever a server sends as metrics, the view is made of it or it is refused.
func FuzzMetrics(f *testing.F) {
	for _, name := range []string{"testdata/before.prom", "testdata/after.prom"} {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("cellar_door_request_seconds_bucket{le=\"NaN\"} -1\n")
	f.Fuzz(func(t *testing.T, text string) {
		metrics, err := parseMetrics(strings.NewReader(text))
		if err != nil {
			return
		}
		m := &Model{}
		m.Add(&Sample{At: noon, Metrics: metrics})
		m.Add(&Sample{At: noon.Add(1), Metrics: metrics})
		for _, l := range m.View(80, 24) {
			if l.width() > 80 {
				t.Errorf("%d columns: %s", l.width(), l)
			}
		}
	})
}
