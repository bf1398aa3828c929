package block

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/cellardb/cellar/store"
)

// sealed is a chunk of given bytes behind the version, with a right checksum.
func sealed(parts ...[]byte) []byte {
	b := []byte{version}
	for _, p := range parts {
		b = append(b, p...)
	}
	return seal(b, 0)
}

// isRefusal says whether an error is one that a reader of bytes may give.
func isRefusal(err error) bool {
	return errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrNewerFormat)
}

// Bytes that mean nothing are refused by a name.
func TestDamagedChunks(t *testing.T) {
	b := func(bytes ...byte) []byte { return bytes }
	// Most begin with the version, rows, type and no nulls.
	cases := []struct {
		name  string
		chunk []byte
		want  string
	}{
		{"nothing", nil, "is empty"},
		{"version 0", b(0, 0, 0, 0, 0, 0), "version 0"},
		{"version only", b(1), "ends before its checksum"},
		{"checksum only", seal(nil, 0), "version 0"},
		{"wrong checksum", b(1, 0, 3, 0, 1, 2, 3, 4), "checksum"},
		{"no rows", sealed(), "a number has no end"},
		{"no type", sealed(b(1)), "end too early"},
		{"too many rows", sealed(b(0x81, 0x40), b(typeInt64, setNone, intsConstant, 0)), "more rows"},
		{"rows without end", sealed(b(0x81)), "no end"},
		{"type 0", sealed(b(1, 0, setNone, 0, 0)), "unknown type"},
		{"type 10", sealed(b(1, 10, setNone, 0, 0)), "unknown type"},
		{"unknown set", sealed(b(1, typeInt64, 9)), "unknown kind"},
		{"bitmap cut", sealed(b(9, typeInt64, setBitmap, 1)), "end too early"},
		{"bitmap with a tail", sealed(b(9, typeInt64, setBitmap, 1, 2, intsConstant, 0)), "behind its end"},
		{"sparse, too many", sealed(b(2, typeInt64, setSparse, 3)), "more bits"},
		{"sparse, outside", sealed(b(2, typeInt64, setSparse, 1, intsConstant, 4)), "outside"},
		{"sparse, negative", sealed(b(2, typeInt64, setSparse, 1, intsConstant, 1)), "outside"},
		{"runs, too many", sealed(b(2, typeInt64, setRuns, 4)), "more runs"},
		{"runs, too long", sealed(b(2, typeInt64, setRuns, 1, intsConstant, 6)), "impossible length"},
		{"runs, negative", sealed(b(2, typeInt64, setRuns, 1, intsConstant, 1)), "impossible length"},
		{"runs, too short", sealed(b(2, typeInt64, setRuns, 1, intsConstant, 2, intsConstant, 0)), "runs end too early"},
		{"unknown list", sealed(b(1, typeInt64, setNone, 8)), "unknown kind"},
		{"constant without end", sealed(b(1, typeInt64, setNone, intsConstant, 0x80)), "no end"},
		{"constant of 11 bytes", sealed(b(1, typeInt64, setNone, intsConstant), []byte(strings.Repeat("\x80", 10)), b(1)), "no end"},
		{"width 0", sealed(b(1, typeInt64, setNone, intsPacked, 0, 0)), "width"},
		{"width 57", sealed(b(1, typeInt64, setNone, intsPacked, 0, 57, 1, 2, 3, 4, 5, 6, 7, 8)), "width"},
		{"width 65", sealed(b(1, typeInt64, setNone, intsPacked, 0, 65, 1, 2, 3, 4, 5, 6, 7, 8, 9)), "width"},
		{"packed, cut", sealed(b(9, typeInt64, setNone, intsPacked, 0, 1, 1)), "end too early"},
		{"patched, too many", sealed(b(2, typeInt64, setNone, intsPatched, 0, 1, 1, 3)), "more exceptions"},
		{"patched, outside", sealed(b(2, typeInt64, setNone, intsPatched, 0, 1, 1, 1, intsConstant, 4, intsConstant, 0)), "outside"},
		{"dictionary, too large", sealed(b(2, typeInt64, setNone, intsDictionary, 3)), "more entries"},
		{"dictionary, empty", sealed(b(2, typeInt64, setNone, intsDictionary, 0, intsConstant, 0)), "outside of its dictionary"},
		{"dictionary, code outside", sealed(b(2, typeInt64, setNone, intsDictionary, 1, intsConstant, 0, intsConstant, 2)), "outside of its dictionary"},
		{"runs of numbers, too many", sealed(b(2, typeInt64, setNone, intsRuns, 3)), "more runs"},
		{"runs of numbers, none", sealed(b(2, typeInt64, setNone, intsRuns, 0)), "runs end too early"},
		{"runs of numbers, 0 long", sealed(b(2, typeInt64, setNone, intsRuns, 1, intsConstant, 0, intsConstant, 0)), "impossible length"},
		{"runs of numbers, too long", sealed(b(2, typeInt64, setNone, intsRuns, 1, intsConstant, 0, intsConstant, 6)), "impossible length"},
		{"too deep", sealed(b(9, typeInt64, setNone), []byte(strings.Repeat("\x03\x00", 7)), b(intsConstant, 0)), "too deep"},
		{"deep enough to be allowed, but cut", sealed(b(9, typeInt64, setNone), []byte(strings.Repeat("\x03\x00", 5))), "end too early"},
		{"one too deep", sealed(b(9, typeInt64, setNone), []byte(strings.Repeat("\x03\x00", 6)), b(intsConstant, 0)), "too deep"},
		{"not 32 bits", sealed(b(1, typeInt32, setNone, intsConstant, 0x80, 0x80, 0x80, 0x80, 0x10)), "32 bits"},
		{"not a float of 32 bits", sealed(b(1, typeFloat32, setNone, floatBits, intsConstant, 0x80, 0x80, 0x80, 0x80, 0x10)), "32 bits"},
		{"unknown floats", sealed(b(1, typeFloat64, setNone, 2, intsConstant, 0)), "unknown kind"},
		{"13 digits", sealed(b(1, typeFloat64, setNone, floatDecimals, 13, 0, intsConstant, 0)), "digits"},
		{"exceptions, too many", sealed(b(1, typeFloat64, setNone, floatDecimals, 1, 2)), "more exceptions"},
		{"exceptions, outside", sealed(b(1, typeFloat64, setNone, floatDecimals, 1, 1, intsConstant, 2, intsConstant, 0, intsConstant, 0)), "outside"},
		{"unknown text", sealed(b(1, typeText, setNone, 3)), "unknown kind"},
		{"negative length", sealed(b(1, typeText, setNone, textPlain, intsConstant, 1, bytesRaw)), "longer than"},
		{"lengths beyond the limit", sealed(b(2, typeText, setNone, textPlain, intsConstant, 0x80, 0x80, 0x80, 0x0A, bytesRaw)), "longer than"},
		{"lengths that wrap", sealed(b(2, typeText, setNone, textPlain, intsConstant, 0x80, 0x80, 0x80, 0x80, 0x20, bytesRaw)), "longer than"},
		{"negative lengths that sum up to 0", sealed(b(2, typeText, setNone, textPlain, intsConstant), []byte(strings.Repeat("\xFF", 9)), b(1, bytesRaw)), "longer than"},
		{"text cut", sealed(b(1, typeText, setNone, textPlain, intsConstant, 4, bytesRaw, 'a')), "end too early"},
		{"unknown bytes", sealed(b(1, typeText, setNone, textPlain, intsConstant, 2, 2, 'a')), "unknown kind"},
		{"zstd, too long", sealed(b(1, typeText, setNone, textPlain, intsConstant, 2, bytesZstd, 9, 'a')), "end too early"},
		{"zstd, no frame", sealed(b(1, typeText, setNone, textPlain, intsConstant, 2, bytesZstd, 1, 'a')), "compressed"},
		{"zstd, nothing", sealed(b(1, typeText, setNone, textPlain, intsConstant, 2, bytesZstd, 0)), "compressed"},
		{"text dictionary, too large", sealed(b(1, typeText, setNone, textDictionary, 2)), "more entries"},
		{"text dictionary, empty", sealed(b(1, typeText, setNone, textDictionary, 0, textPlain, bytesRaw, intsConstant, 0)), "empty"},
		{"text dictionary of dictionaries", sealed(b(1, typeText, setNone, textDictionary, 1, textDictionary)), "unknown kind"},
		{"text dictionary, code outside", sealed(b(1, typeText, setNone, textDictionary, 1, textPlain, intsConstant, 0, bytesRaw, intsConstant, 2)), "outside of its dictionary"},
		{"text dictionary, negative code", sealed(b(1, typeText, setNone, textDictionary, 1, textPlain, intsConstant, 0, bytesRaw, intsConstant, 1)), "outside of its dictionary"},
		{"numbered, no digits", sealed(b(1, typeText, setNone, textNumbered, 0, 1, textPlain, intsConstant, 0, bytesRaw, intsConstant, 0, intsConstant, 0)), "no digits"},
		{"numbered, 19 digits", sealed(b(1, typeText, setNone, textNumbered, 19, 1, textPlain, intsConstant, 0, bytesRaw, intsConstant, 0, intsConstant, 0)), "many digits"},
		{"numbered, no prefix", sealed(b(1, typeText, setNone, textNumbered, 1, 0, textPlain, bytesRaw, intsConstant, 0, intsConstant, 0)), "no prefix"},
		{"numbered, too many prefixes", sealed(b(1, typeText, setNone, textNumbered, 1, 2)), "more prefixes"},
		{"numbered, prefixes of another kind", sealed(b(1, typeText, setNone, textNumbered, 1, 1, textDictionary)), "unknown kind"},
		{"numbered, code outside", sealed(b(1, typeText, setNone, textNumbered, 1, 1, textPlain, intsConstant, 0, bytesRaw, intsConstant, 2, intsConstant, 0)), "outside of the prefixes"},
		{"numbered, negative code", sealed(b(1, typeText, setNone, textNumbered, 1, 1, textPlain, intsConstant, 0, bytesRaw, intsConstant, 1, intsConstant, 0)), "outside of the prefixes"},
		{"numbered, negative number", sealed(b(1, typeText, setNone, textNumbered, 1, 1, textPlain, intsConstant, 0, bytesRaw, intsConstant, 0, intsConstant, 1)), "more digits"},
		{"numbered, 10^18", sealed(b(1, typeText, setNone, textNumbered, 1, 1, textPlain, intsConstant, 0, bytesRaw, intsConstant, 0, intsConstant), appendVarint(nil, 1e18)), "more digits"},
		{"bytes, too long", sealed(b(1, typeInt64, setNone, intsBytes, 0, 9, 'a')), "end too early"},
		{"bytes, no frame", sealed(b(1, typeInt64, setNone, intsBytes, 0, 1, 'a')), "compressed"},
		{"more behind", sealed(b(1, typeInt64, setNone, intsConstant, 0, 0)), "bytes follow"},
	}
	for _, c := range cases {
		into := used()
		_, err := DecodeChunk(c.chunk, &into)
		if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if len(cases) != 73 {
		t.Errorf("%d cases", len(cases))
	}
}

// A dictionary that stands for far more text than its bytes is refused: whoever
// writes the rows out would fill the memory.
func TestDictionaryBomb(t *testing.T) {
	e := new(encoder)
	text := e.plainText(nil, []int64{3 << 20}, make([]byte, 3<<20))
	for _, c := range []struct {
		rows byte
		ok   bool
	}{{5, true}, {6, false}} {
		chunk := sealed([]byte{c.rows, typeText, setNone, textDictionary, 1}, text, []byte{intsConstant, 0})
		var into store.Vector
		_, err := DecodeChunk(chunk, &into)
		if c.ok != (err == nil) || err != nil && !strings.Contains(err.Error(), "stands for more") {
			t.Errorf("%d rows: %v", c.rows, err)
		}
	}
}

// So is a long prefix that many numbers follow.
func TestPrefixBomb(t *testing.T) {
	e := new(encoder)
	text := e.plainText(nil, []int64{3 << 20}, make([]byte, 3<<20))
	for _, c := range []struct {
		rows byte
		ok   bool
	}{{5, true}, {6, false}} {
		chunk := sealed([]byte{c.rows, typeText, setNone, textNumbered, 1, 1}, text, []byte{intsConstant, 0, intsConstant, 0})
		var into store.Vector
		_, err := DecodeChunk(chunk, &into)
		if c.ok != (err == nil) || err != nil && !strings.Contains(err.Error(), "longer than") {
			t.Errorf("%d rows: %v", c.rows, err)
		}
	}
}

// A frame that would be more than it says is refused, not expanded.
func TestZstdBomb(t *testing.T) {
	e := new(encoder)
	frame, ok := e.deflate([]byte{bytesZstd}, make([]byte, 8<<20))
	if !ok {
		t.Fatal("zeros were not compressed")
	}
	chunk := sealed([]byte{1, typeText, setNone, textPlain, intsConstant, 20}, frame)
	d := new(decoder)
	try := func() error {
		c, err := open(chunk, "chunk")
		if err != nil {
			t.Fatal(err)
		}
		var into store.Vector
		d.column(&c, c.count(1, "rows"), &into)
		return c.err
	}
	var before, after runtime.MemStats
	for range 2 { // the decompressor's own memory is taken with the first call
		runtime.ReadMemStats(&before)
		if err := try(); !errors.Is(err, store.ErrCorrupt) {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
}

// samples are chunks of all forms.
func samples(t testing.TB) [][]byte {
	rng := rand.New(rand.NewPCG(9, 1))
	var chunks [][]byte
	for shape := range shapes {
		for _, typ := range allTypes {
			v := vectorOf(typ, numbers(rng, shape, 70), len(chunks)%2 == 0)
			v.Nulls = nullsOf(rng, []string{"none", "rare", "tail", "half"}[len(chunks)%4], 70)
			chunk, _, err := EncodeChunk(nil, &v, 0, 70)
			if err != nil {
				t.Fatal(err)
			}
			chunks = append(chunks, chunk)
		}
	}
	return chunks
}

// Every prefix is refused, with the checksum that belongs to it too.
func TestPrefixesOfChunks(t *testing.T) {
	var into store.Vector
	for _, chunk := range samples(t) {
		for n := range chunk {
			if _, err := DecodeChunk(chunk[:n], &into); !isRefusal(err) {
				t.Fatalf("%d of %d bytes: %v", n, len(chunk), err)
			}
			if n > sumBytes && n < len(chunk)-sumBytes {
				if _, err := DecodeChunk(seal(chunk[:n:n], 0), &into); !isRefusal(err) {
					t.Fatalf("%d of %d bytes, sealed anew: %v", n, len(chunk), err)
				}
			}
		}
	}
}

// One byte changed anywhere is seen. With a checksum that was made for it, it
// may give other values, but neither panics nor values that contradict
// themselves.
func TestChangedBytesOfChunks(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 1))
	var into store.Vector
	for _, chunk := range samples(t) {
		for i := range chunk {
			bad := append([]byte{}, chunk...)
			bad[i] ^= byte(1 + rng.IntN(255))
			if _, err := DecodeChunk(bad, &into); !isRefusal(err) {
				t.Fatalf("byte %d of %d changed: %v", i, len(chunk), err)
			}
			if i < len(chunk)-sumBytes {
				tryDecode(t, seal(bad[:len(bad)-sumBytes], 0))
			}
		}
	}
}

// tryDecode decodes what may be anything, and looks at every row of it.
func tryDecode(t testing.TB, chunk []byte) {
	t.Helper()
	var into store.Vector
	rows, err := DecodeChunk(chunk, &into)
	if err != nil {
		if !isRefusal(err) {
			t.Fatal(err)
		}
		return
	}
	if rows > MaxRows || check(&into, rows) != nil {
		t.Fatalf("%d rows, %v", rows, check(&into, rows))
	}
	sameRows(t, &into, &into, 0, rows)
	volume := 0
	for i := range rows {
		if into.Type == store.ColumnText || into.Type == store.ColumnBytes {
			volume += textBytes(&into, i)
		}
	}
	if volume > MaxBytes {
		t.Fatalf("%d bytes of text", volume)
	}
	// What was decoded can be encoded.
	chunk, _, err = EncodeChunk(nil, &into, 0, rows)
	if err != nil {
		t.Fatal(err)
	}
	var again store.Vector
	if _, err := DecodeChunk(chunk, &again); err != nil {
		t.Fatal(err)
	}
	sameRows(t, &again, &into, 0, rows)
}

// Versions that this program does not know are refused by name.
func TestNewerVersions(t *testing.T) {
	newer := seal([]byte{version + 1, 0, 0, 0}, 0)
	var into store.Vector
	_, chunk := DecodeChunk(newer, &into)
	_, packed := DecodePacked(newer, nil, nil)
	_, header := ParseHeader(newer)
	for want, err := range map[string]error{"chunk": chunk, "packed block": packed, "block header": header} {
		var v *VersionError
		if !errors.Is(err, store.ErrNewerFormat) || !errors.As(err, &v) || v.What != want || v.Version != version+1 {
			t.Errorf("%s: %v", want, err)
		}
		if err != nil && !strings.Contains(err.Error(), want+" has format version 2") {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Decoding takes no memory where there is some already.
func TestMemoryIsUsedAgain(t *testing.T) {
	columns := newEvents(3).columns(MaxRows)
	chunks := encodeAll(t, columns, MaxRows)
	into := make([]store.Vector, len(chunks))
	var dst []byte
	decode := func() {
		for i, chunk := range chunks {
			if _, err := DecodeChunk(chunk, &into[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	encode := func() {
		for i := range columns {
			dst, _, _ = EncodeChunk(dst[:0], &columns[i], 0, MaxRows)
		}
	}
	decode()
	// A collection may empty the pools in between: then a few hundred.
	if n := testing.AllocsPerRun(20, decode); n > MaxRows/10 {
		t.Errorf("decoding allocates %.0f times", n)
	}
	encode()
	if n := testing.AllocsPerRun(20, encode); n > MaxRows/10 {
		t.Errorf("encoding allocates %.0f times", n)
	}
}
