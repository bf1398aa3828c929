package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

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
	writeFigures(&b, results)
	_, err := io.WriteString(w, b.String())
	return err
}

// plotAxis is the width in characters of a plot's axis.
const plotAxis = 14

// plot draws the rate by second; "" if there are fewer than three seconds.
func (r *Result) plot(width int) string {
	if len(r.Series) < 3 {
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

// Document is a report to be kept.
type Document struct {
	Title   string
	Date    time.Time
	Machine string // what it ran on, in words
	Commit  string
	// Command that was run, to run it again.
	Command string
	Results []Result // of any number of runs, in the order in which they ran
}

// WriteFiles writes name.md and name.svg into a folder.
func (d *Document) WriteFiles(folder, name string) error {
	var page, picture bytes.Buffer
	if err := d.WriteMarkdown(&page, name+".svg"); err != nil {
		return err
	}
	if err := d.WriteSVG(&picture); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, name+".md"), page.Bytes(), 0o666); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".svg"), picture.Bytes(), 0o666); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// ReadJSON reads results that WriteJSON wrote, of one run or of several.
func ReadJSON(r io.Reader) ([]Result, error) {
	var results []Result
	for d := json.NewDecoder(r); ; {
		var one Result
		if err := d.Decode(&one); err == io.EOF {
			return results, nil
		} else if err != nil {
			return results, fmt.Errorf("read result %d: %w", len(results)+1, err)
		}
		results = append(results, one)
	}
}

// WriteMarkdown writes the document. svg is the name of the file beside it that
// WriteSVG fills; "": no picture.
func (d *Document) WriteMarkdown(w io.Writer, svg string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", d.Title)
	fmt.Fprintf(&b, "%s · %s · commit %s\n\n", d.Date.Format(time.DateOnly), d.Machine, d.Commit)
	fmt.Fprintf(&b, "    %s\n\n", d.Command)
	b.WriteString("| operation | runs | lowest | median | highest | p50 ms | p99 ms | worst second | server CPU s | client CPU s | server peak MiB | errors | load average |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	groups := groupResults(d.Results)
	for _, g := range groups {
		m := g.median()
		fmt.Fprintf(&b, "| %s | %d | %s | **%s** | %s | %s | %s | %s | %s | %s | %s | %d | %s |\n", g.label, len(g.runs),
			perSecond(g.runs[0].Rate), perSecond(m.Rate), perSecond(g.runs[len(g.runs)-1].Rate),
			number(m.P50, "%.2f"), number(m.P99, "%.2f"), number(m.WorstSecond, "%.2f"), number(m.ServerCPU, "%.1f"), number(m.ClientCPU, "%.1f"),
			number(m.ServerRSSPeak, "%.0f"), g.errors(), loadOf(m))
	}
	b.WriteString("\nLatencies and what follows are those of the median run. Worst second: over the mean one. -: not known, or too short to say.\n")
	if svg != "" {
		fmt.Fprintf(&b, "\n![rate by second](%s)\n", svg)
	}
	writeComparison(&b, groups)
	_, err := io.WriteString(w, b.String())
	return err
}

func loadOf(r *Result) string {
	if load, ok := r.Config["load_average"].(float64); ok {
		return fmt.Sprintf("%.2f", load)
	}
	return "-"
}

func writeComparison(b *strings.Builder, groups []group) {
	head := "\n| operation | here | there | ratio | what |\n|---|---|---|---|---|\n"
	for _, g := range groups {
		m := g.median()
		for _, f := range figuresFor(m) {
			fmt.Fprintf(b, "%s| %s | %s | %s | %.1f | %s |\n", head, g.label, perSecond(m.Rate), perSecond(f.Rate), m.Rate/f.Rate, f.Source)
			head = ""
		}
	}
}
