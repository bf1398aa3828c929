package thrift1

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/door"
	"github.com/cellardb/cellar/internal/wire/thrift"
	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/memory"
	"github.com/prometheus/client_golang/prometheus"
)

// All four forms are told apart on one port.
func TestC11_AllFormsOnOnePort(t *testing.T) {
	d := openDoor(t, Options{}, door.Options{})
	d.table("t1", "cf")
	d.table("t2", "cf")
	n := 0
	for _, f := range forms {
		p := d.dial(f)
		p.expect("getTableNames", nil, "[t1 t2]")
		p.call("mutateRow", fields{1: "t1", 2: "r", 3: list{put("cf:a", "1")}})
		p.expect("getRow", fields{1: "t1", 2: "r"}, "[r{cf:a=1}]")
		n++
	}
	if n != 4 {
		t.Errorf("%d forms were tried", n)
	}
}

// With strict options the refused forms are closed at once, and one line of the
// log names what was expected and what came.
func TestC11_StrictFormsCloseTheOthers(t *testing.T) {
	var lines bytes.Buffer
	log := slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelWarn}))
	d := openDoor(t, Options{Transport: "framed", Protocol: "compact", Logger: log}, door.Options{})
	n := 0
	for _, f := range forms {
		p := d.dial(f)
		if f.framed && f.protocol == thrift.Compact {
			p.expect("getTableNames", nil, "[]")
			continue
		}
		p.send(p.encode("getTableNames", 1, nil))
		if said := p.expectEnd(); len(said) > 0 {
			t.Errorf("%s: said %q before the end", f, said)
		}
		n++
		until(t, func() bool { return d.door.Figures().Closed["bad_bytes"] == int64(n) })
		want := `expected="framed compact" got="` + f.String() + `"`
		if strings.Count(lines.String(), "\n") != n || !strings.Contains(lines.String(), want) {
			t.Errorf("%s: the log says %q, want one more line with %s", f, lines.String(), want)
		}
	}
	if n != 3 {
		t.Errorf("%d forms were refused", n)
	}
}

func until(t *testing.T, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never happened")
		}
	}
}

// Old-style binary calls have no version word; replies are strict all the same.
func TestOldStyleCallsAreServed(t *testing.T) {
	d := openDoor(t, Options{}, door.Options{})
	for _, framed := range []bool{false, true} {
		p := d.dial(form{thrift.Binary, framed})
		call := []byte("\x00\x00\x00\x0dgetTableNames\x01\x00\x00\x00\x2a\x00")
		if framed {
			call = append([]byte{0, 0, 0, byte(len(call))}, call...)
		}
		p.send(call)
		a, err := p.receive()
		if err != nil || a.method != "getTableNames" || a.seq != 42 || render(a.value) != "[]" {
			t.Errorf("framed %v: %+v, %v", framed, a, err)
		}
	}
}

// An argument of another type than it should have is left out, one that comes
// twice counts as it comes last, one that is unknown is skipped; their order does
// not matter.
func TestArgumentsThatAreOdd(t *testing.T) {
	for _, f := range forms {
		d := openDoor(t, Options{}, door.Options{})
		d.table("t", "cf")
		p := d.dial(f)
		p.expect("getRow", fields{1: "t", 2: int64(7)}, "IOError: java.lang.IllegalArgumentException: Row length is 0")
		p.expect("getRow", fields{1: fields{1: "t"}, 2: "r"}, "IOError: java.lang.IllegalArgumentException: Table qualifier must not be empty")
		p.expect("getRows", fields{1: "t", 2: list{int64(1), int64(2)}}, "[]")
		p.expect("mutateRows", fields{1: "t", 2: list{"no struct"}}, "void")
		p.expect("mutateRows", fields{1: "t", 2: list{fields{1: "r", 2: list{"no struct"}}}}, "void")
		p.expect("getRow", fields{1: "t", 2: "r", 99: "?", -1: list{}, 8: true}, "[]")
		p.expect("isTableEnabled", fields{1: "default:nope"}, "IOError: org.apache.hadoop.hbase.TableNotFoundException: nope")
		p.expect("isTableEnabled", nil, "IOError: java.lang.IllegalArgumentException: Table qualifier must not be empty")

		w := &p.w
		w.Reset(f.protocol, f.framed)
		w.Message("mutateRowTs", thrift.Call, 5)
		w.StructBegin()
		for _, a := range []struct {
			id int16
			v  any
		}{{4, int64(3)}, {3, list{put("cf:a", "first"), put("cf:b", "first")}}, {3, list{put("cf:a", "last")}}, {2, "row"}, {1, "t"}} {
			w.Field(typeOf(a.v), a.id)
			write(w, a.v)
		}
		w.StructEnd()
		w.MessageEnd()
		p.send(w.Bytes())
		if a, err := p.receive(); err != nil || a.err != nil {
			t.Errorf("%s: %+v, %v", f, a, err)
		}
		p.expect("getRow", fields{1: "t", 2: "row"}, "[row{cf:a=last@3}]")
	}
}

// Three calls are sent before a reply is read: replies come in order, with the
// ids and names of their calls.
func TestC10_PipelinedCallsAreAnsweredInOrder(t *testing.T) {
	d := openDoor(t, Options{}, door.Options{})
	d.table("t", "cf")
	d.put("t", "r cf:a 1 x")
	for _, f := range forms {
		p := d.dial(f)
		var b []byte
		b = append(b, p.encode("getRow", 7, fields{1: "t", 2: "r"})...)
		b = append(b, p.encode("noSuchMethod", 8, fields{1: "t"})...)
		b = append(b, p.encode("isTableEnabled", 9, fields{1: "t"})...)
		p.send(b)
		for _, want := range []reply{
			{method: "getRow", seq: 7, value: "[r{cf:a=x@1}]"},
			{method: "noSuchMethod", seq: 8, value: "void"},
			{method: "isTableEnabled", seq: 9, value: "true"},
		} {
			a, err := p.receive()
			if err != nil || a.method != want.method || a.seq != want.seq || render(a.value) != want.value {
				t.Errorf("%s: got %+v, %v; want %+v", f, a, err, want)
			}
		}
	}
}

// Replies to calls that came together leave together: the client gets them by
// one read.
func TestPipelinedRepliesLeaveTogether(t *testing.T) {
	d := openDoor(t, Options{}, door.Options{})
	p := d.dial(forms[0])
	one := p.encode("getTableNames", 1, nil)
	p.send(bytes.Repeat(one, 10))
	b := make([]byte, 64<<10)
	n, err := p.conn.Read(b)
	if err != nil || bytes.Count(b[:n], []byte("getTableNames")) != 10 {
		t.Errorf("the first read got %d bytes with %d replies, %v", n, bytes.Count(b[:n], []byte("getTableNames")), err)
	}
}

// A frame that is torn in the middle ends its own connection; others notice
// nothing.
func TestC10_ATornFrameEndsItsConnectionOnly(t *testing.T) {
	d := openDoor(t, Options{}, door.Options{})
	d.table("t", "cf")
	var wg sync.WaitGroup
	for range 20 {
		p := d.dial(forms[1])
		wg.Go(func() {
			for range 50 {
				p.expect("isTableEnabled", fields{1: "t"}, "true")
			}
		})
	}
	torn := d.dial(forms[1])
	whole := torn.encode("getRow", 1, fields{1: "t", 2: "r"})
	torn.send(append(whole[:len(whole)-9:len(whole)-9], whole...)) // another writer cut in
	torn.expectEnd()
	wg.Wait()
	until(t, func() bool { return d.door.Figures().Closed["bad_bytes"] == 1 })
}

func TestUnknownMethodsAreAnsweredOnALiveConnection(t *testing.T) {
	d := openDoor(t, Options{}, door.Options{})
	for _, f := range forms {
		p := d.dial(f)
		deep := fields{1: fields{2: list{list{"x"}, list{}}}, 3: pairs{"a": "b"}, 4: int64(1), 5: true, 6: int8(1)}
		_, err := p.try("noSuchMethod", deep)
		e, ok := err.(*thrift.AppException)
		if !ok || e.Code != thrift.AppUnknownMethod || e.Message != "Invalid method name: 'noSuchMethod'" {
			t.Errorf("%s: %v", f, err)
		}
		p.expect("getTableNames", nil, "[]")
	}
}

// A reply that is sent to a server is no call.
func TestMessagesThatAreNoCallsAreRefused(t *testing.T) {
	d := openDoor(t, Options{}, door.Options{})
	p := d.dial(forms[0])
	p.w.Message("getTableNames", thrift.Reply, 3)
	write(&p.w, fields{})
	p.w.MessageEnd()
	p.send(p.w.Bytes())
	a, err := p.receive()
	e, _ := a.err.(*thrift.AppException)
	if err != nil || e == nil || e.Code != 2 || e.Message != "Invalid message type: reply" {
		t.Errorf("%+v, %v", a, err)
	}
	p.expect("getTableNames", nil, "[]")
}

// faulty is a store with a fault of our own.
type faulty struct {
	store.Store
}

// Get finds large rows, but at the key "fault".
func (faulty) Get(_ context.Context, _ string, get *cell.Get, into *cell.Result) error {
	if string(get.Row) == "fault" {
		panic("our own fault")
	}
	into.Reset()
	into.Row = get.Row
	into.Cells = append(into.Cells, cell.Cell{Family: []byte("f"), Value: make([]byte, 20_000)})
	return nil
}

func TestAPanicIsAnsweredAndTheConnectionLivesOn(t *testing.T) {
	for _, f := range forms {
		var lines bytes.Buffer
		d := openDoor(t, Options{
			Store:  faulty{memory.New(memory.Options{})},
			Logger: slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelError})),
		}, door.Options{})
		p := d.dial(f)
		_, err := p.try("getRows", fields{1: "t", 2: list{"r1", "r2", "fault"}}) // part of the reply is written by then
		e, ok := err.(*thrift.AppException)
		if !ok || e.Code != thrift.AppInternalError || e.Message != "Internal error processing getRows" {
			t.Errorf("%s: %v", f, err)
		}
		p.expect("getTableNames", nil, "[]")
		if !strings.Contains(lines.String(), "our own fault") || !strings.Contains(lines.String(), "session_test.go") {
			t.Errorf("%s: the log lacks the panic or its stack: %q", f, lines.String())
		}
		if n := d.door.Figures().Open; n != 1 {
			t.Errorf("%d connections are open", n)
		}
	}
}

// Idle for long, a connection lives; so does a scan that pauses for less than the
// timeout. Beyond it the scanner's id is invalid, on a live connection, and the
// scanner is freed.
func TestC13_IdleClientsAndLongScans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDoor(t, Options{ScannerTimeout: time.Minute}, door.Options{})
		d.table("t", "cf")
		for _, r := range []string{"a", "b", "c", "d"} {
			d.put("t", r+" cf:q 1 v")
		}
		p := d.dial(forms[0])
		p.expect("getTableNames", nil, "[t]")
		time.Sleep(24 * time.Hour)
		p.expect("getTableNames", nil, "[t]")

		p.expect("scannerOpen", fields{1: "t", 2: ""}, "0")
		p.expect("scannerGetList", fields{1: int32(0), 2: int32(1)}, "[a{cf:q=v@1}]")
		time.Sleep(59 * time.Second)
		p.expect("scannerGetList", fields{1: int32(0), 2: int32(1)}, "[b{cf:q=v@1}]")
		time.Sleep(60 * time.Second) // the timeout itself is not beyond it
		p.expect("scannerGetList", fields{1: int32(0), 2: int32(1)}, "[c{cf:q=v@1}]")
		time.Sleep(60*time.Second + 1)
		p.expect("scannerGetList", fields{1: int32(0), 2: int32(1)}, "IllegalArgument: scanner ID is invalid")
		p.expect("scannerClose", fields{1: int32(0)}, "IllegalArgument: scanner ID is invalid")
		p.expect("getTableNames", nil, "[t]")

		// One that nobody asks for is freed all the same.
		p.expect("scannerOpen", fields{1: "t", 2: ""}, "1")
		p.expect("scannerGet", fields{1: int32(1)}, "[a{cf:q=v@1}]")
		time.Sleep(80 * time.Second)
		synctest.Wait()
		if n, b := len(d.handler.scanners.mu.open), d.handler.scanners.mu.bytes; n != 0 || b != 0 {
			t.Errorf("%d scanners of %d bytes are left", n, b)
		}
	})
}

// A call that began to arrive behind another one has the time of a request, not
// that of an idle connection.
func TestHalfACallBehindAnotherIsTimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDoor(t, Options{}, door.Options{RequestTimeout: 10 * time.Second})
		for _, f := range forms {
			p := d.dial(f)
			one := p.encode("getTableNames", 1, nil)
			p.send(append(one, one[:len(one)-3]...))
			if a, err := p.receive(); err != nil || render(a.value) != "[]" {
				t.Errorf("%s: %+v, %v", f, a, err)
			}
			start := time.Now()
			p.expectEnd()
			if took := time.Since(start); took != 10*time.Second {
				t.Errorf("%s: ended after %s", f, took)
			}
		}
	})
}

// What a request that is larger than allowed gets is a last word, then the end.
func TestRequestsAboveTheLimitEndTheConnection(t *testing.T) {
	for _, f := range forms {
		d := openDoor(t, Options{}, door.Options{MaxRequest: 1000})
		d.table("t", "cf")
		p := d.dial(f)
		p.expect("getRow", fields{1: "t", 2: strings.Repeat("r", 900)}, "[]")
		go func() { _, _ = p.conn.Write(p.encode("getRow", 1, fields{1: "t", 2: strings.Repeat("r", 1000)})) }()
		said, err := io.ReadAll(p.conn)
		if err != nil && err != io.ErrClosedPipe {
			t.Errorf("%s: %v", f, err)
		}
		if !f.framed && !bytes.Contains(said, []byte("exceeds the limit")) {
			t.Errorf("%s: said %q", f, said)
		}
		until(t, func() bool { return d.door.Figures().Closed["too_large"] == 1 })
	}
}

func TestRequestsAreCounted(t *testing.T) {
	m, err := door.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	d := openDoor(t, Options{Metrics: m}, door.Options{})
	d.table("t", "cf")
	p := d.dial(forms[0])
	p.call("getRow", fields{1: "t", 2: "r"})
	p.call("getRow", fields{1: "t", 2: "r"})
	_, _ = p.try("getRow", fields{1: "missing", 2: "r"})
	_, _ = p.try("nothing", nil)
	got := d.door.Figures().Requests
	if got["getRow"]["ok"] != 2 || got["getRow"]["refused"] != 1 || got["unknown"]["unknown"] != 1 || len(got) != 2 {
		t.Errorf("counted %v", got)
	}
}
