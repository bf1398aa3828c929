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

// WriteSVG draws, below one another, the rate by second of the median run of
// each operation. Operations of less than three seconds are left out.
func (d *Document) WriteSVG(w io.Writer) error {
	var plots []string
	for _, g := range groupResults(d.Results) {
		m := g.median()
		if len(m.Series) < 3 {
			continue
		}
		plots = append(plots, svgPlot(g.label, m, len(plots)*svgHeight))
	}
	var b strings.Builder
	height := max(1, len(plots)) * svgHeight
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", svgWidth, height, svgWidth, height)
	b.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	for _, p := range plots {
		b.WriteString(p)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// svgPlot draws one operation with its upper edge at y. The last second, which
// is not whole, is left out; a dashed line is the mean.
func svgPlot(title string, r *Result, y int) string {
	counts := r.Series[:len(r.Series)-1]
	top := int64(1)
	sum := int64(0)
	for _, n := range counts {
		top = max(top, n)
		sum += n
	}
	mean := float64(sum) / float64(len(counts))
	inner := float64(svgHeight - svgTop - svgBottom)
	x := func(second float64) float64 {
		return svgLeft + second/float64(max(1, len(counts)-1))*(svgWidth-svgLeft-svgRight)
	}
	level := func(n float64) float64 { return float64(y+svgTop) + inner*(1-n/float64(top)) }
	var b strings.Builder
	fmt.Fprintf(&b, `<text x="%d" y="%d" font-weight="bold">%s: %s by second, %s</text>`+"\n", svgLeft, y+20, html.EscapeString(title), html.EscapeString(r.Unit), perSecond(r.Rate))
	for _, n := range []float64{0, float64(top) / 2, float64(top)} {
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end" fill="#555">%s</text>`+"\n",
			svgLeft, svgWidth-svgRight, level(n), level(n), svgLeft-8, level(n)+4, humanize.Comma(int64(n)))
	}
	fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#888" stroke-dasharray="4 4"/>`+"\n", svgLeft, svgWidth-svgRight, level(mean), level(mean))
	points := make([]string, len(counts))
	for i, n := range counts {
		points[i] = fmt.Sprintf("%.1f,%.1f", x(float64(i)), level(float64(n)))
	}
	fmt.Fprintf(&b, `<polyline fill="none" stroke="#1f77b4" stroke-width="2" points="%s"/>`+"\n", strings.Join(points, " "))
	for i := 0; i < len(counts); i += max(1, len(counts)/10) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle" fill="#555">%d s</text>`+"\n", x(float64(i)), y+svgHeight-12, i+1)
	}
	return b.String()
}
