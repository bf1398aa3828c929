package bench

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellardb/cellar/bench/internal/gateway"
)

func showSamples(s samples) string {
	var b strings.Builder
	for _, name := range []string{sampleRSS, sampleDisk, samplePressure} {
		all, ok := s[name]
		if !ok {
			continue
		}
		fmt.Fprintf(&b, "%s", name)
		for _, v := range all {
			b.WriteString(" " + number(v, "%.1f"))
		}
		b.WriteString("; ")
	}
	return b.String()
}

// TestSamplesAreAligned: each value stands at its second, whatever is not known
// meanwhile.
func TestSamplesAreAligned(t *testing.T) {
	s := samples{}
	for _, v := range []map[string]float64{{}, {sampleRSS: 1}, {sampleRSS: 2, samplePressure: 0.5}, {}, {samplePressure: 0.25}} {
		s.add(v)
	}
	// The first second, in which nothing was known, is not in it.
	if got := showSamples(s); got != "rss_mib 1.0 2.0 - -; pressure - 0.5 - 0.2; " {
		t.Error(got)
	}
	if got := fmt.Sprint(s.known(samplePressure), s.known(sampleDisk)); got != "[0.5 0.25] []" {
		t.Error(got)
	}
}

func TestNow(t *testing.T) {
	text := "cellar_store_disk_bytes 2097152\ncellar_pressure_ratio 0.75\ncellar_store_memtable_bytes 1048576\ncellar_store_garbage_ratio 0.5\nother 1\n"
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }))
	defer web.Close()
	f := func(s *server, want string) {
		t.Helper()
		if got := fmt.Sprint(s.now()); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
	s := fakeProc(t, statText, "VmRSS:\t  2048 kB\n", ioText)
	f(s, "map[rss_mib:2]")
	s.stats = web.URL
	f(s, "map[disk_mib:2 garbage:0.5 memtable_mib:1 pressure:0.75 rss_mib:2]")
	text = "cellar_store_disk_bytes 0\n"
	f(s, "map[disk_mib:0 rss_mib:2]")
	web.Close()
	f(s, "map[rss_mib:2]")
	f(newServer(0, ""), "map[]")
}

// TestSampler: a sample each second of an operation, over its repetitions; none
// of a server of which nothing is known; none after the end.
func TestSampler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakeProc(t, statText, statusText, ioText)
		m := measure{clock: time.Now, server: s}
		status := filepath.Join(s.proc, "status")
		for i := range 3 {
			if err := os.WriteFile(status, fmt.Appendf(nil, "VmHWM: 1 kB\nVmRSS: %d kB\n", 1024*(i+1)), 0o644); err != nil {
				t.Fatal(err)
			}
			m.begin()
			time.Sleep(2500 * time.Millisecond)
			m.end(nil)
			time.Sleep(5 * time.Second)
		}
		m.begin()
		m.abandon()
		m.abandon()
		if got := showSamples(m.samples); got != "rss_mib 1.0 1.0 2.0 2.0 3.0 3.0; " {
			t.Error(got)
		}
		m.noteGrowth()
		if m.figures != nil {
			t.Errorf("six samples make a figure: %v", m.figures)
		}
		for range 3 {
			m.samples.add(map[string]float64{sampleRSS: 4})
		}
		if m.noteGrowth(); m.figures[figureRSSGrowth] != 4.0/3 {
			t.Errorf("%v", m.figures)
		}
		falls := measure{samples: samples{}}
		for _, v := range []float64{9, 9, 9, 8, 8, 8, 4, 4, 4} {
			falls.samples.add(map[string]float64{sampleRSS: v})
		}
		if falls.noteGrowth(); falls.figures[figureRSSGrowth] != 0.5 {
			t.Errorf("%v", falls.figures)
		}
		unknown := measure{clock: time.Now, server: newServer(0, "")}
		unknown.begin()
		time.Sleep(3 * time.Second)
		unknown.end(nil)
		if unknown.samples != nil {
			t.Error(unknown.samples)
		}
	})
}

// TestSamplerEndsWithAFailedRun, whichever operation failed.
func TestSamplerEndsWithAFailedRun(t *testing.T) {
	ran := 0
	for _, method := range []string{"mutateRows", "scannerGetList", "getRow"} {
		_, o := startGateway(t, gateway.Hooks{HangUp: func(m string) bool { return m == method }})
		o.ServerPID = os.Getpid()
		run := newThriftRun(o.withDefaults(), nil)
		_, err := run.run(context.Background())
		if err == nil {
			t.Errorf("%s: no error", method)
		}
		for _, op := range run.reported() {
			if op.m.sampler != nil {
				t.Errorf("%s: that of %s goes on", method, op.name)
			}
		}
		ran++
	}
	if ran != 3 {
		t.Errorf("%d ran", ran)
	}
}

// TestPeakIsOfAllRepetitions: a server that was started again has a lower one.
func TestPeakIsOfAllRepetitions(t *testing.T) {
	var u usage
	for _, peak := range []float64{100, 300, 200} {
		u.add(usage{rssPeak: &peak})
	}
	if *u.rssPeak != 300 {
		t.Error(*u.rssPeak)
	}
}

// TestRest: a server is at rest when it has written nothing for some seconds.
func TestRest(t *testing.T) {
	f := func(want string, written ...float64) {
		t.Helper()
		asked := 0
		run := newThriftRun(Options{Addr: "h:1"}.withDefaults(), nil)
		run.server.stats = "http://server/metrics"
		run.server.client = &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			if v := written[min(asked, len(written)-1)]; v >= 0 {
				fmt.Fprintf(w, "%s %v\n", metricWritten, v)
			}
			asked++
			return w.Result(), nil
		})}
		synctest.Test(t, func(t *testing.T) {
			got := fmt.Sprint(run.rest(context.Background()))
			if got = fmt.Sprintf("%d asked, %.60s", asked, got); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
	f("4 asked, <nil>", 5)
	f("8 asked, <nil>", 0, 0, 0, 1, 2)
	f("1 asked, wait for the end of a compaction: http://server/metrics has ", -1)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
