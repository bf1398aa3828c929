package thrift1

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/door"
	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/memory"
)

// calls are one of each shape of arguments.
func sampleCalls() []step {
	return []step{
		{method: "mutateRows", args: fields{1: "t", 2: list{batch("r1", put("cf:a", "1"), del("cf:b")), batch("r2", put("cf:a", "2"))}, 3: pairs{"k": "v"}}},
		{method: "mutateRowTs", args: fields{1: "t", 2: "r", 3: list{put("cf:a", "1")}, 4: int64(5)}},
		{method: "getRowsWithColumnsTs", args: fields{1: "t", 2: list{"r1", "r2"}, 3: list{"cf"}, 4: int64(9)}},
		{method: "scannerOpenWithScan", args: fields{1: "t", 2: fields{1: "a", 2: "b", 3: int64(1), 4: list{"cf:x"}, 7: int32(3), 9: true}}},
		{method: "createTable", args: create("new", fields{1: "cf:", 2: int32(3), 5: "ROW", 8: true})},
		{method: "append", args: fields{1: fields{1: "t", 2: "r", 3: list{"cf:a"}, 4: list{"x"}}}},
		{method: "incrementRows", args: fields{1: list{fields{1: "t", 2: "r", 3: "cf:n", 4: int64(1)}}}},
		{method: "checkAndPut", args: fields{1: "t", 2: "r", 3: "cf:a", 5: "x", 6: put("cf:a", "1")}},
	}
}

// countingStore counts what reaches it.
type countingStore struct {
	store.Store
	mu sync.Mutex
	n  int
}

func (s *countingStore) count() {
	s.mu.Lock()
	s.n++
	s.mu.Unlock()
}

func (s *countingStore) Apply(ctx context.Context, table string, batch []cell.Mutation) ([][]cell.Cell, error) {
	s.count()
	return s.Store.Apply(ctx, table, batch)
}

func (s *countingStore) CheckAndMutate(ctx context.Context, table string, c *cell.Check, m *cell.Mutation) (bool, []cell.Cell, error) {
	s.count()
	return s.Store.CheckAndMutate(ctx, table, c, m)
}

func (s *countingStore) CreateTable(ctx context.Context, schema cell.TableSchema, splits [][]byte) error {
	s.count()
	return s.Store.CreateTable(ctx, schema, splits)
}

// Every call, cut off after each of its bytes: nothing is done, nothing is
// answered, nothing breaks.
func TestTruncatedCallsDoNothing(t *testing.T) {
	c := &countingStore{Store: memory.New(memory.Options{})}
	d := openDoor(t, Options{Store: c}, door.Options{})
	d.table("t", "cf")
	c.n = 0
	tried := 0
	for _, f := range forms {
		for _, s := range sampleCalls() {
			whole := d.dial(f).encode(s.method, 1, s.args)
			for n := range whole {
				p := d.dial(f)
				conn := p.conn
				go func() {
					_, _ = conn.Write(whole[:n])
					_ = conn.Close()
				}()
				tried++
			}
		}
	}
	want := int64(tried + len(forms)*len(sampleCalls()))
	until(t, func() bool { f := d.door.Figures(); return f.Accepted == want && f.Open == want-int64(tried) })
	if c.n != 0 {
		t.Errorf("%d cut calls reached the store", c.n)
	}
	if f := d.door.Figures(); f.InFlight != 0 || f.Closed["bad_bytes"] != 0 || f.Closed["error"] != 0 {
		t.Errorf("figures: %+v", f)
	}
	if tried < 2000 {
		t.Errorf("only %d cuts were tried", tried)
	}
}

// What people send to ports.
func hostileBytes() map[string][]byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	random := make([]byte, 4096)
	for i := range random {
		random[i] = byte(rnd.Uint32())
	}
	strict := func(name string, tail ...byte) []byte {
		b := append([]byte("\x80\x01\x00\x01\x00\x00\x00"), byte(len(name)))
		return append(append(append(b, name...), 0, 0, 0, 1), tail...)
	}
	frame := func(n uint32, b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, n), b...) }
	return map[string][]byte{
		"random":                 random,
		"http":                   []byte("GET / HTTP/1.0\r\nHost: x\r\n\r\n"),
		"tls":                    []byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
		"zeros":                  make([]byte, 4096),
		"ff":                     bytes.Repeat([]byte{0xff}, 4096),
		"frame of 2 GB":          frame(0x7fffffff, random),
		"frame of 60 MB, half":   frame(60<<20, strict("getRow", 11, 0, 1, 3, 0, 0, 0)),
		"name of 2 GB":           []byte("\x80\x01\x00\x01\x7f\xff\xff\xff"),
		"old name of 2 GB":       []byte("\x7f\xff\xff\xff"),
		"table of 2 GB":          strict("getRow", 11, 0, 1, 0x7f, 0xff, 0xff, 0xff),
		"table of 60 MB":         strict("getRow", 11, 0, 1, 3, 0xc0, 0, 0),
		"negative length":        strict("getRow", 11, 0, 1, 0xff, 0xff, 0xff, 0xff),
		"list of 2^31-1 structs": strict("mutateRows", 15, 0, 2, 12, 0x7f, 0xff, 0xff, 0xff),
		"list of 10^7 structs":   append(strict("mutateRows", 15, 0, 2, 12, 0, 0x98, 0x96, 0x80), random...),
		"deep":                   append(strict("nothing"), bytes.Repeat([]byte{12, 0, 1}, 1000)...),
		"deep lists":             append(strict("nothing", 15, 0, 1), bytes.Repeat([]byte{15, 0, 0, 0, 1}, 1000)...),
		"half a call":            strict("getRow", 11, 0, 1, 0, 0, 0, 9, 't'),
		"compact junk":           append([]byte{0x82, 0x21, 0x01}, bytes.Repeat([]byte{0xff}, 100)...),
		"compact size of 2 GB":   []byte("\x82\x21\x01\x06getRow\x18\xff\xff\xff\xff\x07"),
		"silence":                nil,
	}
}

// Two hundred connections of each kind: a client beside them notices nothing,
// memory does not grow, and those whose bytes are wrong are closed and counted.
func TestHostileBytesHarmNobody(t *testing.T) {
	const each = 200
	d := openDoor(t, Options{}, door.Options{MaxConnections: 10_000})
	d.table("t", "cf")
	d.put("t", "r cf:a 1 v")
	good := d.dial(forms[0])
	good.expect("getRow", fields{1: "t", 2: "r"}, "[r{cf:a=v@1}]")
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	stay := map[string]bool{ // nothing wrong yet, as far as these have come
		"frame of 60 MB, half": true, "table of 60 MB": true, "list of 10^7 structs": false, "half a call": true, "silence": true,
	}
	kinds := hostileBytes()
	for name, b := range kinds {
		f := d.door.Figures()
		var conns []net.Conn
		for range each {
			p := d.dial(forms[0])
			conns = append(conns, p.conn)
			go func() { _, _ = p.conn.Write(b) }()
			go func() { _, _ = io.Copy(io.Discard, p.conn) }()
		}
		good.expect("getRow", fields{1: "t", 2: "r"}, "[r{cf:a=v@1}]")
		if !stay[name] {
			// Dialled is not accepted yet: all must have come before all are gone.
			until(t, func() bool { g := d.door.Figures(); return g.Accepted == f.Accepted+each && g.Open == f.Open })
			g := d.door.Figures()
			bad := g.Closed["bad_bytes"] + g.Closed["too_large"] - f.Closed["bad_bytes"] - f.Closed["too_large"]
			if bad != each && name != "zeros" {
				t.Errorf("%s: %d of %d were closed for their bytes: %v", name, bad, each, g.Closed)
			}
		} else {
			until(t, func() bool { g := d.door.Figures(); return g.Accepted == f.Accepted+each && g.Open == f.Open+each })
		}
		runtime.ReadMemStats(&now)
		if grown := int64(now.HeapInuse) - int64(before.HeapInuse); grown > 64<<20 {
			t.Errorf("%s: the heap grew by %d MiB", name, grown>>20)
		}
		for _, c := range conns {
			_ = c.Close()
		}
		until(t, func() bool { return d.door.Figures().Open == 1 })
	}
	good.expect("getRow", fields{1: "t", 2: "r"}, "[r{cf:a=v@1}]")
	if used := d.door.Figures().InFlight; used != 0 {
		t.Errorf("%d bytes of the budget are lost", used)
	}
	if len(kinds) != 20 {
		t.Errorf("%d kinds were tried", len(kinds))
	}
}

// memoryConn is a connection that sends given bytes, then the end.
type memoryConn struct {
	r      *bytes.Reader
	sent   int
	closed chan struct{}
	once   sync.Once
}

func (c *memoryConn) Read(p []byte) (int, error) { return c.r.Read(p) }

func (c *memoryConn) Write(p []byte) (int, error) {
	c.sent += len(p)
	return len(p), nil
}

func (c *memoryConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}
func (c *memoryConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *memoryConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *memoryConn) SetDeadline(time.Time) error      { return nil }
func (c *memoryConn) SetReadDeadline(time.Time) error  { return nil }
func (c *memoryConn) SetWriteDeadline(time.Time) error { return nil }

// FuzzSession feeds a whole session. Whatever comes, nothing panics, the session
// ends, all memory comes back, and not more is ever taken than the budget has.
func FuzzSession(f *testing.F) {
	for _, form := range forms {
		p := &peer{form: form}
		var all []byte
		for _, s := range sampleCalls() {
			b := p.encode(s.method, 1, s.args)
			f.Add(b)
			all = append(all, b...)
		}
		f.Add(all)
	}
	for _, b := range hostileBytes() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<20 {
			t.Skip()
		}
		const size = 1 << 20
		budget := door.NewBudget(size)
		var log bytes.Buffer
		d := openDoor(t, Options{MaxReply: size / 4, MaxScanners: 10}, door.Options{InFlight: budget, MaxRequest: size / 4})
		d.handler.opts.Logger = testLogger(&log)
		d.table("t", "cf")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c := &memoryConn{r: bytes.NewReader(data), closed: make(chan struct{})}
		d.pipes.conns <- c
		<-c.closed
		runtime.ReadMemStats(&after)
		// Errors and the store's own work are not of the budget, but are bounded
		// by what came.
		if took := after.TotalAlloc - before.TotalAlloc; took > 2*size+uint64(200*len(data)) {
			t.Errorf("%d bytes were allocated for %d that came", took, len(data))
		}
		until(t, func() bool { return d.door.Figures().Open == 0 })
		if budget.Used() != 0 {
			t.Errorf("%d bytes of the budget are lost", budget.Used())
		}
		if bytes.Contains(log.Bytes(), []byte("panic")) {
			t.Errorf("panic: %s", log.Bytes())
		}
	})
}

// A list of tiny elements takes many times its bytes in memory: that is charged.
func TestListsOfTinyElementsAreCharged(t *testing.T) {
	const size = 1 << 20
	budget := door.NewBudget(size)
	d := openDoor(t, Options{}, door.Options{InFlight: budget, MaxRequest: size / 2})
	d.table("t", "cf")
	p := d.dial(forms[3])
	n := 0
	for _, s := range []step{
		{method: "getRows", args: fields{1: "t", 2: repeat("", 1<<18)}},
		{method: "getRowWithColumns", args: fields{1: "t", 2: "r", 3: repeat("", 1<<18)}},
		{method: "mutateRow", args: fields{1: "t", 2: "r", 3: repeat(fields{2: ":"}, 1<<16)}},
		{method: "mutateRows", args: fields{1: "t", 2: repeat(batch("r", fields{2: ":"}), 1<<15)}},
		{method: "createTable", args: fields{1: "u", 2: repeat(fields{}, 1<<18)}},
		{method: "incrementRows", args: fields{1: repeat(fields{}, 1<<18)}},
	} {
		p = d.dial(forms[3])
		b := p.encode(s.method, 1, s.args)
		if len(b) > size/2 {
			t.Fatalf("%s: %d bytes", s.method, len(b))
		}
		go func() { _, _ = p.conn.Write(b) }()
		said, err := io.ReadAll(p.conn)
		if err != nil && err != io.ErrClosedPipe || !bytes.Contains(said, []byte("more than all memory in flight")) {
			t.Errorf("%s: said %q, %v", s.method, said, err)
		}
		n++
		until(t, func() bool { return d.door.Figures().Closed["too_large"] == int64(n) })
		if budget.Used() != 0 {
			t.Errorf("%s: %d bytes of the budget are lost", s.method, budget.Used())
		}
	}
}

func repeat(v any, n int) list {
	l := make(list, n)
	for i := range l {
		l[i] = v
	}
	return l
}
