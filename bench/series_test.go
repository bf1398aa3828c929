package bench

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestSeries(t *testing.T) {
	var a, b series
	a.add(0, 5)
	a.add(999*time.Millisecond, 2)
	a.add(2*time.Second, 1)
	b.add(3*time.Second+1, 4)
	b.add(time.Second, 9)
	a.merge(&b)
	for took, want := range map[time.Duration][]int64{
		3*time.Second + 2: {7, 9, 1, 4},
		4 * time.Second:   {7, 9, 1, 4},
		5*time.Second + 1: {7, 9, 1, 4, 0, 0},
	} {
		if got := a.counts(took); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", took, got, want)
		}
	}
	if got := new(series).counts(0); len(got) != 0 {
		t.Errorf("nothing: %v", got)
	}
}

func TestWorstSecond(t *testing.T) {
	f := func(took time.Duration, want float64, counts ...int64) {
		t.Helper()
		got := worstSecond(counts, took)
		if math.IsNaN(want) {
			if got != nil {
				t.Errorf("%v %v: %v, want null", took, counts, *got)
			}
			return
		}
		if got == nil || math.Abs(*got-want) > 1e-9 {
			t.Errorf("%v %v: %v, want %v", took, counts, got, want)
		}
	}
	null := math.NaN()
	f(5*time.Second, 0.5, 1, 10, 10, 4, 99) // mean of 10, 10, 4 is 8
	f(5*time.Second+1, 1, 1, 10, 10, 10, 10, 0)
	f(5*time.Second, 0, 7, 0, 10, 20, 7)
	f(5*time.Second-1, null, 1, 10, 10, 4, 99)
	f(6*time.Second, null, 5, 0, 0, 0, 0, 5)
	f(0, null)
}

// TestHistogram: every quantile is within 1.6 % of the exact one.
func TestHistogram(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var exact []time.Duration
	var parts [3]histogram
	for i := range 20000 {
		d := time.Duration(math.Exp(rnd.Float64() * 24)) // 1 ns to 26 s
		exact = append(exact, d)
		parts[i%3].add(d)
	}
	slices.Sort(exact)
	var h histogram
	for i := range parts {
		h.merge(&parts[i])
	}
	for _, q := range []float64{0, 0.001, 0.5, 0.9, 0.99, 0.9999, 1} {
		want := float64(exact[max(0, int(math.Ceil(q*20000))-1)]) / 1e6
		if got := h.quantile(q); got == nil || math.Abs(*got-want) > 0.016*want {
			t.Errorf("quantile %v: %v, want %v", q, got, want)
		}
	}
	if h.n != 20000 || new(histogram).quantile(0.5) != nil {
		t.Errorf("%d values; nothing: %v", h.n, new(histogram).quantile(0.5))
	}
}

// TestBuckets: each duration is in a bucket whose middle is near it, and buckets
// are in the order of durations.
func TestBuckets(t *testing.T) {
	last := -1
	for _, d := range []time.Duration{-5, 0, 1, 63, 64, 65, 127, 128, 129, 1e3, 1e6, 1e9, 1e12, math.MaxInt64} {
		b := bucketOf(d)
		middle := middleOf(b)
		if b < last || math.Abs(float64(middle-max(d, 0))) > 0.008*float64(d)+1 {
			t.Errorf("%d ns: bucket %d, middle %d", d, b, middle)
		}
		last = b
	}
}
