package thriftclient

import "github.com/cellardb/cellar/internal/wire/thrift"

// Scan says what a scanner returns. The zero Scan is the whole table.
type Scan struct {
	Start   []byte   // inclusive; nil: from the first row
	Stop    []byte   // exclusive; nil: to the last row
	Columns [][]byte // family or family:qualifier; nil: all
	Filter  string   // in the filter language; "": none
	Caching int      // rows that the gateway fetches at a time; 0: its default
}

// ScannerOpen opens a scanner and returns its id.
func (c *Client) ScannerOpen(table string, s Scan) (int32, error) {
	const method = "scannerOpenWithScan"
	w := c.begin(method)
	w.Field(thrift.String, 1)
	w.String(table)
	w.Field(thrift.Struct, 2)
	w.StructBegin()
	if s.Start != nil {
		w.Field(thrift.String, 1)
		w.Binary(s.Start)
	}
	if s.Stop != nil {
		w.Field(thrift.String, 2)
		w.Binary(s.Stop)
	}
	if s.Columns != nil {
		w.Field(thrift.List, 4)
		w.List(thrift.String, len(s.Columns))
		for _, column := range s.Columns {
			w.Binary(column)
		}
	}
	if s.Caching != 0 {
		w.Field(thrift.I32, 5)
		w.I32(int32(s.Caching))
	}
	if s.Filter != "" {
		w.Field(thrift.String, 6)
		w.String(s.Filter)
	}
	w.StructEnd()
	if err := c.end(); err != nil {
		return 0, err
	}
	err := c.receive(method, number, nil)
	return c.gotInt, err
}

// ScannerGetList fetches up to n rows, shows each to visit, and returns how
// many came: none at the end of the scan.
func (c *Client) ScannerGetList(id int32, n int, visit func(*Row) error) (int, error) {
	if err := c.SendScannerGetList(id, n); err != nil {
		return 0, err
	}
	return c.ReceiveScannerGetList(visit)
}

// SendScannerGetList queues a scannerGetList.
func (c *Client) SendScannerGetList(id int32, n int) error {
	w := c.begin("scannerGetList")
	w.Field(thrift.I32, 1)
	w.I32(id)
	w.Field(thrift.I32, 2)
	w.I32(int32(n))
	return c.end()
}

// ReceiveScannerGetList waits for the reply of a scannerGetList.
func (c *Client) ReceiveScannerGetList(visit func(*Row) error) (int, error) {
	err := c.receive("scannerGetList", rows, visit)
	if err != nil {
		return 0, err
	}
	return c.gotRows, nil
}

// ScannerClose frees a scanner.
func (c *Client) ScannerClose(id int32) error {
	w := c.begin("scannerClose")
	w.Field(thrift.I32, 1)
	w.I32(id)
	if err := c.end(); err != nil {
		return err
	}
	return c.receive("scannerClose", void, nil)
}

// GetRow reads a row, shows it to visit if it is there, and returns whether it
// is.
func (c *Client) GetRow(table string, key []byte, visit func(*Row) error) (bool, error) {
	if err := c.SendGetRow(table, key); err != nil {
		return false, err
	}
	return c.ReceiveGetRow(visit)
}

// SendGetRow queues a getRow.
func (c *Client) SendGetRow(table string, key []byte) error {
	w := c.begin("getRow")
	w.Field(thrift.String, 1)
	w.String(table)
	w.Field(thrift.String, 2)
	w.Binary(key)
	return c.end()
}

// ReceiveGetRow waits for the reply of a getRow.
func (c *Client) ReceiveGetRow(visit func(*Row) error) (bool, error) {
	if err := c.receive("getRow", rows, visit); err != nil {
		return false, err
	}
	return c.gotRows > 0, nil
}
