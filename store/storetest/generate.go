package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/cellardb/cellar/cell"
	"github.com/cellardb/cellar/cell/filter"
	"github.com/cellardb/cellar/store"
)

// generator makes a random history. The key space is tiny, so that operations
// meet: five rows or eight, three families, three qualifiers and one of counters,
// six small timestamps.
//
// The clock follows a rule, since engines may share what they remember of a
// millisecond between rows: within one millisecond only one row is written at
// "now"; before another one the clock goes on by a second.
type generator struct {
	*rand.Rand
	semantics bool
	now       int64
	atNow     string // table and row that may be written at "now" in this millisecond
	steps     []step
	families  map[string][]cell.FamilySchema // of the tables that are there
	nonces    []cell.Mutation                // given out before, for retries
	edges     []edge                         // to come
}

const second = 1000

// generate makes the history of a seed. It begins with the creation of table t.
func generate(seed uint64, steps int, semantics bool) []step {
	g := &generator{
		Rand: rand.New(rand.NewPCG(seed, 0x63656c6c)), semantics: semantics,
		now: epoch, families: map[string][]cell.FamilySchema{},
	}
	g.create("t")
	for len(g.steps) < steps {
		g.one()
	}
	return g.steps
}

// one adds the steps of one operation.
func (g *generator) one() {
	if len(g.families["u"]) == 0 && g.IntN(20) == 0 {
		g.create("u")
	}
	table := "t"
	if len(g.families["u"]) > 0 && g.IntN(4) == 0 {
		table = "u"
	}
	if g.IntN(3) == 0 {
		g.tick(int64(g.IntN(3)))
	}
	switch n := g.IntN(1000); {
	case n < 300:
		g.write(table, 1)
	case n < 380:
		g.write(table, 2+g.IntN(5))
	case n < 450:
		g.check(table)
	case n < 640:
		row := g.row()
		if at, soon, ok := g.atEdge(); ok {
			table, row = at, soon
		}
		g.add(getStep(table, cell.Get{Row: row, Read: g.read(table)}))
	case n < 850:
		var row []byte
		if at, soon, ok := g.atEdge(); ok {
			table, row = at, soon
		}
		g.add(scanStep(table, g.scan(table, row)))
	case n < 875:
		g.add(partitionsStep(table, g.rows(), 1+g.IntN(4)))
	case n < 900:
		g.fault(table)
	default:
		g.rare(table)
	}
}

// rare adds an operation on a whole table.
func (g *generator) rare(table string) {
	switch g.IntN(12) {
	case 0, 1:
		g.add(adminStep("compact "+table+" (major)", func(ctx context.Context, s store.Store) error {
			return s.Compact(ctx, table, cell.Range{}, true)
		}))
	case 2:
		g.add(adminStep("compact "+table+" (minor)", func(ctx context.Context, s store.Store) error {
			return s.Compact(ctx, table, cell.Range{}, false)
		}))
	case 3, 4:
		g.add(adminStep("flush "+table, func(ctx context.Context, s store.Store) error { return s.Flush(ctx, table) }))
	case 5, 6:
		g.forgetRow()
		g.add(deleteRowsStep(table, g.rows()))
	case 7:
		// No restart is over within the millisecond.
		g.forgetRow()
		g.add(step{what: "reopen", reopen: true})
	case 8:
		g.alter(table)
	case 9:
		at := g.row()
		g.add(adminStep(fmt.Sprintf("split %s at %q", table, at), func(ctx context.Context, s store.Store) error {
			return s.SplitRegion(ctx, table, nil, at)
		}))
	case 10:
		g.disabled(table)
	case 11:
		g.add(everythingIn(table))
	}
}

func (g *generator) add(st step) {
	st.now = g.now
	g.steps = append(g.steps, st)
}

func (g *generator) tick(ms int64) { g.now += ms }

// forgetRow makes sure that the next write at "now" has a millisecond of its own.
func (g *generator) forgetRow() { g.atNow = "" }

// useNow prepares a write at "now" of a row.
func (g *generator) useNow(table string, row []byte) {
	if key := table + "/" + string(row); g.atNow != key {
		g.tick(second)
		g.atNow = key
	}
}

func (g *generator) row() []byte {
	rows := []string{"a", "a\x00", "b", "c", "\xff"}
	if g.semantics {
		rows = append(rows, "ab", "b\x00c", "bb")
	}
	return []byte(rows[g.IntN(len(rows))])
}

func (g *generator) qualifier() []byte {
	qualifiers := []string{"", "q", "q\x00"}
	return []byte(qualifiers[g.IntN(len(qualifiers))])
}

func (g *generator) family(table string) []byte {
	fs := g.families[table]
	return []byte(fs[g.IntN(len(fs))].Name)
}

func (g *generator) value() []byte {
	const letters = "abcdefgh"
	return []byte(letters[:g.IntN(4)] + letters[g.IntN(8):])
}

// timestamp is an explicit one: small, or about now but never ahead of it.
func (g *generator) timestamp() int64 {
	switch {
	case g.semantics && g.IntN(2) == 0:
		return g.now - int64(g.IntN(30*second))
	case g.IntN(6) == 0:
		return g.now - int64(g.IntN(2))
	}
	return 1 + int64(g.IntN(6))
}

// rows is a random range, now and then an empty one.
func (g *generator) rows() cell.Range {
	r := cell.Range{StartExclusive: g.IntN(4) == 0, StopInclusive: g.IntN(4) == 0}
	if g.IntN(3) > 0 {
		r.Start = g.row()
	}
	if g.IntN(3) > 0 {
		r.Stop = g.row()
	}
	return r
}

func (g *generator) timeRange() cell.TimeRange {
	if g.IntN(3) > 0 {
		return cell.TimeRange{}
	}
	a, b := g.timestamp(), g.timestamp()
	if g.IntN(5) == 0 {
		b = cell.Latest
	}
	return cell.Between(min(a, b), max(a, b))
}

func (g *generator) read(table string) cell.Read {
	r := cell.Read{Within: g.timeRange(), MaxVersions: g.IntN(5)}
	if g.IntN(3) == 0 {
		r.Select = g.selection(table)
	}
	if g.IntN(8) == 0 {
		r.StoreLimit, r.StoreOffset = g.IntN(3), g.IntN(3)
	}
	if r.Filter = g.maybeFilter(table); r.Filter != nil && g.IntN(3) > 0 {
		// Give it something to do.
		r.Within, r.Select, r.MaxVersions = cell.TimeRange{}, nil, 1+g.IntN(9)
	}
	return r
}

func (g *generator) selection(table string) []cell.FamilySelect {
	var sel []cell.FamilySelect
	for _, f := range g.families[table] {
		if g.IntN(2) == 0 {
			continue
		}
		s := cell.FamilySelect{Family: []byte(f.Name)}
		for range g.IntN(3) {
			s.Qualifiers = append(s.Qualifiers, g.qualifier())
		}
		if g.IntN(5) == 0 {
			within := g.timeRange()
			s.Within = &within
		}
		sel = append(sel, s)
	}
	g.Shuffle(len(sel), func(i, j int) { sel[i], sel[j] = sel[j], sel[i] })
	return sel
}

// scan is a random one; its range holds a row that matters now, unless that is
// nil.
func (g *generator) scan(table string, row []byte) cell.Scan {
	s := cell.Scan{Range: g.rows(), Reversed: g.IntN(3) == 0, Read: g.read(table)}
	ascending := s.Ascending()
	if row != nil && !ascending.Contains(row) || s.Filter != nil && g.IntN(2) == 0 {
		s.Range = cell.Range{}
	}
	if g.IntN(3) == 0 {
		s.Limit = 1 + g.IntN(3)
	}
	switch g.IntN(8) {
	case 0:
		s.Batch = 1 + g.IntN(4)
	case 1:
		s.MaxBytes = 1 + g.IntN(150)
	case 2:
		s.Raw = true
		for i := range s.Select {
			s.Select[i].Qualifiers = nil
		}
	}
	if g.IntN(8) > 0 && judgesRows(s.Filter) {
		s.Batch, s.MaxBytes = 0, 0 // else it is refused
	}
	return s
}

func judgesRows(f cell.Filter) bool {
	if f == nil {
		return false
	}
	eval, err := filter.New(f, filter.Options{})
	return err == nil && eval.HasFilterRow()
}

// familiesAtRandom describes one to three families.
func (g *generator) familiesAtRandom() []cell.FamilySchema {
	fs := []cell.FamilySchema{fam("f", 1+g.IntN(4))}
	if g.IntN(4) > 0 {
		fs = append(fs, fam("g", 1+g.IntN(2)))
	}
	if g.IntN(3) == 0 {
		fs = append(fs, fam("h", 1000))
	}
	if !g.semantics {
		return fs
	}
	for i := range fs {
		f := &fs[i]
		if g.IntN(3) == 0 {
			f.TTL = 1 + g.IntN(60)
			f.MinVersions = g.IntN(f.MaxVersions%4 + 1)
		}
		f.KeepDeleted = []cell.KeepDeleted{cell.KeepDeletedFalse, cell.KeepDeletedTrue, cell.KeepDeletedTTL}[g.IntN(3)]
	}
	return fs
}

func (g *generator) create(table string) {
	g.forgetRow()
	g.tick(second)
	g.families[table] = g.familiesAtRandom()
	s := schema(table, g.families[table]...)
	var splits [][]byte
	if g.IntN(2) == 0 {
		splits = [][]byte{g.row()}
	}
	g.add(adminStep(fmt.Sprintf("create %s", familiesText(s)), func(ctx context.Context, st store.Store) error {
		return st.CreateTable(ctx, s, splits)
	}))
}

func familiesText(s cell.TableSchema) string {
	text := s.Name
	for _, f := range s.Families {
		text += fmt.Sprintf(" %s/%d/%d/%d/%s", f.Name, f.MaxVersions, f.MinVersions, f.TTL, f.KeepDeleted)
	}
	return text
}

func (g *generator) alter(table string) {
	g.families[table] = g.familiesAtRandom()
	s := schema(table, g.families[table]...)
	g.add(adminStep("alter "+familiesText(s), func(ctx context.Context, st store.Store) error { return st.AlterTable(ctx, s) }))
}

// disabled disables a table, tries something, and goes on in one of three ways.
func (g *generator) disabled(table string) {
	on := func(what string, call func(s store.Store, ctx context.Context) error) {
		g.add(adminStep(what+" "+table, func(ctx context.Context, s store.Store) error { return call(s, ctx) }))
	}
	on("disable", func(s store.Store, ctx context.Context) error { return s.DisableTable(ctx, table) })
	g.add(getStep(table, cell.Get{Row: g.row()}))
	g.write(table, 1)
	g.forgetRow()
	switch g.IntN(4) {
	case 0:
		keep := g.IntN(2) == 0
		on(fmt.Sprintf("truncate (keep splits %v)", keep), func(s store.Store, ctx context.Context) error { return s.TruncateTable(ctx, table, keep) })
	case 1:
		on("drop", func(s store.Store, ctx context.Context) error { return s.DropTable(ctx, table) })
		g.create(table)
	default:
		on("enable", func(s store.Store, ctx context.Context) error { return s.EnableTable(ctx, table) })
	}
}

// fault adds a call that is refused for one reason.
func (g *generator) fault(table string) {
	switch g.IntN(9) {
	case 0:
		g.add(getStep("absent", cell.Get{Row: g.row()}))
	case 1:
		g.add(scanStep(table, cell.Scan{Read: cell.Read{Select: selection("nope")}}))
	case 2:
		g.add(getStep(table, cell.Get{Row: g.row(), Read: cell.Read{Filter: strangeFilter{}}}))
	case 3:
		g.add(scanStep(table, cell.Scan{Read: cell.Read{Within: cell.TimeRange{Min: 3, Max: 2}}}))
	case 4:
		g.add(adminStep("create "+table+" again", func(ctx context.Context, s store.Store) error {
			return s.CreateTable(ctx, schema(table, fam("f", 1)), nil)
		}))
	case 5:
		g.add(adminStep("drop "+table+" while enabled", func(ctx context.Context, s store.Store) error { return s.DropTable(ctx, table) }))
	case 6:
		g.add(adminStep("enable "+table+" while enabled", func(ctx context.Context, s store.Store) error { return s.EnableTable(ctx, table) }))
	case 7:
		g.add(getStep(table, cell.Get{}))
	case 8:
		g.add(scanStep(table, cell.Scan{Read: cell.Read{Filter: filter.Page{Rows: -1}}}))
	}
}

// hasNow says whether a mutation writes at "now": as a put, as a delete.
func hasNow(m *cell.Mutation) (puts, deletes bool) {
	for _, e := range m.Edits {
		switch {
		case e.Op.ReadsFirst():
			puts = true
		case e.Timestamp == cell.Latest && e.Op.IsDelete():
			deletes = true
		case e.Timestamp == cell.Latest:
			puts = true
		}
	}
	return puts, deletes
}

// write adds an Apply of n mutations, some of which are refused.
func (g *generator) write(table string, n int) {
	var batch []cell.Mutation
	for range n {
		m := g.mutation(table)
		if g.IntN(12) == 0 {
			g.spoil(&m)
		}
		batch = append(batch, m)
	}
	risky := slices.IndexFunc(batch, mayBeRefused)
	if risky >= 0 {
		batch = batch[risky : risky+1]
	}
	g.keepApart(batch)
	rows := map[string]bool{}
	for i := range batch {
		if p, d := hasNow(&batch[i]); p || d {
			rows[string(batch[i].Row)] = true
			g.useNow(table, batch[i].Row)
		}
	}
	for i := range batch {
		g.noteEdges(table, &batch[i])
	}
	g.add(applyStep(table, batch))
	if len(rows) > 1 || risky >= 0 {
		g.forgetRow()
	}
}

// mayBeRefused says whether a mutation increments a column that holds other
// values, too. Whether a mutation that was refused for its width moved what the
// engine remembers of the millisecond is its own affair; so such a mutation has a
// batch and a millisecond of its own.
func mayBeRefused(m cell.Mutation) bool {
	return slices.ContainsFunc(m.Edits, func(e cell.Edit) bool {
		return e.Op == cell.OpIncrement && string(e.Qualifier) != "n"
	})
}

// keepApart sees to it that a batch which writes several rows at "now" either
// puts there or deletes there: else what one row gets may depend on another.
func (g *generator) keepApart(batch []cell.Mutation) {
	rows := map[string]bool{}
	for i := range batch {
		if p, d := hasNow(&batch[i]); p || d {
			rows[string(batch[i].Row)] = true
		}
	}
	if len(rows) < 2 {
		return
	}
	for i := range batch {
		for j := range batch[i].Edits {
			if e := &batch[i].Edits[j]; e.Op.IsDelete() && e.Timestamp == cell.Latest {
				e.Timestamp = g.timestamp()
			}
		}
	}
}

// spoil makes a mutation one that is refused.
func (g *generator) spoil(m *cell.Mutation) {
	switch g.IntN(4) {
	case 0:
		m.Row = nil
	case 1:
		m.Edits = nil
	case 2:
		m.Edits[g.IntN(len(m.Edits))].Family = []byte("nope")
	case 3:
		m.Edits[g.IntN(len(m.Edits))].Timestamp = -1
	}
}

// mutation is a random one of one to three edits.
func (g *generator) mutation(table string) cell.Mutation {
	if g.semantics && len(g.nonces) > 0 && g.IntN(20) == 0 {
		m := g.nonces[g.IntN(len(g.nonces))]
		m.Edits = slices.Clone(m.Edits)
		return m
	}
	m := cell.Mutation{Row: g.row(), ReturnResults: g.IntN(2) == 0}
	for range 1 + max(0, g.IntN(5)-2) {
		e := g.edit(table)
		// Two removals of "the newest version" in one mutation are not defined.
		if e.Op == cell.OpDelete && e.Timestamp == cell.Latest && slices.ContainsFunc(m.Edits, func(o cell.Edit) bool {
			return o.Op == cell.OpDelete && o.Timestamp == cell.Latest
		}) {
			continue
		}
		m.Edits = append(m.Edits, e)
	}
	if g.semantics && g.IntN(5) == 0 {
		m.Edits = append(m.Edits, g.versions(table)...)
	}
	if g.IntN(10) == 0 {
		m.Within = g.timeRange()
	}
	if g.semantics && g.IntN(4) == 0 {
		m.TTL = int64(1 + g.IntN(30*second))
	}
	if p, _ := hasNow(&m); g.semantics && p && g.IntN(4) == 0 {
		m.Nonce = cell.Nonce{Group: 1, Value: g.Uint64()}
		kept := m
		kept.Edits = slices.Clone(m.Edits)
		g.nonces = append(g.nonces, kept)
	}
	return m
}

// versions puts several into one column.
func (g *generator) versions(table string) []cell.Edit {
	family, qualifier, first := g.family(table), g.qualifier(), g.timestamp()
	var edits []cell.Edit
	for i := range 2 + g.IntN(4) {
		edits = append(edits, cell.Edit{Op: cell.OpPut, Family: family, Qualifier: qualifier, Timestamp: max(0, first-int64(i)), Value: g.value()})
	}
	return edits
}

func (g *generator) edit(table string) cell.Edit {
	e := cell.Edit{Op: cell.OpPut, Family: g.family(table), Qualifier: g.qualifier(), Timestamp: cell.Latest}
	if g.IntN(3) > 0 {
		e.Timestamp = g.timestamp()
	}
	switch n := g.IntN(100); {
	case n < 50:
		e.Value = g.value()
	case n < 62:
		e.Op = cell.OpDelete
	case n < 70:
		e.Op = cell.OpDeleteColumn
	case n < 76:
		e.Op = cell.OpDeleteFamily
	case n < 82:
		e.Op = cell.OpDeleteFamilyVersion
	case n < 86:
		e.Op, e.Family = cell.OpDeleteFamily, nil
	case n < 95:
		e.Op, e.Amount = cell.OpIncrement, int64(g.IntN(10)-3)
		if g.IntN(5) > 0 {
			e.Qualifier = []byte("n")
		}
	default:
		e.Op, e.Value = cell.OpAppend, g.value()
	}
	if g.semantics && !e.Op.IsDelete() && g.IntN(12) == 0 {
		e.Tags = []byte{0, 2, byte(9 + g.IntN(2)), 't'}
	}
	return e
}

// check adds a CheckAndMutate.
func (g *generator) check(table string) {
	c := cell.Check{Family: g.family(table), Qualifier: g.qualifier(), Op: cell.Equal, Value: g.value(), Within: g.timeRange()}
	switch {
	case g.IntN(2) == 0:
		c.Value = nil
	case g.semantics:
		c.Op = cell.CompareOp(g.IntN(int(cell.NoOp)))
	}
	if g.IntN(3) == 0 {
		c.Op = cell.NotEqual
	}
	c.Filter = g.maybeFilter(table)
	m := g.mutation(table)
	if p, d := hasNow(&m); p || d {
		g.useNow(table, m.Row)
	}
	g.add(checkStep(table, c, m))
	if mayBeRefused(m) {
		g.forgetRow()
	}
}
