package tabimport

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cellardb/cellar/cell"
)

// binder makes rows of records, by a mapping and, where fields have names, by
// the header of one file.
type binder struct {
	m         *Mapping
	skipEmpty bool
	null      string // a field that is just this is not there; "": none
	timestamp int64  // of rows without one of their own
	// places of the fields of m in a record; NDJSON has names instead.
	places []int
	byName map[string]int
	// header is the names of all places, and named says which of them the
	// mapping names; both are for f:*.
	header [][]byte
	named  []bool
	// fields is how many fields a record may have; 0: any.
	fields int

	values [][]byte // of the fields of m, of one record; nil: not there
	extra  []int    // fields of the record that m does not name
	// scratch holds what does not go into a batch as it is.
	scratch batch
}

// newBinder makes a binder. header is nil for NDJSON and for a file without one.
func newBinder(m *Mapping, o *Options, format Format, timestamp int64, header [][]byte) (*binder, error) {
	b := &binder{m: m, skipEmpty: o.SkipEmpty, null: o.Null, timestamp: timestamp, values: make([][]byte, len(m.fields))}
	if format == NDJSON {
		b.byName = make(map[string]int, len(m.fields))
		for i, f := range m.fields {
			b.byName[f.name] = i
		}
		return b, nil
	}
	b.fields = m.places
	if m.ByName {
		b.fields = len(header)
	}
	for _, f := range m.fields {
		place := f.place
		if place < 0 {
			var err error
			if place, err = findName(header, f.name); err != nil {
				return nil, err
			}
		}
		b.places = append(b.places, place)
	}
	if m.rest != nil {
		b.setRest(header)
	}
	return b, nil
}

func (b *binder) setRest(header [][]byte) {
	b.named = make([]bool, len(header))
	for _, name := range header {
		b.header = append(b.header, append([]byte{}, name...))
	}
	for _, p := range b.places {
		if p < len(b.named) {
			b.named[p] = true
		}
	}
}

func findName(header [][]byte, name string) (int, error) {
	found := -1
	var all []string
	for i, h := range header {
		all = append(all, string(h))
		if string(h) != name {
			continue
		}
		if found >= 0 {
			return 0, badMapping("the header has %q twice: use #%d or #%d", name, found+1, i+1)
		}
		found = i
	}
	if found < 0 {
		return 0, badMapping("the header has no %q: it has %s", name, strings.Join(all, ", "))
	}
	return found, nil
}

// key finds the record's fields and puts its row key together. The key is valid
// until the next record. The fault says why it is no row.
func (b *binder) key(rec *record) (key []byte, fault string) {
	if fault := b.pick(rec); fault != "" {
		return nil, fault
	}
	b.scratch.arena = b.scratch.arena[:0]
	key, missing := b.join(b.m.key, &b.scratch)
	switch {
	case missing >= 0:
		return nil, fmt.Sprintf("no row key: %s is missing", b.nameOf(missing))
	case len(key) == 0:
		return nil, "the row key is empty"
	case len(key) > cell.MaxRow:
		return nil, fmt.Sprintf("the row key has %d bytes, more than %d", len(key), cell.MaxRow)
	}
	return key, ""
}

// bind adds the row of the record that key was called for to a batch. After a
// fault the batch is as it was.
func (b *binder) bind(rec *record, key []byte, into *batch) (fault string) {
	edits, arena := len(into.edits), len(into.arena)
	fault = b.row(rec, key, into)
	if fault != "" {
		into.edits, into.arena = into.edits[:edits], into.arena[:arena]
	}
	return fault
}

func (b *binder) row(rec *record, key []byte, into *batch) (fault string) {
	ts, fault := b.stamp()
	if fault != "" {
		return fault
	}
	// Not as the table has it: what is on record as stored must be on the disk.
	m := cell.Mutation{Row: into.keep(key), Durability: cell.SyncWAL}
	if m.TTL, fault = b.life(); fault != "" {
		return fault
	}
	begin := len(into.edits)
	for i := range b.m.cells {
		c := &b.m.cells[i]
		value, missing := b.join(c.from, into)
		if missing < 0 {
			b.edit(into, c.family, c.qualifier, ts, value)
		}
	}
	for _, i := range b.extra {
		if b.present(rec.fields[i]) {
			b.edit(into, b.m.rest, b.restName(rec, i, into), ts, into.keep(rec.fields[i]))
		}
	}
	m.Edits = into.edits[begin:len(into.edits):len(into.edits)]
	if len(m.Edits) == 0 {
		return "no column has a value"
	}
	if fault := oversized(&m); fault != "" {
		return fault
	}
	into.rows = append(into.rows, m)
	return ""
}

// oversized says which cell is too large for any store.
func oversized(m *cell.Mutation) (fault string) {
	for i := range m.Edits {
		e := &m.Edits[i]
		c := cell.Cell{Row: m.Row, Family: e.Family, Qualifier: e.Qualifier, Value: e.Value}
		if c.Size() > cell.MaxCell {
			return fmt.Sprintf("column %s:%s has %d bytes, more than a cell may have",
				cell.Printable(e.Family), cell.Printable(e.Qualifier), len(e.Value))
		}
	}
	return ""
}

func (b *binder) edit(into *batch, family, qualifier []byte, ts int64, value []byte) {
	if len(value) == 0 && b.skipEmpty {
		return
	}
	into.edits = append(into.edits, cell.Edit{Op: cell.OpPut, Family: family, Qualifier: qualifier, Timestamp: ts, Value: value})
}

func (b *binder) restName(rec *record, i int, into *batch) []byte {
	if b.byName != nil {
		return into.keep(rec.names[i])
	}
	return b.header[i]
}

func (b *binder) present(value []byte) bool { return b.null == "" || string(value) != b.null }

// pick finds the fields of the mapping in the record.
func (b *binder) pick(rec *record) (fault string) {
	b.extra = b.extra[:0]
	if b.byName != nil {
		clear(b.values)
		for i, name := range rec.names {
			if k, ok := b.byName[string(name)]; ok {
				b.values[k] = b.value(rec.fields[i])
			} else if b.m.rest != nil {
				b.extra = append(b.extra, i)
			}
		}
		return ""
	}
	switch n := len(rec.fields); {
	case n < 2 && !b.m.ByName:
		return "no separator"
	case b.fields > 0 && n > b.fields:
		return fmt.Sprintf("%d fields, %d too many", n, n-b.fields)
	}
	for k, place := range b.places {
		b.values[k] = nil
		if place < len(rec.fields) {
			b.values[k] = b.value(rec.fields[place])
		}
	}
	if b.m.rest != nil {
		for i := range rec.fields {
			if !b.named[i] {
				b.extra = append(b.extra, i)
			}
		}
	}
	return ""
}

func (b *binder) value(v []byte) []byte {
	if !b.present(v) {
		return nil
	}
	if v == nil {
		return []byte{}
	}
	return v
}

// join puts a source together, in the batch's memory. missing is the field that
// is not there, -1: all are.
func (b *binder) join(s source, into *batch) (value []byte, missing int) {
	for _, p := range s {
		if p.field >= 0 && b.values[p.field] == nil {
			return nil, p.field
		}
	}
	if len(s) == 1 && s[0].field >= 0 {
		return into.keep(b.values[s[0].field]), -1
	}
	begin := len(into.arena)
	for _, p := range s {
		if p.field < 0 {
			into.arena = append(into.arena, p.text...)
		} else {
			into.arena = append(into.arena, b.values[p.field]...)
		}
	}
	return into.arena[begin:len(into.arena):len(into.arena)], -1
}

func (b *binder) nameOf(k int) string {
	f := b.m.fields[k]
	if f.place < 0 {
		return "field " + f.name
	}
	return "field " + strconv.Itoa(f.place+1)
}

// stamp is the row's timestamp.
func (b *binder) stamp() (ts int64, fault string) {
	if b.m.ts == nil {
		return b.timestamp, ""
	}
	text, missing := b.join(b.m.ts, &b.scratch)
	if missing >= 0 {
		return 0, fmt.Sprintf("no timestamp: %s is missing", b.nameOf(missing))
	}
	ts, err := strconv.ParseInt(string(text), 10, 64)
	switch {
	case err != nil || ts == math.MaxInt64:
		return 0, "invalid timestamp " + strconv.Quote(cut(text)) + ": want milliseconds since 1970"
	case ts < 0:
		return 0, fmt.Sprintf("negative timestamp %d", ts)
	}
	return ts, ""
}

// life is the row's time to live in ms; empty is none.
func (b *binder) life() (ttl int64, fault string) {
	if b.m.ttl == nil {
		return 0, ""
	}
	text, missing := b.join(b.m.ttl, &b.scratch)
	switch {
	case missing >= 0 && !b.m.ByName:
		return 0, fmt.Sprintf("no time to live: %s is missing", b.nameOf(missing))
	case len(text) == 0:
		return 0, ""
	}
	ttl, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || ttl < 0 {
		return 0, "invalid time to live " + strconv.Quote(cut(text)) + ": want milliseconds"
	}
	return ttl, ""
}

// cut keeps a text that goes into a message short.
func cut(b []byte) string {
	if len(b) > 40 {
		return string(b[:40]) + "..."
	}
	return string(b)
}
