package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cellardb/cellar/internal/tabimport"
	"github.com/cellardb/cellar/store"
)

// An import that ended early says how to go on, where there is a state to go on
// with; that nobody can look at the state is said too, and so is what went wrong
// beside the signal that ended it.
func TestImport_explains(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "state")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const resume = "then the same command with --resume stores the rest"
	saved := fmt.Errorf("write the state of the import: %w", errors.New("it broke"))
	cases := []struct {
		name, state string
		err         error
		want, not   []string
	}{
		{"with a state", there, store.ErrDiskFull, []string{"make room", resume}, nil},
		{"none was written", filepath.Join(dir, "none"), store.ErrDiskFull, []string{"make room"}, []string{"resume", "state"}},
		{"none is kept", "", store.ErrDiskFull, []string{"make room"}, []string{"resume", "state"}},
		{"one that cannot be looked at", filepath.Join(there, "below a file"), store.ErrBusy,
			[]string{"busy", "nobody knows how far it is", "below a file: not a directory"}, []string{"resume"}},
		{"a signal", there, errors.Join(context.Canceled), []string{"the import was interrupted", resume}, []string{"canceled", "broke"}},
		{"a signal alone", there, context.Canceled, []string{"the import was interrupted", resume}, []string{"canceled"}},
		{"a signal, and more", there, errors.Join(context.Canceled, saved), []string{"the import was interrupted", "write the state of the import: it broke"}, []string{"canceled"}},
		{"too many", there, &tabimport.TooManyBadError{Bad: 2, Limit: 1}, []string{"--max-bad"}, nil},
	}
	for _, c := range cases {
		f := &importFlags{}
		f.State = c.state
		text := message(f.explain(c.err))
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q does not say %q", c.name, text, want)
			}
		}
		for _, not := range c.not {
			if strings.Contains(text, not) {
				t.Errorf("%s: %q says %q", c.name, text, not)
			}
		}
	}
	if len(cases) != 8 {
		t.Error("cases are missing")
	}
}
