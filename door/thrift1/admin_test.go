package thrift1

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/door"
	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/memory"
)

func create(table string, families ...any) fields { return fields{1: table, 2: list(families)} }

func TestTables(t *testing.T) {
	walk(t, func(*testDoor) {}, []step{
		{"getTableNames", nil, "[]"},
		{"createTable", create("t", fields{1: "cf:"}, fields{1: "f1", 2: int32(5), 3: "gz", 4: true, 5: "ROWCOL", 8: true, 9: int32(3600)}, fields{1: "f2:ignored", 9: int32(-1)}), "void"},
		{"getColumnDescriptors", fields{1: "t"}, "{" +
			"cf:=<1:cf: 2:3 3:NONE 4:false 5:NONE 6:0 7:0 8:false 9:2147483647> " +
			"f1:=<1:f1: 2:5 3:GZ 4:true 5:ROWCOL 6:0 7:0 8:true 9:3600> " +
			"f2:=<1:f2: 2:3 3:NONE 4:false 5:NONE 6:0 7:0 8:false 9:2147483647>}"},
		{"createTable", create("t", fields{1: "cf:"}), "AlreadyExists: table name already in use"},
		{"createTable", create("t"), "AlreadyExists: table name already in use"},
		{"createTable", create("default:t", fields{1: "cf:"}), "AlreadyExists: table name already in use"},
		{"createTable", create("u", fields{1: "a"}), "void"},
		{"getTableNames", nil, "[t u]"},
		{"isTableEnabled", fields{1: "t"}, "true"},
		{"enableTable", fields{1: "t"}, "IOError: org.apache.hadoop.hbase.TableNotDisabledException: t"},
		{"deleteTable", fields{1: "t"}, "IOError: org.apache.hadoop.hbase.TableNotDisabledException: t"},
		{"disableTable", fields{1: "t"}, "void"},
		{"isTableEnabled", fields{1: "t"}, "false"},
		{"getTableNamesWithIsTableEnabled", nil, "{t=false u=true}"},
		{"disableTable", fields{1: "t"}, "IOError: org.apache.hadoop.hbase.TableNotEnabledException: t"},
		{"enableTable", fields{1: "t"}, "void"},
		{"disableTable", fields{1: "t"}, "void"},
		{"deleteTable", fields{1: "t"}, "void"},
		{"getTableNames", nil, "[u]"},
		{"getThriftServerType", nil, "1"},
		{"getClusterId", nil, ""},
		{"grant", fields{1: fields{1: "bob", 2: int32(0), 3: "RW"}}, "IOError: org.apache.hadoop.hbase.DoNotRetryIOException: access control is not enabled"},
		{"revoke", fields{1: fields{1: "bob", 2: int32(0), 3: "RW"}}, "IOError: org.apache.hadoop.hbase.DoNotRetryIOException: access control is not enabled"},
	})
}

func TestCreateTableRefusals(t *testing.T) {
	const ia = "IllegalArgument: java.lang.IllegalArgumentException: "
	walk(t, func(*testDoor) {}, []step{
		{"createTable", create("t"), "IOError: org.apache.hadoop.hbase.DoNotRetryIOException: Table should have at least one column family. Set hbase.table.sanity.checks to false at conf or table descriptor if you want to bypass sanity checks"},
		{"createTable", fields{1: "t"}, "IOError: org.apache.hadoop.hbase.DoNotRetryIOException: Table should have at least one column family. Set hbase.table.sanity.checks to false at conf or table descriptor if you want to bypass sanity checks"},
		{"createTable", create("t", fields{1: ""}), "IllegalArgument: column name is empty"},
		{"createTable", create("t", fields{2: int32(1)}), "IllegalArgument: column name is empty"},
		{"createTable", create("t", fields{1: ":"}), ia + "Column Family name can not be empty"},
		{"createTable", create("t", fields{1: "a:"}, fields{1: "a"}), ia + "Family 'a' already exists so cannot be added"},
		{"createTable", create("t", fields{1: "a", 3: "LZ9"}), ia + "Unsupported compression algorithm name: lz9"},
		{"createTable", create("t", fields{1: "a", 3: "gz lzo"}), ia + "Unsupported compression algorithm name: gz lzo"},
		{"createTable", create("t", fields{1: "a", 5: "ZZ"}), ia + "No enum constant org.apache.hadoop.hbase.regionserver.BloomType.ZZ"},
		{"createTable", create("t", fields{1: "a", 5: "row"}), ia + "No enum constant org.apache.hadoop.hbase.regionserver.BloomType.row"},
		{"createTable", create("t", fields{1: "a", 2: int32(0)}), ia + "Maximum versions must be positive"},
		{"createTable", create("t", fields{1: ".a"}), ia + "Column Family names cannot start with a period: .a"},
		{"createTable", create("a b", fields{1: "a"}), ia + "Illegal character code:32, < > at 1. User-space table qualifiers may only contain 'alphanumeric characters' and digits: a b"},
		{"createTable", create("", fields{1: "a"}), ia + "Table qualifier must not be empty"},
		{"createTable", create("nons:t", fields{1: "a"}), "IOError: org.apache.hadoop.hbase.NamespaceNotFoundException: nons"},
		{"getTableNames", nil, "[]"},
	})
}

func TestATableMayHave512Families(t *testing.T) {
	many := func(n int) (l list) {
		for i := range n {
			l = append(l, fields{1: fmt.Sprintf("f%d", i)})
		}
		return l
	}
	walk(t, func(*testDoor) {}, []step{
		{"createTable", fields{1: "t", 2: many(maxFamilies + 1)}, "IllegalArgument: java.lang.IllegalArgumentException: 513 column families are too many: a table may have 512"},
		{"createTable", fields{1: "t", 2: many(50_000)}, "IllegalArgument: java.lang.IllegalArgumentException: 50000 column families are too many: a table may have 512"},
		{"getTableNames", nil, "[]"},
		{"createTable", fields{1: "t", 2: many(maxFamilies)}, "void"},
		{"getTableNames", nil, "[t]"},
	})
}

func TestRegions(t *testing.T) {
	d := openDoor(t, Options{Host: "db.example", Port: 9090, ClusterID: "c1"}, door.Options{})
	schema := cell.TableSchema{Name: "t", Families: []cell.FamilySchema{cell.NewFamily("cf")}}
	if err := d.store.CreateTable(t.Context(), schema, [][]byte{[]byte("g"), []byte("p,q")}); err != nil {
		t.Fatal(err)
	}
	d.table("z", "cf")
	regions, err := d.store.Regions(t.Context(), "t")
	if err != nil || len(regions) != 3 {
		t.Fatal(regions, err)
	}
	show := func(r *store.Region) string {
		return fmt.Sprintf("<1:%s 2:%s 3:%d 4:%s 5:1 6:db.example 7:9090>", r.Start, r.Stop, r.ID, r.Name())
	}
	var all []string
	for i := range regions {
		all = append(all, show(&regions[i]))
	}
	for _, f := range forms {
		p := d.dial(f)
		p.expect("getTableRegions", fields{1: "t"}, "["+strings.Join(all, " ")+"]")
		p.expect("getTableRegions", fields{1: "missing"}, "[]")
		p.expect("getClusterId", nil, "c1")
		for row, want := range map[string]int{
			"t,,99999999999999": 0, "t,a,99999999999999": 0, "t,g,99999999999999": 1, "t,ga,99999999999999": 1,
			"t,p,99999999999999": 1, "t,p,q,99999999999999": 2, "t,zzz,99999999999999": 2,
			"t,g,0":                   0, // before all regions that start with g
			"t,g,9":                   1, // ids are compared as bytes
			"t,g,zzz":                 1,
			string(regions[1].Name()): 1,
			"u,x,99999999999999":      2, // no such table: what comes before
			"u":                       2,
		} {
			p.expect("getRegionInfo", fields{1: row}, all[want])
		}
		p.expect("getRegionInfo", fields{1: "a,,99999999999999"}, "IOError: java.io.IOException: Cannot find row in hbase:meta, row=a,,99999999999999")
		p.expect("getRegionInfo", fields{1: "t"}, "IOError: java.io.IOException: Cannot find row in hbase:meta, row=t")
	}
}

// slow is a store whose compactions wait to be let go on.
type slow struct {
	store.Store
	mu      sync.Mutex
	calls   []string
	proceed chan struct{}
}

func (s *slow) Compact(ctx context.Context, table string, r cell.Range, major bool) error {
	s.mu.Lock()
	s.calls = append(s.calls, fmt.Sprintf("%s [%s,%s) %v", table, r.Start, r.Stop, major))
	s.mu.Unlock()
	select {
	case <-s.proceed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Compactions return at once and run one after the other on a table. What is
// asked for in between is done once.
func TestCompactionsRunInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{Store: memory.New(memory.Options{}), proceed: make(chan struct{})}
		d := openDoor(t, Options{Store: s}, door.Options{})
		d.table("u", "cf")
		schema := cell.TableSchema{Name: "t", Families: []cell.FamilySchema{cell.NewFamily("cf")}}
		if err := s.CreateTable(t.Context(), schema, [][]byte{[]byte("m")}); err != nil {
			t.Fatal(err)
		}
		regions, _ := s.Regions(t.Context(), "t")
		p := d.dial(forms[0])
		p.expect("compact", fields{1: "t"}, "void")
		// Two that wait become one: of the whole table, and major.
		p.expect("majorCompact", fields{1: string(regions[1].Name())}, "void")
		p.expect("compact", fields{1: string(regions[0].Name())}, "void")
		p.expect("majorCompact", fields{1: "u"}, "void")
		p.expect("compact", fields{1: "missing"}, "IOError: org.apache.hadoop.hbase.TableNotFoundException: missing")
		synctest.Wait()
		expectCalls(t, s, "t [,) false", "u [,) true")
		s.proceed <- struct{}{}
		s.proceed <- struct{}{}
		synctest.Wait()
		expectCalls(t, s, "t [,) false", "u [,) true", "t [,) true")
		s.proceed <- struct{}{}
		synctest.Wait()
		p.expect("compact", fields{1: string(regions[0].Name())}, "void")
		synctest.Wait()
		expectCalls(t, s, "t [,) false", "u [,) true", "t [,) true", "t [,m) false")
		// The door's end interrupts the one that runs: Shutdown is called behind
		// the test, and leaves no goroutine.
	})
}

func expectCalls(t *testing.T, s *slow, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := map[string]int{}
	for _, c := range s.calls {
		seen[c]++
	}
	for _, c := range want {
		seen[c]--
	}
	for c, n := range seen {
		if n != 0 {
			t.Errorf("compactions %q, want %q (%s)", s.calls, want, c)
		}
	}
}
