package thrift1

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/door"
	"github.com/cellardb/cellar/store"
)

// nothing is a store that costs nothing: writes vanish, and every read finds the
// same row of three values.
type nothing struct {
	store.Store
	row cell.Result
}

func newNothing() *nothing {
	n := &nothing{row: cell.Result{Row: []byte("RK_1234567_1234567890123456")}}
	for q := range 3 {
		n.row.Cells = append(n.row.Cells, cell.Cell{
			Row: n.row.Row, Family: []byte("f1"), Qualifier: fmt.Append(nil, q), Timestamp: 1, Value: bytes.Repeat([]byte{'v'}, 330),
		})
	}
	return n
}

func (n *nothing) Apply(context.Context, string, []cell.Mutation) ([][]cell.Cell, error) {
	return nil, nil
}

func (n *nothing) Get(_ context.Context, _ string, _ *cell.Get, into *cell.Result) error {
	into.Reset()
	into.Row, into.Cells = n.row.Row, append(into.Cells, n.row.Cells...)
	return nil
}

func (n *nothing) Scan(context.Context, string, *cell.Scan) (store.Scanner, error) { return n, nil }
func (n *nothing) Next(context.Context) (*cell.Result, error)                      { return &n.row, nil }
func (n *nothing) Close() error                                                    { return nil }

// replay is a connection that sends the same call n times, one after the other,
// and lets what it is answered vanish.
type replay struct {
	memoryConn
	call []byte
	n    int
	left []byte
}

func (r *replay) Read(p []byte) (int, error) {
	if len(r.left) == 0 {
		if r.n == 0 {
			return 0, io.EOF
		}
		r.n--
		r.left = r.call
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// bench handles a call b.N times. It stands for rows rows.
func bench(b *testing.B, rows int, method string, args fields) {
	for _, f := range forms {
		b.Run(f.String(), func(b *testing.B) {
			h, err := New(Options{Store: newNothing()})
			if err != nil {
				b.Fatal(err)
			}
			p := newPipes()
			d, err := door.On(b.Context(), p, door.Options{Name: "bench", Addr: "127.0.0.1:0"}, h)
			if err != nil {
				b.Fatal(err)
			}
			served := make(chan error, 1)
			go func() { served <- d.Serve() }()
			if _, err := h.scanners.add("t", &cell.Scan{}, false); err != nil {
				b.Fatal(err)
			}
			peer := &peer{form: f}
			c := &replay{memoryConn: memoryConn{closed: make(chan struct{})}, call: peer.encode(method, 1, args), n: b.N}
			b.ReportAllocs()
			b.ResetTimer()
			start := time.Now()
			p.conns <- net.Conn(c)
			<-c.closed
			b.StopTimer()
			b.ReportMetric(float64(rows*b.N)/time.Since(start).Seconds(), "rows/s")
			b.SetBytes(int64(max(len(c.call), c.sent/b.N)))
			if err := d.Shutdown(b.Context()); err != nil {
				b.Fatal(err)
			}
			if err := <-served; err != nil {
				b.Fatal(err)
			}
		})
	}
}

// records is a mutateRows of n records as they were published: three columns of
// about 330 bytes.
func records(n int) fields {
	value := "value_" + string(bytes.Repeat([]byte{'x'}, 319)) + "_endv"
	rows := list{}
	for i := range n {
		rows = append(rows, batch(fmt.Sprintf("RK_%07d_1234567890123456", i), put("f1:1", value), put("f1:2", value), put("f1:3", value)))
	}
	return fields{1: "t", 2: rows}
}

func BenchmarkMutateRows300(b *testing.B) { bench(b, 300, "mutateRows", records(300)) }

func BenchmarkGetRow(b *testing.B) {
	bench(b, 1, "getRow", fields{1: "t", 2: "RK_1234567_1234567890123456"})
}

func BenchmarkScannerGetList1000(b *testing.B) { bench(b, 1000, "scannerGetList", getList(0, 1000)) }
