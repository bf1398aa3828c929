package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Files of the data folder.
const (
	// runFile says which server runs on the folder.
	runFile = "cellar.run"
	// lockFile is locked as long as a server runs on the folder. It is never
	// removed: a lock on a file that has another name by now excludes nobody.
	lockFile = "cellar.lock"
	// storeDir is the engine's.
	storeDir = "store"
)

// Running describes a server that runs on a data folder. It is what cellar.run
// holds, as JSON.
type Running struct {
	PID     int       `json:"pid"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	// Data is the folder's absolute path.
	Data string `json:"data"`
	// Engine is the name of the storage engine.
	Engine string `json:"engine"`
	// Addresses by the names of the doors: "thrift1", "http".
	Addresses map[string]string `json:"addresses"`
	// Tool is the command that has the folder in place of a server, as
	// "import"; it has no addresses.
	Tool string `json:"tool,omitempty"`
}

// Errors of a data folder.
var (
	// ErrNotRunning: no server runs on the folder.
	ErrNotRunning = errors.New("no server is running")
	// ErrRunning: one does already. The error that is returned is a
	// RunningError.
	ErrRunning = errors.New("a server is running already")
)

// RunningError names the server, or the command, that has the data folder. It matches
// ErrRunning.
type RunningError struct {
	Data string
	// Server is nil where another process holds the folder without having said
	// who it is: it is just starting.
	Server *Running
}

func (e *RunningError) Error() string {
	if e.Server == nil {
		return fmt.Sprintf("%s is in use by another server, which is starting", e.Data)
	}
	if e.Server.Tool != "" {
		return fmt.Sprintf("%s is in use by cellar %s with process id %d, started %s",
			e.Data, e.Server.Tool, e.Server.PID, e.Server.Started.Format(time.DateTime))
	}
	return fmt.Sprintf("%s is in use by the server with process id %d, started %s, which listens on %s",
		e.Data, e.Server.PID, e.Server.Started.Format(time.DateTime), e.Server.AddressList())
}

// Is makes errors.Is(err, ErrRunning) true.
func (e *RunningError) Is(target error) bool { return target == ErrRunning }

// folder is a data folder that this process has for itself.
type folder struct {
	path string // absolute
	lock *os.File
}

// lockAttempts times lockPause is how long a server tries to get a folder.
// FindRunning shares the lock for a moment, which must not stop a start.
const (
	lockAttempts = 10
	lockPause    = 20 * time.Millisecond
)

// openFolder creates the folder if need be and takes its lock. The error is a
// RunningError if a server has it.
func openFolder(path string) (*folder, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find data folder: %w", err)
	}
	if err := os.MkdirAll(path, 0o750); err != nil {
		return nil, fmt.Errorf("create data folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, fmt.Errorf("open lock of data folder: %w", err)
	}
	ok, err := lockSoon(f, func() { time.Sleep(lockPause) })
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock data folder %s: %w", path, err)
	}
	if ok {
		return newFolder(path, f)
	}
	f.Close()
	r, _ := readRunFile(path) // best effort: it only makes the error say more
	return nil, &RunningError{Data: path, Server: r}
}

// lockSoon tries to take the lock, with pauses.
func lockSoon(f *os.File, pause func()) (bool, error) {
	for range lockAttempts {
		if ok, err := tryLock(f); ok || err != nil {
			return ok, err
		}
		pause()
	}
	return false, nil
}

// newFolder takes away what a server left here that was killed, so that nobody
// takes it for this one while this one starts.
func newFolder(path string, lock *os.File) (*folder, error) {
	f := &folder{path: path, lock: lock}
	if err := f.withdraw(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return f, nil
}

// announce writes who runs on the folder. Readers see the old file or the new
// one, never half of one.
func (f *folder) announce(r *Running) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", runFile, err)
	}
	name := filepath.Join(f.path, runFile)
	if err := os.WriteFile(name+".new", append(text, '\n'), 0o640); err != nil {
		return fmt.Errorf("write %s: %w", runFile, err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		return fmt.Errorf("write %s: %w", runFile, err)
	}
	return nil
}

// withdraw takes the announcement back.
func (f *folder) withdraw() error {
	err := os.Remove(filepath.Join(f.path, runFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", runFile, err)
	}
	return nil
}

// close withdraws the announcement and gives the folder up.
func (f *folder) close() error { return errors.Join(f.withdraw(), f.lock.Close()) }

// FindRunning finds the server that runs on a data folder. What a server left
// that was killed is recognised as stale: the answer is ErrNotRunning, as for a
// folder that does not exist. A server that is just starting has not said its
// addresses yet: the answer is a RunningError without them.
func FindRunning(data string) (*Running, error) {
	data, err := filepath.Abs(data)
	if err != nil {
		return nil, fmt.Errorf("find data folder: %w", err)
	}
	f, err := os.Open(filepath.Join(data, lockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w on %s", ErrNotRunning, data)
	}
	if err != nil {
		return nil, fmt.Errorf("look for a server: %w", err)
	}
	defer f.Close()
	free, err := tryShared(f)
	if err != nil {
		return nil, fmt.Errorf("look for a server on %s: %w", data, err)
	}
	if free {
		return nil, fmt.Errorf("%w on %s", ErrNotRunning, data)
	}
	r, err := readRunFile(data)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &RunningError{Data: data}
	}
	return r, err
}

func readRunFile(data string) (*Running, error) {
	name := filepath.Join(data, runFile)
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read who runs: %w", err)
	}
	r := &Running{}
	if err := json.Unmarshal(text, r); err != nil || r.PID <= 0 {
		return nil, fmt.Errorf("read who runs: %s is damaged: remove it", name)
	}
	return r, nil
}
