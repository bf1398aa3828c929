package remote

import (
	"context"
	"errors"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cellardb/cellar/internal/shell"
	"github.com/cellardb/cellar/internal/wire/thrift"
)

// flaky is a gateway that ends connections: each call is answered, or ends its
// connection, as the function says of its number.
func flaky(t *testing.T, ends func(call int) bool) (g *Gateway, calls *[]string, dialled *int) {
	t.Helper()
	calls, dialled = new([]string), new(int)
	g = peer(t, Options{}, func(h thrift.Header, w *thrift.Writer) bool {
		*calls = append(*calls, string(h.Name))
		if ends(len(*calls)) {
			return false
		}
		return reply(h, w, func() {
			switch string(h.Name) {
			case "isTableEnabled":
				w.BoolField(0, true)
			case "atomicIncrement":
				i64(w, 0, 7)
			case "scannerOpenWithScan":
				i32(w, 0, 7)
			case "getTableNames", "getRowWithColumns", "scannerGetList", "getTableRegions", "getVer":
				w.Field(thrift.List, 0)
				w.List(thrift.Struct, 0)
			case "getColumnDescriptors":
				w.Field(thrift.Map, 0)
				w.Map(thrift.String, thrift.Struct, 0)
			}
		})
	})
	dial := g.conn.opts.Dial
	g.conn.opts.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
		*dialled++
		return dial(ctx, addr)
	}
	return g, calls, dialled
}

// everyCall is what the shell asks of a gateway, by the name that it has there.
func everyCall(ctx context.Context, g *Gateway) map[string]func() error {
	row, column := []byte("r"), []byte("f:c")
	return map[string]func() error{
		"getTableNames":        func() error { _, err := g.TableNames(ctx); return err },
		"getColumnDescriptors": func() error { _, err := g.Families(ctx, "t"); return err },
		"isTableEnabled":       func() error { _, err := g.IsEnabled(ctx, "t"); return err },
		"getTableRegions":      func() error { _, err := g.RegionStarts(ctx, "t"); return err },
		"getRowWithColumns":    func() error { _, err := g.Row(ctx, "t", row, nil, shell.Timestamp{}); return err },
		"getVer":               func() error { _, err := g.Versions(ctx, "t", row, column, shell.Timestamp{}, 1); return err },
		"scannerOpenWithScan":  func() error { _, err := g.Scan(ctx, "t", shell.ScanSpec{}); return err },
		"scannerClose":         func() error { return (&scanner{g: g, id: 7}).Close(ctx) },
		"scannerGetList":       func() error { _, err := (&scanner{g: g, id: 7}).Next(ctx, 1); return err },
		"mutateRow":            func() error { return g.Put(ctx, "t", row, column, nil, shell.Timestamp{}) },
		"deleteAllRow":         func() error { return g.Delete(ctx, "t", row, nil, shell.Timestamp{}) },
		"atomicIncrement":      func() error { _, err := g.Increment(ctx, "t", row, column, 1); return err },
		"enableTable":          func() error { return g.EnableTable(ctx, "t") },
		"disableTable":         func() error { return g.DisableTable(ctx, "t") },
		"deleteTable":          func() error { return g.DeleteTable(ctx, "t") },
		"createTable":          func() error { return g.CreateTable(ctx, "t", nil) },
	}
}

// A connection that ends when a call was sent on it: what changes nothing is sent
// once more, what may have been done is not, and that is said.
func TestGateway_lostAfterTheRequest(t *testing.T) {
	const unknown = "it is not known whether it was done"
	for name := range everyCall(t.Context(), nil) {
		g, calls, dialled := flaky(t, func(call int) bool { return call == 2 })
		if _, err := g.IsEnabled(t.Context(), "t"); err != nil {
			t.Fatal(err)
		}
		err := everyCall(t.Context(), g)[name]()
		sent := slices.Clone(*calls)[1:]
		switch {
		case harmless(name):
			if err != nil || *dialled != 2 || strings.Join(sent, " ") != name+" "+name {
				t.Errorf("%s: %v after %d connections, %q", name, err, *dialled, sent)
			}
		case name == "scannerGetList":
			if !errors.Is(err, ErrNoReply) || strings.Contains(err.Error(), unknown) || len(sent) != 1 {
				t.Errorf("%s: %v, %q", name, err, sent)
			}
		default:
			if !errors.Is(err, ErrNoReply) || !strings.Contains(err.Error(), unknown) || len(sent) != 1 || *dialled != 1 {
				t.Errorf("%s: %v, %q", name, err, sent)
			}
		}
		// Whatever became of it, the next call finds a connection.
		if _, err := g.IsEnabled(t.Context(), "t"); err != nil || *dialled != 2 {
			t.Errorf("after %s: %v, %d connections", name, err, *dialled)
		}
	}
	if n := len(everyCall(t.Context(), nil)); n != 16 {
		t.Errorf("%d calls", n)
	}
}

// Once more is once: a gateway that ends every connection is an error, and so is
// one that ends a new connection, for that was not idle.
func TestGateway_lostAgain(t *testing.T) {
	for answered := range 2 {
		g, calls, dialled := flaky(t, func(call int) bool { return call > answered })
		if answered == 1 {
			if _, err := g.IsEnabled(t.Context(), "t"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := g.IsEnabled(t.Context(), "t"); !errors.Is(err, ErrNoReply) || len(*calls) != 1+2*answered || *dialled != 1+answered {
			t.Errorf("with %d answered: %v after %d calls, %d connections", answered, err, len(*calls), *dialled)
		}
	}
}

// A connection that cannot take the request is opened again for any call: a
// request that did not leave was not carried out.
func TestGateway_lostBeforeTheRequest(t *testing.T) {
	for name := range everyCall(t.Context(), nil) {
		g, calls, dialled := flaky(t, func(int) bool { return false })
		if _, err := g.IsEnabled(t.Context(), "t"); err != nil {
			t.Fatal(err)
		}
		if err := g.conn.c.Close(); err != nil { // a pipe: to write on it fails at once
			t.Fatal(err)
		}
		if err := everyCall(t.Context(), g)[name](); err != nil || *dialled != 2 || strings.Join(*calls, " ") != "isTableEnabled "+name {
			t.Errorf("%s: %v after %d connections, %q", name, err, *dialled, *calls)
		}
	}
}

// A connection over TCP that the other side closed while nobody used it is seen
// to be over before anything is sent on it; one that is merely silent is not.
func TestGateway_closedWhileIdle(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer l.Close()
	var mu sync.Mutex
	var ours []net.Conn
	var calls []string
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			ours = append(ours, c)
			mu.Unlock()
			wg.Go(func() { answerAll(c, func(name string) { mu.Lock(); calls = append(calls, name); mu.Unlock() }) })
		}
	})
	g := NewGateway(l.Addr().String(), Options{})
	defer g.Close()
	for round := range 3 {
		for range 2 {
			if err := g.DisableTable(t.Context(), "t"); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		if over(g.conn.c) {
			t.Error("a connection that is silent is over")
		}
		mu.Lock()
		if len(ours) != round+1 || len(calls) != 2*(round+1) {
			t.Errorf("round %d: %d connections, %q", round, len(ours), calls)
		}
		ours[round].Close()
		mu.Unlock()
		for end := time.Now().Add(time.Minute); !over(g.conn.c); runtime.Gosched() {
			if time.Now().After(end) {
				t.Fatal("its end does not arrive")
			}
		}
	}
}

// answerAll answers every call with nothing.
func answerAll(c net.Conn, note func(name string)) {
	defer c.Close()
	r := thrift.NewReader(c, thrift.Limits{})
	for {
		h, err := r.Next()
		if err != nil {
			return
		}
		name := string(h.Name)
		r.Skip(thrift.Struct)
		note(name)
		var w thrift.Writer
		w.Reset(thrift.Binary, false)
		h.Name = []byte(name)
		reply(h, &w, func() {})
		if _, err := c.Write(w.Bytes()); err != nil {
			return
		}
	}
}

// Bytes that nobody asked for make a connection as useless as its end.
func TestOver(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	theirs, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	if over(c) {
		t.Error("a new connection is over")
	}
	if _, err := theirs.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); !over(c); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal("a connection with an odd byte is taken")
		}
	}
	var one [1]byte
	if n, err := c.Read(one[:]); n != 1 || err != nil || one[0] != 'x' {
		t.Errorf("the look took the byte away: %d, %v", n, err)
	}
	if over(c) {
		t.Error("it is over, though it is empty again")
	}
	c.Close()
	if !over(c) {
		t.Error("a connection that we closed is not over")
	}
	a, b := net.Pipe()
	b.Close()
	if over(a) {
		t.Error("a pipe can be looked at")
	}
	a.Close()
}
