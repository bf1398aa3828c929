package bench

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/guptarohit/asciigraph"
)

// label names a result in a report: "load, private, SYNC_WAL".
func (r *Result) label() string {
	if r.Op != OpLoad {
		return r.Op
	}
	mode, _ := r.Config["mode"].(string)
	return fmt.Sprintf("%s, %s, %s", r.Op, mode, r.Durability)
}

// short says that an operation ran for less than makes a figure.
func (r *Result) short() bool { return r.Seconds < FigureSeconds }

// number renders a figure that may be unknown.
func number[N int64 | float64](v *N, format string) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf(format, *v)
}

func perSecond(rate float64) string { return humanize.Comma(int64(rate+0.5)) + "/s" }

// Report says what results mean to a person: a plot of each one's rate by
// second, a table of them, and the figures that others got. Width is that of a
// plot's line in characters; 0: 100.
func Report(w io.Writer, results []Result, width int) error {
	if width == 0 {
		width = 100
	}
	var b strings.Builder
	for i := range results {
		if plot := results[i].plot(width); plot != "" {
			b.WriteString(plot + "\n\n")
		}
	}
	writeTable(&b, results)
	for i := range results {
		writeMore(&b, results[i].label(), &results[i], "")
	}
	writeFigures(&b, results)
	_, err := io.WriteString(w, b.String())
	return err
}

// plotAxis is the width in characters of a plot's axis.
const plotAxis = 14

// plot draws the rate by second; "" if there are fewer than three seconds, or
// there is no rate to speak of.
func (r *Result) plot(width int) string {
	if len(r.Series) < 3 || r.single() {
		return ""
	}
	// The last second is not a whole one.
	points := make([]float64, len(r.Series)-1)
	for i := range points {
		points[i] = float64(r.Series[i])
	}
	return asciigraph.Plot(points, asciigraph.Height(8), asciigraph.Width(max(10, width-plotAxis)), asciigraph.LowerBound(0), asciigraph.Precision(0),
		asciigraph.Caption(fmt.Sprintf("%s: %s by second, %d s", r.label(), r.Unit, len(points))))
}

func writeTable(b *strings.Builder, results []Result) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	row(t, "", "rate", "count", "seconds", "p50 ms", "p99 ms", "worst second", "server CPU s", "client CPU s", "server peak MiB", "written MiB", "fsyncs", "errors", "")
	for i := range results {
		r := &results[i]
		rate := perSecond(r.Rate)
		if r.short() {
			rate = "(" + rate + ")"
		}
		row(t, r.label(), rate, humanize.Comma(r.Count), fmt.Sprintf("%.2f", r.Seconds),
			number(r.P50, "%.2f"), number(r.P99, "%.2f"), number(r.WorstSecond, "%.2f"), number(r.ServerCPU, "%.1f"), number(r.ClientCPU, "%.1f"),
			number(r.ServerRSSPeak, "%.0f"), number(r.DiskWritten, "%.0f"), number(r.Fsyncs, "%d"), fmt.Sprint(r.Errors), "")
	}
	_ = t.Flush() // a Builder does not fail
	b.WriteString("worst second: over the mean one; -: not known, or too short to say.\n")
	for i := range results {
		if results[i].short() {
			fmt.Fprintf(b, "(rate): ran for less than %d s, which makes no figure.\n", FigureSeconds)
			break
		}
	}
}

// writeMore says what else an operation is about, and what it was refused with, on
// lines that begin with a bullet.
func writeMore(b *strings.Builder, label string, r *Result, bullet string) {
	for _, name := range slices.Sorted(maps.Keys(r.Figures)) {
		fmt.Fprintf(b, "%s%s: %s %.2f\n", bullet, label, name, r.Figures[name])
	}
	for _, kind := range slices.Sorted(maps.Keys(r.ErrorKinds)) {
		fmt.Fprintf(b, "%s%s: %s errors %s\n", bullet, label, humanize.Comma(r.ErrorKinds[kind]), kind)
	}
}

func row(w io.Writer, cells ...string) {
	_, _ = fmt.Fprintln(w, strings.Join(cells, "\t")) // to memory
}

// writeFigures sets what others got beside the results.
func writeFigures(b *strings.Builder, results []Result) {
	first := true
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for i := range results {
		r := &results[i]
		for _, f := range figuresFor(r) {
			if first {
				row(t, "\ncompare", "here", "there", "ratio", "what")
				first = false
			}
			row(t, r.label(), perSecond(r.Rate), perSecond(f.Rate), fmt.Sprintf("%.1f", r.Rate/f.Rate), f.Source)
		}
	}
	_ = t.Flush() // a Builder does not fail
	if first {
		return
	}
	if load, ok := results[0].Config["load_average"].(float64); ok {
		fmt.Fprintf(b, "load average before the run: %.2f on %v CPUs\n", load, results[0].Config["cpus"])
	}
}
