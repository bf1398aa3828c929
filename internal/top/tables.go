package top

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cellardb/cellar/door/ops"
)

// methodRow is one method of a door between two samples.
type methodRow struct {
	method
	rate, failed float64 // by the second; NaN: not known yet
	p50, p99     float64 // seconds
	total        float64
}

// methodRows gives the methods that were called since the server's start, those
// that are called most now first.
func (m *Model) methodRows() []methodRow {
	after := m.last.methods()
	var before map[method]*calls
	if m.prev != nil {
		before = m.prev.methods()
	}
	var rows []methodRow
	for k, c := range after {
		if c.requests == 0 {
			continue
		}
		r := methodRow{method: k, rate: math.NaN(), failed: math.NaN(), p50: math.NaN(), p99: math.NaN(), total: c.requests}
		if before != nil {
			b := before[k]
			if b == nil {
				b = &calls{}
			}
			r.rate = max(c.requests-b.requests, 0) / m.elapsed()
			r.failed = max(c.failures-b.failures, 0) / m.elapsed()
			r.p50, r.p99 = quantile(0.5, b.buckets, c.buckets), quantile(0.99, b.buckets, c.buckets)
		}
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b methodRow) int {
		return cmp.Or(cmp.Compare(orZero(b.rate), orZero(a.rate)), cmp.Compare(b.total, a.total),
			strings.Compare(a.door, b.door), strings.Compare(a.name, b.name))
	})
	return rows
}

func (m *Model) methodLines() []Line {
	rows := m.methodRows()
	if len(rows) == 0 {
		return nil
	}
	name := len("METHOD")
	for _, r := range rows {
		name = max(name, len(r.door)+1+len(r.name))
	}
	name = min(name, 40)
	lines := []Line{{{pad("METHOD", name) + "        /s  failed/s       p50       p99", Title}}}
	for _, r := range rows {
		failed := Span{padLeft(perSecond(r.failed), 10), Plain}
		if r.failed > 0 {
			failed.Style = Warn
		}
		full := printable(r.door + " " + r.name)
		lines = append(lines, Line{
			{pad(full[:min(len(full), name)], name), Plain},
			{padLeft(perSecond(r.rate), 10), Plain}, failed,
			{padLeft(seconds(r.p50), 10), Plain}, {padLeft(seconds(r.p99), 10), Plain},
		})
	}
	return lines
}

// sortTables puts tables into the order of the user, which the server does not
// know. The hottest first is how they come.
func sortTables(tables []ops.HotTable, by order) []ops.HotTable {
	sorted := slices.Clone(tables)
	figure := map[order]func(*ops.HotTable) float64{
		byRowsWritten:  func(t *ops.HotTable) float64 { return t.RowsWrittenRate },
		byBytesWritten: func(t *ops.HotTable) float64 { return t.BytesWrittenRate },
		byRowsRead:     func(t *ops.HotTable) float64 { return t.RowsReadRate },
		byBytesRead:    func(t *ops.HotTable) float64 { return t.BytesReadRate },
	}[by]
	switch {
	case by == byName:
		slices.SortStableFunc(sorted, func(a, b ops.HotTable) int { return strings.Compare(a.Table, b.Table) })
	case figure != nil:
		slices.SortStableFunc(sorted, func(a, b ops.HotTable) int { return cmp.Compare(figure(&b), figure(&a)) })
	}
	return sorted
}

func (m *Model) tableLines(width int) []Line {
	t := &m.last.Top
	if len(t.Tables) == 0 {
		return nil
	}
	const columns = 4 * 12
	name := min(max(width-columns, 16), 40)
	head := Line{{pad("TABLE", name), Title}}
	for i, text := range []string{"rows in/s", "bytes in/s", "rows out/s", "bytes out/s"} {
		style := Dim
		if m.order == order(i+1) {
			style = Title
		}
		head = append(head, Span{padLeft(text, 12), style})
	}
	lines := []Line{head}
	for _, x := range sortTables(t.Tables, m.order) {
		rate := func(v float64, show func(float64) string) Span {
			if t.WindowSeconds == 0 {
				v = math.NaN()
			}
			style := Plain
			if v == 0 {
				style = Dim
			}
			return Span{padLeft(show(v), 12), style}
		}
		full := printable(x.Table)
		lines = append(lines, Line{
			{pad(full[:min(len(full), name)], name), Plain},
			rate(x.RowsWrittenRate, perSecond), rate(x.BytesWrittenRate, size),
			rate(x.RowsReadRate, perSecond), rate(x.BytesReadRate, size),
		})
	}
	if more := t.TablesCounted - len(t.Tables); more > 0 {
		lines = append(lines, Line{{fmt.Sprintf("and %d colder tables", more), Dim}})
	}
	return lines
}
