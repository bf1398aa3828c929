package bench

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// sampleResults are of a run as it may be: a long load, a scan and a get that
// were too short, and nothing known of the server for the get.
func sampleResults() []Result {
	o := Options{Addr: "127.0.0.1:9090"}.withDefaults()
	config := o.config()
	config["load_average"], config["cpus"] = 0.25, 2
	m := measure{rounds: 1, took: 6500 * time.Millisecond, kinds: map[string]int64{"RegionTooBusyException": 3}}
	for i, n := range []int64{90000, 100000, 80000, 110000, 120000, 99000, 51000} {
		m.series.add(time.Duration(i)*time.Second, n)
	}
	for i := range 1000 {
		m.latency.add(time.Duration(i+1) * 40 * time.Microsecond)
	}
	m.used = usage{serverCPU: ptr(6.5), clientCPU: ptr(1.25), rssPeak: ptr(700.5), read: ptr(0.0), written: ptr(1300.0), fsyncs: ptr(int64(2000))}
	scan := measure{rounds: 1, took: 400 * time.Millisecond}
	scan.series.add(0, 60000)
	scan.used = usage{serverCPU: ptr(0.3), clientCPU: ptr(0.2)}
	get := measure{rounds: 1, took: 4 * time.Second}
	for i := range 4 {
		get.series.add(time.Duration(i)*time.Second, 40000)
	}
	return []Result{
		scan.result("thrift", OpScan, "rows", "SYNC_WAL", config),
		get.result("thrift", OpGet, "gets", "SYNC_WAL", config),
		m.result("thrift", OpLoad, "records", "SYNC_WAL", config),
	}
}

// TestJSON pins names, order and form of the fields: programs read them.
func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, sampleResults()); err != nil {
		t.Fatal(err)
	}
	golden(t, "results.golden.json", b.String())
}

func TestReport(t *testing.T) {
	var b bytes.Buffer
	if err := Report(&b, sampleResults(), 90); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.golden", b.String())
	for i, line := range strings.Split(b.String(), "\n") {
		if line != strings.TrimRight(line, " ") && !strings.ContainsAny(line, "┤┼") {
			t.Errorf("line %d ends in spaces: %q", i+1, line)
		}
	}
	b.Reset()
	if err := Report(&b, nil, 0); err != nil || strings.Contains(b.String(), "compare") {
		t.Errorf("nothing: %s, %v", b.String(), err)
	}
}

// TestDocument: several runs of each operation, and one of the shared mode.
func TestDocument(t *testing.T) {
	d := Document{Title: "Thrift load", Date: time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC), Machine: "2 CPUs, <ext4>", Commit: "abc1234", Command: "cellar bench thrift"}
	for run := range 4 {
		for _, r := range sampleResults() {
			r.Rate *= 1 + float64(run*run%3)/10
			d.Results = append(d.Results, r)
		}
	}
	shared := sampleResults()[2]
	shared.Config = map[string]any{"mode": ModeShared, "records": 60000}
	shared.Unit = "records & more"
	d.Results = append(d.Results, shared)
	var b bytes.Buffer
	if err := d.WriteMarkdown(&b, "thrift.svg"); err != nil {
		t.Fatal(err)
	}
	golden(t, "document.golden.md", b.String())
	b.Reset()
	if err := d.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "document.golden.svg", b.String())
	for x := xml.NewDecoder(bytes.NewReader(b.Bytes())); ; {
		if _, err := x.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
	}
	if n := strings.Count(b.String(), "<polyline"); n != 5 {
		t.Errorf("%d plots, want get, and load private and load shared with their latencies", n)
	}
}

// TestReportFromJSON: results that were kept give the same report.
func TestReportFromJSON(t *testing.T) {
	d := Document{Title: "x", Results: sampleResults()}
	var kept bytes.Buffer
	if err := WriteJSON(&kept, d.Results); err != nil {
		t.Fatal(err)
	}
	text := kept.String()
	again, err := ReadJSON(&kept)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := d.WriteFiles(dir, "first"); err != nil {
		t.Fatal(err)
	}
	d.Results = again
	if err := d.WriteFiles(dir, "second"); err != nil {
		t.Fatal(err)
	}
	for _, ext := range []string{".md", ".svg"} {
		first, err1 := os.ReadFile(filepath.Join(dir, "first"+ext))
		second, err2 := os.ReadFile(filepath.Join(dir, "second"+ext))
		if err := errors.Join(err1, err2); err != nil || !bytes.Equal(bytes.ReplaceAll(first, []byte("first"), []byte("second")), second) || len(first) < 500 {
			t.Errorf("%s: %v\n%s\n%s", ext, err, first, second)
		}
	}
	if got, err := ReadJSON(strings.NewReader(text + "{")); err == nil || len(got) != 3 || !strings.Contains(err.Error(), "read result 4") {
		t.Errorf("%d results, %v", len(got), err)
	}
	if err := d.WriteFiles(filepath.Join(dir, "none"), "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// TestFigures: only what was measured in the same way is set beside a result.
func TestFigures(t *testing.T) {
	f := func(op, mode, durability string, want ...float64) {
		t.Helper()
		var got []float64
		for _, x := range figuresFor(&Result{Name: "thrift", Op: op, Durability: durability, Config: map[string]any{"mode": mode}}) {
			got = append(got, x.Rate)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s %s %s: %v, want %v", op, mode, durability, got, want)
		}
	}
	f(OpLoad, ModePrivate, "SYNC_WAL", 8700, 37586, 62163)
	f(OpLoad, ModeShared, "SYNC_WAL", 3700, 29168, 44112)
	f(OpLoad, ModePrivate, "SKIP_WAL")
	f(OpScan, ModeShared, "SYNC_WAL", 56756, 60049)
	f(OpGet, ModePrivate, "SKIP_WAL", 7814, 10334)
	f("put", ModePrivate, "SYNC_WAL")
}

type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWritersFail(t *testing.T) {
	d := Document{Results: sampleResults()}
	for name, err := range map[string]error{
		"json": WriteJSON(full{}, d.Results), "report": Report(full{}, d.Results, 0), "markdown": d.WriteMarkdown(full{}, ""),
		"svg": d.WriteSVG(full{}), "spec": WriteSpec(full{}), "weather": (&WeatherRead{}).WriteTable(full{}),
	} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestProgressLines(t *testing.T) {
	var b bytes.Buffer
	p := NewProgress(&b)
	p.Say("hello %d", 1)
	f := p.Begin("load", 5000)
	f.Add(4000)
	f.Add(1000)
	f.started = time.Now().Add(-time.Second)
	f.End()
	f.End()
	lines := strings.Split(b.String(), "\n")
	if len(lines) != 3 || lines[0] != "hello 1" || !strings.HasPrefix(lines[1], "load ") || !strings.Contains(lines[1], " 5,000 in   1.0") {
		t.Errorf("%q", lines)
	}

	silent := NewProgress(nil)
	silent.Say("x")
	g := silent.Begin("x", 1)
	g.Add(1)
	g.End()
}
