package oracle

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// failures says which errors of an engine stand for which exception of HBase.
var failures = map[string][]error{
	"IllegalArgumentException":    {cell.ErrIllegalArgument},
	"IOException":                 {cell.ErrIllegalArgument}, // a filter that fails in the server
	"NoSuchColumnFamilyException": {store.ErrNoSuchFamily},
	"DoNotRetryIOException":       {store.ErrNotCounter},
}

// Every engine gives HBase's answers, or those that the scripts say Cellar has
// reasons for.
func TestAnswersOfHBase(t *testing.T) {
	all := scripts(t)
	for _, e := range engines() {
		t.Run(e.name, func(t *testing.T) {
			s := e.open(t)
			for _, script := range all {
				for i := range script.sections {
					sec := &script.sections[i]
					t.Run(script.name+"/"+sec.name, func(t *testing.T) {
						runSection(t, &session{ctx: t.Context(), store: s, table: tableName(script.name, sec.name)}, e.name, sec)
					})
				}
			}
		})
	}
}

// tableName makes a name for a section's table.
func tableName(script, section string) string {
	return script + "_" + strings.ReplaceAll(section, " ", "_")
}

func runSection(t *testing.T, s *session, engine string, sec *section) {
	for i := range sec.steps {
		st := &sec.steps[i]
		answer, err := s.run(st.command)
		want := st.answer
		if st.reason != "" {
			want = st.ours
			if !st.never && matches(st.answer, answer, err) {
				t.Errorf("line %d: %s\n\tanswers as HBase does; the script says that it does not, since %s", st.line, st.command, st.reason)
			}
		}
		known := open[engine] != nil && slices.Contains(open[engine], st.command)
		switch ok := matches(want, answer, err); {
		case !ok && !known:
			t.Errorf("line %d: %s\ngot:\n\t%s\nwant:\n\t%s", st.line, st.command, show(answer, err), strings.Join(want, "\n\t"))
		case ok && known:
			t.Errorf("line %d: %s\n\tis right now: take it off the list of what is not", st.line, st.command)
		}
	}
}

func show(answer []string, err error) string {
	if err != nil {
		return fmt.Sprintf("error: %v", err)
	}
	return strings.Join(answer, "\n\t")
}

// matches compares an engine's answer with one of a script; the script has the
// class of an exception where there is an error.
func matches(want, answer []string, err error) bool {
	if err == nil {
		return slices.Equal(want, answer)
	}
	if len(want) != 1 {
		return false
	}
	class, ok := strings.CutPrefix(want[0], "! ")
	return ok && slices.ContainsFunc(failures[class], func(kind error) bool { return errors.Is(err, kind) })
}
