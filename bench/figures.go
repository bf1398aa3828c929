package bench

// Names of Result.Figures.
const (
	figureRateKept     = "rate_kept"      // rate over the rate that was asked for
	figureLive         = "live_mib"       // what the records of the table weigh
	figureDiskOverLive = "disk_over_live" // the most that the store took on disk, over live_mib
)
