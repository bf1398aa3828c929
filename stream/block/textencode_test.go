package block

import (
	"hash/maphash"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cellardb/cellar/store"
)

// Two values of one hash are two entries.
func TestHashesThatCollide(t *testing.T) {
	text := []byte("ab")
	enc := textEncoder{seed: maphash.MakeSeed(), slots: make([]uint32, 4)}
	h := maphash.Bytes(enc.seed, text[1:])
	enc.entries = []entry{{hash: h, from: 0, to: 1}}
	enc.slots[h&3] = 1
	for range 2 {
		if got := enc.code(text, 1, 2, 3); got != 1 || len(enc.entries) != 2 {
			t.Errorf("code %d of %d entries", got, len(enc.entries))
		}
	}
}

// Bytes are compressed where that saves an eighth, and otherwise left as they
// are, since reading them costs less.
func TestCompressionIsWorthIt(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 1))
	for _, c := range []struct {
		letters int
		want    string
	}{{200, "raw"}, {64, "zstd"}, {2, "zstd"}} {
		v := store.Vector{Type: store.ColumnBytes, Offsets: []uint32{0}}
		for range 500 {
			for range 40 {
				v.Bytes = append(v.Bytes, byte(rng.IntN(c.letters)))
			}
			v.Offsets = append(v.Offsets, uint32(len(v.Bytes)))
		}
		chunk, _ := roundTrip(t, &v, 0, 500)
		if told := describe(chunk); !strings.HasSuffix(told, c.want) {
			t.Errorf("%d letters: %s, want %s", c.letters, told, c.want)
		}
	}
}
