package server

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// registerProcess registers what is measured of the process as a whole.
func registerProcess(reg prometheus.Registerer, b Build, split Split) {
	reg.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "cellar_build_info", Help: "1; the labels say which build runs.",
		ConstLabels: prometheus.Labels{"version": b.Version, "commit": b.Commit, "go": b.Go},
	})
	build.Set(1)
	memory := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "cellar_memory_budget_bytes", Help: "Memory budget, by the part that it is for.",
	}, []string{"part"})
	for part, size := range split.parts() {
		memory.WithLabelValues(part).Set(float64(size))
	}
	reg.MustRegister(build, memory)
}
