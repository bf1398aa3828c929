package attribute

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// Escape renders bytes as HBase's tools print them: printable ASCII as it is,
// anything else, and the backslash, as \xHH. Unescape reads it.
func Escape(b []byte) string {
	plain := true
	for _, c := range b {
		plain = plain && isPlain(c)
	}
	if plain {
		return string(b)
	}
	var s strings.Builder
	for _, c := range b {
		if isPlain(c) {
			s.WriteByte(c)
		} else {
			fmt.Fprintf(&s, "\\x%02X", c)
		}
	}
	return s.String()
}

func isPlain(c byte) bool { return c >= ' ' && c <= '~' && c != '\\' }

// Unescape reads what Escape wrote. Bytes that Escape would have escaped may be
// there as they are; a backslash that begins no \xHH is an error.
func Unescape(s string) ([]byte, error) {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		if i+4 > len(s) || s[i+1] != 'x' {
			return nil, fmt.Errorf("a backslash begins no \\xHH at byte %d: write a backslash itself as \\x5C", i)
		}
		b, err := hex.DecodeString(s[i+2 : i+4])
		if err != nil {
			return nil, fmt.Errorf("%q is no \\xHH at byte %d", s[i:i+4], i)
		}
		out = append(out, b[0])
		i += 3
	}
	return out, nil
}
