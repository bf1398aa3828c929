package tabimport

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// state is how far an import is, as its file holds it: all rows before Position
// are durable.
type state struct {
	Version  int        `json:"version"`
	Settings settings   `json:"settings"`
	Files    []identity `json:"files"`
	Position position   `json:"position"`
	Rows     int64      `json:"rows"`
	Bad      int64      `json:"bad"`
	// BadBytes is the size of the file of bad lines at Position.
	BadBytes int64 `json:"bad_bytes"`
}

// settings are what decides which rows an input makes, and where they go: an
// import can be resumed only with the same ones.
type settings struct {
	Target    string `json:"target"`
	Table     string `json:"table"`
	Columns   string `json:"columns"`
	Format    Format `json:"format"`
	Separator string `json:"separator"`
	Quote     string `json:"quote"`
	Header    bool   `json:"header"`
	SkipEmpty bool   `json:"skip_empty"`
	Null      string `json:"null"`
	BadFile   string `json:"bad_file"`
	MaxLine   int    `json:"max_line"`
	// Timestamp in ms: of the first start.
	Timestamp int64 `json:"timestamp"`
}

// position is a place between two records.
type position struct {
	File int `json:"file"` // index; the number of files: the end
	// Offset in bytes of what is unpacked, and the number of the line there.
	Offset int64 `json:"offset"`
	Line   int64 `json:"line"`
}

const stateVersion = 1

// Errors of resuming.
var (
	// ErrUnfinished: an earlier import left a state, and Options say neither to
	// resume nor to begin anew.
	ErrUnfinished = errors.New("an earlier import was not finished")
	// ErrNoState: there is nothing to resume.
	ErrNoState = errors.New("there is no import to resume")
	// ErrChanged: files or options are not what the import began with.
	ErrChanged = errors.New("the import to resume was another one")
)

// readState reads a state file. A missing one is fs.ErrNotExist.
func readState(name string) (*state, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the state of the import: %w", err)
	}
	s := &state{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("read the state of the import: %s is damaged: %w", name, err)
	}
	if s.Version != stateVersion {
		return nil, fmt.Errorf("read the state of the import: %s has version %d, want %d", name, s.Version, stateVersion)
	}
	p := s.Position
	if p.File < 0 || p.File > len(s.Files) || p.Offset < 0 || p.Line < 1 || s.BadBytes < 0 {
		return nil, fmt.Errorf("read the state of the import: %s is damaged", name)
	}
	return s, nil
}

// write replaces the state file at once: whatever happens, the old one or the
// new one is there, whole.
func (s *state) write(name string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the state of the import: %w", err)
	}
	f, err := os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o640)
	if err != nil {
		return fmt.Errorf("write the state of the import: %w", err)
	}
	_, err = f.Write(append(text, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(name+".new", name)
	}
	if err == nil {
		err = syncFolder(filepath.Dir(name))
	}
	if err != nil {
		return fmt.Errorf("write the state of the import: %w", err)
	}
	return nil
}

func syncFolder(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// removeState takes a state away that is of no use any more.
func removeState(name string) error {
	if name == "" {
		return nil
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the state of the import: %w", err)
	}
	return nil
}

// match says whether a state is of this import.
func (s *state) match(now settings, files []identity) error {
	if now.Timestamp == 0 {
		now.Timestamp = s.Settings.Timestamp
	}
	for _, c := range []struct {
		what      string
		then, now any
	}{
		{"target", s.Settings.Target, now.Target},
		{"table", s.Settings.Table, now.Table},
		{"mapping of columns", s.Settings.Columns, now.Columns},
		{"format", s.Settings.Format, now.Format},
		{"separator", s.Settings.Separator, now.Separator},
		{"quote", s.Settings.Quote, now.Quote},
		{"header", s.Settings.Header, now.Header},
		{"leaving out of empty fields", s.Settings.SkipEmpty, now.SkipEmpty},
		{"text for what is not there", s.Settings.Null, now.Null},
		{"file of bad lines", s.Settings.BadFile, now.BadFile},
		{"longest line", s.Settings.MaxLine, now.MaxLine},
		{"timestamp", s.Settings.Timestamp, now.Timestamp},
		{"number of files", len(s.Files), len(files)},
	} {
		if c.then != c.now {
			return fmt.Errorf("%w: its %s was %v, and now is %v", ErrChanged, c.what, c.then, c.now)
		}
	}
	for i := range files {
		if d := files[i].difference(&s.Files[i]); d != "" {
			return fmt.Errorf("%w: %s is not as it was: %s", ErrChanged, files[i].Name, d)
		}
	}
	return nil
}
