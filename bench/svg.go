package bench

import (
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/dustin/go-humanize"
)

// Measures of a picture, in pixels.
const (
	svgWidth  = 900
	svgHeight = 180 // of one plot
	svgLeft   = 90
	svgRight  = 20
	svgTop    = 34
	svgBottom = 30
)

// chart is one plot: values side by side, from 0 up.
type chart struct {
	title  string
	values []*float64 // nil: unknown, a gap
	ticks  []string   // below the values; "": none
	level  *float64   // a dashed line
}

// WriteSVG draws, below one another, the median run of each operation: the rate
// by second; of a load, and of overwriting, also the latency of a call, memory,
// disk and pressure. Operations of less than three seconds are left out.
func (d *Document) WriteSVG(w io.Writer) error {
	var charts []chart
	for _, g := range groupResults(d.Results) {
		m := g.median()
		if len(m.Series) < 3 || m.single() {
			continue
		}
		title := g.label
		if g.experiment != "" {
			title = g.experiment + ": " + title
		}
		charts = append(charts, rateChart(title, m))
		if m.Op == OpLoad || m.Op == OpOverwrite || m.Op == OpIngestBackup {
			charts = append(charts, moreCharts(title, m)...)
		}
	}
	var b strings.Builder
	height := max(1, len(charts)) * svgHeight
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", svgWidth, height, svgWidth, height)
	b.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	for i := range charts {
		charts[i].draw(&b, i*svgHeight)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// rateChart is the rate by second, with its mean. The last second, which is not
// whole, is left out.
func rateChart(title string, r *Result) chart {
	counts := r.Series[:len(r.Series)-1]
	c := chart{title: fmt.Sprintf("%s: %s by second, %s", title, r.Unit, perSecond(r.Rate)), ticks: secondTicks(len(counts))}
	sum := 0.0
	for _, n := range counts {
		c.values = append(c.values, ptr(float64(n)))
		sum += float64(n)
	}
	c.level = ptr(sum / float64(len(counts)))
	return c
}

// moreCharts are those of the latency of calls and of what was sampled.
func moreCharts(title string, r *Result) []chart {
	var all []chart
	if r.Latency != nil {
		c := chart{title: title + ": latency of a call in ms, by percentile"}
		for _, q := range quantileNames {
			v, ok := r.Latency[q.name]
			if !ok {
				continue
			}
			c.values, c.ticks = append(c.values, &v), append(c.ticks, q.name)
		}
		all = append(all, c)
	}
	for _, s := range []struct{ name, what string }{
		{sampleRSS, "memory of the server in MiB"}, {sampleDisk, "files of the store in MiB"}, {samplePressure, "pressure, 0 to 1"},
	} {
		values := r.Samples[s.name]
		if len(values) < 3 {
			continue
		}
		c := chart{title: title + ": " + s.what + ", by second", values: values, ticks: secondTicks(len(values))}
		if live, ok := r.Figures[figureLive]; ok && s.name == sampleDisk {
			c.level = &live
			c.title += "; live data is the dashed line"
		}
		all = append(all, c)
	}
	return all
}

// secondTicks are about ten of n seconds.
func secondTicks(n int) []string {
	ticks := make([]string, n)
	for i := 0; i < n; i += max(1, n/10) {
		ticks[i] = fmt.Sprintf("%d s", i+1)
	}
	return ticks
}

// draw draws the chart with its upper edge at y.
func (c *chart) draw(b *strings.Builder, y int) {
	top := 0.0
	for _, v := range append(c.values[:len(c.values):len(c.values)], c.level) {
		if v != nil {
			top = max(top, *v)
		}
	}
	if top == 0 {
		top = 1
	}
	x := func(i int) float64 {
		return svgLeft + float64(i)/float64(max(1, len(c.values)-1))*(svgWidth-svgLeft-svgRight)
	}
	level := func(v float64) float64 {
		return float64(y+svgTop) + float64(svgHeight-svgTop-svgBottom)*(1-v/top)
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" font-weight="bold">%s</text>`+"\n", svgLeft, y+20, html.EscapeString(c.title))
	for _, v := range []float64{0, top / 2, top} {
		fmt.Fprintf(b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end" fill="#555">%s</text>`+"\n",
			svgLeft, svgWidth-svgRight, level(v), level(v), svgLeft-8, level(v)+4, axisNumber(v, top))
	}
	if c.level != nil {
		fmt.Fprintf(b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#888" stroke-dasharray="4 4"/>`+"\n", svgLeft, svgWidth-svgRight, level(*c.level), level(*c.level))
	}
	var points []string
	for i := 0; i <= len(c.values); i++ {
		if i < len(c.values) && c.values[i] != nil {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(i), level(*c.values[i])))
		} else if len(points) > 0 {
			fmt.Fprintf(b, `<polyline fill="none" stroke="#1f77b4" stroke-width="2" points="%s"/>`+"\n", strings.Join(points, " "))
			points = nil
		}
	}
	for i, tick := range c.ticks {
		if tick != "" {
			fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle" fill="#555">%s</text>`+"\n", x(i), y+svgHeight-12, html.EscapeString(tick))
		}
	}
}

// axisNumber renders a number at an axis that goes up to top.
func axisNumber(v, top float64) string {
	if top < 10 {
		return fmt.Sprintf("%.2f", v)
	}
	return humanize.Comma(int64(v))
}
