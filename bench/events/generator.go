package events

import (
	"math/rand/v2"

	"github.com/cellardb/cellar/stream/schema"
)

// Shape of the events.
const (
	houses      = 10_000
	perHouse    = 20
	metroAreas  = 50
	metroSkew   = 1.1 // of Zipf
	spread      = 5_000
	latePercent = 1
	latest      = 3_600_000
	nullPercent = 2
	onPercent   = 70
)

// A walk is the random walk of a reading, in thousandths: it goes up or down by
// at most step at a time, and turns back at low and high.
type walk struct {
	field           string
	low, high, step int32
}

var walks = [...]walk{
	{"power_reading", 0, 3_500_000, 20_000},
	{"voltage", 225_000, 235_000, 200},
	{"current", 0, 15_000, 300},
	{"temperature", 15_000, 28_000, 100},
	{"humidity", 25_000, 75_000, 250},
}

var householdTypes = [...]string{"apartment", "detached", "farm", "shared", "terraced"}

// metros are cities with their states, the largest first.
var metros = [metroAreas]struct{ name, state string }{
	{"New York", "NY"}, {"Los Angeles", "CA"}, {"Chicago", "IL"}, {"Dallas", "TX"}, {"Houston", "TX"},
	{"Atlanta", "GA"}, {"Washington", "DC"}, {"Philadelphia", "PA"}, {"Miami", "FL"}, {"Phoenix", "AZ"},
	{"Boston", "MA"}, {"Riverside", "CA"}, {"San Francisco", "CA"}, {"Detroit", "MI"}, {"Seattle", "WA"},
	{"Minneapolis", "MN"}, {"Tampa", "FL"}, {"San Diego", "CA"}, {"Denver", "CO"}, {"Baltimore", "MD"},
	{"Orlando", "FL"}, {"Charlotte", "NC"}, {"St. Louis", "MO"}, {"San Antonio", "TX"}, {"Portland", "OR"},
	{"Austin", "TX"}, {"Pittsburgh", "PA"}, {"Sacramento", "CA"}, {"Las Vegas", "NV"}, {"Cincinnati", "OH"},
	{"Kansas City", "MO"}, {"Columbus", "OH"}, {"Cleveland", "OH"}, {"Indianapolis", "IN"}, {"Nashville", "TN"},
	{"San Jose", "CA"}, {"Virginia Beach", "VA"}, {"Jacksonville", "FL"}, {"Providence", "RI"}, {"Milwaukee", "WI"},
	{"Raleigh", "NC"}, {"Oklahoma City", "OK"}, {"Louisville", "KY"}, {"Richmond", "VA"}, {"Memphis", "TN"},
	{"Salt Lake City", "UT"}, {"Birmingham", "AL"}, {"Fresno", "CA"}, {"Grand Rapids", "MI"}, {"Buffalo", "NY"},
}

// Options of a Generator.
type Options struct {
	// Seed: the same one gives the same events.
	Seed uint64
	// Producer tells generators apart that run beside each other: each has events
	// of its own.
	Producer uint64
	// Start is the arrival of the first event, ms since 1970; 0: 2026-01-01 UTC.
	Start int64
	// PerSecond is how many events arrive in a second; 0: 100,000.
	PerSecond int
}

// Generator makes one event after the other. It belongs to one goroutine.
type Generator struct {
	o      Options
	random *rand.PCG
	made   int64
	homes  []home
	// readings has the walks of each device, one device after the other.
	readings []int32
}

// home is what does not change about a house.
type home struct{ metro, household uint8 }

// event is one event, numbers in thousandths.
type event struct {
	time          int64
	house, device int32
	home          home
	readings      [len(walks)]int32
	nulls         uint8 // bit i: reading i is null
	on            bool
	label         int32
}

// New makes a generator. It takes some 5 MB and a few ms.
func New(o Options) *Generator {
	if o.Start == 0 {
		o.Start = 1_767_225_600_000
	}
	if o.PerSecond <= 0 {
		o.PerSecond = 100_000
	}
	g := &Generator{
		o: o, random: rand.NewPCG(o.Seed, o.Producer+1),
		homes: make([]home, houses), readings: make([]int32, houses*perHouse*len(walks)),
	}
	// Where the houses stand is the same for all producers.
	place := rand.New(rand.NewPCG(o.Seed, 0))
	shares := metroShares()
	for i := range g.homes {
		at, sum := place.Float64(), 0.0
		for g.homes[i].metro = 0; g.homes[i].metro < metroAreas-1; g.homes[i].metro++ {
			if sum += shares[g.homes[i].metro]; at < sum {
				break
			}
		}
		g.homes[i].household = uint8(place.IntN(len(householdTypes)))
	}
	for i := range g.readings {
		w := walks[i%len(walks)]
		g.readings[i] = w.low + place.Int32N(w.high-w.low+1)
	}
	return g
}

// below is a number from 0 to n-1; n is small, so that the bias does not count.
func (g *Generator) below(n uint64) int64 { return int64((g.random.Uint64() >> 32) * n >> 32) }

// next makes the next event.
func (g *Generator) next(e *event) {
	arrival := g.o.Start + g.made*1000/int64(g.o.PerSecond)
	g.made++
	// One draw decides what is rare, the next ones what is not.
	chances := g.random.Uint64()
	if e.time = arrival - spread + g.below(2*spread+1); chances&0xFFFF < 65536*latePercent/100 {
		e.time = arrival - g.below(latest+1)
	}
	at := int32(g.below(houses * perHouse))
	e.house, e.device = at/perHouse, at
	e.home = g.homes[e.house]
	e.on = chances>>16&0xFFFF < 65536*onPercent/100
	e.label = int32(g.below(uint64(labels)))
	e.nulls = 0
	walked := g.readings[int(at)*len(walks):][:len(walks)]
	lost := g.random.Uint64()
	for i := range walks {
		w := &walks[i]
		v := walked[i] + int32(g.below(uint64(2*w.step+1))) - w.step
		switch {
		case v < w.low:
			v = 2*w.low - v
		case v > w.high:
			v = 2*w.high - v
		}
		walked[i], e.readings[i] = v, v
		if lost>>(12*i)&0xFFF < 4096*nullPercent/100 {
			e.nulls |= 1 << i
		}
	}
}

// Schema is the definition of the stream: strict, with the event's time.
func Schema() *schema.Schema {
	s := &schema.Schema{
		Name: "smart_home", EventTime: "event_time", Description: "meters of smart homes",
		Fields: []schema.Field{
			{Name: "event_time", Type: schema.Long},
			{Name: "house_id", Type: schema.Int},
			{Name: "device_id", Type: schema.Int},
			{Name: "metro_area", Type: schema.Text},
			{Name: "state", Type: schema.Text},
			{Name: "household_type", Type: schema.Text},
		},
	}
	for _, w := range walks {
		s.Fields = append(s.Fields, schema.Field{Name: w.field, Type: schema.Double, Nullable: true})
	}
	s.Fields = append(s.Fields, schema.Field{Name: "is_on", Type: schema.Bool}, schema.Field{Name: "label", Type: schema.Text})
	return s
}
