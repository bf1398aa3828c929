package tabimport

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/cellardb/cellar/cell"
)

// nowhere is a target that takes everything.
type nowhere struct{}

func (nowhere) Name() string                                          { return "nowhere" }
func (nowhere) CarriesTTL() bool                                      { return true }
func (nowhere) Prepare(context.Context, string, []string, bool) error { return nil }
func (nowhere) Lane(string) Lane                                      { return nowhere{} }
func (nowhere) Write(_ context.Context, rows []cell.Mutation) error   { return nil }
func (nowhere) Close() error                                          { return nil }

// What reading costs, without storing.
func BenchmarkRead(b *testing.B) {
	b.Chdir(b.TempDir())
	const line = "EWR,2013,1,1,1,39.02,26.06,59.37,270,10.357019999999999,NA,0,1012,10,2013-01-01T06:00:00Z\n"
	const names = "origin,year,month,day,hour,temp,dewp,humid,wind_dir,wind_speed,wind_gust,precip,pressure,visib,time_hour\n"
	const object = `{"origin":"EWR","at":{"year":2013,"month":1},"temp":39.02,"dewp":26.06,"humid":59.37,"wind":[270,10.4],"gust":null,"time_hour":"2013-01-01T06:00:00Z"}` + "\n"
	const n = 50000
	for _, c := range []struct{ name, file, text string }{
		{"csv", "x.csv", names + strings.Repeat(line, n)},
		{"quoted", "x.csv", names + strings.Repeat(strings.Replace(line, "EWR", `"E ""W"" R"`, 1), n)},
		{"ndjson", "x.ndjson", strings.Repeat(object, n)},
	} {
		b.Run(c.name, func(b *testing.B) {
			if err := os.WriteFile(c.file, []byte(c.text), 0o600); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				o := Options{Table: "t", Files: []string{c.file}, Columns: "HBASE_ROW_KEY=origin+'/'+time_hour,w:*", MaxBad: -1, Null: "NA"}
				im, err := New(o, nowhere{})
				if err != nil {
					b.Fatal(err)
				}
				r, err := im.Run(context.Background())
				if err != nil || r.Rows != n {
					b.Fatal(r, err)
				}
			}
			b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
