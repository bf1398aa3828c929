package intake

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/cellardb/cellar/bench/events"
	"github.com/cellardb/cellar/stream/schema"
)

// sample is an event of the benchmarks.
var sample = string(events.New(events.Options{Seed: 3}).AppendJSON(nil, 1))

const perBody = 5000

// benchmark reads a body of perBody events.
func benchmark(b *testing.B, s *schema.Schema, body []byte, o Options) {
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := Parse(s, body, o)
		if err != nil || r.Accepted != perBody {
			b.Fatalf("%+v, %v", r, err)
		}
	}
	b.ReportMetric(float64(b.N)*perBody/b.Elapsed().Seconds(), "events/s")
}

// The events of the smart home, 13 fields and some 270 bytes each.
func BenchmarkJSON(b *testing.B) {
	body := events.New(events.Options{Seed: 1}).AppendJSON(nil, perBody)
	open := &schema.Schema{Name: "open", Open: true}
	b.Run("lines", func(b *testing.B) { benchmark(b, events.Schema(), body, Options{}) })
	array := append([]byte{'['}, bytes.ReplaceAll(body[:len(body)-1], []byte{'\n'}, []byte{','})...)
	b.Run("array", func(b *testing.B) { benchmark(b, events.Schema(), append(array, ']'), Options{}) })
	b.Run("open", func(b *testing.B) { benchmark(b, open, body, Options{}) })
	blanks := bytes.ReplaceAll(bytes.ReplaceAll(body, []byte(`":`), []byte(`": `)), []byte(`,"`), []byte(`, "`))
	b.Run("blanks", func(b *testing.B) { benchmark(b, events.Schema(), blanks, Options{}) })
	var wso2 []byte
	for line := range bytes.Lines(body) {
		wso2 = append(append(append(wso2, `{"event":{"payloadData":`...), line[:len(line)-1]...), "}}\n"...)
	}
	b.Run("wso2", func(b *testing.B) { benchmark(b, events.Schema(), wso2, Options{}) })
}

// The same events as CSV.
func BenchmarkCSV(b *testing.B) {
	var e schema.Events
	s := events.Schema()
	events.New(events.Options{Seed: 1}).Fill(&e, perBody)
	names := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		names[i] = f.Name
	}
	body := []byte(strings.Join(names, ",") + "\n")
	for row := range e.Rows {
		for i, f := range s.Fields {
			if !e.Columns[i].Null(row) {
				body = schema.AppendValue(body, &e.Columns[i], f.Type, row)
			}
			body = append(body, ',')
		}
		body[len(body)-1] = '\n'
	}
	benchmark(b, s, body, Options{Format: CSV})
}

// Longer texts, with and without what must be looked at.
func BenchmarkText(b *testing.B) {
	s := &schema.Schema{Name: "s", Fields: []schema.Field{{Name: "t", Type: schema.Text}}}
	for name, text := range map[string]string{
		"ascii": strings.Repeat("plain text of words ", 50), "escapes": strings.Repeat(`a \"quote\" and\nmore `, 45),
		"unicode": strings.Repeat("Straße, Köln, 東京 ", 45),
	} {
		b.Run(name+strconv.Itoa(len(text)), func(b *testing.B) {
			benchmark(b, s, bytes.Repeat([]byte(`{"t":"`+text+"\"}\n"), perBody), Options{})
		})
	}
}
