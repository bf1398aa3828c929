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
var failures = map[string]error{
	"IllegalArgumentException":    cell.ErrIllegalArgument,
	"NoSuchColumnFamilyException": store.ErrNoSuchFamily,
}

// Every engine gives HBase's answers.
func TestAnswersOfHBase(t *testing.T) {
	all := scripts(t)
	for _, e := range engines() {
		t.Run(e.name, func(t *testing.T) {
			s := e.open(t)
			for _, script := range all {
				for i := range script.sections {
					name := script.name + "/" + script.sections[i].name
					t.Run(name, func(t *testing.T) {
						runSection(t, &session{t.Context(), s, tableName(name)}, name, &script.sections[i])
					})
				}
			}
		})
	}
}

// tableName makes a name for a section's table.
func tableName(section string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("/ ,:()", r) {
			return '_'
		}
		return r
	}, section)
}

func runSection(t *testing.T, s *session, name string, sec *section) {
	for _, st := range sec.steps {
		answer, err := s.run(st.command)
		got, want := strings.Join(answer, "\n\t"), strings.Join(st.answer, "\n\t")
		if err != nil {
			got = fmt.Sprintf("error: %v", err)
			if sameFailure(st.answer, err) {
				continue
			}
		}
		if got != want {
			t.Errorf("line %d: %s\ngot:\n\t%s\nHBase:\n\t%s", st.line, st.command, got, want)
		}
	}
}

func sameFailure(answer []string, err error) bool {
	if len(answer) != 1 {
		return false
	}
	class, ok := strings.CutPrefix(answer[0], "! ")
	return ok && failures[class] != nil && errors.Is(err, failures[class])
}

var _ = slices.Contains[[]string]
