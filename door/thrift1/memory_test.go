package thrift1

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/door"
	"github.com/cellardb/cellar/internal/wire/thrift"
)

// budgetReader is a Reader whose budget is n bytes.
func budgetReader(n int) *thrift.Reader {
	return thrift.NewReader(strings.NewReader(""), thrift.Limits{Grow: func(k int) error {
		if n -= k; n < 0 {
			return door.ErrTooLarge
		}
		return nil
	}})
}

// Each array that a list had while it grew is charged: what points into an earlier
// one keeps it alive.
func TestPushChargesEachArray(t *testing.T) {
	charged := 0
	r := thrift.NewReader(strings.NewReader(""), thrift.Limits{Grow: func(n int) error { charged += n; return nil }})
	var lists [][]int64
	want := 0
	for i := range 1000 {
		var last []int64
		if len(lists) > 0 {
			last = lists[len(lists)-1]
		}
		list := push(r, last, int64(i))
		if cap(list) != cap(last) {
			want += 8 * cap(list)
		}
		lists = append(lists, list)
	}
	if charged != want || want < 2*8*1000 {
		t.Errorf("%d bytes are charged for arrays of %d", charged, want)
	}
}

// After a call a selection holds none of its bytes, in no corner of its memory,
// and no large memory.
func TestASelectionForgets(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var sel selection
	for round := range 200 {
		var columns [][]byte
		for range rnd.IntN(300) {
			family := fmt.Sprintf("f%d", rnd.IntN(1+round/5))
			if rnd.IntN(10) > 0 {
				family += fmt.Sprintf(":%d", rnd.IntN(100))
			}
			columns = append(columns, []byte(family))
		}
		if _, err := sel.set(budgetReader(1<<20), columns); err != nil {
			t.Fatal(err)
		}
		sel.forget()
		if len(sel.families) > 0 || cap(sel.families) > manyFamilies || sel.index != nil {
			t.Fatalf("round %d: families of %d, index of %d are kept", round, cap(sel.families), len(sel.index))
		}
		for _, f := range sel.families[:cap(sel.families)] {
			if f.Family != nil || len(f.Qualifiers) > 0 || cap(f.Qualifiers) > keepColumns {
				t.Fatalf("round %d: %q with %d columns is kept", round, f.Family, cap(f.Qualifiers))
			}
			for _, q := range f.Qualifiers[:cap(f.Qualifiers)] {
				if q != nil {
					t.Fatalf("round %d: the column %q is kept", round, q)
				}
			}
		}
	}
}

// What a selection allocates is charged: columns of one family, and families.
func TestASelectionIsCharged(t *testing.T) {
	for name, format := range map[string]string{"columns": "f:%d", "families": "f%d", "both": "f%[1]d:%[1]d"} {
		var columns [][]byte
		for i := range 10_000 {
			columns = append(columns, fmt.Appendf(nil, format, i))
		}
		var sel selection
		if _, err := sel.set(budgetReader(200_000), columns); err == nil {
			t.Errorf("%s: 10,000 fit in 200 kB", name)
		}
		sel.forget()
		if got, err := sel.set(budgetReader(1<<30), columns); err != nil || len(got) == 0 {
			t.Errorf("%s: %d families, %v", name, len(got), err)
		}
	}
}

// A session keeps the memory of a small row from call to call, but not that of a
// large one, whatever became of its reply.
func TestSessionsLetGoOfLargeRows(t *testing.T) {
	d := openDoor(t, Options{MaxReply: 100_000}, door.Options{})
	d.table("t", "cf")
	d.put("t", "small cf:a 1 x", "large cf:a 1 "+strings.Repeat("x", 90_000), "huge cf:a 1 "+strings.Repeat("x", 200_000))
	for _, c := range []struct {
		method string
		row    any
		kept   bool
	}{
		{"getRow", "small", true},
		{"getRow", "large", false},
		{"getRow", "huge", false}, // its reply is refused
		{"getRows", list{"large", "small"}, false},
		{"getRow", "", false}, // its arguments are
	} {
		f := forms[0]
		s, p := &session{h: d.handler}, d.dial(f)
		in := p.encode(c.method, 1, fields{1: "t", 2: c.row})
		s.reader = thrift.NewReader(strings.NewReader(string(in)), thrift.Limits{})
		s.conn, s.ctx, s.form = &door.Conn{}, t.Context(), thrift.Header{Protocol: f.protocol, Framed: f.framed}
		s.conn.Out.Buf = make([]byte, 0, 1<<20)
		s.writer.Reset(f.protocol, f.framed)
		header, err := s.reader.Next()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.handle(header); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		if kept := cap(s.row.Cells) > 0; kept != c.kept {
			t.Errorf("%s of %v: a row is kept: %v, want %v", c.method, c.row, kept, c.kept)
		}
		for _, x := range s.row.Cells[:cap(s.row.Cells)] {
			if x.Value != nil {
				t.Errorf("%s of %v: the cell %s is kept", c.method, c.row, cell.Printable(x.Value))
			}
		}
	}
}
