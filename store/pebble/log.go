package pebble

import (
	"fmt"
	"log/slog"
)

// pebbleLog hands Pebble's own log to ours, at debug level: it tells of every
// flush and compaction.
type pebbleLog struct{ log *slog.Logger }

// Infof implements pebble.Logger.
func (l pebbleLog) Infof(format string, args ...any) {
	l.log.Debug("pebble", "event", fmt.Sprintf(format, args...))
}

// Errorf implements pebble.Logger.
func (l pebbleLog) Errorf(format string, args ...any) {
	l.log.Error("pebble", "event", fmt.Sprintf(format, args...))
}

// Fatalf implements pebble.Logger. Pebble calls it when it cannot keep its
// promises any more (the log or the manifest cannot be written); what it did
// before that is unknown, so the process ends and recovers at its next start.
func (l pebbleLog) Fatalf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	l.log.Error("the storage engine cannot go on; ending the process", "event", text)
	panic("pebble: " + text)
}
