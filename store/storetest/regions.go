package storetest

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

func regionTests() []test {
	return []test{
		{"one_without_split_points", oneRegion},
		{"cut_at_the_split_points", preSplit},
		{"have_an_id_from_the_clock", regionIDs},
		{"split_at_a_row", splitAtRow},
		{"split_of_a_named_region", splitNamed},
		{"split_where_the_engine_chooses", splitAnywhere},
		{"split_refusals", splitRefusals},
		{"split_keeps_rows_and_scanners", splitKeepsScanners},
	}
}

// cover checks that the regions cover all keys without gap or overlap, and gives
// their start keys.
func (e *env) cover(table string) string {
	e.Helper()
	regions, err := e.s.Regions(e.ctx, table)
	e.must(err)
	if len(regions) == 0 || len(regions[0].Start) > 0 || len(regions[len(regions)-1].Stop) > 0 {
		e.Fatalf("regions do not cover all keys: %v", regions)
	}
	var starts []string
	names := map[string]bool{}
	for i := range regions {
		r := &regions[i]
		starts = append(starts, cell.Printable(r.Start))
		names[r.EncodedName()] = true
		if r.Table != table {
			e.Errorf("region %d is of table %q", i, r.Table)
		}
		if i > 0 && !bytes.Equal(regions[i-1].Stop, r.Start) {
			e.Errorf("region %d ends at %q, the next begins at %q", i-1, regions[i-1].Stop, r.Start)
		}
		if len(r.Stop) > 0 && bytes.Compare(r.Start, r.Stop) >= 0 {
			e.Errorf("region %d from %q to %q is empty", i, r.Start, r.Stop)
		}
	}
	if len(names) != len(regions) {
		e.Errorf("%d regions have %d names", len(regions), len(names))
	}
	return strings.Join(starts, " ")
}

func oneRegion(e *env) {
	e.usual()
	e.equal(e.cover("t"), "")
}

func preSplit(e *env) {
	splits := [][]byte{[]byte("m"), []byte("c"), []byte("c\x00"), {0}, {0xff, 0xff}}
	e.must(e.s.CreateTable(e.ctx, schema("t", fam("f", 1)), splits))
	e.equal(e.cover("t"), ` \x00 c c\x00 m \xFF\xFF`)
	for _, s := range splits {
		clear(s)
	}
	e.equal(e.cover("t"), ` \x00 c c\x00 m \xFF\xFF`)
	regions, err := e.s.Regions(e.ctx, "t")
	e.must(err)
	clear(regions[2].Start)
	e.equal(e.cover("t"), ` \x00 c c\x00 m \xFF\xFF`)
}

// A region's id is the time of its creation, or more where that is taken; that
// of a later region of the same table is larger.
func regionIDs(e *env) {
	e.usual()
	first, err := e.s.Regions(e.ctx, "t")
	e.must(err)
	if e.s.Capabilities().ShiftsTimestamps && (first[0].ID < epoch || first[0].ID > epoch+10) {
		e.Errorf("id %d, want about %d", first[0].ID, epoch)
	}
	e.must(e.s.DisableTable(e.ctx, "t"))
	e.must(e.s.TruncateTable(e.ctx, "t", true))
	second, err := e.s.Regions(e.ctx, "t")
	e.must(err)
	e.must(e.s.DisableTable(e.ctx, "t"))
	e.must(e.s.DropTable(e.ctx, "t"))
	e.usual()
	third, err := e.s.Regions(e.ctx, "t")
	e.must(err)
	if first[0].ID >= second[0].ID || second[0].ID >= third[0].ID {
		e.Errorf("ids %d, %d, %d do not grow", first[0].ID, second[0].ID, third[0].ID)
	}
}

func splitAtRow(e *env) {
	e.usual()
	e.rows("a", "m", "z")
	before, err := e.s.Regions(e.ctx, "t")
	e.must(err)
	e.must(e.s.SplitRegion(e.ctx, "t", nil, []byte("m")))
	e.equal(e.cover("t"), " m")
	after, err := e.s.Regions(e.ctx, "t")
	e.must(err)
	if after[0].ID <= before[0].ID || after[1].ID <= before[0].ID {
		e.Errorf("ids %d and %d after %d do not grow", after[0].ID, after[1].ID, before[0].ID)
	}
	e.must(e.s.SplitRegion(e.ctx, "t", nil, []byte("x")))
	e.must(e.s.SplitRegion(e.ctx, "t", nil, []byte("b\x00")))
	e.equal(e.cover("t"), ` b\x00 m x`)
	e.equal(e.keys(cell.Scan{}), "a m z")
	e.equal(e.keys(cell.Scan{Reversed: true}), "z m a")
	e.rows("b", "n", "y")
	e.equal(e.keys(cell.Scan{}), "a b m n y z")
}

func splitNamed(e *env) {
	e.must(e.s.CreateTable(e.ctx, schema("t", fam("f", 1)), [][]byte{[]byte("m")}))
	regions, err := e.s.Regions(e.ctx, "t")
	e.must(err)
	e.must(e.s.SplitRegion(e.ctx, "t", &regions[1], []byte("p")))
	e.equal(e.cover("t"), " m p")
	// The parent is not served any more, the sibling is.
	e.refused(e.s.SplitRegion(e.ctx, "t", &regions[1], []byte("q")), store.ErrNotServingRegion)
	e.must(e.s.SplitRegion(e.ctx, "t", &regions[0], []byte("c")))
	e.equal(e.cover("t"), " c m p")
}

func splitAnywhere(e *env) {
	e.usual()
	e.fill(500)
	e.must(e.s.Flush(e.ctx, "t"))
	regions, err := e.s.Regions(e.ctx, "t")
	e.must(err)
	e.must(e.s.SplitRegion(e.ctx, "t", &regions[0], nil))
	if starts := strings.Fields(e.cover("t")); len(starts) != 1 || starts[0] <= "00000" || starts[0] > "00499" {
		e.Errorf("split at %q", starts)
	}
	if n := len(e.results("t", cell.Scan{})); n != 500 {
		e.Errorf("%d rows, want 500", n)
	}
}

func splitRefusals(e *env) {
	e.must(e.s.CreateTable(e.ctx, schema("t", fam("f", 1)), [][]byte{[]byte("m")}))
	regions, err := e.s.Regions(e.ctx, "t")
	e.must(err)
	e.refused(e.s.SplitRegion(e.ctx, "t", nil, []byte("m")), cell.ErrIllegalArgument)
	e.refused(e.s.SplitRegion(e.ctx, "t", &regions[1], []byte("m")), cell.ErrIllegalArgument)
	e.refused(e.s.SplitRegion(e.ctx, "t", &regions[1], []byte("a")), store.ErrWrongRegion)
	other := regions[1]
	other.ID += 5
	e.refused(e.s.SplitRegion(e.ctx, "t", &other, []byte("p")), store.ErrNotServingRegion)
	e.refused(e.s.SplitRegion(e.ctx, "t", nil, make([]byte, cell.MaxRow+1)), cell.ErrIllegalArgument)
	e.equal(e.cover("t"), " m")
}

func splitKeepsScanners(e *env) {
	e.usual()
	e.fill(20)
	sc, err := e.s.Scan(e.ctx, "t", &cell.Scan{})
	e.must(err)
	for i := range 20 {
		r, err := sc.Next(e.ctx)
		e.must(err)
		e.equal(string(r.Row), fmt.Sprintf("%05d", i))
		if i == 5 {
			e.must(e.s.SplitRegion(e.ctx, "t", nil, []byte("00010")))
			e.must(e.s.SplitRegion(e.ctx, "t", nil, []byte("00003")))
		}
	}
	e.must(sc.Close())
}
