package storetest

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// reopenTests are about what survives a restart; they are skipped unless the
// engine is a Reopener.
func reopenTests() []test {
	tests := []test{
		{"cells_and_markers", reopenCells},
		{"schemas_states_and_regions", reopenSchemas},
		{"namespaces", reopenNamespaces},
		{"dropped_and_truncated_tables_stay_so", reopenDropped},
		{"deleted_rows_stay_so", reopenDeletedRows},
		{"dropped_family_stays_so", reopenDroppedFamily},
		{"every_durability_survives_a_clean_close", reopenDurabilities},
		{"region_ids_go_on_growing", reopenRegionIDs},
		{"again_and_again", reopenAgain},
	}
	for i, c := range tests {
		tests[i].run = func(e *env) {
			if _, ok := e.s.(Reopener); !ok {
				e.Skip("the engine keeps nothing, or the test cannot reopen it")
			}
			c.run(e)
		}
	}
	return tests
}

// reopen starts the engine anew.
func (e *env) reopen() {
	e.Helper()
	e.s = e.s.(Reopener).Reopen(e.T)
	if _, ok := e.s.(Reopener); !ok {
		e.Fatal("what Reopen returned is no Reopener")
	}
}

func reopenCells(e *env) {
	e.usual()
	e.script(markersOfAllKinds)
	e.script("put f:@1=; put f:now@now=x; inc f:n+7; app g:a+abc")
	e.apply(&cell.Mutation{Row: []byte("s"), TTL: 1 << 40, Edits: []cell.Edit{{Op: cell.OpPut, Family: []byte("f"), Qualifier: []byte("t\x00\xff"), Timestamp: epoch, Value: []byte("v"), Tags: []byte{0, 1, 9}}}})
	before := e.raw("r") + e.raw("s")
	e.reopen()
	e.equal(e.raw("r")+e.raw("s"), before)
	e.script("put f:q@2=late")
	if got := e.get("r", only("f:q")); got != "f:q@2=late" {
		e.Errorf("after a reopen: %q", got)
	}
	e.script("put f:q@1=masked; put g:q@9=masked")
	e.equal(e.get("r", only("f:q", "g:q"), versions(9)), "f:q@2=late")
}

func reopenSchemas(e *env) {
	e.must(e.s.CreateTable(e.ctx, fullSchema(), [][]byte{[]byte("m")}))
	e.create("off", fam("f", 3))
	e.create("cellar:in", fam("f", 3))
	e.must(e.s.SplitRegion(e.ctx, "full", nil, []byte("c")))
	e.must(e.s.DisableTable(e.ctx, "off"))
	state := func() (infos []store.TableInfo, regions [][]store.Region) {
		infos, err := e.s.Tables(e.ctx)
		e.must(err)
		in, err := e.s.Describe(e.ctx, "cellar:in")
		e.must(err)
		for _, table := range []string{"full", "off", "cellar:in"} {
			r, err := e.s.Regions(e.ctx, table)
			e.must(err)
			regions = append(regions, r)
		}
		return append(infos, in), regions
	}
	infos, regions := state()
	e.reopen()
	infosAfter, regionsAfter := state()
	if !reflect.DeepEqual(infos, infosAfter) {
		e.Errorf("\nbefore %+v\n after %+v", infos, infosAfter)
	}
	if fmt.Sprint(regions) != fmt.Sprint(regionsAfter) {
		e.Errorf("\nbefore %v\n after %v", regions, regionsAfter)
	}
	e.must(e.s.AlterTable(e.ctx, schema("off", fam("f", 3), fam("g", 2))))
	e.reopen()
	info, err := e.s.Describe(e.ctx, "off")
	e.must(err)
	if info.Enabled || len(info.Schema.Families) != 2 {
		e.Errorf("described as %+v", info)
	}
}

func reopenNamespaces(e *env) {
	e.must(e.s.CreateNamespace(e.ctx, store.Namespace{Name: "a", Properties: map[string]string{"k": "v"}}))
	e.must(e.s.CreateNamespace(e.ctx, store.Namespace{Name: "b"}))
	e.must(e.s.AlterNamespace(e.ctx, store.Namespace{Name: "b", Properties: map[string]string{"l": "w"}}))
	e.must(e.s.CreateNamespace(e.ctx, store.Namespace{Name: "c"}))
	e.must(e.s.DropNamespace(e.ctx, "c"))
	before := e.namespaces()
	e.reopen()
	e.equal(e.namespaces(), before)
	e.equal(before, "a[k:v] b[l:w] default hbase")
}

func reopenDropped(e *env) {
	e.usual()
	e.create("u", fam("f", 1))
	e.rows("a", "b")
	e.must(e.s.DisableTable(e.ctx, "t"))
	e.must(e.s.DropTable(e.ctx, "t"))
	e.reopen()
	e.equal(e.tableNames(), "u")
	e.usual()
	e.equal(e.scan(cell.Scan{Raw: true}), "")
	e.rows("c")
	e.must(e.s.DisableTable(e.ctx, "t"))
	e.must(e.s.TruncateTable(e.ctx, "t", false))
	e.reopen()
	e.equal(e.scan(cell.Scan{Raw: true}), "")
	e.rows("d")
	e.equal(e.keys(cell.Scan{}), "d")
}

func reopenDeletedRows(e *env) {
	e.usual()
	e.rows("a", "b", "c", "d")
	e.must(e.s.DeleteRows(e.ctx, "t", cell.Range{Start: []byte("b"), Stop: []byte("d")}))
	e.reopen()
	e.equal(e.keys(cell.Scan{}), "a d")
}

func reopenDroppedFamily(e *env) {
	e.usual()
	e.script("put f:q@1=a; put g:q@1=b")
	e.must(e.s.AlterTable(e.ctx, schema("t", fam("f", 5))))
	e.reopen()
	e.must(e.s.AlterTable(e.ctx, schema("t", fam("f", 5), fam("g", 1))))
	e.reopen()
	e.equal(e.scan(cell.Scan{Raw: true}), "r: f:q@1=a")
}

func reopenDurabilities(e *env) {
	e.usual()
	for d := cell.UseDefault; d <= cell.FsyncWAL; d++ {
		m := putOf(d.String(), "f:q", 1, "v")
		m.Durability = d
		e.apply(m)
	}
	e.reopen()
	e.equal(e.keys(cell.Scan{}), "ASYNC_WAL FSYNC_WAL SKIP_WAL SYNC_WAL USE_DEFAULT")
}

func reopenRegionIDs(e *env) {
	e.usual()
	e.must(e.s.SplitRegion(e.ctx, "t", nil, []byte("m")))
	e.must(e.s.SplitRegion(e.ctx, "t", nil, []byte("p")))
	before, err := e.s.Regions(e.ctx, "t")
	e.must(err)
	e.reopen()
	e.must(e.s.SplitRegion(e.ctx, "t", nil, []byte("x")))
	after, err := e.s.Regions(e.ctx, "t")
	e.must(err)
	last := after[len(after)-1]
	for _, r := range before {
		if last.ID <= r.ID {
			e.Errorf("the newest region has id %d, an older one %d", last.ID, r.ID)
		}
	}
}

func reopenAgain(e *env) {
	e.usual()
	var want []string
	for i := range 5 {
		row := fmt.Sprintf("row%d", i)
		e.put(row, "f:q", 1, "v")
		want = append(want, row)
		if i == 2 {
			e.script("compact")
		}
		e.reopen()
		e.equal(e.keys(cell.Scan{}), strings.Join(want, " "))
	}
}
