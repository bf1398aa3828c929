package filter

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/cellardb/cellar/cell"
)

// The cells that each filter is tried on, as row/family:qualifier@timestamp=value.
const smallTable = `
r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1
r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x
r3/a:b@1=10 r3/b:a@1=w1
s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07 s1/a:zz@9=Abc`

func parseCells(text string) []cell.Cell {
	var cells []cell.Cell
	for _, word := range strings.Fields(text) {
		key, value, _ := strings.Cut(word, "=")
		key, stamp, _ := strings.Cut(key, "@")
		row, column, _ := strings.Cut(key, "/")
		family, qualifier, _ := strings.Cut(column, ":")
		c := cell.Cell{Row: []byte(row), Family: []byte(family), Qualifier: []byte(qualifier), Type: cell.TypePut}
		fmt.Sscan(stamp, &c.Timestamp)
		c.Value = unprintable(value)
		cells = append(cells, c)
	}
	return cells
}

// unprintable is the reverse of cell.Printable.
func unprintable(text string) []byte {
	b := []byte{}
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			c, _ := hex.DecodeString(text[i+2 : i+4])
			b = append(b, c...)
			i += 3
			continue
		}
		b = append(b, text[i])
	}
	return b
}

// readable turns what a scan keeps into the form of the table, one line.
func readable(kept string) string {
	var words []string
	for _, word := range strings.Fields(kept) {
		p := strings.Split(word, "/")
		part := func(i int) string {
			b, _ := hex.DecodeString(strings.TrimPrefix(p[i], "x"))
			return cell.Printable(b)
		}
		words = append(words, fmt.Sprintf("%s/%s:%s@%s=%s", part(0), part(1), part(2), p[3], part(4)))
	}
	return strings.Join(words, " ")
}

type smallCase struct {
	scan scan
	want string
}

// keeps is a case of an ascending scan of two versions.
func keeps(f cell.Filter, want string) smallCase {
	return smallCase{scan{versions: 2, filter: f}, want}
}

func b(text string) []byte { return []byte(text) }

func binaryOf(text string) Comparator { return Binary{b(text)} }

// What each filter keeps of the small table. HBase keeps the same.
func TestFilters(t *testing.T) {
	cases := smallCases()
	requests := make([]string, len(cases))
	for i := range cases {
		requests[i] = cases[i].scan.String()
	}
	table := parseCells(smallTable)
	var data []string
	for _, c := range table {
		data = append(data, fmt.Sprintf("%s %s %s %d %s", hexa(c.Row), hexa(c.Family), hexa(c.Qualifier), c.Timestamp, hexa(c.Value)))
	}
	answers := recorded(t, "small", 4096, data, requests)
	all := readable(joined(table))
	types := map[string][2]bool{} // keeps some, drops some
	for i, c := range cases {
		kept, err := c.scan.run(table)
		if err != nil {
			t.Errorf("%s: %v", c.scan.filter, err)
			continue
		}
		got := readable(kept)
		if got != c.want {
			t.Errorf("%s: %s\nkept %s\nwant %s", c.scan.filter, requests[i], got, c.want)
		}
		if hbase := readable(answers[i]); hbase != c.want {
			t.Errorf("%s: %s\nHBase keeps %s\nwant        %s", c.scan.filter, requests[i], hbase, c.want)
		}
		name := fmt.Sprintf("%T", c.scan.filter)
		seen := types[name]
		types[name] = [2]bool{seen[0] || got != "", seen[1] || got != all}
	}
	for name, seen := range types {
		if !seen[0] || !seen[1] {
			t.Errorf("%s: the cases do not show that it keeps some cells and drops some", name)
		}
	}
	if len(types) != 25 || len(cases) < 90 {
		t.Errorf("%d types of filters in %d cases", len(types), len(cases))
	}
}

func joined(table []cell.Cell) string {
	var s strings.Builder
	for i := range table {
		s.WriteString(cellText(&table[i]))
	}
	return s.String()
}

func smallCases() []smallCase {
	var cases []smallCase
	for _, group := range [][]smallCase{rowCases(), columnCases(), cellCases(), columnValueCases(), comparatorCases(), listCases(), scanCases()} {
		cases = append(cases, group...)
	}
	return cases
}

func rowCases() []smallCase {
	return []smallCase{
		keeps(Prefix{b("r")}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x r3/a:b@1=10 r3/b:a@1=w1`),
		keeps(Prefix{b("r2")}, `r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x`),
		keeps(Prefix{b("s")}, `s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07 s1/a:zz@9=Abc`),
		keeps(Prefix{}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x r3/a:b@1=10 r3/b:a@1=w1 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07 s1/a:zz@9=Abc`),
		keeps(Prefix{b("rr")}, ``),
		keeps(InclusiveStop{b("r2")}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x`),
		keeps(InclusiveStop{b("r2a")}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x`),
		keeps(InclusiveStop{b("a")}, ``),
		keeps(Row{cell.Less, binaryOf("r2")}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1`),
		keeps(Row{cell.GreaterOrEqual, binaryOf("r3")}, `r3/a:b@1=10 r3/b:a@1=w1 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07 s1/a:zz@9=Abc`),
		keeps(Row{cell.NotEqual, binaryOf("r1")}, `r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x r3/a:b@1=10 r3/b:a@1=w1 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07 s1/a:zz@9=Abc`),
		keeps(Row{cell.NoOp, binaryOf("r1")}, ``),
		keeps(Page{1}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1`),
		keeps(Page{0}, ``),
		keeps(MultiRowRange{[]cell.Range{{Start: b("r2"), Stop: b("r3")}, {Start: b("s")}}}, `r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07 s1/a:zz@9=Abc`),
		keeps(MultiRowRange{[]cell.Range{{Start: b("r1"), Stop: b("r2"), StartExclusive: true, StopInclusive: true}}}, `r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x`),
		keeps(MultiRowRange{[]cell.Range{{Stop: b("r1"), StopInclusive: true}, {Start: b("r3"), Stop: b("r3"), StopInclusive: true}}}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1 r3/a:b@1=10 r3/b:a@1=w1`),
		keeps(MultiRowRange{[]cell.Range{{Start: b("r2"), Stop: b("r3"), StartExclusive: true}, {Start: b("r1"), Stop: b("r2"), StopInclusive: true}}}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x`),
		keeps(MultiRowRange{[]cell.Range{{Start: b("r1"), Stop: b("r2")}, {Start: b("r2"), Stop: b("r3"), StartExclusive: true}}}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1`),
		keeps(MultiRowRange{[]cell.Range{{Start: b("r1"), Stop: b("r2")}, {Start: b("r1"), Stop: b("r2"), StopInclusive: true}}}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x`),
		keeps(FuzzyRow{[]FuzzyKey{{b("?1"), []byte{1, 0}}}}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07 s1/a:zz@9=Abc`),
		keeps(FuzzyRow{[]FuzzyKey{{b("r2"), []byte{0, 0}}, {b("s?"), []byte{0, 1}}}}, `r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07 s1/a:zz@9=Abc`),
		keeps(FuzzyRow{[]FuzzyKey{{b("r1x"), []byte{0, 0, 0}}}}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1`),
	}
}

func columnCases() []smallCase {
	return []smallCase{
		keeps(ColumnPrefix{b("a")}, `r1/a:a@1=v1 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r3/b:a@1=w1 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07`),
		keeps(ColumnPrefix{b("b")}, `r1/a:b@2=v2 r2/b:b@5=x r3/a:b@1=10`),
		keeps(ColumnPrefix{}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x r3/a:b@1=10 r3/b:a@1=w1 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07 s1/a:zz@9=Abc`),
		keeps(MultipleColumnPrefix{[][]byte{b("z"), b("b")}}, `r1/a:b@2=v2 r2/b:b@5=x r3/a:b@1=10 s1/a:zz@9=Abc`),
		keeps(MultipleColumnPrefix{[][]byte{b("a"), b("ab")}}, `r1/a:a@1=v1 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r3/b:a@1=w1 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07`),
		keeps(MultipleColumnPrefix{}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x r3/a:b@1=10 r3/b:a@1=w1 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07 s1/a:zz@9=Abc`),
		keeps(ColumnRange{Min: b("ab"), Max: b("c")}, `r1/a:b@2=v2 r2/a:ab@5= r2/b:b@5=x r3/a:b@1=10`),
		keeps(ColumnRange{Min: b("ab"), MinExclusive: true, Max: b("c"), MaxInclusive: true}, `r1/a:b@2=v2 r1/a:c@3=v3 r2/b:b@5=x r3/a:b@1=10`),
		keeps(ColumnRange{Max: b("b")}, `r1/a:a@1=v1 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r3/b:a@1=w1 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07`),
		keeps(ColumnRange{Min: b("b")}, `r1/a:b@2=v2 r1/a:c@3=v3 r2/b:b@5=x r3/a:b@1=10 s1/a:zz@9=Abc`),
		keeps(ColumnRange{Min: []byte{}, Max: []byte{}, MaxInclusive: true}, ``),
		keeps(ColumnPagination{Limit: 1}, `r1/a:a@1=v1 r2/a:a@5=v2 r3/a:b@1=10 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07`),
		keeps(ColumnPagination{Limit: 2, Offset: 1}, `r1/a:b@2=v2 r1/a:c@3=v3 r2/a:ab@5= r2/b:b@5=x r3/b:a@1=w1 s1/a:zz@9=Abc`),
		keeps(ColumnPagination{Limit: 0, Offset: 1}, ``),
		keeps(ColumnPagination{Limit: 1, ColumnOffset: b("ab")}, `r1/a:b@2=v2 r2/a:ab@5= r3/a:b@1=10 s1/a:zz@9=Abc`),
		keeps(ColumnPagination{Limit: 2, ColumnOffset: b("b")}, `r1/a:b@2=v2 r1/a:c@3=v3 r2/b:b@5=x r3/a:b@1=10 r3/b:a@1=w1 s1/a:zz@9=Abc`),
		keeps(ColumnCountGet{2}, `r1/a:a@1=v1 r1/a:b@2=v2`),
		keeps(ColumnCountGet{4}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:ab@5= r2/b:b@5=x r3/a:b@1=10 r3/b:a@1=w1 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07 s1/a:zz@9=Abc`),
		keeps(ColumnCountGet{0}, ``),
		keeps(FirstKeyOnly{}, `r1/a:a@1=v1 r2/a:a@5=v2 r3/a:b@1=10 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07`),
		keeps(FirstKeyValueMatchingQualifiers{[][]byte{b("b"), b("ab")}}, `r1/a:a@1=v1 r1/a:b@2=v2 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r3/a:b@1=10 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07 s1/a:zz@9=Abc`),
		keeps(FirstKeyValueMatchingQualifiers{}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x r3/a:b@1=10 r3/b:a@1=w1 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07 s1/a:zz@9=Abc`),
	}
}

func cellCases() []smallCase {
	return []smallCase{
		keeps(KeyOnly{}, `r1/a:a@1= r1/a:b@2= r1/a:c@3= r1/b:a@1= r2/a:a@5= r2/a:a@4= r2/a:ab@5= r2/b:b@5= r3/a:b@1= r3/b:a@1= s1/a:a@9= s1/a:zz@9=`),
		keeps(KeyOnly{LenAsValue: true}, `r1/a:a@1=\x00\x00\x00\x02 r1/a:b@2=\x00\x00\x00\x02 r1/a:c@3=\x00\x00\x00\x02 r1/b:a@1=\x00\x00\x00\x02 r2/a:a@5=\x00\x00\x00\x02 r2/a:a@4=\x00\x00\x00\x02 r2/a:ab@5=\x00\x00\x00\x00 r2/b:b@5=\x00\x00\x00\x01 r3/a:b@1=\x00\x00\x00\x02 r3/b:a@1=\x00\x00\x00\x02 s1/a:a@9=\x00\x00\x00\x08 s1/a:zz@9=\x00\x00\x00\x03`),
		keeps(All(KeyOnly{}, FirstKeyOnly{}), `r1/a:a@1= r2/a:a@5= r3/a:b@1= s1/a:a@9=`),
		keeps(Any(KeyOnly{}, ColumnPrefix{b("b")}), `r1/a:a@1= r1/a:b@2= r1/a:c@3= r1/b:a@1= r2/a:a@5= r2/a:a@4= r2/a:ab@5= r2/b:b@5= r3/a:b@1= r3/b:a@1= s1/a:a@9= s1/a:zz@9=`),
		keeps(Any(ColumnPrefix{b("b")}, All(ColumnPrefix{b("a")}, KeyOnly{})), `r1/a:a@1= r1/a:b@2=v2 r1/b:a@1= r2/a:a@5= r2/a:a@4= r2/a:ab@5= r2/b:b@5=x r3/a:b@1=10 r3/b:a@1= s1/a:a@9=`),
		keeps(Timestamps{Timestamps: []int64{1, 5}}, `r1/a:a@1=v1 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:ab@5= r2/b:b@5=x r3/a:b@1=10 r3/b:a@1=w1`),
		keeps(Timestamps{Timestamps: []int64{4, 9}, CanHint: true}, `r2/a:a@4=v1 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07 s1/a:zz@9=Abc`),
		keeps(Timestamps{}, ``),
		keeps(Family{cell.Equal, binaryOf("b")}, `r1/b:a@1=w1 r2/b:b@5=x r3/b:a@1=w1`),
		keeps(Family{cell.NotEqual, Substring{"B"}}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r3/a:b@1=10 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07 s1/a:zz@9=Abc`),
		keeps(Qualifier{cell.LessOrEqual, binaryOf("ab")}, `r1/a:a@1=v1 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r3/b:a@1=w1 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07`),
		keeps(Qualifier{cell.Equal, Regex("^[^b]$")}, `r1/a:a@1=v1 r1/a:c@3=v3 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r3/b:a@1=w1 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07`),
		keeps(Value{cell.Equal, binaryOf("v2")}, `r1/a:b@2=v2 r2/a:a@5=v2`),
		keeps(Value{cell.Greater, binaryOf("v1")}, `r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1 r2/a:a@5=v2 r2/b:b@5=x r3/b:a@1=w1`),
		keeps(Value{cell.Equal, binaryOf("")}, `r2/a:ab@5=`),
		keeps(Value{cell.NoOp, binaryOf("v1")}, ``),
		keeps(Family{cell.NoOp, binaryOf("a")}, ``),
	}
}

func columnValueCases() []smallCase {
	f, q := b("a"), b("a")
	return []smallCase{
		keeps(SingleColumnValue{Family: f, Qualifier: q, Op: cell.Equal, Comparator: binaryOf("v1")}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1 r3/a:b@1=10 r3/b:a@1=w1`),
		keeps(SingleColumnValue{Family: f, Qualifier: q, Op: cell.Equal, Comparator: binaryOf("v1"), FilterIfMissing: true}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1`),
		keeps(SingleColumnValue{Family: f, Qualifier: q, Op: cell.Equal, Comparator: binaryOf("v1"), FilterIfMissing: true, AllVersions: true}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x`),
		keeps(SingleColumnValue{Family: b("b"), Qualifier: b("b"), Op: cell.NotEqual, Comparator: binaryOf("x"), FilterIfMissing: true}, ``),
		keeps(SingleColumnValueExclude{Family: f, Qualifier: q, Op: cell.Equal, Comparator: binaryOf("v1"), FilterIfMissing: true}, `r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1`),
		keeps(SingleColumnValueExclude{Family: b("a"), Qualifier: b("b"), Op: cell.Less, Comparator: binaryOf("v")}, `r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x r3/b:a@1=w1 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07 s1/a:zz@9=Abc`),
		keeps(ColumnValue{f, q, cell.Equal, binaryOf("v1")}, `r1/a:a@1=v1 r2/a:a@4=v1`),
		keeps(ColumnValue{f, q, cell.NotEqual, binaryOf("v1")}, `r2/a:a@5=v2 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07`),
		keeps(ColumnValue{f, q, cell.NoOp, binaryOf("v1")}, ``),
		keeps(DependentColumn{Family: f, Qualifier: q, Op: cell.NoOp}, `r1/a:a@1=v1 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07 s1/a:zz@9=Abc`),
		keeps(DependentColumn{Family: f, Qualifier: q, Drop: true, Op: cell.NoOp}, `r1/b:a@1=w1 r2/a:ab@5= r2/b:b@5=x s1/a:zz@9=Abc`),
		keeps(DependentColumn{Family: f, Qualifier: q, Op: cell.Equal, Comparator: binaryOf("v1")}, `r1/a:a@1=v1 r1/b:a@1=w1 r2/a:a@4=v1`),
		keeps(DependentColumn{Family: f, Qualifier: q, Op: cell.NoOp, Comparator: binaryOf("v1")}, ``),
	}
}

func comparatorCases() []smallCase {
	value := func(op cell.CompareOp, c Comparator, want string) smallCase {
		return keeps(All(ColumnPrefix{b("a")}, Value{op, c}), want)
	}
	seven := All(Row{cell.Equal, binaryOf("s1")}, ColumnPrefix{b("a")})
	return []smallCase{
		value(cell.Equal, BinaryPrefix{b("v")}, `r1/a:a@1=v1 r2/a:a@5=v2 r2/a:a@4=v1`),
		value(cell.Less, BinaryPrefix{b("v2")}, `r1/a:a@1=v1 r2/a:a@4=v1 r2/a:ab@5= s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07`),
		value(cell.Equal, Bit{BitAnd, b("\x00\x03")}, `r1/a:a@1=v1 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r3/b:a@1=w1`),
		value(cell.Equal, Bit{BitXor, b("v2")}, `r1/a:a@1=v1 r1/b:a@1=w1 r2/a:a@4=v1 r3/b:a@1=w1`),
		value(cell.NotEqual, Bit{BitOr, b("v2")}, `r2/a:ab@5= s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07`),
		value(cell.Equal, Null{}, ``),
		value(cell.NotEqual, Null{}, `r1/a:a@1=v1 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r3/b:a@1=w1 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07`),
		value(cell.Equal, Substring{"V"}, `r1/a:a@1=v1 r2/a:a@5=v2 r2/a:a@4=v1`),
		value(cell.NotEqual, Regex("[12]$"), `r2/a:ab@5= s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07`),
		value(cell.Greater, Regex("1"), ``),
		keeps(Row{cell.Equal, BinaryComponent{b("2"), 1}}, `r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x`),
		keeps(Row{cell.Greater, BinaryComponent{b("1"), 1}}, `r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x r3/a:b@1=10 r3/b:a@1=w1`),
		keeps(All(seven, Value{cell.Less, Long{8}}), `s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07`),
		keeps(All(seven, Value{cell.Less, Long{7}}), ``),
		keeps(All(seven, Value{cell.Equal, BigDecimal{Unscaled: big.NewInt(7)}}), `s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07`),
		keeps(All(seven, Value{cell.Greater, BigDecimal{Unscaled: big.NewInt(-71), Scale: 1}}), `s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07`),
		keeps(All(seven, Value{cell.LessOrEqual, BigDecimal{Unscaled: big.NewInt(699), Scale: 2}}), ``),
	}
}

func listCases() []smallCase {
	column, value := ColumnPrefix{b("a")}, Value{cell.Equal, binaryOf("v2")}
	return []smallCase{
		keeps(All(column, value), `r2/a:a@5=v2`),
		keeps(Any(column, value), `r1/a:a@1=v1 r1/a:b@2=v2 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r3/b:a@1=w1 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07`),
		keeps(All(), `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x r3/a:b@1=10 r3/b:a@1=w1 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07 s1/a:zz@9=Abc`),
		keeps(Any(), `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x r3/a:b@1=10 r3/b:a@1=w1 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07 s1/a:zz@9=Abc`),
		keeps(All(Page{1}, Row{cell.NotEqual, binaryOf("r1")}), `r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x`),
		keeps(All(Row{cell.NotEqual, binaryOf("r1")}, Page{1}), `r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x`),
		keeps(All(SingleColumnValue{Family: b("b"), Qualifier: b("b"), Op: cell.Equal, Comparator: binaryOf("x"), FilterIfMissing: true}, Page{1}), `r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x`),
		keeps(All(Page{1}, SingleColumnValue{Family: b("b"), Qualifier: b("b"), Op: cell.Equal, Comparator: binaryOf("x"), FilterIfMissing: true}), ``),
		keeps(Any(Prefix{b("s")}, FirstKeyOnly{}), `r1/a:a@1=v1 r2/a:a@5=v2 r3/a:b@1=10 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07 s1/a:zz@9=Abc`),
		keeps(Any(FirstKeyOnly{}, ColumnPagination{Limit: 1, Offset: 2}), `r1/a:a@1=v1 r1/a:c@3=v3 r2/a:a@5=v2 r2/b:b@5=x r3/a:b@1=10 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07`),
		keeps(All(Prefix{b("r")}, Any(ColumnPrefix{b("c")}, Timestamps{Timestamps: []int64{4}})), `r1/a:c@3=v3 r2/a:a@4=v1`),
		keeps(All(FuzzyRow{[]FuzzyKey{{b("?1"), []byte{1, 0}}}}, ColumnPrefix{b("z")}), `s1/a:zz@9=Abc`),
		keeps(SkipRow{Value{cell.NotEqual, binaryOf("v2")}}, `r3/a:b@1=10 r3/b:a@1=w1 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07 s1/a:zz@9=Abc`),
		keeps(SkipRow{Row{cell.Equal, binaryOf("r1")}}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x r3/a:b@1=10 r3/b:a@1=w1 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07 s1/a:zz@9=Abc`),
		keeps(SkipRow{Prefix{b("r")}}, ``),
		keeps(SkipRow{FirstKeyOnly{}}, ``),
		keeps(SkipRow{SingleColumnValue{Family: b("a"), Qualifier: b("a"), Op: cell.Equal, Comparator: binaryOf("v1"), FilterIfMissing: true}}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1 r3/a:b@1=10 r3/b:a@1=w1`),
		keeps(WhileMatch{Row{cell.NotEqual, binaryOf("r3")}}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x`),
		keeps(WhileMatch{Value{cell.NotEqual, binaryOf("v3")}}, `r1/a:a@1=v1 r1/a:b@2=v2`),
		keeps(All(WhileMatch{Value{cell.NotEqual, binaryOf("w1")}}, Row{cell.NotEqual, binaryOf("r1")}), ``),
		keeps(All(Row{cell.NotEqual, binaryOf("r1")}, WhileMatch{Value{cell.NotEqual, binaryOf("w1")}}), `r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x r3/a:b@1=10`),
		keeps(All(ColumnPrefix{b("z")}, Page{1}), `s1/a:zz@9=Abc`),
		keeps(WhileMatch{Prefix{b("r1")}}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1`),
		keeps(WhileMatch{Page{2}}, `r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x`),
	}
}

// scanCases are about the scan around the filter: its direction, its versions,
// limit and offset of a store.
func scanCases() []smallCase {
	return []smallCase{
		{scan{versions: 1, filter: Value{cell.Equal, binaryOf("v1")}}, `r1/a:a@1=v1 r2/a:a@4=v1`},
		{scan{versions: 1, filter: ColumnPrefix{b("a")}}, `r1/a:a@1=v1 r1/b:a@1=w1 r2/a:a@5=v2 r2/a:ab@5= r3/b:a@1=w1 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07`},
		{scan{versions: 2, limit: 1, filter: ColumnPrefix{b("a")}}, `r1/a:a@1=v1 r1/b:a@1=w1 r2/a:a@5=v2 r3/b:a@1=w1 s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07`},
		{scan{versions: 2, limit: 1, offset: 1, filter: ColumnPrefix{b("a")}}, `r2/a:a@4=v1`},
		{scan{reversed: true, versions: 2, filter: Prefix{b("r2")}}, `r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x`},
		{scan{reversed: true, versions: 2, filter: InclusiveStop{b("r3")}}, `s1/a:a@9=\x00\x00\x00\x00\x00\x00\x00\x07 s1/a:zz@9=Abc r3/a:b@1=10 r3/b:a@1=w1`},
		{scan{reversed: true, versions: 2, filter: MultiRowRange{[]cell.Range{{Start: b("r1"), Stop: b("r2")}, {Start: b("r3"), Stop: b("r9")}}}}, `r3/a:b@1=10 r3/b:a@1=w1 r1/a:a@1=v1 r1/a:b@2=v2 r1/a:c@3=v3 r1/b:a@1=w1`},
		{scan{reversed: true, versions: 2, filter: MultiRowRange{[]cell.Range{{Start: b("r1"), Stop: b("r2"), StartExclusive: true, StopInclusive: true}, {Start: b("r3"), Stop: b("r9"), StartExclusive: true}}}}, `r2/a:a@5=v2 r2/a:a@4=v1 r2/a:ab@5= r2/b:b@5=x`},
		{scan{reversed: true, versions: 2, filter: WhileMatch{Prefix{b("r2")}}}, ``},
		{scan{reversed: true, versions: 2, filter: All(Page{2}, ColumnRange{Min: b("b")})}, `s1/a:zz@9=Abc r3/a:b@1=10`},
	}
}
