package crash

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cellardb/cellar/test/child"
	"github.com/cellardb/cellar/test/plainthrift"
)

// cellar runs a command to its end.
func cellar(t *testing.T, args ...string) (out []byte, err error) {
	t.Helper()
	return command(t, args...).Output()
}

func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	bin, err := child.Binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, args...)
	cmd.Stderr = os.Stderr
	return cmd
}

// taken is a backup, and what was acknowledged when it began and when it ended,
// as the number of calls of each writer.
type taken struct {
	path          string
	before, after []int
}

// TestBackupHasWhatWasAcknowledged takes backups at random moments while ten
// writers write, and restores each: every writer's rows are as they were after
// one of its calls, not before the last one that was acknowledged when the
// backup began, and not after the one that was under way when it ended.
func TestBackupHasWhatWasAcknowledged(t *testing.T) {
	if testing.Short() {
		t.Skip("not one of the quick tests")
	}
	data, logs, backups := t.TempDir(), t.TempDir(), t.TempDir()
	server := child.Start(t, data, "--memory", "512MiB")
	createTable(t, server.Thrift1)
	all := newWriters(t, logs)
	var running sync.WaitGroup
	for _, w := range all {
		running.Go(func() {
			var refused *plainthrift.Refused
			if err := w.run(server.Thrift1); errors.As(err, &refused) {
				t.Errorf("writer %d was refused: %v", w.id, err)
			}
		})
	}
	var list []taken
	for round := range rounds() {
		// The moment of the backup is what is random here.
		time.Sleep(100*time.Millisecond + time.Duration(rand.Int64N(int64(900*time.Millisecond))))
		if round > 0 {
			compact(t, server.Thrift1) // some of it is in files
		}
		list = append(list, takeBackup(t, data, backups, all, round, list))
	}
	server.Kill()
	running.Wait()
	for _, b := range list {
		checkBackup(t, b, all)
	}
	if len(list) != rounds() {
		t.Errorf("%d backups", len(list))
	}
}

func compact(t *testing.T, addr string) {
	t.Helper()
	c, err := plainthrift.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Do("majorCompact", plainthrift.Bytes(tableName)); err != nil {
		t.Fatal(err)
	}
}

// takeBackup makes one: into a folder, as a stream, into a folder upon an
// earlier one.
func takeBackup(t *testing.T, data, backups string, all []*writer, round int, earlier []taken) taken {
	t.Helper()
	b := taken{path: filepath.Join(backups, fmt.Sprintf("b%d", round)), before: acknowledged(t, all)}
	var err error
	switch {
	case round%3 == 1:
		var tar []byte
		b.path += ".tar"
		if tar, err = cellar(t, "backup", "-", "--data", data, "--rate", "off"); err == nil {
			err = os.WriteFile(b.path, tar, 0o600)
		}
	case round%3 == 2:
		_, err = cellar(t, "backup", b.path, "--data", data, "--base", earlier[round-2].path)
	default:
		_, err = cellar(t, "backup", b.path, "--data", data)
	}
	if err != nil {
		t.Fatalf("backup %d: %v", round, err)
	}
	b.after = acknowledged(t, all)
	return b
}

// acknowledged counts the calls in each writer's log.
func acknowledged(t *testing.T, all []*writer) []int {
	t.Helper()
	var counts []int
	for _, w := range all {
		text, err := os.ReadFile(w.log.Name())
		if err != nil {
			t.Fatal(err)
		}
		counts = append(counts, bytes.Count(text, []byte("\n")))
	}
	return counts
}

// calls reads all calls of a writer, with the one that was not answered.
func calls(t *testing.T, w *writer) []op {
	t.Helper()
	f, err := os.Open(w.log.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []op
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		number, err := strconv.Atoi(fields[0])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, op{fields[1:], number})
	}
	if len(w.pending.rows) > 0 {
		all = append(all, w.pending)
	}
	return all
}

// checkBackup restores a backup, verifies it, serves it and compares.
func checkBackup(t *testing.T, b taken, all []*writer) {
	t.Helper()
	data := filepath.Join(t.TempDir(), "restored")
	if out, err := cellar(t, "restore", b.path, "--data", data); err != nil {
		t.Fatalf("restore %s: %v: %s", b.path, err, out)
	}
	if out, err := cellar(t, "verify", "--data", data); err != nil {
		t.Fatalf("verify %s: %v: %s", b.path, err, out)
	}
	server := child.Start(t, data, "--memory", "512MiB")
	defer server.Kill()
	c, err := plainthrift.Dial(server.Thrift1)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	found := make([]map[string]int, len(all))
	counted := make([]int64, len(all))
	for i := range found {
		found[i] = map[string]int{}
	}
	err = c.Scan(tableName, func(r plainthrift.RowResult) error {
		if id, ok := strings.CutPrefix(r.Key, counterPrefix); ok {
			i, err := strconv.Atoi(id)
			if err == nil {
				counted[i] = int64(binary.BigEndian.Uint64([]byte(r.Columns["f1:n"])))
			}
			return err
		}
		number, err := numberOf(r.Key, r.Columns)
		if err != nil {
			return err
		}
		var random, id int
		if _, err := fmt.Sscanf(r.Key, "%x-w%d-", &random, &id); err != nil {
			return fmt.Errorf("row %s is of nobody", r.Key)
		}
		found[id][r.Key] = number
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", b.path, err)
	}
	for i, w := range all {
		compareWriter(t, b, w, b.before[i], b.after[i], found[i], counted[i])
	}
}

// compareWriter finds the call after which the writer's rows were as they are.
func compareWriter(t *testing.T, b taken, w *writer, before, after int, found map[string]int, counted int64) {
	t.Helper()
	state := map[string]int{}
	made := calls(t, w)
	matched := -1
	for n := 0; n <= min(after+1, len(made)); n++ {
		if n > 0 {
			for _, row := range made[n-1].rows {
				state[row] = made[n-1].number
				if made[n-1].number == deleted {
					delete(state, row)
				}
			}
		}
		if n >= before && maps.Equal(state, found) {
			matched = n
		}
	}
	if matched < 0 {
		t.Errorf("%s: the %d rows of writer %d are as after no call from %d to %d", b.path, len(found), w.id, before, after+1)
	}
	// The counter is raised after call 7, 15, 23 and so on.
	if low, high := int64(before/8), int64((after+2)/8)+1; counted < low || counted > high {
		t.Errorf("%s: the counter of writer %d is %d, and should be from %d to %d", b.path, w.id, counted, low, high)
	}
}

// What compareWriter looks for is found: were it to take anything, this would
// tell.
func TestCompareWriterFindsFaults(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	w, err := newWriter(0, log)
	if err != nil {
		t.Fatal(err)
	}
	defer w.log.Close()
	for _, o := range []op{{[]string{"a", "b"}, 1}, {[]string{"c"}, 2}, {[]string{"a"}, deleted}, {[]string{"b"}, 4}} {
		if err := w.acknowledge(o); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		found map[string]int
		ok    bool
	}{
		"as when it began":      {map[string]int{"a": 1, "b": 1, "c": 2}, true},
		"as while it was made":  {map[string]int{"b": 1, "c": 2}, true},
		"as after the next":     {map[string]int{"b": 4, "c": 2}, true},
		"one lost":              {map[string]int{"a": 1, "b": 1}, false},
		"one call, half":        {map[string]int{"a": 1, "c": 2}, false},
		"a later without the":   {map[string]int{"a": 1, "b": 4, "c": 2}, false},
		"one that nobody wrote": {map[string]int{"a": 1, "b": 1, "c": 2, "x": 1}, false},
	}
	for name, c := range cases {
		probe := &testing.T{}
		compareWriter(probe, taken{path: name}, w, 2, 3, c.found, 0)
		if probe.Failed() == c.ok {
			t.Errorf("%s: failed %v", name, probe.Failed())
		}
	}
	if len(cases) != 7 {
		t.Errorf("%d cases", len(cases))
	}
}

// TestKilledDuringBackup kills the server while it makes a backup: what is left
// is named and not restored, the store is whole, and the next backup is made.
func TestKilledDuringBackup(t *testing.T) {
	if testing.Short() {
		t.Skip("not one of the quick tests")
	}
	data, backups := t.TempDir(), t.TempDir()
	server := child.Start(t, data, "--memory", "512MiB")
	createTable(t, server.Thrift1)
	c, err := plainthrift.Dial(server.Thrift1)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	w, err := newWriter(0, filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.log.Close()
	for range 1000 {
		if err := w.do(c, w.newRows(1, 20)); err != nil {
			t.Fatal(err)
		}
	}
	// 20 MB at 1 MiB a second: it is not done before the kill.
	dir, tar := filepath.Join(backups, "folder"), filepath.Join(backups, "stream.tar")
	slow := command(t, "backup", dir, "--data", data, "--rate", "1MiB")
	slow.Stderr = nil
	if err := slow.Start(); err != nil {
		t.Fatal(err)
	}
	awaitFile(t, dir+".partial")
	server.Kill()
	if err := slow.Wait(); err == nil {
		t.Error("a backup whose server was killed is made")
	}
	for _, path := range []string{dir, dir + ".partial"} {
		if out, err := quiet(t, "restore", path, "--data", filepath.Join(backups, "restored")); err == nil {
			t.Errorf("%s is restored: %s", path, out)
		}
	}

	server = child.Start(t, data, "--memory", "512MiB")
	if _, err := os.Stat(filepath.Join(data, "backup.tmp")); err == nil {
		t.Error("the links of the backup are left after a start")
	}
	out, err := os.Create(tar)
	if err != nil {
		t.Fatal(err)
	}
	stream := command(t, "backup", "-", "--data", data, "--rate", "1MiB")
	stream.Stderr, stream.Stdout = nil, out
	if err := stream.Start(); err != nil {
		t.Fatal(err)
	}
	awaitFile(t, filepath.Join(data, "backup.tmp"))
	server.Kill()
	if err := errors.Join(stream.Wait(), out.Close()); err == nil {
		t.Error("a stream whose server was killed is made")
	}
	if out, err := quiet(t, "restore", tar, "--data", filepath.Join(backups, "restored")); err == nil {
		t.Errorf("a cut stream is restored: %s", out)
	}

	if out, err := quiet(t, "backup", dir, "--data", data); err == nil || !strings.Contains(string(out), "folder.partial") {
		t.Errorf("what is left is not named: %v %s", err, out)
	}
	if out, err := quiet(t, "backup", dir, "--data", data, "--discard"); err != nil {
		t.Fatalf("the next backup: %v %s", err, out)
	}
	if out, err := quiet(t, "restore", dir, "--data", filepath.Join(backups, "restored")); err != nil {
		t.Errorf("the next backup is not restored: %v %s", err, out)
	}
}

// quiet runs a command that may fail, and gives all it says.
func quiet(t *testing.T, args ...string) ([]byte, error) {
	t.Helper()
	cmd := command(t, args...)
	cmd.Stderr = nil
	return cmd.CombinedOutput()
}

// awaitFile waits until something has a name.
func awaitFile(t *testing.T, path string) {
	t.Helper()
	for late := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("%s is not made", path)
		}
	}
}
