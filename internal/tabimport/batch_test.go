package tabimport

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store/memory"
)

// Batches are cut where their rows become many, or large, in any way: many
// columns without values, long names, long values, long keys.
func TestImport_batchesAreBounded(t *testing.T) {
	const rows = 400
	header := func(n, width int) string {
		var b strings.Builder
		b.WriteString("id")
		for i := range n {
			fmt.Fprintf(&b, ",%0*d", width, i)
		}
		return b.String() + "\n"
	}
	cases := []struct {
		name, header, line string
		badFile            string
		most               int // rows in a batch
	}{
		{"many empty columns", header(2000, 4), "r%d" + strings.Repeat(",", 2000), "", 8},
		{"long names", header(4, 20_000), "r%d,,,,", "", 14},
		{"long values", header(1, 1), "r%d," + strings.Repeat("v", 100_000), "", 11},
		{"long keys", header(1, 1), "r%d" + strings.Repeat("k", 30_000) + ",1", "", 35},
		{"lines that may be bad", "id,0\n", "r%d,1" + strings.Repeat(" ", 30_000), "bad", 18},
		{"small", header(1, 1), "r%d,1", "", 300},
	}
	for _, c := range cases {
		var text strings.Builder
		text.WriteString(c.header)
		for i := range rows {
			fmt.Fprintf(&text, c.line+"\n", i)
		}
		inFolder(t, map[string]string{"x.csv": text.String()})
		o := testOptions("HBASE_ROW_KEY=id,f:*", "x.csv")
		o.BatchRows, o.Lanes, o.BadFile = 300, 1, c.badFile
		var mu sync.Mutex
		largest, sum := 0, 0
		target := &faultyTarget{StoreTarget: StoreTarget{Store: newStore(t)}, before: func(rows []cell.Mutation) error {
			mu.Lock()
			defer mu.Unlock()
			largest, sum = max(largest, len(rows)), sum+len(rows)
			return nil
		}}
		if _, err := runOnce(o, target); err != nil || sum != rows {
			t.Errorf("%s: %d rows, %v", c.name, sum, err)
		}
		if largest > c.most || largest < c.most*2/3 {
			t.Errorf("%s: batches of up to %d rows, want %d", c.name, largest, c.most)
		}
	}
	if len(cases) != 6 {
		t.Error("cases are missing")
	}
}

// A batch that was large keeps little for its next use, and nothing of what was
// in it.
func TestBatch_letsGo(t *testing.T) {
	var b batch
	for range 2 {
		m := cell.Mutation{Row: b.keep([]byte("r"))}
		for range keptArena/editSize + 1000 {
			b.edits = append(b.edits, cell.Edit{Value: b.keep(make([]byte, 100))})
		}
		m.Edits = b.edits
		b.rows = append(b.rows, m)
		b.note(origin{raw: []byte("line")})
		if b.size < len(b.edits)*(editSize+100)+5 {
			t.Errorf("its size is %d", b.size)
		}
		b.reset()
		if b.size != 0 || cap(b.arena) > keptArena || cap(b.edits)*editSize > keptArena {
			t.Errorf("%d bytes, %d edits are kept, with a size of %d", cap(b.arena), cap(b.edits), b.size)
		}
		if len(b.rows) != 0 || b.rows[:1][0].Edits != nil || b.from[:1][0].raw != nil {
			t.Error("a row is kept")
		}
	}
}

// What is on record as stored was logged, whatever the table does by default.
func TestImport_isDurable(t *testing.T) {
	for _, table := range []cell.Durability{cell.UseDefault, cell.SkipWAL, cell.AsyncWAL} {
		s := memory.New(memory.Options{})
		t.Cleanup(func() { s.Close() })
		schema := cell.TableSchema{Name: "t", Families: []cell.FamilySchema{cell.NewFamily("f")}, Durability: table}
		if err := s.CreateTable(context.Background(), schema, nil); err != nil {
			t.Fatal(err)
		}
		inFolder(t, map[string]string{"x.csv": "r1,1\nr2,2\nr3,3\n"})
		seen := map[cell.Durability]int{}
		var mu sync.Mutex
		target := &faultyTarget{StoreTarget: StoreTarget{Store: s}, before: func(rows []cell.Mutation) error {
			mu.Lock()
			defer mu.Unlock()
			for i := range rows {
				seen[rows[i].Durability]++
			}
			return nil
		}}
		if _, err := runOnce(testOptions("HBASE_ROW_KEY,f:a", "x.csv"), target); err != nil {
			t.Fatal(err)
		}
		if len(seen) != 1 || seen[cell.SyncWAL] != 3 {
			t.Errorf("with %v by default the rows are %v", table, seen)
		}
	}
}
