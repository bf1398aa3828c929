package top

import (
	"math"
	"time"
)

// historyLen is how many samples the sparklines show: a minute, at one a second.
const historyLen = 60

// Model is what the view knows and what its user chose. The zero value knows
// nothing yet. It is used by one goroutine.
type Model struct {
	// ASCII draws with characters that every terminal has, and no sparklines.
	ASCII bool

	last, prev *Sample
	// err is why the server does not answer, since when; nil: it does.
	err   error
	since time.Time

	requests, writes, reads, pressure history

	order  order
	paused bool
	help   bool
}

// history is the last values of a figure, oldest first.
type history []float64

func (h *history) add(v float64) {
	*h = append(*h, v)
	if n := len(*h); n > historyLen {
		*h = append((*h)[:0], (*h)[n-historyLen:]...)
	}
}

// order is what tables are sorted by.
type order uint8

const (
	byHeat order = iota
	byRowsWritten
	byBytesWritten
	byRowsRead
	byBytesRead
	byName
)

// orders gives the key of each order and how the view calls it.
var orders = []struct {
	key  rune
	name string
}{
	byHeat: {'h', "heat"}, byRowsWritten: {'w', "rows written"}, byBytesWritten: {'W', "bytes written"},
	byRowsRead: {'r', "rows read"}, byBytesRead: {'R', "bytes read"}, byName: {'n', "name"},
}

// Add takes a sample that is newer than the last.
func (m *Model) Add(s *Sample) {
	m.prev = nil
	if s.sameServer(m.last) && s.At.After(m.last.At) {
		m.prev = m.last
	}
	m.last, m.err = s, nil
	m.requests.add(m.rateOf(totalRequests))
	m.writes.add(m.rate("cellar_store_wal_written_bytes_total"))
	m.reads.add(m.rate("cellar_door_sent_bytes_total"))
	m.pressure.add(pressureOf(s))
}

// Fail notes that the server did not answer. What it said before is shown on.
func (m *Model) Fail(err error, at time.Time) {
	if m.err == nil {
		m.since = at
	}
	m.err = err
	m.requests.add(math.NaN())
	m.writes.add(math.NaN())
	m.reads.add(math.NaN())
	m.pressure.add(math.NaN())
}

// Key does what a key stands for; quit: the user wants to leave.
func (m *Model) Key(key rune) (quit bool) {
	switch key {
	case 'q':
		return true
	case 'p', ' ':
		m.paused = !m.paused
	case '?':
		m.help = !m.help
	default:
		for i, o := range orders {
			if o.key == key {
				m.order = order(i)
			}
		}
	}
	return false
}

// Paused says whether no samples are wanted for now.
func (m *Model) Paused() bool { return m.paused }

// rate is how much a counter, added up over its labels, grew by the second
// between the last two samples. NaN: there are no two, or no such counter.
func (m *Model) rate(name string) float64 {
	if m.last != nil && m.last.Metrics[name] == nil {
		return math.NaN()
	}
	return m.rateOf(func(s *Sample) float64 { return s.total(name) })
}

func (m *Model) rateOf(counter func(*Sample) float64) float64 {
	if m.prev == nil {
		return math.NaN()
	}
	return max(counter(m.last)-counter(m.prev), 0) / m.elapsed()
}

// elapsed is the time in seconds between the last two samples.
func (m *Model) elapsed() float64 { return m.last.At.Sub(m.prev.At).Seconds() }

// totalRequests counts the requests of clients to all doors.
func totalRequests(s *Sample) float64 {
	var sum float64
	for _, c := range s.methods() {
		sum += c.requests
	}
	return sum
}

// pressureOf is the one figure of pressure; NaN where the server has none.
func pressureOf(s *Sample) float64 {
	if p := s.Status.Pressure; p != nil {
		return p.Value
	}
	return math.NaN()
}
