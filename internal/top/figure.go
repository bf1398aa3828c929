package top

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// glyphs are the characters that bars and sparklines are made of.
type glyphs struct {
	full, empty string
	spark       []rune // lowest first; none: no sparklines
}

var (
	unicodeGlyphs = glyphs{full: "█", empty: "░", spark: []rune("▁▂▃▄▅▆▇█")}
	asciiGlyphs   = glyphs{full: "#", empty: "."}
)

// bar shows a share of [0,1].
func (g *glyphs) bar(share float64, width int) string {
	if !(share > 0) {
		share = 0
	}
	full := min(int(math.Round(share*float64(width))), width)
	return strings.Repeat(g.full, full) + strings.Repeat(g.empty, width-full)
}

// sparkline shows values against the largest of them, or against top if that is
// larger. NaN leaves a gap.
func (g *glyphs) sparkline(values []float64, top float64) string {
	if len(g.spark) == 0 {
		return ""
	}
	for _, v := range values {
		top = math.Max(top, orZero(v))
	}
	var b strings.Builder
	for _, v := range values {
		switch {
		case math.IsNaN(v):
			b.WriteByte(' ')
		case top <= 0:
			b.WriteRune(g.spark[0])
		default:
			n := len(g.spark)
			b.WriteRune(g.spark[min(int(v/top*float64(n)), n-1)])
		}
	}
	return b.String()
}

func orZero(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// unknown stands for a figure that is not there.
const unknown = "-"

// perSecond shows a rate of things.
func perSecond(v float64) string {
	switch {
	case math.IsNaN(v):
		return unknown
	case v > 0 && v < 9.95:
		return fmt.Sprintf("%.1f", v)
	}
	return humanize.Comma(int64(math.Round(v)))
}

// size shows bytes.
func size(v float64) string {
	if math.IsNaN(v) {
		return unknown
	}
	return humanize.IBytes(uint64(max(v, 0)))
}

// seconds shows a latency.
func seconds(v float64) string {
	switch {
	case math.IsNaN(v):
		return unknown
	case math.IsInf(v, 1):
		return ">10s"
	case v < 0.001:
		return fmt.Sprintf("%.0fus", v*1e6)
	case v < 0.01:
		return fmt.Sprintf("%.1fms", v*1e3)
	case v < 1:
		return fmt.Sprintf("%.0fms", v*1e3)
	}
	return fmt.Sprintf("%.1fs", v)
}

// uptime shows a time in its two largest units.
func uptime(v float64) string {
	d := time.Duration(v * float64(time.Second))
	days, hours, minutes := int(d.Hours())/24, int(d.Hours())%24, int(d.Minutes())%60
	switch {
	case days > 0:
		return fmt.Sprintf("%dd%dh", days, hours)
	case hours > 0:
		return fmt.Sprintf("%dh%dm", hours, minutes)
	}
	return fmt.Sprintf("%dm%ds", minutes, int(d.Seconds())%60)
}

// level is the style of a share of what there is at most.
func level(share float64) Style {
	switch {
	case share >= 0.8:
		return Bad
	case share >= 0.5:
		return Warn
	}
	return Good
}
