package storetest

import (
	"context"
	"fmt"
	"strings"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// answer writes an error by what it matches, or the answer if there is none.
func answer(err error, text string) string {
	if err != nil {
		return "error: " + errorKinds(err)
	}
	return text
}

// mutationText writes a mutation as scripts do.
func mutationText(m *cell.Mutation) string {
	var edits []string
	for i := range m.Edits {
		e := &m.Edits[i]
		s := fmt.Sprintf("%s %s:%s", e.Op, cell.Printable(e.Family), cell.Printable(e.Qualifier))
		if e.Family == nil {
			s = e.Op.String() + " row"
		}
		switch e.Op {
		case cell.OpIncrement:
			s += fmt.Sprintf("+%d", e.Amount)
		case cell.OpAppend:
			s += "+" + cell.Printable(e.Value)
		default:
			at := "now"
			if e.Timestamp != cell.Latest {
				at = timeText(e.Timestamp)
			}
			s += "@" + at
			if e.Op == cell.OpPut {
				s += "=" + cell.Printable(e.Value)
			}
		}
		if len(e.Tags) > 0 {
			s += ",tags" + cell.Printable(e.Tags)
		}
		edits = append(edits, s)
	}
	s := fmt.Sprintf("%q {%s}", m.Row, strings.Join(edits, " & "))
	if m.TTL != 0 {
		s += fmt.Sprintf(" ttl %d", m.TTL)
	}
	if m.Nonce != (cell.Nonce{}) {
		s += fmt.Sprintf(" nonce %d", m.Nonce.Value)
	}
	if !m.Within.IsAll() {
		s += fmt.Sprintf(" within [%s,%s)", timeText(m.Within.Min), timeText(m.Within.Max))
	}
	return s
}

func applyStep(table string, batch []cell.Mutation) step {
	var texts []string
	for i := range batch {
		texts = append(texts, mutationText(&batch[i]))
	}
	return step{
		what: fmt.Sprintf("apply to %s: %s", table, strings.Join(texts, ", ")),
		run: func(ctx context.Context, s store.Store) string {
			results, err := s.Apply(ctx, table, batch)
			text := "applied" + allResults(results)
			if err != nil && !strings.HasPrefix(failures(err), "not") {
				return "error " + failures(err) + allResults(results)
			}
			return answer(err, text)
		},
	}
}

// allResults writes the results of a batch; engines may give none where all
// are empty.
func allResults(results [][]cell.Cell) string {
	var b strings.Builder
	for i, cells := range results {
		if len(cells) > 0 {
			fmt.Fprintf(&b, " %d:(%s)", i, text(cells))
		}
	}
	return b.String()
}

func checkStep(table string, check cell.Check, m cell.Mutation) step {
	what := fmt.Sprintf("%q is %s %s:%s", check.Value, opText(check.Op), check.Family, cell.Printable(check.Qualifier))
	if check.Filter != nil {
		what = fmt.Sprintf("a cell passes %q", check.Filter)
	}
	return step{
		what: fmt.Sprintf("check on %s that %s of %q within [%s,%s), then %s", table, what,
			m.Row, timeText(check.Within.Min), timeText(check.Within.Max), mutationText(&m)),
		run: func(ctx context.Context, s store.Store) string {
			applied, results, err := s.CheckAndMutate(ctx, table, &check, &m)
			return answer(err, fmt.Sprintf("applied %v %s", applied, text(results)))
		},
	}
}

func opText(op cell.CompareOp) string {
	if names := []string{"<", "<=", "=", "!=", ">=", ">"}; int(op) < len(names) {
		return names[op]
	}
	return fmt.Sprintf("op%d", op)
}

func getStep(table string, get cell.Get) step {
	only := cell.Range{Start: get.Row, Stop: get.Row, StopInclusive: true}
	st := step{
		what:  fmt.Sprintf("get from %s %q%s", table, get.Row, readText(&get.Read)),
		table: table, reads: &only,
		run: func(ctx context.Context, s store.Store) string {
			var r cell.Result
			err := s.Get(ctx, table, &get, &r)
			return answer(err, "got "+text(r.Cells))
		},
	}
	if get.Filter != nil {
		bare := get
		bare.Filter = nil
		st.unfiltered = getStep(table, bare).run
	}
	return st
}

func readText(r *cell.Read) string {
	var b strings.Builder
	for _, sel := range r.Select {
		fmt.Fprintf(&b, " select %s%q", sel.Family, sel.Qualifiers)
		if sel.Within != nil {
			fmt.Fprintf(&b, " within [%s,%s)", timeText(sel.Within.Min), timeText(sel.Within.Max))
		}
	}
	if !r.Within.IsAll() {
		fmt.Fprintf(&b, " within [%s,%s)", timeText(r.Within.Min), timeText(r.Within.Max))
	}
	if r.MaxVersions != 0 {
		fmt.Fprintf(&b, " versions %d", r.MaxVersions)
	}
	if r.StoreLimit != 0 || r.StoreOffset != 0 {
		fmt.Fprintf(&b, " store limit %d offset %d", r.StoreLimit, r.StoreOffset)
	}
	if r.Filter != nil {
		fmt.Fprintf(&b, " filter %q", r.Filter)
	}
	return b.String()
}

func rangeText(r cell.Range) string {
	from, to := "[", ")"
	if r.StartExclusive {
		from = "("
	}
	if r.StopInclusive {
		to = "]"
	}
	return fmt.Sprintf("%s%q,%q%s", from, r.Start, r.Stop, to)
}

func scanStep(table string, scan cell.Scan) step {
	rows := scan.Ascending()
	var how string
	if scan.Reversed {
		how += " reversed"
	}
	if scan.Raw {
		how += " raw"
	}
	st := step{
		what: fmt.Sprintf("scan %s %s%s limit %d batch %d bytes %d%s", table, rangeText(scan.Range), how,
			scan.Limit, scan.Batch, scan.MaxBytes, readText(&scan.Read)),
		table: table, reads: &rows,
		run: func(ctx context.Context, s store.Store) string {
			results, err := readAll(ctx, s, table, &scan)
			if scan.MaxBytes > 0 {
				results = joinParts(results)
			}
			return answer(err, "scanned "+resultsText(results))
		},
	}
	if scan.Filter != nil {
		bare := scan
		bare.Filter = nil
		st.unfiltered = scanStep(table, bare).run
	}
	return st
}

// joinParts puts rows together again: where MaxBytes cuts is the engine's
// choice.
func joinParts(results []*cell.Result) []*cell.Result {
	var rows []*cell.Result
	open := false
	for _, r := range results {
		if open {
			last := rows[len(rows)-1]
			last.Cells = append(last.Cells, r.Cells...)
			last.Partial = r.Partial
		} else {
			rows = append(rows, r)
		}
		open = r.Partial
	}
	return rows
}

func deleteRowsStep(table string, r cell.Range) step {
	return step{
		what: fmt.Sprintf("delete rows of %s %s", table, rangeText(r)),
		run: func(ctx context.Context, s store.Store) string {
			return answer(s.DeleteRows(ctx, table, r), "deleted")
		},
	}
}

// partitionsStep reads a range part by part: where an engine cuts is its own
// choice, what comes together is not.
func partitionsStep(table string, r cell.Range, n int) step {
	return step{
		what:  fmt.Sprintf("read %s %s in %d partitions", table, rangeText(r), n),
		table: table, reads: &r,
		run: func(ctx context.Context, s store.Store) string {
			parts, err := s.Partitions(ctx, table, r, n)
			if err != nil {
				return answer(err, "")
			}
			if len(parts) > n {
				return fmt.Sprintf("%d partitions where %d were asked for", len(parts), n)
			}
			var all []*cell.Result
			for _, p := range parts {
				results, err := readAll(ctx, s, table, &cell.Scan{Range: p})
				if err != nil {
					return answer(err, "")
				}
				all = append(all, results...)
			}
			return "read " + resultsText(all)
		},
	}
}

// adminStep is an administrative call followed by a look at all tables.
func adminStep(what string, call func(ctx context.Context, s store.Store) error) step {
	return step{
		what: what,
		run: func(ctx context.Context, s store.Store) string {
			err := call(ctx, s)
			infos, terr := s.Tables(ctx)
			if terr != nil {
				return answer(terr, "")
			}
			var b strings.Builder
			for _, info := range infos {
				fmt.Fprintf(&b, "; %s", infoText(ctx, s, info))
			}
			return answer(err, "done") + b.String()
		},
	}
}

func infoText(ctx context.Context, s store.Store, info store.TableInfo) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s enabled %v created %s", info.Schema.Name, info.Enabled, timeText(info.Created))
	for _, f := range info.Schema.Families {
		fmt.Fprintf(&b, " %s/%d/%d/%d/%s", f.Name, f.MaxVersions, f.MinVersions, f.TTL, f.KeepDeleted)
	}
	regions, err := s.Regions(ctx, info.Schema.Name)
	if err != nil {
		return answer(err, "")
	}
	for _, r := range regions {
		fmt.Fprintf(&b, " [%q,%q)", r.Start, r.Stop)
	}
	return b.String()
}
