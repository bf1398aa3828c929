package tabimport

import (
	"cmp"
	"slices"
	"sync"
)

// mark is a place in the input, between two records, and what came before it.
type mark struct {
	seq int64 // records of this run
	at  position
	// rows and bad count what was found before, earlier runs included; rows
	// that the target refused are among the rows.
	rows, bad int64
}

// badLine is a line for the file of bad lines.
type badLine struct {
	seq int64
	raw []byte
}

// tracker knows which rows are durable. Lanes finish batches in the order in
// which they got them, so that the oldest unfinished batch of all bounds what
// is.
type tracker struct {
	mu sync.Mutex
	// open has, for each lane, where its unfinished batches begin.
	open [][]mark
	// refused are the numbers of records that the target refused, as far as no
	// checkpoint has passed them; passed counts those that one has.
	refused []int64
	passed  int64
	// lines are bad lines that no checkpoint has passed, and size is their bytes.
	lines []badLine
	size  int
	// finished tells one who waits that a batch is finished.
	finished chan struct{}
}

func newTracker(lanes int) *tracker {
	return &tracker{open: make([][]mark, lanes), finished: make(chan struct{}, 1)}
}

// begin notes that a batch of a lane begins at a place.
func (t *tracker) begin(lane int, at mark) {
	t.mu.Lock()
	t.open[lane] = append(t.open[lane], at)
	t.mu.Unlock()
}

// finish notes that the oldest batch of a lane is durable, but for what was
// refused.
func (t *tracker) finish(lane int, refused []origin) {
	t.mu.Lock()
	t.open[lane] = append(t.open[lane][:0], t.open[lane][1:]...)
	for i := range refused {
		t.refused = append(t.refused, refused[i].seq)
		t.noteLocked(refused[i].seq, refused[i].raw)
	}
	t.mu.Unlock()
	select {
	case t.finished <- struct{}{}:
	default:
	}
}

// note keeps a bad line until a checkpoint passes it.
func (t *tracker) note(seq int64, raw []byte) {
	t.mu.Lock()
	t.noteLocked(seq, raw)
	t.mu.Unlock()
}

func (t *tracker) noteLocked(seq int64, raw []byte) {
	if raw != nil {
		t.lines = append(t.lines, badLine{seq, append([]byte{}, raw...)})
		t.size += len(raw)
	}
}

// held is the size in bytes of the bad lines that wait for a checkpoint.
func (t *tracker) held() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.size
}

// idle says whether no batch is unfinished.
func (t *tracker) idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, lane := range t.open {
		if len(lane) > 0 {
			return false
		}
	}
	return true
}

// checkpoint gives the place before which all is durable, with what was refused
// counted as bad, and the bad lines before it in their order. now is where the
// reader is.
func (t *tracker) checkpoint(now mark) (mark, []badLine) {
	t.mu.Lock()
	defer t.mu.Unlock()
	durable := now
	for _, lane := range t.open {
		if len(lane) > 0 && lane[0].seq < durable.seq {
			durable = lane[0]
		}
	}
	t.refused = slices.DeleteFunc(t.refused, func(seq int64) bool {
		if seq < durable.seq {
			t.passed++
			return true
		}
		return false
	})
	durable.rows -= t.passed
	durable.bad += t.passed
	slices.SortStableFunc(t.lines, func(a, b badLine) int { return cmp.Compare(a.seq, b.seq) })
	n, _ := slices.BinarySearchFunc(t.lines, durable.seq, func(l badLine, seq int64) int { return cmp.Compare(l.seq, seq) })
	before := slices.Clone(t.lines[:n])
	t.lines = append(t.lines[:0], t.lines[n:]...)
	for i := range before {
		t.size -= len(before[i].raw)
	}
	return durable, before
}
