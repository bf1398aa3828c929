package child

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// RSS gives the resident memory of the process in bytes.
func (s *Server) RSS(t testing.TB) int64 {
	t.Helper()
	rss, err := s.ReadRSS()
	if err != nil {
		t.Fatalf("memory of the server: %v", err)
	}
	return rss
}

// ReadRSS is RSS for goroutines that cannot end the test.
func (s *Server) ReadRSS() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == "VmRSS:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("no VmRSS in\n%s", text)
}

// Metrics is one reading of /metrics: the values by name and labels as they
// stand there, for example `cellar_door_connections_open{door="thrift1"}`.
type Metrics map[string]float64

// Metrics reads the figures that the server shows.
func (s *Server) Metrics(t testing.TB) Metrics {
	t.Helper()
	client := http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + s.HTTP + "/metrics")
	if err != nil {
		t.Fatalf("metrics: %v", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("metrics: %s", resp.Status)
	}
	m := Metrics{}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		name, value, ok := cutLast(lines.Text(), ' ')
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		if v, err := strconv.ParseFloat(value, 64); err == nil {
			m[name] = v
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("metrics: %v", err)
	}
	return m
}

func cutLast(s string, sep byte) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, sep)
	if i < 0 {
		return "", "", false
	}
	return s[:i], s[i+1:], true
}

// Sum adds the values of one name over all label sets that have all the labels
// given, each as `name="value"`.
func (m Metrics) Sum(name string, labels ...string) float64 {
	sum := 0.0
next:
	for key, value := range m {
		if key != name && !strings.HasPrefix(key, name+"{") {
			continue
		}
		for _, l := range labels {
			if !strings.Contains(key, l) {
				continue next
			}
		}
		sum += value
	}
	return sum
}
