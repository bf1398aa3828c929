package tabimport

import (
	"context"
	"errors"

	"github.com/cellardb/cellar/cell"
)

// Target is where rows go.
type Target interface {
	// Name tells one target from another, also in a later process.
	Name() string
	// CarriesTTL says whether rows may have a time to live.
	CarriesTTL() bool
	// Prepare finds the table, or makes it with these families if it is to be
	// created.
	Prepare(ctx context.Context, table string, families []string, create bool) error
	// Lane opens a way in, which one goroutine uses. Rows of one lane are
	// applied in order.
	Lane(table string) Lane
}

// Lane is a way into a target.
type Lane interface {
	// Write stores rows durably; each is a put at explicit timestamps, so that
	// doing it again changes nothing. A *store.BatchError names rows that were
	// refused; the others are stored. Errors that match store.ErrBusy,
	// store.ErrDiskFull or ErrLost may pass; then any of the rows may be
	// stored. After others there is no sense in going on.
	Write(ctx context.Context, rows []cell.Mutation) error
	Close() error
}

// ErrLost says that the target cannot be reached, for now.
var ErrLost = errors.New("the connection is lost")
