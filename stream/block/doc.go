// Package block turns columns into bytes and back: the chunks of a block of
// events (one column of up to MaxRows rows each), the header that describes a
// block, and the packed form of a small block, all columns in one piece. It
// knows no store, no stream and no clock: bytes in, columns out.
//
// What it promises:
//
//   - Every value comes back with the bits that it had: NaN payloads, -0,
//     infinities, text that is not UTF-8. Rows that are null come back null;
//     the value that stood beneath the null is not kept and comes back zero.
//   - The same columns give the same bytes, except where a general compressor
//     of another version makes others of the same meaning.
//   - Bytes are hostile. Whatever they are, the answer is a value or an error
//     that matches store.ErrCorrupt or store.ErrNewerFormat, never a panic,
//     and memory stays within MaxRows and MaxBytes a column.
//   - The functions may be called from any number of goroutines. They keep
//     nothing of what they are given, and what they give shares no memory with
//     the bytes they read.
//
// The bytes are documented in docs/internals/format/stream-block.md. Whatever
// changes them needs a new version number; the files in testdata hold old
// bytes that must stay readable.
package block

import (
	"errors"
	"fmt"

	"github.com/cellardb/cellar/store"
)

const (
	// MaxRows is the most rows that a chunk, and so a block, has.
	MaxRows = 8192
	// PackedRows is where blocks begin to be stored a chunk a column; with
	// fewer rows the packed form is smaller and faster. It is advice: both
	// forms hold 0 to MaxRows rows.
	PackedRows = 512
	// TargetBytes is the text or bytes in one column that Fit puts into a
	// block at most, unless a single row has more.
	TargetBytes = 1 << 20
	// MaxBytes is the most text or bytes, before compression, that a chunk may
	// hold, and that its rows may stand for if values repeat.
	MaxBytes = 16 << 20
	// MaxColumns is the most columns of a block.
	MaxColumns = 4096
)

// version is the first byte of chunks, packed blocks and headers.
const version = 1

// Refusals of the encoders: the caller cuts the rows differently (Fit), or
// gives vectors whose slices agree with each other.
var (
	ErrTooLarge  = errors.New("rows do not fit a block")
	ErrBadVector = errors.New("vector contradicts itself")
)

// CorruptError says what is wrong with bytes and at which of them it was seen.
// It matches store.ErrCorrupt.
type CorruptError struct {
	What   string
	Offset int
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("stream block is damaged at byte %d: %s", e.Offset, e.What)
}

// Is makes errors.Is(err, store.ErrCorrupt) true.
func (e *CorruptError) Is(target error) bool { return target == store.ErrCorrupt }

// VersionError names a version that this program does not know: a later one
// wrote the bytes. It matches store.ErrNewerFormat.
type VersionError struct {
	What    string // "chunk", "packed block" or "block header"
	Version byte
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s has format version %d, this program reads up to %d: upgrade it", e.What, e.Version, version)
}

// Is makes errors.Is(err, store.ErrNewerFormat) true.
func (e *VersionError) Is(target error) bool { return target == store.ErrNewerFormat }
