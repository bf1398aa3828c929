package thrift1

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cellardb/cellar/door"
)

func filterScan(filter string, more fields) fields {
	scan := fields{6: filter}
	for id, v := range more {
		scan[id] = v
	}
	return fields{1: "t", 2: scan}
}

// refusalOf opens a scan and fetches from it, and gives the error that one of
// the two is answered with.
func refusalOf(p *peer, args fields) string {
	p.t.Helper()
	id, err := p.try("scannerOpenWithScan", args)
	if err == nil {
		_, err = p.try("scannerGetList", fields{1: id, 2: int32(5)})
	}
	return fmt.Sprint(err)
}

// A filter string that cannot be read is answered with what is wrong with it, on
// a live connection; one that can is applied.
func TestC14_MalformedFilterText(t *testing.T) {
	d := openDoor(t, Options{}, door.Options{})
	d.table("t", "cf")
	d.put("t", "a1 cf:p 1 x", "a1 cf:q 1 y", "b1 cf:p 1 x")
	p := d.dial(forms[0])
	bad := []string{
		"RowFilter(RegexStringComparator, '^a')", "NoSuchFilter('x')", "PrefixFilter('a'", "PrefixFilter(a)", "PageFilter('2')",
		"ValueFilter(=, 'null:')", "RowFilter(<, 'regexstring:a')", "KeyOnlyFilter() AND", "(", "ValueFilter(=, 'regexstring:(')",
	}
	for _, text := range bad {
		got := refusalOf(p, filterScan(text, nil))
		if !strings.HasPrefix(got, "IOError: java.lang.IllegalArgumentException: ") {
			t.Errorf("filter %s: %s", text, got)
		}
	}
	if got := scanOf(p, "scannerOpenWithScan", filterScan("RowFilter(=, 'regexstring:^a')", nil)); got != "a1{cf:p=x@1 cf:q=y@1}" {
		t.Errorf("rows that begin with a: %s", got)
	}
	if got := scanOf(p, "scannerOpenWithScan", filterScan("KeyOnlyFilter() AND FirstKeyOnlyFilter()", nil)); got != "a1{cf:p=@1} b1{cf:p=@1}" {
		t.Errorf("first keys: %s", got)
	}
	if len(bad) != 10 {
		t.Errorf("%d bad filters", len(bad))
	}
}

// Rows whole with a filter that judges rows; cut into batches it cannot.
func TestC04_FilterTogetherWithCellBatching(t *testing.T) {
	d := openDoor(t, Options{}, door.Options{})
	d.table("t", "cf")
	d.put("t", "1 cf:q 1 v1", "2 cf:q 1 v2", "3 cf:q 1 v1")
	p := d.dial(forms[0])
	const text = "SingleColumnValueFilter('cf', 'q', =, 'binary:v1')"
	if got := scanOf(p, "scannerOpenWithScan", filterScan(text, fields{5: int32(1000)})); got != "1{cf:q=v1@1} 3{cf:q=v1@1}" {
		t.Errorf("with caching alone: %s", got)
	}
	got := refusalOf(p, filterScan(text, fields{7: int32(1)}))
	if !strings.HasPrefix(got, "IOError: ") || !strings.Contains(got, "Cannot set batch on a scan using a filter that returns true for filter.hasFilterRow") {
		t.Errorf("with batchSize: %s", got)
	}
	p.expect("isTableEnabled", fields{1: "t"}, "true")
}

// A filter that lets two rows of ten thousand pass: both come in one batch, and
// an empty one only after them.
func TestC01_BatchesAreOfRowsThatPass(t *testing.T) {
	d := openDoor(t, Options{}, door.Options{})
	d.table("t", "cf")
	for i := range 10_000 {
		v := "no"
		if i == 0 || i == 9_999 {
			v = "yes"
		}
		d.put("t", fmt.Sprintf("r%05d cf:q 1 %s", i, v))
	}
	p := d.dial(forms[0])
	p.expect("scannerOpenWithScan", filterScan("ValueFilter(=, 'binary:yes')", nil), "0")
	p.expect("scannerGetList", getList(0, 2), "[r00000{cf:q=yes@1} r09999{cf:q=yes@1}]")
	p.expect("scannerGetList", getList(0, 2), "[]")
	p.expect("scannerClose", fields{1: int32(0)}, "void")
}
