package block

import (
	"math/bits"
	"slices"
)

// sampleSize is how many places of a long list a decision is made by; a shorter
// one is looked at in a sixteenth of its places, but in leastSample at least.
const (
	sampleSize  = 128
	leastSample = 32
)

// intsSample is what a list looks like in some places of it.
type intsSample struct {
	n       int // places
	repeats int // places with the number of the place before
	// At each place the number, its difference from the one before, and the
	// difference of that from the one before.
	values, deltas, deltas2 [sampleSize]int64
}

// sample looks at places spread over a list of more than few numbers: one of
// each of as many equal parts, at no regular distance.
func sample(vals []int64) intsSample {
	s := intsSample{n: min(max(len(vals)/16, leastSample), sampleSize)}
	part := (len(vals) - 2) / s.n
	seed := uint32(1)
	for i := range s.n {
		seed = seed*1664525 + 1013904223
		at := 2 + i*part + int(uint64(seed)*uint64(part)>>32)
		a, b, c := vals[at-2], vals[at-1], vals[at]
		s.values[i], s.deltas[i], s.deltas2[i] = c, c-b, (c-b)-(b-a)
		if c == b {
			s.repeats++
		}
	}
	return s
}

// mayHaveDictionary says whether the sample, whose values are sorted, repeats
// itself so much that codes may take less than width bits.
func (s *intsSample) mayHaveDictionary(width float64) bool {
	n := countRuns(s.values[:s.n])
	return n <= s.n/2 && float64(bits.Len(uint(n-1))) < width*0.8
}

// window is a range of 2^width numbers in which most of a list lie.
type window struct {
	from, to int64 // least and greatest number of the sample in it
	width    int
	cost     float64 // bits a number, with what the numbers outside take
}

// cuts are the numbers of outliers on one side that bestWindow tries.
var cuts = [...]int{0, 1, 2, 4, 8, 16}

// bestWindow sorts a sample and finds the window in which the list is cheapest.
func bestWindow(s []int64) window {
	slices.Sort(s)
	n := len(s)
	full := packedWidth(uint64(s[n-1]) - uint64(s[0]))
	best := window{from: s[0], to: s[n-1], width: max(full, 1), cost: float64(full)}
	for _, i := range cuts {
		for _, j := range cuts {
			if i+j == 0 || i+j >= n/2 {
				continue
			}
			w := max(1, packedWidth(uint64(s[n-1-j])-uint64(s[i])))
			cost := float64(w) + float64(i+j)/float64(n)*float64(full+10)
			if cost < best.cost {
				best = window{from: s[i], to: s[n-1-j], width: w, cost: cost}
			}
		}
	}
	return best
}

// centred is the base that leaves as much room below as above, and none below
// the least number of the list.
func (w *window) centred(low int64) int64 {
	room := (uint64(1)<<w.width - 1 - (uint64(w.to) - uint64(w.from))) / 2
	return int64(uint64(w.from) - min(room, uint64(w.from)-uint64(low)))
}
