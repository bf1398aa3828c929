package crash

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cellardb/cellar/test/child"
	"github.com/cellardb/cellar/test/plainthrift"
)

// hang is when a test gives up waiting for something that must come.
const hang = 3 * time.Minute

// TestImportKilled kills an import, as kill -9 does, some rows after it has put on
// record how far it is, resumes it, again and again, and looks at the whole table:
// each row is there once, with one version, since what is written twice has the
// timestamp of the first start.
func TestImportKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("not one of the quick tests")
	}
	t.Run("through a server", func(t *testing.T) {
		data := t.TempDir()
		server := child.Start(t, data, "--memory", "512MiB")
		createTable(t, server.Thrift1)
		total := killImports(t, "--addr", server.Thrift1)
		checkImported(t, server.Thrift1, total)
	})
	t.Run("into a folder", func(t *testing.T) {
		data := t.TempDir()
		server := child.Start(t, data, "--memory", "512MiB")
		createTable(t, server.Thrift1)
		if err := server.Stop(); err != nil {
			t.Fatal(err)
		}
		total := killImports(t, "--data", data, "--memory", "512MiB")
		server = child.Start(t, data, "--memory", "512MiB")
		checkImported(t, server.Thrift1, total)
	})
}

// importing is an import that runs and is fed through its standard input.
type importing struct {
	cmd    *exec.Cmd
	stderr strings.Builder
	fed    atomic.Int64 // rows
	ended  chan struct{}
	err    error
}

// startImport feeds rows until there are so many, or, with a negative number,
// until the import is killed.
//
// Rows that it has had before come at once, further ones at a pace that keeps the
// table small until the next time that progress is put on record.
func startImport(t *testing.T, rows, before int64, args []string) *importing {
	t.Helper()
	bin, err := child.Binary()
	if err != nil {
		t.Fatal(err)
	}
	im := &importing{ended: make(chan struct{})}
	im.cmd = exec.Command(bin, append([]string{"import", "table", tableName, "-", "--format", "csv", "--columns", "HBASE_ROW_KEY,f1:v"}, args...)...)
	im.cmd.Stderr = &im.stderr
	in, err := im.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := im.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		im.feed(in, rows, before)
	}()
	go func() {
		<-fed // the pipe is closed by Wait, which must not be before
		im.err = im.cmd.Wait()
		close(im.ended)
	}()
	t.Cleanup(im.kill)
	return im
}

func (im *importing) feed(in io.WriteCloser, rows, before int64) {
	defer in.Close()
	w := bufio.NewWriter(in)
	for i := int64(0); rows < 0 || i < rows; i++ {
		if _, err := fmt.Fprintf(w, "row%09d,\"value\n%d\"\n", i, i); err != nil {
			return
		}
		im.fed.Store(i + 1)
		if i >= before && i%200 == 0 {
			time.Sleep(5 * time.Millisecond)
		}
	}
	w.Flush() // an import that has ended says so itself
}

func (im *importing) kill() {
	im.cmd.Process.Kill()
	<-im.ended
}

// killImports kills and resumes imports of one input and lets the last one end. It
// answers how many rows there were.
func killImports(t *testing.T, args ...string) (total int64) {
	t.Helper()
	state := filepath.Join(t.TempDir(), "state")
	args = append(args, "--state", state)
	durable := int64(0)
	for round := range rounds() {
		im := startImport(t, -1, durable, args)
		now := awaitProgress(t, im, state, durable)
		extra := im.fed.Load() + rand.Int64N(5000)
		awaitFed(t, im, extra)
		im.kill()
		t.Logf("round %d: killed with %d rows on record, %d more than before, and %d fed", round, now, now-durable, im.fed.Load())
		total = max(total, im.fed.Load())
		if durable = now; round == 0 {
			args = append(args, "--resume")
		}
	}
	im := startImport(t, total, total, args)
	select {
	case <-im.ended:
	case <-time.After(hang):
		t.Fatal("the last import does not end")
	}
	if im.err != nil {
		t.Fatalf("the last import: %v\n%s", im.err, im.stderr.String())
	}
	if _, err := os.Stat(state); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the state stays behind: %v", err)
	}
	return total
}

// awaitProgress waits until more rows are on record.
func awaitProgress(t *testing.T, im *importing, state string, before int64) int64 {
	t.Helper()
	var now struct{ Rows int64 }
	await(t, im, func() bool {
		text, err := os.ReadFile(state)
		if errors.Is(err, os.ErrNotExist) {
			return false
		}
		if err == nil {
			err = json.Unmarshal(text, &now)
		}
		if err != nil {
			t.Fatalf("the state: %v", err)
		}
		return now.Rows > before
	})
	return now.Rows
}

func awaitFed(t *testing.T, im *importing, rows int64) {
	t.Helper()
	await(t, im, func() bool { return im.fed.Load() >= rows })
}

func await(t *testing.T, im *importing, done func() bool) {
	t.Helper()
	for end := time.Now().Add(hang); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if done() {
			return
		}
		select {
		case <-im.ended:
			t.Fatalf("the import ended by itself: %v\n%s", im.err, im.stderr.String())
		default:
		}
	}
	t.Fatal("the import does not go on")
}

// checkImported compares the table with what was fed.
func checkImported(t *testing.T, addr string, total int64) {
	t.Helper()
	c, err := plainthrift.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	next := int64(0)
	err = c.Scan(tableName, func(r plainthrift.RowResult) error {
		key, value := fmt.Sprintf("row%09d", next), fmt.Sprintf("value\n%d", next)
		if r.Key != key || len(r.Columns) != 1 || r.Columns["f1:v"] != value {
			return fmt.Errorf("row %q is %q, want row %q with %q", r.Key, r.Columns, key, value)
		}
		next++
		return nil
	})
	if err != nil || next != total {
		t.Fatalf("%d rows are there, want %d; %v", next, total, err)
	}
	for range 1000 {
		row := fmt.Sprintf("row%09d", rand.Int64N(total))
		versions, err := c.Do("getVer", plainthrift.Bytes(tableName), plainthrift.Bytes(row), plainthrift.Bytes("f1:v"), plainthrift.I32(3), plainthrift.NoAttributes())
		if err != nil {
			t.Fatal(err)
		}
		if list, ok := versions.([]any); !ok || len(list) != 1 {
			t.Fatalf("row %s has the versions %v", row, versions)
		}
	}
}
