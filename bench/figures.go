package bench

import "slices"

// Names of Result.Figures.
const (
	figureRateKept       = "rate_kept"        // rate over the rate that was asked for
	figureLive           = "live_mib"         // what the records of the table weigh
	figureDiskOverLive   = "disk_over_live"   // the most that the store took on disk, over live_mib
	figureTablesOverLive = "tables_over_live" // the most that its sstables took, over live_mib
	figureKeptBeside     = "kept"             // rate beside backups over the rate without
	figureBackup         = "backup_mib"       // size of the last backup
	figureRSSGrowth      = "rss_growth"       // the most memory in the last third of the time, over the second
)

// growthSeconds is how many samples tell how memory grows, at the least.
const growthSeconds = 9

// noteGrowth notes figureRSSGrowth where enough is known. The first third is left
// out: caches fill.
func (m *measure) noteGrowth() {
	rss := m.samples.known(sampleRSS)
	if len(rss) < growthSeconds {
		return
	}
	third := len(rss) / 3
	m.figure(figureRSSGrowth, slices.Max(rss[2*third:])/slices.Max(rss[third:2*third]))
}
