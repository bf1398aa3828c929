package intake

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cellardb/cellar/store"
	"github.com/cellardb/cellar/stream/schema"
)

// parser turns records into columns. One record after the other is begun, its
// values are appended to the columns that it names, and then it is accepted
// (columns that it did not name get a null) or taken back.
type parser struct {
	opt    Options
	schema *schema.Schema // that the columns began with
	// cols has the fields of the schema, and then those that were added.
	cols  []column
	index map[string]int32
	// timeCol and markCol are the event time and schema.Undated, -1 without.
	timeCol, markCol int
	// wso2 says whether an event may come in WSO2's shape: not where a field
	// event, or one in it, is meant otherwise.
	wso2 bool

	// order has the columns in the order of the keys of the record before: keys
	// of the next one are likely the same.
	order []int32
	key   int // number of the key in the record

	// Of the record that is being read.
	rows   int // accepted before it
	stamp  int // tells records apart
	set    int // columns that it set
	prefix []byte
	// lenient: every value is a text, as in CSV; numbers fit text fields.
	lenient bool
	mending bool // a text was mended
	arrived bool // it took the arrival as its time
	bad     bool
	word    word // NaN or its like was skipped
	full    bool // the columns would take too much memory with it
	at      int  // index of the key or value that is being read

	maxRows int // that the columns may hold within MaxMemory
	room    int // rows that room may be made for, before the first; 0: it was

	recordIndex int // over all parts
	line        int // of the record that is being read; 0: not known
	nest        nesting
	scratch     []byte

	mended, undated, rejected int
	rejects                   []schema.Reject
}

func newParser(s *schema.Schema, o Options) *parser {
	p := &parser{opt: o.withDefaults()}
	p.reset(s)
	return p
}

// reset begins a new part: no rows, the columns of s.
func (p *parser) reset(s *schema.Schema) {
	p.schema = s
	p.timeCol, p.markCol = s.TimeIndex(), s.Index(schema.Undated)
	p.cols = make([]column, 0, len(s.Fields)+8)
	p.index = make(map[string]int32, len(s.Fields))
	p.wso2 = true
	for i, f := range s.Fields {
		c := newColumn(f, 0, 0)
		c.time = f.Type == schema.Time || i == p.timeCol
		c.fixed = !s.Open || i == p.timeCol || slices.Contains(s.PrimaryKey, f.Name) || c.mark
		p.cols = append(p.cols, c)
		p.index[f.Name] = int32(i)
		if f.Name == "event" || strings.HasPrefix(f.Name, "event.") {
			p.wso2 = false
		}
	}
	p.rows, p.mended, p.undated, p.rejected, p.rejects = 0, 0, 0, 0, nil
	p.order, p.full, p.room = p.order[:0], false, mostRoom
	p.setMaxRows()
}

// setMaxRows says how many rows fit the budget, with the columns there are.
func (p *parser) setMaxRows() {
	width := 0
	for i := range p.cols {
		width += p.cols[i].field.Type.Width()
	}
	p.maxRows = p.opt.MaxMemory / max(width, 1)
}

// begin begins a record.
func (p *parser) begin() {
	p.stamp++
	p.set, p.key = 0, 0
	p.prefix = p.prefix[:0]
	p.mending, p.arrived, p.bad, p.word = false, false, false, 0
	if p.rows >= p.maxRows {
		p.full = true
	}
}

// end accepts the record, or takes it back if it is bad or does not fit in.
func (p *parser) end() {
	if !p.bad && !p.full {
		p.complete()
	}
	switch {
	case p.bad:
		p.full = false
		p.takeBack()
	case p.full:
		p.takeBack()
		return // it is to come again, or never
	default:
		p.rows++
		if p.mending {
			p.mended++
		}
		if p.arrived {
			p.undated++
		}
	}
	p.recordIndex++
}

// abandon takes the record back as if it had not begun: it comes again, or
// nothing comes.
func (p *parser) abandon() {
	p.takeBack()
	if p.bad {
		p.bad = false
		p.rejected--
		if len(p.rejects) > p.rejected {
			p.rejects = p.rejects[:p.rejected]
		}
	}
}

// complete gives the columns that the record did not set a null, or what else
// stands for it.
func (p *parser) complete() {
	if p.timeCol >= 0 && !p.completeTime() {
		return
	}
	if p.set == len(p.cols) {
		return
	}
	for i := range p.cols {
		c := &p.cols[i]
		if c.stamp == p.stamp {
			continue
		}
		if !c.field.Nullable {
			p.reject(c.field.Name, "the field is missing or null, and it is not nullable")
			return
		}
		c.stamp = p.stamp
		c.null(p.rows)
	}
}

// completeTime puts the arrival where the event time is missing or 0.
func (p *parser) completeTime() bool {
	c := &p.cols[p.timeCol]
	if c.stamp == p.stamp {
		if c.v.Int64s[p.rows] != 0 {
			return true
		}
		p.unset(c)
	}
	if !c.field.Nullable {
		p.reject(c.field.Name, "the event time is missing, null or 0, and it is not nullable")
		return false
	}
	p.claim(c)
	c.v.Int64s = append(c.v.Int64s, p.opt.Arrival)
	p.arrived = true
	if p.markCol < 0 && p.schema.Open && len(p.cols) < schema.MaxFields {
		p.markCol = p.addColumn(schema.Undated, schema.Bool)
	}
	if p.markCol >= 0 {
		m := &p.cols[p.markCol]
		p.claim(m)
		m.v.Bools = append(m.v.Bools, true)
	}
	return true
}

// claim notes that the record sets the column; what it set before is taken back:
// the last one counts.
func (p *parser) claim(c *column) {
	if c.stamp == p.stamp {
		c.truncate(p.rows)
		return
	}
	c.stamp = p.stamp
	p.set++
}

// unset takes back what the record set.
func (p *parser) unset(c *column) {
	if c.stamp == p.stamp {
		c.truncate(p.rows)
		c.stamp = 0
		p.set--
	}
}

// takeBack removes what the record appended.
func (p *parser) takeBack() {
	for i := range p.cols {
		if c := &p.cols[i]; c.stamp == p.stamp {
			c.truncate(p.rows)
			c.stamp = 0
		}
	}
}

// reject notes why the record cannot be taken. The first reason counts.
func (p *parser) reject(field, reason string) {
	if p.bad {
		return
	}
	p.bad = true
	p.rejected++
	if len(p.rejects) < p.opt.MaxErrors {
		p.rejects = append(p.rejects, schema.Reject{
			Index: p.recordIndex, Line: p.line,
			Field: strings.ToValidUTF8(strings.Clone(field), "\uFFFD"), Reason: reason,
		})
	}
}

// rejectf is reject, with a reason that is put together only if it is listed.
func (p *parser) rejectf(field, format string, args ...any) {
	switch {
	case p.bad:
	case len(p.rejects) >= p.opt.MaxErrors:
		p.reject("", "")
	default:
		p.reject(field, fmt.Sprintf(format, args...))
	}
}

// rejectValue rejects the record for a value that does not fit a column. kind
// and text are of the value, as it was written.
func (p *parser) rejectValue(c *column, kind string, text []byte, why string) {
	p.rejectf(c.field.Name, "%s %s %s %s", kind, excerpt(text), why, c.field.Type)
}

// excerpt is a text of which the beginning is printed, quoted.
type excerpt []byte

func (e excerpt) String() string {
	const most = 40
	if len(e) <= most {
		return fmt.Sprintf("%q", []byte(e))
	}
	cut := most
	for cut > most-utf8.UTFMax && !utf8.RuneStart(e[cut]) {
		cut--
	}
	return fmt.Sprintf("%q... (%d bytes)", []byte(e[:cut]), len(e))
}

// addColumn adds a column with nulls in it for all rows before. Without the
// memory for it the answer is -1, and the part is full.
func (p *parser) addColumn(name string, t schema.Type) int {
	width := t.Width()
	for i := range p.cols {
		width += p.cols[i].field.Type.Width()
	}
	if p.maxRows = p.opt.MaxMemory / width; p.rows >= p.maxRows {
		p.full = true
		return -1
	}
	c := newColumn(schema.Field{Name: name, Type: t, Nullable: true}, p.rows, 0)
	c.added, c.fixed = true, c.mark
	p.cols = append(p.cols, c)
	p.index[name] = int32(len(p.cols) - 1)
	return len(p.cols) - 1
}

// result hands over what was accepted, and begins the next part.
func (p *parser) result() (*Result, error) {
	r := &Result{
		Accepted: p.rows, Mended: p.mended, Undated: p.undated,
		Rejected: p.rejected, Rejects: p.rejects,
	}
	r.Events.Rows = p.rows
	r.Events.Columns = make([]store.Vector, 0, len(p.cols))
	var changed []schema.Field
	for i := range p.cols {
		c := &p.cols[i]
		c.finish(p.rows)
		if c.added && c.empty(p.rows) {
			continue // all that it was added for was rejected
		}
		if i >= len(p.schema.Fields) || p.schema.Fields[i] != c.field {
			changed = append(changed, c.field)
		}
		r.Events.Columns = append(r.Events.Columns, c.v)
	}
	next, _, err := p.schema.Evolve(changed...)
	if err != nil {
		return nil, fmt.Errorf("evolve stream %s: %w", p.schema.Name, err)
	}
	r.Schema = next
	p.reset(next)
	return r, nil
}
