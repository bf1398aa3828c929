package thriftclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellardb/cellar/bench/internal/gateway"
	"github.com/cellardb/cellar/internal/wire/thrift"
)

// ways are all transports and protocols.
var ways = []Options{{}, {Framed: true}, {Compact: true}, {Framed: true, Compact: true}}

func dial(t *testing.T, h gateway.Hooks, o Options) (*Client, *gateway.Gateway) {
	t.Helper()
	g, err := gateway.Start(h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	c, err := Dial(context.Background(), g.Addr(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, g
}

// rowText renders a row with its columns sorted.
func rowText(r *Row) string {
	var columns []string
	for _, c := range r.Columns {
		columns = append(columns, fmt.Sprintf("%s=%s@%d", c.Name, c.Value, c.Timestamp))
	}
	slices.Sort(columns)
	return fmt.Sprintf("%s{%s}", r.Key, strings.Join(columns, " "))
}

// TestConversation: every call, in every transport and protocol.
func TestConversation(t *testing.T) {
	ran := 0
	for _, way := range ways {
		c, g := dial(t, gateway.Hooks{}, way)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%+v: %v", way, err)
			}
		}
		must(c.CreateTable("t", Family{Name: "f", MaxVersions: 1}, Family{Name: "g"}))
		var e *Exception
		if err := c.CreateTable("t", Family{Name: "f"}); !errors.As(err, &e) || e.Kind != AlreadyExists || err.Error() != "createTable: AlreadyExists: table name already in use" {
			t.Errorf("create again: %v", err)
		}
		names, err := c.TableNames()
		must(err)
		if !slices.Equal(names, []string{"t"}) {
			t.Errorf("tables %v", names)
		}
		b := NewBatch(way)
		b.Begin("t", true, 77)
		for i := range 5 {
			b.Row(fmt.Appendf(nil, "row%d", i))
			b.Put([]byte("f:a"), []byte("old"))
			copy(b.PutN([]byte("f:b"), 3), fmt.Sprintf("v%02d", i))
		}
		if b.Rows() != 5 || b.Len() == 0 {
			t.Errorf("%d rows, %d bytes", b.Rows(), b.Len())
		}
		must(c.Mutate(b))
		must(c.Mutate(b)) // once more
		b.Begin("t", false, 78)
		b.Row([]byte("row1"))
		b.Delete([]byte("f:a"))
		b.Put([]byte("f:c"), nil)
		must(c.Mutate(b))
		b.BeginAt("t", true, 1234, 80)
		b.Row([]byte("row1"))
		b.Put([]byte("f:c"), nil)
		must(c.SendMutate(b))
		must(c.ReceiveMutate())
		b.BeginAt("t", true, 0, 81)
		if err := c.Mutate(b); !errors.As(err, &e) || e.Kind != IllegalArgument || g.Calls("mutateRowsTs") != 2 {
			t.Errorf("without a timestamp: %v", err)
		}
		b.Begin("t", true, 79) // no rows
		must(c.Mutate(b))
		if g.Unlogged() != 2 || g.Calls("mutateRows") != 4 {
			t.Errorf("%d unlogged, %d calls", g.Unlogged(), g.Calls("mutateRows"))
		}

		var got []string
		collect := func(r *Row) error { got = append(got, rowText(r)); return nil }
		id, err := c.ScannerOpen("t", Scan{Start: []byte("row1"), Stop: []byte("row4"), Columns: [][]byte{[]byte("f")}, Caching: 10})
		must(err)
		for _, want := range []int{2, 1, 0, 0} {
			n, err := c.ScannerGetList(id, 2, collect)
			must(err)
			if n != want {
				t.Errorf("%d rows, want %d", n, want)
			}
		}
		must(c.ScannerClose(id))
		if err := c.ScannerClose(id); !errors.As(err, &e) || e.Kind != IllegalArgument {
			t.Errorf("close again: %v", err)
		}
		found, err := c.GetRow("t", []byte("row0"), collect)
		must(err)
		absent, err := c.GetRow("t", []byte("nope"), collect)
		must(err)
		want := []string{"row1{f:b=v01@1 f:c=@1}", "row2{f:a=old@1 f:b=v02@1}", "row3{f:a=old@1 f:b=v03@1}", "row0{f:a=old@1 f:b=v00@1}"}
		if !found || absent || !slices.Equal(got, want) {
			t.Errorf("found %v %v\n got %q\nwant %q", found, absent, got, want)
		}
		on, err := c.IsTableEnabled("t")
		must(err)
		must(c.DropTable("t"))
		must(c.DropTable("t")) // none there
		if _, err := c.IsTableEnabled("t"); !on || !errors.As(err, &e) || e.Kind != IOError || !strings.HasPrefix(e.Message, "org.apache.hadoop.hbase.TableNotFoundException") {
			t.Errorf("enabled %v, %v", on, err)
		}
		must(c.CreateTable("t", Family{Name: "f"}))
		must(c.DisableTable("t"))
		must(c.DropTable("t"))
		ran++
	}
	if ran != 4 {
		t.Errorf("%d ways ran", ran)
	}
}

// TestPipelining: requests are sent before replies are read, which then come in
// order; faults among them are their own calls' only.
func TestPipelining(t *testing.T) {
	for _, way := range ways {
		c, _ := dial(t, gateway.Hooks{}, way)
		if err := c.CreateTable("t", Family{Name: "f"}); err != nil {
			t.Fatal(err)
		}
		batches := make([]*Batch, 20)
		for i := range batches {
			batches[i] = NewBatch(way)
			batches[i].Begin([]string{"t", "none"}[i%5/4], true, int32(1000-i))
			batches[i].Row(fmt.Appendf(nil, "row%02d", i))
			batches[i].Put([]byte("f:q"), bytes.Repeat([]byte{byte('a' + i)}, 1000))
			if err := c.SendMutate(batches[i]); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 20 {
			if err := c.SendGetRow("t", fmt.Appendf(nil, "row%02d", i)); err != nil {
				t.Fatal(err)
			}
		}
		if c.Pending() != 40 {
			t.Errorf("%d pending", c.Pending())
		}
		if _, err := c.ReceiveGetRow(nil); !errors.Is(err, ErrNoRequest) {
			t.Errorf("a reply out of turn: %v", err)
		}
		for i := range 20 {
			err := c.ReceiveMutate()
			if bad := i%5 == 4; bad != (err != nil) || bad && !strings.Contains(err.Error(), "TableNotFoundException: none") {
				t.Errorf("batch %d: %v", i, err)
			}
		}
		for i := range 20 {
			got := ""
			found, err := c.ReceiveGetRow(func(r *Row) error { got = string(r.Columns[0].Value); return nil })
			if want := i%5 != 4; err != nil || found != want || want && got != strings.Repeat(string(rune('a'+i)), 1000) {
				t.Errorf("get %d: %v, %v, %.20s", i, found, err, got)
			}
		}
		if err := c.ReceiveMutate(); !errors.Is(err, ErrNoRequest) || c.Pending() != 0 {
			t.Errorf("one more: %v", err)
		}
	}
}

// TestManyRequestsAreFlushed: they are not kept until somebody flushes.
func TestManyRequestsAreFlushed(t *testing.T) {
	c, g := dial(t, gateway.Hooks{}, Options{})
	for range 5000 {
		if err := c.SendGetRow("t", bytes.Repeat([]byte("x"), 40)); err != nil {
			t.Fatal(err)
		}
	}
	if c.w.Len() >= flushAt {
		t.Errorf("%d bytes are queued", c.w.Len())
	}
	for i := range 5000 {
		if _, err := c.ReceiveGetRow(nil); err == nil || !strings.Contains(err.Error(), "TableNotFoundException") {
			t.Fatalf("reply %d: %v", i, err)
		}
	}
	if g.Calls("getRow") != 5000 {
		t.Errorf("%d calls", g.Calls("getRow"))
	}
}

// TestVisitorFails: its error is returned, the rest of the rows is skipped, and
// the connection lives on.
func TestVisitorFails(t *testing.T) {
	for _, way := range ways {
		c, _ := dial(t, gateway.Hooks{}, way)
		if err := c.CreateTable("t", Family{Name: "f"}); err != nil {
			t.Fatal(err)
		}
		b := NewBatch(way)
		b.Begin("t", true, 1)
		for i := range 100 {
			b.Row(fmt.Appendf(nil, "row%03d", i))
			b.Put([]byte("f:q"), make([]byte, 1000))
		}
		if err := c.Mutate(b); err != nil {
			t.Fatal(err)
		}
		id, err := c.ScannerOpen("t", Scan{})
		if err != nil {
			t.Fatal(err)
		}
		enough, seen := errors.New("enough"), 0
		_, err = c.ScannerGetList(id, 90, func(*Row) error {
			if seen++; seen == 10 {
				return enough
			}
			return nil
		})
		if !errors.Is(err, enough) || seen != 10 {
			t.Errorf("%v after %d rows", err, seen)
		}
		if n, err := c.ScannerGetList(id, 90, nil); n != 10 || err != nil {
			t.Errorf("then %d rows, %v", n, err)
		}
	}
}

// script is a server that answers one request with given bytes and hangs up.
func script(t *testing.T, reply []byte) *Client {
	t.Helper()
	here, there := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		r := thrift.NewReader(there, thrift.Limits{})
		if _, err := r.Next(); err == nil {
			r.Skip(thrift.Struct)
			_, _ = there.Write(reply) // the client's end may be gone
		}
		_ = there.Close()
	}()
	c := New(here, Options{})
	t.Cleanup(func() { _ = c.Close(); <-done })
	return c
}

func reply(name string, typ thrift.MessageType, seq int32, fields func(w *thrift.Writer)) []byte {
	var w thrift.Writer
	w.Message(name, typ, seq)
	w.StructBegin()
	fields(&w)
	w.StructEnd()
	w.MessageEnd()
	return w.Bytes()
}

// TestRepliesThatAreWrong: each is an error that says what it is.
func TestRepliesThatAreWrong(t *testing.T) {
	nothing := func(*thrift.Writer) {}
	f := func(name string, answer []byte, want error, text string) {
		t.Helper()
		c := script(t, answer)
		_, err := c.TableNames()
		if want != nil && !errors.Is(err, want) || err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	f("no reply", nil, ErrNoReply, "wait for the reply of getTableNames")
	f("another name", reply("getRow", thrift.Reply, 1, nothing), ErrCrossed, `reply "getRow" 1, want the reply of "getTableNames" 1`)
	f("another number", reply("getTableNames", thrift.Reply, 2, nothing), ErrCrossed, "")
	f("a call", reply("getTableNames", thrift.Call, 1, nothing), ErrCrossed, "call")
	f("no result", reply("getTableNames", thrift.Reply, 1, nothing), ErrNoResult, "getTableNames")
	f("another result", reply("getTableNames", thrift.Reply, 1, func(w *thrift.Writer) { w.Field(thrift.I32, 0); w.I32(7) }), ErrNoResult, "it is a i32")
	f("an application exception", reply("getTableNames", thrift.Exception, 1, func(w *thrift.Writer) {
		w.Field(thrift.String, 1)
		w.String("Internal error processing getTableNames")
		w.Field(thrift.I32, 2)
		w.I32(6)
	}), nil, "getTableNames: thrift application exception 6: Internal error")
	f("half a reply", reply("getTableNames", thrift.Reply, 1, nothing)[:10], io.ErrUnexpectedEOF, "wait for the reply of getTableNames")
	f("rubbish", []byte("HTTP/1.1 400 Bad Request\r\n"), thrift.ErrProtocol, "wait for the reply of getTableNames")
	f("a long exception", reply("getTableNames", thrift.Reply, 1, func(w *thrift.Writer) {
		w.Field(thrift.Struct, 1)
		w.StructBegin()
		w.Field(thrift.String, 1)
		w.String("java.io.IOException: " + strings.Repeat("x", 5000))
		w.BoolField(2, true)
		w.StructEnd()
	}), nil, "IOError: java.io.IOException: "+strings.Repeat("x", messageLimit-len("java.io.IOException: "))+"...")
}

// TestForeignShapes: rows with sortedColumns, unknown fields, and a map of other
// types.
func TestForeignShapes(t *testing.T) {
	answer := reply("getRow", thrift.Reply, 1, func(w *thrift.Writer) {
		w.Field(thrift.List, 0)
		w.List(thrift.Struct, 2)
		w.StructBegin()
		w.Field(thrift.Map, 2)
		w.Map(thrift.I32, thrift.Bool, 1)
		w.I32(1)
		w.Bool(true)
		w.Field(thrift.String, 1)
		w.String("row")
		w.Field(thrift.I64, 9)
		w.I64(1)
		w.Field(thrift.List, 3)
		w.List(thrift.Struct, 1)
		w.StructBegin()
		w.Field(thrift.Struct, 2)
		w.StructBegin()
		w.Field(thrift.I64, 2)
		w.I64(5)
		w.Field(thrift.I32, 7)
		w.I32(1)
		w.Field(thrift.String, 1)
		w.String("value")
		w.StructEnd()
		w.BoolField(8, true)
		w.Field(thrift.String, 1)
		w.String("f:q")
		w.StructEnd()
		w.StructEnd()
		w.StructBegin()
		w.Field(thrift.List, 3)
		w.List(thrift.I32, 1)
		w.I32(1)
		w.StructEnd()
	})
	c := script(t, answer)
	var got []string
	if _, err := c.GetRow("t", []byte("row"), func(r *Row) error { got = append(got, rowText(r)); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := []string{"row{f:q=value@5}", "{}"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTimeout: a gateway that says nothing.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, there) }()
		c := New(here, Options{Timeout: time.Minute})
		if err := c.SendGetRow("t", nil); err != nil {
			t.Error(err)
		}
		if err := c.Flush(); err != nil {
			t.Error(err)
		}
		time.Sleep(50 * time.Second) // the deadline moves with every request
		start := time.Now()
		err := c.SendGetRow("t", nil)
		if err == nil {
			_, err = c.ReceiveGetRow(nil)
		}
		if took := time.Since(start); !strings.Contains(fmt.Sprint(err), "timeout") || took != time.Minute {
			t.Errorf("%v after %v", err, took)
		}
		// The connection is of no use any more, and says so.
		if _, again := c.TableNames(); again == nil || again.Error() != err.Error() {
			t.Errorf("again: %v", again)
		}
		_ = c.Close()
	})
}

// TestCloseEndsCalls: from another goroutine, twice.
func TestCloseEndsCalls(t *testing.T) {
	called := make(chan struct{})
	g, err := gateway.Start(gateway.Hooks{Before: func(string) { close(called) }, HangUp: func(string) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	c, err := Dial(context.Background(), g.Addr(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { _, err := c.TableNames(); done <- err }()
	<-called
	for range 2 {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := <-done; err == nil {
		t.Error("the call succeeded")
	}
	if err := c.SendGetRow("t", nil); err != nil && c.err == nil {
		t.Error(err)
	}
	if err := c.Flush(); err == nil {
		t.Error("a closed connection sends")
	}
}

func TestDialFails(t *testing.T) {
	if _, err := Dial(context.Background(), "127.0.0.1:1", Options{}); err == nil || !strings.HasPrefix(err.Error(), "connect to the Thrift gateway: dial tcp 127.0.0.1:1") {
		t.Errorf("error %v", err)
	}
}

// BenchmarkGetRow: what a call costs the client, the gateway left out.
func BenchmarkGetRow(b *testing.B) {
	answer := reply("getRow", thrift.Reply, 1, func(w *thrift.Writer) {
		w.Field(thrift.List, 0)
		w.List(thrift.Struct, 1)
		w.StructBegin()
		w.Field(thrift.String, 1)
		w.String("RK_12345678901234567890_1234567890123456789")
		w.Field(thrift.Map, 2)
		w.Map(thrift.String, thrift.Struct, 3)
		for _, column := range []string{"f1:1", "f1:2", "f1:3"} {
			w.String(column)
			w.StructBegin()
			w.Field(thrift.String, 1)
			w.Binary(make([]byte, 331))
			w.Field(thrift.I64, 2)
			w.I64(1)
			w.StructEnd()
		}
		w.StructEnd()
	})
	c := New(&canned{answer: answer}, Options{})
	b.ReportAllocs()
	for b.Loop() {
		c.seq = 0
		if _, err := c.GetRow("table", []byte("RK_12345678901234567890_1234567890123456789"), nil); err != nil {
			b.Fatal(err)
		}
	}
}

// canned answers every read with the same reply.
type canned struct {
	net.Conn
	answer []byte
	at     int
}

func (c *canned) Read(b []byte) (int, error) {
	n := copy(b, c.answer[c.at:])
	c.at = (c.at + n) % len(c.answer)
	return n, nil
}
func (c *canned) Write(b []byte) (int, error) { return len(b), nil }
func (c *canned) SetDeadline(time.Time) error { return nil }
func (c *canned) RemoteAddr() net.Addr        { return &net.TCPAddr{} }
