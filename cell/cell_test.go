package cell

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Cells sort by row, family and qualifier, then newest first, then the larger
// type first: markers before the puts of their timestamp.
func TestCompareIsHBasesOrder(t *testing.T) {
	c := func(row, family, qualifier string, ts int64, typ Type) Cell {
		return Cell{Row: []byte(row), Family: []byte(family), Qualifier: []byte(qualifier), Timestamp: ts, Type: typ}
	}
	want := []Cell{
		c("a", "f", "", 9, TypePut),
		c("a", "f", "", 5, TypeDeleteFamily),
		c("a", "f", "", 5, TypeDeleteFamilyVersion),
		c("a", "f", "", 5, TypePut),
		c("a", "f", "q", 7, TypePut),
		c("a", "f", "q", 3, TypeDeleteColumn),
		c("a", "f", "q", 3, TypeDelete),
		c("a", "f", "q", 3, TypePut),
		c("a", "f", "q\x00", 1, TypePut),
		c("a", "g", "a", 1, TypePut),
		c("a\x00", "f", "", 1, TypePut),
		c("b", "f", "", 1, TypePut),
		c("\xff", "f", "", 1, TypePut),
	}
	got := slices.Clone(want)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
	slices.SortFunc(got, func(a, b Cell) int { return Compare(&a, &b) })
	for i := range want {
		if Compare(&got[i], &want[i]) != 0 {
			t.Errorf("place %d has %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestTimeRange(t *testing.T) {
	cases := []struct {
		r    TimeRange
		ts   int64
		want bool
	}{
		{TimeRange{}, 0, true}, {TimeRange{}, math.MaxInt64, true}, {AllTime, math.MaxInt64, true},
		{Between(0, 0), 0, false}, {Between(2, 5), 2, true}, {Between(2, 5), 5, false}, {Between(2, 5), 1, false},
		{Between(3, math.MaxInt64), math.MaxInt64, true}, {At(7), 7, true}, {At(7), 8, false}, {At(7), 6, false},
	}
	for _, c := range cases {
		if got := c.r.Contains(c.ts); got != c.want {
			t.Errorf("%v holds %d: %v", c.r, c.ts, got)
		}
	}
	for _, r := range []TimeRange{{-1, 5}, {5, 4}, {0, -1}} {
		if err := r.Validate(); !errors.Is(err, ErrIllegalArgument) {
			t.Errorf("%v: %v", r, err)
		}
	}
}

func TestPrefixRange(t *testing.T) {
	for prefix, after := range map[string]string{"a": "b", "a\xff": "b", "\xff": "", "\xff\xff": "", "\x80": "\x81", "": ""} {
		if got := AfterPrefix([]byte(prefix)); string(got) != after {
			t.Errorf("after prefix %q comes %q, want %q", prefix, got, after)
		}
	}
	r := PrefixRange([]byte("k\xff"))
	for row, want := range map[string]bool{"k\xff": true, "k\xff\xff": true, "k": false, "l": false, "k\xfe": false} {
		if r.Contains([]byte(row)) != want {
			t.Errorf("row %q: %v", row, !want)
		}
	}
}

// Names by HBase's rules; the texts of the refusals are what clients match.
func TestNames(t *testing.T) {
	tables := map[string]bool{
		"t": true, "1ok": true, "_x": true, "x.y-z": true, "é": true, "ns:t": true, "default:t": true,
		"": false, "-x": false, ".x": false, "x$": false, "a b": false, "zookeeper": false, "a:b:c": false, "a-b:t": false, ":t": false, "ns:": false, "\xff": false,
	}
	for name, want := range tables {
		if err := ValidateTableName(name); (err == nil) != want || err != nil && !errors.Is(err, ErrIllegalArgument) {
			t.Errorf("table %q: %v", name, err)
		}
	}
	families := map[string]bool{"f": true, "f.x": true, "a b": true, "": false, ".f": false, "a:b": false, "a\x01": false, "recovered.edits": false, string(bytes.Repeat([]byte("f"), 128)): false}
	for name, want := range families {
		if err := ValidateFamilyName(name); (err == nil) != want {
			t.Errorf("family %q: %v", name, err)
		}
	}
	for n, want := range map[int]string{0: "Row length is 0", MaxRow: "", MaxRow + 1: "Row length 32768 is > 32767"} {
		got := ""
		if err := ValidateRow(make([]byte, n)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("row of %d bytes: %q, want %q", n, got, want)
		}
	}
}

func TestMutationsThatCannotBe(t *testing.T) {
	row, f := []byte("r"), []byte("f")
	for name, m := range map[string]*Mutation{
		"no edits":           NewMutation(row),
		"no row":             NewMutation(nil).Put(f, nil, 1, nil),
		"negative timestamp": NewMutation(row).Put(f, nil, -1, nil),
		"no family":          NewMutation(row).Put(nil, nil, 1, nil),
		"unknown operation":  {Row: row, Edits: []Edit{{Op: 3, Family: f}}},
		"negative ttl":       {Row: row, TTL: -1, Edits: []Edit{{Op: OpPut, Family: f}}},
	} {
		if err := m.Validate(); !errors.Is(err, ErrIllegalArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := NewMutation(row).DeleteRow(Latest).Validate(); err != nil {
		t.Error(err)
	}
	twice := Read{Select: []FamilySelect{{Family: f}, {Family: f}}}
	if err := twice.Validate(); !errors.Is(err, ErrIllegalArgument) {
		t.Errorf("a family selected twice: %v", err)
	}
}

// What a result handed out stays as it is while the result grows.
func TestResultKeepsItsBytes(t *testing.T) {
	var r Result
	var kept [][]byte
	for i := range 5000 {
		kept = append(kept, r.Copy([]byte{byte(i), byte(i >> 8), 'x'}))
	}
	for i, b := range kept {
		if b[0] != byte(i) || b[1] != byte(i>>8) || len(b) != 3 || cap(b) != 3 {
			t.Fatalf("copy %d is %v", i, b)
		}
	}
}
