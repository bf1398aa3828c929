package storetest

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/store"
)

// env is what a test works with: one engine, its clock, and shorthands that end
// the test when something goes wrong that it does not ask about.
type env struct {
	*testing.T
	ctx   context.Context
	s     store.Store
	clock *Clock
}

func newEnv(t *testing.T, open Opener) *env {
	t.Helper()
	clock := NewClock(epoch)
	e := &env{T: t, ctx: t.Context(), clock: clock, s: open(t, clock.Now)}
	t.Cleanup(func() {
		if err := e.s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return e
}

// tick moves the clock on to the next millisecond.
func (e *env) tick() { e.clock.Tick(1) }

func (e *env) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// refused wants an error that matches.
func (e *env) refused(err, want error) {
	e.Helper()
	if !errors.Is(err, want) {
		e.Errorf("got error %v, want %v", err, want)
	}
}

func (e *env) equal(got, want string) {
	e.Helper()
	if got != want {
		e.Errorf("\n got: %s\nwant: %s", got, want)
	}
}

// fam describes a family with a number of versions.
func fam(name string, versions int) cell.FamilySchema {
	f := cell.NewFamily(name)
	f.MaxVersions = versions
	return f
}

func schema(name string, families ...cell.FamilySchema) cell.TableSchema {
	return cell.TableSchema{Name: name, Families: families}
}

// create makes a table without split points.
func (e *env) create(name string, families ...cell.FamilySchema) {
	e.Helper()
	e.must(e.s.CreateTable(e.ctx, schema(name, families...), nil))
}

// usual makes table "t" with family f of five versions and family g of one.
func (e *env) usual() {
	e.Helper()
	e.create("t", fam("f", 5), fam("g", 1))
}

// column cuts "family:qualifier" at the first colon.
func column(name string) (family, qualifier []byte) {
	f, q, _ := strings.Cut(name, ":")
	return []byte(f), []byte(q)
}

// apply applies mutations of table "t" in one batch.
func (e *env) apply(batch ...*cell.Mutation) {
	e.Helper()
	_, err := e.s.Apply(e.ctx, "t", values(batch))
	e.must(err)
}

func values(batch []*cell.Mutation) []cell.Mutation {
	all := make([]cell.Mutation, len(batch))
	for i, m := range batch {
		all[i] = *m
	}
	return all
}

// put writes one value of table "t".
func (e *env) put(row, col string, timestamp int64, value string) {
	e.Helper()
	e.apply(putOf(row, col, timestamp, value))
}

func putOf(row, col string, timestamp int64, value string) *cell.Mutation {
	f, q := column(col)
	return cell.NewMutation([]byte(row)).Put(f, q, timestamp, []byte(value))
}

// rows writes one value at timestamp 1 in column f:q of each row.
func (e *env) rows(keys ...string) {
	e.Helper()
	batch := make([]*cell.Mutation, len(keys))
	for i, k := range keys {
		batch[i] = putOf(k, "f:q", 1, "v")
	}
	e.apply(batch...)
}

// allVersions asks for as many as there are.
const allVersions = 1 << 30

// get reads a row of table "t" as text; the newest version of each column,
// unless the read is changed.
func (e *env) get(row string, change ...func(*cell.Read)) string {
	e.Helper()
	get := cell.Get{Row: []byte(row)}
	for _, c := range change {
		c(&get.Read)
	}
	var r cell.Result
	e.must(e.s.Get(e.ctx, "t", &get, &r))
	for i := range r.Cells {
		if string(r.Cells[i].Row) != row {
			e.Errorf("get of row %q gave a cell of row %q", row, r.Cells[i].Row)
		}
	}
	return text(r.Cells)
}

// all reads every version of a row of table "t".
func (e *env) all(row string) string {
	e.Helper()
	return e.get(row, versions(allVersions))
}

func versions(n int) func(*cell.Read) {
	return func(r *cell.Read) { r.MaxVersions = n }
}

func within(min, max int64) func(*cell.Read) {
	return func(r *cell.Read) { r.Within = cell.Between(min, max) }
}

// only selects columns; a name without a colon is a whole family.
func only(columns ...string) func(*cell.Read) {
	return func(r *cell.Read) { r.Select = selection(columns...) }
}

func selection(columns ...string) []cell.FamilySelect {
	var sel []cell.FamilySelect
	at := map[string]int{}
	for _, c := range columns {
		f, q, one := strings.Cut(c, ":")
		i, ok := at[f]
		if !ok {
			i = len(sel)
			at[f] = i
			sel = append(sel, cell.FamilySelect{Family: []byte(f)})
		}
		if one {
			sel[i].Qualifiers = append(sel[i].Qualifiers, []byte(q))
		}
	}
	return sel
}

// scan reads table "t" to the end, as text: "row: cells | row: cells"; a partial
// result ends with "+".
func (e *env) scan(scan cell.Scan) string {
	e.Helper()
	return resultsText(e.results("t", scan))
}

// keys scans table "t" and gives the row keys, separated by blanks.
func (e *env) keys(scan cell.Scan) string {
	e.Helper()
	var keys []string
	for _, r := range e.results("t", scan) {
		keys = append(keys, string(r.Row))
	}
	return strings.Join(keys, " ")
}

// raw gives everything that is stored of a row of table "t".
func (e *env) raw(row string) string {
	e.Helper()
	scan := cell.Scan{Range: oneRow(row), Raw: true}
	scan.MaxVersions = allVersions
	var all []string
	for _, r := range e.results("t", scan) {
		all = append(all, text(r.Cells))
	}
	return strings.Join(all, " ")
}

func oneRow(row string) cell.Range {
	return cell.Range{Start: []byte(row), Stop: []byte(row), StopInclusive: true}
}

// results reads a scan to its end.
func (e *env) results(table string, scan cell.Scan) []*cell.Result {
	e.Helper()
	results, err := readAll(e.ctx, e.s, table, &scan)
	e.must(err)
	return results
}

// readAll reads a scan to its end and copies what it gives.
func readAll(ctx context.Context, r store.Reader, table string, scan *cell.Scan) ([]*cell.Result, error) {
	sc, err := r.Scan(ctx, table, scan)
	if err != nil {
		return nil, err
	}
	var all []*cell.Result
	for {
		result, err := sc.Next(ctx)
		if errors.Is(err, io.EOF) {
			return all, sc.Close()
		}
		if err != nil {
			return all, errors.Join(err, sc.Close())
		}
		all = append(all, result.Clone())
	}
}
