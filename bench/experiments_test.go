package bench

import (
	"bytes"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// experimentResults are of two runs of some experiments, as they may be: a
// sustained load that is sampled, one that is overloaded, overwriting that takes
// too much disk, increments that are too slow.
func experimentResults(scale float64) []Result {
	byName := map[string]Experiment{}
	for _, e := range Experiments() {
		byName[e.Name] = e.Scaled(scale)
	}
	var all []Result
	add := func(experiment, op, unit string, rate float64, change func(r *Result)) {
		for run := range 2 {
			r := Result{Name: "thrift", Op: op, Unit: unit, Rate: rate * float64(10+run) / 10, Seconds: 8, Count: int64(8 * rate), Durability: "SYNC_WAL",
				P50: ptr(20.0), P99: ptr(70.0), Config: map[string]any{"mode": ModePrivate, "records": 6000000, "connections": 10, "duration": "0s"}}
			for i := range 9 {
				r.Series = append(r.Series, int64(rate)+int64(1000*(i%3)))
			}
			if change != nil {
				change(&r)
			}
			one := []Result{r}
			byName[experiment].Mark(one, scale)
			all = append(all, one...)
		}
	}
	sampled := func(r *Result) {
		r.ServerRSSPeak = ptr(900.5)
		r.WorstSecond = ptr(0.75)
		r.Latency = map[string]float64{"p10": 5, "p50": 20, "p90": 40, "p99": 70, "p99.9": 90, "p99.99": 120, "max": 130}
		r.Samples = map[string][]*float64{
			sampleRSS:      {ptr(100.0), ptr(500.0), ptr(900.0), nil, ptr(890.0), ptr(895.0)},
			samplePressure: {ptr(0.1), ptr(0.2), ptr(0.4), ptr(0.5), ptr(0.5), ptr(0.5)},
			sampleDisk:     {nil, nil},
		}
	}
	add("increment", OpIncrement, "increments", 99000, nil)
	// The same words in two experiments are two operations.
	add("filter", OpScan, "rows", 300000, nil)
	add("overwrite", OpOverwrite, "records", 29500, func(r *Result) {
		r.Figures = map[string]float64{figureTablesOverLive: 2.4, figureLive: 1000, figureRateKept: 0.98}
		r.Samples = map[string][]*float64{sampleDisk: {ptr(1200.0), ptr(2400.0), ptr(1800.0)}}
	})
	add(ExperimentSustained, OpScan, "rows", 250000, nil)
	add(ExperimentSustained, OpStartKilled, unitStarts, 1, func(r *Result) { r.Latency = map[string]float64{"max": 1500} })
	add(ExperimentSustained, OpRead, "gets", 200, func(r *Result) { r.P99 = ptr(12.5) })
	add(ExperimentSustained, OpLoad, "records", 80000, sampled)
	add("overload", OpLoad, "records", 78000, func(r *Result) {
		r.Config["records"], r.Config["connections"], r.Config["duration"] = 0, 100, "2m0s"
		r.Errors, r.ErrorKinds = 2, map[string]int64{"RegionTooBusyException": 2}
		r.Figures = map[string]float64{figureRSSGrowth: 1.01}
	})
	return all
}

// TestDocumentOfExperiments: aims first, then a section for each experiment, and
// charts of what was sampled.
func TestDocumentOfExperiments(t *testing.T) {
	ran := 0
	for _, scale := range []float64{1, 0.01} {
		d := Document{Title: "Every experiment", Date: time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC), Machine: "2 CPUs", Commit: "abc1234",
			Command: "cellar bench all", Results: experimentResults(scale)}
		name := "experiments"
		if scale != 1 {
			name = "try"
			d.Failures = []string{"filter: what was read is not what was written"}
		}
		dir := t.TempDir()
		if err := d.WriteFiles(dir, name); err != nil {
			t.Fatal(err)
		}
		for _, ext := range []string{".md", ".svg"} {
			b, err := os.ReadFile(filepath.Join(dir, name+ext))
			if err != nil {
				t.Fatal(err)
			}
			if ext == ".md" || scale == 1 {
				golden(t, name+".golden"+ext, string(b))
			}
			for x := xml.NewDecoder(bytes.NewReader(b)); ext == ".svg"; {
				if _, err := x.Token(); err == io.EOF {
					break
				} else if err != nil {
					t.Fatalf("the picture is no XML: %v", err)
				}
			}
		}
		// And again from the file.
		var again Document
		if err := again.ReadFile(filepath.Join(dir, name+".json")); err != nil {
			t.Fatal(err)
		}
		var first, second bytes.Buffer
		if err := d.WriteMarkdown(&first, "x"); err != nil {
			t.Fatal(err)
		}
		if err := again.WriteMarkdown(&second, "x"); err != nil || first.String() != second.String() {
			t.Errorf("%v\n%s", err, second.String())
		}
		ran++
	}
	if ran != 2 {
		t.Errorf("%d ran", ran)
	}
}

// TestSections: an operation that failed in the first round belongs to its
// experiment all the same.
func TestSections(t *testing.T) {
	var got []string
	for _, section := range sections([]group{{experiment: "a", label: "1"}, {experiment: "b", label: "2"}, {experiment: "a", label: "3"}}) {
		for _, g := range section {
			got = append(got, g.experiment+g.label)
		}
	}
	if strings.Join(got, " ") != "a1 a3 b2" {
		t.Error(got)
	}
}

func TestReadFileFails(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "x.json")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		var d Document
		if err := d.ReadFile(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	f("", "its first line is not whole")
	f("{}", "its first line is not whole")
	f("x\n", "its first line: invalid")
	f("{}\n{\n", "read result 1")
}

// TestAimsAreJudged: at their very limits.
func TestAimsAreJudged(t *testing.T) {
	if len(aims()) != 17 {
		t.Errorf("%d aims", len(aims()))
	}
	judge := func(experiment string, results ...Result) string {
		for i := range results {
			results[i].Config = map[string]any{configExperiment: experiment}
		}
		var b strings.Builder
		writeAims(&b, groupResults(results))
		var all []string
		for line := range strings.Lines(b.String()) {
			if cells := strings.Split(line, "|"); len(cells) > 5 {
				all = append(all, strings.TrimSpace(cells[4])+" "+strings.TrimSpace(cells[5]))
			}
		}
		return strings.Join(all[min(2, len(all)):], ", ")
	}
	f := func(want, experiment string, results ...Result) {
		t.Helper()
		if got := judge(experiment, results...); got != want {
			t.Errorf("%s:\n got %s\nwant %s", experiment, got, want)
		}
	}
	f("100,000 yes", "increment", Result{Op: OpIncrement, Rate: 100000})
	f("99,999 **no**", "increment", Result{Op: OpIncrement, Rate: 99999})
	f("2,000,000 yes, 4.00 yes", "filter", Result{Op: OpFilter, Rate: 2000000}, Result{Op: OpScan, Rate: 500000})
	f("2,000,000 yes, 2.00 **no**", "filter", Result{Op: OpFilter, Rate: 2000000}, Result{Op: OpScan, Rate: 1000000})
	f("2.99 yes, 1.19 yes", "rescan", Result{Op: OpScanClean, Rate: 299}, Result{Op: OpScanOverwritten, Rate: 100}, Result{Op: OpScanCompacted, Rate: 251})
	f("3.00 **no**, 1.20 **no**", "rescan", Result{Op: OpScanClean, Rate: 300}, Result{Op: OpScanOverwritten, Rate: 100}, Result{Op: OpScanCompacted, Rate: 250})
	f("2.00 **no**, 0.80 yes", "overwrite", Result{Op: OpOverwrite, Figures: map[string]float64{figureTablesOverLive: 2, figureRateKept: 0.8}})
	f("- -, - -", "overwrite", Result{Op: OpOverwrite})
	f("0.90 yes", "backup", Result{Op: OpIngestBackup, Figures: map[string]float64{figureKeptBeside: 0.9}})
	f("60,000 yes, 0.50 yes, 1,535 yes, 9.90 yes, 19.90 yes, 1.99 yes", ExperimentSustained,
		Result{Op: OpLoad, Rate: 60000, WorstSecond: ptr(0.5), ServerRSSPeak: ptr(1535.0), P50: ptr(10.0), P99: ptr(99.0)},
		Result{Op: OpRead, P99: ptr(19.9), ServerRSSPeak: ptr(1.0)}, Result{Op: OpStartKilled, Latency: map[string]float64{"max": 1990}})
	f("59,999 **no**, 0.49 **no**, 1,536 **no**, 10.00 **no**, 20.00 **no**, 2.00 **no**", ExperimentSustained,
		Result{Op: OpLoad, Rate: 59999, WorstSecond: ptr(0.49), ServerRSSPeak: ptr(1.0), P50: ptr(10.0), P99: ptr(100.0)},
		Result{Op: OpScan, ServerRSSPeak: ptr(1536.0)}, Result{Op: OpRead, P99: ptr(20.0)}, Result{Op: OpStartKilled, Latency: map[string]float64{"max": 2000}})
	f("0 yes, - -, 1.09 yes", "overload", Result{Op: OpLoad, Figures: map[string]float64{figureRSSGrowth: 1.09}})
	f("1 **no**, - -, 1.10 **no**", "overload", Result{Op: OpLoad, Errors: 1, Figures: map[string]float64{figureRSSGrowth: 1.1}})
	f("", "published-private", Result{Op: OpLoad})
}

// TestScaled: sizes and times are scaled, nothing else.
func TestScaled(t *testing.T) {
	e := Experiment{Name: "x", Args: []string{"--op=load", "--records=60000", "--duration=2m", "--rate=30000", "--connections=100", "--memory=1GiB", "--gets=10"}}
	f := func(scale float64, want string) {
		t.Helper()
		if got := e.Scaled(scale).Command(); got != "cellar bench thrift --op=load "+want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	f(1, "--records=60000 --duration=2m --rate=30000 --connections=100 --memory=1GiB --gets=10")
	f(0.01, "--records=600 --duration=1.2s --rate=30000 --connections=100 --memory=1GiB --gets=1 --repeat=1")
	f(2, "--records=120000 --duration=4m0s --rate=30000 --connections=100 --memory=1GiB --gets=20")
	if strings.Join(e.Args, " ") != "--op=load --records=60000 --duration=2m --rate=30000 --connections=100 --memory=1GiB --gets=10" {
		t.Errorf("the experiment itself is another: %v", e.Args)
	}
	for _, scale := range []float64{0, -1, 0.00001, 1e9} {
		if CheckScale(scale) == nil {
			t.Errorf("scale %v", scale)
		}
	}
	if err := CheckScale(0.01); err != nil {
		t.Error(err)
	}
}

// TestExperiments: names that aims and figures refer to are there, once.
func TestExperiments(t *testing.T) {
	var names []string
	for _, e := range Experiments() {
		if slices.Contains(names, e.Name) || e.Title == "" || titleOf(e.Name) != e.Title || !strings.Contains(e.Command(), "--memory=") {
			t.Errorf("%+v", e)
		}
		names = append(names, e.Name)
	}
	if len(names) != 10 {
		t.Errorf("%d experiments", len(names))
	}
	for _, a := range aims() {
		if !slices.Contains(names, a.experiment) {
			t.Errorf("an aim of %s, which is none", a.experiment)
		}
	}
	if titleOf("none") != "" {
		t.Error("a title of none")
	}
}

// TestFiguresOfExperiments: the published 60,000 records are set beside those of
// 60,000 records only.
func TestFiguresOfExperiments(t *testing.T) {
	f := func(experiment string, want ...float64) {
		t.Helper()
		var got []float64
		for _, x := range figuresFor(&Result{Name: "thrift", Op: OpLoad, Durability: "SYNC_WAL", Config: map[string]any{"mode": ModePrivate, configExperiment: experiment}}) {
			got = append(got, x.Rate)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", experiment, got, want)
		}
	}
	f("published-private", 8700, 37586, 62163)
	f(ExperimentSustained, 6700)
	f("overload")
}

func TestMachine(t *testing.T) {
	text := "processor\t: 0\nmodel name\t: A CPU @ 2: fast\nprocessor\t: 1\nmodel name\t: B\n"
	if got := machineText("linux", "amd64", 2, cpuModel(text), 24<<30); got != "linux/amd64, 2 CPUs (A CPU @ 2: fast), 24 GiB; client and server on it" {
		t.Error(got)
	}
	if got := machineText("plan9", "arm", 1, cpuModel("x"), 0); got != "plan9/arm, 1 CPUs; client and server on it" {
		t.Error(got)
	}
	if got := Machine(); !strings.Contains(got, " CPUs") {
		t.Error(got)
	}
}
