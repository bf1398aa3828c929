package top

import (
	"fmt"
	"math"
	"time"

	"github.com/dustin/go-humanize"
)

// View gives the lines for a screen of a size in characters. Lines are never
// wider; the last ones are left out where there are too many. A height of 0
// leaves nothing out.
func (m *Model) View(width, height int) []Line {
	var lines []Line
	switch {
	case m.help:
		lines = helpLines()
	default:
		lines = m.lines(width, height)
	}
	if height > 0 && len(lines) > height {
		lines = lines[:height]
	}
	for i := range lines {
		lines[i] = lines[i].cut(width)
	}
	return lines
}

func (m *Model) glyphs() *glyphs {
	if m.ASCII {
		return &asciiGlyphs
	}
	return &unicodeGlyphs
}

func (m *Model) lines(width, height int) []Line {
	lines := m.header()
	if m.last == nil {
		return lines
	}
	lines = append(lines, m.pressureLines(width)...)
	lines = append(lines, m.memoryLines(width)...)
	lines = append(lines, m.storeLines(width)...)
	lines = append(lines, m.trafficLines(width)...)
	// Methods and tables share the rest: the tables have at least a half of it.
	methods, tables := m.methodLines(), m.tableLines(width)
	if height > 0 {
		rest := max(height-len(lines), 0)
		methods = methods[:min(len(methods), max(rest/2, rest-len(tables)))]
	}
	lines = append(lines, methods...)
	return append(lines, tables...)
}

// header says which server this is, and whether it answers.
func (m *Model) header() []Line {
	var lines []Line
	if s := m.last; s != nil {
		st := &s.Status
		state := Good
		if st.State != "ready" {
			state = Warn
		}
		line := Line{
			{"cellar ", Title}, {printable(st.Version), Title}, {"  ", Plain}, {printable(st.State), state},
			{fmt.Sprintf("  up %s  process %d  ", uptime(st.UptimeSeconds), st.PID), Dim},
			{printable(s.Addr), Plain}, {"  ", Plain}, {printable(st.Data), Plain}, {" (" + printable(st.Engine) + ")", Dim},
		}
		if m.paused {
			line = append(line, Span{"  paused, p goes on", Warn})
		}
		lines = append(lines, line)
	}
	switch {
	case m.err != nil:
		lines = append(lines, Line{{"no answer since " + m.since.Format(time.TimeOnly) + ": " + printable(m.err.Error()), Bad}})
	case m.last == nil:
		lines = append(lines, Line{{"asking the server", Dim}})
	}
	return lines
}

// part is a share of something, as an item of a line.
func (m *Model) part(name, text string, share float64) Line {
	const barWidth = 10
	return Line{{name + " ", Dim}, {text + " ", Plain}, {m.glyphs().bar(share, barWidth), level(share)}}
}

// item is a figure with its name.
func item(name, text string) Line { return Line{{name + " ", Dim}, {text, Plain}} }

func (m *Model) pressureLines(width int) []Line {
	p := m.last.Status.Pressure
	if p == nil {
		return nil
	}
	ratio := func(v float64) string { return fmt.Sprintf("%.2f", v) }
	all := m.part("all", ratio(p.Value), p.Value)
	all = append(all, Span{" " + m.glyphs().sparkline(m.pressure, 1), level(p.Value)})
	lines := flow("PRESSURE", []Line{all}, width)
	return append(lines, flow("", []Line{
		m.part("memtables", ratio(p.Memtables), p.Memtables), m.part("l0", ratio(p.L0), p.L0),
		m.part("garbage", ratio(p.Garbage), p.Garbage), m.part("in flight", ratio(p.InFlight), p.InFlight),
		m.part("disk", ratio(p.Disk), p.Disk),
	}, width)...)
}

func (m *Model) memoryLines(width int) []Line {
	st := &m.last.Status
	budget := float64(st.MemoryBytes)
	var items []Line
	if rss, ok := m.last.value("process_resident_memory_bytes"); ok && budget > 0 {
		items = append(items, m.part("process", size(rss)+" of "+size(budget), rss/budget))
	} else {
		items = append(items, item("budget", size(budget)))
	}
	names := map[string]string{"block_cache": "block cache"}
	for _, p := range st.Memory {
		name := names[p.Part]
		if name == "" {
			name = printable(p.Part)
		}
		used, of := float64(p.UsedBytes), float64(p.BudgetBytes)
		items = append(items, m.part(name, size(used)+"/"+size(of), used/of))
	}
	return flow("MEMORY", items, width)
}

func (m *Model) storeLines(width int) []Line {
	s := m.last
	var items []Line
	plain := func(name, metric string, show func(float64) string) {
		if v, ok := s.value(metric); ok {
			items = append(items, item(name, show(v)))
		}
	}
	count := func(v float64) string { return humanize.Comma(int64(v)) }
	plain("store", "cellar_store_disk_bytes", size)
	if d := s.Status.Disk; d != nil && d.SizeBytes > 0 {
		free := item("free", size(float64(d.FreeBytes))+" of "+size(float64(d.SizeBytes)))
		switch {
		case d.Waiting:
			free = append(free, Span{" FULL: the store waits for space", Bad})
		case d.Full:
			free = append(free, Span{" FULL: writes are refused", Bad})
		}
		items = append(items, free)
	}
	for _, r := range []struct{ name, metric string }{
		{"read", "cellar_store_disk_read_bytes_total"}, {"written", "cellar_store_disk_written_bytes_total"},
	} {
		if s.Metrics[r.metric] != nil {
			items = append(items, item(r.name, size(m.rate(r.metric))+"/s"))
		}
	}
	disk := flow("DISK", items, width)
	if len(items) == 0 {
		disk = nil
	}

	items = nil
	if s.Metrics["cellar_store_compactions_total"] != nil {
		items = append(items, item("compactions", perSecond(m.rate("cellar_store_compactions_total"))+"/s"))
	}
	plain("debt", "cellar_store_compaction_debt_bytes", size)
	plain("l0 files", "cellar_store_l0_files", count)
	plain("sublevels", "cellar_store_l0_sublevels", count)
	plain("garbage", "cellar_store_garbage_ratio", func(v float64) string { return fmt.Sprintf("%.1f %%", v*100) })
	if s.Metrics["cellar_store_collected_cells_total"] != nil {
		items = append(items, item("collected", perSecond(m.rate("cellar_store_collected_cells_total"))+" cells/s"))
	}
	if v, ok := s.value("cellar_store_admission_waiting"); ok && v > 0 {
		items = append(items, Line{{"waiting writers ", Dim}, {count(v), Warn}})
	}
	if v, ok := s.value("cellar_store_damaged_files"); ok && v > 0 {
		items = append(items, Line{{count(v) + " damaged files: restore from a backup", Bad}})
	}
	if len(items) == 0 {
		return disk
	}
	return append(disk, flow("MERGING", items, width)...)
}

func (m *Model) trafficLines(width int) []Line {
	s := m.last
	now := func(h history) float64 {
		if len(h) == 0 {
			return math.NaN()
		}
		return h[len(h)-1]
	}
	if m.err != nil {
		now = func(history) float64 { return math.NaN() }
	}
	g := m.glyphs()
	curve := func(name, text string, h history) Line {
		return Line{{name + " ", Dim}, {text + " ", Plain}, {g.sparkline(h, 0), Good}}
	}
	lines := flow("TRAFFIC", []Line{curve("requests", perSecond(now(m.requests))+"/s", m.requests)}, width)
	if s.Metrics["cellar_store_wal_written_bytes_total"] != nil {
		lines = append(lines, flow("", []Line{curve("written", size(now(m.writes))+"/s", m.writes)}, width)...)
	}
	lines = append(lines, flow("", []Line{curve("sent", size(now(m.reads))+"/s", m.reads)}, width)...)
	count := func(v float64) string { return humanize.Comma(int64(v)) }
	items := []Line{item("connections", count(s.total("cellar_door_connections_open")))}
	if v, ok := s.value("cellar_store_open_scanners"); ok {
		items = append(items, item("scanners", count(v)))
	}
	items = append(items,
		item("received", size(m.rate("cellar_door_received_bytes_total"))+"/s"),
		item("in flight", size(inFlight(s))),
	)
	if refused := m.rate("cellar_door_connections_refused_total"); refused > 0 {
		items = append(items, Line{{"connections refused ", Dim}, {perSecond(refused) + "/s", Bad}})
	}
	return append(lines, flow("", items, width)...)
}

// inFlight is the budget in use. All doors share it and each tells it whole.
func inFlight(s *Sample) float64 {
	var most float64
	if f := s.Metrics["cellar_door_in_flight_bytes"]; f != nil {
		for _, m := range f.Metric {
			most = max(most, number(m))
		}
	}
	return most
}

func helpLines() []Line {
	text := []string{
		"q        leave          p, space   pause and go on          ?   this page, and back",
		"",
		"Tables are sorted by:",
	}
	for _, o := range orders {
		text = append(text, fmt.Sprintf("%c        %s", o.key, o.name))
	}
	text = append(text, "",
		"heat     bytes a second written and read, and 1 KiB for each row",
		"p50 p99  half of the requests, 99 of 100, were answered within this time since the last sample",
		"pressure from 0 to 1; from 0.5 on writers are slowed",
		"curves   the last sixty samples, the newest on the right")
	lines := make([]Line, len(text))
	for i, t := range text {
		lines[i] = Line{{t, Plain}}
	}
	return lines
}
