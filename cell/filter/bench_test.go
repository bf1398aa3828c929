package filter

import (
	"fmt"
	"testing"

	"github.com/cellardb/cellar/cell"
)

// BenchmarkEvaluator is the cost of one cell of a row of three, all steps of
// the row included.
func BenchmarkEvaluator(b *testing.B) {
	column := func(c Comparator) cell.Filter {
		return SingleColumnValue{Family: []byte("f"), Qualifier: []byte("b"), Op: cell.Equal, Comparator: c}
	}
	cases := map[string]cell.Filter{
		"prefix":    Prefix{[]byte("row-0000")},
		"single":    column(Binary{[]byte("value-7")}),
		"substring": column(Substring{"VALUE-7"}),
		"regex":     column(Regex("value-7$")),
		"rowregex":  Row{cell.Equal, Regex("^row-[0-9]+7$")},
		"all":       All(ColumnPrefix{[]byte("b")}, Value{cell.Equal, Binary{[]byte("value-7")}}),
		"any":       Any(ColumnPrefix{[]byte("b")}, Value{cell.Equal, Binary{[]byte("value-7")}}),
		"fuzzy":     FuzzyRow{[]FuzzyKey{{[]byte("row-0000000?"), []byte{0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}}}},
	}
	var rows [][]cell.Cell
	for i := range 1000 {
		var row []cell.Cell
		for _, q := range []string{"a", "b", "c"} {
			row = append(row, cell.Cell{
				Row: fmt.Appendf(nil, "row-%08d", i), Family: []byte("f"), Qualifier: []byte(q), Timestamp: 1,
				Type: cell.TypePut, Value: fmt.Appendf(nil, "value-%d", i%1000),
			})
		}
		rows = append(rows, row)
	}
	for name, f := range cases {
		b.Run(name, func(b *testing.B) {
			e, err := New(f, Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for i := 0; i < b.N; i += 3 {
				row := rows[i/3%len(rows)]
				if drop, err := e.FilterRowKey(row[0].Row); drop || err != nil {
					e.Reset()
					continue
				}
				for j := range row {
					if _, err := e.FilterCell(&row[j]); err != nil {
						b.Fatal(err)
					}
				}
				_ = e.FilterRow()
				e.Reset()
			}
		})
	}
}
