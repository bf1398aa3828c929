//go:build linux

package pebble

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// fillerEnv makes the test binary the process that fills a disk; its value is
// the folder of the store.
const fillerEnv = "CELLAR_TEST_FILL_DISK"

// smallMount mounts a file system of 48 MB. Where that is not allowed the test
// is skipped: TestFullDisk..., TestBrimFullDisk... show the same by injection.
func smallMount(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("to mount a small file system takes root; full disks are tested by injection only")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=48m"); err != nil {
		t.Skipf("a small file system cannot be mounted here (%v); full disks are tested by injection only", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}

// fillReserve is below what a compaction takes here, so that the disk is filled
// to the brim at times, and not to the reserve only.
const fillReserve = 1 << 20

func openReal(dir string) (*Store, error) {
	return Open(context.Background(), Options{
		Dir: filepath.Join(dir, "store"), MemtableBytes: 4 << 20, CacheBytes: 4 << 20, DiskReserve: fillReserve, NoJanitor: true,
	})
}

// TestFillDiskProcess is no test: it is the process that the next one kills. It
// writes until writes are refused, tells on standard output which rows were
// acknowledged, takes the rest of the disk, and writes on when it is told to.
func TestFillDiskProcess(t *testing.T) {
	dir := os.Getenv(fillerEnv)
	if dir == "" {
		return
	}
	s, err := openReal(dir)
	if err != nil {
		t.Fatal(err)
	}
	createTables(t, s, "t")
	in := bufio.NewScanner(os.Stdin)
	n := writeUntilFull(t, s, 0)
	fmt.Println("full")
	for in.Scan() {
		switch in.Text() {
		case "again":
			n = writeUntilFull(t, s, n)
			fmt.Println("full")
		case "room":
			_, refused := s.Apply(context.Background(), "t", fillBatch(n))
			for errors.Is(refused, store.ErrDiskFull) {
				_ = sleep(context.Background(), diskEvery)
				_, refused = s.Apply(context.Background(), "t", fillBatch(n))
			}
			if refused != nil {
				t.Fatal(refused)
			}
			fmt.Println("ack", n)
			n++
			fmt.Println("admitted")
		}
	}
}

// fillBatch is row n: 20 KB that do not compress, the same at each call.
func fillBatch(n int) []cell.Mutation {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	value := make([]byte, 20_000)
	for i := 0; i < len(value); i += 8 {
		binary.LittleEndian.PutUint64(value[i:], r.Uint64())
	}
	return []cell.Mutation{*cell.NewMutation(fmt.Appendf(nil, "row-%06d", n)).Put([]byte("f"), []byte("q"), cell.Latest, value)}
}

func writeUntilFull(t *testing.T, s *Store, n int) int {
	for ; ; n++ {
		_, err := s.Apply(context.Background(), "t", fillBatch(n))
		if errors.Is(err, store.ErrDiskFull) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("ack", n)
	}
}

// filler is that process, as its parent sees it.
type filler struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.Writer
	lines *bufio.Scanner
	acked map[int]bool
}

func startFiller(t *testing.T, dir string) *filler {
	t.Helper()
	f := &filler{t: t, acked: map[int]bool{}}
	f.cmd = exec.Command(os.Args[0], "-test.run=^TestFillDiskProcess$")
	f.cmd.Env = append(os.Environ(), fillerEnv+"="+dir)
	f.cmd.Stderr = os.Stderr
	in, err := f.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	f.in = in
	out, err := f.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	f.lines = bufio.NewScanner(out)
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = f.cmd.Process.Kill()
		_ = f.cmd.Wait()
	})
	return f
}

// fillerHangs is when a process that says nothing more is taken for one that
// hangs.
const fillerHangs = 3 * time.Minute

// until reads what the process says up to a word. It kills one that hangs.
func (f *filler) until(word string) {
	f.t.Helper()
	var hung atomic.Bool
	watch := time.AfterFunc(fillerHangs, func() {
		hung.Store(true)
		_ = f.cmd.Process.Kill() // which ends its output
	})
	defer watch.Stop()
	for f.lines.Scan() {
		line := f.lines.Text()
		var n int
		if _, err := fmt.Sscanf(line, "ack %d", &n); err == nil {
			f.acked[n] = true
		}
		if line == word {
			return
		}
		if strings.HasPrefix(line, "---") || strings.HasPrefix(line, "FAIL") {
			break
		}
	}
	if hung.Load() {
		f.t.Fatalf("the process did not say %q within %v", word, fillerHangs)
	}
	f.t.Fatalf("the process ended before it said %q: %s", word, f.lines.Text())
}

func (f *filler) tell(word string) {
	f.t.Helper()
	if _, err := fmt.Fprintln(f.in, word); err != nil {
		f.t.Fatal(err)
	}
}

// A real file system is filled to the last byte: the process lives on, writes
// again once there is room, and, killed while the disk is full, has lost
// nothing that it acknowledged.
func TestRealFullDisk(t *testing.T) {
	dir := smallMount(t)
	f := startFiller(t, dir)
	f.until("full")
	if len(f.acked) < 200 {
		t.Errorf("a disk of 48 MB took %d rows of 20 KB", len(f.acked))
	}
	hog := takeRest(t, dir)
	if err := os.Remove(hog); err != nil {
		t.Fatal(err)
	}
	makeRoom(t, dir)
	f.tell("room")
	f.until("admitted")
	f.tell("again")
	f.until("full")
	takeRest(t, dir)
	if err := f.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = f.cmd.Wait()
	makeRoom(t, dir)
	s, err := openReal(dir)
	if err != nil {
		t.Fatalf("open after the kill: %v", err)
	}
	defer s.Close()
	got := &cell.Result{}
	for n := range f.acked {
		want := fillBatch(n)[0]
		if err := s.Get(context.Background(), "t", &cell.Get{Row: want.Row}, got); err != nil {
			t.Fatal(err)
		}
		if len(got.Cells) != 1 || string(got.Cells[0].Value) != string(want.Edits[0].Value) {
			t.Fatalf("row %d of %d is lost or not as it was written", n, len(f.acked))
		}
	}
	t.Logf("%d rows were acknowledged and are there", len(f.acked))
}

// takeRest writes a file until the file system has no byte left.
func takeRest(t *testing.T, dir string) string {
	t.Helper()
	name := filepath.Join(dir, "hog")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	piece := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(piece)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is filled up: %v", err)
	}
	return name
}

// makeRoom gives the file system 32 MB more.
func makeRoom(t *testing.T, dir string) {
	t.Helper()
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	size := st.Blocks*uint64(st.Bsize) + 32<<20
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%d", size)); err != nil {
		t.Fatalf("make the file system larger: %v", err)
	}
}
