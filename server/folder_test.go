package server

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestFolder_hasOneServer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	f, err := openFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = openFolder(dir)
	if !errors.Is(err, ErrRunning) || !strings.Contains(err.Error(), "is starting") {
		t.Errorf("second server before the first said who it is: %v", err)
	}
	if err := f.announce(&Running{PID: 4711, Data: dir, Addresses: map[string]string{"http": "h:1", "thrift1": "t:2"}}); err != nil {
		t.Fatal(err)
	}
	_, err = openFolder(dir)
	if !errors.Is(err, ErrRunning) || !strings.Contains(err.Error(), "4711") || !strings.Contains(err.Error(), "http h:1, thrift1 t:2") {
		t.Errorf("second server: %v", err)
	}
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, runFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s stays behind: %v", runFile, err)
	}
	f, err = openFolder(dir)
	if err != nil {
		t.Fatalf("after the first server ended: %v", err)
	}
	if err := f.close(); err != nil {
		t.Error(err)
	}
}

func TestFindRunning(t *testing.T) {
	dir := t.TempDir()
	find := func(want error, pid int) {
		t.Helper()
		r, err := FindRunning(dir)
		if !errors.Is(err, want) || (r != nil) != (pid != 0) || r != nil && r.PID != pid {
			t.Errorf("found %+v, %v; want process %d, %v", r, err, pid, want)
		}
	}
	find(ErrNotRunning, 0) // nothing there at all

	f, err := openFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	find(ErrRunning, 0) // starting
	if err := f.announce(&Running{PID: 7, Data: dir}); err != nil {
		t.Fatal(err)
	}
	find(nil, 7)

	// What a killed server leaves: the file, and no lock.
	f.lock.Close()
	find(ErrNotRunning, 0)
	f, err = openFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	find(ErrRunning, 0) // the next one starts; the file of the dead one is not its own
	if err := os.WriteFile(filepath.Join(dir, runFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := FindRunning(dir); err == nil || !strings.Contains(err.Error(), runFile) {
		t.Errorf("damaged file: %v", err)
	}
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	find(ErrNotRunning, 0)
}

// Looking for a server shares the lock for a moment; a server that starts then
// must not give up.
func TestFolder_opensWhileOthersLook(t *testing.T) {
	dir := t.TempDir()
	looker, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := tryShared(looker); !ok || err != nil {
		t.Fatal(ok, err)
	}
	own, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	pauses := 0
	ok, err := lockSoon(own, func() {
		if pauses++; pauses == lockAttempts-1 {
			looker.Close()
		}
	})
	if !ok || err != nil || pauses != lockAttempts-1 {
		t.Errorf("locked: %v, %v, after %d pauses", ok, err, pauses)
	}
}

// One that is held is given up at last.
func TestFolder_givesUp(t *testing.T) {
	name := filepath.Join(t.TempDir(), lockFile)
	var files [2]*os.File
	for i := range files {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	if ok, err := tryLock(files[0]); !ok || err != nil {
		t.Fatal(ok, err)
	}
	pauses := 0
	if ok, err := lockSoon(files[1], func() { pauses++ }); ok || err != nil || pauses != lockAttempts {
		t.Errorf("locked: %v, %v, after %d pauses", ok, err, pauses)
	}
}

// Whoever looks for a server is no server: many who look at once after one was
// killed find none.
func TestFindRunning_manyLookAtOnce(t *testing.T) {
	dir := t.TempDir()
	f, err := openFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.announce(&Running{PID: 4711, Data: dir}); err != nil {
		t.Fatal(err)
	}
	f.lock.Close() // killed
	looker, err := os.Open(filepath.Join(dir, lockFile))
	if err != nil {
		t.Fatal(err)
	}
	defer looker.Close()
	if ok, err := tryShared(looker); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if r, err := FindRunning(dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("beside another who looks: %+v, %v", r, err)
	}
	looker.Close()
	var looking sync.WaitGroup
	for range 4 {
		looking.Go(func() {
			for range 200 {
				if r, err := FindRunning(dir); !errors.Is(err, ErrNotRunning) {
					t.Errorf("one of many: %+v, %v", r, err)
					return
				}
			}
		})
	}
	looking.Wait()
}
