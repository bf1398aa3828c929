package store

// Heat says how much a table was read and written since the engine was opened,
// or since the table was made or truncated, whichever came last. The figures
// only grow.
type Heat struct {
	Table string
	// RowsWritten counts mutations that were applied, one each whatever the
	// number of its cells; BytesWritten what they took in the engine's log.
	RowsWritten, BytesWritten int64
	// RowsRead counts rows that gets asked for and that scans walked over, also
	// those that a filter left out; BytesRead the cells that were given.
	RowsRead, BytesRead int64
}

// heated is an engine that counts by table.
type heated interface {
	Heat() ([]Heat, error)
}

// HeatOf gives the heat of every table of users, sorted by name. The second
// result is false where the engine does not count. The only error is ErrClosed.
func HeatOf(s Store) ([]Heat, bool, error) {
	h, ok := s.(heated)
	if !ok {
		return nil, false, nil
	}
	all, err := h.Heat()
	return all, true, err
}
