package compat

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cellardb/cellar/test/child"
	"github.com/cellardb/cellar/test/plainthrift"
)

// patience is how long a test waits for what must come soon. It is no
// measurement: machines that run other tests beside are slow.
const patience = 30 * time.Second

func dial(t *testing.T, addr string) *plainthrift.Client {
	t.Helper()
	c, err := plainthrift.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	return c
}

// target starts a server, or takes the one that CELLAR_COMPAT_THRIFT1 names: a
// real gateway, to see that what the tests want is what it does.
func target(t *testing.T) string {
	t.Helper()
	long(t)
	if addr := os.Getenv("CELLAR_COMPAT_THRIFT1"); addr != "" {
		return addr
	}
	return child.Start(t, t.TempDir()).Thrift1
}

// beside is how many connections work beside the one that misbehaves. A real
// gateway has sixteen workers and lets a seventeenth connection wait.
func beside() int {
	if os.Getenv("CELLAR_COMPAT_THRIFT1") != "" {
		return 8
	}
	return 20
}

// table makes a table of the test's own with ten rows.
func table(t *testing.T, addr, name string) {
	t.Helper()
	c := dial(t, addr)
	if err := c.CreateTable(name, "cf"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.SetDeadline(time.Now().Add(patience))
		c.Do("disableTable", plainthrift.Bytes(name))
		c.Do("deleteTable", plainthrift.Bytes(name))
	})
	for i := range 10 {
		row := fmt.Sprintf("r%d", i)
		if err := c.PutRows(name, plainthrift.Row{Key: row, Puts: []plainthrift.Put{{Column: "cf:a", Value: "value of " + row}}}); err != nil {
			t.Fatal(err)
		}
	}
}

func getRow(table, row string, seq int32) []byte {
	return plainthrift.Message("getRow", seq, plainthrift.Bytes(table), plainthrift.Bytes(row), plainthrift.NoAttributes())
}

// Three calls are sent before any reply is read; the replies come in the order
// of the calls, with their numbers and names.
func TestC10_PipelinedCallsAreAnsweredInOrder(t *testing.T) {
	addr := target(t)
	table(t, addr, "c10_order")
	c := dial(t, addr)
	calls := append(getRow("c10_order", "r7", 7), plainthrift.Message("getTableNames", 8)...)
	calls = append(calls, getRow("c10_order", "r9", 9)...)
	if _, err := c.Write(calls); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		method string
		seq    int32
		holds  string
	}{{"getRow", 7, "value of r7"}, {"getTableNames", 8, "c10_order"}, {"getRow", 9, "value of r9"}} {
		a, err := c.ReadAnswer()
		if err != nil {
			t.Fatalf("reply %d: %v", want.seq, err)
		}
		if a.Kind != plainthrift.Reply || a.Method != want.method || a.Seq != want.seq {
			t.Errorf("reply %s number %d of kind %d, want %s number %d", a.Method, a.Seq, a.Kind, want.method, want.seq)
		}
		if !a.Holds(want.holds) {
			t.Errorf("reply %d holds not %q: %+v", want.seq, want.holds, a.Fields)
		}
	}
}

// A message that arrives a byte at a time is a message like any other, and so
// is what follows it.
func TestC10_CallInSinglePieces(t *testing.T) {
	addr := target(t)
	table(t, addr, "c10_pieces")
	c := dial(t, addr)
	for _, b := range append(getRow("c10_pieces", "r1", 1), getRow("c10_pieces", "r2", 2)...) {
		if _, err := c.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	for seq := int32(1); seq <= 2; seq++ {
		a, err := c.ReadAnswer()
		if err != nil || a.Seq != seq || !a.Holds(fmt.Sprintf("value of r%d", seq)) {
			t.Errorf("reply %d: %+v, %v", seq, a, err)
		}
	}
}

// A call that names an unknown method is answered, and the connection lives.
func TestC10_UnknownMethodIsAnswered(t *testing.T) {
	addr := target(t)
	c := dial(t, addr)
	c.Write(append(plainthrift.Message("noSuchMethod", 3, plainthrift.Bytes("x")), plainthrift.Message("getTableNames", 4)...))
	a, err := c.ReadAnswer()
	if err != nil {
		t.Fatal(err)
	}
	text, _ := a.Fields[1].([]byte)
	if a.Kind != plainthrift.Exception || a.Seq != 3 || a.Fields[2] != int64(1) || string(text) != "Invalid method name: 'noSuchMethod'" {
		t.Errorf("reply %+v, text %q; want an exception of type 1 that names the method", a, text)
	}
	if a, err = c.ReadAnswer(); err != nil || a.Kind != plainthrift.Reply || a.Seq != 4 {
		t.Errorf("the call behind it: %+v, %v", a, err)
	}
}

// A torn message, while twenty other connections work: they see no error and
// nobody else's data; the calls before the tear are answered.
func TestC10_TornMessageEndsItsOwnConnectionOnly(t *testing.T) {
	addr := target(t)
	table(t, addr, "c10_torn")
	var stop atomic.Bool
	var others sync.WaitGroup
	var calls atomic.Int64
	for i := range beside() {
		c := dial(t, addr)
		others.Go(func() {
			row := fmt.Sprintf("r%d", i%10)
			for !stop.Load() {
				got, err := c.GetRow("c10_torn", row)
				if err != nil || got["cf:a"] != "value of "+row || len(got) != 1 {
					t.Errorf("connection %d: %v, %v", i, got, err)
					return
				}
				calls.Add(1)
			}
		})
	}
	tears := 0
	for _, cut := range []int{1, 3, 5, 11, 20, 33} {
		tear(t, addr, cut)
		tears++
	}
	garbleInTheMiddle(t, addr)
	// The others may have been slow: they go on for a while.
	for end := time.Now().Add(patience); calls.Load() < 20 && !t.Failed() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	stop.Store(true)
	others.Wait()
	if tears != 6 || calls.Load() < 20 {
		t.Errorf("%d messages torn beside %d calls; want 6 beside at least 20", tears, calls.Load())
	}
}

// tear sends a whole call and so many bytes of a second, then ends its side.
func tear(t *testing.T, addr string, cut int) {
	t.Helper()
	c := dial(t, addr)
	whole := getRow("c10_torn", "r3", 1)
	c.Write(append(whole, whole[:cut]...))
	c.Conn.(*net.TCPConn).CloseWrite()
	a, err := c.ReadAnswer()
	if err != nil || !a.Holds("value of r3") {
		t.Errorf("cut %d: the whole call before it: %+v, %v", cut, a, err)
	}
	if a, err := c.ReadAnswer(); !errors.Is(err, io.EOF) {
		t.Errorf("cut %d: after the tear: %+v, %v; want the end of the stream", cut, a, err)
	}
}

// garbleInTheMiddle sends a good call and then one whose bytes are no message;
// the server must end that connection, not wait or guess.
func garbleInTheMiddle(t *testing.T, addr string) {
	t.Helper()
	c := dial(t, addr)
	bad := getRow("c10_torn", "r3", 2)
	copy(bad[0:4], "\xff\xff\xff\xff")
	c.Write(append(getRow("c10_torn", "r3", 1), bad...))
	if a, err := c.ReadAnswer(); err != nil || a.Seq != 1 {
		t.Errorf("the call before the garbled one: %+v, %v", a, err)
	}
	for {
		a, err := c.ReadAnswer()
		if err == nil && a.Kind == plainthrift.Exception {
			continue // saying why before closing is allowed
		}
		if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("after garbled bytes: %+v, %v; want the end of the stream", a, err)
		}
		return
	}
}
