package pebble

import (
	"errors"
	"fmt"
	"os"
	"strings"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"github.com/cellardb/cellar/store"
)

// openError maps what Pebble says when it cannot open a store. Pebble has
// values for few of its reasons; what is left is damage of the files it names,
// unless the operating system refused.
func openError(err error) error {
	var path *os.PathError
	switch {
	case err == nil:
		return nil
	case pebbledb.IsCorruptionError(err):
		return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	case errors.As(err, &path) && errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w: a file is missing: %w", store.ErrCorrupt, err)
	case errors.As(err, &path):
		return err
	case strings.Contains(err.Error(), "format major version"):
		// Pebble's own format is newer than this Pebble.
		return fmt.Errorf("%w: %w", store.ErrNewerFormat, err)
	}
	return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
}
