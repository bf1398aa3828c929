package cell

import (
	"errors"
	"fmt"
	"strings"
)

// ErrIllegalArgument is matched by every error that says that a value is not
// one of the data model: a bad name, an empty row, a negative timestamp.
// Repeating the call cannot help.
var ErrIllegalArgument = errors.New("illegal argument")

// ArgumentError is the typed form; Text is what HBase's client says where it
// has a text for the fault.
type ArgumentError struct{ Text string }

func (e *ArgumentError) Error() string { return e.Text }

// Is makes errors.Is(err, ErrIllegalArgument) true.
func (e *ArgumentError) Is(target error) bool { return target == ErrIllegalArgument }

func illegal(format string, args ...any) error {
	return &ArgumentError{Text: fmt.Sprintf(format, args...)}
}

// Printable renders bytes as HBase's Bytes.toStringBinary: printable ASCII as it
// is, anything else as \xHH. Long values are cut after 128 bytes, with "...".
func Printable(b []byte) string {
	const limit = 128
	var s strings.Builder
	for i, c := range b {
		if i == limit {
			s.WriteString("...")
			break
		}
		if c >= ' ' && c <= '~' && c != '\\' {
			s.WriteByte(c)
		} else {
			fmt.Fprintf(&s, "\\x%02X", c)
		}
	}
	return s.String()
}
