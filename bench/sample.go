package bench

import (
	"path/filepath"
	"sync"
	"time"
)

// Names of samples.
const (
	sampleRSS      = "rss_mib"      // memory of the process, as the system says
	sampleDisk     = "disk_mib"     // files of the store
	sampleTables   = "tables_mib"   // of them, sstables that reads look at
	sampleMemtable = "memtable_mib" // writes that are not in files yet
	samplePressure = "pressure"     // 0 to 1: how hard the store is pressed
	sampleGarbage  = "garbage"      // bytes that no read can see, over live data
)

// sampled are the metrics that are sampled.
var sampled = []struct {
	name, metric string
	unit         float64
}{
	{sampleDisk, "cellar_store_disk_bytes", mib},
	{sampleTables, "cellar_store_table_bytes", mib},
	{sampleMemtable, "cellar_store_memtable_bytes", mib},
	{samplePressure, metricPressure, 1},
	{sampleGarbage, "cellar_store_garbage_ratio", 1},
}

const metricPressure = "cellar_pressure_ratio"

// samples are values by name, second by second; those of which nothing was ever
// known are missing.
type samples map[string][]*float64

// sampler samples a server each second until it is stopped.
type sampler struct {
	quit chan struct{}
	done sync.WaitGroup
}

// sample begins to add to samples what there is to know about the server; nil if
// there is nothing.
func (s *server) sample(into *samples) *sampler {
	if s.proc == "" && s.stats == "" {
		return nil
	}
	if *into == nil {
		*into = samples{}
	}
	p := &sampler{quit: make(chan struct{})}
	p.done.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				into.add(s.now())
			case <-p.quit:
				return
			}
		}
	})
	return p
}

// stop ends the sampler, if there is one, and waits for it.
func (p *sampler) stop() {
	if p != nil {
		close(p.quit)
		p.done.Wait()
	}
}

// add adds the values of a second.
func (s samples) add(values map[string]float64) {
	n := 0 // seconds so far
	for _, all := range s {
		n = max(n, len(all))
	}
	for name := range values {
		if s[name] == nil {
			s[name] = make([]*float64, n)
		}
	}
	for name, all := range s {
		var v *float64
		if value, ok := values[name]; ok {
			v = &value
		}
		s[name] = append(all, v)
	}
}

// now is what can be known about the server at this moment.
func (s *server) now() map[string]float64 {
	values := map[string]float64{}
	if s.proc != "" {
		if f, ok := procFields(filepath.Join(s.proc, "status"), "VmRSS"); ok {
			values[sampleRSS] = f[0] / 1024 // kB
		}
	}
	if s.stats == "" {
		return values
	}
	m, err := fetchMetrics(s.client, s.stats)
	if err != nil {
		return values // not known
	}
	for _, x := range sampled {
		if v, ok := m[x.metric]; ok {
			values[x.name] = v / x.unit
		}
	}
	return values
}

// known are the values of a sample that are known.
func (s samples) known(name string) []float64 {
	var all []float64
	for _, v := range s[name] {
		if v != nil {
			all = append(all, *v)
		}
	}
	return all
}
