package top

import (
	"math"
	"slices"
)

// quantile is the time in seconds within which a share q of the requests
// between two samples were answered, as far as the buckets tell: inside a
// bucket they are taken to be spread evenly. NaN: there were none. Infinite:
// more than the largest bound.
func quantile(q float64, before, after []bucket) float64 {
	counts := between(before, after)
	if len(counts) == 0 {
		return math.NaN()
	}
	all := counts[len(counts)-1].count
	if !(all > 0) {
		return math.NaN()
	}
	rank := q * all
	i := slices.IndexFunc(counts, func(b bucket) bool { return b.count >= rank })
	upper := counts[i]
	if math.IsInf(upper.seconds, 1) {
		return upper.seconds
	}
	var lower bucket
	if i > 0 {
		lower = counts[i-1]
	}
	return lower.seconds + (upper.seconds-lower.seconds)*(rank-lower.count)/(upper.count-lower.count)
}

// between takes the counts of before from those of after. Where the two are not
// of one histogram, after is taken whole.
func between(before, after []bucket) []bucket {
	counts := slices.Clone(after)
	if len(before) != len(after) {
		return counts
	}
	for i := range counts {
		if before[i].seconds != after[i].seconds || before[i].count > after[i].count {
			return slices.Clone(after)
		}
		counts[i].count -= before[i].count
	}
	return counts
}
