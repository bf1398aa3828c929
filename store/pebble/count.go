package pebble

// CountTables counts the tables that users see. It does not wait: a call on a
// table may hold its lock while it waits for space on the disk, and one that
// disables the table then keeps all others from it. open is false where the
// store is not, or is being closed.
func (s *Store) CountTables() (n int, open bool) {
	if !s.gate.TryRLock() {
		return 0, false
	}
	defer s.gate.RUnlock()
	if s.closed {
		return 0, false
	}
	return len(s.catalog.list()), true
}
