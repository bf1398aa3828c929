package thriftclient

import (
	"slices"

	"github.com/cellardb/cellar/internal/wire/thrift"
)

// Family describes a column family of a table to be created.
type Family struct {
	Name        string // without colon
	MaxVersions int    // 0: the gateway's default, 3
}

// TableNames lists the tables.
func (c *Client) TableNames() ([]string, error) {
	c.begin("getTableNames")
	if err := c.end(); err != nil {
		return nil, err
	}
	if err := c.receive("getTableNames", texts, nil); err != nil {
		return nil, err
	}
	names := make([]string, len(c.gotText))
	for i, n := range c.gotText {
		names[i] = string(n)
	}
	return names, nil
}

// CreateTable creates a table. An Exception of kind AlreadyExists: there is one.
func (c *Client) CreateTable(table string, families ...Family) error {
	w := c.begin("createTable")
	w.Field(thrift.String, 1)
	w.String(table)
	w.Field(thrift.List, 2)
	w.List(thrift.Struct, len(families))
	for _, f := range families {
		w.StructBegin()
		w.Field(thrift.String, 1)
		w.String(f.Name + ":")
		if f.MaxVersions != 0 {
			w.Field(thrift.I32, 2)
			w.I32(int32(f.MaxVersions))
		}
		w.StructEnd()
	}
	if err := c.end(); err != nil {
		return err
	}
	return c.receive("createTable", void, nil)
}

// IsTableEnabled says whether the table is enabled.
func (c *Client) IsTableEnabled(table string) (bool, error) {
	if err := c.onTable("isTableEnabled", table); err != nil {
		return false, err
	}
	err := c.receive("isTableEnabled", boolean, nil)
	return c.gotBool, err
}

// DisableTable disables an enabled table, as its deletion needs it.
func (c *Client) DisableTable(table string) error {
	if err := c.onTable("disableTable", table); err != nil {
		return err
	}
	return c.receive("disableTable", void, nil)
}

// DeleteTable deletes a disabled table.
func (c *Client) DeleteTable(table string) error {
	if err := c.onTable("deleteTable", table); err != nil {
		return err
	}
	return c.receive("deleteTable", void, nil)
}

// MajorCompact asks for a major compaction of a table; it does not wait for its
// end.
func (c *Client) MajorCompact(table string) error {
	if err := c.onTable("majorCompact", table); err != nil {
		return err
	}
	return c.receive("majorCompact", void, nil)
}

// DropTable deletes a table whatever its state; none there is no error.
func (c *Client) DropTable(table string) error {
	names, err := c.TableNames()
	if err != nil || !slices.Contains(names, table) {
		return err
	}
	on, err := c.IsTableEnabled(table)
	if err != nil {
		return err
	}
	if on {
		if err := c.DisableTable(table); err != nil {
			return err
		}
	}
	return c.DeleteTable(table)
}

func (c *Client) onTable(method, table string) error {
	w := c.begin(method)
	w.Field(thrift.String, 1)
	w.String(table)
	return c.end()
}
