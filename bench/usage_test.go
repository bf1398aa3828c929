package bench

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// fakeProc makes a folder like /proc/PID.
func fakeProc(t *testing.T, stat, status, io string) *server {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"stat": stat, "status": status, "io": io} {
		if text != "" {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := newServer(0, "")
	s.proc = dir
	return s
}

const (
	statText   = "4711 (a (b) c) S 1 4711 4711 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 9 0 12 34 56"
	statusText = "Name:\tcellar\nVmPeak:\t  999999 kB\nVmHWM:\t  524288 kB\nVmRSS:\t  1 kB\n"
	ioText     = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 1048576\nwrite_bytes: 3145728\ncancelled_write_bytes: 0\n"
)

// show renders a usage but for this process's own.
func show(u usage) string {
	return fmt.Sprintf("cpu %s rss %s read %s written %s fsyncs %s", number(u.serverCPU, "%.2f"), number(u.rssPeak, "%.0f"),
		number(u.read, "%.1f"), number(u.written, "%.1f"), number(u.fsyncs, "%d"))
}

func TestUsageOfProc(t *testing.T) {
	f := func(s *server, want string) {
		t.Helper()
		if got := show(s.usage()); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	f(fakeProc(t, statText, statusText, ioText), "cpu 3.00 rss 512 read 1.0 written 3.0 fsyncs -")
	f(fakeProc(t, statText, statusText, ""), "cpu 3.00 rss 512 read - written - fsyncs -") // another user's process
	f(fakeProc(t, "4711 (x) S 1", "VmHWM: x kB\n", "read_bytes: 1\n"), "cpu - rss - read - written - fsyncs -")
	f(newServer(0, ""), "cpu - rss - read - written - fsyncs -")
	f(newServer(1<<30, ""), "cpu - rss - read - written - fsyncs -")
}

func TestUsageOfMetrics(t *testing.T) {
	text := `# HELP process_cpu_seconds_total Total user and system CPU time spent in seconds.
# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total 12.5
cellar_store_wal_fsyncs_total 40
cellar_store_file_fsyncs_total 2
cellar_store_disk_read_bytes_total 1.048576e+06
cellar_store_disk_written_bytes_total{kind="wal"} 1.048576e+06
cellar_store_disk_written_bytes_total{kind="a } b"} 3.145728e+06 1700000000000
broken
also_broken{x="y"
not_a_number x
`
	status := http.StatusOK
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text)) // the test sees what comes of it
	}))
	defer s.Close()
	m := newServer(0, s.URL)
	defer m.client.CloseIdleConnections()
	f := func(want string) {
		t.Helper()
		if got := show(m.usage()); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	f("cpu 12.50 rss - read 1.0 written 4.0 fsyncs 42")
	m.proc = fakeProc(t, statText, statusText, ioText).proc
	f("cpu 3.00 rss 512 read 1.0 written 4.0 fsyncs 42") // the process's own CPU; the engine's own disk traffic
	m.proc = ""
	status = http.StatusNotFound
	f("cpu - rss - read - written - fsyncs -")
	status, text = http.StatusOK, "some other page\n"
	f("cpu - rss - read - written - fsyncs -")
	m.stats = "http://127.0.0.1:1/metrics"
	f("cpu - rss - read - written - fsyncs -")
	m.stats = ":"
	f("cpu - rss - read - written - fsyncs -")
}

// TestUsageAddsUp: differences are summed over repetitions; the peak is the last;
// what was unknown once stays out of the sum.
func TestUsageAddsUp(t *testing.T) {
	at := func(cpu, rss, read, written float64, fsyncs int64) usage {
		return usage{serverCPU: &cpu, rssPeak: &rss, read: &read, written: &written, fsyncs: &fsyncs, clientCPU: ptr(cpu * 2)}
	}
	var total usage
	total.add(at(3, 100, 5, 7, 20).since(at(1, 90, 4, 3, 15)))
	total.add(at(10, 120, 5, 10, 21).since(at(9, 110, 5, 9, 21)))
	if got, want := show(total), "cpu 3.00 rss 120 read 1.0 written 5.0 fsyncs 5"; got != want || *total.clientCPU != 6 {
		t.Errorf("got  %s\nwant %s; client %v", got, want, *total.clientCPU)
	}
	total.add(usage{}.since(usage{}))
	if got, want := show(total), "cpu 3.00 rss 120 read 1.0 written 5.0 fsyncs 5"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestOwnUsage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("for Linux")
	}
	own := newServer(os.Getpid(), "").usage()
	if got := show(own); strings.Contains(got, "cpu -") || strings.Contains(got, "rss -") || own.clientCPU == nil {
		t.Errorf("%s, client %v", got, own.clientCPU)
	}
	if load, ok := loadAverage(); !ok || load < 0 {
		t.Errorf("load average %v, %v", load, ok)
	}
}
