package top

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cellardb/cellar/door/ops"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rewrite writes the golden files anew: read the diff before it is committed.
var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// sample reads a file of metrics and puts a status beside it.
func sample(t *testing.T, file string, at time.Time) *Sample {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	metrics, err := parseMetrics(f)
	if err != nil {
		t.Fatal(err)
	}
	return &Sample{
		At: at, Addr: "127.0.0.1:8600", Metrics: metrics,
		Status: ops.Status{
			State: "ready", Version: "v1.2.3", PID: 4242, Started: noon.Add(-3 * time.Hour), UptimeSeconds: 10800,
			Data: "/srv/cellar", Engine: "pebble", MemoryBytes: 512 << 20,
			Pressure: &ops.Pressure{Value: 0.62, Memtables: 0.62, L0: 0.25, Garbage: 0.01, Disk: 0.9, InFlight: 0},
			Memory: []ops.MemoryPart{
				{Part: "block_cache", BudgetBytes: 200 << 20, UsedBytes: 180 << 20},
				{Part: "memtables", BudgetBytes: 50 << 20, UsedBytes: 20 << 20},
			},
			Disk: &ops.Disk{FreeBytes: 3 << 30, SizeBytes: 100 << 30},
		},
	}
}

// hot gives the sample hot tables.
func hot(s *Sample) *Sample {
	s.Top = ops.Top{WindowSeconds: 1, TablesCounted: 7, Tables: []ops.HotTable{
		{Table: "events", RowsWrittenRate: 60_000, BytesWrittenRate: 61e6},
		{Table: "counters", RowsWrittenRate: 120.4, BytesWrittenRate: 4000, RowsReadRate: 5000, BytesReadRate: 200_000},
		{Table: "a:quiet", RowsReadRate: 0.5, BytesReadRate: 10},
	}}
	return s
}

// busy is a model after two samples, two seconds apart.
func busy(t *testing.T) *Model {
	m := &Model{}
	m.Add(sample(t, "before.prom", noon))
	m.Add(hot(sample(t, "after.prom", noon.Add(2*time.Second))))
	return m
}

// The whole view in the states that it can be in, at sizes that terminals have.
// Styles are shown as marks around a text: *title* _dim_ +good+ !warn! #bad#.
func TestView(t *testing.T) {
	cases := []struct {
		name          string
		width, height int
		model         func(t *testing.T) *Model
	}{
		{"nothing", 80, 24, func(*testing.T) *Model { return &Model{} }},
		{"first", 120, 0, func(t *testing.T) *Model {
			m := &Model{}
			s := hot(sample(t, "before.prom", noon))
			s.Top.WindowSeconds = 0
			m.Add(s)
			return m
		}},
		{"busy", 120, 40, busy},
		{"narrow", 50, 60, busy},
		{"tiny", 20, 5, busy},
		{"low", 120, 18, busy},
		{"ascii", 80, 0, func(t *testing.T) *Model { m := busy(t); m.ASCII = true; return m }},
		{"sorted", 80, 0, func(t *testing.T) *Model { m := busy(t); m.Key('r'); return m }},
		{"paused", 120, 3, func(t *testing.T) *Model { m := busy(t); m.Key('p'); return m }},
		{"help", 100, 30, func(t *testing.T) *Model { m := busy(t); m.Key('?'); return m }},
		{"gone", 120, 40, func(t *testing.T) *Model {
			m := busy(t)
			m.Fail(errors.New("connection refused"), noon.Add(3*time.Second))
			m.Fail(errors.New("still connection refused\x1b[2J"), noon.Add(4*time.Second))
			return m
		}},
		{"back", 120, 40, func(t *testing.T) *Model {
			m := busy(t)
			m.Fail(errors.New("connection refused"), noon.Add(3*time.Second))
			s := hot(sample(t, "before.prom", noon.Add(9*time.Second)))
			s.Status.PID, s.Status.Started = 4243, noon
			m.Add(s)
			return m
		}},
		{"full", 120, 8, func(t *testing.T) *Model {
			m := busy(t)
			m.last.Status.Disk.Full = true
			m.last.Status.State = "draining"
			return m
		}},
		{"memory_engine", 120, 0, func(t *testing.T) *Model {
			m := &Model{}
			s := sample(t, "before.prom", noon)
			for name := range s.Metrics {
				if strings.HasPrefix(name, "cellar_store_") {
					delete(s.Metrics, name)
				}
			}
			s.Status.Engine, s.Status.Disk, s.Status.Pressure, s.Status.Memory = "memory", nil, nil, nil
			m.Add(s)
			return m
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			lines := tc.model(t).View(tc.width, tc.height)
			if tc.height > 0 && len(lines) > tc.height {
				t.Errorf("%d lines on a screen of %d", len(lines), tc.height)
			}
			var b strings.Builder
			for _, l := range lines {
				if l.width() > tc.width {
					t.Errorf("%d columns on a screen of %d: %s", l.width(), tc.width, l)
				}
				b.WriteString(marked(l) + "\n")
			}
			golden(t, tc.name, b.String())
		})
	}
	if len(cases) != 14 {
		t.Errorf("%d cases", len(cases))
	}
}

func marked(l Line) string {
	marks := [styles]string{Plain: "", Title: "*", Dim: "_", Good: "+", Warn: "!", Bad: "#"}
	var b strings.Builder
	for _, s := range l {
		if strings.TrimSpace(s.Text) == "" {
			b.WriteString(s.Text)
			continue
		}
		b.WriteString(marks[s.Style] + s.Text + marks[s.Style])
	}
	return strings.TrimRight(b.String(), " ")
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the view is\n%s\nwant, from %s (-rewrite after reading),\n%s", got, file, want)
	}
}

// Methods that are called now come first, those that never were are left out; a
// budget that doors share is counted once.
func TestModel_methods(t *testing.T) {
	text := func(often, seldom int) string {
		return fmt.Sprintf(`cellar_door_requests_total{door="a",method="often",outcome="ok"} %d
cellar_door_requests_total{door="a",method="seldom",outcome="ok"} %d
cellar_door_requests_total{door="a",method="never",outcome="ok"} 0
cellar_door_in_flight_bytes{door="a"} 7
cellar_door_in_flight_bytes{door="b"} 7
`, often, seldom)
	}
	m := &Model{}
	for i, s := range []string{text(1000, 1), text(1001, 11)} {
		metrics, err := parseMetrics(strings.NewReader(s))
		if err != nil {
			t.Fatal(err)
		}
		m.Add(&Sample{At: noon.Add(time.Duration(i) * time.Second), Metrics: metrics})
	}
	var got []string
	for _, r := range m.methodRows() {
		got = append(got, fmt.Sprintf("%s %v", r.name, r.rate))
	}
	if want := "seldom 10, often 1"; strings.Join(got, ", ") != want {
		t.Errorf("methods %q, want %s", got, want)
	}
	if n := inFlight(m.last); n != 7 {
		t.Errorf("%v bytes in flight", n)
	}
}

// Whatever the size, the view fits and does not panic.
func TestView_everySize(t *testing.T) {
	m := busy(t)
	checked := 0
	for width := range 130 {
		for height := 1; height < 45; height += 4 {
			lines := m.View(width, height)
			if len(lines) > height {
				t.Fatalf("%dx%d: %d lines", width, height, len(lines))
			}
			for _, l := range lines {
				if l.width() > width {
					t.Fatalf("%dx%d: %q is too wide", width, height, l)
				}
			}
			checked++
		}
	}
	if checked != 130*11 {
		t.Errorf("%d sizes", checked)
	}
}

func TestModel_keys(t *testing.T) {
	m := busy(t)
	for _, tc := range []struct {
		key   rune
		order order
		first string
	}{
		{'w', byRowsWritten, "events"}, {'W', byBytesWritten, "events"}, {'r', byRowsRead, "counters"},
		{'R', byBytesRead, "counters"}, {'n', byName, "a:quiet"}, {'x', byName, "a:quiet"}, {'h', byHeat, "events"},
	} {
		if m.Key(tc.key) {
			t.Errorf("%c leaves", tc.key)
		}
		if m.order != tc.order {
			t.Errorf("after %c the order is %d, want %d", tc.key, m.order, tc.order)
		}
		if first := m.tableLines(80)[1].String(); !strings.HasPrefix(first, tc.first) {
			t.Errorf("after %c the first table is %s, want %s", tc.key, first, tc.first)
		}
	}
	if m.Key('p'); !m.Paused() {
		t.Error("p does not pause")
	}
	if m.Key(' '); m.Paused() {
		t.Error("space does not go on")
	}
	if !m.Key('q') {
		t.Error("q does not leave")
	}
}

// Sparklines show the last minute, not more.
func TestModel_historyIsBounded(t *testing.T) {
	m := &Model{}
	for i := range 3 * historyLen {
		m.Add(sample(t, "before.prom", noon.Add(time.Duration(i)*time.Second)))
	}
	m.Fail(errors.New("gone"), noon)
	for _, h := range []history{m.requests, m.writes, m.reads, m.pressure} {
		if len(h) != historyLen || !math.IsNaN(h[historyLen-1]) || math.IsNaN(h[0]) {
			t.Errorf("%d values, %v", len(h), h)
		}
	}
}

func TestQuantile(t *testing.T) {
	inf := math.Inf(1)
	hist := func(counts ...float64) []bucket {
		h := []bucket{{1, 0}, {2, 0}, {4, 0}, {inf, 0}}
		for i, n := range counts {
			h[i].count = n
		}
		return h
	}
	cases := []struct {
		name          string
		q             float64
		before, after []bucket
		want          float64
	}{
		{"none", 0.5, nil, nil, math.NaN()},
		{"no requests between", 0.5, hist(1, 1, 1, 1), hist(1, 1, 1, 1), math.NaN()},
		{"in the first bucket", 0.5, nil, hist(10, 10, 10, 10), 0.5},
		{"in the second", 0.5, nil, hist(0, 10, 10, 10), 1.5},
		{"at a bound", 0.5, nil, hist(5, 10, 10, 10), 1},
		{"high", 0.99, nil, hist(0, 0, 100, 100), 3.98},
		{"beyond the last", 0.99, nil, hist(0, 0, 0, 1), inf},
		{"only what is new", 0.5, hist(100, 100, 100, 100), hist(100, 100, 110, 110), 3},
		{"a server that began anew", 0.5, hist(100, 100, 100, 100), hist(10, 10, 10, 10), 0.5},
		{"another histogram", 0.5, []bucket{{1, 7}}, hist(10, 10, 10, 10), 0.5},
	}
	for _, tc := range cases {
		if got := quantile(tc.q, tc.before, tc.after); got != tc.want && !(math.IsNaN(got) && math.IsNaN(tc.want)) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
	if len(cases) != 10 {
		t.Errorf("%d cases", len(cases))
	}
}

func TestFigures(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	cases := []struct{ got, want string }{
		{perSecond(nan), "-"}, {perSecond(0), "0"}, {perSecond(0.25), "0.2"}, {perSecond(9.9), "9.9"}, {perSecond(9.96), "10"}, {perSecond(12345.6), "12,346"},
		{size(nan), "-"}, {size(-1), "0 B"}, {size(1536), "1.5 KiB"},
		{seconds(nan), "-"}, {seconds(inf), ">10s"}, {seconds(0.00025), "250us"}, {seconds(0.0021), "2.1ms"}, {seconds(0.25), "250ms"}, {seconds(2.54), "2.5s"},
		{uptime(59), "0m59s"}, {uptime(3600), "1h0m"}, {uptime(90000), "1d1h"},
		{unicodeGlyphs.bar(0.5, 4), "██░░"}, {unicodeGlyphs.bar(7, 2), "██"}, {asciiGlyphs.bar(-1, 2), ".."}, {asciiGlyphs.bar(nan, 2), ".."},
		{unicodeGlyphs.sparkline([]float64{0, nan, 4, 8}, 0), "▁ ▅█"}, {unicodeGlyphs.sparkline([]float64{0, 0}, 0), "▁▁"},
		{unicodeGlyphs.sparkline([]float64{0.5}, 1), "▅"}, {asciiGlyphs.sparkline([]float64{1}, 1), ""},
		{printable("a\x1b[2Jé"), "a?[2J?"},
		{fmt.Sprint(level(0.49), level(0.5), level(0.8)), fmt.Sprint(Good, Warn, Bad)},
	}
	for i, tc := range cases {
		if tc.got != tc.want {
			t.Errorf("case %d: %q, want %q", i, tc.got, tc.want)
		}
	}
	if len(cases) != 28 {
		t.Errorf("%d cases", len(cases))
	}
}
