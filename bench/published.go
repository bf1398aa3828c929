package bench

import (
	"strings"

	"github.com/cellardb/cellar/cell"
)

// Figure is a rate that was measured elsewhere, or here with another server.
type Figure struct {
	Source string // what was measured, where
	Op     string
	Mode   string // of a load; "": any
	// Experiment that it belongs to; "": those of 60,000 records, and what is
	// none of Experiments.
	Experiment string
	Rate       float64
	Unit       string
}

// Sources of figures.
const (
	SourcePublished = "published: gateway, HBase on four machines"
	SourceSustained = "published: 6 GB, gateway, HBase on four machines"
	SourceGateway2  = "Apache gateway over HBase 2.6.3, two cores"
	SourceGateway1  = "Apache gateway over HBase 1.4.13, two cores"
)

// PublishedThrift is what others got from the Thrift workload: 60,000 records of
// 1 KB by mutateRows of 300, over ten connections or one shared one. Those of
// two cores were taken with a stock client on the server's machine, the load
// acknowledged without fsync, as HBase does.
func PublishedThrift() []Figure {
	return []Figure{
		{Source: SourcePublished, Op: OpLoad, Mode: ModePrivate, Rate: 8700, Unit: "records"},
		{Source: SourcePublished, Op: OpLoad, Mode: ModeShared, Rate: 3700, Unit: "records"},
		{Source: SourceSustained, Op: OpLoad, Rate: 6700, Unit: "records", Experiment: ExperimentSustained},
		{Source: SourceGateway2, Op: OpLoad, Mode: ModePrivate, Rate: 37586, Unit: "records"},
		{Source: SourceGateway2, Op: OpLoad, Mode: ModeShared, Rate: 29168, Unit: "records"},
		{Source: SourceGateway2, Op: OpScan, Rate: 56756, Unit: "rows"},
		{Source: SourceGateway2, Op: OpGet, Rate: 7814, Unit: "gets"},
		{Source: SourceGateway1, Op: OpLoad, Mode: ModePrivate, Rate: 62163, Unit: "records"},
		{Source: SourceGateway1, Op: OpLoad, Mode: ModeShared, Rate: 44112, Unit: "records"},
		{Source: SourceGateway1, Op: OpScan, Rate: 60049, Unit: "rows"},
		{Source: SourceGateway1, Op: OpGet, Rate: 10334, Unit: "gets"},
	}
}

// figuresFor are those to be set beside a result. All loads were with the log.
func figuresFor(r *Result) []Figure {
	mode, _ := r.Config["mode"].(string)
	experiment, _ := r.Config[configExperiment].(string)
	if strings.HasPrefix(experiment, publishedPrefix) {
		experiment = ""
	}
	var all []Figure
	if r.Op == OpLoad && r.Durability != cell.SyncWAL.String() {
		return nil
	}
	for _, f := range PublishedThrift() {
		if r.Name == "thrift" && f.Op == r.Op && f.Experiment == experiment && (f.Mode == "" || f.Mode == mode) {
			all = append(all, f)
		}
	}
	return all
}
