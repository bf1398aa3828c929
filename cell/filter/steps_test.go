package filter

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/cellardb/cellar/cell"
)

// steps calls an evaluator for every row and cell of a table, whatever it
// answers, and writes down the answers: hasFilterRow; for each row
// filterAllRemaining and filterRowKey, for each cell the code, the hint, the
// length of the value that is kept and filterAllRemaining, then the number of
// cells that are left and filterRow.
func (s *scan) steps(table []cell.Cell) (string, error) {
	e, err := New(s.filter, Options{Reversed: s.reversed})
	if err != nil {
		return "", err
	}
	var out strings.Builder
	flag := func(name string, set bool) {
		if set {
			name = strings.ToUpper(name)
		}
		out.WriteString(name)
	}
	flag("h", e.HasFilterRow())
	for _, row := range rowsOf(table, s.reversed) {
		out.WriteByte('|')
		flag("a", e.FilterAllRemaining())
		drop, err := e.root.filterRowKey(row[0].Row)
		if err != nil {
			return "", err
		}
		flag("k", drop)
		var kept []cell.Cell
		for _, c := range row {
			code, err := e.FilterCell(&c)
			if err != nil {
				return "", err
			}
			fmt.Fprint(&out, int(code))
			if code == SeekNextUsingHint {
				out.WriteString(s.hint(e, &c))
			}
			if code.Includes() {
				e.Transform(&c)
				fmt.Fprintf(&out, "=%d", len(c.Value))
				kept = append(kept, c)
			}
			flag("a", e.FilterAllRemaining())
		}
		fmt.Fprint(&out, len(e.FilterRowCells(kept)))
		flag("r", e.FilterRow())
		e.Reset()
	}
	return out.String(), nil
}

func (s *scan) hint(e *Evaluator, c *cell.Cell) string {
	p, ok := e.root.nextHint(c)
	switch {
	case s.reversed:
		return "" // HBase's own are often wrong
	case !ok:
		return "null"
	}
	return fmt.Sprintf("<%s/%s/%s/%d>", hexa(p.row), hexa(p.family), hexa(p.qualifier), p.timestamp)
}

// Filters answer each step as HBase's classes do.
func TestStepsAgainstHBase(t *testing.T) {
	const seeds = 1500
	scans := make([]scan, seeds)
	requests := make([]string, seeds)
	for i := range scans {
		scans[i] = newGenerator(uint64(i) + 1_000_000).scan()
		direction, _, _ := strings.Cut(scans[i].String(), " ")
		requests[i] = direction + " " + spec(scans[i].filter)
	}
	answers := recorded(t, "steps", 160, tableData(), requests)
	table := testTable()
	compared := 0
	for i := range scans {
		got, err := scans[i].steps(table)
		if answers[i] == "error" || err != nil || stepsDiffer(&scans[i]) {
			continue
		}
		compared++
		if short(got, 160) != answers[i] {
			t.Errorf("seed %d: %s\n%s\n%s\nHBase: %s", i, requests[i], scans[i].filter, got, answers[i])
		}
	}
	if compared < 1300 {
		t.Errorf("%d compared", compared)
	}
}

// stepsDiffer says that a scan meets what HBase gets wrong in reversed scans.
func stepsDiffer(s *scan) bool {
	text := spec(s.filter)
	return s.reversed && (strings.Contains(text, "FuzzyRow") || strings.Contains(text, "MultiRowRange"))
}

// A hint that leads nowhere is none.
func TestUselessHints(t *testing.T) {
	c := parseCells("m/f:q@5=v")[0]
	column := func(family, qualifier string, timestamp int64) position {
		return position{row: b("m"), family: b(family), qualifier: b(qualifier), timestamp: timestamp, kind: typeFirst}
	}
	cases := []struct {
		p        position
		reversed bool
		ok       bool
	}{
		{firstOnRow(b("n")), false, true}, {firstOnRow(b("l")), false, false}, {firstOnRow(b("m")), false, false},
		{firstOnRow(b("n")), true, false}, {firstOnRow(b("l")), true, true}, {firstOnRow(b("m")), true, false},
		{column("f", "r", 9), false, true}, {column("f", "p", 1), false, false}, {column("f", "q", 4), false, true}, {column("f", "q", 6), false, false}, {column("f", "q", 5), false, false},
		{column("f", "r", 9), true, false}, {column("f", "p", 9), true, false}, {column("g", "q", 5), false, false},
		{lastOnColumn(&c), false, true}, {firstOnColumn(&c, c.Qualifier), false, false},
	}
	for i, x := range cases {
		if _, ok := x.p.useful(&c, x.reversed); ok != x.ok {
			t.Errorf("case %d: %v, want %v", i, ok, x.ok)
		}
	}
	if len(cases) != 16 {
		t.Errorf("%d cases, want 16", len(cases))
	}
}

// The reader of long texts ends when its time is over.
func TestTimedReader(t *testing.T) {
	r := timedReader{text: b(strings.Repeat("é", 1000)), deadline: time.Now().Add(time.Hour)}
	for range 70 {
		if c, n, err := r.ReadRune(); c != 'é' || n != 2 || err != nil {
			t.Fatalf("%c %d %v", c, n, err)
		}
	}
	r.deadline = time.Time{}
	left := 0
	for ; left < 1000; left++ {
		if _, _, err := r.ReadRune(); err == io.EOF {
			break
		}
	}
	if !r.late || left > 64 {
		t.Errorf("%d characters after the end of the time, late %v", left, r.late)
	}
	r = timedReader{text: b("a"), deadline: time.Now().Add(time.Hour)}
	_, _, first := r.ReadRune()
	_, _, second := r.ReadRune()
	if first != nil || second != io.EOF || r.late {
		t.Errorf("%v, then %v, late %v", first, second, r.late)
	}
}
