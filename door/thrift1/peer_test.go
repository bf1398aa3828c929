package thrift1

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/door"
	"github.com/cellardb/cellar/internal/wire/thrift"
	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/store/memory"
)

// form is one of the four ways to speak Thrift.
type form struct {
	protocol thrift.Protocol
	framed   bool
}

func (f form) String() string {
	if f.framed {
		return "framed " + f.protocol.String()
	}
	return "buffered " + f.protocol.String()
}

var forms = []form{{thrift.Binary, false}, {thrift.Binary, true}, {thrift.Compact, false}, {thrift.Compact, true}}

// testDoor is a door over an engine, with connections that have no network.
type testDoor struct {
	t       *testing.T
	store   store.Store
	handler *Handler
	door    *door.Door
	pipes   *pipes
}

// pipes is a listener of connections inside the process, so that time can be
// faked.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// openDoor serves a store; an empty one in memory if opts has none.
func openDoor(t *testing.T, opts Options, limits door.Options) *testDoor {
	t.Helper()
	if opts.Store == nil {
		opts.Store = memory.New(memory.Options{})
	}
	h, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	limits.Name, limits.Addr, limits.Metrics = DefaultName, "127.0.0.1:0", opts.Metrics
	limits.Logger = opts.Logger
	d := &testDoor{t: t, store: opts.Store, handler: h, pipes: newPipes()}
	d.door, err = door.On(t.Context(), d.pipes, limits, h)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- d.door.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := d.door.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return d
}

// table makes a table by the store's own hand: families with 3 versions.
func (d *testDoor) table(name string, families ...string) {
	d.t.Helper()
	schema := cell.TableSchema{Name: name}
	for _, f := range families {
		fs := cell.NewFamily(f)
		fs.MaxVersions = 3
		schema.Families = append(schema.Families, fs)
	}
	if err := d.store.CreateTable(d.t.Context(), schema, nil); err != nil {
		d.t.Fatal(err)
	}
}

// put writes cells "row column timestamp value" by the store's own hand.
func (d *testDoor) put(table string, cells ...string) {
	d.t.Helper()
	for _, line := range cells {
		f := strings.SplitN(line, " ", 4)
		family, qualifier, _ := strings.Cut(f[1], ":")
		var ts int64
		fmt.Sscan(f[2], &ts)
		m := cell.NewMutation([]byte(f[0])).Put([]byte(family), []byte(qualifier), ts, []byte(f[3]))
		if _, err := d.store.Apply(d.t.Context(), table, []cell.Mutation{*m}); err != nil {
			d.t.Fatal(err)
		}
	}
}

// peer is a client.
type peer struct {
	t    *testing.T
	conn net.Conn
	w    thrift.Writer
	r    *thrift.Reader
	form form
	seq  int32
}

func (d *testDoor) dial(f form) *peer {
	d.t.Helper()
	ours, theirs := net.Pipe()
	select {
	case d.pipes.conns <- theirs:
	case <-d.pipes.done:
		d.t.Fatal("dial: the door is closed")
	}
	return newPeer(d.t, ours, f)
}

func newPeer(t *testing.T, conn net.Conn, f form) *peer {
	t.Cleanup(func() { conn.Close() })
	p := &peer{t: t, conn: conn, form: f, r: thrift.NewReader(conn, thrift.Limits{})}
	p.w.Reset(f.protocol, f.framed)
	return p
}

// Values of arguments and replies: void, bool, int8, int32, int64, string (any
// bytes), list, fields (a struct) and pairs (a map).
type (
	fields map[int16]any
	list   []any
	pairs  map[string]any
)

func typeOf(v any) thrift.Type {
	switch v.(type) {
	case bool:
		return thrift.Bool
	case int8:
		return thrift.Byte
	case int32:
		return thrift.I32
	case int64:
		return thrift.I64
	case string:
		return thrift.String
	case list:
		return thrift.List
	case fields:
		return thrift.Struct
	case pairs:
		return thrift.Map
	}
	panic(fmt.Sprintf("no Thrift type for %T", v))
}

func write(w *thrift.Writer, v any) {
	switch v := v.(type) {
	case bool:
		w.Bool(v)
	case int8:
		w.Byte(v)
	case int32:
		w.I32(v)
	case int64:
		w.I64(v)
	case string:
		w.String(v)
	case list:
		elem := thrift.String
		if len(v) > 0 {
			elem = typeOf(v[0])
		}
		w.List(elem, len(v))
		for _, x := range v {
			write(w, x)
		}
	case pairs:
		w.Map(thrift.String, thrift.String, len(v))
		for k, x := range v {
			w.String(k)
			write(w, x)
		}
	case fields:
		w.StructBegin()
		for _, id := range sortedIDs(v) {
			w.Field(typeOf(v[id]), id)
			write(w, v[id])
		}
		w.StructEnd()
	}
}

func sortedIDs(f fields) []int16 {
	var ids []int16
	for id := range f {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func read(r *thrift.Reader, t thrift.Type) any {
	switch t {
	case thrift.Bool:
		return r.Bool()
	case thrift.Byte:
		return r.Byte()
	case thrift.I32:
		return r.I32()
	case thrift.I64:
		return r.I64()
	case thrift.String:
		return string(r.Binary())
	case thrift.List:
		elem, n := r.List()
		l := list{}
		for range n {
			l = append(l, read(r, elem))
		}
		return l
	case thrift.Map:
		k, v, n := r.Map()
		m := pairs{}
		for range n {
			key := read(r, k).(string)
			m[key] = read(r, v)
		}
		return m
	case thrift.Struct:
		f := fields{}
		r.StructBegin()
		for {
			t, id := r.Field()
			if t == thrift.Stop {
				return f
			}
			f[id] = read(r, t)
		}
	}
	r.Skip(t)
	return nil
}

// encode is a call as bytes.
func (p *peer) encode(method string, seq int32, args fields) []byte {
	p.w.Reset(p.form.protocol, p.form.framed)
	p.w.Message(method, thrift.Call, seq)
	write(&p.w, args)
	p.w.MessageEnd()
	return bytes.Clone(p.w.Bytes())
}

func (p *peer) send(b []byte) {
	p.t.Helper()
	if _, err := p.conn.Write(b); err != nil {
		p.t.Fatalf("send: %v", err)
	}
}

// reply is what a call was answered.
type reply struct {
	method string
	seq    int32
	value  any // nil: void
	err    error
}

// Exceptions as a client gets them.
type ioErr struct {
	message string
	retry   bool
}
type illegalArgument struct{ message string }
type alreadyExists struct{ message string }

func (e *ioErr) Error() string           { return "IOError: " + e.message }
func (e *illegalArgument) Error() string { return "IllegalArgument: " + e.message }
func (e *alreadyExists) Error() string   { return "AlreadyExists: " + e.message }

// receive reads one reply; an error is the connection's end.
func (p *peer) receive() (reply, error) {
	h, err := p.r.Next()
	if err != nil {
		return reply{}, err
	}
	if h.Protocol != p.form.protocol || h.Framed != p.form.framed {
		p.t.Errorf("answered in %v to %s", h, p.form)
	}
	a := reply{method: string(h.Name), seq: h.Seq}
	if h.Type == thrift.Exception {
		a.err, err = thrift.ReadAppException(p.r)
		return a, err
	}
	f := read(p.r, thrift.Struct).(fields)
	if err := p.r.Err(); err != nil {
		return a, err
	}
	if len(f) > 1 {
		p.t.Errorf("result of %s has %d fields", a.method, len(f))
	}
	a.value = f[0]
	for id, v := range f {
		if id != 0 {
			a.err = exception(id, v.(fields))
		}
	}
	return a, nil
}

func exception(id int16, f fields) error {
	message, _ := f[1].(string)
	switch id {
	case 1:
		retry, _ := f[2].(bool)
		return &ioErr{message, retry}
	case 2:
		return &illegalArgument{message}
	case 3:
		return &alreadyExists{message}
	}
	return fmt.Errorf("exception in field %d", id)
}

// try makes a call and gives what it was answered.
func (p *peer) try(method string, args fields) (any, error) {
	p.t.Helper()
	p.seq++
	p.send(p.encode(method, p.seq, args))
	a, err := p.receive()
	if err != nil {
		p.t.Fatalf("%s: the connection ended: %v", method, err)
	}
	if a.method != method || a.seq != p.seq {
		p.t.Fatalf("call %s %d was answered as %s %d", method, p.seq, a.method, a.seq)
	}
	return a.value, a.err
}

// call makes a call that must succeed.
func (p *peer) call(method string, args fields) any {
	p.t.Helper()
	v, err := p.try(method, args)
	if err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
	return v
}

// expect makes a call and compares the reply, rendered as text.
func (p *peer) expect(method string, args fields, want string) {
	p.t.Helper()
	v, err := p.try(method, args)
	got := render(v)
	if err != nil {
		got = err.Error()
	}
	if got != want {
		p.t.Errorf("%s: got %s, want %s", method, got, want)
	}
}

// expectEnd waits for the door to close the connection, and gives what it said
// before.
func (p *peer) expectEnd() []byte {
	p.t.Helper()
	b, err := io.ReadAll(p.conn)
	if err != nil && !errors.Is(err, io.ErrClosedPipe) {
		p.t.Fatalf("want the end, got %v", err)
	}
	return b
}

// render makes values readable: rows as "row{column=value@ts ...}", cells as
// "value@ts".
func render(v any) string {
	switch v := v.(type) {
	case nil:
		return "void"
	case string:
		return cell.Printable([]byte(v))
	case list:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = render(v[i])
		}
		return "[" + strings.Join(parts, " ") + "]"
	case pairs:
		var parts []string
		for _, k := range sortedKeys(v) {
			parts = append(parts, cell.Printable([]byte(k))+"="+render(v[k]))
		}
		return "{" + strings.Join(parts, " ") + "}"
	case fields:
		return renderStruct(v)
	}
	return fmt.Sprint(v)
}

func sortedKeys(m pairs) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func renderStruct(f fields) string {
	if ts, ok := f[2].(int64); ok && len(f) == 2 { // TCell
		value := cell.Printable([]byte(f[1].(string)))
		if ts > 1e12 {
			return value // by the clock
		}
		return fmt.Sprintf("%s@%d", value, ts)
	}
	if columns, ok := f[2].(pairs); ok && len(f) == 2 { // TRowResult
		return render(f[1]) + render(columns)
	}
	if sorted, ok := f[3].(list); ok && len(f) == 2 { // TRowResult, sorted
		return render(f[1]) + render(sorted)
	}
	var parts []string
	for _, id := range sortedIDs(f) {
		parts = append(parts, fmt.Sprintf("%d:%s", id, render(f[id])))
	}
	return "<" + strings.Join(parts, " ") + ">"
}

// Arguments of calls.
func put(column, value string) fields { return fields{2: column, 3: value} }
func del(column string) fields        { return fields{1: true, 2: column} }
func batch(row string, mutations ...any) fields {
	return fields{1: row, 2: list(mutations)}
}

func testLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelError}))
}
