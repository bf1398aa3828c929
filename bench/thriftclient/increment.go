package thriftclient

import "github.com/cellardb/cellar/internal/wire/thrift"

// Increment adds to a counter: a column (family:qualifier) of a row.
type Increment struct {
	Row, Column []byte
	Amount      int64
}

// IncrementRows adds to counters of a table and waits until the gateway
// acknowledges all. A call that failed may have been done in part: sent again,
// it would count twice.
func (c *Client) IncrementRows(table string, increments []Increment) error {
	const method = "incrementRows"
	w := c.begin(method)
	w.Field(thrift.List, 1)
	w.List(thrift.Struct, len(increments))
	for i := range increments {
		w.StructBegin()
		w.Field(thrift.String, 1)
		w.String(table)
		w.Field(thrift.String, 2)
		w.Binary(increments[i].Row)
		w.Field(thrift.String, 3)
		w.Binary(increments[i].Column)
		w.Field(thrift.I64, 4)
		w.I64(increments[i].Amount)
		w.StructEnd()
	}
	if err := c.end(); err != nil {
		return err
	}
	return c.receive(method, void, nil)
}
