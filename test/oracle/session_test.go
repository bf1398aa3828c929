package oracle

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// session runs the commands of one section on an engine. The recorder has the
// same in Section.java.
type session struct {
	ctx   context.Context
	store store.Store
	table string
	// families are those that the table has.
	families []cell.FamilySchema
}

// run gives the lines of the answer, or the error in place of them.
func (s *session) run(command string) (answer []string, err error) {
	verb, rest, _ := strings.Cut(command, " ")
	switch verb {
	case "table":
		var splits [][]byte
		if list, ok := strings.CutPrefix(rest, "splits="); ok {
			list, rest, _ = strings.Cut(list, " ")
			for key := range strings.SplitSeq(list, ",") {
				splits = append(splits, decode(key))
			}
		}
		return nil, s.store.CreateTable(s.ctx, s.schema(rest), splits)
	case "alter":
		return nil, s.store.AlterTable(s.ctx, s.schema(rest))
	case "flush":
		return nil, s.store.Flush(s.ctx, s.table)
	case "compact":
		return nil, s.store.Compact(s.ctx, s.table, cell.Range{}, true)
	case "get":
		return s.get(rest)
	case "scan":
		r, err := s.read(rest)
		if err != nil {
			return nil, err
		}
		return s.scan(&r)
	case "put", "delete", "increment", "append", "mutate":
		return s.write(verb, rest)
	case "check":
		return s.check(rest)
	}
	panic(fault("no such command: %s", command))
}

// schema reads family [SETTING=value ...] | family ...
func (s *session) schema(text string) cell.TableSchema {
	t := cell.TableSchema{Name: s.table}
	for part := range strings.SplitSeq(text, "|") {
		words := strings.Fields(part)
		f := cell.NewFamily(string(decode(words[0])))
		for _, w := range words[1:] {
			switch o := parseOption(w); o.name {
			case "VERSIONS":
				f.MaxVersions = o.number()
			case "MIN_VERSIONS":
				f.MinVersions = o.number()
			case "TTL":
				f.TTL = o.number()
			case "KEEP_DELETED_CELLS":
				f.KeepDeleted = cell.KeepDeleted(o.value)
			default:
				panic(fault("no such setting: %s", w))
			}
		}
		t.Families = append(t.Families, f)
	}
	s.families = t.Families
	return t
}

// read parses a read of this table.
func (s *session) read(text string) (read, error) {
	r, err := parseRead(text)
	r.boundFamilies(s.families)
	return r, err
}

func (s *session) get(text string) ([]string, error) {
	row, rest, _ := strings.Cut(text, " ")
	r, err := s.read(rest)
	if err != nil {
		return nil, err
	}
	var into cell.Result
	err = s.store.Get(s.ctx, s.table, &cell.Get{Row: decode(row), Read: r.scan.Read}, &into)
	if err != nil || len(into.Cells) == 0 {
		return nil, err
	}
	return []string{result(into.Row, into.Cells)}, nil
}

func (s *session) scan(r *read) (lines []string, err error) {
	sc, err := s.store.Scan(s.ctx, s.table, &r.scan)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sc.Close()) }()
	for {
		result1, err := sc.Next(s.ctx)
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return nil, err
		}
		lines = append(lines, result(result1.Row, result1.Cells))
	}
}

// write runs VERB ROW EDIT ...; mutate has a row and then edits as other verbs
// have them, with " ; " between.
func (s *session) write(verb, text string) ([]string, error) {
	row, rest, _ := strings.Cut(text, " ")
	if verb != "mutate" {
		rest = strings.TrimSpace(verb + " " + rest)
	}
	m := mutation(decode(row), rest)
	cells, err := store.MutateRow(s.ctx, s.store, s.table, m)
	if err != nil || len(cells) == 0 {
		return nil, err
	}
	if verb != "mutate" {
		// The engine gives the new cells in the order of the edits; in HBase
		// one Increment or Append has them in the order of their columns.
		slices.SortFunc(cells, func(a, b cell.Cell) int { return cell.CompareInRow(&a, &b) })
	}
	return []string{result(m.Row, cells)}, nil
}

// mutation reads edits: verb edit ... ; verb edit ...
func mutation(row []byte, text string) *cell.Mutation {
	m := cell.NewMutation(row)
	m.ReturnResults = true
	for part := range strings.SplitSeq(text, " ; ") {
		words := strings.Fields(part)
		if len(words) == 1 && words[0] == "delete" {
			m.DeleteRow(cell.Latest)
		}
		for _, w := range words[1:] {
			o := parseOption(w)
			switch {
			case o.name == "ttl":
				m.TTL = parseInt(o.value)
			case o.name == "time":
				m.Within = parseRange(o.value)
			default:
				edit(m, words[0], o)
			}
		}
	}
	return m
}

func edit(m *cell.Mutation, verb string, o option) {
	if verb == "delete" {
		remove(m, o)
		return
	}
	where, stamp := parseStamped(o.name)
	f, q := parseColumn(where)
	switch verb {
	case "put":
		m.Put(f, q, stamp, decode(o.value))
	case "increment":
		m.Increment(f, q, parseInt(o.value))
	case "append":
		m.Append(f, q, decode(o.value))
	default:
		panic(fault("no such mutation: %s", verb))
	}
}

func remove(m *cell.Mutation, o option) {
	where, stamp := parseStamped(o.value)
	f, q := parseColumn(where)
	switch o.name {
	case "version":
		m.Delete(f, q, stamp)
	case "column":
		m.DeleteColumn(f, q, stamp)
	case "family":
		m.DeleteFamily(f, stamp)
	case "familyversion":
		m.DeleteFamilyVersion(f, stamp)
	case "row":
		m.DeleteRow(stamp)
	default:
		panic(fault("no such delete: %s", o.name))
	}
}

// check runs ROW CONDITION then VERB EDIT ...
func (s *session) check(text string) ([]string, error) {
	then := strings.LastIndex(text, " then ")
	words := strings.Split(text[:then], " ")
	row := decode(words[0])
	words = words[1:]
	var c cell.Check
	if bounds, ok := strings.CutPrefix(words[0], "time="); ok {
		c.Within = parseRange(bounds)
		words = words[1:]
	}
	switch {
	case beginsFilter(words[0]):
		var err error
		if c.Filter, err = parseFilter(words[0], strings.Join(words[1:], " ")); err != nil {
			return nil, err
		}
	case words[1] == "absent":
		c.Family, c.Qualifier = parseColumn(words[0])
		c.Op = cell.Equal
	default:
		c.Family, c.Qualifier = parseColumn(words[0])
		c.Op = compareOp(words[1])
		c.Value = decode(words[2][1:])
	}
	m := mutation(row, text[then+len(" then "):])
	applied, cells, err := s.store.CheckAndMutate(s.ctx, s.table, &c, m)
	if err != nil {
		return nil, err
	}
	lines := []string{strconv.FormatBool(applied)}
	if len(cells) > 0 {
		lines = append(lines, result(m.Row, cells))
	}
	return lines, nil
}
