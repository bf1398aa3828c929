package oracle

import (
	"strings"
	"testing"
)

// Each filter of the scripts keeps some cells of what there is and drops some,
// unless its command says keeps=all or keeps=none, and then it does. A filter
// that cannot do both proves nothing.
func TestFiltersKeepAndDrop(t *testing.T) {
	filters := 0
	s := openMemory(t)
	for _, script := range scripts(t) {
		for i := range script.sections {
			sec := &script.sections[i]
			t.Run(script.name+"/"+sec.name, func(t *testing.T) {
				session := &session{ctx: t.Context(), store: s, table: tableName(script.name, sec.name)}
				for j := range sec.steps {
					if judged(t, session, &sec.steps[j]) {
						filters++
					}
				}
			})
		}
	}
	if filters != 2249 {
		t.Errorf("%d filters were judged, want 2249", filters)
	}
}

// judged looks at one step; it says whether that was a read with a filter that
// HBase has evaluated.
func judged(t *testing.T, s *session, st *step) bool {
	answer := st.answer
	if st.never {
		answer = st.ours
	}
	if len(answer) == 1 && strings.HasPrefix(answer[0], "! ") {
		return false
	}
	verb, rest, _ := strings.Cut(st.command, " ")
	if verb != "scan" && verb != "get" {
		if _, err := s.run(st.command); err != nil && answer == nil {
			t.Fatalf("line %d: %s: %v", st.line, st.command, err)
		}
		return false
	}
	var row string
	if verb == "get" {
		row, rest, _ = strings.Cut(rest, " ")
	}
	r, err := s.read(rest)
	if err != nil || !r.filtered {
		return false
	}
	if verb == "get" {
		r.scan.Start, r.scan.Stop, r.scan.StopInclusive = decode(row), decode(row), true
	}
	kept, dropped := count(t, s, &r, answer)
	is := "some"
	switch {
	case kept == 0:
		is = "none"
	case dropped == 0:
		is = "all"
	}
	if want := r.keeps; is != want && (is != "some" || want != "") {
		t.Errorf("line %d: %s\n\tkeeps %d and drops %d", st.line, st.command, kept, dropped)
	}
	return true
}

// count says how many cells of what there is an answer has, and how many it has
// not.
func count(t *testing.T, s *session, r *read, answer []string) (kept, dropped int) {
	all := *r
	all.scan.Filter, all.scan.Limit, all.scan.Batch = nil, 0, 0
	all.scan.StoreLimit, all.scan.StoreOffset = 0, 0
	lines, err := s.scan(&all)
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, line := range answer {
		row, cells, _ := strings.Cut(line, ": ")
		for c := range strings.SplitSeq(cells, " ") {
			has[row+where(c)] = true
		}
	}
	for _, line := range lines {
		row, cells, _ := strings.Cut(line, ": ")
		for c := range strings.SplitSeq(cells, " ") {
			if !has[row+where(c)] {
				dropped++
			}
		}
	}
	return len(has), dropped
}

// where leaves out the value of a cell, which a filter may change.
func where(c string) string {
	at, _, _ := strings.Cut(c, "=")
	return " " + at
}
