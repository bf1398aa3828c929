package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/cellardb/cellar/cell"
)

// ErrOlderFormat says that a store has to be upgraded before this program opens
// it.
var ErrOlderFormat = errors.New("store has an older format")

// Checkpointer is an engine that can be copied while it is written to.
type Checkpointer interface {
	// Checkpoint makes the folder dir, which must not exist, and puts into it a
	// store as of one moment of the call: whatever was acknowledged before the
	// call, of any durability, and a prefix of what is applied during it, each
	// call of Apply whole or not at all. Files that never change are hard links
	// where the file system allows it, else copies. All is on stable storage
	// when it returns; after an error nothing is left of the folder.
	Checkpoint(ctx context.Context, dir string) error
}

// Verifier is an engine that can look at all it has stored.
type Verifier interface {
	// Verify reads the store whole and tells of each fault by o.Found; faults do
	// not end it and are no error of the call. The report counts what was
	// looked at. An error says that the look itself could not be finished.
	Verify(ctx context.Context, o VerifyOptions) (VerifyReport, error)
}

// VerifyOptions direct a look at a store.
type VerifyOptions struct {
	// Found is told of each fault, at once, from one goroutine. Nil: faults are
	// only counted.
	Found func(Fault)
	// Progress is told how many bytes of how many were read, every MiB or so; it
	// may wait, which paces the look. Its error ends it. Nil: nobody is told.
	Progress func(done, total int64) error
	// ReadOnly leaves the folder of a closed store as it is: no lock is taken in
	// it. The caller knows that nobody opens the store meanwhile.
	ReadOnly bool
}

// FaultKind says how sure a fault is.
type FaultKind string

// Kinds of faults.
const (
	// FaultDamage: bytes are not what was written, or what they say cannot be.
	FaultDamage FaultKind = "damage"
	// FaultUnfinished: a file ends inside a record. A crash leaves that, and so
	// does damage of the last record: the bytes do not tell which.
	FaultUnfinished FaultKind = "unfinished"
	// FaultNote: something is worth to be known and is no fault.
	FaultNote FaultKind = "note"
)

// Fault is one thing that is wrong with a store.
type Fault struct {
	Kind FaultKind `json:"kind"`
	// File is the path of the file; empty where no single file is meant.
	File string `json:"file,omitempty"`
	// Offset in the file, in bytes; -1: the file as a whole.
	Offset int64 `json:"offset"`
	// What is wrong, as a sentence without its end.
	What string `json:"what"`
	// Table is the name of the table that lost by it; empty: none or not known.
	Table string `json:"table,omitempty"`
	// First and Last are the rows between which cells are affected, both
	// inclusive, as HBase's shell prints bytes; empty: not known.
	First string `json:"first_row,omitempty"`
	Last  string `json:"last_row,omitempty"`
}

// String is one line about the fault.
func (f *Fault) String() string {
	text := string(f.Kind) + ": "
	if f.File != "" {
		text += f.File + ": "
	}
	if f.Offset >= 0 {
		text += fmt.Sprintf("at offset %d: ", f.Offset)
	}
	text += f.What
	if f.Table != "" {
		text += fmt.Sprintf(" (table %s", f.Table)
		if f.First != "" || f.Last != "" {
			text += fmt.Sprintf(", rows %q to %q", f.First, f.Last)
		}
		text += ")"
	}
	return text
}

// SetRows names the affected rows.
func (f *Fault) SetRows(first, last []byte) {
	f.First, f.Last = cell.Printable(first), cell.Printable(last)
}

// VerifyReport counts what a look at a store has seen.
type VerifyReport struct {
	Files  int   `json:"files"`
	Bytes  int64 `json:"bytes"`
	Tables int   `json:"tables"`
	// Cells are those stored, markers and masked ones too, each once.
	Cells int64 `json:"cells"`
	// Damaged, Unfinished and Notes count the faults by kind.
	Damaged    int `json:"damaged"`
	Unfinished int `json:"unfinished"`
	Notes      int `json:"notes"`
}

// Sound says that nothing is wrong.
func (r *VerifyReport) Sound() bool { return r.Damaged == 0 && r.Unfinished == 0 }

// Count counts a fault.
func (r *VerifyReport) Count(k FaultKind) {
	switch k {
	case FaultDamage:
		r.Damaged++
	case FaultUnfinished:
		r.Unfinished++
	default:
		r.Notes++
	}
}

// CheckpointerOf gives the engine's ability to be copied; the error matches
// ErrUnsupported where it has none.
func CheckpointerOf(s Store) (Checkpointer, error) {
	if c, ok := s.(Checkpointer); ok {
		return c, nil
	}
	return nil, fmt.Errorf("%w: this engine keeps nothing that could be backed up", ErrUnsupported)
}

// VerifierOf gives the engine's ability to look at all it has stored; the error
// matches ErrUnsupported where it has none.
func VerifierOf(s Store) (Verifier, error) {
	if v, ok := s.(Verifier); ok {
		return v, nil
	}
	return nil, fmt.Errorf("%w: this engine keeps nothing that could be verified", ErrUnsupported)
}
