package tabimport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cellardb/cellar/bench/thriftclient"
	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/internal/wire/thrift"
	"github.com/cellardb/cellar/store"
)

// gateway is a Thrift server that knows mutateRowsTs only. answer decides what
// becomes of each call: nil stores it, errHangUp ends the connection, anything
// else goes out as an IOError.
type gateway struct {
	listener net.Listener
	answer   func(call int, keys []string) error

	mu          sync.Mutex
	calls       []string // timestamp and keys
	connections int
	serving     sync.WaitGroup
}

var errHangUp = errors.New("hang up")

// illegalArgument goes out as the exception of that name.
type illegalArgument string

func (e illegalArgument) Error() string { return string(e) }

func startGateway(t *testing.T, answer func(call int, keys []string) error) *gateway {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gateway{listener: l, answer: answer}
	g.serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			g.mu.Lock()
			g.connections++
			g.mu.Unlock()
			g.serving.Go(func() { g.serve(conn) })
		}
	})
	t.Cleanup(func() { l.Close(); g.serving.Wait() })
	return g
}

// seen gives the calls and the number of connections.
func (g *gateway) seen() (calls []string, connections int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.calls), g.connections
}

func (g *gateway) serve(conn net.Conn) {
	defer conn.Close()
	r := thrift.NewReader(conn, thrift.Limits{MaxMessage: 1 << 20, Pool: new(thrift.Pool)})
	var w thrift.Writer
	for {
		h, err := r.Next()
		if err != nil {
			return
		}
		name := string(h.Name)
		seq := h.Seq
		timestamp, keys := readCall(r)
		g.mu.Lock()
		call := len(g.calls)
		g.calls = append(g.calls, fmt.Sprintf("%d %s", timestamp, strings.Join(keys, " ")))
		g.mu.Unlock()
		failure := g.answer(call, keys)
		if errors.Is(failure, errHangUp) {
			return
		}
		w.Reset(thrift.Binary, false)
		w.Message(name, thrift.Reply, seq)
		w.StructBegin()
		if failure != nil {
			field := int16(1)
			var illegal illegalArgument
			if errors.As(failure, &illegal) {
				field = 2
			}
			w.Field(thrift.Struct, field)
			w.StructBegin()
			w.Field(thrift.String, 1)
			w.String(failure.Error())
			w.StructEnd()
		}
		w.StructEnd()
		w.MessageEnd()
		if _, err := conn.Write(w.Bytes()); err != nil {
			return
		}
	}
}

// readCall reads the arguments of mutateRowsTs: its timestamp, and the keys.
func readCall(r *thrift.Reader) (timestamp int64, keys []string) {
	r.StructBegin()
	for t, id := r.Field(); t != thrift.Stop; t, id = r.Field() {
		switch {
		case id == 3 && t == thrift.I64:
			timestamp = r.I64()
		case id == 2 && t == thrift.List:
			for _, n := r.List(); n > 0 && r.Err() == nil; n-- {
				keys = append(keys, readKey(r))
			}
		default:
			r.Skip(t)
		}
	}
	return timestamp, keys
}

func readKey(r *thrift.Reader) (key string) {
	r.StructBegin()
	for t, id := r.Field(); t != thrift.Stop; t, id = r.Field() {
		if id == 1 && t == thrift.String {
			key = string(r.Binary())
		} else {
			r.Skip(t)
		}
	}
	return key
}

// rowsAt makes rows of keys and timestamps: "a@5".
func rowsAt(spec string) []cell.Mutation {
	var rows []cell.Mutation
	for _, s := range strings.Fields(spec) {
		var ts int64
		key, number, _ := strings.Cut(s, "@")
		if _, err := fmt.Sscan(number, &ts); err != nil {
			panic(err)
		}
		rows = append(rows, *cell.NewMutation([]byte(key)).Put([]byte("f"), []byte("q"), ts, []byte("v")))
	}
	return rows
}

// A call has one timestamp: rows go out in a call for each, in the order in which
// timestamps come, and rows of one timestamp in their order. Where a call is
// refused for its rows, they go out one by one.
func TestThriftLane(t *testing.T) {
	const doNotRetry = "org.apache.hadoop.hbase.DoNotRetryIOException: no"
	cases := []struct {
		name, rows string
		answer     func(call int, keys []string) error
		calls      []string
		want       string // the error
		is         error
		refused    []int
	}{
		{name: "one timestamp", rows: "a@5 b@5 a@5", calls: []string{"5 a b a"}},
		{name: "several", rows: "a@5 b@6 c@5 d@7 e@6", calls: []string{"5 a c", "6 b e", "7 d"}},
		{name: "a row is refused", rows: "a@5 bad@6 c@5 d@6", answer: refuseBad(illegalArgument("KeyValue size too large")),
			calls: []string{"5 a c", "6 bad d", "6 bad", "6 d"}, refused: []int{1},
			want: "1 of 4 mutations failed; number 1: mutateRowsTs: IllegalArgument: KeyValue size too large"},
		{name: "two rows are refused", rows: "bad@5 b@5 bad@5", answer: refuseBad(errors.New(doNotRetry)),
			calls: []string{"5 bad b bad", "5 bad", "5 b", "5 bad"}, refused: []int{0, 2},
			want: "2 of 3 mutations failed; number 0: mutateRowsTs: IOError: " + doNotRetry},
		{name: "busy", rows: "a@5", answer: always("org.apache.hadoop.hbase.RegionTooBusyException: engine is busy"), calls: []string{"5 a"}, is: store.ErrBusy,
			want: "mutateRowsTs: IOError: org.apache.hadoop.hbase.RegionTooBusyException: engine is busy"},
		{name: "full", rows: "a@5", answer: always("org.apache.hadoop.hbase.RegionTooBusyException: disk is full"), calls: []string{"5 a"}, is: store.ErrDiskFull,
			want: "mutateRowsTs: IOError: org.apache.hadoop.hbase.RegionTooBusyException: disk is full"},
		{name: "no family", rows: "a@5", answer: always("org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException: f"), calls: []string{"5 a"}, is: store.ErrNoSuchFamily,
			want: "mutateRowsTs: IOError: org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException: f"},
		{name: "disabled", rows: "a@5", answer: always("Failed 1 action: t is disabled.: 1 time"), calls: []string{"5 a"}, is: store.ErrTableDisabled,
			want: "mutateRowsTs: IOError: Failed 1 action: t is disabled.: 1 time"},
		{name: "something in the cluster", rows: "a@5", answer: always("java.net.SocketTimeoutException: x"), calls: []string{"5 a"}, is: store.ErrBusy,
			want: "mutateRowsTs: IOError: java.net.SocketTimeoutException: x"},
		{name: "none", rows: ""},
	}
	for _, c := range cases {
		answer := c.answer
		if answer == nil {
			answer = func(int, []string) error { return nil }
		}
		g := startGateway(t, answer)
		lane := (&ThriftTarget{Addr: g.listener.Addr().String()}).Lane("t")
		err := lane.Write(context.Background(), rowsAt(c.rows))
		if cerr := lane.Close(); cerr != nil {
			t.Error(cerr)
		}
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		if calls, _ := g.seen(); !slices.Equal(calls, c.calls) {
			t.Errorf("%s: calls %q, want %q", c.name, calls, c.calls)
		}
		var batch *store.BatchError
		var refused []int
		if errors.As(err, &batch) {
			for _, f := range batch.Failed {
				refused = append(refused, f.Index)
			}
		}
		if !slices.Equal(refused, c.refused) {
			t.Errorf("%s: refused %v, want %v", c.name, refused, c.refused)
		}
	}
	if len(cases) != 10 {
		t.Errorf("%d cases, want 10", len(cases))
	}
}

func refuseBad(failure error) func(int, []string) error {
	return func(_ int, keys []string) error {
		if slices.Contains(keys, "bad") {
			return failure
		}
		return nil
	}
}

func always(text string) func(int, []string) error {
	return func(int, []string) error { return errors.New(text) }
}

// A lane may be used again with other rows, fewer or more, and more calls than are
// under way at a time.
func TestThriftLane_again(t *testing.T) {
	g := startGateway(t, func(int, []string) error { return nil })
	lane := (&ThriftTarget{Addr: g.listener.Addr().String(), Options: thriftclient.Options{}}).Lane("t")
	defer lane.Close()
	var many strings.Builder
	for i := range 3*pipelined + 1 {
		fmt.Fprintf(&many, "r%d@%d ", i, i)
	}
	for _, spec := range []string{"a@1 b@2", "c@3", many.String(), "d@4 e@4"} {
		if err := lane.Write(context.Background(), rowsAt(spec)); err != nil {
			t.Fatal(err)
		}
	}
	calls, connections := g.seen()
	if n := len(calls); n != 2+1+3*pipelined+1+1 || calls[2] != "3 c" || calls[n-1] != "4 d e" || calls[5] != "2 r2" {
		t.Errorf("%d calls: %q", n, calls)
	}
	if connections != 1 {
		t.Errorf("%d connections", connections)
	}
}

// A connection that is lost in the middle of a batch is made anew, and the batch is
// sent again, whole.
func TestImport_connectionLost(t *testing.T) {
	g := startGateway(t, func(call int, _ []string) error {
		if call == 1 || call == 2 {
			return errHangUp
		}
		return nil
	})
	inFolder(t, map[string]string{"x.csv": "a,1\nb,2\nc,3\nd,4\ne,5\n"})
	o := testOptions("HBASE_ROW_KEY,f:a", "x.csv")
	o.Lanes = 1
	im, err := New(o, preparedTarget{&ThriftTarget{Addr: g.listener.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := im.Run(context.Background()); err != nil || r.Rows != 5 {
		t.Errorf("%+v, %v", r, err)
	}
	const ts = "1700000000000 "
	calls, connections := g.seen()
	if want := []string{ts + "a b", ts + "c d", ts + "c d", ts + "c d", ts + "e"}; !slices.Equal(calls, want) {
		t.Errorf("calls %q, want %q", calls, want)
	}
	if connections != 3 {
		t.Errorf("%d connections", connections)
	}
}

// preparedTarget has its table.
type preparedTarget struct{ *ThriftTarget }

func (preparedTarget) Prepare(context.Context, string, []string, bool) error { return nil }

// A lane that waits for an answer ends with its context.
func TestThriftLane_cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	held := make(chan struct{})
	g := startGateway(t, func(int, []string) error {
		cancel()
		<-held
		return errHangUp
	})
	lane := (&ThriftTarget{Addr: g.listener.Addr().String()}).Lane("t")
	if err := lane.Write(ctx, rowsAt("a@1")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(held)
	if err := lane.Close(); err != nil {
		t.Error(err)
	}
}
