package block

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/cellardb/cellar/store"
)

// fieldNames are the 13 fields of the smart-home events that benchmarks store.
var fieldNames = []string{"event_time", "house_id", "device_id", "metro_area", "state", "household_type",
	"power_reading", "voltage", "current", "temperature", "humidity", "is_on", "label"}

// events makes events of 13 fields that look like those of many houses: event
// times up to 5 s around their arrival, one in a hundred up to an hour late;
// measurements of 3 decimals with 2 % nulls, a random walk of each device; 50
// cities of very different size; labels of 16 to 40 bytes, 100,000 distinct: a
// room, a thing and a number.
type events struct {
	rng    *rand.Rand
	metros *zipf
	labels []string
	walks  [][5]float64 // of each device
	now    int64
}

const (
	houses   = 10_000
	perHouse = 20
	onShare  = 0.7
)

var walkSteps = [5]struct{ low, high, step float64 }{
	{0, 3500, 20}, {225, 235, 0.2}, {0, 15, 0.3}, {15, 28, 0.1}, {25, 75, 0.25},
}

func newEvents(seed uint64) *events {
	g := &events{rng: rand.New(rand.NewPCG(seed, 1)), now: 1_700_000_000_000, metros: newZipf(50, 1.1)}
	rooms, things := g.words(25, 5, 7), g.words(40, 7, 14)
	for n := range 100_000 {
		g.labels = append(g.labels, fmt.Sprintf("%s %s %02d", rooms[n/100%25], things[n/2500], n%100))
	}
	g.walks = make([][5]float64, houses*perHouse)
	for i := range g.walks {
		for j, w := range walkSteps {
			g.walks[i][j] = w.low + g.rng.Float64()*(w.high-w.low)
		}
	}
	return g
}

// words makes n words of least letters or more, but fewer than least+more.
func (g *events) words(n, least, more int) []string {
	words := make([]string, n)
	for i := range words {
		for range least + g.rng.IntN(more) {
			words[i] += string(rune('a' + g.rng.IntN(26)))
		}
	}
	return words
}

// zipf draws numbers below n, number k with a weight of 1/(k+1)^s.
type zipf struct{ sums []float64 }

func newZipf(n int, s float64) *zipf {
	z := &zipf{}
	sum := 0.0
	for k := range n {
		sum += math.Pow(float64(k+1), -s)
		z.sums = append(z.sums, sum)
	}
	return z
}

func (z *zipf) draw(rng *rand.Rand) int {
	at := rng.Float64() * z.sums[len(z.sums)-1]
	for k, sum := range z.sums {
		if at < sum {
			return k
		}
	}
	return len(z.sums) - 1
}

// columns makes the next rows events.
func (g *events) columns(rows int) []store.Vector {
	text := func() store.Vector { return store.Vector{Type: store.ColumnText, Offsets: []uint32{0}} }
	c := []store.Vector{{Type: store.ColumnTimestamp}, {Type: store.ColumnInt32}, {Type: store.ColumnInt32},
		text(), text(), text(), {}, {}, {}, {}, {}, {Type: store.ColumnBool}, text()}
	for i := 6; i < 11; i++ {
		c[i] = store.Vector{Type: store.ColumnFloat64, Nulls: make([]uint64, bitWords(rows))}
	}
	for row := range rows {
		if row%400 == 0 {
			g.now++
		}
		device := g.rng.IntN(houses * perHouse)
		metro := g.metros.draw(g.rng)
		c[0].Int64s = append(c[0].Int64s, g.eventTime())
		c[1].Int32s = append(c[1].Int32s, int32(device/perHouse))
		c[2].Int32s = append(c[2].Int32s, int32(device))
		addText(&c[3], fmt.Sprintf("Metropolitan Area %02d", metro))
		addText(&c[4], fmt.Sprintf("S%c", 'A'+metro%26))
		addText(&c[5], []string{"apartment", "detached", "semi-detached", "terraced", "studio"}[g.rng.IntN(5)])
		for i := range walkSteps {
			g.measure(&c[6+i], &g.walks[device][i], i, row)
		}
		c[11].Bools = append(c[11].Bools, g.rng.Float64() < onShare)
		addText(&c[12], g.labels[g.rng.IntN(len(g.labels))])
	}
	return c
}

func (g *events) eventTime() int64 {
	if g.rng.IntN(100) == 0 {
		return g.now - g.rng.Int64N(3_600_000)
	}
	return g.now - 5000 + g.rng.Int64N(10_001)
}

func (g *events) measure(v *store.Vector, last *float64, i, row int) {
	w := walkSteps[i]
	x := *last + (g.rng.Float64()*2-1)*w.step
	x = math.Round(min(max(x, w.low), w.high)*1000) / 1000
	*last = x
	if g.rng.IntN(50) == 0 {
		v.Nulls[row/64] |= 1 << (row % 64)
		x = 0
	}
	v.Float64s = append(v.Float64s, x)
}

func addText(v *store.Vector, s string) {
	v.Bytes = append(v.Bytes, s...)
	v.Offsets = append(v.Offsets, uint32(len(v.Bytes)))
}

// entropies are the bits an event that each field of events has, taken alone:
// what no encoding of the field by itself falls below. A walk of one of many
// devices is anywhere between its ends alike.
func entropies() []float64 {
	mixed := func(p, a, b float64) float64 { // of two sources, the first with probability p
		return -p*math.Log2(p) - (1-p)*math.Log2(1-p) + p*a + (1-p)*b
	}
	metros := newZipf(50, 1.1)
	states := make([]float64, 26)
	metro, state, last := 0.0, 0.0, 0.0
	for k, sum := range metros.sums {
		p := (sum - last) / metros.sums[49]
		metro -= p * math.Log2(p)
		states[k%26] += p
		last = sum
	}
	for _, p := range states {
		state -= p * math.Log2(p)
	}
	bits := []float64{mixed(0.01, math.Log2(3_600_000), math.Log2(10_001)), math.Log2(10_000), math.Log2(200_000),
		metro, state, math.Log2(5)}
	for _, w := range walkSteps {
		bits = append(bits, mixed(0.02, 0, math.Log2((w.high-w.low)*1000)))
	}
	return append(bits, mixed(onShare, 0, 0), math.Log2(100_000))
}
