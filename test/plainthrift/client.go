package plainthrift

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"time"
)

// Client calls an HBase Thrift 1 server over one connection of the buffered
// transport. It is used by one goroutine at a time.
type Client struct {
	net.Conn
	r   *bufio.Reader
	seq int32
}

// Refused is a call that was answered with an exception.
type Refused struct{ Method, Text string }

func (e *Refused) Error() string { return e.Method + ": " + e.Text }

// Dial connects.
func Dial(addr string) (*Client, error) {
	c, err := net.DialTimeout("tcp", addr, 30*time.Second)
	if err != nil {
		return nil, err
	}
	return newClient(c), nil
}

func newClient(c net.Conn) *Client { return &Client{Conn: c, r: bufio.NewReaderSize(c, 64<<10)} }

// ReadAnswer reads the next reply.
func (c *Client) ReadAnswer() (*Answer, error) { return ReadAnswer(c.r) }

// Do calls a method, waits for its reply and gives what it returns; nil for
// void. A declared exception, and one of the protocol, is a *Refused; after any
// other error the connection is of no use.
func (c *Client) Do(method string, args ...Value) (any, error) {
	c.seq++
	if _, err := c.Write(Message(method, c.seq, args...)); err != nil {
		return nil, err
	}
	a, err := c.ReadAnswer()
	if err != nil {
		return nil, err
	}
	if a.Method != method || a.Seq != c.seq {
		return nil, fmt.Errorf("asked %s number %d, answered %s number %d", method, c.seq, a.Method, a.Seq)
	}
	if a.Kind == Exception {
		text, _ := a.Fields[1].([]byte)
		return nil, &Refused{method, string(text)}
	}
	for id, v := range a.Fields {
		if f, ok := v.(Fields); ok && id != 0 {
			text, _ := f[1].([]byte)
			return nil, &Refused{method, string(text)}
		}
	}
	return a.Fields[0], nil
}

// CreateTable makes a table with families of three versions.
func (c *Client) CreateTable(table string, families ...string) error {
	var columns []Value
	for _, f := range families {
		columns = append(columns, Struct(Bytes(f)))
	}
	_, err := c.Do("createTable", Bytes(table), List(TypeStruct, columns...))
	return err
}

// Put is a column and the value to store there.
type Put struct{ Column, Value string }

// Row is a row and its columns: what is written to it, or what is in it.
type Row struct {
	Key  string
	Puts []Put
}

// PutRows writes rows in one mutateRows.
func (c *Client) PutRows(table string, rows ...Row) error {
	var batches []Value
	for _, r := range rows {
		var mutations []Value
		for _, p := range r.Puts {
			mutations = append(mutations, Struct(Value{}, Bytes(p.Column), Bytes(p.Value)))
		}
		batches = append(batches, Struct(Bytes(r.Key), List(TypeStruct, mutations...)))
	}
	_, err := c.Do("mutateRows", Bytes(table), List(TypeStruct, batches...), NoAttributes())
	return err
}

// GetRow reads a row: its values by column; empty if there is none.
func (c *Client) GetRow(table, row string) (map[string]string, error) {
	v, err := c.Do("getRow", Bytes(table), Bytes(row), NoAttributes())
	if err != nil {
		return nil, err
	}
	rows, err := rowsOf(v)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0].Columns, nil
}

// RowResult is a row as it was read.
type RowResult struct {
	Key     string
	Columns map[string]string // values by column
}

// Scan reads all rows of a table, in their order, and gives each to the
// function until that answers with an error.
func (c *Client) Scan(table string, each func(RowResult) error) error {
	v, err := c.Do("scannerOpen", Bytes(table), Bytes(""), List(TypeBytes), NoAttributes())
	if err != nil {
		return err
	}
	id, ok := v.(int64)
	if !ok {
		return fmt.Errorf("scannerOpen answers %v", v)
	}
	for {
		v, err := c.Do("scannerGetList", I32(int32(id)), I32(500))
		if err != nil {
			return err
		}
		rows, err := rowsOf(v)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			_, err := c.Do("scannerClose", I32(int32(id)))
			return err
		}
		for _, r := range rows {
			if err := each(r); err != nil {
				return err
			}
		}
	}
}

var errShape = errors.New("the answer is not a list of rows")

func rowsOf(v any) ([]RowResult, error) {
	list, ok := v.([]any)
	if !ok {
		if v == nil {
			return nil, errShape
		}
		return nil, fmt.Errorf("%w: %v", errShape, v)
	}
	rows := make([]RowResult, 0, len(list))
	for _, item := range list {
		f, _ := item.(Fields)
		key, ok := f[1].([]byte)
		cells, ok2 := f[2].(map[string]any)
		if !ok || !ok2 {
			return nil, errShape
		}
		r := RowResult{Key: string(key), Columns: map[string]string{}}
		for column, cell := range cells {
			cf, _ := cell.(Fields)
			value, ok := cf[1].([]byte)
			if !ok {
				return nil, errShape
			}
			r.Columns[column] = string(value)
		}
		rows = append(rows, r)
	}
	return rows, nil
}
