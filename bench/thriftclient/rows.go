package thriftclient

import "github.com/cellardb/cellar/internal/wire/thrift"

// Row is a row of a reply. It and its bytes are valid until the function that
// it is shown to returns.
type Row struct {
	Key     []byte
	Columns []Column
}

// Column is the newest version of a column.
type Column struct {
	Name      []byte // family:qualifier
	Value     []byte
	Timestamp int64 // ms
}

// readRows reads list<TRowResult> and shows each row to visit. After an error
// of visit the rest is skipped.
func (c *Client) readRows(visit func(*Row) error) error {
	var failure error
	c.gotRows = 0
	for elem, n := c.r.List(); n > 0 && c.r.Err() == nil; n-- {
		if failure != nil || elem != thrift.Struct {
			c.r.Skip(elem)
			continue
		}
		c.readRow()
		c.gotRows++
		if c.r.Err() == nil && visit != nil {
			failure = visit(&c.row)
		}
	}
	return failure
}

func (c *Client) readRow() {
	c.row.Key, c.row.Columns = nil, c.row.Columns[:0]
	c.r.StructBegin()
	for {
		t, id := c.r.Field()
		switch {
		case t == thrift.Stop:
			return
		case id == 1 && t == thrift.String:
			c.row.Key = c.r.Binary()
		case id == 2 && t == thrift.Map:
			c.readColumns()
		case id == 3 && t == thrift.List:
			c.readSorted()
		default:
			c.r.Skip(t)
		}
	}
}

// readColumns reads map<binary, TCell>.
func (c *Client) readColumns() {
	key, value, n := c.r.Map()
	for ; n > 0 && c.r.Err() == nil; n-- {
		if key != thrift.String || value != thrift.Struct {
			c.r.Skip(key)
			c.r.Skip(value)
			continue
		}
		column := Column{Name: c.r.Binary()}
		c.readCell(&column)
		c.row.Columns = append(c.row.Columns, column)
	}
}

// readSorted reads list<TColumn>.
func (c *Client) readSorted() {
	for elem, n := c.r.List(); n > 0 && c.r.Err() == nil; n-- {
		if elem != thrift.Struct {
			c.r.Skip(elem)
			continue
		}
		var column Column
		c.r.StructBegin()
		for t, id := c.r.Field(); t != thrift.Stop; t, id = c.r.Field() {
			switch {
			case id == 1 && t == thrift.String:
				column.Name = c.r.Binary()
			case id == 2 && t == thrift.Struct:
				c.readCell(&column)
			default:
				c.r.Skip(t)
			}
		}
		c.row.Columns = append(c.row.Columns, column)
	}
}

// readCell reads TCell.
func (c *Client) readCell(column *Column) {
	c.r.StructBegin()
	for t, id := c.r.Field(); t != thrift.Stop; t, id = c.r.Field() {
		switch {
		case id == 1 && t == thrift.String:
			column.Value = c.r.Binary()
		case id == 2 && t == thrift.I64:
			column.Timestamp = c.r.I64()
		default:
			c.r.Skip(t)
		}
	}
}
