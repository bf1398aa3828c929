package hostile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cellardb/cellar/test/child"
	"github.com/cellardb/cellar/test/plainthrift"
)

// memoryAllowed is how much the memory of the server may grow.
const memoryAllowed = 64 << 20

// kind is one way to misbehave. The server must close each such connection.
type kind struct {
	name  string
	count int
	send  func(r *rand.Rand) []byte
}

// kinds are the ways of 200 connections, and some more that go for the lengths
// inside a message.
func kinds() []kind {
	return []kind{
		{"random bytes", 40, func(r *rand.Rand) []byte { return randomBytes(r, 1+r.IntN(64<<10)) }},
		{"HTTP", 40, func(*rand.Rand) []byte { return []byte("GET / HTTP/1.0\r\n\r\n") }},
		{"a frame of 2 GB", 40, func(r *rand.Rand) []byte { return append(length(1<<31-1), randomBytes(r, 64)...) }},
		{"half a frame, then silence", 40, func(*rand.Rand) []byte { whole := plainthrift.Frame(aPut()); return whole[:len(whole)/2] }},
		{"half a call, then silence", 40, func(*rand.Rand) []byte { whole := aPut(); return whole[:len(whole)/2] }},

		{"0xff", 5, func(*rand.Rand) []byte { return repeat(0xff, 4096) }},
		{"a frame of 4 GB", 5, func(*rand.Rand) []byte { return length(1<<32 - 1) }},
		{"a frame of 200 MB", 5, func(*rand.Rand) []byte { return append(length(200<<20), aPut()...) }},
		{"a frame of 30 MB, of which little comes", 20, func(r *rand.Rand) []byte {
			return append(append(length(30<<20), call("getRow", 11, 29<<20)...), randomBytes(r, 10_000)...)
		}},
		{"a table name of 30 MB, of which little comes", 20, func(r *rand.Rand) []byte { return append(call("getRow", 11, 30<<20), randomBytes(r, 10_000)...) }},
		{"a method name of 2 GB", 5, func(*rand.Rand) []byte { return append(length(0x80010001), length(1<<31-1)...) }},
		{"a table name of 2 GB", 5, func(*rand.Rand) []byte { return call("getRow", 11, 1<<31-1) }},
		{"a table name of 100 MB", 5, func(*rand.Rand) []byte { return call("getRow", 11, 100<<20) }},
		{"a table name of -5 bytes", 5, func(*rand.Rand) []byte { return call("getRow", 11, 1<<32-5) }},
		{"a list of 2 billion structs", 5, func(*rand.Rand) []byte { return list("mutateRows", 1<<31-1) }},
		{"a list of 10 million structs", 5, func(*rand.Rand) []byte { return list("mutateRows", 10_000_000) }},
		{"structs 100,000 deep", 5, func(*rand.Rand) []byte { return deep(100_000) }},
		{"TLS", 5, func(r *rand.Rand) []byte {
			return append([]byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), randomBytes(r, 506)...)
		}},
	}
}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func repeat(b byte, n int) []byte {
	s := make([]byte, n)
	for i := range s {
		s[i] = b
	}
	return s
}

func length(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

// aPut is a whole, good call.
func aPut() []byte {
	row := plainthrift.Struct(plainthrift.Bytes("hostile"), plainthrift.List(plainthrift.TypeStruct,
		plainthrift.Struct(plainthrift.Value{}, plainthrift.Bytes("cf:n"), plainthrift.Bytes("x"))))
	return plainthrift.Message("mutateRows", 1, plainthrift.Bytes(honestTable), plainthrift.List(plainthrift.TypeStruct, row), plainthrift.NoAttributes())
}

// call begins a call whose first argument is of a type and claims a length.
func call(method string, typ byte, claims uint32) []byte {
	m := plainthrift.Message(method, 1)
	return append(append(m[:len(m)-1], typ, 0, 1), length(claims)...)
}

// list begins a call whose second argument is a list of structs that claims a
// number of them.
func list(method string, claims uint32) []byte {
	m := plainthrift.Message(method, 1)
	return append(append(m[:len(m)-1], 15, 0, 2, 12), length(claims)...)
}

// deep is a call with an unknown argument, of structs in structs.
func deep(levels int) []byte {
	m := plainthrift.Message("getTableNames", 1)
	m = m[:len(m)-1]
	for range levels {
		m = append(m, 12, 0, 99)
	}
	return append(m, make([]byte, levels+1)...)
}

// TestHostileConnections: 200 connections of the published kinds and 95 more,
// and 200 that say nothing, beside honest clients.
func TestHostileConnections(t *testing.T) {
	long(t)
	server := child.Start(t, t.TempDir())
	good := startHonest(t, server.Thrift1)
	for good.calls.Load() < 500 { // what a working server takes is not growth
		if t.Failed() || !server.Alive() {
			t.FailNow()
		}
		time.Sleep(10 * time.Millisecond)
	}
	before := server.RSS(t)
	closedBefore := closedAsBad(server.Metrics(t))
	peak := watchMemory(server)

	idle := make([]*plainthrift.Client, 200)
	for i := range idle {
		idle[i] = dial(t, server.Thrift1)
	}
	bad := misbehave(t, server.Thrift1)
	for i, c := range bad {
		if err := awaitEnd(c.conn); err != nil {
			t.Errorf("connection %d, %s: %v", i, c.kind, err)
		}
	}
	if n := len(bad); n != 295 {
		t.Errorf("%d connections misbehaved, want 295", n)
	}
	for i, c := range idle {
		c.SetDeadline(time.Now().Add(patience))
		if got, err := c.GetRow(honestTable, "kept0"); err != nil || len(got) != 2 {
			t.Errorf("idle connection %d, when it asks at last: %v, %v", i, got, err)
		}
	}
	good.finish(t, 1000)
	if grown := peak() - before; grown >= memoryAllowed {
		t.Errorf("memory grew by %d MiB from %d MiB, want less than %d", grown>>20, before>>20, memoryAllowed>>20)
	} else {
		t.Logf("memory grew by %d MiB from %d MiB; %d honest calls", grown>>20, before>>20, good.calls.Load())
	}
	// A client sees the end of its connection a moment before it is counted.
	counted := 0.0
	for end := time.Now().Add(patience); counted < float64(len(bad)) && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		counted = closedAsBad(server.Metrics(t)) - closedBefore
	}
	if counted != float64(len(bad)) {
		t.Errorf("/metrics counts %v bad connections that were closed, want %d", counted, len(bad))
	}
	if err := server.Stop(); err != nil {
		t.Errorf("the server ends with %v", err)
	}
}

// closedAsBad counts the connections that the server ended for what came, or
// did not come, on them.
func closedAsBad(m child.Metrics) float64 {
	sum := 0.0
	for _, reason := range []string{"bad_bytes", "too_large", "timeout"} {
		sum += m.Sum("cellar_door_connections_closed_total", `door="thrift1"`, `reason="`+reason+`"`)
	}
	return sum
}

// badConnection is a connection on which one of the kinds was sent.
type badConnection struct {
	kind string
	conn net.Conn
}

// misbehave opens all the bad connections and sends on them. A server that
// closes while it is sent to is right.
func misbehave(t *testing.T, addr string) []badConnection {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	var bad []badConnection
	for _, k := range kinds() {
		for range k.count {
			c, err := net.DialTimeout("tcp", addr, patience)
			if err != nil {
				t.Fatalf("%s: %v", k.name, err)
			}
			t.Cleanup(func() { c.Close() })
			c.SetDeadline(time.Now().Add(patience))
			c.Write(k.send(r))
			bad = append(bad, badConnection{k.name, c})
		}
	}
	return bad
}

// awaitEnd waits until the server has closed a connection; what it says before
// is of no account.
func awaitEnd(c net.Conn) error {
	_, err := io.Copy(io.Discard, c)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("still open after %s", patience)
	}
	return nil
}

// watchMemory looks at the memory of the server until the function that it
// returns is called, which gives the peak.
func watchMemory(server *child.Server) (peak func() int64) {
	var most atomic.Int64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			if rss, err := server.ReadRSS(); err == nil {
				most.Store(max(most.Load(), rss))
			}
			select {
			case <-tick.C:
			case <-stop:
				return
			}
		}
	}()
	return func() int64 {
		close(stop)
		<-done
		return most.Load()
	}
}
