package storetest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// script applies steps to row "r" of table "t". Steps are separated by ";", each
// is one mutation of one or more edits, separated by "&":
//
//	put f:q@10=v    value v at timestamp 10; @now is the server's clock
//	del f:q@10      Delete: one version
//	delcol f:q@10   DeleteColumn
//	delfam f@10     DeleteFamily
//	delver f@10     DeleteFamilyVersion
//	delrow @10      DeleteFamily of every family
//	inc f:q+5       increment
//	app f:q+x       append
//
// or one of: tick (the clock goes on by 1 ms), compact (major), flush.
func (e *env) script(steps string) {
	e.Helper()
	for _, step := range strings.Split(steps, ";") {
		step = strings.TrimSpace(step)
		switch step {
		case "":
		case "tick":
			e.tick()
		case "compact":
			e.must(e.s.Compact(e.ctx, "t", cell.Range{}, true))
		case "flush":
			e.must(e.s.Flush(e.ctx, "t"))
		default:
			m, err := parseMutation("r", step)
			e.must(err)
			if _, err := store.MutateRow(e.ctx, e.s, "t", m); err != nil {
				e.Fatalf("%s: %v", step, err)
			}
		}
	}
}

// parseMutation reads one step of a script.
func parseMutation(row, step string) (*cell.Mutation, error) {
	m := cell.NewMutation([]byte(row))
	for _, edit := range strings.Split(step, "&") {
		op, rest, _ := strings.Cut(strings.TrimSpace(edit), " ")
		if err := parseEdit(m, op, rest); err != nil {
			return nil, fmt.Errorf("step %q: %w", step, err)
		}
	}
	return m, nil
}

func parseEdit(m *cell.Mutation, op, rest string) error {
	if op == "inc" || op == "app" {
		col, operand, _ := strings.Cut(rest, "+")
		f, q := column(col)
		if op == "app" {
			m.Append(f, q, []byte(operand))
			return nil
		}
		n, err := strconv.ParseInt(operand, 10, 64)
		m.Increment(f, q, n)
		return err
	}
	at, value, _ := strings.Cut(rest, "=")
	col, when, _ := strings.Cut(at, "@")
	f, q := column(col)
	timestamp := cell.Latest
	if when != "now" {
		var err error
		if timestamp, err = strconv.ParseInt(when, 10, 64); err != nil {
			return err
		}
	}
	switch op {
	case "put":
		m.Put(f, q, timestamp, []byte(value))
	case "del":
		m.Delete(f, q, timestamp)
	case "delcol":
		m.DeleteColumn(f, q, timestamp)
	case "delfam":
		m.DeleteFamily(f, timestamp)
	case "delver":
		m.DeleteFamilyVersion(f, timestamp)
	case "delrow":
		m.DeleteRow(timestamp)
	default:
		return fmt.Errorf("unknown operation %q", op)
	}
	return nil
}

// scripted is a test that runs a script on an engine of its own and compares all
// visible versions of the row.
type scripted struct {
	name, steps, want string
}

// asTests makes tests of a table of scripts, on the usual table.
func asTests(table []scripted) []test {
	tests := make([]test, len(table))
	for i, c := range table {
		tests[i] = test{c.name, func(e *env) {
			e.usual()
			e.script(c.steps)
			e.equal(e.all("r"), c.want)
		}}
	}
	return tests
}
