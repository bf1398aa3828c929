package storetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
)

// filterSeekTests are about filters that lead the scan: to a row, a column, a
// timestamp.
func filterSeekTests() []test {
	return []test{
		{"to_rows_of_ranges", seekRanges},
		{"to_rows_with_a_prefix", seekPrefix},
		{"to_the_stop_row", seekStop},
		{"to_fuzzy_rows", seekFuzzy},
		{"to_rows_in_every_family", seekFamilies},
		{"to_rows_across_regions", seekRegions},
		{"past_deleted_rows", seekDeleted},
		{"to_columns", seekColumns},
		{"to_columns_past_versions_and_markers", seekColumnsMarked},
		{"to_timestamps_does_not_uncover", seekTimestamps},
		{"to_timestamps_does_not_count_anew", seekTimestampsVersions},
		{"what_lies_before_is_not_offered", seekUnseen},
		{"rows_before_are_not_met", seekUnmet},
	}
}

// manyKeys gives all keys of one to four bytes of 00, 01, 7F and FF, in order.
func manyKeys() [][]byte {
	var keys [][]byte
	level := [][]byte{nil}
	for range 4 {
		var next [][]byte
		for _, k := range level {
			for _, b := range []byte{0, 1, 0x7f, 0xff} {
				next = append(next, append(bytes.Clone(k), b))
			}
		}
		keys = append(keys, next...)
		level = next
	}
	slices.SortFunc(keys, bytes.Compare)
	return keys
}

// writeKeys makes table "t" with a row for each key, some in family f, some in
// g, some in both.
func (e *env) writeKeys(keys [][]byte) {
	e.Helper()
	e.usual()
	var batch []cell.Mutation
	for i, k := range keys {
		m := cell.Mutation{Row: k, Durability: cell.AsyncWAL}
		if i%3 != 0 {
			m.Put([]byte("f"), []byte("q"), 1, []byte("v"))
		}
		if i%3 != 1 {
			m.Put([]byte("g"), []byte("q"), 1, []byte("v"))
		}
		batch = append(batch, m)
	}
	_, err := e.s.Apply(e.ctx, "t", batch)
	e.must(err)
}

// keeps compares the rows that a filter leaves, in both directions, with those
// of the keys for which want holds.
func (e *env) keeps(keys [][]byte, f cell.Filter, want func(key []byte) bool) {
	e.Helper()
	for _, reversed := range []bool{false, true} {
		var expected, got [][]byte
		for _, k := range keys {
			if want(k) {
				expected = append(expected, k)
			}
		}
		if reversed {
			slices.Reverse(expected)
		}
		for _, r := range e.results("t", cell.Scan{Reversed: reversed, Read: cell.Read{Filter: f}}) {
			got = append(got, r.Row)
		}
		if !slices.EqualFunc(got, expected, bytes.Equal) {
			e.Errorf("%q, reversed %v:\n got %x\nwant %x", f, reversed, got, expected)
		}
	}
}

// someBytes is a random key of up to n bytes, close to those of manyKeys.
func someBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, r.IntN(n+1))
	for i := range b {
		b[i] = []byte{0, 1, 2, 0x7f, 0x80, 0xfe, 0xff}[r.IntN(7)]
	}
	return b
}

func seekRanges(e *env) {
	keys := manyKeys()
	e.writeKeys(keys)
	r := rand.New(rand.NewPCG(1, 1))
	for range 60 {
		f := filter.MultiRowRange{}
		for range 1 + r.IntN(4) {
			a, b := someBytes(r, 4), someBytes(r, 4)
			if len(b) > 0 && bytes.Compare(a, b) > 0 {
				a, b = b, a
			}
			both := bytes.Equal(a, b)
			f.Ranges = append(f.Ranges, cell.Range{Start: a, Stop: b, StartExclusive: !both && r.IntN(3) == 0, StopInclusive: both || r.IntN(3) == 0})
		}
		e.keeps(keys, f, func(key []byte) bool {
			return slices.ContainsFunc(f.Ranges, func(r cell.Range) bool { return r.Contains(key) })
		})
	}
}

func seekPrefix(e *env) {
	keys := manyKeys()
	e.writeKeys(keys)
	r := rand.New(rand.NewPCG(2, 2))
	for range 40 {
		f := filter.Prefix{Prefix: someBytes(r, 3)}
		e.keeps(keys, f, func(key []byte) bool { return bytes.HasPrefix(key, f.Prefix) })
	}
}

func seekStop(e *env) {
	keys := manyKeys()
	e.writeKeys(keys)
	r := rand.New(rand.NewPCG(3, 3))
	for range 20 {
		f := filter.InclusiveStop{Row: someBytes(r, 4)}
		var got [2]int
		for i, reversed := range []bool{false, true} {
			got[i] = len(e.results("t", cell.Scan{Reversed: reversed, Read: cell.Read{Filter: f}}))
		}
		at, found := slices.BinarySearchFunc(keys, f.Row, bytes.Compare)
		want := [2]int{at, len(keys) - at}
		if found {
			want[0]++
		}
		if got != want {
			e.Errorf("%q: got %d rows up and %d rows down, want %d", f, got[0], got[1], want)
		}
	}
}

// Rows at least as long as the fuzzy keys: shorter ones may lie before a hint.
func seekFuzzy(e *env) {
	keys := slices.DeleteFunc(manyKeys(), func(k []byte) bool { return len(k) < 4 })
	e.writeKeys(keys)
	r := rand.New(rand.NewPCG(4, 4))
	for range 60 {
		f := filter.FuzzyRow{}
		for range 1 + r.IntN(3) {
			k := filter.FuzzyKey{Key: append(someBytes(r, 3), 1)}
			k.Mask = make([]byte, len(k.Key))
			for i := range k.Mask {
				k.Mask[i] = byte(r.IntN(2))
			}
			f.Keys = append(f.Keys, k)
		}
		e.keeps(keys, f, func(key []byte) bool { return slices.ContainsFunc(f.Keys, likeKey(key)) })
	}
}

// likeKey says whether a row is like a fuzzy key, as far as it goes.
func likeKey(row []byte) func(k filter.FuzzyKey) bool {
	return func(k filter.FuzzyKey) bool {
		for i := range min(len(row), len(k.Key)) {
			if k.Mask[i] == 0 && row[i] != k.Key[i] {
				return false
			}
		}
		return true
	}
}

// Rows come whole, whichever of their families led there.
func seekFamilies(e *env) {
	e.create("t", fam("f", 1), fam("g", 1), fam("h", 1))
	const n = 300
	var want []string
	for i := range n {
		m := cell.NewMutation(fmt.Appendf(nil, "%04d", i))
		for j, family := range []string{"f", "g", "h"} {
			if i%(j+2) == 0 || i%100 == 7 {
				m.Put([]byte(family), []byte("q"), 1, fmt.Appendf(nil, "%d%s", i, family))
			}
		}
		if len(m.Edits) > 0 {
			e.apply(m)
		}
		if i >= 100 && i <= 110 || i >= 207 && i < 210 {
			if len(m.Edits) > 0 {
				want = append(want, string(m.Row))
			}
		}
	}
	f := filter.MultiRowRange{Ranges: []cell.Range{
		{Start: []byte("0100"), Stop: []byte("0110"), StopInclusive: true}, {Start: []byte("0207"), Stop: []byte("0210")},
	}}
	plain := e.scan(cell.Scan{Range: cell.Range{Start: []byte("0207"), Stop: []byte("0210")}})
	got := e.scan(cell.Scan{Read: cell.Read{Filter: f}})
	if !strings.HasSuffix(got, " | "+plain) {
		e.Errorf("got %q, which does not end with %q", got, plain)
	}
	e.equal(e.keys(cell.Scan{Read: cell.Read{Filter: f}}), strings.Join(want, " "))
	slices.Reverse(want)
	e.equal(e.keys(cell.Scan{Reversed: true, Read: cell.Read{Filter: f}}), strings.Join(want, " "))
	e.equal(e.keys(cell.Scan{Limit: 1, Reversed: true, Read: cell.Read{Filter: f}}), want[0])
	e.equal(e.keys(cell.Scan{Range: cell.Range{Start: []byte("0110"), Stop: []byte("0207"), StopInclusive: true}, Read: cell.Read{Filter: f}}), "0110 0207")
}

func seekRegions(e *env) {
	e.must(e.s.CreateTable(e.ctx, schema("t", fam("f", 1)), bytesOf("00100", "00205", "00300")))
	for i := range 400 {
		e.put(fmt.Sprintf("%05d", i), "f:q", 1, "v")
	}
	f := filter.MultiRowRange{Ranges: []cell.Range{
		{Start: []byte("00099"), Stop: []byte("00102")}, {Start: []byte("00204"), Stop: []byte("00206")}, {Start: []byte("00399")},
	}}
	e.equal(e.keys(cell.Scan{Read: cell.Read{Filter: f}}), "00099 00100 00101 00204 00205 00399")
	e.equal(e.keys(cell.Scan{Reversed: true, Read: cell.Read{Filter: f}}), "00399 00205 00204 00101 00100 00099")
}

// A hint may lead to a row that is deleted, or among such rows.
func seekDeleted(e *env) {
	e.usual()
	e.fill(300)
	var batch []cell.Mutation
	for i := range 300 {
		if i%7 != 0 {
			m := cell.NewMutation(fmt.Appendf(nil, "%05d", i)).DeleteRow(2)
			m.Durability = cell.AsyncWAL
			batch = append(batch, *m)
		}
	}
	_, err := e.s.Apply(e.ctx, "t", batch)
	e.must(err)
	f := filter.FuzzyRow{Keys: []filter.FuzzyKey{{Key: []byte("00?1?"), Mask: []byte{0, 0, 1, 0, 1}}, {Key: []byte("00?05"), Mask: []byte{0, 0, 1, 0, 0}}}}
	for _, step := range []string{"", "flush", "compact"} {
		e.script(step)
		e.equal(e.keys(cell.Scan{Read: cell.Read{Filter: f}}), "00014 00105 00112 00119 00210 00217")
	}
	ranges := filter.MultiRowRange{Ranges: []cell.Range{cell.PrefixRange([]byte("0001")), cell.PrefixRange([]byte("0029"))}}
	e.equal(e.keys(cell.Scan{Reversed: true, Read: cell.Read{Filter: ranges}}), "00294 00014")
}

func seekColumns(e *env) {
	e.usual()
	m := cell.NewMutation([]byte("r"))
	for i := range 1000 {
		for ts := range int64(3) {
			m.Put([]byte("f"), fmt.Appendf(nil, "%04d", i), ts+1, []byte("v"))
		}
		m.Put([]byte("g"), fmt.Appendf(nil, "%04d", i), 1, []byte("v"))
	}
	e.apply(m)
	e.put("s", "f:0500", 1, "s")
	count := func(f cell.Filter, reversed bool) string {
		var parts []string
		for _, r := range e.results("t", cell.Scan{Reversed: reversed, Read: cell.Read{MaxVersions: 2, Filter: f}}) {
			families := map[string]int{}
			for _, c := range r.Cells {
				families[string(c.Family)]++
			}
			parts = append(parts, fmt.Sprintf("%s %d %d from %s", r.Row, families["f"], families["g"], r.Cells[0].Qualifier))
		}
		return strings.Join(parts, ", ")
	}
	e.equal(count(filter.ColumnPrefix{Prefix: []byte("050")}, false), "r 20 10 from 0500, s 1 0 from 0500")
	e.equal(count(filter.ColumnPrefix{Prefix: []byte("099")}, true), "r 20 10 from 0990")
	e.equal(count(filter.ColumnRange{Min: []byte("0498"), Max: []byte("0501")}, true), "s 1 0 from 0500, r 6 3 from 0498")
	e.equal(count(filter.MultipleColumnPrefix{Prefixes: bytesOf("0999", "01", "0500")}, false), "r 204 102 from 0100, s 1 0 from 0500")
	e.equal(count(filter.ColumnPagination{Limit: 3, ColumnOffset: []byte("0500")}, false), "r 3 0 from 0500, s 1 0 from 0500")
	e.equal(count(filter.All(filter.ColumnRange{Min: []byte("0498")}, filter.ColumnPrefix{Prefix: []byte("0499")}), false), "r 2 1 from 0499")
	selected := cell.Scan{Read: cell.Read{Select: selection("f:0001", "f:0500", "f:0501", "g:0500"), Filter: filter.ColumnPrefix{Prefix: []byte("05")}}}
	e.equal(e.scan(selected), "r: f:0500@3=v f:0501@3=v g:0500@1=v | s: f:0500@1=s")
}

// A hint leads past columns, their versions and their markers, and what it
// leads to is still masked by the family's markers.
func seekColumnsMarked(e *env) {
	e.usual()
	e.script("put f:@1=x; put f:@8=y; put f:a@1=1; put f:a@9=2; delcol f:a@3; put f:m@1=3; put f:m@6=4; put f:n@5=5; delfam f@5; del f:m@6; put f:m@7=6; delver f@8")
	prefix := through(filter.ColumnPrefix{Prefix: []byte("m")})
	e.equal(e.get("r", versions(9), prefix), "f:m@7=6")
	e.equal(e.get("r", versions(9), through(filter.ColumnRange{Min: []byte("b")})), "f:m@7=6")
	e.script("del f:m@7")
	e.equal(e.get("r", versions(9), prefix), "")
	e.equal(e.get("r", versions(9)), "f:a@9=2")
}

// A marker between a cell and the timestamp that a filter asks for still masks.
func seekTimestamps(e *env) {
	e.usual()
	e.script("put f:q@9=a; put f:q@5=b; put f:q@3=c; delcol f:q@4; put f:p@9=a; put f:p@5=b; del f:p@5; put f:@9=x; put f:@2=y; delfam f@2")
	for ts, want := range map[int64]string{9: "f:@9=x f:p@9=a f:q@9=a", 5: "f:q@5=b", 3: "", 2: "", 4: ""} {
		if got := e.get("r", versions(9), through(filter.Timestamps{Timestamps: []int64{ts}, CanHint: true})); got != want {
			e.Errorf("at %d: got %q, want %q", ts, got, want)
		}
	}
}

// The versions that a hint leads past count among the family's.
func seekTimestampsVersions(e *env) {
	e.create("t", fam("f", 2))
	e.script("put f:q@1=a; put f:q@2=b; put f:q@3=c")
	at := func(ts int64) func(*cell.Read) {
		return through(filter.Timestamps{Timestamps: []int64{ts}, CanHint: true})
	}
	e.equal(e.get("r", versions(9), at(2)), "f:q@2=b")
	e.equal(e.get("r", versions(9), at(1)), "")
}

// What lies before a hint is not offered, so it is not counted by other filters
// of a list.
func seekUnseen(e *env) {
	e.usual()
	e.script("put f:a@1=1 & put f:b@1=2 & put f:m1@1=3 & put f:m2@1=4")
	two := filter.ColumnPagination{Limit: 2}
	prefixed := through(filter.All(two, filter.ColumnPrefix{Prefix: []byte("m")}))
	e.equal(e.get("r", prefixed), "f:m1@1=3")
	// So too from the first column of all, beside which family markers stand.
	e.script("put f:@9=x; put f:@8=y; put f:a@9=1; put f:m1@9=5; put f:m2@9=6; delfam f@7")
	e.equal(e.get("r", versions(9), prefixed), "f:m1@9=5")
	e.equal(e.get("r", only("f:", "f:a", "f:m1", "f:m2"), prefixed), "f:m1@9=5")
	// And within a column.
	e.put("s", "f:q", 1, "a")
	for ts := range int64(4) {
		e.put("s", "f:q", ts+2, "b")
	}
	e.equal(e.get("s", versions(9), through(filter.All(two, filter.Timestamps{Timestamps: []int64{1}, CanHint: true}))), "f:q@1=a")
}

// A row that lies before a hint is left out, though the filter would keep it: a
// row shorter than a fuzzy key is like it as far as it goes. The hint is of the
// family whose cell led to it.
func seekUnmet(e *env) {
	e.usual()
	fuzzy := filter.FuzzyRow{Keys: []filter.FuzzyKey{{Key: []byte("?1"), Mask: []byte{1, 0}}}}
	e.rows("b", "b1", "b2", "c", "c1", "d")
	e.equal(e.keys(cell.Scan{Read: cell.Read{Filter: fuzzy}}), "b b1 c1 d")
	e.rows("a2")
	e.equal(e.keys(cell.Scan{Read: cell.Read{Filter: fuzzy}}), "b1 c1 d")
	e.script("flush")
	e.equal(e.keys(cell.Scan{Read: cell.Read{Filter: fuzzy}}), "b1 c1 d")
	e.put("b", "g:q", 1, "w")
	e.put("c", "g:q", 1, "w")
	e.equal(e.scan(cell.Scan{Read: cell.Read{Filter: fuzzy}}), "b: g:q@1=w | b1: f:q@1=v | c: g:q@1=w | c1: f:q@1=v | d: f:q@1=v")
	// Going down, the rows above the next one that may be like it.
	down := filter.MultiRowRange{Ranges: []cell.Range{{Start: []byte("b1"), Stop: []byte("c")}}}
	e.equal(e.keys(cell.Scan{Reversed: true, Read: cell.Read{Filter: filter.All(down, filter.RandomRow{Chance: 2})}}), "b2 b1")
}
