package thrift1

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/door"
	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/memory"
)

func oneTable(d *testDoor) { d.table("t", "cf", "cg") }

func TestMutations(t *testing.T) {
	at := func(row string, ts int64, m ...any) fields { return fields{1: "t", 2: row, 3: list(m), 4: ts} }
	walk(t, oneTable, []step{
		{"mutateRowTs", at("r", 5, put("cf:a", "1"), put("cg:b", "2")), "void"},
		{"getRow", fields{1: "t", 2: "r"}, "[r{cf:a=1@5 cg:b=2@5}]"},
		{"mutateRowTs", at("r", 0, put("cf:z", "at zero")), "void"}, // 0 is a timestamp
		{"get", fields{1: "t", 2: "r", 3: "cf:z"}, "[at zero@0]"},
		// No value is an empty value.
		{"mutateRowTs", at("r", 6, fields{2: "cf:a"}), "void"},
		{"getVer", fields{1: "t", 2: "r", 3: "cf:a", 4: int32(2)}, "[@6 1@5]"},
		// A delete takes all versions up to its timestamp, that included.
		{"mutateRowTs", at("r", 5, del("cf:a")), "void"},
		{"getVer", fields{1: "t", 2: "r", 3: "cf:a", 4: int32(2)}, "[@6]"},
		{"mutateRowTs", at("r", 6, del("cf")), "void"},
		{"getRow", fields{1: "t", 2: "r"}, "[r{cg:b=2@5}]"},
		// The largest timestamp is the server's clock.
		{"mutateRowTs", at("r", math.MaxInt64, put("cf:now", "x")), "void"},
		{"get", fields{1: "t", 2: "r", 3: "cf:now"}, "[x]"},
		{"mutateRow", fields{1: "t", 2: "n", 3: list{put("cf:now", "x")}}, "void"},
		{"getRow", fields{1: "t", 2: "n"}, "[n{cf:now=x}]"},
		// Nothing to do.
		{"mutateRow", fields{1: "t", 2: "r", 3: list{}}, "void"},
		{"mutateRow", fields{1: "t", 2: "r"}, "void"},
		{"mutateRows", fields{1: "t", 2: list{}}, "void"},
		{"mutateRows", fields{1: "t"}, "void"},
		// Many rows.
		{"mutateRowsTs", fields{1: "t", 2: list{batch("m1", put("cf:a", "1")), batch("m2", put("cf:a", "2"), put("cf:b", "3")), batch("m3")}, 3: int64(4)}, "void"},
		{"getRows", fields{1: "t", 2: list{"m1", "m2", "m3"}}, "[m1{cf:a=1@4} m2{cf:a=2@4 cf:b=3@4}]"},
		{"mutateRowsTs", fields{1: "t", 2: list{batch("m1", del("cf:a"), put("cf:c", "c")), batch("m2", del("cf"))}, 3: int64(9)}, "void"},
		{"getRows", fields{1: "t", 2: list{"m1", "m2"}}, "[m1{cf:c=c@9}]"},
	})
}

// In one batch, all puts go first: a row that is deleted and put in it is gone.
// In one row call the deletes go first.
func TestC05_DeleteAndPutInOneBatch(t *testing.T) {
	walk(t, func(d *testDoor) {
		oneTable(d)
		d.put("t", "k cf:old 1 o", "l cf:old 1 o")
	}, []step{
		{"mutateRows", fields{1: "t", 2: list{batch("k", del("cf"), put("cf:d", "v"))}}, "void"},
		{"getRow", fields{1: "t", 2: "k"}, "[]"},
		{"mutateRow", fields{1: "t", 2: "l", 3: list{put("cf:d", "v"), del("cf")}}, "void"},
		{"getRow", fields{1: "t", 2: "l"}, "[l{cf:d=v}]"},
	})
}

func TestC07_Counters(t *testing.T) {
	inc := func(row, column string, by int64) fields { return fields{1: "t", 2: row, 3: column, 4: by} }
	top := "\x7f\xff\xff\xff\xff\xff\xff\xff"
	walk(t, func(d *testDoor) {
		oneTable(d)
		d.put("t", "text cf:n 1 1", "top cf:n 1 "+top)
	}, []step{
		{"atomicIncrement", inc("text", "cf:n", 1), "IOError: org.apache.hadoop.hbase.DoNotRetryIOException: Field is not a long, it's 1 bytes wide"},
		{"get", fields{1: "t", 2: "text", 3: "cf:n"}, "[1@1]"},
		{"atomicIncrement", inc("c", "cf:n", 5), "5"},
		{"atomicIncrement", inc("c", "cf:n", -7), "-2"},
		{"get", fields{1: "t", 2: "c", 3: "cf:n"}, `[\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFE]`},
		{"atomicIncrement", inc("top", "cf:n", 1), "-9223372036854775808"},
		{"atomicIncrement", inc("zero", "cf:n", 0), "0"},
		{"getRow", fields{1: "t", 2: "zero"}, `[zero{cf:n=\x00\x00\x00\x00\x00\x00\x00\x00}]`},
		{"atomicIncrement", inc("bare", "cf", 3), "3"}, // its empty qualifier
		{"getRowWithColumns", fields{1: "t", 2: "bare", 3: list{"cf:"}}, `[bare{cf:=\x00\x00\x00\x00\x00\x00\x00\x03}]`},
		{"increment", fields{1: fields{1: "t", 2: "c", 3: "cf:n", 4: int64(44)}}, "void"},
		{"incrementRows", fields{1: list{fields{1: "t", 2: "c", 3: "cf:n", 4: int64(1)}, fields{1: "t", 2: "c2", 3: "cf:n", 4: int64(9)}}}, "void"},
		{"atomicIncrement", inc("c", "cf:n", 0), "43"},
		{"atomicIncrement", inc("c2", "cf:n", 0), "9"},
		{"increment", fields{1: fields{1: "", 2: "c", 3: "cf:n", 4: int64(1)}},
			"thrift application exception 6: Internal error processing increment: Must supply a table and a row key; can't increment"},
		{"increment", fields{1: fields{1: "t", 2: "c", 3: "cf", 4: int64(1)}},
			"IOError: java.lang.IllegalArgumentException: Invalid famAndQf provided. 'cf' has no qualifier"},
	})
}

// Increments that follow one another on a table are one batch: one commit.
func TestIncrementRowsIsABatch(t *testing.T) {
	r := &recorder{Store: memory.New(memory.Options{})}
	d := openDoor(t, Options{Store: r}, door.Options{})
	d.table("t", "cf")
	d.table("u", "cf")
	d.put("t", "text cf:n 1 1")
	inc := func(table, row string) fields { return fields{1: table, 2: row, 3: "cf:n", 4: int64(1)} }
	value := func(table, row string, want string) {
		t.Helper()
		d.dial(forms[0]).expect("atomicIncrement", fields{1: table, 2: row, 3: "cf:n", 4: int64(0)}, want)
	}
	sizes := func() (n []int) {
		for _, b := range r.applied {
			n = append(n, len(b))
		}
		return n
	}
	for _, c := range []struct {
		rows  list
		want  string
		sizes []int
	}{
		{repeat(inc("t", "a"), 300), "void", []int{300}},
		{append(append(repeat(inc("t", "b"), 2), repeat(inc("u", "b"), 3)...), inc("t", "b")), "void", []int{2, 3, 1}},
		{repeat(inc("t", "c"), maxIncrements+1), "void", []int{maxIncrements, 1}},
		// What comes before an argument that cannot be is written.
		{list{inc("t", "d"), inc("t", ""), inc("t", "d")},
			"thrift application exception 6: Internal error processing incrementRows: Must supply a table and a row key; can't increment", []int{1}},
		// The first refused one is answered; the others of its batch are written.
		{list{inc("t", "e"), inc("t", "text"), fields{1: "t", 2: "e", 3: "no:n", 4: int64(1)}, inc("t", "e"), inc("u", "e")},
			"IOError: org.apache.hadoop.hbase.DoNotRetryIOException: Field is not a long, it's 1 bytes wide", []int{4}},
		{list{inc("gone", "f"), inc("t", "f")},
			"IOError: org.apache.hadoop.hbase.TableNotFoundException: gone", []int{1}},
		{list{}, "void", nil},
	} {
		r.applied = nil
		d.dial(forms[3]).expect("incrementRows", fields{1: c.rows}, c.want)
		if got := sizes(); !slices.Equal(got, c.sizes) {
			t.Errorf("%d increments: batches of %v, want %v", len(c.rows), got, c.sizes)
		}
	}
	value("t", "a", "300")
	value("t", "b", "3")
	value("u", "b", "3")
	value("t", "c", "1025")
	value("t", "d", "1")
	value("t", "e", "2")
	value("u", "e", "0")
	value("t", "f", "0")
}

func TestAppendAndCheckAndPut(t *testing.T) {
	app := func(columns, values list) fields { return fields{1: fields{1: "t", 2: "r", 3: columns, 4: values}} }
	check := func(column, value, to string) fields {
		return fields{1: "t", 2: "r", 3: column, 5: value, 6: put("cf:p", to)}
	}
	walk(t, oneTable, []step{
		{"append", app(list{"cf:b", "cf:a"}, list{"B", "abc"}), "[abc B]"}, // in the order of columns
		{"append", app(list{"cf:a"}, list{"def"}), "[abcdef]"},
		{"append", app(list{"cf:a"}, list{}), "IOError: java.lang.IllegalArgumentException: Sizes of columns and values in tappend object are not matching"},
		{"append", app(list{"cf"}, list{"x"}), "IOError: java.lang.IllegalArgumentException: Invalid famAndQf provided. 'cf' has no qualifier"},
		{"append", fields{1: fields{1: "t", 3: list{"cf:a"}, 4: list{"x"}}},
			"thrift application exception 6: Internal error processing append: Must supply a table and a row key; can't append"},
		{"checkAndPut", check("cf:a", "wrong", "1"), "false"},
		{"get", fields{1: "t", 2: "r", 3: "cf:p"}, "[]"},
		{"checkAndPut", check("cf:a", "abcdef", "2"), "true"},
		{"get", fields{1: "t", 2: "r", 3: "cf:p"}, "[2]"},
		// No value: the column must be missing.
		{"checkAndPut", fields{1: "t", 2: "r", 3: "cf:none", 6: put("cf:p", "3")}, "true"},
		{"checkAndPut", fields{1: "t", 2: "r", 3: "cf:a", 6: put("cf:p", "4")}, "false"},
		{"get", fields{1: "t", 2: "r", 3: "cf:p"}, "[3]"},
		// isDelete means nothing here.
		{"checkAndPut", fields{1: "t", 2: "r", 3: "cf:p", 5: "3", 6: fields{1: true, 2: "cf:p", 3: "5"}}, "true"},
		{"get", fields{1: "t", 2: "r", 3: "cf:p"}, "[5]"},
		{"checkAndPut", check("cf", "x", "6"), "IllegalArgument: java.lang.IllegalArgumentException: Invalid famAndQf provided. 'cf' has no qualifier"},
		{"checkAndPut", fields{1: "t", 2: "r", 3: "cf:p", 5: "5", 6: put("cf", "7")}, "IllegalArgument: java.lang.IllegalArgumentException: Invalid famAndQf provided. 'cf' has no qualifier"},
	})
}

func TestDeletes(t *testing.T) {
	walk(t, func(d *testDoor) {
		oneTable(d)
		for _, row := range []string{"a", "b", "c", "d", "e", "f"} {
			d.put("t", row+" cf:x 10 x10", row+" cf:x 20 x20", row+" cf:y 10 y10", row+" cg:z 10 z10")
		}
	}, []step{
		{"deleteAll", fields{1: "t", 2: "a", 3: "cf:x"}, "void"},
		{"getRow", fields{1: "t", 2: "a"}, "[a{cf:y=y10@10 cg:z=z10@10}]"},
		{"deleteAll", fields{1: "t", 2: "b", 3: "cf"}, "void"},
		{"getRow", fields{1: "t", 2: "b"}, "[b{cg:z=z10@10}]"},
		// Here the timestamp is included.
		{"deleteAllTs", fields{1: "t", 2: "c", 3: "cf:x", 4: int64(10)}, "void"},
		{"getVer", fields{1: "t", 2: "c", 3: "cf:x", 4: int32(9)}, "[x20@20]"},
		{"deleteAllTs", fields{1: "t", 2: "d", 3: "cf:x", 4: int64(9)}, "void"},
		{"getVer", fields{1: "t", 2: "d", 3: "cf:x", 4: int32(9)}, "[x20@20 x10@10]"},
		{"deleteAllRowTs", fields{1: "t", 2: "e", 3: int64(10)}, "void"},
		{"getRow", fields{1: "t", 2: "e"}, "[e{cf:x=x20@20}]"},
		{"deleteAllRow", fields{1: "t", 2: "f"}, "void"},
		{"getRow", fields{1: "t", 2: "f"}, "[]"},
		{"deleteAllRow", fields{1: "t", 2: "never there"}, "void"},
		{"deleteAll", fields{1: "t", 2: "a", 3: "cf:"}, "void"},
		{"getRow", fields{1: "t", 2: "a"}, "[a{cf:y=y10@10 cg:z=z10@10}]"},
	})
}

// A good row is stored though another row of its batch has a family that there is
// not.
func TestC16_FamilyInTheWrongCaseAndUnknownNamespace(t *testing.T) {
	walk(t, func(d *testDoor) { d.table("t", "ips"); d.table("u", "ips") }, []step{
		{"mutateRowsTs", fields{1: "t", 2: list{batch("r1", put("ips:a", "1")), batch("r2", put("IPS:a", "2"))}, 3: int64(1)},
			"IOError: org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException: Failed 1 action: org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException: Column family IPS does not exist in table 't': 1 time, servers with issues: null"},
		{"getRows", fields{1: "t", 2: list{"r1", "r2"}}, "[r1{ips:a=1@1}]"},
		{"createTable", fields{1: "nosuch:t", 2: list{fields{1: "f"}}}, "IOError: org.apache.hadoop.hbase.NamespaceNotFoundException: nosuch"},
		{"createTable", fields{1: "t", 2: list{fields{1: "f"}}}, "AlreadyExists: table name already in use"},
		{"deleteTable", fields{1: "gone"}, "IOError: java.io.IOException: table does not exist"},
	})
}

// Of a mutateRow the Delete is one operation to HBase's client, the Put a batch
// of one: they are worded apart.
func TestTheTwoHalvesOfMutateRowFailApart(t *testing.T) {
	const family = "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException: Column family no does not exist in table 't'"
	mutate := func(m ...any) fields { return fields{1: "t", 2: "r", 3: list(m), 4: int64(5)} }
	walk(t, func(d *testDoor) {
		oneTable(d)
		d.put("t", "r cf:old 1 o")
	}, []step{
		{"mutateRowTs", mutate(del("no:x"), put("cf:a", "not reached")), "IOError: " + family},
		{"getRow", fields{1: "t", 2: "r"}, "[r{cf:old=o@1}]"},
		{"mutateRowTs", mutate(del("cf:old"), put("no:a", "1")), "IOError: org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException: Failed 1 action: " + family + ": 1 time, servers with issues: null"},
		{"getRow", fields{1: "t", 2: "r"}, "[]"},
	})
}

// recorder remembers what was applied.
type recorder struct {
	store.Store
	applied [][]cell.Mutation
	checked []cell.Durability
}

func (r *recorder) CheckAndMutate(ctx context.Context, table string, c *cell.Check, m *cell.Mutation) (bool, []cell.Cell, error) {
	r.checked = append(r.checked, m.Durability)
	return r.Store.CheckAndMutate(ctx, table, c, m)
}

func (r *recorder) Apply(ctx context.Context, table string, batch []cell.Mutation) ([][]cell.Cell, error) {
	kept := make([]cell.Mutation, len(batch))
	for i := range batch {
		kept[i] = cell.Mutation{Durability: batch[i].Durability, Edits: make([]cell.Edit, len(batch[i].Edits))}
	}
	r.applied = append(r.applied, kept)
	return r.Store.Apply(ctx, table, batch)
}

// The last mutation's flag decides for the whole Put, and for the whole Delete.
func TestWriteToWALIsTheDurability(t *testing.T) {
	r := &recorder{Store: memory.New(memory.Options{})}
	d := openDoor(t, Options{Store: r}, door.Options{})
	oneTable(d)
	p := d.dial(forms[0])
	flag := func(m fields, wal bool) fields { m[4] = wal; return m }
	p.call("mutateRows", fields{1: "t", 2: list{
		batch("r1", put("cf:a", "1")),
		batch("r2", flag(put("cf:a", "1"), true), flag(put("cf:b", "1"), false), flag(del("cf:c"), true)),
		batch("r3", flag(put("cf:a", "1"), false), flag(put("cf:b", "1"), true), flag(del("cf:c"), false)),
	}})
	if len(r.applied) != 2 || len(r.applied[0]) != 3 || len(r.applied[1]) != 2 {
		t.Fatalf("applied %d batches: %+v", len(r.applied), r.applied)
	}
	for i, want := range []cell.Durability{cell.SyncWAL, cell.SkipWAL, cell.SyncWAL} {
		if got := r.applied[0][i].Durability; got != want {
			t.Errorf("put %d: %s, want %s", i, got, want)
		}
	}
	for i, want := range []cell.Durability{cell.SyncWAL, cell.SkipWAL} {
		if got := r.applied[1][i].Durability; got != want {
			t.Errorf("delete %d: %s, want %s", i, got, want)
		}
	}
	if n := len(r.applied[0][1].Edits); n != 2 {
		t.Errorf("the second put has %d edits", n)
	}
	p.call("mutateRow", fields{1: "t", 2: "r", 3: list{flag(put("cf:a", "1"), false), flag(del("cf:b"), true)}})
	if len(r.applied) != 4 || r.applied[2][0].Durability != cell.SyncWAL || r.applied[3][0].Durability != cell.SkipWAL {
		t.Errorf("mutateRow: %+v", r.applied[2:])
	}
	p.call("checkAndPut", fields{1: "t", 2: "r", 3: "cf:none", 6: put("cf:p", "1")})
	p.call("checkAndPut", fields{1: "t", 2: "r", 3: "cf:none", 6: flag(put("cf:p", "1"), false)})
	if len(r.checked) != 2 || r.checked[0] != cell.SyncWAL || r.checked[1] != cell.SkipWAL {
		t.Errorf("checkAndPut: %v", r.checked)
	}
}
