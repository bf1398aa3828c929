package bench

import (
	"math"
	"math/bits"
	"time"
)

// series counts units by the second in which they were done.
type series struct{ seconds []int64 }

func (s *series) add(at time.Duration, n int64) {
	i := int(at / time.Second)
	for len(s.seconds) <= i {
		s.seconds = append(s.seconds, 0)
	}
	s.seconds[i] += n
}

func (s *series) merge(o *series) {
	for i, n := range o.seconds {
		s.add(time.Duration(i)*time.Second, n)
	}
}

func (s *series) total() int64 {
	sum := int64(0)
	for _, n := range s.seconds {
		sum += n
	}
	return sum
}

// counts is a number for each second that has begun within took.
func (s *series) counts(took time.Duration) []int64 {
	n := int((took + time.Second - 1) / time.Second)
	return append(s.seconds[:len(s.seconds):len(s.seconds)], make([]int64, max(0, n-len(s.seconds)))...)
}

// worstSecond is the lowest second over the mean second, the first and the last
// left out; nil under FigureSeconds whole seconds.
func worstSecond(counts []int64, took time.Duration) *float64 {
	if took < FigureSeconds*time.Second || len(counts) < 3 {
		return nil
	}
	inner := counts[1 : len(counts)-1]
	lowest, sum := inner[0], int64(0)
	for _, n := range inner {
		lowest = min(lowest, n)
		sum += n
	}
	if sum == 0 {
		return nil
	}
	worst := float64(lowest) * float64(len(inner)) / float64(sum)
	return &worst
}

// histogram counts durations in buckets of which each is about 1.6 % wide: 64
// for every doubling. Below 64 ns it is exact.
type histogram struct {
	buckets [64 * subBuckets]int64
	n       int64
}

const (
	subBits    = 6
	subBuckets = 1 << subBits
)

func bucketOf(d time.Duration) int {
	v := uint64(max(d, 0))
	if v < subBuckets {
		return int(v)
	}
	shift := bits.Len64(v) - subBits - 1
	return (shift+1)*subBuckets + int(v>>shift) - subBuckets
}

// middleOf is the middle of a bucket's durations.
func middleOf(bucket int) time.Duration {
	if bucket < subBuckets {
		return time.Duration(bucket)
	}
	shift := bucket/subBuckets - 1
	low := uint64(bucket%subBuckets+subBuckets) << shift
	return time.Duration(low + 1<<shift/2)
}

func (h *histogram) add(d time.Duration) {
	h.buckets[bucketOf(d)]++
	h.n++
}

func (h *histogram) merge(o *histogram) {
	for i, n := range o.buckets {
		h.buckets[i] += n
	}
	h.n += o.n
}

// quantileNames are the quantiles that are reported, in their order.
var quantileNames = []struct {
	name string
	q    float64
}{{"p10", 0.1}, {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}, {"max", 1}}

// quantiles are the quantiles in ms by their names; nil if there are none.
func (h *histogram) quantiles() map[string]float64 {
	if h.n == 0 {
		return nil
	}
	all := make(map[string]float64, len(quantileNames))
	for _, q := range quantileNames {
		all[q.name] = *h.quantile(q.q)
	}
	return all
}

// quantile is the duration in ms that a share q of all did not exceed; nil if
// there are none.
func (h *histogram) quantile(q float64) *float64 {
	if h.n == 0 {
		return nil
	}
	rank := max(int64(math.Ceil(q*float64(h.n))), 1)
	for i, n := range h.buckets {
		if rank -= n; rank <= 0 {
			ms := float64(middleOf(i)) / float64(time.Millisecond)
			return &ms
		}
	}
	return nil
}
