package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cellardb/cellar/internal/shell"
)

// historyFile is in the user's state folder.
const historyFile = "cellar/shell-history"

// statePath is where programs keep what they remember for the user; empty: there
// is no such place.
func (a *app) statePath(name string) string {
	if dir := a.environment("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, name)
	}
	if home := a.environment("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", name)
	}
	return ""
}

// openHistory reads what was typed before, and keeps what will be: in a file
// that only the user can read, since values are in it. A history that cannot be
// kept is said once and is no reason not to talk.
func (a *app) openHistory() *shell.History {
	path := a.statePath(historyFile)
	if path == "" {
		return &shell.History{}
	}
	h, err := loadHistory(path)
	if err != nil {
		fmt.Fprintf(a.err, "cellar: commands will not be remembered: %v\n", err)
	}
	return h
}

func loadHistory(path string) (*shell.History, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return &shell.History{}, err
	}
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return &shell.History{}, err
	}
	h := shell.ReadHistory(string(text))
	if bytes.Count(text, []byte("\n")) > 2*len(h.Lines()) {
		if err := rewriteHistory(path, h); err != nil {
			return h, err
		}
	}
	h.Save = func(line string) {
		// What cannot be kept is gone at the end of the conversation; it is
		// still at hand until then.
		_ = appendHistory(path, line)
	}
	return h, appendHistory(path, "")
}

// appendHistory adds a line, in one write: several shells may do so at a time.
func appendHistory(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if line != "" {
		_, err = f.WriteString(line + "\n")
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// rewriteHistory drops what is older than what is kept.
func rewriteHistory(path string, h *shell.History) error {
	var b bytes.Buffer
	for _, line := range h.Lines() {
		fmt.Fprintln(&b, line)
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(b.Bytes())
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
