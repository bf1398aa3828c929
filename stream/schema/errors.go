package schema

import (
	"errors"
	"fmt"
)

// Refusals; what was asked for cannot be done, today or later.
var (
	// ErrInvalid: a definition breaks a rule by itself.
	ErrInvalid = errors.New("stream definition is not valid")
	// ErrIncompatible: a definition is fine, but a stream cannot become it.
	ErrIncompatible = errors.New("stream cannot change that way")
)

// kindError is a message that matches one of the errors above. The message does
// not repeat it: it says which field and which value, and that is enough.
type kindError struct {
	kind error
	text string
}

func (e *kindError) Error() string        { return e.text }
func (e *kindError) Is(target error) bool { return target == e.kind }

func invalid(format string, args ...any) error {
	return &kindError{ErrInvalid, fmt.Sprintf(format, args...)}
}

func incompatible(format string, args ...any) error {
	return &kindError{ErrIncompatible, fmt.Sprintf(format, args...)}
}
