package thrift1

import (
	"testing"

	"github.com/cellardb/cellar/door"
)

// All four forms are told apart on one port.
func TestC11_AllFormsOnOnePort(t *testing.T) {
	d := openDoor(t, Options{}, door.Options{})
	d.table("t1", "cf")
	d.table("t2", "cf")
	n := 0
	for _, f := range forms {
		p := d.dial(f)
		p.expect("getTableNames", nil, "[t1 t2]")
		p.call("mutateRow", fields{1: "t1", 2: "r", 3: list{put("cf:a", "1")}})
		p.expect("getRow", fields{1: "t1", 2: "r"}, "[r{cf:a=1}]")
		n++
	}
	if n != 4 {
		t.Errorf("%d forms were tried", n)
	}
}
