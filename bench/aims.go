package bench

import (
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize"
)

// aim is what Cellar is to reach in an experiment, on two cores that client and
// server share.
type aim struct {
	experiment, what, reach string
	whole                   bool // the value is shown without decimals
	// value is what was reached; nil: not known.
	value func(f found) *float64
	holds func(v float64) bool
}

// found finds the median run of an operation of an experiment; nil: there is
// none.
type found func(experiment, op string) *Result

func atLeast(limit float64) func(float64) bool { return func(v float64) bool { return v >= limit } }
func below(limit float64) func(float64) bool   { return func(v float64) bool { return v < limit } }

// of makes a value of what one operation has.
func of(experiment, op string, value func(r *Result) *float64) func(f found) *float64 {
	return func(f found) *float64 {
		r := f(experiment, op)
		if r == nil {
			return nil
		}
		return value(r)
	}
}

func rateOf(r *Result) *float64 { return &r.Rate }

func figureOf(name string) func(r *Result) *float64 {
	return func(r *Result) *float64 {
		v, ok := r.Figures[name]
		if !ok {
			return nil
		}
		return &v
	}
}

// ratio of the rates of two operations.
func ratio(experiment, op, over, otherOp string) func(f found) *float64 {
	return func(f found) *float64 {
		r, o := f(experiment, op), f(over, otherOp)
		if r == nil || o == nil || o.Rate == 0 {
			return nil
		}
		return ptr(r.Rate / o.Rate)
	}
}

// aims are all there are, in the order of Experiments.
func aims() []aim {
	const sustained, times, whole = ExperimentSustained, false, true
	return []aim{
		{"increment", "increments of ten connections, exact sums", "100,000/s", whole, of("increment", OpIncrement, rateOf), atLeast(100000)},
		{"filter", "rows a second that a filter looks at, through the door", "1,000,000/s", whole, of("filter", OpFilter, rateOf), atLeast(1000000)},
		{"filter", "… over the scan that sends all", "3 x", times, ratio("filter", OpFilter, "filter", OpScan), atLeast(3)},
		{"rescan", "a clean scan over that of overwritten rows", "within 3 x", times, ratio("rescan", OpScanClean, "rescan", OpScanOverwritten), below(3)},
		{"rescan", "… over that after a compaction", "within 1.2 x", times, ratio("rescan", OpScanClean, "rescan", OpScanCompacted), below(1.2)},
		{"overwrite", "sstables over live data, at their most", "under 2 x", times, of("overwrite", OpOverwrite, figureOf(figureTablesOverLive)), below(2)},
		{"overwrite", "rate over the rate that was asked for", "0.8", times, of("overwrite", OpOverwrite, figureOf(figureRateKept)), atLeast(0.8)},
		{sustained, "records a second, held", "60,000/s", whole, of(sustained, OpLoad, rateOf), atLeast(60000)},
		{sustained, "worst second over the mean one", "0.5", times, of(sustained, OpLoad, func(r *Result) *float64 { return r.WorstSecond }), atLeast(0.5)},
		{sustained, "peak memory of the server, MiB", "under 1,536", whole, peak(sustained), below(1536)},
		{sustained, "p99 of a batch of 300 over its median", "under 10 x", times, of(sustained, OpLoad, p99OverP50), below(10)},
		{sustained, "p99 of getRow beside the load, ms", "under 20", times, of(sustained, OpRead, func(r *Result) *float64 { return r.P99 }), below(20)},
		{sustained, "start on 6 GB after kill -9, the slowest, s", "2", times, of(sustained, OpStartKilled, slowest), below(2)},
		{"backup", "rate of a load beside backups over the rate without", "0.9", times, of("backup", OpIngestBackup, figureOf(figureKeptBeside)), atLeast(0.9)},
		{"overload", "errors", "none", whole, of("overload", OpLoad, func(r *Result) *float64 { return ptr(float64(r.Errors)) }), below(1)},
		{"overload", "rate over that of the sustained load", "0.9", times, ratio("overload", OpLoad, sustained, OpLoad), atLeast(0.9)},
		{"overload", "memory of the last third over that of the second", "flat: 1.1", times, of("overload", OpLoad, figureOf(figureRSSGrowth)), below(1.1)},
	}
}

// peak memory of the server, whichever operation took it.
func peak(experiment string) func(f found) *float64 {
	return func(f found) (most *float64) {
		for _, op := range []string{OpLoad, OpScan, OpRead} {
			if r := f(experiment, op); r != nil && r.ServerRSSPeak != nil && (most == nil || *r.ServerRSSPeak > *most) {
				most = r.ServerRSSPeak
			}
		}
		return most
	}
}

func p99OverP50(r *Result) *float64 {
	if r.P50 == nil || r.P99 == nil || *r.P50 == 0 {
		return nil
	}
	return ptr(*r.P99 / *r.P50)
}

// slowest call, in seconds.
func slowest(r *Result) *float64 {
	v, ok := r.Latency["max"]
	if !ok {
		return nil
	}
	return ptr(v / 1000)
}

// writeAims sets what was reached beside what is aimed at; nothing if no
// experiment was done that has an aim.
func writeAims(b *strings.Builder, groups []group) {
	find := func(experiment, op string) *Result {
		for i := range groups {
			if g := &groups[i]; g.experiment == experiment && g.runs[0].Op == op {
				return g.median()
			}
		}
		return nil
	}
	head := "\n| experiment | aim | reach | here | reached |\n|---|---|---|---|---|\n"
	for _, a := range aims() {
		here, reached := "-", "-"
		if v := a.value(find); v != nil {
			here, reached = a.number(*v), "**no**"
			if a.holds(*v) {
				reached = "yes"
			}
		} else if !done(groups, a.experiment) {
			continue
		}
		fmt.Fprintf(b, "%s| %s | %s | %s | %s | %s |\n", head, a.experiment, a.what, a.reach, here, reached)
		head = ""
	}
}

func (a *aim) number(v float64) string {
	if a.whole {
		return humanize.Comma(int64(math.Round(v)))
	}
	return fmt.Sprintf("%.2f", v)
}

// done says whether there is a result of an experiment.
func done(groups []group, experiment string) bool {
	for i := range groups {
		if groups[i].experiment == experiment {
			return true
		}
	}
	return false
}
