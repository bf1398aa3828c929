package bench

import (
	"encoding/json"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/cellardb/cellar/bench/thriftclient"
)

// Result is what one operation of a workload came to. Its JSON form is one line
// of "cellar bench --json"; a field that could not be known is null there.
type Result struct {
	Name    string  `json:"name"` // workload: "thrift"
	Op      string  `json:"op"`
	Unit    string  `json:"unit"` // what Count counts
	Rate    float64 `json:"rate"` // Count / Seconds
	Seconds float64 `json:"seconds"`
	Count   int64   `json:"count"`
	Errors  int64   `json:"errors"` // calls that were answered with an error
	// WorstSecond is the slowest second's count over the mean second's, the
	// first and last second left out; null under 5 whole seconds.
	WorstSecond *float64 `json:"worst_second"`
	// P50 and P99 are the latencies of one call, in ms.
	P50        *float64 `json:"p50_ms"`
	P99        *float64 `json:"p99_ms"`
	Durability string   `json:"durability"`
	// What the operation cost the server and this process. Null: not ours, or
	// the platform does not say.
	ServerCPU     *float64 `json:"server_cpu_s"`
	ClientCPU     *float64 `json:"client_cpu_s"`
	ServerRSSPeak *float64 `json:"server_rss_peak_mib"` // of the server's whole life
	DiskRead      *float64 `json:"disk_read_mib"`
	DiskWritten   *float64 `json:"disk_written_mib"`
	Fsyncs        *int64   `json:"fsyncs"`
	// Series is Count second by second; pauses between repetitions are not in
	// it.
	Series []int64 `json:"series"`
	// ErrorKinds is Errors by what they were, HBase's names of exceptions.
	ErrorKinds map[string]int64 `json:"error_kinds"`
	// Latency holds quantiles of the latency of one call, in ms, by their names:
	// p10 p50 p90 p99 p99.9 p99.99 max.
	Latency map[string]float64 `json:"latency_ms"`
	// Samples are what the server said of itself, or the system of it, second by
	// second; an element is null where it did not say it. The names are those of
	// sampleNames.
	Samples map[string][]*float64 `json:"samples"`
	// Figures are what the operation is about besides its rate, by names that
	// docs/bench.md explains.
	Figures map[string]float64 `json:"figures"`
	// Config holds every flag by its name, and "load_average", the machine's
	// when the run began (absent where unknown), and "cpus".
	Config map[string]any `json:"config"`
}

// WriteJSON writes results as lines of JSON.
func WriteJSON(w io.Writer, results []Result) error {
	e := json.NewEncoder(w)
	for i := range results {
		if err := e.Encode(&results[i]); err != nil {
			return err
		}
	}
	return nil
}

// measure gathers what one operation costs over its repetitions. Only the time
// between begin and end counts.
type measure struct {
	clock   func() time.Time
	server  *server
	took    time.Duration
	rounds  int
	kinds   map[string]int64 // of errors
	latency histogram
	series  series
	used    usage
	started time.Time
	before  usage
	samples samples
	sampler *sampler
	figures map[string]float64
}

func (m *measure) begin() {
	m.before = m.server.usage()
	m.sampler = m.server.sample(&m.samples)
	m.started = m.clock()
}

// abandon ends a repetition of which nothing shall count; after end it does
// nothing.
func (m *measure) abandon() {
	m.sampler.stop()
	m.sampler = nil
}

// once notes a single act that took its time, in place of begin and end.
func (m *measure) once(took time.Duration) {
	m.latency.add(took)
	m.series.add(m.took, 1)
	m.took += took
	m.rounds++
}

// figure notes a figure of the operation.
func (m *measure) figure(name string, v float64) {
	if m.figures == nil {
		m.figures = map[string]float64{}
	}
	m.figures[name] = v
}

// end ends a repetition, of which the workers kept these records.
func (m *measure) end(workers []*recorder) {
	took := m.clock().Sub(m.started)
	m.abandon()
	for _, w := range workers {
		m.latency.merge(&w.latency)
		m.series.merge(&w.series)
		for kind, n := range w.kinds {
			if m.kinds == nil {
				m.kinds = map[string]int64{}
			}
			m.kinds[kind] += n
		}
	}
	m.used.add(m.server.usage().since(m.before))
	m.took += took
	m.rounds++
}

// recorder makes the record of one worker in the repetition that has begun.
func (m *measure) recorder() *recorder {
	return &recorder{clock: m.clock, started: m.started, offset: m.took}
}

// enough says whether the operation need not be repeated.
func (m *measure) enough(repeat int) bool {
	if repeat > 0 {
		return m.rounds >= repeat
	}
	return m.took >= FigureSeconds*time.Second || m.rounds >= maxRepeat
}

func (m *measure) result(name, op, unit, durability string, config map[string]any) Result {
	r := Result{
		Name: name, Op: op, Unit: unit, Durability: durability, Config: config,
		Seconds: m.took.Seconds(), Series: m.series.counts(m.took),
		P50: m.latency.quantile(0.50), P99: m.latency.quantile(0.99),
		ServerCPU: m.used.serverCPU, ClientCPU: m.used.clientCPU, ServerRSSPeak: m.used.rssPeak,
		DiskRead: m.used.read, DiskWritten: m.used.written, Fsyncs: m.used.fsyncs,
		ErrorKinds: m.kinds, Latency: m.latency.quantiles(), Samples: m.samples, Figures: m.figures,
	}
	for _, n := range m.kinds {
		r.Errors += n
	}
	for _, n := range r.Series {
		r.Count += n
	}
	if r.Seconds > 0 {
		r.Rate = float64(r.Count) / r.Seconds
	}
	r.WorstSecond = worstSecond(r.Series, m.took)
	return r
}

// recorder is what one worker notes down during a repetition; no other
// goroutine uses it meanwhile.
type recorder struct {
	clock   func() time.Time
	started time.Time
	offset  time.Duration // time of the operation before this repetition
	latency histogram
	series  series
	kinds   map[string]int64 // calls that were refused, by the exception
}

// refused notes an exception.
func (r *recorder) refused(e *thriftclient.Exception) {
	if r.kinds == nil {
		r.kinds = map[string]int64{}
	}
	r.kinds[errorKind(e)]++
}

// errorKind is the name of the Java class that an IOError begins with, without
// its package; else that of the exception.
func errorKind(e *thriftclient.Exception) string {
	class, _, ok := strings.Cut(e.Message, ":")
	if e.Kind != thriftclient.IOError || !ok || strings.ContainsAny(class, " \n") {
		return e.Kind.String()
	}
	return class[strings.LastIndexByte(class, '.')+1:]
}

// done notes a call that began at from, has ended now and did n units.
func (r *recorder) done(from time.Time, n int) {
	now := r.clock()
	r.latency.add(now.Sub(from))
	r.series.add(r.offset+now.Sub(r.started), int64(n))
}

// machine adds to a configuration what the figures depend on besides.
func machine(config map[string]any) map[string]any {
	if load, ok := loadAverage(); ok {
		config["load_average"] = load
	}
	config["cpus"] = runtime.NumCPU()
	return config
}
