package pebble

import (
	"log/slog"
	"sync"
	"time"

	pebbledb "github.com/cockroachdb/pebble/v2"
)

// damageWatch hears of damaged files and of background work that failed. Pebble
// tries a failed compaction again at once, for ever; so who meets a file again
// that was just found damaged is made to wait a moment, and the log is told now
// and then only. Reads of the damaged file fail by themselves; the rest of the
// store goes on.
type damageWatch struct {
	log *slog.Logger
	mu  struct {
		sync.Mutex
		met   map[string]time.Time // by path: when it was met last
		told  map[string]time.Time // by path or text: when it was logged last
		files int                  // damaged ones
	}
}

const (
	damagePause = 250 * time.Millisecond
	damageTell  = time.Minute
	// damageKeep bounds what is remembered; beyond it all is forgotten.
	damageKeep = 10_000
)

func newDamageWatch(log *slog.Logger) *damageWatch {
	w := &damageWatch{log: log}
	w.mu.met, w.mu.told = map[string]time.Time{}, map[string]time.Time{}
	return w
}

func (w *damageWatch) listener() *pebbledb.EventListener {
	return &pebbledb.EventListener{DataCorruption: w.damaged, BackgroundError: w.failed}
}

// damaged is called by whoever meets the file, without any lock of Pebble.
func (w *damageWatch) damaged(i pebbledb.DataCorruptionInfo) {
	now := time.Now()
	w.mu.Lock()
	last, again := w.mu.met[i.Path]
	if len(w.mu.met) >= damageKeep {
		clear(w.mu.met)
	}
	w.mu.met[i.Path] = now
	w.mu.files = max(w.mu.files, len(w.mu.met))
	tell := w.tellLocked(i.Path, now)
	w.mu.Unlock()
	if tell {
		w.log.Error("a file of the store is damaged", "file", i.Path, "error", i.Details)
	}
	if again && now.Sub(last) < 2*damagePause {
		time.Sleep(damagePause)
	}
}

// failed is called with Pebble's locks held: it must not wait.
func (w *damageWatch) failed(err error) {
	w.mu.Lock()
	tell := w.tellLocked(err.Error(), time.Now())
	w.mu.Unlock()
	if tell {
		w.log.Error("background work of the store failed and is tried again", "error", err)
	}
}

func (w *damageWatch) tellLocked(what string, now time.Time) bool {
	if now.Sub(w.mu.told[what]) < damageTell {
		return false
	}
	if len(w.mu.told) >= damageKeep {
		clear(w.mu.told)
	}
	w.mu.told[what] = now
	return true
}

// Files is the number of files that were found damaged.
func (w *damageWatch) Files() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mu.files
}
