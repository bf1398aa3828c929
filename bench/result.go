package bench

import (
	"encoding/json"
	"io"
	"runtime"
	"time"
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
	errors  int64
	latency histogram
	series  series
	used    usage
	started time.Time
	before  usage
}

func (m *measure) begin() {
	m.before = m.server.usage()
	m.started = m.clock()
}

// end ends a repetition, of which the workers kept these records.
func (m *measure) end(workers []*recorder) {
	took := m.clock().Sub(m.started)
	for _, w := range workers {
		m.latency.merge(&w.latency)
		m.series.merge(&w.series)
		m.errors += w.errors
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
		Seconds: m.took.Seconds(), Errors: m.errors, Series: m.series.counts(m.took),
		P50: m.latency.quantile(0.50), P99: m.latency.quantile(0.99),
		ServerCPU: m.used.serverCPU, ClientCPU: m.used.clientCPU, ServerRSSPeak: m.used.rssPeak,
		DiskRead: m.used.read, DiskWritten: m.used.written, Fsyncs: m.used.fsyncs,
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
	errors  int64
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
