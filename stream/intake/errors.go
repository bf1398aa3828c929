package intake

import (
	"errors"
	"fmt"
)

// Errors of a whole body.
var (
	// ErrCutOff: the body ends in the middle of a record, or of the array.
	ErrCutOff = errors.New("body ends in the middle")
	// ErrSyntax: the body is not in the format, so that records cannot be told
	// apart. It is a *SyntaxError.
	ErrSyntax = errors.New("body cannot be read")
	// ErrTooLarge: the events would take too much memory; fewer at a time will do.
	ErrTooLarge = errors.New("too many events at once")
)

// SyntaxError says where a body stops being in its format. It matches ErrSyntax.
type SyntaxError struct {
	Offset int64 // of the byte, from 0
	Line   int   // from 1
	Record int   // index of the record, from 0
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, byte %d, record %d: %s", e.Line, e.Offset, e.Record, e.Reason)
}

// Is makes errors.Is(err, ErrSyntax) true.
func (e *SyntaxError) Is(target error) bool { return target == ErrSyntax }

// CutOffError says how far a body came that ends in the middle. It matches
// ErrCutOff, and the error that ended it if that was not its plain end.
type CutOffError struct {
	Offset int64 // bytes that came
	Record int   // index of the record that is not whole
	Err    error // of the reader; nil: the end
}

func (e *CutOffError) Error() string {
	text := fmt.Sprintf("body ends in the middle of record %d, after %d bytes", e.Record, e.Offset)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Is makes errors.Is(err, ErrCutOff) true.
func (e *CutOffError) Is(target error) bool { return target == ErrCutOff }

// Unwrap is the error of the reader.
func (e *CutOffError) Unwrap() error { return e.Err }
