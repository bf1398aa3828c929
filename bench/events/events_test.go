package events

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"testing"

	"github.com/cellardb/cellar/stream/schema"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant:\n%s", name, got, want)
	}
}

// Events and their description do not change unseen: figures are compared over
// months.
func TestGolden(t *testing.T) {
	golden(t, "testdata/events.golden", New(Options{Seed: 1}).AppendJSON(nil, 12))
	golden(t, "testdata/spec.golden", []byte(Spec()))
}

func TestSchemaIsValid(t *testing.T) {
	s := Schema()
	if err := s.Validate(); err != nil || len(s.Fields) != 13 || len(Entropies()) != 13 {
		t.Fatalf("%v, %d fields", err, len(s.Fields))
	}
	for i, e := range Entropies() {
		if e.Field != s.Fields[i].Name || e.Known > e.Alone {
			t.Errorf("%+v of %s", e, s.Fields[i].Name)
		}
	}
}

// read is an event as encoding/json reads it.
type read map[string]any

func readAll(t *testing.T, text []byte) []read {
	t.Helper()
	var all []read
	for line := range bytes.Lines(text) {
		r := read{}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if len(r) != 13 {
			t.Fatalf("%s: %d fields", line, len(r))
		}
		all = append(all, r)
	}
	return all
}

func TestColumnsAreTheJSON(t *testing.T) {
	const n = 1000
	a, b := New(Options{Seed: 7, Producer: 3}), New(Options{Seed: 7, Producer: 3})
	all := readAll(t, a.AppendJSON(nil, n))
	s := Schema()
	compared := 0
	var e schema.Events
	for from := 0; from < n; from += n / 4 {
		b.Fill(&e, n/4) // again and again into the same memory
		if err := e.Check(s); err != nil {
			t.Fatal(err)
		}
		for row := range e.Rows {
			for i, f := range s.Fields {
				v := &e.Columns[i]
				want := all[from+row][f.Name]
				if v.Null(row) {
					if want != nil || v.Float64s[row] != 0 {
						t.Fatalf("event %d, %s: null, it is %v", from+row, f.Name, want)
					}
					continue
				}
				got := string(schema.AppendValue(nil, v, f.Type, row))
				text, isText := want.(string)
				if !isText {
					out, _ := json.Marshal(want)
					text = string(out)
				}
				if f.Name == "event_time" { // no double holds it as text
					text = got
					if want != float64(v.Int64s[row]) {
						t.Fatalf("event %d: %v, want %v", from+row, v.Int64s[row], want)
					}
				}
				if got != text {
					t.Fatalf("event %d, %s: %s, want %s", from+row, f.Name, got, text)
				}
				compared++
			}
		}
	}
	if compared < n*12 {
		t.Errorf("%d values", compared)
	}
}

func TestSeedsAndProducers(t *testing.T) {
	made := func(o Options) string { return string(New(o).AppendJSON(nil, 50)) }
	first := made(Options{Seed: 1})
	if first != made(Options{Seed: 1}) {
		t.Error("a seed gives two lists of events")
	}
	if first == made(Options{Seed: 2}) || first == made(Options{Seed: 1, Producer: 1}) {
		t.Error("another seed, or producer, gives the same events")
	}
	g := New(Options{Seed: 1})
	if first != string(g.AppendJSON(g.AppendJSON(nil, 20), 30)) {
		t.Error("events hang on how many are made at once")
	}
}

// The events are what the description says of them.
func TestShape(t *testing.T) {
	const n, perSecond, start = 200_000, 1000, 1_700_000_000_000
	g := New(Options{Seed: 5, Start: start, PerSecond: perSecond})
	var e event
	late, nulls, on, largest := 0, 0, 0, 0
	house := map[int32]home{}
	devices, seen := map[int32]bool{}, map[string]bool{}
	before := map[int32][len(walks)]int32{}
	for i := range n {
		g.next(&e)
		switch d := e.time - (start + int64(i)*1000/perSecond); {
		case d > spread || d < -latest:
			t.Fatalf("event %d is %d ms off", i, d)
		case d < -spread:
			late++
		}
		if h, known := house[e.house]; known && h != e.home {
			t.Fatalf("house %d moves", e.house)
		}
		house[e.house] = e.home
		devices[e.device] = true
		if e.device/perHouse != e.house || e.house < 0 || e.house >= houses {
			t.Fatalf("device %d in house %d", e.device, e.house)
		}
		last, walked := before[e.device]
		for k, w := range walks {
			v := e.readings[k]
			if v < w.low || v > w.high || walked && (v-last[k] > w.step || last[k]-v > w.step) {
				t.Fatalf("%s of device %d: %d after %d", w.field, e.device, v, last[k])
			}
			nulls += int(e.nulls >> k & 1)
		}
		before[e.device] = e.readings
		if e.on {
			on++
		}
		if e.home.metro == 0 {
			largest++
		}
		label := string(appendLabel(nil, e.label))
		if len(label) < 16 || len(label) > 40 {
			t.Fatalf("label %q has %d bytes", label, len(label))
		}
		seen[label] = true
	}
	near := func(what string, got, want, by float64) {
		t.Helper()
		if math.Abs(got-want) > by*want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	near("houses", float64(len(house)), houses, 0.001)
	near("devices", float64(len(devices)), houses*perHouse*(1-math.Exp(-1)), 0.02)
	near("labels", float64(len(seen)), float64(labels)*(1-math.Exp(-2)), 0.02)
	near("late", float64(late), n*latePercent/100, 0.1)
	near("null", float64(nulls), n*5*nullPercent/100, 0.05)
	near("on", float64(on), n*onPercent/100, 0.01)
	near("the largest metro area", float64(largest), n*metroShares()[0], 0.1)
}

func TestLabelsAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for n := range int32(labels) {
		label := string(appendLabel(nil, n))
		if len(label) < 16 || len(label) > 40 || seen[label] {
			t.Fatalf("label %d is %q", n, label)
		}
		seen[label] = true
	}
	if len(seen) != 100_000 {
		t.Errorf("%d labels", len(seen))
	}
}

// Entropies that can be counted are counted.
func TestEntropiesAreThoseOfTheEvents(t *testing.T) {
	const n = 300_000
	g := New(Options{Seed: 9})
	var e event
	counts := map[string]map[any]int{"is_on": {}, "metro_area": {}, "state": {}, "household_type": {}, "house_id": {}}
	for range n {
		g.next(&e)
		m := metros[e.home.metro]
		counts["is_on"][e.on]++
		counts["metro_area"][m.name]++
		counts["state"][m.state]++
		counts["household_type"][e.home.household]++
		counts["house_id"][e.house]++
	}
	checked := 0
	for _, entropy := range Entropies() {
		values, counted := counts[entropy.Field]
		if !counted {
			continue
		}
		shares := make([]float64, 0, len(values))
		for _, c := range values {
			shares = append(shares, float64(c)/n)
		}
		if got := bits(shares); math.Abs(got-entropy.Alone) > 0.05 {
			t.Errorf("%s: %.3f bits, want %.3f", entropy.Field, got, entropy.Alone)
		}
		checked++
	}
	if checked != 5 {
		t.Errorf("%d fields", checked)
	}
}

func BenchmarkJSON(b *testing.B) {
	g := New(Options{Seed: 1})
	var buf []byte
	for b.Loop() {
		buf = g.AppendJSON(buf[:0], 1000)
	}
	b.SetBytes(int64(len(buf)))
	b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkColumns(b *testing.B) {
	g := New(Options{Seed: 1})
	var e schema.Events
	for b.Loop() {
		g.Fill(&e, 8192)
	}
	b.ReportMetric(float64(b.N)*8192/b.Elapsed().Seconds(), "events/s")
}
