package cell

// Durability says what an acknowledged mutation survives. The numbers are
// HBase's.
type Durability uint8

// Durability levels.
const (
	// UseDefault is the table's level, which is SyncWAL unless its schema says
	// otherwise.
	UseDefault Durability = iota
	// SkipWAL may lose what was acknowledged when the process ends.
	SkipWAL
	// AsyncWAL may lose about the last second.
	AsyncWAL
	// SyncWAL survives the end of the process and the loss of power.
	SyncWAL
	// FsyncWAL is at least SyncWAL.
	FsyncWAL
)

// Resolve gives the level that holds: d, unless it is UseDefault; then the
// table's; then SyncWAL.
func (d Durability) Resolve(table Durability) Durability {
	if d != UseDefault {
		return d
	}
	if table != UseDefault {
		return table
	}
	return SyncWAL
}

// Synced says whether a mutation of this (resolved) level is acknowledged only
// after it is on stable storage.
func (d Durability) Synced() bool { return d == SyncWAL || d == FsyncWAL }

// String gives HBase's name of the level.
func (d Durability) String() string {
	switch d {
	case UseDefault:
		return "USE_DEFAULT"
	case SkipWAL:
		return "SKIP_WAL"
	case AsyncWAL:
		return "ASYNC_WAL"
	case SyncWAL:
		return "SYNC_WAL"
	case FsyncWAL:
		return "FSYNC_WAL"
	}
	return "UNKNOWN"
}

// ParseDurability reads HBase's name of a level.
func ParseDurability(s string) (Durability, error) {
	for d := UseDefault; d <= FsyncWAL; d++ {
		if d.String() == s {
			return d, nil
		}
	}
	return 0, illegal("unknown durability %q: use USE_DEFAULT, SKIP_WAL, ASYNC_WAL, SYNC_WAL or FSYNC_WAL", s)
}
