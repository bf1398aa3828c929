package pebble

import "math/bits"

// expiries is when cells expire, in some two hundred buckets that grow with the
// distance from now: enough to say when a share of them will have gone, however
// many there are.
type expiries struct {
	count   uint64
	buckets [expiryBuckets]struct {
		count uint64
		last  int64 // ms, the latest expiry in it
	}
}

const (
	// Four buckets for each doubling of the time that is left, in ms.
	expirySteps   = 4
	expiryBuckets = 64 * expirySteps
)

func (e *expiries) reset() {
	if e.count > 0 {
		*e = expiries{}
	}
}

// add notes a cell that expires at a time.
func (e *expiries) add(now, at int64) {
	b := &e.buckets[expiryBucket(at-now)]
	e.count++
	b.count++
	b.last = max(b.last, at)
}

func expiryBucket(left int64) int {
	if left < expirySteps {
		return int(max(left, 0))
	}
	// The position of the highest bit, and the two below it.
	high := bits.Len64(uint64(left)) - 1
	return (high-1)*expirySteps + int(left>>(high-2))&(expirySteps-1)
}

// due is the time at which so many cells have expired, or all that ever do, a
// little late rather than early; 0: none expires.
func (e *expiries) due(wanted uint64) int64 {
	if e.count == 0 {
		return 0
	}
	wanted = max(min(wanted, e.count), 1)
	for i := range e.buckets {
		b := &e.buckets[i]
		if wanted <= b.count {
			return b.last
		}
		wanted -= b.count
	}
	return 0
}
