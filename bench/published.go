package bench

import "github.com/cellardb/cellar/cell"

// Figure is a rate that was measured elsewhere, or here with another server.
type Figure struct {
	Source string // what was measured, where
	Op     string
	Mode   string // of a load; "": any
	Rate   float64
	Unit   string
}

// Sources of figures.
const (
	SourcePublished = "published: gateway, HBase on four machines"
	SourceGateway2  = "Apache gateway over HBase 2.6.3, two cores"
	SourceGateway1  = "Apache gateway over HBase 1.4.13, two cores"
)

// PublishedThrift is what others got from the Thrift workload: 60,000 records of
// 1 KB by mutateRows of 300, over ten connections or one shared one. Those of
// two cores were taken with a stock client on the server's machine, the load
// acknowledged without fsync, as HBase does.
func PublishedThrift() []Figure {
	return []Figure{
		{SourcePublished, OpLoad, ModePrivate, 8700, "records"},
		{SourcePublished, OpLoad, ModeShared, 3700, "records"},
		{SourceGateway2, OpLoad, ModePrivate, 37586, "records"},
		{SourceGateway2, OpLoad, ModeShared, 29168, "records"},
		{SourceGateway2, OpScan, "", 56756, "rows"},
		{SourceGateway2, OpGet, "", 7814, "gets"},
		{SourceGateway1, OpLoad, ModePrivate, 62163, "records"},
		{SourceGateway1, OpLoad, ModeShared, 44112, "records"},
		{SourceGateway1, OpScan, "", 60049, "rows"},
		{SourceGateway1, OpGet, "", 10334, "gets"},
	}
}

// figuresFor are those to be set beside a result. All loads were with the log.
func figuresFor(r *Result) []Figure {
	mode, _ := r.Config["mode"].(string)
	var all []Figure
	if r.Op == OpLoad && r.Durability != cell.SyncWAL.String() {
		return nil
	}
	for _, f := range PublishedThrift() {
		if r.Name == "thrift" && f.Op == r.Op && (f.Mode == "" || f.Mode == mode) {
			all = append(all, f)
		}
	}
	return all
}
