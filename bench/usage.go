package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// usage is what a server and this process have used so far; nil is unknown.
type usage struct {
	serverCPU, clientCPU *float64 // seconds
	rssPeak              *float64 // MiB
	read, written        *float64 // MiB
	fsyncs               *int64
}

// since is what was used from an earlier time on; the peak stays as it is.
func (u usage) since(before usage) usage {
	return usage{
		serverCPU: minus(u.serverCPU, before.serverCPU),
		clientCPU: minus(u.clientCPU, before.clientCPU),
		rssPeak:   u.rssPeak,
		read:      minus(u.read, before.read),
		written:   minus(u.written, before.written),
		fsyncs:    minus(u.fsyncs, before.fsyncs),
	}
}

func minus[N int64 | float64](a, b *N) *N {
	if a == nil || b == nil {
		return nil
	}
	d := *a - *b
	return &d
}

// add adds what a repetition used.
func (u *usage) add(o usage) {
	u.serverCPU = sum(u.serverCPU, o.serverCPU)
	u.clientCPU = sum(u.clientCPU, o.clientCPU)
	u.read = sum(u.read, o.read)
	u.written = sum(u.written, o.written)
	u.fsyncs = sum(u.fsyncs, o.fsyncs)
	if o.rssPeak != nil && (u.rssPeak == nil || *u.rssPeak < *o.rssPeak) {
		u.rssPeak = o.rssPeak
	}
}

func sum[N int64 | float64](total, more *N) *N {
	if more == nil {
		return total
	}
	if total == nil {
		return more
	}
	s := *total + *more
	return &s
}

// server is where a server's usage is asked for.
type server struct {
	proc   string // "/proc/PID", "" if not known
	stats  string // URL, "" if none
	client *http.Client
}

func newServer(pid int, statsURL string) *server {
	s := &server{stats: statsURL, client: &http.Client{Timeout: 5 * time.Second}}
	if pid > 0 {
		s.proc = filepath.Join("/proc", strconv.Itoa(pid))
	}
	return s
}

// usage asks for everything that can be known now.
func (s *server) usage() usage {
	u := usage{clientCPU: ownCPU()}
	if s.proc != "" {
		s.fromProc(&u)
	}
	if s.stats != "" {
		s.fromMetrics(&u)
	}
	return u
}

// ticksPerSecond is the unit of times in /proc, the same on every Linux
// platform that Go knows.
const ticksPerSecond = 100

func (s *server) fromProc(u *usage) {
	if b, err := os.ReadFile(filepath.Join(s.proc, "stat")); err == nil {
		u.serverCPU = cpuOfStat(string(b))
	}
	if f, ok := procFields(filepath.Join(s.proc, "status"), "VmHWM"); ok {
		u.rssPeak = ptr(f[0] / 1024) // kB
	}
	if f, ok := procFields(filepath.Join(s.proc, "io"), "read_bytes", "write_bytes"); ok {
		u.read, u.written = ptr(f[0]/mib), ptr(f[1]/mib)
	}
}

const mib = 1 << 20

func ptr[T any](v T) *T { return &v }

// cpuOfStat reads user and system seconds from the line of /proc/PID/stat. The
// second field is a name in brackets and may hold anything.
func cpuOfStat(line string) *float64 {
	f := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(f) < 13 {
		return nil
	}
	user, err1 := strconv.ParseFloat(f[11], 64)
	system, err2 := strconv.ParseFloat(f[12], 64)
	if err1 != nil || err2 != nil {
		return nil
	}
	return ptr((user + system) / ticksPerSecond)
}

// procFields reads the numbers of "name: number ..." lines; ok if all are there.
func procFields(path string, names ...string) ([]float64, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, false
	}
	values, found := make([]float64, len(names)), 0
	for line := range strings.Lines(string(b)) {
		name, rest, _ := strings.Cut(line, ":")
		for i := range names {
			if f := strings.Fields(rest); name == names[i] && len(f) > 0 {
				if v, err := strconv.ParseFloat(f[0], 64); err == nil {
					values[i] = v
					found++
				}
			}
		}
	}
	return values, found == len(names)
}

// Metrics that are looked for: what every Prometheus client library exports of
// its process, and what Cellar's engine does.
const (
	metricCPU        = "process_cpu_seconds_total"
	metricLogFsyncs  = "cellar_store_wal_fsyncs_total"
	metricFileFsyncs = "cellar_store_file_fsyncs_total"
	metricRead       = "cellar_store_disk_read_bytes_total"
	metricWritten    = "cellar_store_disk_written_bytes_total"
)

// fromMetrics adds what the server says of itself. It knows its traffic with the
// disk better than the system does, whose caches are in between.
func (s *server) fromMetrics(u *usage) {
	m, err := fetchMetrics(s.client, s.stats)
	if err != nil {
		return // not known, which is what nil says
	}
	if v, ok := m[metricCPU]; ok && u.serverCPU == nil {
		u.serverCPU = ptr(v)
	}
	if v, ok := m[metricLogFsyncs]; ok {
		u.fsyncs = ptr(int64(v + m[metricFileFsyncs]))
	}
	if v, ok := m[metricRead]; ok {
		u.read = ptr(v / mib)
	}
	if v, ok := m[metricWritten]; ok {
		u.written = ptr(v / mib)
	}
}

// metricsLimit is how much of an answer is read, in bytes.
const metricsLimit = 8 << 20

func fetchMetrics(client *http.Client, url string) (map[string]float64, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // only read from
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, resp.Status)
	}
	return parseMetrics(io.LimitReader(resp.Body, metricsLimit))
}

// parseMetrics reads Prometheus' text format: the sum of each name's values
// over all its labels.
func parseMetrics(r io.Reader) (map[string]float64, error) {
	m := make(map[string]float64)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		end := strings.IndexAny(line, "{ ")
		if end < 0 {
			continue
		}
		name, rest := line[:end], line[end:]
		if rest[0] == '{' {
			rest = rest[strings.LastIndexByte(rest, '}')+1:]
		}
		if f := strings.Fields(rest); len(f) > 0 {
			if v, err := strconv.ParseFloat(f[0], 64); err == nil {
				m[name] += v
			}
		}
	}
	return m, lines.Err()
}

// loadAverage is the machine's, of the last minute.
func loadAverage() (float64, bool) {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, false
	}
	first, _, _ := strings.Cut(string(b), " ")
	v, err := strconv.ParseFloat(first, 64)
	return v, err == nil
}
