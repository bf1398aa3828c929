package server

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// Bytes is a size in bytes. As text it is a number with a unit: 512MiB, 1GiB,
// 64KB; without a unit, bytes.
type Bytes int64

// Units of sizes.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
)

// String gives the size with the largest binary unit that divides it, so that
// it reads back as the same number; bytes if none does.
func (b Bytes) String() string {
	for _, u := range []struct {
		size Bytes
		name string
	}{{GiB, "GiB"}, {MiB, "MiB"}, {KiB, "KiB"}} {
		if b != 0 && b%u.size == 0 {
			return strconv.FormatInt(int64(b/u.size), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

// Human gives the size rounded, for people to read.
func (b Bytes) Human() string { return humanize.IBytes(uint64(max(b, 0))) }

// MarshalText is String.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads a size.
func (b *Bytes) UnmarshalText(text []byte) error {
	n, err := humanize.ParseBytes(strings.TrimSpace(string(text)))
	if err != nil || n > math.MaxInt64 {
		return fmt.Errorf("%q is not a size: write 512MiB, 1GiB or a number of bytes", text)
	}
	*b = Bytes(n)
	return nil
}
