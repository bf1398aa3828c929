package server

import (
	"runtime/metrics"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cellardb/cellar/door/ops"
	"github.com/cellardb/cellar/store"
)

// usage is what an engine uses of the memory and of the disk. Zero: nothing, or
// not known.
type usage struct {
	blockCache, memtables Bytes
	disk                  *ops.Disk
}

// pressure is the one figure of the server: the largest of the engine's parts
// and of the requests in flight. Nil: there is no engine yet.
func (s *Server) pressure() *ops.Pressure {
	if !s.opened() {
		return nil
	}
	p, _ := store.PressureOf(s.store)
	inFlight := float64(s.inFlight.Used()) / float64(s.inFlight.Size())
	return &ops.Pressure{
		Value: max(p.Value, inFlight), Memtables: p.Memtables, L0: p.L0, Garbage: p.Garbage, Disk: p.Disk, InFlight: inFlight,
	}
}

// opened says whether there is an engine. The state is set after the engine is
// there, under a lock, so who sees it sees the engine.
func (s *Server) opened() bool { return s.state.get() != stateStarting && s.store != nil }

// memoryParts gives each share of the budget with what is used of it.
func (s *Server) memoryParts(u usage) []ops.MemoryPart {
	doors := s.inFlight.Used()
	slack := goMemory() - doors
	if !cgoEnabled {
		slack -= int64(u.blockCache + u.memtables)
	}
	return []ops.MemoryPart{
		{Part: "block_cache", BudgetBytes: int64(s.split.BlockCache), UsedBytes: int64(u.blockCache)},
		{Part: "memtables", BudgetBytes: int64(s.split.Memtables), UsedBytes: int64(u.memtables)},
		{Part: "doors", BudgetBytes: int64(s.split.Doors), UsedBytes: doors},
		{Part: "tiers", BudgetBytes: int64(s.split.Tiers)},
		{Part: "slack", BudgetBytes: int64(s.split.Slack), UsedBytes: max(slack, 0)},
	}
}

// goMemory is what Go's runtime holds of the machine's memory, in bytes.
func goMemory() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}

// ready answers nil when clients may come, or the reason why not. Where the
// disk is full the reads of those who are there go on, but a writer should go
// elsewhere.
func (s *Server) ready() error {
	if err := s.state.ready(); err != nil {
		return err
	}
	return s.diskTrouble()
}

// pressureMetrics gives pressure and memory to Prometheus as they are when it
// asks.
type pressureMetrics struct {
	s                 *Server
	value, part, used *prometheus.Desc
}

func newPressureMetrics(s *Server) *pressureMetrics {
	return &pressureMetrics{
		s: s,
		value: prometheus.NewDesc("cellar_pressure_ratio",
			"How hard the server is pressed, 0 to 1: writers are slowed from 0.5 on. The largest of its parts.", nil, nil),
		part: prometheus.NewDesc("cellar_pressure_part_ratio",
			"The parts of the pressure: memtables, l0, garbage, disk, in_flight.", []string{"part"}, nil),
		used: prometheus.NewDesc("cellar_memory_used_bytes", "Memory in use, by the part of the budget.", []string{"part"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (m *pressureMetrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.value
	ch <- m.part
	ch <- m.used
}

// Collect implements prometheus.Collector.
func (m *pressureMetrics) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	p := m.s.pressure()
	if p == nil {
		return
	}
	gauge(m.value, p.Value)
	for part, v := range map[string]float64{
		"memtables": p.Memtables, "l0": p.L0, "garbage": p.Garbage, "disk": p.Disk, "in_flight": p.InFlight,
	} {
		gauge(m.part, v, part)
	}
	for _, part := range m.s.memoryParts(m.s.engineUsage()) {
		gauge(m.used, float64(part.UsedBytes), part.Part)
	}
}
