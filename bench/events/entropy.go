package events

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Entropy is how much a field of an event says.
type Entropy struct {
	Field string
	// Alone, bits: to whoever knows how the events are made, and nothing else of
	// the event nor of those before it. Times are told from the arrival.
	Alone float64
	// Known, bits: to whoever knows the fields before it, and all events before.
	// No encoding of the events takes less than their sum.
	Known float64
}

// metroShares is the share of each metro area: Zipf.
func metroShares() []float64 {
	shares, sum := make([]float64, metroAreas), 0.0
	for i := range shares {
		shares[i] = math.Pow(float64(i+1), -metroSkew)
		sum += shares[i]
	}
	for i := range shares {
		shares[i] /= sum
	}
	return shares
}

// Entropies are those of the fields, in the order of Schema.
func Entropies() []Entropy {
	perState := map[string]float64{}
	for i, share := range metroShares() {
		perState[metros[i].state] += share
	}
	states := slices.Sorted(maps.Values(perState))
	time := timeEntropy()
	list := []Entropy{
		{"event_time", time, time},
		{"house_id", math.Log2(houses), math.Log2(houses)},
		{"device_id", math.Log2(houses * perHouse), math.Log2(perHouse)},
		// A house stays where it is: whoever knows the house knows these.
		{"metro_area", bits(metroShares()), 0},
		{"state", bits(states), 0},
		{"household_type", math.Log2(float64(len(householdTypes))), 0},
	}
	const lost = nullPercent / 100.0
	for _, w := range walks {
		// A walk that turns back at its ends is anywhere between them alike.
		list = append(list, Entropy{
			Field: w.field,
			Alone: bits([]float64{lost, 1 - lost}) + (1-lost)*math.Log2(float64(w.high-w.low+1)),
			Known: bits([]float64{lost, 1 - lost}) + (1-lost)*math.Log2(float64(2*w.step+1)),
		})
	}
	const on = onPercent / 100.0
	return append(list,
		Entropy{"is_on", bits([]float64{on, 1 - on}), bits([]float64{on, 1 - on})},
		Entropy{"label", math.Log2(float64(labels)), math.Log2(float64(labels))},
	)
}

// timeEntropy is that of an event's time, from its arrival: up to 5 s around it,
// or, of a hundredth, anywhere in the hour before.
func timeEntropy() float64 {
	const (
		late   = latePercent / 100.0
		inTime = (1 - late) / (2*spread + 1)
		tardy  = late / (latest + 1)
	)
	both, after, before := inTime+tardy, inTime, tardy
	return -(spread+1)*both*math.Log2(both) - spread*after*math.Log2(after) - (latest-spread)*before*math.Log2(before)
}

// bits is the entropy of choices with the given shares.
func bits(shares []float64) float64 {
	sum := 0.0
	for _, p := range shares {
		sum -= p * math.Log2(p)
	}
	return sum
}

// Spec describes the events, with the entropy of their fields.
func Spec() string {
	var b strings.Builder
	fmt.Fprintf(&b, `smart_home: the events of the events workload
  event_time      ms: the arrival, up to %d s before or after; %d %% up to an hour late
  house_id        %d houses
  device_id       %d in each house, numbered through
  metro_area      of the house; %d, their shares by Zipf %.1f
  state           of the metro area
  household_type  of the house; %d
  power_reading voltage current temperature humidity
                  a random walk each, of each device; 3 decimals, %d %% null
  is_on           true in %d %%
  label           16 to 40 bytes, %d different ones: a room, a thing, a number
  seeded          the same --seed gives the same events
  entropy, bits   alone   all else known
`, spread/1000, latePercent, houses, perHouse, metroAreas, metroSkew, len(householdTypes), nullPercent, onPercent, labels)
	var alone, known float64
	for _, e := range Entropies() {
		fmt.Fprintf(&b, "  %-14s  %5.2f   %5.2f\n", e.Field, e.Alone, e.Known)
		alone += e.Alone
		known += e.Known
	}
	fmt.Fprintf(&b, "  together        %5.1f   %5.1f, that is %.1f and %.1f bytes an event\n", alone, known, alone/8, known/8)
	return b.String()
}
