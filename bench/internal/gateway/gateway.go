// Package gateway is a Thrift 1 gateway over a map, for the tests of the load
// generators: the calls that they make and no others, in either protocol, framed
// or not. It keeps one version of a column. Not for use outside of tests.
//
// A test may put a function between a request and its answer, to lose or
// change what was written and to refuse calls.
package gateway

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"

	"github.com/cellardb/cellar/internal/wire/thrift"
)

// Gateway serves until Close.
type Gateway struct {
	listener net.Listener
	wg       sync.WaitGroup
	hooks    Hooks

	mu struct {
		sync.Mutex
		tables   map[string]*table
		scanners map[int32]*scanner
		nextID   int32
		conns    map[net.Conn]bool
		calls    map[string]int
		unlogged int // mutations with writeToWAL false
		closed   bool
	}
}

// Hooks change what a Gateway does; nil fields do nothing. All but Before are
// called by one goroutine at a time.
type Hooks struct {
	// Before is called before a call is done, and may take its time.
	Before func(method string)
	// Refuse answers a call with an IOError of this text unless it is empty.
	Refuse func(method string) string
	// Store may change a value on its way into the table; false loses it.
	Store func(row, column, value string) (string, bool)
	// HangUp closes the connection in place of an answer.
	HangUp func(method string) bool
}

type table struct {
	rows    map[string]map[string]string
	keys    []string // sorted; nil: to be made
	enabled bool
}

type scanner struct {
	table *table
	keys  []string
}

// Start starts a Gateway that listens on a loopback port.
func Start(h Hooks) (*Gateway, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g := New(h)
	g.listener = l
	g.wg.Go(g.accept)
	return g, nil
}

// New makes a Gateway that listens nowhere: see Serve.
func New(h Hooks) *Gateway {
	g := &Gateway{hooks: h}
	g.mu.tables = make(map[string]*table)
	g.mu.scanners = make(map[int32]*scanner)
	g.mu.conns = make(map[net.Conn]bool)
	g.mu.calls = make(map[string]int)
	return g
}

// Serve answers on a connection until it ends.
func (g *Gateway) Serve(c net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mu.closed {
		_ = c.Close() // nobody was served
		return
	}
	g.mu.conns[c] = true
	g.wg.Go(func() { g.serve(c) })
}

// Addr is where it listens.
func (g *Gateway) Addr() string { return g.listener.Addr().String() }

// Tables lists the tables that are there.
func (g *Gateway) Tables() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var names []string
	for n := range g.mu.tables {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Calls is how often a method was called.
func (g *Gateway) Calls(method string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.mu.calls[method]
}

// Unlogged is the number of mutations that were not to be logged.
func (g *Gateway) Unlogged() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.mu.unlogged
}

// Row is what a table holds for a row.
func (g *Gateway) Row(tableName, row string) map[string]string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t := g.mu.tables[tableName]; t != nil {
		return t.rows[row]
	}
	return nil
}

// Close ends all connections and waits.
func (g *Gateway) Close() {
	g.mu.Lock()
	g.mu.closed = true
	for c := range g.mu.conns {
		_ = c.Close() // ends its goroutine
	}
	g.mu.Unlock()
	if g.listener != nil {
		_ = g.listener.Close() // ends accept
	}
	g.wg.Wait()
}

func (g *Gateway) accept() {
	for {
		c, err := g.listener.Accept()
		if err != nil {
			return
		}
		g.Serve(c)
	}
}

func (g *Gateway) serve(c net.Conn) {
	defer func() {
		g.mu.Lock()
		delete(g.mu.conns, c)
		g.mu.Unlock()
		_ = c.Close() // the peer is gone or refused
	}()
	r := thrift.NewReader(c, thrift.Limits{})
	var w thrift.Writer
	for {
		h, err := r.Next()
		if err != nil {
			return
		}
		w.Reset(h.Protocol, h.Framed)
		if err := g.answer(r, &w, string(h.Name), h.Seq); err != nil {
			return
		}
		if _, err := c.Write(w.Bytes()); err != nil {
			return
		}
	}
}

var errHangUp = errors.New("hang up")

// answer reads a call and writes its reply.
func (g *Gateway) answer(r *thrift.Reader, w *thrift.Writer, method string, seq int32) error {
	call, err := readArguments(r)
	if err != nil {
		return err
	}
	if g.hooks.Before != nil {
		g.hooks.Before(method)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.calls[method]++
	if g.hooks.HangUp != nil && g.hooks.HangUp(method) {
		return errHangUp
	}
	if g.hooks.Refuse != nil {
		if text := g.hooks.Refuse(method); text != "" {
			return g.reply(w, method, seq, func() error { return exception{1, text} })
		}
	}
	f, ok := methods[method]
	if !ok {
		e := thrift.AppException{Code: thrift.AppUnknownMethod, Message: fmt.Sprintf("Invalid method name: '%s'", method)}
		e.Write(w, method, seq)
		return nil
	}
	return g.reply(w, method, seq, func() error { return f(g, call, w) })
}

// exception is a declared exception: a field of the result.
type exception struct {
	field int16
	text  string
}

func (e exception) Error() string { return e.text }

func (g *Gateway) reply(w *thrift.Writer, method string, seq int32, result func() error) error {
	w.Message(method, thrift.Reply, seq)
	w.StructBegin()
	m := w.Mark()
	if err := result(); err != nil {
		var e exception
		if !errors.As(err, &e) {
			return err
		}
		w.Truncate(m)
		w.Field(thrift.Struct, e.field)
		w.StructBegin()
		w.Field(thrift.String, 1)
		w.String(e.text)
		w.StructEnd()
	}
	w.StructEnd()
	w.MessageEnd()
	return nil
}

// value is any Thrift value, as far as calls hold them: string, int64, bool,
// []value, or map[int16]value for a struct.
type value any

func readArguments(r *thrift.Reader) (map[int16]value, error) {
	v := readValue(r, thrift.Struct)
	if err := r.Err(); err != nil {
		return nil, err
	}
	return v.(map[int16]value), nil
}

func readValue(r *thrift.Reader, t thrift.Type) value {
	switch t {
	case thrift.String:
		return string(r.Binary())
	case thrift.I32:
		return int64(r.I32())
	case thrift.I64:
		return r.I64()
	case thrift.Bool:
		return r.Bool()
	case thrift.List:
		var all []value
		for elem, n := r.List(); n > 0 && r.Err() == nil; n-- {
			all = append(all, readValue(r, elem))
		}
		return all
	case thrift.Struct:
		m := make(map[int16]value)
		r.StructBegin()
		for t, id := r.Field(); t != thrift.Stop; t, id = r.Field() {
			m[id] = readValue(r, t)
		}
		return m
	}
	r.Skip(t)
	return nil
}
