package pebble

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cellardb/cellar/cell"
)

// The layout is frozen: docs/internals/format/store.md shows these bytes.
func TestKeyBytes(t *testing.T) {
	cases := []struct {
		name           string
		row, qualifier string
		timestamp      int64
		typ            cell.Type
		want           string
	}{
		{"plain", "row", "q", 1, cell.TypePut, "01000000" + "0001" + "726f77" + "0001" + "71" + "0001" + "fffffffffffffffe" + "fb"},
		{"zero bytes are escaped", "a\x00b", "\x00", 0, cell.TypePut, "01000000" + "0001" + "6100ff62" + "0001" + "00ff" + "0001" + "ffffffffffffffff" + "fb"},
		{"01 and ff are not", "\x01\xff", "\xff", 0, cell.TypeDelete, "01000000" + "0001" + "01ff" + "0001" + "ff" + "0001" + "ffffffffffffffff" + "f7"},
		{"family marker", "r", "", 256, cell.TypeDeleteFamily, "01000000" + "0001" + "72" + "0001" + "" + "0001" + "fffffffffffffeff" + "f1"},
		{"latest", "r", "q", math.MaxInt64, cell.TypeDeleteColumn, "01000000" + "0001" + "72" + "0001" + "71" + "0001" + "8000000000000000" + "f3"},
	}
	ran := 0
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			key := appendRowPrefix(nil, firstTableID, 1, []byte(c.row))
			prefix := len(key)
			key = appendTail(appendString(key, []byte(c.qualifier)), c.timestamp, c.typ)
			if got := hex.EncodeToString(key); got != c.want {
				t.Fatalf("key is %s, want %s", got, c.want)
			}
			if got := splitKey(key); got != prefix {
				t.Errorf("split at %d, want %d", got, prefix)
			}
			k, err := parseCellKey(key, 0)
			if err != nil {
				t.Fatal(err)
			}
			if row := string(unescape(nil, rowOf(k.prefix))); row != c.row {
				t.Errorf("row comes back as %q", row)
			}
			if q := string(unescape(nil, k.qualifier)); q != c.qualifier {
				t.Errorf("qualifier comes back as %q", q)
			}
			if k.timestamp != c.timestamp || k.typ != c.typ {
				t.Errorf("timestamp and type come back as %d %v", k.timestamp, k.typ)
			}
		})
		ran++
	}
	if ran != 5 {
		t.Errorf("%d cases ran", ran)
	}
}

// awkward makes short strings of the bytes that escaping is about.
func awkward(r *rand.Rand, least int) []byte {
	b := make([]byte, least+r.IntN(4))
	for i := range b {
		b[i] = []byte{0, 1, 2, 0xfe, 0xff, 'a'}[r.IntN(6)]
	}
	return b
}

func randomCell(r *rand.Rand) cell.Cell {
	types := []cell.Type{cell.TypePut, cell.TypeDelete, cell.TypeDeleteFamilyVersion, cell.TypeDeleteColumn, cell.TypeDeleteFamily}
	return cell.Cell{
		Row: awkward(r, 1), Family: []byte("f"), Qualifier: awkward(r, 0),
		Timestamp: []int64{0, 1, 2, math.MaxInt64 - 1, math.MaxInt64}[r.IntN(5)], Type: types[r.IntN(len(types))],
	}
}

func encode(c *cell.Cell) []byte {
	return appendTail(appendString(appendRowPrefix(nil, firstTableID, 1, c.Row), c.Qualifier), c.Timestamp, c.Type)
}

// Byte order of keys is HBase's order of cells.
func TestKeyOrderIsCellOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const pairs = 200_000
	differ := 0
	for range pairs {
		a, b := randomCell(r), randomCell(r)
		want := cell.Compare(&a, &b)
		ka, kb := encode(&a), encode(&b)
		if got := comparer.Compare(ka, kb); got != want {
			t.Fatalf("%x against %x: keys say %d, cells %d", ka, kb, got, want)
		}
		// The prefixes order rows.
		pa, pb := ka[:splitKey(ka)], kb[:splitKey(kb)]
		if got, want := bytes.Compare(pa, pb), bytes.Compare(a.Row, b.Row); got != want {
			t.Fatalf("prefixes %x and %x: %d, rows say %d", pa, pb, got, want)
		}
		if want != 0 {
			differ++
		}
	}
	if differ < pairs/2 {
		t.Errorf("only %d of %d pairs differ", differ, pairs)
	}
}

// What Pebble asks of Split and of the functions beside it.
func TestComparerRules(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	var keys [][]byte
	for range 300 {
		c := randomCell(r)
		keys = append(keys, encode(&c))
		keys = append(keys, appendRowPrefix(nil, firstTableID, 1, c.Row))
		keys = append(keys, appendRowBound(appendFamilyPrefix(nil, firstTableID, 1), c.Row, r.IntN(2) == 0))
	}
	lower, upper := familyBounds(firstTableID, 1)
	keys = append(keys, lower, upper, []byte{0, 'i'}, metaKey(metaTable, []byte("t")), metaKey(metaRegion, u32(firstTableID), []byte("a\x00\x01b")))
	checked := 0
	for _, a := range keys {
		pa := a[:splitKey(a)]
		if splitKey(pa) != len(pa) {
			t.Fatalf("the prefix %x of %x splits again at %d", pa, a, splitKey(pa))
		}
		next := comparer.ImmediateSuccessor(nil, pa)
		if splitKey(next) != len(next) || bytes.Compare(pa, next) >= 0 {
			t.Fatalf("successor of prefix %x is %x, split at %d", pa, next, splitKey(next))
		}
		for _, b := range keys {
			pb := b[:splitKey(b)]
			c, pc := bytes.Compare(a, b), bytes.Compare(pa, pb)
			if c <= 0 && pc > 0 || pc < 0 && c >= 0 {
				t.Fatalf("%x and %x compare %d, their prefixes %d", a, b, c, pc)
			}
			if pc < 0 && bytes.Compare(next, pb) > 0 {
				t.Fatalf("prefix %x lies between %x and its immediate successor %x", pb, pa, next)
			}
			checked++
		}
	}
	if want := len(keys) * len(keys); checked != want {
		t.Errorf("checked %d pairs, want %d", checked, want)
	}
}

// Row bounds cut exactly where the rows are, inclusive and exclusive.
func TestRowBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	inside := 0
	const tries = 100_000
	for range tries {
		rng := cell.Range{Start: awkward(r, 0), Stop: awkward(r, 0), StartExclusive: r.IntN(2) == 0, StopInclusive: r.IntN(2) == 0}
		c := randomCell(r)
		key := encode(&c)
		lower, upper := rowBounds(firstTableID, 1, rng)
		got := bytes.Compare(key, lower) >= 0 && bytes.Compare(key, upper) < 0
		if want := rng.Contains(c.Row); got != want {
			t.Fatalf("row %x in %+v: bounds %x..%x say %v", c.Row, rng, lower, upper, got)
		}
		if got {
			inside++
		}
		for _, b := range [][]byte{lower, upper} {
			if splitKey(b) != len(b) {
				t.Fatalf("bound %x has a suffix", b)
			}
		}
	}
	if inside < tries/20 || inside > tries-tries/20 {
		t.Errorf("%d of %d rows were inside: the test says little", inside, tries)
	}
}

func TestUnescape(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 10_000 {
		s := awkward(r, 0)
		e := appendString(nil, s)
		n := endOfString(append(slices.Clone(e), 0, 1, 7))
		if n != len(e)-2 {
			t.Fatalf("end of %x found at %d", e, n)
		}
		if got := unescape(nil, e[:n]); !bytes.Equal(got, s) {
			t.Fatalf("%x comes back as %x", s, got)
		}
	}
}

// A key or a value that no cell has is damage, not a panic.
func FuzzParse(f *testing.F) {
	f.Add(encode(&cell.Cell{Row: []byte("r"), Qualifier: []byte("q"), Type: cell.TypePut}), []byte{flagTTL | flagTags, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 9, 'v'})
	f.Add([]byte{1, 0, 0, 0, 0, 1, 0}, []byte{})
	f.Fuzz(func(t *testing.T, key, value []byte) {
		if k, err := parseCellKey(key, 0); err == nil {
			again := appendTail(append(append(slices.Clone(k.prefix), k.qualifier...), escByte, escEnd), k.timestamp, k.typ)
			if !bytes.Equal(again, key) {
				t.Errorf("key %x is read as %x", key, again)
			}
		}
		v, ttl, tags, err := parseValue(value)
		if err != nil {
			return
		}
		again := make([]byte, valueLen(v, ttl, tags))
		putValue(again, v, ttl, tags)
		if v2, ttl2, tags2, err := parseValue(again); err != nil || cmp.Compare(max(ttl, 0), ttl2) != 0 || !bytes.Equal(v, v2) || !bytes.Equal(tags, tags2) {
			t.Errorf("value %x comes back as %x: %v", value, again, err)
		}
	})
}
