package memory

// standstill is how far, in ms, the clock may step back before the store
// follows it.
const standstill = 60_000

// nowLocked gives the time in ms. It never runs backwards, except that it
// follows a clock that was set back by more than standstill: then the old time
// was wrong, and so is what the rows remember of it.
func (s *Store) nowLocked() int64 {
	c := s.clock()
	back := s.mu.now - c
	if back > 0 && back <= standstill {
		return s.mu.now
	}
	if back > standstill {
		s.log.Warn("clock stepped back", "ms", back)
		for _, t := range s.mu.tables {
			clear(t.stamps)
		}
	}
	s.mu.now = c
	return c
}

// regionIDLocked gives an id for new regions: the time in ms, or more where
// that is taken.
func (s *Store) regionIDLocked() int64 {
	s.mu.lastRegion = max(s.nowLocked(), s.mu.lastRegion+1)
	return s.mu.lastRegion
}

// stamp is what a row remembers of the timestamps that its mutations got from
// the clock, so that within one millisecond a put after a delete is never lost
// and a delete after a put always hides it. The zero value remembers nothing;
// once the clock has passed both figures they have no effect.
type stamp struct {
	// nextPut is the least timestamp of a put: one above the last delete.
	nextPut int64
	// lastPut is the least timestamp of a delete, and of a put: that of the
	// last put, which may be ahead of the clock when it was an increment.
	lastPut int64
}

// give chooses the timestamp of a mutation that puts, deletes, or does both at
// "now".
func (s *stamp) give(now int64, puts, deletes bool) int64 {
	if puts {
		now = max(now, s.nextPut)
	}
	if puts || deletes {
		now = max(now, s.lastPut)
	}
	return now
}

func (s *stamp) notePut(timestamp int64)    { s.lastPut = max(s.lastPut, timestamp) }
func (s *stamp) noteDelete(timestamp int64) { s.nextPut = max(s.nextPut, timestamp+1) }
