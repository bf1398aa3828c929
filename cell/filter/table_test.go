package filter

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cellardb/cellar/cell"
)

// The table that filters are tried on: two families of three versions, keys and
// qualifiers that are prefixes of each other, values of several kinds.
var (
	tableRows       = []string{"a", "ab", "abc", "abd", "b1x1", "b1x2", "b2x1", "b2x1z", "c\x01", "c9", "\xff", "\xff\xff"}
	tableFamilies   = []string{"a", "b"}
	tableQualifiers = []string{"", "a", "ab", "abc", "b", "q1", "q2", "x'y"}
)

func tableValue(r *rand.Rand) []byte {
	switch r.IntN(8) {
	case 0:
		return []byte{}
	case 1:
		return binary.BigEndian.AppendUint64(nil, uint64(int64(r.IntN(5)-2)))
	case 2:
		return []byte("Abc def\r\n")
	case 3:
		return []byte{0xff, 0x00, byte(r.IntN(3))}
	}
	return fmt.Appendf(nil, "v%d", r.IntN(5))
}

// testTable makes the cells of the table, in HBase's order.
func testTable() []cell.Cell {
	r := rand.New(rand.NewPCG(1, 1))
	var cells []cell.Cell
	for _, row := range tableRows {
		for _, family := range tableFamilies {
			for _, qualifier := range tableQualifiers {
				if r.IntN(2) == 0 {
					continue
				}
				for range 1 + r.IntN(3) {
					c := cell.Cell{
						Row: []byte(row), Family: []byte(family), Qualifier: []byte(qualifier),
						Timestamp: int64(1 + r.IntN(6)), Type: cell.TypePut, Value: tableValue(r),
					}
					if !slices.ContainsFunc(cells, func(d cell.Cell) bool { return cell.Compare(&c, &d) == 0 }) {
						cells = append(cells, c)
					}
				}
			}
		}
	}
	slices.SortFunc(cells, func(a, b cell.Cell) int { return cell.Compare(&a, &b) })
	return cells
}

// scan is a read of the whole table with a filter.
type scan struct {
	reversed      bool
	versions      int
	limit, offset int
	filter        cell.Filter
}

// String is the scan as a request to HBase.
func (s *scan) String() string {
	direction := "f"
	if s.reversed {
		direction = "r"
	}
	return fmt.Sprintf("%s %d %d %d %s", direction, s.versions, s.limit, s.offset, spec(s.filter))
}

// run gives the cells that the scan keeps, as text.
func (s *scan) run(table []cell.Cell) (string, error) {
	e, err := New(s.filter, Options{Reversed: s.reversed})
	if err != nil {
		return "", err
	}
	w := NewWalker(e, &cell.Read{MaxVersions: s.versions, StoreLimit: s.limit, StoreOffset: s.offset})
	var out strings.Builder
	for _, row := range rowsOf(table, s.reversed) {
		kept, err := w.Row(slices.Clone(row))
		if err != nil {
			return out.String(), err
		}
		for i := range kept {
			out.WriteString(cellText(&kept[i]))
		}
		if w.Done() {
			break
		}
	}
	return strings.TrimSuffix(out.String(), " "), nil
}

func cellText(c *cell.Cell) string {
	return fmt.Sprintf("%s/%s/%s/%d/%s ", hexa(c.Row), hexa(c.Family), hexa(c.Qualifier), c.Timestamp, hexa(c.Value))
}

func rowsOf(table []cell.Cell, reversed bool) [][]cell.Cell {
	var rows [][]cell.Cell
	for begin := 0; begin < len(table); {
		end := begin
		for end < len(table) && bytes.Equal(table[end].Row, table[begin].Row) {
			end++
		}
		rows = append(rows, table[begin:end])
		begin = end
	}
	if reversed {
		slices.Reverse(rows)
	}
	return rows
}

func TestTableIsWhatItWas(t *testing.T) {
	table := testTable()
	if n := len(rowsOf(table, false)); n != len(tableRows) || len(table) < 100 {
		t.Errorf("%d rows, %d cells", n, len(table))
	}
}
