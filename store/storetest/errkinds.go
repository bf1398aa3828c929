package storetest

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
	"github.com/cellardb/cellar/store"
)

// kinds lists every value that errors of the contract are matched with.
func kinds() []error {
	return []error{
		store.ErrTableNotFound, store.ErrTableExists, store.ErrTableDisabled, store.ErrTableNotDisabled, store.ErrReadOnly,
		store.ErrNamespaceNotFound, store.ErrNamespaceExists, store.ErrNamespaceNotEmpty, store.ErrNoSuchFamily,
		store.ErrNotCounter, store.ErrCellTooLarge, store.ErrRowMismatch, store.ErrUnsupported,
		store.ErrNotServingRegion, store.ErrWrongRegion, store.ErrDiskFull, store.ErrBusy,
		store.ErrClosed, store.ErrLocked, store.ErrNewerFormat, store.ErrCorrupt,
		cell.ErrIllegalArgument, filter.ErrIncompatible, filter.ErrTooLarge, filter.ErrTooSlow, io.EOF, context.Canceled, context.DeadlineExceeded, ErrStopped,
	}
}

// errorKinds names the values that an error matches, so that errors of two
// engines can be compared whatever their texts are.
func errorKinds(err error) string {
	if err == nil {
		return "none"
	}
	var matched []string
	for _, kind := range kinds() {
		if errors.Is(err, kind) {
			matched = append(matched, kind.Error())
		}
	}
	if matched == nil {
		return "unknown error: " + err.Error()
	}
	return strings.Join(matched, ", ")
}
