package storetest

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// RunSemantics tests the part of HBase's data model that is judged by age or by
// history, and filters. The engine's clock must be the one that the opener is
// given.
func RunSemantics(t *testing.T, open Opener) {
	runGroups(t, open, semantics())
}

func semantics() []group {
	return []group{
		{"time_to_live", ttlTests()},
		{"keep_deleted", keepDeletedTests()},
		{"nonces", nonceTests()},
		{"checks_without_value", blankCheckTests()},
		{"read_modify_write", readModifyWriteTests()},
		{"filters", filterTests()},
		{"filter_order", filterOrderTests()},
		{"filter_seeks", filterSeekTests()},
		{"filter_errors", filterErrorTests()},
		{"filter_checks", filterCheckTests()},
	}
}

// aged makes table "t" with one family f.
func (e *env) aged(versions, minVersions, ttlSeconds int, keep cell.KeepDeleted) {
	e.Helper()
	f := fam("f", versions)
	f.MinVersions, f.TTL, f.KeepDeleted = minVersions, ttlSeconds, keep
	e.create("t", f)
}

// putNow writes a value to f:q of row r at the clock's time plus some ms, with a
// time to live of its own in ms (0: none).
func (e *env) putNow(plus int64, value string, ttl int64) {
	e.Helper()
	m := putOf("r", "f:q", e.clock.Now()+plus, value)
	m.TTL = ttl
	e.apply(m)
}

func ttlTests() []test {
	return []test{
		{"of_the_family", familyTTL},
		{"of_the_family_by_version", familyTTLVersions},
		{"counts_from_the_cells_timestamp", ttlFromTimestamp},
		{"minimal_versions_stay", minVersionsStay},
		{"minimal_versions_within_the_request", minVersionsRequest},
		{"of_the_cell", cellTTL},
		{"the_shorter_one_holds", shorterTTL},
		{"of_the_cell_whatever_the_minimal_versions", cellTTLMinVersions},
		{"of_the_cell_uncovers_the_next_version", cellTTLUncovers},
		{"not_of_markers", ttlNotOfMarkers},
		{"expired_row_is_no_row", expiredRow},
		{"expired_cell_is_missing_to_increments_and_checks", expiredIsMissing},
		{"raw_shows_what_is_stored", rawShowsExpired},
		{"compaction_removes_the_expired", compactExpired},
		{"compaction_keeps_minimal_versions", compactMinVersions},
		{"change_holds_at_once", alterTTL},
	}
}

// Expired when timestamp + TTL < now.
func familyTTL(e *env) {
	e.aged(3, 0, 10, cell.KeepDeletedFalse)
	e.putNow(0, "a", 0)
	e.clock.Tick(9_999)
	e.equal(e.get("r"), "f:q@now+0=a")
	e.clock.Tick(1)
	e.equal(e.get("r"), "f:q@now+0=a")
	e.clock.Tick(1)
	e.equal(e.get("r"), "")
}

func familyTTLVersions(e *env) {
	e.aged(3, 0, 10, cell.KeepDeletedFalse)
	for _, v := range []string{"a", "b", "c"} {
		e.putNow(0, v, 0)
		e.clock.Tick(4_000)
	}
	e.equal(e.all("r"), "f:q@now+8000=c f:q@now+4000=b")
	e.clock.Tick(5_000)
	e.equal(e.all("r"), "f:q@now+8000=c")
}

func ttlFromTimestamp(e *env) {
	e.aged(5, 0, 10, cell.KeepDeletedFalse)
	e.put("r", "f:q", 1, "long ago")
	e.equal(e.all("r"), "")
	e.putNow(-9_000, "old", 0)
	e.putNow(20_000, "future", 0)
	e.equal(e.all("r"), "f:q@now+20000=future f:q@1699999991000=old")
	e.clock.Tick(1_001)
	e.equal(e.all("r"), "f:q@now+20000=future")
	e.clock.Tick(28_999)
	e.equal(e.all("r"), "f:q@now+20000=future")
	e.clock.Tick(1)
	e.equal(e.all("r"), "")
}

// MIN_VERSIONS keeps the newest versions even when expired.
func minVersionsStay(e *env) {
	e.aged(5, 2, 10, cell.KeepDeletedFalse)
	for _, v := range []string{"a", "b", "c"} {
		e.putNow(0, v, 0)
		e.tick()
	}
	e.equal(e.all("r"), "f:q@now+2=c f:q@now+1=b f:q@now+0=a")
	e.clock.Tick(60_000)
	e.equal(e.all("r"), "f:q@now+2=c f:q@now+1=b")
	e.putNow(0, "d", 0)
	e.equal(e.all("r"), "f:q@now+60003=d f:q@now+2=c")
	e.script("delcol f:q@now")
	e.equal(e.all("r"), "")
}

func minVersionsRequest(e *env) {
	e.aged(5, 2, 10, cell.KeepDeletedFalse)
	e.script(fiveVersions)
	e.equal(e.get("r"), "f:q@5=e")
	e.equal(e.get("r", versions(3)), "f:q@5=e f:q@4=d")
	e.equal(e.get("r", versions(3), within(2, 4)), "f:q@3=c f:q@2=b")
	e.script("del f:q@5")
	e.equal(e.get("r", versions(3)), "f:q@4=d f:q@3=c")
}

func cellTTL(e *env) {
	e.aged(3, 0, cell.Forever, cell.KeepDeletedFalse)
	e.putNow(0, "a", 500)
	e.clock.Tick(500)
	e.equal(e.get("r"), "f:q@now+0=a,ttl500")
	e.tick()
	e.equal(e.get("r"), "")
	e.equal(e.scan(cell.Scan{}), "")
}

func shorterTTL(e *env) {
	e.aged(3, 0, 10, cell.KeepDeletedFalse)
	e.putNow(0, "a", 60_000)
	e.putNow(1, "b", 5_000)
	e.equal(e.all("r"), "f:q@now+1=b,ttl5000 f:q@now+0=a,ttl60000")
	e.clock.Tick(5_002)
	e.equal(e.all("r"), "f:q@now+0=a,ttl60000")
	e.clock.Tick(5_000)
	e.equal(e.all("r"), "")
}

// A cell's own time to live is not subject to MIN_VERSIONS.
func cellTTLMinVersions(e *env) {
	e.aged(3, 2, 10, cell.KeepDeletedFalse)
	e.putNow(0, "a", 0)
	e.putNow(1, "b", 500)
	e.clock.Tick(502)
	e.equal(e.all("r"), "f:q@now+0=a")
	e.clock.Tick(60_000)
	e.equal(e.all("r"), "f:q@now+0=a")
}

func cellTTLUncovers(e *env) {
	e.aged(1, 0, cell.Forever, cell.KeepDeletedFalse)
	e.putNow(0, "a", 0)
	e.putNow(1, "b", 500)
	e.equal(e.all("r"), "f:q@now+1=b,ttl500")
	e.clock.Tick(502)
	e.equal(e.all("r"), "f:q@now+0=a")
}

// A mutation's time to live holds for its values; a delete stays a delete.
func ttlNotOfMarkers(e *env) {
	e.aged(3, 0, cell.Forever, cell.KeepDeletedFalse)
	e.putNow(0, "a", 0)
	m := cell.NewMutation([]byte("r")).DeleteColumn([]byte("f"), []byte("q"), e.clock.Now())
	m.TTL = 500
	e.apply(m)
	e.clock.Tick(10_000)
	e.equal(e.all("r"), "")
	e.equal(e.raw("r"), "f:q@now+0!DeleteColumn f:q@now+0=a")
}

func expiredRow(e *env) {
	e.aged(3, 0, 10, cell.KeepDeletedFalse)
	for i, row := range []string{"a", "b", "c", "d"} {
		e.put(row, "f:q", epoch+int64(i%2)*20_000, "v")
	}
	e.clock.Tick(15_000)
	e.equal(e.keys(cell.Scan{Limit: 1}), "b")
	e.equal(e.keys(cell.Scan{Limit: 2}), "b d")
	e.equal(e.keys(cell.Scan{Reversed: true}), "d b")
}

func expiredIsMissing(e *env) {
	e.aged(3, 0, 10, cell.KeepDeletedFalse)
	f, q := column("f:n")
	e.apply(cell.NewMutation([]byte("r")).Put(f, q, epoch, long(40)))
	e.clock.Tick(10_000)
	if got := e.inc(2); got != 42 {
		e.Errorf("got %d, want 42", got)
	}
	e.clock.Tick(10_001)
	if got := e.inc(2); got != 2 {
		e.Errorf("got %d, want 2", got)
	}
	e.clock.Tick(10_001)
	applied, _, err := e.s.CheckAndMutate(e.ctx, "t", &cell.Check{Family: f, Qualifier: q, Op: cell.Equal}, putOf("r", "f:q", cell.Latest, "v"))
	e.must(err)
	if !applied {
		e.Error("an expired cell is not absent")
	}
	// Of two versions the newer one is deleted; the older one has expired since.
	e.clock.Tick(20_000)
	e.script("put f:p@now=a")
	e.clock.Tick(8_000)
	e.script("put f:p@now=b; del f:p@now")
	e.equal(strings.Split(e.get("r", only("f:p")), "=")[1], "a")
	e.clock.Tick(8_000)
	e.equal(e.get("r", only("f:p")), "")
}

// The family's time to live does not hide cells from a raw scan.
func rawShowsExpired(e *env) {
	e.aged(3, 0, 10, cell.KeepDeletedFalse)
	e.script("put f:q@1=a; put f:q@2=b; delcol f:q@1")
	e.equal(e.all("r"), "")
	e.equal(e.raw("r"), "f:q@2=b f:q@1!DeleteColumn f:q@1=a")
}

func compactExpired(e *env) {
	e.aged(3, 0, 10, cell.KeepDeletedFalse)
	e.putNow(0, "a", 0)
	e.putNow(1, "b", 2_000)
	e.putNow(5_000, "c", 0)
	e.clock.Tick(3_000)
	e.script("compact")
	e.equal(e.raw("r"), "f:q@now+5000=c f:q@now+0=a")
	e.clock.Tick(9_000)
	e.script("compact")
	e.equal(e.raw("r"), "f:q@now+5000=c")
	e.clock.Tick(9_000)
	e.script("compact")
	e.equal(e.raw("r"), "")
}

func compactMinVersions(e *env) {
	e.aged(5, 2, 10, cell.KeepDeletedFalse)
	e.script(fiveVersions + "; del f:q@5; compact")
	e.equal(e.raw("r"), "f:q@4=d f:q@3=c")
	e.clock.Tick(60_000)
	e.script("compact")
	e.equal(e.all("r"), "f:q@4=d f:q@3=c")
}

func alterTTL(e *env) {
	e.aged(5, 0, cell.Forever, cell.KeepDeletedFalse)
	e.putNow(0, "a", 0)
	e.clock.Tick(60_000)
	e.putNow(0, "b", 0)
	f := fam("f", 5)
	f.TTL = 10
	e.must(e.s.AlterTable(e.ctx, schema("t", f)))
	e.equal(e.all("r"), "f:q@now+60000=b")
	f.TTL = 100
	e.must(e.s.AlterTable(e.ctx, schema("t", f)))
	e.equal(e.all("r"), "f:q@now+60000=b f:q@now+0=a")
}

func keepDeletedTests() []test {
	return []test{
		{"range_before_the_marker_sees_masked_cells", keepRange},
		{"of_every_kind_of_marker", keepKinds},
		{"off_a_marker_holds_in_every_range", keepOff},
		{"compaction_keeps_masked_cells", keepCompacts},
		{"compaction_drops_them_with_the_versions", keepCompactsVersions},
		{"compaction_loses_nothing_visible", keepCompactsVisible},
		{"compaction_by_time_to_live", keepCompactsTTL},
	}
}

// A read whose time range ends at or before a marker's timestamp sees what it
// masks: v1, v2, v3 and a DeleteColumn at 2.
func keepRange(e *env) {
	e.aged(5, 0, cell.Forever, cell.KeepDeletedTrue)
	e.script("put f:q@1=v1; put f:q@2=v2; put f:q@3=v3; delcol f:q@2")
	e.equal(e.get("r", versions(9), within(0, 2)), "f:q@1=v1")
	e.equal(e.get("r", versions(9), within(0, 3)), "")
	e.equal(e.all("r"), "f:q@3=v3")
	e.equal(e.get("r", versions(9), within(0, 4)), "f:q@3=v3")
	e.equal(e.get("r", versions(9), within(3, 9)), "f:q@3=v3")
}

func keepKinds(e *env) {
	for i, keep := range []cell.KeepDeleted{cell.KeepDeletedTrue, cell.KeepDeletedTTL} {
		for j, c := range []struct{ marker, before, with string }{
			{"del f:q@2", "f:q@1=a", "f:q@1=a"},
			{"delcol f:q@2", "f:q@1=a", ""},
			{"delver f@2", "f:q@1=a", "f:q@1=a"},
			{"delfam f@3", "f:q@2=b f:q@1=a", ""},
		} {
			e.must(e.s.CreateTable(e.ctx, func() cell.TableSchema {
				f := fam("f", 5)
				f.KeepDeleted = keep
				return schema(fmt.Sprintf("t%d%d", i, j), f)
			}(), nil))
			table := fmt.Sprintf("t%d%d", i, j)
			for _, step := range []string{"put f:q@1=a", "put f:q@2=b", c.marker} {
				m, err := parseMutation("r", step)
				e.must(err)
				_, err = e.s.Apply(e.ctx, table, []cell.Mutation{*m})
				e.must(err)
			}
			end := int64(2)
			if strings.HasSuffix(c.marker, "3") {
				end = 3
			}
			for until, want := range map[int64]string{end: c.before, end + 1: c.with} {
				var r cell.Result
				e.must(e.s.Get(e.ctx, table, &cell.Get{Row: []byte("r"), Read: cell.Read{MaxVersions: 9, Within: cell.Between(0, until)}}, &r))
				if got := text(r.Cells); got != want {
					e.Errorf("%s, %s, [0,%d): got %q, want %q", keep, c.marker, until, got, want)
				}
			}
		}
	}
}

func keepOff(e *env) {
	e.aged(5, 0, cell.Forever, cell.KeepDeletedFalse)
	e.script("put f:q@1=v1; put f:q@2=v2; put f:q@3=v3; delcol f:q@2")
	e.equal(e.get("r", versions(9), within(0, 2)), "")
	e.equal(e.get("r", versions(9), within(0, 3)), "")
	e.equal(e.all("r"), "f:q@3=v3")
}

func keepCompacts(e *env) {
	e.aged(5, 0, cell.Forever, cell.KeepDeletedTrue)
	e.script("put f:q@1=v1; put f:q@2=v2; put f:q@3=v3; delcol f:q@2; compact")
	e.equal(e.raw("r"), "f:q@3=v3 f:q@2!DeleteColumn f:q@2=v2 f:q@1=v1")
	e.equal(e.get("r", versions(9), within(0, 2)), "f:q@1=v1")
	// A marker that masks nothing any more goes.
	e.script("delcol f:p@9; delver f@7; compact")
	e.equal(e.raw("r"), "f:q@3=v3 f:q@2!DeleteColumn f:q@2=v2 f:q@1=v1")
}

func keepCompactsVersions(e *env) {
	e.aged(2, 0, cell.Forever, cell.KeepDeletedTrue)
	e.script("put f:q@1=v1; put f:q@2=v2; put f:q@3=v3; delcol f:q@1; compact")
	e.equal(e.raw("r"), "f:q@3=v3 f:q@2=v2")
	e.script("delfam f@3; compact")
	e.equal(e.raw("r"), "f:@3!DeleteFamily f:q@3=v3 f:q@2=v2")
	e.script("put f:q@4=v4; compact")
	e.equal(e.raw("r"), "f:@3!DeleteFamily f:q@4=v4 f:q@3=v3")
	e.script("put f:q@5=v5; compact")
	e.equal(e.raw("r"), "f:q@5=v5 f:q@4=v4")
}

// Masked cells that are kept do not push out those that a read shows.
func keepCompactsVisible(e *env) {
	e.aged(1, 0, cell.Forever, cell.KeepDeletedTrue)
	e.script("put f:q@1=v1; put f:q@2=v2; del f:q@2")
	e.equal(e.all("r"), "f:q@1=v1")
	e.script("compact")
	e.equal(e.all("r"), "f:q@1=v1")
	e.equal(e.raw("r"), "f:q@2!Delete f:q@2=v2 f:q@1=v1")
}

// TTL: kept only until the marker's time to live expires.
func keepCompactsTTL(e *env) {
	e.aged(5, 1, 10, cell.KeepDeletedTTL)
	e.putNow(0, "a", 0)
	e.script("delcol f:q@now; compact")
	e.equal(e.raw("r"), "f:q@now+0!DeleteColumn f:q@now+0=a")
	e.clock.Tick(10_001)
	e.script("compact")
	e.equal(e.raw("r"), "")
}

func nonceTests() []test {
	return []test{
		{"retry_is_answered_with_the_first_result", nonceRetry},
		{"other_nonces_count", nonceOthers},
		{"no_nonce_counts", nonceNone},
		{"refused_is_not_remembered", nonceRefused},
		{"of_a_checked_mutation", nonceChecked},
		{"in_a_batch", nonceBatch},
	}
}

// incOnce is an increment by one that carries a nonce.
func incOnce(group, value uint64) *cell.Mutation {
	m := cell.NewMutation([]byte("r")).Increment([]byte("f"), []byte("n"), 1)
	m.Nonce = cell.Nonce{Group: group, Value: value}
	m.ReturnResults = true
	return m
}

func (e *env) mutate(m *cell.Mutation) string {
	e.Helper()
	cells, err := store.MutateRow(e.ctx, e.s, "t", m)
	e.must(err)
	var values []string
	for _, c := range cells {
		values = append(values, fmt.Sprint(binary.BigEndian.Uint64(c.Value)))
	}
	return strings.Join(values, " ")
}

func nonceRetry(e *env) {
	e.usual()
	e.equal(e.mutate(incOnce(1, 7)), "1")
	e.equal(e.mutate(incOnce(1, 8)), "2")
	e.clock.Tick(60_000)
	e.equal(e.mutate(incOnce(1, 7)), "1")
	e.clock.Tick(28 * 60_000)
	e.equal(e.mutate(incOnce(1, 7)), "1")
	e.equal(e.counter(), "2 1")
}

func nonceOthers(e *env) {
	e.usual()
	for _, n := range []cell.Nonce{{Group: 1, Value: 1}, {Group: 1, Value: 2}, {Group: 2, Value: 1}, {Value: 1}, {Group: 1}} {
		e.mutate(incOnce(n.Group, n.Value))
	}
	e.equal(strings.Fields(e.counter())[0], "5")
}

func nonceNone(e *env) {
	e.usual()
	e.equal(e.mutate(incOnce(0, 0)), "1")
	e.equal(e.mutate(incOnce(0, 0)), "2")
}

func nonceRefused(e *env) {
	e.usual()
	e.put("r", "f:n", 1, "text")
	_, err := store.MutateRow(e.ctx, e.s, "t", incOnce(1, 7))
	e.refused(err, store.ErrNotCounter)
	e.script("delcol f:n@now; tick")
	e.equal(e.mutate(incOnce(1, 7)), "1")
	e.equal(e.mutate(incOnce(1, 7)), "1")
}

// A retry of a checked mutation that was applied holds, although the check would
// not hold any more.
func nonceChecked(e *env) {
	e.usual()
	check := &cell.Check{Family: []byte("f"), Qualifier: []byte("n"), Op: cell.Equal}
	for range 2 {
		applied, results, err := e.s.CheckAndMutate(e.ctx, "t", check, incOnce(1, 7))
		e.must(err)
		if !applied || len(results) != 1 || string(results[0].Value) != string(long(1)) {
			e.Errorf("applied %v, results %s", applied, text(results))
		}
	}
	applied, _, err := e.s.CheckAndMutate(e.ctx, "t", check, incOnce(1, 8))
	e.must(err)
	if applied {
		e.Error("the check of another mutation held")
	}
	e.equal(e.counter(), "1")
}

func nonceBatch(e *env) {
	e.usual()
	for range 2 {
		e.apply(incOnce(1, 1), putOf("s", "f:q", 1, "v"), incOnce(1, 2), incOnce(1, 1))
	}
	e.equal(e.counter(), "2 1")
}

func blankCheckTests() []test {
	return []test{{"only_not_equal_asks_for_a_value", func(e *env) {
		e.usual()
		var cases []checkCase
		for op := cell.Less; op < cell.NoOp; op++ {
			blank := op != cell.NotEqual
			cases = append(cases, checkCase{"-", op, "", blank}, checkCase{"", op, "", blank}, checkCase{"5", op, "", !blank})
		}
		e.checkCases(cases)
	}}}
}

func readModifyWriteTests() []test {
	return []test{
		{"keeps_the_old_cells_tags", keepsTags},
		{"keeps_the_old_cells_time_to_live", keepsTTL},
		{"mutations_time_to_live_holds", ownTTL},
	}
}

func keepsTags(e *env) {
	e.usual()
	old, own := []byte{0, 2, 9, 'o'}, []byte{0, 2, 10, 'n'}
	put := cell.NewMutation([]byte("r")).Put([]byte("f"), []byte("n"), 1, long(1)).Put([]byte("f"), []byte("a"), 1, []byte("x"))
	put.Edits[0].Tags, put.Edits[1].Tags = old, old
	e.apply(put)
	m := cell.NewMutation([]byte("r")).Increment([]byte("f"), []byte("n"), 1).Append([]byte("f"), []byte("a"), []byte("y"))
	m.Edits[1].Tags = own
	e.apply(m)
	var r cell.Result
	e.must(e.s.Get(e.ctx, "t", &cell.Get{Row: []byte("r")}, &r))
	if len(r.Cells) != 2 || string(r.Cells[0].Tags) != string(own)+string(old) || string(r.Cells[1].Tags) != string(old) {
		e.Errorf("got %s", text(r.Cells))
	}
}

func keepsTTL(e *env) {
	e.usual()
	put := cell.NewMutation([]byte("r")).Put([]byte("f"), []byte("n"), epoch, long(1))
	put.TTL = 5_000
	e.apply(put)
	e.clock.Tick(1_000)
	e.inc(1)
	e.clock.Tick(4_500)
	e.equal(e.get("r"), `f:n@now+1000=\x00\x00\x00\x00\x00\x00\x00\x02,ttl5000`)
	e.clock.Tick(501)
	e.equal(e.get("r"), "")
}

func ownTTL(e *env) {
	e.usual()
	put := cell.NewMutation([]byte("r")).Put([]byte("f"), []byte("n"), epoch, long(1))
	put.TTL = 5_000
	e.apply(put)
	m := cell.NewMutation([]byte("r")).Increment([]byte("f"), []byte("n"), 1)
	m.TTL = 50_000
	e.clock.Tick(1)
	e.apply(m)
	e.clock.Tick(5_000)
	e.equal(e.all("r"), `f:n@now+1=\x00\x00\x00\x00\x00\x00\x00\x02,ttl50000`)
	e.clock.Tick(45_001)
	e.equal(e.all("r"), "")
}
