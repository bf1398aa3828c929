package oracle

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cellardb/cellar/cell"
)

// special are the bytes that have a meaning in scripts; they are written as %HH,
// like all that is not printable.
const special = "%:@=/,() "

// A timestamp between these is the server's clock: it is written as "now".
const (
	clockBegins = 1_600_000_000_000
	clockEnds   = 4_000_000_000_000
)

// decode reads %HH; everything else stands for itself. The result is not nil.
func decode(s string) []byte {
	out := []byte{}
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			out = append(out, s[i])
			continue
		}
		if i+3 > len(s) {
			panic(fault("%q ends within %%HH", s))
		}
		b, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			panic(fault("%q: %v", s, err))
		}
		out = append(out, byte(b))
		i += 2
	}
	return out
}

func encode(b []byte) string {
	var out strings.Builder
	for _, c := range b {
		if c < '!' || c > '~' || strings.IndexByte(special, c) >= 0 {
			fmt.Fprintf(&out, "%%%02X", c)
		} else {
			out.WriteByte(c)
		}
	}
	return out.String()
}

// result is a line of an answer.
func result(row []byte, cells []cell.Cell) string {
	var out strings.Builder
	out.WriteString(encode(row) + ":")
	for i := range cells {
		c := &cells[i]
		stamp := strconv.FormatInt(c.Timestamp, 10)
		if c.Timestamp > clockBegins && c.Timestamp < clockEnds {
			stamp = "now"
		}
		fmt.Fprintf(&out, " %s:%s@%s", encode(c.Family), encode(c.Qualifier), stamp)
		if c.Type.IsMarker() {
			out.WriteString("/" + c.Type.String())
		} else {
			out.WriteString("=" + encode(c.Value))
		}
	}
	return out.String()
}

func TestBytesInScripts(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	if got := decode(encode(all)); string(got) != string(all) {
		t.Errorf("%q", got)
	}
	if got := encode([]byte("a b%\xff(,)/:@=~")); got != "a%20b%25%FF%28%2C%29%2F%3A%40%3D~" {
		t.Error(got)
	}
}
