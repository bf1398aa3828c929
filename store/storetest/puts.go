package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

func putTests() []test {
	tests := asTests([]scripted{
		{"newest_first", "put f:q@1=a; put f:q@3=c; put f:q@2=b", "f:q@3=c f:q@2=b f:q@1=a"},
		{"family_limits_versions", "put g:q@1=a; put g:q@3=c; put g:q@2=b", "g:q@3=c"},
		{"limit_is_by_column", "put f:a@1=a; put f:a@2=b; put f:b@1=c; put g:a@1=d; put g:b@2=e", "f:a@2=b f:a@1=a f:b@1=c g:a@1=d g:b@2=e"},
		{"same_timestamp_last_wins", "put f:q@1=a; put f:q@2=b; put f:q@2=c; put f:q@1=d", "f:q@2=c f:q@1=d"},
		{"same_timestamp_is_one_version", "put f:q@7=a; put f:q@7=b; put f:q@7=c; put f:q@6=x; put f:q@5=x; put f:q@4=x; put f:q@3=x", "f:q@7=c f:q@6=x f:q@5=x f:q@4=x f:q@3=x"},
		{"same_timestamp_across_a_flush", "put f:q@2=long value; flush; put f:q@2=b; flush; put f:q@1=a", "f:q@2=b f:q@1=a"},
		{"later_edit_of_a_mutation_wins", "put f:q@2=a & put f:q@2=b & put f:p@2=c", "f:p@2=c f:q@2=b"},
		{"versions_in_one_mutation", "put f:q@2=b & put f:q@1=a & put f:q@3=c", "f:q@3=c f:q@2=b f:q@1=a"},
		{"families_in_order", "put g:a@1=x & put f:z@1=y; put f:a@9=z", "f:a@9=z f:z@1=y g:a@1=x"},
		{"empty_value_is_a_cell", "put f:q@1=", "f:q@1="},
		{"empty_value_over_a_value", "put f:q@2=a; put f:q@2=", "f:q@2="},
		{"empty_qualifier_is_a_column", "put f:@1=a; put f:q@1=b", "f:@1=a f:q@1=b"},
		{"qualifier_with_colons", "put f:a:b:c@1=a; put f::@1=b", "f::@1=b f:a:b:c@1=a"},
		{"timestamp_zero", "put f:q@0=a", "f:q@0=a"},
		{"timestamp_one_below_latest", "put f:q@9223372036854775806=z; put f:q@1=a", "f:q@9223372036854775806=z f:q@1=a"},
		{"future_hides_now", "put f:q@1800000000000=z; put f:q@now=a", "f:q@now+100000000000=z f:q@now+0=a"},
	})
	return append(tests,
		test{"bytes_in_order", bytesInOrder},
		test{"longest_row", longestRow},
		test{"long_qualifier", longQualifier},
		test{"refuses_what_is_not_a_mutation", refusesMutations},
		test{"unknown_family", putUnknownFamily},
		test{"refused_mutation_leaves_nothing", refusedLeavesNothing},
		test{"largest_cell", largestCell},
		test{"does_not_keep_the_callers_bytes", keepsOwnBytes},
		test{"tags_come_back", tagsComeBack},
		test{"every_durability", everyDurability},
		test{"many_families", manyFamilies},
		test{"many_columns", manyColumns},
		test{"time_to_live_is_kept", ttlIsKept},
	)
}

// Rows, families and qualifiers are byte strings and sort as unsigned bytes.
func bytesInOrder(e *env) {
	e.usual()
	keys := []string{"\x00", "\x00\x00", "\x00\x00\x01", "\x00\x01", "\x00\xff", "\x01", "\x01\x00", "a", "a\x00", "a\x00\x00", "a\x00\x01", "a\x00\xff", "a\x00\xffb", "a\x01", "a\x01\x00", "aa", "a\xff", "a\xff\x00", "a\xff\xff", "\x7f", "\x80", "\xfe\xff", "\xff", "\xff\x00", "\xff\x01", "\xff\xff", "\xff\xff\xff"}
	for i := range keys {
		row, qualifier := keys[(i*7)%len(keys)], keys[(i*5)%len(keys)]
		e.put(row, "f:q", 1, row)
		e.put("columns", "g:"+qualifier, 1, qualifier)
		e.put("columns", "f:"+qualifier, 2, qualifier)
	}
	var rows []string
	for _, r := range e.results("t", cell.Scan{}) {
		if string(r.Row) == "columns" {
			continue
		}
		rows = append(rows, string(r.Row))
		e.equal(string(r.Cells[0].Value), string(r.Row))
	}
	e.equal(fmt.Sprintf("%q", rows), fmt.Sprintf("%q", keys))
	var columns []string
	for _, r := range e.results("t", cell.Scan{Range: oneRow("columns")}) {
		for _, c := range r.Cells {
			columns = append(columns, string(c.Family)+":"+string(c.Qualifier))
			e.equal(string(c.Value), string(c.Qualifier))
		}
	}
	var want []string
	for _, family := range []string{"f:", "g:"} {
		for _, k := range keys {
			want = append(want, family+k)
		}
	}
	e.equal(fmt.Sprintf("%q", columns), fmt.Sprintf("%q", want))
	for _, k := range keys {
		e.equal(e.get(k), fmt.Sprintf("f:q@1=%s", cell.Printable([]byte(k))))
		e.equal(e.get("columns", only("g:"+k)), fmt.Sprintf("g:%[1]s@1=%[1]s", cell.Printable([]byte(k))))
	}
}

func longestRow(e *env) {
	e.usual()
	row := strings.Repeat("\xff", cell.MaxRow)
	e.put(row, "f:q", 1, "v")
	e.equal(e.get(row), "f:q@1=v")
	if got := e.results("t", cell.Scan{}); len(got) != 1 || string(got[0].Row) != row {
		e.Errorf("scan gave %d rows, want the one of %d bytes", len(got), cell.MaxRow)
	}
	if got := e.results("t", cell.Scan{Range: cell.Range{Start: []byte(row)}, Reversed: true}); len(got) != 1 {
		e.Errorf("reversed scan gave %d rows, want 1", len(got))
	}
}

func longQualifier(e *env) {
	e.usual()
	q := strings.Repeat("\x00", 70_000)
	e.put("r", "f:"+q, 1, "v")
	e.put("r", "f:"+q[1:], 1, "w")
	e.equal(e.get("r", only("f:"+q)), "f:"+strings.Repeat("\\x00", 128)+"...@1=v")
	if got := e.results("t", cell.Scan{})[0].Cells; len(got) != 2 || len(got[1].Qualifier) != len(q) {
		e.Errorf("the row has %d cells", len(got))
	}
}

func refusesMutations(e *env) {
	e.usual()
	f, q := column("f:q")
	for name, m := range map[string]*cell.Mutation{
		"empty row":          putOf("", "f:q", 1, "v"),
		"row too long":       putOf(strings.Repeat("a", cell.MaxRow+1), "f:q", 1, "v"),
		"no edits":           cell.NewMutation([]byte("r")),
		"negative timestamp": putOf("r", "f:q", -1, "v"),
		"negative delete":    cell.NewMutation([]byte("r")).DeleteColumn(f, q, -5),
		"unknown operation":  {Row: []byte("r"), Edits: []cell.Edit{{Op: 77, Family: f, Qualifier: q}}},
		"no family":          {Row: []byte("r"), Edits: []cell.Edit{{Op: cell.OpPut, Qualifier: q}}},
		"negative ttl":       {Row: []byte("r"), TTL: -1, Edits: []cell.Edit{{Op: cell.OpPut, Family: f}}},
	} {
		_, err := store.MutateRow(e.ctx, e.s, "t", m)
		if !errors.Is(err, cell.ErrIllegalArgument) {
			e.Errorf("%s: got %v, want an illegal argument", name, err)
		}
		if _, _, err = e.s.CheckAndMutate(e.ctx, "t", &cell.Check{Family: f, Qualifier: q, Op: cell.Equal}, m); !errors.Is(err, cell.ErrIllegalArgument) {
			e.Errorf("%s, checked: got %v, want an illegal argument", name, err)
		}
	}
	e.equal(e.scan(cell.Scan{}), "")
}

func putUnknownFamily(e *env) {
	e.usual()
	_, err := store.MutateRow(e.ctx, e.s, "t", putOf("r", "F:q", 1, "v"))
	e.refused(err, store.ErrNoSuchFamily)
	var family *store.FamilyError
	if !errors.As(err, &family) || string(family.Family) != "F" || family.Table != "t" {
		e.Errorf("got %#v, want a FamilyError of family F in table t", err)
	}
	for _, step := range []string{"del x:q@1", "delcol x:q@now", "delfam x@1", "delver x@1", "inc x:q+1", "app x:q+1"} {
		m, perr := parseMutation("r", step)
		e.must(perr)
		_, err := store.MutateRow(e.ctx, e.s, "t", m)
		if !errors.Is(err, store.ErrNoSuchFamily) {
			e.Errorf("%s: got %v, want no such family", step, err)
		}
	}
}

// A mutation is applied whole or not at all.
func refusedLeavesNothing(e *env) {
	e.usual()
	e.script("put f:n@1=text")
	for _, step := range []string{
		"put f:a@1=x & put nope:b@1=y",
		"put nope:b@1=y & put f:a@1=x",
		"put f:a@1=x & delfam nope@5 & delrow @9",
		"put f:a@1=x & inc f:n+1",
		"inc f:n+1 & delfam f@9",
	} {
		m, err := parseMutation("r", step)
		e.must(err)
		if _, err := store.MutateRow(e.ctx, e.s, "t", m); err == nil {
			e.Errorf("%s: not refused", step)
		}
		e.equal(e.raw("r"), "f:n@1=text")
	}
}

func largestCell(e *env) {
	e.usual()
	f, q := column("f:q")
	c := cell.Cell{Row: []byte("r"), Family: f, Qualifier: q}
	value := make([]byte, cell.MaxCell-c.Size())
	e.apply(cell.NewMutation(c.Row).Put(f, q, 1, value))
	var r cell.Result
	e.must(e.s.Get(e.ctx, "t", &cell.Get{Row: c.Row}, &r))
	if len(r.Cells) != 1 || r.Cells[0].Size() != cell.MaxCell {
		e.Fatalf("the largest cell did not come back")
	}
	_, err := store.MutateRow(e.ctx, e.s, "t", cell.NewMutation(c.Row).Put(f, q, 2, append(value, 0)))
	e.refused(err, store.ErrCellTooLarge)
	var size *store.CellSizeError
	if !errors.As(err, &size) || size.Size != cell.MaxCell+1 || size.Limit != cell.MaxCell || string(size.Row) != "r" || string(size.Family) != "f" || string(size.Qualifier) != "q" {
		e.Errorf("got %v, want a CellSizeError of cell r/f:q with size %d", err, cell.MaxCell+1)
	}
	_, err = store.MutateRow(e.ctx, e.s, "t", cell.NewMutation(c.Row).Append(f, q, []byte{0}))
	e.refused(err, store.ErrCellTooLarge)
	e.must(e.s.Get(e.ctx, "t", &cell.Get{Row: c.Row, Read: cell.Read{MaxVersions: 9}}, &r))
	if len(r.Cells) != 1 || r.Cells[0].Timestamp != 1 {
		e.Errorf("a refused cell was stored")
	}
}

func keepsOwnBytes(e *env) {
	e.usual()
	row, family, qualifier, value, tags := []byte("row"), []byte("f"), []byte("qual"), []byte("value"), []byte{0, 2, 9, 1}
	e.apply(&cell.Mutation{Row: row, Edits: []cell.Edit{{Op: cell.OpPut, Family: family, Qualifier: qualifier, Timestamp: 1, Value: value, Tags: tags}}})
	for _, b := range [][]byte{row, family, qualifier, value, tags} {
		for i := range b {
			b[i] = '#'
		}
	}
	e.equal(e.scan(cell.Scan{}), `row: f:qual@1=value,tags\x00\x02\x09\x01`)
	// What a read gave may be written over, too.
	var r cell.Result
	e.must(e.s.Get(e.ctx, "t", &cell.Get{Row: []byte("row")}, &r))
	for _, c := range r.Cells {
		for _, b := range [][]byte{c.Row, c.Family, c.Qualifier, c.Value, c.Tags} {
			clear(b)
		}
	}
	e.equal(e.get("row"), `f:qual@1=value,tags\x00\x02\x09\x01`)
}

func tagsComeBack(e *env) {
	e.usual()
	tags := []byte{0, 4, 7, 'a', 'b', 'c', 0, 1, 8}
	e.apply(&cell.Mutation{Row: []byte("r"), Edits: []cell.Edit{
		{Op: cell.OpPut, Family: []byte("f"), Qualifier: []byte("q"), Timestamp: 1, Value: []byte("v"), Tags: tags},
		{Op: cell.OpPut, Family: []byte("f"), Qualifier: []byte("r"), Timestamp: 1, Value: []byte("w")},
	}})
	var r cell.Result
	e.must(e.s.Get(e.ctx, "t", &cell.Get{Row: []byte("r")}, &r))
	if len(r.Cells) != 2 || !bytes.Equal(r.Cells[0].Tags, tags) || string(r.Cells[0].Value) != "v" || len(r.Cells[1].Tags) != 0 {
		e.Errorf("got %s", text(r.Cells))
	}
}

func everyDurability(e *env) {
	e.usual()
	for d := cell.UseDefault; d <= cell.FsyncWAL; d++ {
		m := putOf(d.String(), "f:q", 1, "v")
		m.Durability = d
		e.apply(m)
	}
	e.equal(e.keys(cell.Scan{}), "ASYNC_WAL FSYNC_WAL SKIP_WAL SYNC_WAL USE_DEFAULT")
}

func manyFamilies(e *env) {
	const families = 60
	var fs []cell.FamilySchema
	for i := range families {
		fs = append(fs, fam(fmt.Sprintf("f%02d", i), 1))
	}
	e.create("t", fs...)
	m := cell.NewMutation([]byte("r"))
	for i := range families {
		m.Put([]byte(fs[i].Name), []byte("q"), 1, []byte{byte('0' + i%10)})
	}
	e.apply(m, putOf("s", "f30:q", 1, "x"))
	got := e.results("t", cell.Scan{})
	if len(got) != 2 || len(got[0].Cells) != families {
		e.Fatalf("got %d rows", len(got))
	}
	for i, c := range got[0].Cells {
		if string(c.Family) != fs[i].Name || c.Value[0] != byte('0'+i%10) {
			e.Errorf("cell %d is %s", i, cellText(&c))
		}
	}
	e.equal(e.get("r", only("f59", "f07:q")), "f07:q@1=7 f59:q@1=9")
}

func manyColumns(e *env) {
	e.usual()
	const columns = 3000
	m := cell.NewMutation([]byte("r"))
	for i := range columns {
		m.Put([]byte("f"), fmt.Appendf(nil, "%05d", i), 1, []byte("v"))
	}
	e.apply(m, putOf("s", "f:q", 1, "x"))
	got := e.results("t", cell.Scan{})
	if len(got) != 2 || len(got[0].Cells) != columns {
		e.Fatalf("got %d rows, the first with %d cells, want %d", len(got), len(got[0].Cells), columns)
	}
	for i, c := range got[0].Cells {
		if string(c.Qualifier) != fmt.Sprintf("%05d", i) {
			e.Fatalf("column %d is %q", i, c.Qualifier)
		}
	}
	e.equal(e.get("r", only("f:02999", "f:00000", "f:x")), "f:00000@1=v f:02999@1=v")
}

// A cell's own time to live comes back with the cell while it lives.
func ttlIsKept(e *env) {
	e.usual()
	m := putOf("r", "f:q", epoch, "v")
	m.TTL = 60_000
	e.apply(m)
	e.equal(e.get("r"), "f:q@now+0=v,ttl60000")
}
