package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

func isIllegal(err error) bool { return errors.Is(err, cell.ErrIllegalArgument) }

func tableTests() []test {
	return []test{
		{"describe_gives_what_was_created", describeTable},
		{"create_refuses", createRefuses},
		{"default_namespace_is_dropped_from_names", defaultNamespaceName},
		{"names_of_hbase_are_taken", tableNames},
		{"listed_by_name_without_internal_ones", tablesListed},
		{"internal_table_works", internalTable},
		{"missing_table_is_said_by_every_call", missingTable},
		{"enable_and_disable", enableDisable},
		{"disabled_table_refuses", disabledRefuses},
		{"read_only_table_refuses_writes", readOnlyRefuses},
		{"drop_needs_disabled", dropNeedsDisabled},
		{"drop_removes_everything", dropRemoves},
		{"truncate_empties_and_enables", truncateEmpties},
		{"alter_adds_a_family", alterAdds},
		{"alter_drops_a_family_with_its_cells", alterDrops},
		{"alter_changes_versions", alterVersions},
		{"alter_refuses", alterRefuses},
		{"alter_of_a_disabled_table", alterDisabled},
		{"schema_is_not_shared_with_the_caller", schemaNotShared},
		{"tables_are_apart", tablesAreApart},
	}
}

// fullSchema sets every field of a schema.
func fullSchema() cell.TableSchema {
	b := cell.NewFamily("b")
	b.MaxVersions, b.MinVersions, b.TTL, b.KeepDeleted = 7, 2, 86400, cell.KeepDeletedTTL
	b.Compression, b.BloomFilter, b.InMemory, b.BlockCache, b.BlockSize = "SNAPPY", "ROWCOL", true, false, 1234
	b.Attributes = map[string]string{"DATA_BLOCK_ENCODING": "FAST_DIFF", "x": "é\x01"}
	return cell.TableSchema{
		Name:       "full",
		Families:   []cell.FamilySchema{cell.NewFamily("c"), b, cell.NewFamily("a b.c")},
		Durability: cell.AsyncWAL, MaxFileSize: 1 << 40,
		Attributes: map[string]string{"OWNER": "me", "": "empty"},
	}
}

func describeTable(e *env) {
	e.clock.Tick(5000)
	want := fullSchema()
	e.must(e.s.CreateTable(e.ctx, want, nil))
	e.clock.Tick(5000)
	info, err := e.s.Describe(e.ctx, "full")
	e.must(err)
	want.Sort()
	if !reflect.DeepEqual(info.Schema, want) {
		e.Errorf("\n got %+v\nwant %+v", info.Schema, want)
	}
	if !info.Enabled {
		e.Error("a new table is not enabled")
	}
	if info.Created != epoch+5000 && e.s.Capabilities().ShiftsTimestamps {
		e.Errorf("created at %s, want now+5000", timeText(info.Created))
	}
	all, err := e.s.Tables(e.ctx)
	e.must(err)
	if len(all) != 1 || !reflect.DeepEqual(all[0], info) {
		e.Errorf("listed as %+v", all)
	}
}

func createRefuses(e *env) {
	e.create("taken", fam("f", 1))
	badVersions, badMin, badTTL := fam("f", 0), fam("f", 1), fam("f", 1)
	badMin.MinVersions, badTTL.TTL = 2, 0
	long := strings.Repeat("f", cell.MaxFamily+1)
	cases := []struct {
		name   string
		schema cell.TableSchema
		splits []string
		want   error
	}{
		{"existing", schema("taken", fam("f", 1)), nil, store.ErrTableExists},
		{"existing by its full name", schema("default:taken", fam("f", 1)), nil, store.ErrTableExists},
		{"unknown namespace", schema("nosuch:t", fam("f", 1)), nil, store.ErrNamespaceNotFound},
		{"no family", schema("t"), nil, cell.ErrIllegalArgument},
		{"family twice", schema("t", fam("f", 1), fam("g", 1), fam("f", 2)), nil, cell.ErrIllegalArgument},
		{"empty name", schema("", fam("f", 1)), nil, cell.ErrIllegalArgument},
		{"name with dollar", schema("x$", fam("f", 1)), nil, cell.ErrIllegalArgument},
		{"name with dash first", schema("-x", fam("f", 1)), nil, cell.ErrIllegalArgument},
		{"name with two colons", schema("a:b:c", fam("f", 1)), nil, cell.ErrIllegalArgument},
		{"family with colon", schema("t", fam("f:", 1)), nil, cell.ErrIllegalArgument},
		{"family with dot first", schema("t", fam(".f", 1)), nil, cell.ErrIllegalArgument},
		{"family too long", schema("t", fam(long, 1)), nil, cell.ErrIllegalArgument},
		{"no versions", schema("t", badVersions), nil, cell.ErrIllegalArgument},
		{"more minimal versions than versions", schema("t", badMin), nil, cell.ErrIllegalArgument},
		{"no time to live", schema("t", badTTL), nil, cell.ErrIllegalArgument},
		{"empty split", schema("t", fam("f", 1)), []string{"a", ""}, cell.ErrIllegalArgument},
		{"split twice", schema("t", fam("f", 1)), []string{"a", "b", "a"}, cell.ErrIllegalArgument},
	}
	for _, c := range cases {
		var splits [][]byte
		for _, s := range c.splits {
			splits = append(splits, []byte(s))
		}
		if err := e.s.CreateTable(e.ctx, c.schema, splits); !errors.Is(err, c.want) {
			e.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	e.equal(e.tableNames(), "taken")
}

func (e *env) tableNames() string {
	e.Helper()
	all, err := e.s.Tables(e.ctx)
	e.must(err)
	var names []string
	for i := range all {
		names = append(names, all[i].Schema.Name)
	}
	return strings.Join(names, " ")
}

func defaultNamespaceName(e *env) {
	e.create("default:t", fam("f", 1))
	e.equal(e.tableNames(), "t")
	e.rows("a")
	e.equal(resultsText(e.results("default:t", cell.Scan{})), "a: f:q@1=v")
	info, err := e.s.Describe(e.ctx, "default:t")
	e.must(err)
	e.equal(info.Schema.Name, "t")
	e.must(e.s.DisableTable(e.ctx, "default:t"))
	e.must(e.s.DropTable(e.ctx, "default:t"))
	e.equal(e.tableNames(), "")
}

func tableNames(e *env) {
	for _, name := range []string{"_x", "1ok", "x.y-z", "é", "日本"} {
		e.create(name, fam("f", 1))
		_, err := e.s.Apply(e.ctx, name, values([]*cell.Mutation{putOf("r", "f:q", 1, name)}))
		e.must(err)
	}
	for _, name := range []string{"_x", "1ok", "x.y-z", "é", "日本"} {
		got := e.results(name, cell.Scan{})
		if len(got) != 1 || string(got[0].Cells[0].Value) != name {
			e.Errorf("table %s: %s", name, resultsText(got))
		}
	}
}

func tablesListed(e *env) {
	e.must(e.s.CreateNamespace(e.ctx, store.Namespace{Name: "ns"}))
	for _, name := range []string{"b", "a", "ns:z", "B", "ab", "cellar:hidden"} {
		e.create(name, fam("f", 1))
	}
	e.must(e.s.DisableTable(e.ctx, "ab"))
	e.equal(e.tableNames(), "B a ab b ns:z")
}

// The namespace cellar is there from the start; its tables are like others but
// for listings.
func internalTable(e *env) {
	e.create("cellar:meta", fam("f", 1))
	info, err := e.s.Describe(e.ctx, "cellar:meta")
	e.must(err)
	e.equal(info.Schema.Name, "cellar:meta")
	_, err = e.s.Apply(e.ctx, "cellar:meta", values([]*cell.Mutation{putOf("r", "f:q", 1, "v")}))
	e.must(err)
	e.equal(resultsText(e.results("cellar:meta", cell.Scan{})), "r: f:q@1=v")
	e.equal(e.tableNames(), "")
	e.must(e.s.DisableTable(e.ctx, "cellar:meta"))
	e.must(e.s.DropTable(e.ctx, "cellar:meta"))
	_, err = e.s.Describe(e.ctx, "cellar:meta")
	e.refused(err, store.ErrTableNotFound)
}

// calls is every call that names a table, by kind. Each would succeed on table
// "t" of the usual form if it were there and enabled.
type calls struct {
	reads, writes, changes, others map[string]func(s store.Store) error
}

func callsOn(ctx context.Context, table string) calls {
	check := &cell.Check{Family: []byte("f"), Qualifier: []byte("q"), Op: cell.Equal}
	return calls{
		reads: map[string]func(store.Store) error{
			"Get": func(s store.Store) error {
				var r cell.Result
				return s.Get(ctx, table, &cell.Get{Row: []byte("r")}, &r)
			},
			"Scan": func(s store.Store) error {
				sc, err := s.Scan(ctx, table, &cell.Scan{})
				if err != nil {
					return err
				}
				return sc.Close()
			},
		},
		writes: map[string]func(store.Store) error{
			"Apply": func(s store.Store) error {
				_, err := s.Apply(ctx, table, values([]*cell.Mutation{putOf("w", "f:q", 1, "v")}))
				return err
			},
			"CheckAndMutate": func(s store.Store) error {
				_, _, err := s.CheckAndMutate(ctx, table, check, putOf("x", "f:q", 1, "v"))
				return err
			},
			"DeleteRows": func(s store.Store) error {
				return s.DeleteRows(ctx, table, cell.Range{Start: []byte("y")})
			},
		},
		changes: map[string]func(store.Store) error{
			"AlterTable":  func(s store.Store) error { return s.AlterTable(ctx, schema(table, fam("f", 5), fam("g", 1))) },
			"SplitRegion": func(s store.Store) error { return s.SplitRegion(ctx, table, nil, []byte("m")) },
			"Compact":     func(s store.Store) error { return s.Compact(ctx, table, cell.Range{}, true) },
			"Flush":       func(s store.Store) error { return s.Flush(ctx, table) },
			"DropTable":   func(s store.Store) error { return s.DropTable(ctx, table) },
			"Truncate":    func(s store.Store) error { return s.TruncateTable(ctx, table, true) },
			"EnableTable": func(s store.Store) error { return s.EnableTable(ctx, table) },
			"Disable":     func(s store.Store) error { return s.DisableTable(ctx, table) },
		},
		others: map[string]func(store.Store) error{
			"Regions":    func(s store.Store) error { _, err := s.Regions(ctx, table); return err },
			"Partitions": func(s store.Store) error { _, err := s.Partitions(ctx, table, cell.Range{}, 4); return err },
			"Describe":   func(s store.Store) error { _, err := s.Describe(ctx, table); return err },
		},
	}
}

// wantEach makes calls and wants the same error of each.
func (e *env) wantEach(want error, groups ...map[string]func(store.Store) error) (made int) {
	e.Helper()
	for _, group := range groups {
		for name, call := range group {
			made++
			if err := call(e.s); !errors.Is(err, want) {
				e.Errorf("%s: got %v, want %v", name, err, want)
			}
		}
	}
	return made
}

func missingTable(e *env) {
	c := callsOn(e.ctx, "absent")
	if made := e.wantEach(store.ErrTableNotFound, c.reads, c.writes, c.changes, c.others); made != 16 {
		e.Errorf("made %d calls", made)
	}
	// An error of the whole batch is not a BatchError.
	_, err := e.s.Apply(e.ctx, "absent", values([]*cell.Mutation{putOf("r", "f:q", 1, "v")}))
	var b *store.BatchError
	if errors.As(err, &b) {
		e.Errorf("a missing table is the error of mutations: %v", err)
	}
}

func enableDisable(e *env) {
	e.usual()
	e.refused(e.s.EnableTable(e.ctx, "t"), store.ErrTableNotDisabled)
	e.must(e.s.DisableTable(e.ctx, "t"))
	info, err := e.s.Describe(e.ctx, "t")
	e.must(err)
	if info.Enabled {
		e.Error("described as enabled")
	}
	e.refused(e.s.DisableTable(e.ctx, "t"), store.ErrTableDisabled)
	e.must(e.s.EnableTable(e.ctx, "t"))
	info, err = e.s.Describe(e.ctx, "t")
	e.must(err)
	if !info.Enabled {
		e.Error("described as disabled")
	}
}

func disabledRefuses(e *env) {
	e.usual()
	e.rows("r")
	e.must(e.s.DisableTable(e.ctx, "t"))
	c := callsOn(e.ctx, "t")
	if made := e.wantEach(store.ErrTableDisabled, c.reads, c.writes); made != 5 {
		e.Errorf("made %d calls", made)
	}
	regions, err := e.s.Regions(e.ctx, "t")
	e.must(err)
	if len(regions) != 1 {
		e.Errorf("a disabled table has %d regions, want 1", len(regions))
	}
	e.equal(e.tableNames(), "t")
	e.must(e.s.EnableTable(e.ctx, "t"))
	e.equal(e.scan(cell.Scan{}), "r: f:q@1=v")
}

func readOnlyRefuses(e *env) {
	e.usual()
	e.rows("r")
	s := schema("t", fam("f", 5), fam("g", 1))
	s.ReadOnly = true
	e.must(e.s.AlterTable(e.ctx, s))
	c := callsOn(e.ctx, "t")
	if made := e.wantEach(store.ErrReadOnly, c.writes); made != 3 {
		e.Errorf("made %d calls", made)
	}
	e.wantEach(nil, c.reads)
	e.equal(e.scan(cell.Scan{}), "r: f:q@1=v")
	s.ReadOnly = false
	e.must(e.s.AlterTable(e.ctx, s))
	e.wantEach(nil, c.writes)
}

func dropNeedsDisabled(e *env) {
	e.usual()
	e.rows("r")
	e.refused(e.s.DropTable(e.ctx, "t"), store.ErrTableNotDisabled)
	e.refused(e.s.TruncateTable(e.ctx, "t", true), store.ErrTableNotDisabled)
	e.equal(e.scan(cell.Scan{}), "r: f:q@1=v")
}

func dropRemoves(e *env) {
	e.must(e.s.CreateTable(e.ctx, schema("t", fam("f", 5), fam("g", 1)), [][]byte{[]byte("m")}))
	e.rows("a", "r", "z")
	e.script("delrow @50")
	e.must(e.s.DisableTable(e.ctx, "t"))
	e.must(e.s.DropTable(e.ctx, "t"))
	e.equal(e.tableNames(), "")
	c := callsOn(e.ctx, "t")
	e.wantEach(store.ErrTableNotFound, c.reads, c.writes, c.changes, c.others)
	e.usual()
	e.equal(e.scan(cell.Scan{Raw: true}), "")
	regions, err := e.s.Regions(e.ctx, "t")
	e.must(err)
	if len(regions) != 1 {
		e.Errorf("the new table has %d regions, want 1", len(regions))
	}
	e.rows("r")
	e.equal(e.scan(cell.Scan{}), "r: f:q@1=v")
}

func truncateEmpties(e *env) {
	splits := [][]byte{[]byte("h"), []byte("q")}
	e.must(e.s.CreateTable(e.ctx, schema("t", fam("f", 5), fam("g", 1)), splits))
	for i, keep := range []bool{true, false} {
		e.rows("a", "r", "z")
		e.script("delrow @50")
		e.must(e.s.DisableTable(e.ctx, "t"))
		e.must(e.s.TruncateTable(e.ctx, "t", keep))
		e.equal(e.scan(cell.Scan{Raw: true}), "")
		e.rows("r")
		e.equal(e.scan(cell.Scan{}), "r: f:q@1=v")
		info, err := e.s.Describe(e.ctx, "t")
		e.must(err)
		if !info.Enabled || len(info.Schema.Families) != 2 || info.Schema.Families[0].MaxVersions != 5 {
			e.Errorf("described as %+v", info)
		}
		regions, err := e.s.Regions(e.ctx, "t")
		e.must(err)
		if want := []int{3, 1}[i]; len(regions) != want {
			e.Errorf("keepSplits %v: %d regions, want %d", keep, len(regions), want)
		}
	}
}

func alterAdds(e *env) {
	e.usual()
	e.rows("r")
	e.must(e.s.AlterTable(e.ctx, schema("t", fam("new", 2), fam("g", 1), fam("f", 5))))
	e.put("r", "new:q", 1, "w")
	e.equal(e.scan(cell.Scan{}), "r: f:q@1=v new:q@1=w")
	info, err := e.s.Describe(e.ctx, "t")
	e.must(err)
	e.equal(fmt.Sprintf("%d %s %d", len(info.Schema.Families), info.Schema.Families[2].Name, info.Schema.Families[2].MaxVersions), "3 new 2")
}

func alterDrops(e *env) {
	e.usual()
	e.script("put f:q@1=a; put g:q@1=b; delfam g@5; put g:q@6=c")
	e.put("s", "g:q", 1, "d")
	e.must(e.s.AlterTable(e.ctx, schema("t", fam("f", 5))))
	e.equal(e.scan(cell.Scan{Raw: true}), "r: f:q@1=a")
	_, err := store.MutateRow(e.ctx, e.s, "t", putOf("r", "g:q", 9, "v"))
	e.refused(err, store.ErrNoSuchFamily)
	var r cell.Result
	e.refused(e.s.Get(e.ctx, "t", &cell.Get{Row: []byte("r"), Read: cell.Read{Select: selection("g")}}, &r), store.ErrNoSuchFamily)
	// Added again, the family is empty: its markers are gone, too.
	e.must(e.s.AlterTable(e.ctx, schema("t", fam("f", 5), fam("g", 1))))
	e.equal(e.scan(cell.Scan{Raw: true}), "r: f:q@1=a")
	e.script("put g:q@2=e")
	e.equal(e.scan(cell.Scan{}), "r: f:q@1=a g:q@2=e")
}

func alterVersions(e *env) {
	e.usual()
	e.script(fiveVersions)
	e.must(e.s.AlterTable(e.ctx, schema("t", fam("f", 2), fam("g", 1))))
	e.equal(e.all("r"), "f:q@5=e f:q@4=d")
	e.must(e.s.AlterTable(e.ctx, schema("t", fam("f", 4), fam("g", 1))))
	e.script("put f:q@6=f; put f:q@7=g")
	e.equal(e.all("r"), "f:q@7=g f:q@6=f f:q@5=e f:q@4=d")
}

func alterRefuses(e *env) {
	e.usual()
	e.rows("r")
	e.refused(e.s.AlterTable(e.ctx, schema("nope", fam("f", 1))), store.ErrTableNotFound)
	e.refused(e.s.AlterTable(e.ctx, schema("t")), cell.ErrIllegalArgument)
	e.refused(e.s.AlterTable(e.ctx, schema("t", fam("f", 1), fam("f", 1))), cell.ErrIllegalArgument)
	e.refused(e.s.AlterTable(e.ctx, schema("t", fam("f", 0))), cell.ErrIllegalArgument)
	e.equal(e.scan(cell.Scan{}), "r: f:q@1=v")
	info, err := e.s.Describe(e.ctx, "t")
	e.must(err)
	if len(info.Schema.Families) != 2 {
		e.Errorf("a refused change was made: %+v", info.Schema)
	}
}

func alterDisabled(e *env) {
	e.usual()
	e.rows("r")
	e.must(e.s.DisableTable(e.ctx, "t"))
	e.must(e.s.AlterTable(e.ctx, schema("t", fam("f", 1), fam("h", 1))))
	info, err := e.s.Describe(e.ctx, "t")
	e.must(err)
	if info.Enabled || len(info.Schema.Families) != 2 || info.Schema.Families[1].Name != "h" {
		e.Errorf("described as %+v", info)
	}
	e.must(e.s.EnableTable(e.ctx, "t"))
	e.equal(e.scan(cell.Scan{}), "r: f:q@1=v")
}

func schemaNotShared(e *env) {
	s := fullSchema()
	e.must(e.s.CreateTable(e.ctx, s, nil))
	for i := range s.Families {
		s.Families[i].Name = "changed"
	}
	s.Attributes["OWNER"] = "changed"
	info, err := e.s.Describe(e.ctx, "full")
	e.must(err)
	info.Schema.Families[0].MaxVersions = 99
	info.Schema.Families[1].Attributes["x"] = "changed"
	info.Schema.Attributes["OWNER"] = "changed"
	want := fullSchema()
	want.Sort()
	info, err = e.s.Describe(e.ctx, "full")
	e.must(err)
	if !reflect.DeepEqual(info.Schema, want) {
		e.Errorf("\n got %+v\nwant %+v", info.Schema, want)
	}
}

func tablesAreApart(e *env) {
	e.must(e.s.CreateNamespace(e.ctx, store.Namespace{Name: "t"}))
	names := []string{"t", "t2", "t:t", "tt"}
	for _, name := range names {
		e.create(name, fam("f", 1))
		_, err := e.s.Apply(e.ctx, name, values([]*cell.Mutation{putOf("r", "f:q", 1, name), putOf("only"+strings.ReplaceAll(name, ":", ""), "f:q", 1, "x")}))
		e.must(err)
	}
	for _, name := range names {
		got := resultsText(e.results(name, cell.Scan{Range: oneRow("r")}))
		e.equal(got, "r: f:q@1="+name)
		if n := len(e.results(name, cell.Scan{})); n != 2 {
			e.Errorf("table %s has %d rows, want 2", name, n)
		}
	}
	e.must(e.s.DeleteRows(e.ctx, "t2", cell.Range{}))
	e.must(e.s.DisableTable(e.ctx, "tt"))
	e.must(e.s.DropTable(e.ctx, "tt"))
	for _, name := range []string{"t", "t:t"} {
		if n := len(e.results(name, cell.Scan{})); n != 2 {
			e.Errorf("table %s has %d rows, want 2", name, n)
		}
	}
}
